"""dense.py [REPEATS]: processor time of one `fit` on dense rows, beside scikit-learn's LogisticRegression.

Both have their defaults and one thread. Ours chooses the penalty by cross-validation, scikit-learn's has C=1. Prints a
table of medians; the two take turns. The library is the one that the package finds (GREEDYSTEP_LIBRARY).
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from typing import Any

import numpy as np
from greedystep import GreedystepClassifier
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

PLANTED = [
    (300, 10),
    (300, 100),
    (300, 2000),
    (1000, 20),
    (1000, 200),
    (5000, 10),
    (5000, 50),
    (20000, 20),
    (20000, 100),
    (100000, 10),
]


def planted(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Return rows whose columns are correlated, and classes with noise: about one row in six is of the other class."""
    random = np.random.default_rng(n_rows + n_columns)
    weights = random.normal(size=n_columns)
    X = random.normal(size=(n_rows, n_columns)) + 0.5 * random.normal(size=(n_rows, 1))
    margins = X @ weights
    margins *= 3 / margins.std()
    return X, (margins + random.logistic(size=n_rows) > 0).astype(np.int64)


def seconds(estimator: Any, X: Any, y: Any) -> float:
    began = time.process_time()
    estimator.fit(X, y)
    return time.process_time() - began


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    warnings.simplefilter("ignore")  # scikit-learn's, of fits that have not converged
    sets = [planted(*shape) for shape in PLANTED]
    sets += [load_breast_cancer(return_X_y=True), load_digits(return_X_y=True)]
    print("| rows x columns | classes | greedystep, ms | scikit-learn, ms | ratio |")
    print("|---|--:|--:|--:|--:|")
    ratios = []
    for X, y in sets:
        times: tuple[list[float], list[float]] = [], []
        for turn in range(repeats + 1):
            for of, estimator in zip(times, (GreedystepClassifier(n_jobs=1), LogisticRegression()), strict=True):
                spent = 1e3 * seconds(estimator, X, y)
                if turn > 0:  # the first is warming up
                    of.append(spent)
        ours, theirs = map(statistics.median, times)
        ratios.append(ours / theirs)
        shape = f"{X.shape[0]} x {X.shape[1]} | {len(np.unique(y))}"
        print(f"| {shape} | {ours:.2f} | {theirs:.2f} | {ratios[-1]:.2f} |", flush=True)
    print(f"\nmedian ratio {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
