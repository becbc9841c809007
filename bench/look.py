"""The style of the benchmarks' figures, and how they are saved: as SVG whose text stays text, without a date."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.hashsalt": "greedystep",
    "svg.fonttype": "none",
    "savefig.facecolor": "white",
}


def save(figure: Figure, path: Path, **options: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None, "Creator": None}, **options)
    plt.close(figure)
