"""Stage auto: `greedystep train` with no option on every split, and with one pass; test loss of every row.

auto.csv has a line per set, variant and seed. The losses of single rows stay in files of the run's folder, for
pairs.py.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

import rows
from context import VARIANTS, Bench, evaluate, forget, spread, train, update_table
from sets import Split, Suite, splits
from shared import Line, mean, number, read_table, say

HEADER = ("data", "variant", "seed", "loss", "accuracy", "calibration_error", "passes", "seconds")


def rows_file(bench: Bench, part: Split, variant: str) -> Path:
    return bench.folder / f"{part.key}.{variant}.npz"


def measure(bench: Bench, part: Split, variant: str) -> Line:
    model = bench.folder / f"{part.key}.{variant}.model"
    summary = train(bench, part.train, model, part.seed, VARIANTS[variant])
    scores = rows.of_model(model, rows.read(part.test), evaluate(bench, model, part.test))
    forget(model)
    np.savez(rows_file(bench, part, variant), loss=scores.loss, correct=scores.correct)
    values = (scores.mean_loss, scores.accuracy, scores.calibration_error, summary.get("passes", 1), summary["wall"])
    key = (part.data, variant, str(part.seed))
    return dict(zip(HEADER, (*key, *(number(value) for value in values)), strict=True))


def row_scores(bench: Bench, part: Split, variant: str) -> tuple[np.ndarray, np.ndarray]:
    """Loss and correctness of every test row, measured now if the stage has not been run."""
    path = rows_file(bench, part, variant)
    if not path.exists():
        measure(bench, part, variant)
    with np.load(path) as saved:
        return saved["loss"], saved["correct"].astype(float)


def stage(bench: Bench, suite: Suite) -> None:
    todo = [(part, variant) for of in suite.chosen(bench) for part in splits(of, bench) for variant in VARIANTS]

    def one(what: tuple[Split, str]) -> Line:
        line = measure(bench, *what)
        if line["seed"] == "0":
            say(f"auto        {line['data']:20} {line['variant']:8} {line['passes']:>3} passes {line['seconds']:>9} s")
        return line

    update_table(suite.table("auto"), HEADER, spread(one, todo, bench.jobs), suite.names)


class Auto:
    """Lookup in auto.csv: the values of all seeds."""

    def __init__(self, suite: Suite) -> None:
        self.lines = read_table(suite.table("auto"))

    def values(self, data: str, variant: str, column: str, seeds: Collection[str] | None = None) -> list[float]:
        """Of these seeds, or of all."""
        own = [line for line in self.lines if (line["data"], line["variant"]) == (data, variant)]
        return [float(line[column]) for line in own if seeds is None or line["seed"] in seeds]

    def mean(self, data: str, variant: str, column: str, seeds: Collection[str] | None = None) -> float:
        return mean(self.values(data, variant, column, seeds))
