"""Sets for regression: scikit-learn's bundled ones, split 80/20 by the seed, and drawn ones with a property each.

Nothing is scaled: the columns are as they come or as they are drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_diabetes, load_linnerud

N_TRAIN, N_TEST, N_COLUMNS = 8000, 4000, 20


@dataclass(frozen=True)
class Parts:
    x: np.ndarray | csr_matrix
    y: np.ndarray
    x_test: np.ndarray | csr_matrix
    y_test: np.ndarray


@dataclass(frozen=True)
class Target:
    name: str
    about: str
    make: Callable[[int], Parts]
    is_gaussian: bool  # the noise is: least squares is then the best there is


def bundled(x: np.ndarray, y: np.ndarray, seed: int) -> Parts:
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = order[: len(y) // 5], order[len(y) // 5 :]
    return Parts(x[train], y[train], x[test], y[test])


def diabetes(seed: int) -> Parts:
    x, y = load_diabetes(return_X_y=True, scaled=False)
    return bundled(x, y, seed)


def linnerud(column: int) -> Callable[[int], Parts]:
    def make(seed: int) -> Parts:
        x, y = load_linnerud(return_X_y=True)
        return bundled(x, y[:, column], seed)

    return make


def cut(x: np.ndarray | csr_matrix, y: np.ndarray) -> Parts:
    return Parts(x[:N_TRAIN], y[:N_TRAIN], x[N_TRAIN:], y[N_TRAIN:])


def drawn(seed: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray]:
    """Correlated columns and the value that a linear model gives them."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((N_TRAIN + N_TEST, N_COLUMNS))
    x[:, 1:] += 0.5 * x[:, :-1]
    return rng, x, x @ rng.standard_normal(N_COLUMNS)


def gaussian(seed: int) -> Parts:
    rng, x, value = drawn(seed)
    return cut(x, value + rng.standard_normal(len(x)))


def heavy_tailed(seed: int) -> Parts:
    """Row lengths spread over more than four powers of ten; the noise does not depend on them."""
    rng, x, value = drawn(seed)
    length = np.exp(1.2 * rng.standard_normal(len(x)))
    return cut(x * length[:, None], value * length + rng.standard_normal(len(x)))


def outliers(seed: int) -> Parts:
    """One target in twenty of the training part is off by fifty times the noise; the test part is clean."""
    rng, x, value = drawn(seed)
    parts = cut(x, value + rng.standard_normal(len(x)))
    wrong = rng.random(N_TRAIN) < 0.05
    parts.y[wrong] += 50 * rng.standard_normal(int(wrong.sum()))
    return parts


def offset(seed: int) -> Parts:
    rng, x, value = drawn(seed)
    return cut(x, 1e6 + value + rng.standard_normal(len(x)))


def units(seed: int) -> Parts:
    """Columns in units from 1e-3 to 1e3."""
    rng, x, value = drawn(seed)
    return cut(x * 10.0 ** rng.uniform(-3, 3, N_COLUMNS), value + rng.standard_normal(len(x)))


def one_hot(seed: int) -> Parts:
    """Six factors of 100 levels each, some levels much rarer than others."""
    rng = np.random.default_rng(seed)
    n, factors, levels = N_TRAIN + N_TEST, 6, 100
    share = 1 / np.arange(1, levels + 1)
    picks = rng.choice(levels, (n, factors), p=share / share.sum()) + levels * np.arange(factors)
    x = csr_matrix((np.ones(picks.size), picks.ravel(), np.arange(0, picks.size + 1, factors)))
    effect = rng.standard_normal(factors * levels)
    return cut(x, effect[picks].sum(axis=1) + rng.standard_normal(n))


TARGETS = (
    Target("diabetes", "scikit-learn, unscaled columns", diabetes, False),
    Target("linnerud weight", "scikit-learn, 20 rows", linnerud(0), False),
    Target("linnerud waist", "scikit-learn, 20 rows", linnerud(1), False),
    Target("linnerud pulse", "scikit-learn, 20 rows", linnerud(2), False),
    Target("gaussian", "drawn: dense, Gaussian noise", gaussian, True),
    Target("heavy-tailed", "drawn: row lengths log-normal, Gaussian noise", heavy_tailed, True),
    Target("outliers", "drawn: 5 % of the training targets far off", outliers, False),
    Target("offset", "drawn: targets around 1e6, Gaussian noise", offset, True),
    Target("units", "drawn: columns in units of 1e-3 to 1e3, Gaussian noise", units, True),
    Target("one-hot", "drawn: six factors of 100 levels, Gaussian noise", one_hot, True),
)
