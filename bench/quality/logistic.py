"""scikit-learn's LogisticRegression: L-BFGS, C by cross-validation, with and without StandardScaler.

Limits, for the sake of time: where non-zeros times classes are above WORK_LIMIT, C is chosen among fewer values on one
80/20 split of at most SAMPLE rows in place of five folds of all, and L-BFGS stops after fewer iterations.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import rows

PLAIN, SCALED = "logistic", "logistic, scaled"
WORK_LIMIT = 15_000_000
SAMPLE = 6000
DENSE = 0.5  # share of non-zeros above which columns are also centred
GRID = tuple(10.0**k for k in range(-4, 5))
SHORT_GRID = (0.01, 0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Limits:
    grid: tuple[float, ...]
    iterations: int
    is_limited: bool


def limits_of(train: rows.Rows) -> Limits:
    work = train.x.nnz * len(np.unique(train.y))
    return Limits(SHORT_GRID, 100, True) if work > WORK_LIMIT else Limits(GRID, 500, False)


def scaled(train: csr_matrix, test: csr_matrix) -> tuple[np.ndarray | csr_matrix, np.ndarray | csr_matrix]:
    """Unit variance; dense sets are also centred. (Centred sparse rows would not fit in memory.)"""
    is_dense = train.nnz > DENSE * train.shape[0] * train.shape[1]
    scaler = StandardScaler(with_mean=is_dense)
    if is_dense:
        return scaler.fit_transform(train.toarray()), scaler.transform(test.toarray())
    return scaler.fit_transform(train), scaler.transform(test)


def fit(x, y: np.ndarray, c: float, iterations: int) -> LogisticRegression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LogisticRegression(C=c, solver="lbfgs", max_iter=iterations).fit(x, y)


def folds(y: np.ndarray, seed: int, limits: Limits):
    if limits.is_limited:
        take = min(len(y), SAMPLE)
        return ShuffleSplit(1, train_size=take * 4 // 5, test_size=take // 5, random_state=seed).split(y)
    enough = np.unique(y, return_counts=True)[1].min() >= 5
    kind = StratifiedKFold if enough else KFold
    return kind(5, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)


def held_out_loss(model: LogisticRegression, x, y: np.ndarray) -> float:
    """Of the rows whose class the fold has seen."""
    is_known = np.isin(y, model.classes_)
    return float(log_loss(y[is_known], model.predict_proba(x[is_known]), labels=model.classes_))


def choose(x, y: np.ndarray, seed: int, limits: Limits) -> float:
    losses = dict.fromkeys(limits.grid, 0.0)
    for learn, judge in folds(y, seed, limits):
        for c in limits.grid:
            losses[c] += held_out_loss(fit(x[learn], y[learn], c, limits.iterations), x[judge], y[judge])
    return min(losses, key=losses.__getitem__)


def measure(train: rows.Rows, test: rows.Rows, seed: int, method: str) -> tuple[rows.Scores, float, str]:
    """Test scores, the seconds of choosing C and fitting, and what was chosen."""
    limits = limits_of(train)
    begun = time.monotonic()
    x, x_test = train.x, test.with_columns(train.x.shape[1])
    if method == SCALED:
        x, x_test = scaled(x, x_test)
    c = choose(x, train.y, seed, limits)
    model = fit(x, train.y, c, limits.iterations)
    seconds = time.monotonic() - begun
    scores = rows.of_probabilities(model.predict_proba(x_test), model.classes_, test.y)
    return scores, seconds, f"C={c:g}" + (";limited" if limits.is_limited else "")
