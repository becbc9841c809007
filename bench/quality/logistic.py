"""scikit-learn's LogisticRegression: L-BFGS, C by cross-validation, with and without StandardScaler.

Limits, for the sake of time: where non-zeros times classes are above WORK_LIMIT, or columns above COLUMN_LIMIT, C is
chosen on one 80/20 split of at most SAMPLE rows in place of five folds of all, walking from 1 by factors of ten while
the loss falls in place of the whole grid, with few iterations from where the last C ended; then all rows get
FINAL_ITERATIONS.
"""

from __future__ import annotations

import time
import warnings
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import rows

PLAIN, SCALED = "logistic", "logistic, scaled"
WORK_LIMIT, COLUMN_LIMIT = 15_000_000, 20_000
SAMPLE = 16_000
ITERATIONS = 300
WALK_ITERATIONS, FINAL_ITERATIONS = 40, 100
DENSE = 0.5  # share of non-zeros above which columns are also centred
Matrix: TypeAlias = "np.ndarray | csr_matrix"
GRID = tuple(10.0**k for k in range(-4, 5))


def is_limited(train: rows.Rows) -> bool:
    return train.x.nnz * len(np.unique(train.y)) > WORK_LIMIT or train.x.shape[1] > COLUMN_LIMIT


def scaled(train: csr_matrix, test: csr_matrix) -> tuple[Matrix, Matrix]:
    """Unit variance; dense sets are also centred. (Centred sparse rows would not fit in memory.)"""
    is_dense = train.nnz > DENSE * train.shape[0] * train.shape[1]
    scaler = StandardScaler(with_mean=is_dense)
    if is_dense:
        return scaler.fit_transform(train.toarray()), scaler.transform(test.toarray())
    return scaler.fit_transform(train), scaler.transform(test)


def fit(
    x: Matrix, y: np.ndarray, c: float, iterations: int, start: LogisticRegression | None = None
) -> LogisticRegression:
    """From zero, or from the weights of start if that knows the same classes."""
    model = LogisticRegression(C=c, solver="lbfgs", max_iter=iterations, warm_start=True)
    if start is not None and np.array_equal(start.classes_, np.unique(y)):
        model.coef_, model.intercept_, model.classes_ = start.coef_.copy(), start.intercept_.copy(), start.classes_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(x, y)


def held_out_loss(model: LogisticRegression, x: Matrix, y: np.ndarray) -> float:
    """Of the rows whose class the fold has seen."""
    is_known = np.isin(y, model.classes_)
    return float(log_loss(y[is_known], model.predict_proba(x[is_known]), labels=model.classes_))


def cross_validated(x: Matrix, y: np.ndarray, seed: int) -> LogisticRegression:
    """The whole grid on five folds, each C beginning where the one before it ended; then all rows."""
    enough = np.unique(y, return_counts=True)[1].min() >= 5
    kind = StratifiedKFold if enough else KFold
    folds = list(kind(5, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))
    losses = dict.fromkeys(GRID, 0.0)
    for a, b in folds:
        model = None
        for c in GRID:
            model = fit(x[a], y[a], c, ITERATIONS, model)
            losses[c] += held_out_loss(model, x[b], y[b])
    return fit(x, y, min(losses, key=losses.__getitem__), ITERATIONS)


def walked(x: Matrix, y: np.ndarray, seed: int) -> LogisticRegression:
    """One split: from C = 1 up by factors of ten while it gets better, or else down; then all rows."""
    take = min(len(y), SAMPLE)
    a, b = next(ShuffleSplit(1, train_size=take * 4 // 5, test_size=take // 5, random_state=seed).split(y))
    first = best = fit(x[a], y[a], 1.0, WALK_ITERATIONS)
    least = held_out_loss(best, x[b], y[b])
    for factor in (10.0, 0.1):
        while GRID[0] < best.C < GRID[-1]:
            tried = fit(x[a], y[a], best.C * factor, WALK_ITERATIONS, best)
            loss = held_out_loss(tried, x[b], y[b])
            if loss >= least:
                break
            best, least = tried, loss
        if best is not first:
            break
    return fit(x, y, best.C, FINAL_ITERATIONS, best)


def measure(train: rows.Rows, test: rows.Rows, seed: int, method: str) -> tuple[rows.Scores, float, str]:
    """Test scores, the seconds of choosing C and fitting, and what was chosen."""
    limited = is_limited(train)
    begun = time.monotonic()
    x, x_test = train.x, test.with_columns(train.x.shape[1])
    if method == SCALED:
        x, x_test = scaled(x, x_test)
    model = (walked if limited else cross_validated)(x, train.y, seed)
    seconds = time.monotonic() - begun
    scores = rows.of_probabilities(model.predict_proba(x_test), model.classes_, test.y)
    return scores, seconds, f"C={model.C:g}" + (";limited" if limited else "")
