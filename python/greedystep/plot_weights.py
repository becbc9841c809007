"""The strongest features, by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from .model import Model
from .plot_evaluation import evaluated, model_event
from .plot_style import (
    BLUE,
    INK,
    ORANGE,
    axes_of,
    plain,
    say,
    tidy,
)
from .plot_trace import Event, Trace, TraceError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def _feature_name(entry: Event) -> str:
    name = entry.get("name")
    text = plain(name, 30) if name is not None else f"feature {entry['index']}"
    return f"{text}, class {plain(entry['label'], 12)}" if entry.get("label") is not None else text


def _title_of_weights(trace: Trace) -> str:
    model = trace.model or {}
    labels = model.get("labels") or []
    if len(labels) == 2 and model.get("outputs") == 1:
        left, right = plain(labels[0], 14), plain(labels[1], 14)
        return f"for {left} \N{LEFTWARDS ARROW}  importance  \N{RIGHTWARDS ARROW} for {right}"
    if (model.get("outputs") or 1) > 1:
        return "against the class \N{LEFTWARDS ARROW}  importance  \N{RIGHTWARDS ARROW} for it"
    return "lower \N{LEFTWARDS ARROW}  importance  \N{RIGHTWARDS ARROW} higher"


def _bar_of(entry: Event) -> float:
    """Return the importance with the sign of the weight, which is comparable between units."""
    importance, weight = entry.get("importance"), float(entry["weight"])
    return weight if importance is None or importance != importance else math.copysign(importance, weight)


def weights(
    source: Any,
    values: ArrayLike | None = None,
    *,
    top: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Plot the strongest features by name: by importance (weight x deviation) for a model, estimator or run; by weight
    for a mapping from names to weights, or for names and weights."""
    x_label = "weight"
    if values is not None or isinstance(source, Mapping):
        pairs = list(source.items()) if isinstance(source, Mapping) else list(zip(source, np.ravel(np.asarray(values))))
        strongest = [(plain(name, 30), float(value)) for name, value in pairs]
        strongest.sort(key=lambda pair: -abs(pair[1]))
    else:
        source = getattr(source, "model_", source)  # of an estimator
        trace = Trace(model=model_event(source)) if isinstance(source, Model) else evaluated(source)
        if trace.model is None:
            raise TraceError("the trace has no model yet: it comes at the end of a run")
        strongest = [(_feature_name(entry), _bar_of(entry)) for entry in trace.model["strongest"]]
        x_label = _title_of_weights(trace)
    shown = strongest[:top][::-1]
    ax = axes_of(ax)
    heights = [value for _name, value in shown]
    ax.barh(range(len(shown)), heights, color=[BLUE if value > 0 else ORANGE for value in heights], height=0.7)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_yticks(range(len(shown)), [name for name, _value in shown])
    tidy(ax, "Strongest features", x_label, grid="x")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6))
    ax.tick_params(axis="y", length=0)
    if not shown:
        say(ax, "every weight is 0")
    return ax
