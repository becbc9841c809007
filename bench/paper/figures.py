"""The pictures of docs/paper-tables.md in one style: GSA is the thick black line with its seeds' spread."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, ScalarFormatter
from PIL import Image

import look
from datasets import PAPER_SPLIT, Dataset
from shared import ROOT, read_table
from tables import GSA, Method, Published, Results, Value, best_rate, present
from theory import BOUND

FOLDER = ROOT / "docs" / "figures" / "paper"
STYLE = look.STYLE | {
    "axes.titlesize": 10,
    "legend.fontsize": 7.5,
    "legend.handlelength": 1.3,
    "legend.labelspacing": 0.25,
    "lines.linewidth": 1.1,
}
LABELS = {"loss": "log loss on the test part", "accuracy": "accuracy", "auc": "AUC"}
COLUMNS = 3


def save(figure: Figure, name: str) -> None:
    """PNG, since so many curves make large SVG, with a palette of 128 colours: no difference to the eye."""
    FOLDER.mkdir(parents=True, exist_ok=True)
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


def colours(n: int) -> list[tuple[float, ...]]:
    return [mpl.colormaps["plasma"](0.05 + 0.82 * i / max(1, n - 1)) for i in range(n)]


def short(method: Method) -> str:
    return method[1].replace(";", ", ").replace("=", " ")


def arrays(curve: Sequence[tuple[int, Value]]) -> tuple[np.ndarray, ...]:
    return tuple(np.array(column) for column in zip(*((at, v.mean, v.low, v.high) for at, v in curve), strict=True))


def finish(axes: Axes, dataset: Dataset) -> None:
    """The legend stands to the right of its panel: inside it would hide curves."""
    axes.set_title(dataset.name)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.04), borderaxespad=0.2)


def save_panels(figure: Figure, axes: Sequence[Axes], what: str, name: str) -> None:
    for ax in axes[-COLUMNS:]:
        ax.set_xlabel("passes")
    for ax in axes[::COLUMNS]:
        ax.set_ylabel(what)
    save(figure, name)


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
    """GSA and every published setting of another method, a panel per data set."""
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
        if gone:
            ax.plot([], [], " ", label="diverge:\n" + "\n".join(gone))
        finish(ax, dataset)
    save_panels(figure, axes, LABELS[metric], f"gsa-vs-{name}-{metric}")


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
        finish(ax, dataset)
    save_panels(figure, axes, "step", "steps")


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
    lines = [("paper-shards", "shards", "#3b6fb6", "by squares"), ("fregata", "partitions", "#b5473a", "uniform")]
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
        finish(ax, dataset)
    save_panels(figure, axes, LABELS["loss"], "merging")


def draw_all(results: Results, published: Published, limit: float) -> None:
    with mpl.rc_context(STYLE):
        for name in ("sgd", "adadelta", "scsg"):
            for metric in ("loss", "accuracy", "auc"):
                versus(results, published, name, metric)
        steps(results)
        merging(results)
        bound(limit)
