"""Merge models that were trained on parts of the data, on several machines or days, without sharing rows."""

import tempfile

import numpy as np

import greedystep

random = np.random.default_rng(0)
weights = random.normal(size=200)
X = random.normal(size=(44_000, 200)).astype(np.float32)
y = (random.random(len(X)) < 1 / (1 + np.exp(-X @ weights / 4))).astype(int)
test = (X[40_000:], y[40_000:])


def loss(model):
    return model.evaluate(*test)["log_loss"]


parts = [slice(lo, lo + 10_000) for lo in range(0, 40_000, 10_000)]
apart = [greedystep.train(X[part], y[part]) for part in parts]
with tempfile.TemporaryDirectory() as folder:  # as files, which may come from anywhere
    for number, one in enumerate(apart):
        one.save(f"{folder}/{number}.model")
    first, *others = [greedystep.load(f"{folder}/{number}.model") for number in range(4)]
merged = first.merge(*others)
whole = greedystep.train(X[:40_000], y[:40_000])

print("log loss of the parts:", *(f"{loss(one):.4f}" for one in apart))
print(f"merged: {loss(merged):.4f} ({merged.n_rows} rows); all rows in one run: {loss(whole):.4f}")
assert merged.n_rows == 40_000
assert loss(merged) < min(map(loss, apart))
