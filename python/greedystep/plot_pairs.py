"""Pairs of columns: a small map of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import MaxNLocator

from .model import Model
from .plot_columns import labels_of
from .plot_evaluation import evaluated, model_event
from .plot_style import BLUE, ORANGE, axes_for, plain, tidy
from .plot_trace import Event, Trace, TraceError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = LinearSegmentedColormap.from_list("pairs", [BLUE, "white", ORANGE])
_LEVELS = 13
# Points between two knots: a map bends there, as a product of two straight lines.
_BETWEEN = 4


def _finer(knots: Any) -> Any:
    """Return the knots, and points between them."""
    parts = np.linspace(knots[:-1], knots[1:], _BETWEEN, endpoint=False, axis=1)
    return np.append(parts.ravel(), knots[-1])


def _grid(one: Event) -> tuple[Any, Any, Any, int]:
    """Return the points of both columns, what the pair adds there, and the output that it moves most."""
    first, second = (np.asarray(knots, float) for knots in one["knots"])
    values = np.asarray(one["values"], float)
    output = int(values.std(axis=(1, 2)).argmax())
    x, y = _finer(first), _finer(second)
    along = np.array([np.interp(y, second, line) for line in values[output]])
    return x, y, np.array([np.interp(x, first, column) for column in along.T]), output


def largest_of(found: list[Event]) -> float:
    """Return the largest absolute value of maps, so that pictures have one scale."""
    return max((float(np.abs(_grid(one)[2]).max()) for one in found), default=0.0) or 1.0


def _axis(axis: Any, knots: list[float]) -> None:
    """Write few numbers; of a category whether it is there."""
    if list(knots) == [0, 1]:
        axis.set_ticks([0, 1], labels=["no", "yes"])
    else:
        axis.set_major_locator(MaxNLocator(nbins=4))


def draw_pair(ax: Axes, one: Event, labels: list[str], largest: float) -> None:
    """Draw what a pair adds to the margin: the more orange the higher, the more blue the lower."""
    x, y, values, output = _grid(one)
    ax.contourf(x, y, values, levels=np.linspace(-largest, largest, _LEVELS), cmap=_COLOURS)
    _axis(ax.xaxis, one["knots"][0])
    _axis(ax.yaxis, one["knots"][1])
    first, second = (plain(name, 20) for name in one["names"])
    share = "" if one.get("part") is None else f"{100 * one['part']:.1f} %"
    tidy(ax, " ".join([share, *labels[output : output + 1]]).strip(), x=first, y=second, grid="")


def pairs_of(trace: Trace) -> list[Event]:
    """Return the pairs of a run's model, those with the largest part of the margins' variance first."""
    found = list((trace.model or {}).get("pairs") or [])
    try:
        evaluation = trace.evaluation()
    except TraceError:
        return found
    parts = {one["column"]: one["share"] for one in evaluation.get("columns") or []}
    found = [{**one, "part": parts.get(" & ".join(one["names"]))} for one in found]
    return sorted(found, key=lambda one: -(one["part"] or 0.0)) if parts else found


def pairs(source: Any, *, top: int = 8, axes: Any = None) -> Any:
    """Plot the pairs of columns of a model, estimator or run, the most influential first, and return their axes.

    A map shows what two columns add to the margin beside their own parts: the first from left to right, the second
    upwards. All have one scale. With several classes it is that of the class which the pair moves most.
    """
    source = getattr(source, "model_", source)
    trace = Trace(model=model_event(source)) if isinstance(source, Model) else evaluated(source)
    found = pairs_of(trace)[:top]
    if not found:
        raise ValueError('the model has no pairs of columns: train it with pairs="auto"')
    every = axes_for(len(found), "pairs", axes, (2.8, 2.4))
    labels, largest = labels_of(trace), largest_of(found)
    for ax, one in zip(every, found):
        draw_pair(ax, one, labels, largest)
    for ax in every[len(found) :]:
        ax.set_visible(False)
    return every[: len(found)]
