"""scipy.sparse: a million features, a few per row; a CSR matrix of float32 is not copied."""

import time

import numpy as np
from scipy import sparse
from sklearn.metrics import log_loss

from greedystep import GreedystepClassifier

n_rows, n_features, per_row = 200_000, 1_000_000, 20
random = np.random.default_rng(0)
indices = (n_features ** random.random(n_rows * per_row)).astype(np.int32)  # low numbers are frequent, as words are
X = sparse.csr_matrix(
    (np.ones(len(indices), np.float32), indices, np.arange(0, len(indices) + 1, per_row)), shape=(n_rows, n_features)
)
X.sum_duplicates()
y = (random.random(n_rows) < 1 / (1 + np.exp(-(X @ random.normal(size=n_features))))).astype(int)

began = time.perf_counter()
model = GreedystepClassifier().fit(X[:-20_000], y[:-20_000])
seconds = time.perf_counter() - began

loss = log_loss(y[-20_000:], model.predict_proba(X[-20_000:])[:, 1])
base = log_loss(y[-20_000:], np.full(20_000, y.mean()))
print(f"{X.shape[0]} rows, {X.shape[1]} features, {X.nnz} entries: {model.method_} in {seconds:.1f} s")
print(f"log loss of rows it has not seen: {loss:.3f}; without looking at the features {base:.3f}")
assert loss < 0.8 * base
