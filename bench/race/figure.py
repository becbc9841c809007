"""docs/figures/race.svg, one cloud of points per tool, and docs/figures/race-sets.svg, one panel per data set.

Both have a white background of their own, because they stand on light and on dark pages. race.svg is drawn so that its
text has at least 9 px when the figure is 390 px wide.
"""

from __future__ import annotations

import math
import statistics
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

import look
from shared import ROOT
from standings import CALIBRATED, LIBLINEAR, LOSS, LR, OWN, SETS, SGD, TIME, VW, Entry, Standings

FOLDER = ROOT / "docs" / "figures"
# Told apart by people who see few colours too (Okabe and Ito), and by their shapes.
OURS = "#d55e00"
LOOKS = {VW: ("#0072b2", "s"), LIBLINEAR: ("#009e73", "^"), SGD: ("#aa4488", "D"), LR: ("#444444", "o")}
STYLE = look.STYLE | {"font.family": "sans-serif", "axes.edgecolor": "#888888", "axes.axisbelow": True}
TOP = 3.0  # losses beyond this multiple of the best are drawn on the upper edge
BOTTOM, LEFT, RIGHT = 0.9, 0.07, 700.0
# Labels of the medians: text, offset in points, side of the text that is there.
LABELS = {
    "VW": ("Vowpal Wabbit", 8, -20, "right"),
    "VW freegrad": ("VW --freegrad", 12, -2, "left"),
    "VW tuned": ("Vowpal Wabbit", 24, 20, "center"),
    "LIBLINEAR -s 0": ("LIBLINEAR", -12, 0, "right"),
    "LIBLINEAR tuned": ("LIBLINEAR", -13, -9, "right"),
    "SGD": ("SGDClassifier", 12, 0, "left"),
    "SGD tuned": ("SGDClassifier", 8, 44, "center"),
    "LR": ("LogisticRegression", 12, 10, "left"),
    "LR CV best": ("LogisticRegression", 56, -20, "right"),
}
LEAST_SECONDS = 1e-3


def ratio_text(value: float, _: object = None) -> str:
    return f"{value:g}×"


# ---- clouds ----------------------------------------------------------------------------------------------------------


def points(standings: Standings, entry: Entry) -> list[tuple[float, float]]:
    """Seconds over greedystep's and loss over the best of all tools, per set."""
    times = standings.ratios(entry, TIME)
    losses = standings.ratios(entry, LOSS)
    return [(times[name], losses[name] / standings.least(name)) for name in losses if name in times]


def middle(found: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(x for x, _ in found), statistics.median(y for _, y in found)


def cloud(axes: Axes, found: list[tuple[float, float]], color: str, shape: str, is_filled: bool) -> None:
    face = color if is_filled else "white"
    for x, y in found:
        x = min(max(x, LEFT), RIGHT)
        is_clipped = y > TOP
        axes.plot(
            *(x, min(y, TOP)),
            marker="$\u2191$" if is_clipped else shape,
            color=color,
            markerfacecolor=color if is_clipped else face,
            markersize=9 if is_clipped else 6,
            alpha=0.6,
            clip_on=False,
            zorder=2,
        )


def label(axes: Axes, entry: Entry, at: tuple[float, float]) -> None:
    text, across, up, side = LABELS[entry.method.removesuffix(CALIBRATED)]
    axes.annotate(
        *(text, at, (across, up)),
        textcoords="offset points",
        ha=side,
        va="center",
        color=LOOKS[entry.tool][0],
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.5},
        zorder=5,
    )


def draw_clouds(standings: Standings, path: Path = FOLDER / "race.svg") -> None:
    with plt.rc_context(STYLE | {"font.size": 15}):
        figure, axes = plt.subplots(figsize=(8.6, 8.4))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(LEFT, RIGHT)
        axes.set_ylim(BOTTOM, TOP)
        axes.axvline(1, color=OURS, linewidth=12, alpha=0.15, zorder=0)
        ours = [(1.0, 1 / standings.least(name)) for name in standings.sets]
        for entry in (each for each in standings.entries if each.method.removesuffix(CALIBRATED) in LABELS):
            found = points(standings, entry)
            if not standings.is_few(entry):
                color, shape = LOOKS[entry.tool]
                cloud(axes, found, color, shape, entry.is_searched)
                at = middle(found)
                face = color if entry.is_searched else "white"
                axes.plot(*at, shape, color=color, markerfacecolor=face, markersize=15, markeredgewidth=2.5, zorder=4)
                label(axes, entry, at)
        cloud(axes, ours, OURS, "*", True)
        at = middle(ours)
        axes.plot(*at, "*", color=OURS, markersize=36, markeredgecolor="white", markeredgewidth=1, zorder=6)
        axes.annotate("greedystep", at, (16, -17), textcoords="offset points", color=OURS, weight="bold", size=19)
        axes.xaxis.set_major_locator(FixedLocator([0.1, 1, 10, 100]))
        axes.yaxis.set_major_locator(FixedLocator([1, 1.1, 1.2, 1.5, 2, 3]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(ratio_text))
        axes.yaxis.set_major_formatter(FuncFormatter(ratio_text))
        axes.set_xlabel("processor seconds, greedystep = 1")
        axes.set_ylabel("log loss, best tool of each data set = 1")
        gray = "#555555"
        marks = [
            Line2D([], [], marker="s", color=gray, markerfacecolor="white", linestyle="", label="default settings"),
            Line2D([], [], marker="s", color=gray, linestyle="", label="after a search, its time included"),
        ]
        figure.tight_layout(rect=(0, 0, 1, 0.955))
        figure.legend(handles=marks, loc="upper left", ncols=2, handletextpad=0, columnspacing=1, borderaxespad=0.2)
        axes.annotate(
            *("better", (0.015, 0.012), (0.115, 0.055)),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=gray,
            arrowprops={"arrowstyle": "->", "color": gray, "linewidth": 1.5},
        )
        look.save(figure, path)


# ---- panels ----------------------------------------------------------------------------------------------------------

COLUMNS, WORST = 4, 1.9  # a panel ends at this multiple of its least loss


def limits(ours: float, losses: list[float]) -> tuple[float, float]:
    """From just below the least loss to the worst that is still told apart, ours among them."""
    least = min(ours, *losses)
    worst = max(min(max(losses), max(WORST * least, 1.5 * ours)), 1.06 * least)
    space = 0.09 * (worst - least)
    return least - space, worst + space


def panel(axes: Axes, standings: Standings, name: str) -> None:
    ours = standings.mean(name, OWN, TIME), standings.mean(name, OWN, LOSS)
    known = []
    for entry in standings.entries:
        loss, seconds = (standings.ratio(name, entry.method, column) for column in (LOSS, TIME))
        if not math.isnan(loss):
            known.append((entry, max(seconds * ours[0], LEAST_SECONDS), loss * ours[1]))
    low, high = limits(ours[1], [loss for _, _, loss in known])
    short, about = SETS[name]
    axes.set_title(f"{short}: {about}", fontsize=9.5, loc="left")
    axes.set_xscale("log")
    axes.set_ylim(low, high)
    axes.axhline(ours[1], color=OURS, linewidth=0.8, alpha=0.45, zorder=1)
    for entry, seconds, loss in known:
        color, shape = LOOKS[entry.tool]
        face = color if entry.is_searched else "white"
        axes.plot(
            *(seconds, min(loss, high), shape),
            color=color,
            markerfacecolor=face,
            markersize=6,
            clip_on=False,
            zorder=3,
            alpha=1 if loss <= high else 0.5,
        )
    axes.plot(*ours, "*", color=OURS, markersize=14, markeredgecolor="white", markeredgewidth=0.6, zorder=4)
    seconds = [ours[0], *(each for _, each, _ in known)]
    axes.set_xlim(10 ** math.floor(math.log10(min(seconds)) - 0.05), 10 ** math.ceil(math.log10(max(seconds)) + 0.05))
    axes.xaxis.set_major_locator(LogLocator(numticks=5))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_major_locator(MaxNLocator(4, min_n_ticks=3))
    axes.tick_params(length=2)


def marks_of_tools() -> list[Line2D]:
    marks = [Line2D([], [], marker="*", color=OURS, linestyle="", markersize=14, label="greedystep")]
    for tool, (color, shape) in LOOKS.items():
        marks.append(Line2D([], [], marker=shape, color=color, linestyle="", label=tool))
    gray = "#555555"
    marks.append(Line2D([], [], marker="o", color=gray, markerfacecolor="white", linestyle="", label="default"))
    marks.append(Line2D([], [], marker="o", color=gray, linestyle="", label="searched"))
    return marks


def draw_panels(standings: Standings, path: Path = FOLDER / "race-sets.svg") -> None:
    with plt.rc_context(STYLE):
        n_lines = math.ceil((len(standings.sets) + 1) / COLUMNS)
        figure, grid = plt.subplots(n_lines, COLUMNS, figsize=(3.1 * COLUMNS, 2.2 * n_lines), squeeze=False)
        places = list(grid.flat)
        for name, axes in zip(standings.sets, places, strict=False):
            panel(axes, standings, name)
        for axes in places[len(standings.sets) :]:
            axes.axis("off")
        places[len(standings.sets)].legend(handles=marks_of_tools(), loc="center left", fontsize=9.5)
        figure.supxlabel("processor seconds, the search for settings included", fontsize=11)
        figure.supylabel("log loss on test rows", fontsize=11)
        figure.tight_layout(h_pad=1.1, w_pad=0.9)
        look.save(figure, path)
