"""The model that `greedystep generate` plants, computed again: it follows from the seed alone (src/data/generate.c).

Its loss is the lowest that any model can be expected to reach on generated rows.
"""

from __future__ import annotations

import numpy as np

STREAM_WEIGHTS, STREAM_INTERCEPTS = 2, 3
Words = np.ndarray  # of uint64


def mix(x: Words) -> Words:
    """The finaliser of splitmix64 (src/base/hash.h); wraps around as uint64 does."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def words(*values: int) -> Words:
    return np.array(values, dtype=np.uint64)


def key(a: Words, b: Words, c: Words) -> Words:
    return mix(mix(mix(a) ^ b) ^ c)


def unit(of: Words) -> np.ndarray:
    """The first draw of the streams with these keys, in (0, 1)."""
    return ((mix(of) >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52


def two_classes(seed: int, n_features: int, nnz: int) -> tuple[np.ndarray, float]:
    """Weights and intercept of --classes 2."""
    stream = key(words(seed), words(0), words(STREAM_WEIGHTS))
    features = np.arange(n_features, dtype=np.uint64)
    weights = (2 * unit(key(stream, features, words(0))) - 1) * 2 * np.sqrt(3 / nnz)
    intercept = unit(key(words(seed), words(0), words(STREAM_INTERCEPTS)))[0] - 0.5
    return weights, float(intercept)
