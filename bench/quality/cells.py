"""Stage grid: the best that a search over SGD, Adagrad, Adadelta and SCSG finds, every choice made on the test set.

grid.csv has, for every set, column (loss, accuracy), scope (any pass, or the first only) and method, the best cell over
parameters and passes by its mean over the seeds. A cell that diverged with any seed is out. On heavy sets all cells are
run with the first seed, and those that come near the best of a column or scope there with all seeds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from context import Bench, spread, update_table
from sets import Set, Split, Suite, splits
from shared import Line, mean, number, read_table, run, say

HEADER = ("data", "column", "scope", "method", "parameters", "pass", "n_seeds", "mean", "low", "high")
COLUMNS = ("loss", "accuracy")
ANY, FIRST = "any", "first"
NEAR = {"loss": 1.05, "accuracy": 0.01}  # of the best with one seed: a factor, a difference

SGD = ("10", "3", "1", ".3", ".1", ".03", ".01", ".003", ".001", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8")
ADAGRAD = ("10", "3", "1", ".3", ".1", ".03", ".01", ".003", ".001")
ADADELTA = ("1e-8", "1e-7", "1e-6", "1e-5", "1e-4", ".001", ".01", ".1")
SCSG = ("1", ".1", ".01", ".001", "1e-4")
METHODS = (
    *(f"sgd:{rate}" for rate in SGD),
    *(f"adagrad:{rate}" for rate in ADAGRAD),
    *(f"adadelta:{eps}" for eps in ADADELTA),
    *(f"scsg:{rate}:{batch}" for rate in SCSG for batch in (20, 200)),
)

Cell = tuple[str, str, int]  # method, parameters, pass
Values = dict[Cell, dict[str, list[float]]]  # column -> one value a seed


@dataclass(frozen=True)
class Best:
    method: str
    parameters: str
    at: int
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return mean(self.values)


def specification(method: str, parameters: str) -> str:
    """'adagrad', 'r=0.1;eps=1e-08' as --methods takes it: 'adagrad:0.1:1e-08'."""
    return ":".join([method, *(part.split("=")[1] for part in parameters.split(";"))])


def compare(
    bench: Bench, part: Split, methods: Sequence[str], passes: int, seeds: int, extra: Sequence[str] = ()
) -> Path:
    """Runs `greedystep compare`; its csv."""
    out = bench.folder / f"{part.key}.compare.csv"
    command = [bench.greedystep, "compare", part.train, "--test", part.test, "--methods", ",".join(methods)]
    run([*command, "--passes", passes, "--seeds", seeds, "--quiet", *extra, "-o", out])
    return out


def collect(values: Values, path: Path) -> None:
    """Adds the test lines of a csv, a value a seed."""
    for line in read_table(path):
        if line["split"] != "test":
            continue
        cell = values.setdefault((line["method"], line["parameters"], int(line["pass"])), {})
        for column in COLUMNS:
            cell.setdefault(column, []).append(float(line[column] or "nan"))


def measure(bench: Bench, of: Set, methods: Sequence[str], seeds: int) -> Values:
    values: Values = {}
    parts = splits(of, bench)[:seeds]
    if parts[0].fixed:
        collect(values, compare(bench, parts[0], methods, of.passes, seeds))
    else:
        for part in parts:
            collect(values, compare(bench, part, methods, of.passes, 1))
    return values


def better(column: str, a: float, b: float) -> bool:
    return a < b if column == "loss" else a > b


def is_near(column: str, value: float, best: float) -> bool:
    return value <= NEAR[column] * best if column == "loss" else value >= best - NEAR[column]


def best_of(values: Values, column: str, scope: str) -> Best | None:
    """The first of the best; None if every cell diverged."""
    found: Best | None = None
    for (name, parameters, at), by_column in values.items():
        if scope == FIRST and at != 1:
            continue
        candidate = Best(name, parameters, at, tuple(by_column[column]))
        if not math.isnan(candidate.mean) and (found is None or better(column, candidate.mean, found.mean)):
            found = candidate
    return found


def finalists(values: Values) -> list[str]:
    """Cells that come near the best of any column and scope."""
    chosen: set[str] = set()
    for column in COLUMNS:
        for scope in (ANY, FIRST):
            best = best_of(values, column, scope)
            if best is None:
                continue
            for (name, parameters, at), by_column in values.items():
                inside = scope == ANY or at == 1
                if inside and is_near(column, mean(by_column[column]), best.mean):
                    chosen.add(specification(name, parameters))
    return sorted(chosen)


def with_most_seeds(values: Values, method: str) -> Values:
    """The cells of a method that were run with all seeds, or if there are none those of the screening."""
    own = {cell: by_column for cell, by_column in values.items() if cell[0] == method}
    most = max(len(by_column["loss"]) for by_column in own.values())
    return {cell: by_column for cell, by_column in own.items() if len(by_column["loss"]) == most}


def lines_of(of: Set, values: Values) -> list[Line]:
    lines = []
    for method in dict.fromkeys(name for name, _, _ in values):
        cells = with_most_seeds(values, method)
        for column in COLUMNS:
            for scope in (ANY, FIRST):
                best = best_of(cells, column, scope)
                if best is None:
                    continue
                key = (of.name, column, scope, best.method, best.parameters, str(best.at), str(len(best.values)))
                ends = (number(best.mean), number(min(best.values)), number(max(best.values)))
                lines.append(dict(zip(HEADER, (*key, *ends), strict=True)))
    return lines


def one(bench: Bench, of: Set) -> list[Line]:
    begun = time.monotonic()
    values: Values = {}
    methods: Sequence[str] = METHODS
    if of.heavy and bench.seeds > 1:
        values = measure(bench, of, METHODS, 1)
        methods = finalists(values)
    values |= measure(bench, of, methods, bench.seeds)
    say(f"grid        {of.name:20} {len(methods):3} cells with all seeds {time.monotonic() - begun:8.1f} s")
    return lines_of(of, values)


def stage(bench: Bench, suite: Suite) -> None:
    parts = spread(lambda of: one(bench, of), suite.chosen(bench), bench.jobs)
    update_table(suite.table("grid"), HEADER, [line for part in parts for line in part], suite.names)


def overall(lines: Iterable[Line], data: str, column: str, scope: str) -> Line | None:
    """The best line over the methods, of those of grid.csv that were run with all seeds."""
    own = [line for line in lines if (line["data"], line["column"], line["scope"]) == (data, column, scope)]
    most = max((int(line["n_seeds"]) for line in own), default=0)
    whole = [line for line in own if int(line["n_seeds"]) == most]
    sign = 1 if column == "loss" else -1
    return min(whole, key=lambda line: sign * float(line["mean"]), default=None)


def read_grid(suite: Suite) -> list[Line]:
    return read_table(suite.table("grid"))
