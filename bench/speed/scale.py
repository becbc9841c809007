"""Stages scaling and cold: rows a second of `train` from a cache, as rows and features grow, and from a cold disk.

Rates are those that `train` itself prints: reading and learning, without the saving of model and state.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from shared import ROOT, run, say

if TYPE_CHECKING:
    from run import Bench

NNZ = 20
FEATURES = 10_000_000  # while the rows grow: as in the headline
FEATURE_STEPS = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
FIGURE = ROOT / "docs" / "figures" / "speed-scaling.svg"
DROP_CACHES = Path("/proc/sys/vm/drop_caches")
LONG = 50_000_000  # rows; longer runs are made once


def train_rate(bench: Bench, data: Path) -> float:
    said = run([bench.greedystep, "train", data, "-o", bench.folder / "model", "--quiet", "--json", "--passes", 1])
    told = json.loads(said)
    return told["rows"] / told["seconds"]


def rates(bench: Bench, shapes: list[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """Median rows a second of each (rows, features), round by round."""
    data = {(n, f): bench.generate(f"{n}-{f}.gsac", n, f, NNZ) for n, f in dict.fromkeys(shapes)}
    taken: dict[tuple[int, int], list[float]] = {shape: [] for shape in data}
    for again in range(bench.repeats):
        for shape, path in data.items():
            if again > 0 and shape[0] >= LONG:
                continue
            taken[shape].append(train_rate(bench, path))
            say(f"scaling  {shape[0]:,} rows, {shape[1]:,} features: {taken[shape][-1]:,.0f} rows/s")
    for path in data.values():
        path.unlink()
    return {shape: statistics.median(found) for shape, found in taken.items()}


def scaling(bench: Bench) -> dict[str, object]:
    """Rows from a thousandth of --rows by decade, then features with a tenth of --rows."""
    rows = [max(1, bench.rows // 10**power) for power in (3, 2, 1, 0)]
    middle = rows[-2]
    found = rates(bench, [*((n, FEATURES) for n in rows), *((middle, f) for f in FEATURE_STEPS)])
    return {
        "by_rows": {str(n): found[n, FEATURES] for n in rows},
        "by_features": {str(f): found[middle, f] for f in FEATURE_STEPS},
        "features": FEATURES,
        "rows_of_features": middle,
    }


def draw(about: dict) -> None:
    """docs/figures/speed-scaling.svg."""
    import matplotlib.pyplot as plt

    import look

    stage = about["scaling"]["found"]
    with plt.rc_context(look.STYLE | {"lines.linewidth": 1.1}):
        figure, (by_rows, by_features) = plt.subplots(1, 2, figsize=(8.6, 2.6))
        figure.subplots_adjust(wspace=0.7)
        for axes, name in ((by_rows, "by_rows"), (by_features, "by_features")):
            x, y = zip(*((int(n), rate / 1e6) for n, rate in stage[name].items()), strict=True)
            axes.plot(x, y, "o-", color="black", markersize=4)
            axes.set_xscale("log")
            axes.set_ylabel("million rows a second")
        by_rows.set_xlabel(f"rows ({stage['features']:,} features)")
        by_features.set_xlabel(f"features ({stage['rows_of_features']:,} rows)")
        if "headline" in about:
            whole = about["headline"]
            rate = whole["rows"] / whole["found"]["seconds"] / 1e6
            by_rows.plot([whole["rows"]], [rate], "o", color="black", markerfacecolor="white", markersize=5)
            by_rows.annotate(
                "through a pipe,\ngenerated meanwhile", (whole["rows"], rate), (0, -70), textcoords="offset points",
                ha="right", va="top", fontsize=7.5, arrowprops={"arrowstyle": "-", "linewidth": 0.5},
            )  # fmt: skip
        for axes in (by_rows, by_features):
            axes.set_ylim(bottom=0)
        look.save(figure, FIGURE, bbox_inches="tight")


def forget(path: Path) -> str:
    """Drops the file from memory; says how."""
    os.sync()
    if os.access(DROP_CACHES, os.W_OK):
        try:
            DROP_CACHES.write_text("3")
        except OSError:
            pass
        else:
            return "echo 3 > /proc/sys/vm/drop_caches"
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return "posix_fadvise DONTNEED"


def seconds_of_cat(path: Path) -> float:
    begun = time.monotonic()
    subprocess.run(["cat", path], stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - begun


def cold(bench: Bench) -> dict[str, object]:
    """`cat` and `train` with the file out of memory, and `train` with as much of it in memory as there is room for."""
    data = bench.generate("cold.gsac", bench.rows, FEATURES, NNZ)
    taken: dict[str, list[float]] = {"cat": [], "train": [], "warm": []}
    how = ""
    for _ in range(1 if bench.rows >= LONG else bench.repeats):
        how = forget(data)
        taken["cat"].append(seconds_of_cat(data))
        forget(data)
        taken["train"].append(bench.rows / train_rate(bench, data))
        seconds_of_cat(data)
        taken["warm"].append(bench.rows / train_rate(bench, data))
        say("cold     " + ", ".join(f"{name} {found[-1]:.1f} s" for name, found in taken.items()))
    seconds = {name: statistics.median(found) for name, found in taken.items()}
    return seconds | {"bytes": data.stat().st_size, "features": FEATURES, "runs": len(taken["cat"]), "how": how}
