"""Learning curves of `greedystep compare`."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .plot_style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    axes_of,
    axis_of_passes,
    axis_of_powers,
    label_of_legend,
    legend_below,
    plain,
    say,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _columns_of(table: Any) -> dict[str, list[Any]]:
    """Return the needed columns of a CSV file of `greedystep compare`, a data frame or a mapping."""
    needed = ("method", "parameters", "pass", "seed", "split")
    if isinstance(table, (str, os.PathLike)):
        with open(table, encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        found = {name: [line.get(name) for line in lines] for name in (lines[0] if lines else [])}
    else:
        found = {str(name): list(table[name]) for name in table}
    missing = [name for name in needed if name not in found]
    if missing:
        raise ValueError(f"no column {', '.join(missing)}: expected the results of `greedystep compare`")
    return found


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


_TITLES = {"loss": "Loss", "accuracy": "Accuracy", "auc": "AUC", "mean_step": "Mean step"}


def comparison(
    table: str | os.PathLike[str] | Mapping[str, Any] | Any,
    ax: Axes | None = None,
    *,
    measure: str = "loss",
    split: str = "test",
) -> Axes:
    """Plot learning curves of ``greedystep compare``: mean over the seeds after every pass, with minimum and maximum.
    ``measure``: "loss", "accuracy" or "auc"."""
    found = _columns_of(table)
    if measure not in found:
        raise ValueError(f"no column {measure}: expected one of loss, accuracy, auc")
    curves: dict[str, dict[int, list[float]]] = {}
    for i, which in enumerate(found["split"]):
        parameters = found["parameters"][i]
        is_empty = parameters is None or parameters == "" or parameters != parameters
        name = str(found["method"][i]) + ("" if is_empty else f" {parameters}")
        if which == split:
            curves.setdefault(name, {}).setdefault(int(found["pass"][i]), []).append(_number(found[measure][i]))
    ax = axes_of(ax)
    colors = [BLUE, ORANGE, GREEN, "#8156a8", "#b0405f", "#5b8f99", "#97742a", GREY]
    styles = ["-", (0, (5, 2)), (0, (1, 1.5))]
    for i, (name, by_pass) in enumerate(curves.items()):
        x = sorted(by_pass)
        mean = [float(np.mean(by_pass[p])) for p in x]
        color, style = colors[i % len(colors)], styles[i // len(colors) % len(styles)]
        if np.isfinite(mean).any():
            ax.fill_between(
                x, [min(by_pass[p]) for p in x], [max(by_pass[p]) for p in x], color=color, alpha=0.15, linewidth=0
            )
        label = label_of_legend(plain(name)) + (
            " (diverged)" if measure == "loss" and not np.isfinite(mean).all() else ""
        )
        ax.plot(x, mean, color=color, linestyle=style, marker="o", markersize=3, linewidth=1.4, label=label)
    tidy(ax, f"{_TITLES.get(measure, measure)} after each pass, {split} rows", "pass", measure)
    means = [float(np.mean(values)) for by_pass in curves.values() for values in by_pass.values()]
    finite = [value for value in means if np.isfinite(value)]
    if finite and min(finite) > 0 and max(finite) > 4 * min(finite):
        axis_of_powers(ax)
    axis_of_passes(ax)
    if curves:
        legend_below(ax)
    else:
        say(ax, f"no {split} rows")
    return ax
