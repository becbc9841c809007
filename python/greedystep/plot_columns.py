"""Columns that bend: a small picture of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator

from .model import Model
from .plot_evaluation import evaluated, model_event
from .plot_style import BLUE, GREEN, GREY, INK, ORANGE, axes_for, plain, short, tidy
from .plot_trace import Event, Trace, TraceError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Lines of more classes could not be told apart.
_COLOURS = (BLUE, ORANGE, GREEN, INK)
# Histograms take this share of the height.
_HISTOGRAM = 0.18


def _seen(one: Event) -> tuple[Any, Any, Any]:
    """Return the knots, the values there, [outputs x knots], and the shares of the rows, all without the outermost.

    Knots beyond the range of nearly all rows are left out, and the ends of the range are knots.
    """
    knots, values, share = (np.asarray(one[name], float) for name in ("knots", "values", "share"))
    share[1] += share[0]
    share[-2] += share[-1]
    knots, values, share = knots[1:-1], values[: len(_COLOURS), 1:-1], share[1:-1]
    low, high = one.get("range") or (knots[0], knots[-1])
    low, high = max(low, knots[0]), min(high, knots[-1])
    if not low < high:
        return knots, values, share
    inside = knots[(knots > low) & (knots < high)]
    kept = np.array([low, *inside, high])
    near = np.bincount(abs(knots[:, np.newaxis] - kept).argmin(axis=1), share, len(kept))
    return kept, np.array([np.interp(kept, knots, line) for line in values]), near


def scale_of(found: list[Event]) -> tuple[float, float]:
    """Return the lowest and the highest value of curves, so that pictures have one scale."""
    values = [_seen(one)[1] for one in found]
    low, high = min(float(one.min()) for one in values), max(float(one.max()) for one in values)
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def _percent(part: float) -> str:
    return "<0.1 %" if abs(part) < 0.0005 else f"{100 * part:.{0 if abs(part) >= 0.095 else 1}f} %"


def _tick(one: Event) -> Any:
    """Return how the values of a column are written: as dates, or short."""
    if one.get("is_date"):
        return lambda days, _position: str(np.datetime64(round(days), "D"))[:7]
    return lambda value, _position: short(value) if abs(value) >= 1000 else f"{value:g}"


def draw(ax: Axes, one: Event, labels: list[str], scale: tuple[float, float]) -> None:
    """Draw a curve over the rows, from its outer knots on as far as there are rows."""
    knots, values, share = _seen(one)
    edges = np.concatenate([knots[:1], (knots[1:] + knots[:-1]) / 2, knots[-1:]])
    width = np.maximum(np.diff(edges), 1e-12 * (abs(knots).max() + 1))
    density = share / width
    heights = _HISTOGRAM * density / (density.max() or 1)
    place = ax.get_xaxis_transform()
    ax.bar(edges[:-1], heights, width, align="edge", color=GREY, alpha=0.45, transform=place, zorder=0)
    for k, line in enumerate(values):
        ax.plot(knots, line, color=_COLOURS[k], linewidth=1.6, label=labels[k] if k < len(labels) else None)
    low, high = scale
    ax.set_ylim(low - _HISTOGRAM * (high - low) / (1 - _HISTOGRAM), high)  # bars stand below the lines
    ax.set_yticks([tick for tick in MaxNLocator(nbins=4).tick_values(low, high) if low <= tick <= high])
    ax.xaxis.set_major_locator(MaxNLocator(nbins=3 if one.get("is_date") else 4))
    ax.xaxis.set_major_formatter(FuncFormatter(_tick(one)))
    part = one.get("part")
    tidy(ax, plain(one["name"], 24) if part is None else f"{plain(one['name'], 18)}, {_percent(part)}")


def of_trace(trace: Trace) -> list[Event]:
    """Return the curves of a run's model: of its rows, if there are some, with their parts of the margins' variance.

    The parts are in ``part``; those with the largest come first.
    """
    found = list((trace.model or {}).get("curves") or [])
    try:
        evaluation = trace.evaluation()
    except TraceError:
        return found
    parts = {one["column"]: one["share"] for one in evaluation.get("columns") or []}
    near = evaluation.get("near") or []
    if found and len(near) == len(found):
        ranges = evaluation["ranges"]
        found = [{**one, "share": rows, "range": ends} for one, rows, ends in zip(found, near, ranges)]
    found = [{**one, "part": parts.get(one["name"])} for one in found]
    return sorted(found, key=lambda one: -(one["part"] or 0.0)) if parts else found


def labels_of(trace: Trace) -> list[str]:
    """Return the classes whose lines are to be told apart."""
    model = trace.model or {}
    return [plain(one, 14) for one in model.get("labels") or []] if model.get("outputs", 1) > 1 else []


def curves(source: Any, *, top: int = 12, axes: Any = None) -> Any:
    """Plot the columns of a model, estimator or run that bend, the most influential first, and return their axes.

    A curve shows the part of a column in the margin: of the logarithm of the odds, or of the number; all have one
    scale, and of a run about 1 % of the rows may be outside. The bars beneath
    are the rows learned or, of a run whose files are there, the rows that it was evaluated on; the title then has the
    column's share in the variance of the margins. With several classes the first four have a line each.
    """
    source = getattr(source, "model_", source)
    trace = Trace(model=model_event(source)) if isinstance(source, Model) else evaluated(source)
    found = of_trace(trace)[:top]
    if not found:
        raise ValueError('no column of the model bends: train it with curves="auto"')
    every = axes_for(len(found), "columns", axes, (2.6, 2.1))
    labels, scale = labels_of(trace), scale_of(found)
    for ax, one in zip(every, found):
        draw(ax, one, labels, scale)
    for ax in every[len(found) :]:
        ax.set_visible(False)
    if labels:
        every[0].legend(fontsize="small")
    return every[: len(found)]
