"""Scores of two classes: counted by rising score, from a trace or from arrays, and the curves that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .plot_trace import Event, TraceError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def _sums(at: NDArray[np.int64], values: Floats, n: int) -> Floats:
    return np.bincount(at, values, n).astype(np.float64)


@dataclass
class Scores:
    """Weights of the two classes in groups of equal or neighbouring scores, which rise."""

    score: Floats
    positive: Floats
    negative: Floats
    probability: Floats | None  #: mean of the group; None: the model has none

    def roc(self) -> tuple[Floats, Floats]:
        """Return false and true positive rates, from (0, 0) to (1, 1)."""
        wrong = np.concatenate([[0.0], np.cumsum(self.negative[::-1])])
        right = np.concatenate([[0.0], np.cumsum(self.positive[::-1])])
        return wrong / max(wrong[-1], 1e-300), right / max(right[-1], 1e-300)

    def precision_recall(self) -> tuple[Floats, Floats]:
        """Return recall and precision at every group's score, with recall rising."""
        right, wrong = np.cumsum(self.positive[::-1]), np.cumsum(self.negative[::-1])
        return right / max(right[-1], 1e-300), right / np.maximum(right + wrong, 1e-300)

    def area(self) -> float:
        """Return the area under the ROC curve; NaN if there is one class only."""
        if not (self.positive.sum() > 0 and self.negative.sum() > 0):
            return float("nan")
        x, y = self.roc()
        return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))

    def average_precision(self) -> float:
        """Return the precision averaged over the recall; NaN without a positive row."""
        if not self.positive.sum() > 0:
            return float("nan")
        recall, precision = self.precision_recall()
        return float(np.sum(np.diff(np.concatenate([[0.0], recall])) * precision))

    def calibration(self, bins: int = 10) -> tuple[Floats, Floats, Floats]:
        """Return mean probability, share of positives and weight of the bins (of equal width) that have rows."""
        if self.probability is None:
            raise TraceError("the model has no probabilities (a hinge loss): there is nothing to calibrate")
        weight = self.positive + self.negative
        at = np.minimum((self.probability * bins).astype(np.int64), bins - 1)
        total, mean, share = (
            _sums(at, numbers, bins) for numbers in (weight, weight * self.probability, self.positive)
        )
        some = total > 0
        return mean[some] / total[some], share[some] / total[some], total[some]


def merge_small_bins(said: Floats, is_so: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Merge bins with less than a hundredth of the rows, or fewer than ten rows, into the next one."""
    least = max(10.0, 0.01 * float(weight.sum()))
    sums: list[list[float]] = []
    for said_here, is_so_here, weight_here in zip(said, is_so, weight):
        if not sums or sums[-1][2] >= least:
            sums.append([0.0, 0.0, 0.0])
        for i, value in enumerate((said_here * weight_here, is_so_here * weight_here, weight_here)):
            sums[-1][i] += float(value)
    if len(sums) > 1 and sums[-1][2] < least:
        last = sums.pop()
        sums[-1] = [a + b for a, b in zip(sums[-1], last)]
    table = np.asarray(sums, np.float64).reshape(-1, 3)
    return table[:, 0] / table[:, 2], table[:, 1] / table[:, 2], table[:, 2]


def scores_of_event(evaluation: Event) -> Scores:
    """Return the scores of an event `evaluation`."""
    columns = evaluation.get("scores")
    if not columns or not columns.get("score"):
        raise TraceError("this picture is for models of two classes, and needs rows that were evaluated")
    probability = columns.get("probability")
    return Scores(
        np.asarray(columns["score"], np.float64),
        np.asarray(columns["positive"], np.float64),
        np.asarray(columns["negative"], np.float64),
        None if probability is None else np.asarray(probability, np.float64),
    )


def scores_of_arrays(labels: Any, score: ArrayLike, weight: ArrayLike | None, positive: Any) -> Scores:
    """Return scores from a label and a score per row; probabilities if all scores lie between 0 and 1. With two labels
    the second in sorted order is the positive one, unless it is named."""
    label, value = np.asarray(labels), np.asarray(score, np.float64)
    if label.ndim != 1 or label.shape != value.shape:
        raise ValueError(f"a label and a score per row are needed, not {label.shape} and {value.shape}")
    kinds = np.unique(label)
    if positive is None and len(kinds) > 2:
        raise ValueError(f"{len(kinds)} different labels; say which one is positive")
    is_positive = label == (kinds[-1] if positive is None and len(kinds) else positive)
    counts = np.ones(len(value)) if weight is None else np.asarray(weight, np.float64)
    levels, at = np.unique(value, return_inverse=True)
    at = np.asarray(at).reshape(-1)
    right = _sums(at, np.where(is_positive, counts, 0.0), len(levels))
    wrong = _sums(at, np.where(is_positive, 0.0, counts), len(levels))
    is_share = len(levels) > 0 and levels[0] >= 0 and levels[-1] <= 1
    return Scores(levels, right, wrong, levels if is_share else None)
