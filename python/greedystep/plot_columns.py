"""Columns that bend: a small picture of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np

from .plot_style import BLUE, GREEN, GREY, GRID, ORANGE, plain, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Lines of more classes could not be told apart.
_COLOURS = (BLUE, ORANGE, GREEN, GREY)
# Histograms take this share of the height.
_HISTOGRAM = 0.18


def _draw(ax: Axes, one: Any, labels: list[str]) -> None:
    """Draw a curve, constant beyond its outer knots, over the rows learned."""
    inside = slice(1, -1)
    knots = one.knots[inside]
    edges = np.concatenate([knots[:1], (knots[1:] + knots[:-1]) / 2, knots[-1:]])
    width = np.maximum(np.diff(edges), 1e-12 * (abs(knots).max() + 1))
    density = one.share[inside] / width
    ax.bar(
        edges[:-1],
        _HISTOGRAM * density / density.max(),
        width,
        align="edge",
        color=GRID,
        transform=ax.get_xaxis_transform(),
        zorder=0,
    )
    for k, values in enumerate(one.values[: len(_COLOURS)]):
        ax.plot(knots, values[inside], color=_COLOURS[k], linewidth=1.6, label=labels[k] if k < len(labels) else None)
    tidy(ax, plain(one.name, 24))


def curves(source: Any, *, top: int = 12, axes: Any = None) -> Any:
    """Plot the columns of a model or estimator that bend, the most influential first, and return their axes.

    A curve shows the part of a column in the margin: of the logarithm of the odds, or of the number. The bars beneath
    are the rows learned. With several classes the first four have a line each.
    """
    model = getattr(source, "model_", source)
    found = model.curves()[:top]
    if not found:
        raise ValueError('no column of the model bends: train it with curves="auto"')
    if axes is None:
        n_columns = min(len(found), 4)
        n_rows = -(-len(found) // n_columns)
        size = (2.6 * n_columns, 2.1 * n_rows)
        _, axes = plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
    every = np.ravel(np.asarray(axes, object))
    if len(every) < len(found):
        raise ValueError(f"{len(found)} columns need as many axes, and there are {len(every)}")
    labels = [] if model.classes is None or len(found[0].values) == 1 else [plain(one, 14) for one in model.classes]
    for ax, one in zip(every, found):
        _draw(ax, one, labels)
    for ax in every[len(found) :]:
        ax.set_visible(False)
    if labels:
        every[0].legend(fontsize="small")
    return every[: len(found)]
