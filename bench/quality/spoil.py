"""Ways to spoil a data set without changing what can be learned from it, and some that do change it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

RARE = 0.001


@dataclass(frozen=True)
class Table:
    """A dense training and test part."""

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray

    def columns(self, change: Callable[[np.ndarray], np.ndarray]) -> Table:
        return Table(change(self.x), self.y, change(self.x_test), self.y_test)


Spoil = Callable[[Table, np.random.Generator], Table]


def times(factor: float, column: int | None = None) -> Spoil:
    """One column (counted from 0, or from the end if negative) or all of them in another unit."""

    def change(table: Table, _: np.random.Generator) -> Table:
        factors = np.full(table.x.shape[1], factor if column is None else 1.0)
        if column is not None:
            factors[column % len(factors)] = factor
        return table.columns(lambda x: x * factors)

    return change


def shifted(table: Table, _: np.random.Generator) -> Table:
    away = 1000 * table.x.std(axis=0)
    return table.columns(lambda x: x + away)


def constant(table: Table, _: np.random.Generator) -> Table:
    return table.columns(lambda x: np.hstack([x, np.full((len(x), 1), 1000.0)]))


def duplicated(table: Table, _: np.random.Generator) -> Table:
    return table.columns(lambda x: np.hstack([x, x[:, :1]]))


def noisy(table: Table, rng: np.random.Generator) -> Table:
    """One training label in five is drawn anew from all labels."""
    y, wrong = table.y.copy(), rng.random(len(table.y)) < 0.2
    y[wrong] = rng.choice(np.unique(y), int(wrong.sum()))
    return Table(table.x, y, table.x_test, table.y_test)


def rare(table: Table, rng: np.random.Generator) -> Table:
    """Of all rows, 99.9 % are of the commonest label; at least two of each other label stay in each part."""
    labels, counts = np.unique(table.y, return_counts=True)
    common = labels[counts.argmax()]

    def keep(y: np.ndarray) -> np.ndarray:
        others = np.flatnonzero(y != common)
        n_others = max(2 * (len(labels) - 1), round(RARE * np.count_nonzero(y == common)))
        kept = rng.permutation(others)[:n_others]
        return np.sort(np.concatenate([np.flatnonzero(y == common), kept]))

    a, b = keep(table.y), keep(table.y_test)
    return Table(table.x[a], table.y[a], table.x_test[b], table.y_test[b])


def sorted_by_label(table: Table, _: np.random.Generator) -> Table:
    order = np.argsort(table.y, kind="stable")
    return Table(table.x[order], table.y[order], table.x_test, table.y_test)


UNTOUCHED = "untouched"
# These leave the problem as it is; the accuracy should stay.
HARMLESS: dict[str, Spoil] = {
    "first column x 1e6": times(1e6, 0),
    "first column x 1e-6": times(1e-6, 0),
    "last column but one x 1e6": times(1e6, -2),
    "last column but one x 1e-6": times(1e-6, -2),
    "all columns x 1e6": times(1e6),
    "all columns x 1e-6": times(1e-6),
    "shifted by 1000 sd": shifted,
    "a constant column": constant,
    "a duplicated column": duplicated,
    "sorted by label": sorted_by_label,
}
# These make it another problem.
HARMFUL: dict[str, Spoil] = {"20 % label noise": noisy, "99.9 % one class": rare}
