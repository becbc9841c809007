"""The pictures of docs/paper.md, as SVG and PNG, in one style: GSA is the thick black line with its seeds' spread."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, ScalarFormatter
from PIL import Image

from datasets import PAPER_SPLIT, ROOT, Dataset
from tables import GSA, Method, Published, Results, Value, best_rate, present, read_table
from theory import BOUND

FOLDER = ROOT / "docs" / "figures" / "paper"
STYLE = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 1.3,
    "legend.labelspacing": 0.25,
    "lines.linewidth": 1.1,
    "svg.hashsalt": "greedystep",
    "svg.fonttype": "none",
    "savefig.facecolor": "white",
}
LABELS = {"loss": "log loss on the test part", "accuracy": "accuracy", "auc": "AUC"}
COLUMNS = 3


def save(figure: Figure, name: str) -> None:
    """PNG with a palette of 128 colours: a third of the size, and no difference to the eye."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    raw = io.BytesIO()
    figure.savefig(raw, format="png", dpi=95, bbox_inches="tight")
    raw.seek(0)
    picture = Image.open(raw).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    picture.save(FOLDER / f"{name}.png", optimize=True)
    plt.close(figure)


def panels(n: int, height: float = 2.3) -> tuple[Figure, list[Axes]]:
    columns = min(COLUMNS, n)
    rows = math.ceil(n / columns)
    figure, grid = plt.subplots(rows, columns, figsize=(4.3 * columns, height * rows), squeeze=False)
    axes = list(grid.flat)
    for unused in axes[n:]:
        unused.axis("off")
    figure.subplots_adjust(hspace=0.38, wspace=0.7)
    return figure, axes[:n]


def lowest_panels(axes: Sequence[Axes]) -> Sequence[Axes]:
    return axes[-COLUMNS:]


def colours(n: int) -> list[tuple[float, ...]]:
    return [mpl.colormaps["plasma"](0.05 + 0.82 * i / max(1, n - 1)) for i in range(n)]


def short(method: Method) -> str:
    return method[1].replace(";", ", ").replace("=", " ")


def arrays(curve: Sequence[tuple[int, Value]]) -> tuple[np.ndarray, ...]:
    return tuple(np.array(column) for column in zip(*((at, v.mean, v.low, v.high) for at, v in curve), strict=True))


def beside(axes: Axes) -> None:
    """The legend to the right of its panel: inside it would hide curves."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.04), borderaxespad=0.2)


def draw_gsa(axes: Axes, results: Results, data: str, metric: str) -> None:
    at, mean, low, high = arrays(results.curve(data, PAPER_SPLIT, GSA, metric))
    axes.fill_between(at, low, high, color="black", alpha=0.15, linewidth=0)
    axes.plot(at, mean, color="black", linewidth=2.2, label="GSA", zorder=5)


def highest_shown(dataset: Dataset, losses: Sequence[float]) -> float:
    """The loss of knowing nothing is ln(classes); what is far above it would flatten all that matters."""
    limit = 1.5 * math.log(dataset.classes)
    return min(1.1 * max(loss for loss in losses if loss <= limit), limit)


def limit_losses(axes: Axes, lowest: float, top: float) -> None:
    axes.set_ylim(lowest * 0.93, top)
    if top < 4 * lowest:
        return
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_formatter(NullFormatter())


def versus(results: Results, published: Published, name: str, metric: str) -> None:
    """GSA and every published setting of another method, a panel a data set."""
    chosen = [d for d in present(results) if d.binary or metric != "auc"]
    figure, axes = panels(len(chosen))
    for ax, dataset in zip(axes, chosen, strict=True):
        methods = [m for m in published.methods(dataset.name) if m[0] == name]
        curves = [results.curve(dataset.name, PAPER_SPLIT, method, metric) for method in methods]
        curves = [[pair for pair in curve if not math.isnan(pair[1].mean)] for curve in curves]
        gsa = results.curve(dataset.name, PAPER_SPLIT, GSA, metric)
        seen = [value.mean for curve in (gsa, *curves) for _, value in curve]
        top = highest_shown(dataset, seen) if metric == "loss" else math.inf
        gone: list[str] = []
        for method, curve, colour in zip(methods, curves, colours(len(methods)), strict=True):
            if not curve:
                gone.append(short(method))
                continue
            at, mean, _, _ = arrays(curve)
            above = " ↑" if mean.min() > top else ""  # all of it is above the panel
            ax.plot(at, mean, color=colour, marker=".", markersize=3, label=short(method) + above)
        draw_gsa(ax, results, dataset.name, metric)
        if metric == "loss":
            limit_losses(ax, min(seen), top)
        ax.set_title(dataset.name)
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        if gone:
            ax.plot([], [], " ", label="diverge:\n" + "\n".join(gone))
        beside(ax)
    for ax in lowest_panels(axes):
        ax.set_xlabel("passes")
    for ax in axes[::COLUMNS]:
        ax.set_ylabel(LABELS[metric])
    save(figure, f"gsa-vs-{name}-{metric}")


def steps(results: Results) -> None:
    """The running mean of greedy steps beside the constant rates that are as good as the best."""
    chosen = present(results)
    figure, axes = panels(len(chosen))
    for ax, dataset in zip(axes, chosen, strict=True):
        at, mean, low, high = arrays(results.curve(dataset.name, PAPER_SPLIT, GSA, "mean_step"))
        best, _, close = best_rate(results, dataset.name, dataset.run_passes)
        ax.axhspan(min(close) / 1.12, max(close) * 1.12, color="#3b6fb6", alpha=0.18, linewidth=0, label="as good")
        ax.axhline(best, color="#3b6fb6", linewidth=1.4, label=f"best constant\nrate, {best:g}")
        ax.fill_between(at, low, high, color="black", alpha=0.15, linewidth=0)
        ax.plot(at, mean, color="black", linewidth=2.2, marker=".", label="GSA, running\nmean of steps")
        ax.set_yscale("log")
        values = [*low, *high, best, *close]
        ax.set_ylim(min(v for v in values if v > 0) / 4, max(values) * 4)
        ax.set_title(dataset.name)
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        beside(ax)
    for ax in lowest_panels(axes):
        ax.set_xlabel("passes")
    for ax in axes[::COLUMNS]:
        ax.set_ylabel("step")
    save(figure, "steps")


def bound(limit: float) -> None:
    lines = read_table(BOUND)
    column: Callable[[str], np.ndarray] = lambda name: np.array([float(line[name]) for line in lines])  # noqa: E731
    figure, ax = plt.subplots(figsize=(6.4, 3.9))
    row = column("row")
    ax.plot(row, column("bound"), color="#b5473a", linewidth=1.6, label="the bound, constants measured")
    ax.axhline(limit, color="#b5473a", linestyle="--", label=f"its limit M η₀ / 2 = {limit:.3g}")
    ax.fill_between(row, column("last_min"), column("last_max"), color="#3b6fb6", alpha=0.2, linewidth=0)
    ax.plot(row, column("last"), color="#3b6fb6", linewidth=1.3, label="last iterate (what is returned)")
    ax.fill_between(row, column("gap_min"), column("gap_max"), color="black", alpha=0.15, linewidth=0)
    ax.plot(row, column("gap"), color="black", linewidth=2.2, label="best loss so far")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("rows learned")
    ax.set_ylabel("loss above the optimum")
    ax.legend(fontsize=8, loc="upper right")
    save(figure, "bound")


def merging(results: Results) -> None:
    """One learner, our merge and Fregata's uniform average, 8 and 32 of them."""
    chosen = present(results)
    figure, axes = panels(len(chosen))
    lines = [("gsa-shards", "shards", "#3b6fb6", "by mass"), ("fregata", "partitions", "#b5473a", "uniform")]
    for ax, dataset in zip(axes, chosen, strict=True):
        seen = []
        for name, knob, colour, label in lines:
            for count, style in ((8, "-"), (32, "--")):
                curve = results.curve(dataset.name, PAPER_SPLIT, (name, f"{knob}={count}"), "loss")
                curve = [pair for pair in curve if not math.isnan(pair[1].mean)]
                if curve:
                    at, mean, _, _ = arrays(curve)
                    seen += list(mean)
                    ax.plot(at, mean, style, color=colour, label=f"{count} {label}")
        draw_gsa(ax, results, dataset.name, "loss")
        seen += [v.mean for _, v in results.curve(dataset.name, PAPER_SPLIT, GSA, "loss")]
        limit_losses(ax, min(seen), highest_shown(dataset, seen))
        ax.set_title(dataset.name)
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        beside(ax)
    for ax in lowest_panels(axes):
        ax.set_xlabel("passes")
    for ax in axes[::COLUMNS]:
        ax.set_ylabel(LABELS["loss"])
    save(figure, "merging")


def draw_all(results: Results, published: Published, limit: float) -> None:
    with mpl.rc_context(STYLE):
        for name in ("sgd", "adadelta", "scsg"):
            for metric in ("loss", "accuracy", "auc"):
                versus(results, published, name, metric)
        steps(results)
        merging(results)
        bound(limit)
