"""Confusion of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Rectangle

from .plot_evaluation import evaluated
from .plot_style import (
    BLUE,
    INK,
    ORANGE,
    PAPER,
    axes_of,
    plain,
    short,
    tidy,
    which_rows,
)
from .plot_trace import Source, TraceError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def _confusion_of_arrays(actual: Any, predicted: Any, labels: Sequence[Any] | None) -> tuple[Any, list[str]]:
    was, said = np.asarray(actual), np.asarray(predicted)
    if was.ndim != 1 or was.shape != said.shape:
        raise ValueError(f"one label and one prediction per row are needed, not {was.shape} and {said.shape}")
    kinds = list(labels) if labels is not None else sorted(set(was.tolist()) | set(said.tolist()))
    place = {kind: i for i, kind in enumerate(kinds)}
    counts = np.zeros((len(kinds), len(kinds)))
    for a, p in zip(was.tolist(), said.tolist()):
        counts[place[a], place[p]] += 1
    return counts, [str(kind) for kind in kinds]


def confusion(
    source: Any,
    predicted: ArrayLike | None = None,
    *,
    labels: Sequence[Any] | None = None,
    rows: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the confusion matrix: each line is a class, its cells the shares of its rows predicted as each class."""
    which = ""
    if predicted is not None:
        counts, names = _confusion_of_arrays(source, predicted, labels)
    else:
        evaluation = evaluated(source).evaluation(rows)
        if not evaluation.get("confusion"):
            raise TraceError("the trace has a confusion matrix only of models of 2 to 20 classes; see classes()")
        counts = np.asarray(evaluation["confusion"], float)
        names = [str(entry["label"]) for entry in evaluation["classes"]]
        which = which_rows(evaluation)
    ax, n = axes_of(ax), len(names)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    for row in range(n):
        for column in range(n):
            is_right, part = row == column, float(share[row, column])
            cell = Rectangle((column - 0.5, row - 0.5), 1, 1, linewidth=0, facecolor=BLUE if is_right else ORANGE)
            cell.set_alpha(0.04 + 0.9 * part**0.7)  # small shares are what one looks for
            ax.add_patch(cell)
            text = short(counts[row, column]) if n <= 12 else f"{100 * part:.0f}"
            if n <= 4:
                text += f"\n{100 * part:.1f} %"
            if counts[row, column] > 0 and (n <= 12 or part >= 0.01):
                size = 10 if n <= 4 else 7.5 if n <= 12 else 5.5
                ax.text(column, row, text, ha="center", va="center", fontsize=size, color=PAPER if part > 0.6 else INK)
    tidy(ax, f"Confusion matrix{which}", "predicted" + ("" if n <= 12 else " (percent of the line)"), "actual", grid="")
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5)
    if n > 3:
        ax.set_aspect("equal")
    shown = [plain(name, 14) for name in names]
    is_long = max(map(len, shown), default=0) * n > 40
    ax.set_xticks(range(n), shown, rotation=90 if is_long else 0)
    ax.set_yticks(range(n), shown)
    ax.tick_params(length=0, labelsize=9 if n <= 12 else 7)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def classes(run: Source, ax: Axes | None = None, *, rows: str | None = None, most: int = 20) -> Axes:
    """Plot the recall of the classes with the most missed rows. For many classes."""
    evaluation = evaluated(run).evaluation(rows)
    entries = [entry for entry in evaluation.get("classes", []) if entry["actual"] > 0]
    if not entries:
        raise TraceError("this figure is for classification models")
    entries.sort(key=lambda entry: entry["correct"] - entry["actual"])
    shown = entries[:most][::-1]
    ax = axes_of(ax)
    found = [entry["correct"] / entry["actual"] for entry in shown]
    ax.barh(range(len(shown)), found, color=BLUE, height=0.7)
    for at, (entry, share) in enumerate(zip(shown, found)):
        text = f"{short(entry['correct'])} of {short(entry['actual'])}"
        is_inside = share > 0.55
        ax.text(
            share + (-0.015 if is_inside else 0.015),
            at,
            text,
            va="center",
            ha="right" if is_inside else "left",
            fontsize="small",
            color=PAPER if is_inside else INK,
        )
    ax.set_yticks(range(len(shown)), [plain(entry["label"], 20) for entry in shown])
    tidy(ax, f"Classes most missed{which_rows(evaluation)}", "recall of the class", grid="x")
    ax.set_xlim(0, 1)
    ax.tick_params(axis="y", length=0)
    return ax
