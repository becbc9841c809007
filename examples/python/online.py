"""partial_fit: every row is scored before it is learned, and the estimator is pickled in between."""

import pickle

import numpy as np

from greedystep import GreedystepClassifier

random = np.random.default_rng(0)
weights = random.normal(size=8)


def next_chunk():
    X = random.normal(size=(random.integers(1, 200), 8)) * [1, 1, 1, 1, 1000, 1000, 0.001, 0.001]
    scaled = X / [1, 1, 1, 1, 1000, 1000, 0.001, 0.001]
    return X, (random.random(len(X)) < 1 / (1 + np.exp(-scaled @ weights * 2))).astype(int)


model = GreedystepClassifier()
model.partial_fit(*next_chunk(), classes=[0, 1])  # the first call names all classes there will be
losses, n_rows = [], 0
for number in range(400):
    X, y = next_chunk()
    right = model.predict_proba(X)[np.arange(len(y)), y]
    losses += list(-np.log(right))  # unbiased: the model has not seen these rows
    model.partial_fit(X, y)
    n_rows += len(y)
    if number == 200:
        model = pickle.loads(pickle.dumps(model))  # stop, move to another machine, continue: same bits
    if number in (0, 3, 24, 99, 399):
        print(f"after {n_rows:6d} rows: log loss of the latest 1000 {np.mean(losses[-1000:]):.3f}")
assert np.mean(losses[-1000:]) < 0.32 < np.mean(losses[:100])
