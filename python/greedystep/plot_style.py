"""The style of all pictures: colours, axes, names and numbers for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#1b1f24"
MUTED = "#59626d"
GRID = "#e3e6ea"
PAPER = "#fefefe"
BLUE = "#2866b0"
ORANGE = "#c8641b"
GREEN = "#2c8a5b"
GREY = "#8a939d"
#: How a line is drawn that others are compared with.
REFERENCE: Any = {"color": GREY, "linewidth": 1, "linestyle": (0, (4, 3))}


def axes_of(ax: Axes | None) -> Axes:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    return plt.subplots(figsize=(5.0, 3.5), layout="constrained")[1]


def axes_for(n: int, what: str, axes: Any, size: tuple[float, float]) -> Any:
    """Return the given axes, which are to be at least n, or those of a new figure with pictures of this size."""
    if axes is None:
        n_columns = min(n, 4)
        n_rows = -(-n // n_columns)
        size = (size[0] * n_columns, size[1] * n_rows)
        _, axes = plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
    every = np.ravel(np.asarray(axes, object))
    if len(every) < n:
        raise ValueError(f"{n} {what} need as many axes, and there are {len(every)}")
    return every


def tidy(ax: Axes, title: str, x: str = "", y: str = "", grid: str = "y") -> None:
    """Set the title and the names of the axes; draw a frame of two sides and a quiet grid."""
    ax.set_title(title, loc="left", fontweight="bold", color=INK)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if grid:
        ax.grid(True, axis=grid, color=GRID, linewidth=0.8)  # type: ignore[arg-type]
    ax.set_axisbelow(True)


def legend_below(ax: Axes) -> None:
    """Put the legend below the axes, where it hides no line."""
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.46, -0.19), ncols=2, columnspacing=1.2)


def plain(text: object, most: int = 32) -> str:
    """Return a name as plain text: no mathematics between dollars, no line breaks, not too long."""
    one_line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    if len(one_line) > most:
        one_line = one_line[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return one_line.replace("$", r"\$")


def label_of_legend(text: str) -> str:
    """Return a label for a legend: matplotlib leaves out labels that begin with an underscore."""
    return "\N{ZERO WIDTH SPACE}" + text if text.startswith("_") else text


def short(number: float) -> str:
    """Return a short text for a number: 950, 12.3k, 4.56M."""
    for unit in ("", "k", "M", "G"):
        if abs(number) < 999.5:
            return f"{number:.0f}" if unit == "" and number == int(number) else f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:.3g}T"


def _short_tick(number: float, _position: Any) -> str:
    return short(number)


def axis_of_rows(ax: Axes, least: float, most: float) -> None:
    """Put rows along the x axis: logarithmic if they span several powers of ten, with readable numbers."""
    if least > 0 and most / least > 30:
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(base=10, numticks=6))
        if most / least < 300:
            ax.xaxis.set_major_locator(LogLocator(base=10, subs=(1, 3), numticks=8))
        ax.xaxis.set_minor_formatter(NullFormatter())
    else:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    ax.xaxis.set_major_formatter(FuncFormatter(_short_tick))


def axis_of_passes(ax: Axes) -> None:
    """Put whole numbers along the x axis."""
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def axis_of_powers(ax: Axes) -> None:
    """Make the y axis logarithmic, with readable numbers."""
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=10))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _position: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def axis_of_shares(ax: Axes) -> None:
    """Make both axes run from 0 to 1."""
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
        axis.set_major_formatter(FuncFormatter(lambda share, _position: f"{share:g}"))


def numbers(values: Sequence[Any] | Iterable[Any]) -> list[float]:
    """Return numbers as a list; None becomes NaN."""
    return [float("nan") if value is None else float(value) for value in values]


def say(ax: Axes, text: str) -> None:
    """Write a text in place of a figure that has no data."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=MUTED)


def which_rows(evaluation: dict[str, Any]) -> str:
    """Return the name of the rows for a title: a model looks better on rows that it has learned."""
    return ", test rows" if evaluation.get("rows") == "test" else ", training rows"
