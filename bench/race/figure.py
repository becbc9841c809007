"""docs/figures/race.svg: a panel a data set, loss against processor seconds, rivals before and after their search.

One picture for light and dark pages: on a background of its own. Text stays text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

import look
from common import DEFAULT, GREEDYSTEP, TUNED, Rival
from shared import ROOT

if TYPE_CHECKING:
    from page import Race

TARGET = ROOT / "docs" / "figures" / "race.svg"
STYLE = look.STYLE | {
    "font.family": "sans-serif",
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": "#888888",
    "axes.axisbelow": True,
    "grid.color": "#ececec",
    "xtick.color": "#555555",
    "ytick.color": "#555555",
}
# Told apart by people who see few colours too (Okabe and Ito), and by their shapes.
LOOKS = {
    "Vowpal Wabbit": ("#0072b2", "s"),
    "LIBLINEAR": ("#e69f00", "^"),
    "SGDClassifier": ("#cc79a7", "D"),
    "LogisticRegression": ("#009e73", "v"),
}
OURS = "#d62728"
COLUMNS, WORST = 6, 1.9  # a panel ends at this multiple of its least loss


def limits(ours: float, losses: list[float]) -> tuple[float, float]:
    """From just below the least loss to the worst that is still told apart, ours among them."""
    least = min(ours, *losses)
    worst = max(min(max(losses), max(WORST * least, 1.5 * ours)), 1.06 * least)
    room = 0.09 * (worst - least)
    return least - room, worst + room


def mark(axes: Axes, at: tuple[float, float], top: float, color: str, shape: str, filled: bool) -> None:
    seconds, loss = at
    face = color if filled else "white"
    size = 6 if shape != "D" else 5
    axes.plot(
        seconds,
        min(loss, top),
        shape,
        color=color,
        markerfacecolor=face,
        markersize=size,
        clip_on=False,
        zorder=3,
        alpha=1 if loss <= top else 0.55,
    )


def panel(axes: Axes, race: Race, data: str, rivals: Sequence[Rival]) -> None:
    def at(tool: str, state: str) -> tuple[float, float]:
        return max(race.values(data, tool, state, "seconds"), 1e-3), race.values(data, tool, state, "loss")

    ours = at(GREEDYSTEP, DEFAULT)
    pairs = {rival.name: (at(rival.name, DEFAULT), at(rival.name, TUNED)) for rival in rivals}
    low, high = limits(ours[1], [loss for pair in pairs.values() for _, loss in pair])
    axes.set_title(data)
    axes.set_xscale("log")
    axes.set_ylim(low, high)
    axes.axhline(ours[1], color=OURS, linewidth=0.8, alpha=0.45, zorder=1)
    for name, (first, last) in pairs.items():
        color, shape = LOOKS[name]
        axes.plot([first[0], last[0]], [min(first[1], high), min(last[1], high)], color=color, linewidth=1, alpha=0.6)
        mark(axes, first, high, color, shape, filled=False)
        mark(axes, last, high, color, shape, filled=True)
    axes.plot(*ours, "*", color=OURS, markersize=13, markeredgecolor="white", markeredgewidth=0.6, zorder=4)
    seconds = [ours[0], *(second for pair in pairs.values() for second, _ in pair)]
    axes.set_xlim(10 ** math.floor(math.log10(min(seconds)) - 0.05), 10 ** math.ceil(math.log10(max(seconds)) + 0.05))
    axes.xaxis.set_major_locator(LogLocator(numticks=5))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_major_locator(MaxNLocator(4, min_n_ticks=3))
    axes.tick_params(length=2)


def legend(axes: Axes, rivals: Sequence[Rival]) -> None:
    """In the place of a panel that the last line has left over."""
    axes.axis("off")
    marks = [Line2D([], [], marker="*", color=OURS, linestyle="", markersize=12, label="greedystep")]
    for rival in rivals:
        color, shape = LOOKS[rival.name]
        marks.append(Line2D([], [], marker=shape, color=color, markersize=6, label=rival.name))
    gray = "#555555"
    marks.append(Line2D([], [], marker="o", color=gray, markerfacecolor="white", linestyle="", label="as it comes"))
    marks.append(Line2D([], [], marker="o", color=gray, linestyle="", label="after its search"))
    axes.legend(handles=marks, loc="center left", frameon=False, fontsize=9, bbox_to_anchor=(-0.2, 0.5))


def draw(race: Race, rivals: Sequence[Rival]) -> None:
    with plt.rc_context(STYLE):
        n_lines = math.ceil((len(race.sets) + 1) / COLUMNS)
        figure, grid = plt.subplots(n_lines, COLUMNS, figsize=(2.1 * COLUMNS, 2.1 * n_lines), squeeze=False)
        places = list(grid.flat)
        for data, axes in zip(race.sets, places, strict=False):
            panel(axes, race, data, rivals)
        legend(places[len(race.sets)], rivals)
        for axes in places[len(race.sets) + 1 :]:
            axes.axis("off")
        figure.supxlabel("processor seconds until the model is there, the search for settings included", fontsize=10)
        figure.supylabel("log loss on test rows", fontsize=10)
        figure.tight_layout(h_pad=1.1, w_pad=0.9)
        look.save(figure, TARGET)
