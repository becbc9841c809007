#!/usr/bin/env python3
"""Which prior a curve with a sign should have: squared error of the truth, by least squares in NumPy and SciPy.

    python3 bench/signs/prior.py

Three columns act by one function each; 32 knots, the prior of the solver (a line, and a random walk), and of a grid of
penalties the one that is best for each. `free` has no sign. `each`: line and steps have it. `sum`: line and step
between two knots have it together. Means of six draws.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import nnls

KNOTS, COLUMNS, DRAWS = 32, 3, 6
FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "x": lambda x: x,
    "log(x + .01)": lambda x: np.log(x + 0.01),
    "sqrt(x)": np.sqrt,
    "exp(4 x)": lambda x: np.exp(4 * x),
    "x > .6": lambda x: (x > 0.6).astype(float),
    "tanh(8 (x - .4))": lambda x: np.tanh(8 * (x - 0.4)),
}


def shares(x: np.ndarray, knots: np.ndarray) -> np.ndarray:
    out = np.zeros((len(x), len(knots)))
    low = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
    share = np.clip((x - knots[low]) / (knots[low + 1] - knots[low]), 0, 1)
    out[np.arange(len(x)), low], out[np.arange(len(x)), low + 1] = 1 - share, share
    return out


def errors(function: Callable[[np.ndarray], np.ndarray], n: int, noise: float, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    X, later = rng.uniform(0, 1, (n, COLUMNS)), rng.uniform(0, 1, (4000, COLUMNS))
    y, truth = (sum(function(rows[:, j]) for j in range(COLUMNS)) for rows in (X, later))
    mean, spread = y.mean(), y.std()
    y, truth = (y - mean) / spread + noise * rng.normal(size=n), (truth - mean) / spread
    parts, of_later, gaps = [], [], []
    for x, z in zip(X.T, later.T, strict=True):
        knots = np.quantile(x, np.linspace(0, 1, min(KNOTS, n // 20)))
        walk = np.tril(np.ones((len(knots), len(knots))))[:, 1:]
        steps, steps_later = shares(x, knots) @ walk, shares(z, knots) @ walk
        scale = 0.5 / np.sqrt(np.var(steps, axis=0).sum())
        parts.append(np.c_[(x - x.mean()) / x.std(), (steps - steps.mean(axis=0)) * scale])
        of_later.append(np.c_[(z - x.mean()) / x.std(), (steps_later - steps.mean(axis=0)) * scale])
        gaps.append(np.diff(knots) / x.std() / scale)
    A, B, best = np.hstack(parts), np.hstack(of_later), {}
    together, size = np.eye(A.shape[1]), A.shape[1] // COLUMNS  # weights of (line, step + line) to those of parts
    for j, gap in enumerate(gaps):
        together[j * size + 1 : (j + 1) * size, j * size] = -gap
    for penalty in 10.0 ** np.arange(-1, 4.1, 0.5) * n / 500:
        rows, labels = np.vstack([A, np.sqrt(penalty) * np.eye(A.shape[1])]), np.r_[y - y.mean(), np.zeros(A.shape[1])]
        weights = {
            "free": np.linalg.lstsq(rows, labels, rcond=None)[0],
            "each": nnls(rows, labels, maxiter=10000)[0],
            "sum": together @ nnls(rows @ together, labels, maxiter=10000)[0],
        }
        for kind, weight in weights.items():
            error = float(np.mean((B @ weight + y.mean() - truth) ** 2))
            best[kind] = min(best.get(kind, np.inf), error)
    return best


def main() -> None:
    print("| function | rows | noise | free | each | sum |\n|---|--:|--:|--:|--:|--:|")
    for name, function in FUNCTIONS.items():
        for n, noise in ((300, 1.0), (2000, 1.0), (2000, 0.3)):
            drawn = [errors(function, n, noise, seed) for seed in range(DRAWS)]
            means = [float(np.mean([one[kind] for one in drawn])) for kind in ("free", "each", "sum")]
            print(f"| {name} | {n} | {noise} | " + " | ".join(f"{mean:.5f}" for mean in means) + " |", flush=True)


if __name__ == "__main__":
    main()
