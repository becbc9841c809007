"""Curves of classifiers: ROC, precision and recall, calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .plot_evaluation import evaluated
from .plot_scores import Scores, merge_small_bins, scores_of_arrays, scores_of_event
from .plot_style import (
    BLUE,
    REFERENCE,
    axes_of,
    axis_of_shares,
    legend_below,
    tidy,
    which_rows,
)
from .plot_trace import Event

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def _scores(source: Any, score: Any, weight: Any, positive: Any, rows: str | None) -> tuple[Scores, str, Event]:
    """Return the scores, a name for their rows, and the metrics if they are known exactly."""
    if score is not None:
        return scores_of_arrays(source, score, weight, positive), "", {}
    evaluation = evaluated(source).evaluation(rows)
    return scores_of_event(evaluation), which_rows(evaluation), evaluation.get("metrics", {})


def _metric(metrics: Event, name: str, otherwise: float) -> str:
    value = metrics.get(name, otherwise)
    return "undefined" if value is None or value != value else f"{value:.4f}"


# The three take the same things, and each says so itself: signatures are what users complete and type checkers read.


def roc(
    source: Any,
    score: ArrayLike | None = None,
    *,
    weight: ArrayLike | None = None,
    positive: Any = None,
    rows: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the ROC curve of a run (``rows``: "test" or "training") or of labels and scores."""
    scores, which, metrics = _scores(source, score, weight, positive, rows)
    ax = axes_of(ax)
    wrong, right = scores.roc()
    ax.plot([0, 1], [0, 1], **REFERENCE, label="by chance")
    ax.plot(wrong, right, color=BLUE, linewidth=1.8, label=f"AUC {_metric(metrics, 'auc', scores.area())}")
    ax.fill_between(wrong, right, color=BLUE, alpha=0.08, linewidth=0)
    tidy(ax, f"ROC{which}", "false positive rate", "true positive rate", grid="both")
    axis_of_shares(ax)
    ax.legend(frameon=False, loc="lower right")
    return ax


def precision_recall(
    source: Any,
    score: ArrayLike | None = None,
    *,
    weight: ArrayLike | None = None,
    positive: Any = None,
    rows: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot precision over recall, for a run or for labels and scores."""
    scores, which, metrics = _scores(source, score, weight, positive, rows)
    ax = axes_of(ax)
    recall, precision = scores.precision_recall()
    recall, precision = np.concatenate([[0.0], recall]), np.concatenate([precision[:1], precision])
    share = scores.positive.sum() / max((scores.positive + scores.negative).sum(), 1e-300)
    ax.axhline(share, **REFERENCE, label=f"by chance {share:.3g}")
    label = f"average precision {_metric(metrics, 'average_precision', scores.average_precision())}"
    ax.plot(recall, precision, color=BLUE, linewidth=1.8, drawstyle="steps-pre", label=label)
    tidy(ax, f"Precision and recall{which}", "recall", "precision", grid="both")
    axis_of_shares(ax)
    legend_below(ax)
    return ax


def calibration(
    source: Any,
    score: ArrayLike | None = None,
    *,
    weight: ArrayLike | None = None,
    positive: Any = None,
    rows: str | None = None,
    bins: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Plot observed frequencies over predicted probabilities. With more than two classes: the accuracy of the
    predicted class. The size of a dot shows its number of rows."""
    confidence = None
    if score is None:
        evaluation = evaluated(source).evaluation(rows)
        confidence = evaluation.get("confidence")
    if confidence is not None:
        columns = (np.asarray(confidence[k], float) for k in ("confidence", "accuracy", "weight"))
        said, is_so, many = merge_small_bins(*columns)
        which, x, y = which_rows(evaluation), "probability of the predicted class", "accuracy"
    else:
        scores, which, _metrics = _scores(source, score, weight, positive, rows)
        said, is_so, many = merge_small_bins(*scores.calibration(bins))
        x, y = "predicted probability", "observed frequency"
    ax = axes_of(ax)
    ax.plot([0, 1], [0, 1], **REFERENCE, label="perfect")
    ax.plot(said, is_so, color=BLUE, linewidth=1.2, zorder=3, label="the model")
    area = 12 + 130 * np.sqrt(many / many.max()) if len(many) else []
    ax.scatter(said, is_so, s=area, color=BLUE, alpha=0.75, linewidth=0, zorder=4, clip_on=False)
    tidy(ax, f"Calibration{which}", x, y, grid="both")
    axis_of_shares(ax)
    ax.legend(frameon=False, loc="upper left")
    return ax
