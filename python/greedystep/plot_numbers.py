"""Figures of regressions: residuals, predictions and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .plot_evaluation import evaluated
from .plot_style import (
    BLUE,
    INK,
    MUTED,
    REFERENCE,
    axes_of,
    tidy,
    which_rows,
)
from .plot_trace import TraceError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def residuals(
    source: Any,
    predicted: ArrayLike | None = None,
    *,
    rows: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot a histogram of the residuals, label - prediction."""
    which, outside = "", 0.0
    if predicted is not None:
        rest = np.asarray(source, float) - np.asarray(predicted, float)
        low, high = (float(edge) for edge in np.percentile(rest, [0.5, 99.5]))
        counts, edges = np.histogram(rest, bins=60, range=(low, high) if high > low else None)
        total, outside = float(len(rest)), float(len(rest) - counts.sum())
        heights = counts.astype(float)
    else:
        evaluation = evaluated(source).evaluation(rows)
        found = evaluation.get("residuals")
        if not found or not found.get("weight"):
            raise TraceError("this figure is for regressions, and needs rows with different residuals")
        heights, edges = np.asarray(found["weight"], float), np.asarray(found["edges"], float)
        outside = float(found["below"] + found["above"])
        total, which = float(heights.sum() + outside), which_rows(evaluation)
    ax = axes_of(ax)
    ax.stairs(100 * heights / max(total, 1e-300), edges, fill=True, color=BLUE, alpha=0.8)
    ax.axvline(0, color=INK, linewidth=1)
    tidy(ax, f"Residuals{which}", "label - prediction", "% of rows")
    if outside > 0:
        ax.text(
            0.99, 0.97, f"{100 * outside / total:.1f} % lie outside", transform=ax.transAxes, ha="right", va="top",
            color=MUTED, fontsize="small",
        )  # fmt: skip
    return ax


def _group_predictions(label: Any, predicted: Any, groups: int = 40) -> dict[str, Any]:
    truth, said = np.asarray(label, float), np.asarray(predicted, float)
    order = np.argsort(said, kind="stable")
    parts = [part for part in np.array_split(order, min(groups, max(len(order), 1))) if len(part)]
    rest = truth - said
    return {
        "prediction": [said[part].mean() for part in parts],
        "weight": [float(len(part)) for part in parts],
        "residual": [rest[part].mean() for part in parts],
        "deviation": [rest[part].std() for part in parts],
    }


def predictions(
    source: Any,
    predicted: ArrayLike | None = None,
    *,
    rows: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot labels over predictions: mean and spread of the labels in groups of equally many rows."""
    which = ""
    if predicted is not None:
        columns = _group_predictions(source, predicted)
    else:
        evaluation = evaluated(source).evaluation(rows)
        columns, which = evaluation.get("predictions", {}), which_rows(evaluation)
    if not columns.get("prediction"):
        raise TraceError("this figure is for regressions, and needs evaluated rows")
    said, rest, spread = (np.asarray(columns[k], float) for k in ("prediction", "residual", "deviation"))
    ax = axes_of(ax)
    ends = [said.min(), said.max()]
    ax.plot(ends, ends, **REFERENCE, label="perfect")
    truth = said + rest
    ax.fill_between(
        said, truth - spread, truth + spread, color=BLUE, alpha=0.18, linewidth=0, label="two thirds of the labels"
    )
    ax.plot(said, truth, color=BLUE, linewidth=1.2, marker="o", markersize=3, label="mean of the labels")
    tidy(ax, f"Prediction and truth{which}", "prediction", "label", grid="both")
    ax.legend(frameon=False, fontsize="small", loc="upper left")
    return ax
