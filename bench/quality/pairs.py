"""Stage pairs: auto against the grid's best cell, test row by test row, and the outcome.

The difference of a row is auto's loss (or correctness) less that of the cell. Where the test set is fixed the rows are
first averaged over the seeds; where every seed has its own split all rows are pooled. The 95 % interval is that of a
mean of independent rows: mean ± 1.96 standard errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import auto
from cells import ANY, COLUMNS, compare, overall, read_grid, specification
from context import DEFAULT, GSA, Bench, spread, update_table
from sets import Set, Split, Suite, splits
from shared import Line, number, say

HEADER = (
    "data", "variant", "split", "column", "method", "parameters", "pass", "rows",
    "auto", "grid", "difference", "low", "high", "outcome",
)  # fmt: skip
GIVEN, BY_SEED = "given test set", "80/20"
WIN, TIE, LOSS = "win", "tie", "loss"
LOSS_MARGIN = 0.01  # of the grid's log loss
ACCURACY_MARGIN = 0.002
NORMAL_95 = 1.959964


@dataclass(frozen=True)
class Paired:
    auto: float
    grid: float
    difference: float
    low: float
    high: float
    n_rows: int


def cell_scores(bench: Bench, parts: list[Split], cell: Line, column: str) -> list[np.ndarray]:
    """The cell's loss or correctness of every test row, one array a seed."""
    method = [specification(cell["method"], cell["parameters"])]
    passes = int(cell["pass"])
    found: list[np.ndarray] = []
    for part in parts[:1] if parts[0].fixed else parts:
        path = bench.folder / f"{part.key}.{column}.rows.csv"
        n_seeds = len(parts) if part.fixed else 1
        compare(bench, part, method, passes, n_seeds, ("--row-results", str(path)))
        found += read_rows(path, column, n_seeds)
        path.unlink()
    return found


def read_rows(path: Path, column: str, n_seeds: int) -> list[np.ndarray]:
    """Columns seed, pass, row and loss or correct of what --row-results wrote, in the order of the rows."""
    with open(path, encoding="ascii") as file:
        names = file.readline().strip().split(",")
    wanted = [names.index(name) for name in ("seed", "row", "loss" if column == "loss" else "correct")]
    table = np.loadtxt(path, delimiter=",", skiprows=1, usecols=wanted, ndmin=2)
    found = []
    for seed in range(n_seeds):
        own = table[table[:, 0] == seed]
        found.append(own[np.argsort(own[:, 1], kind="stable"), 2])
    return found


def paired(of_auto: list[np.ndarray], of_cell: list[np.ndarray], fixed: bool) -> Paired:
    join = (lambda arrays: np.mean(arrays, axis=0)) if fixed else np.concatenate
    a, b = join(of_auto), join(of_cell)
    if a.shape != b.shape:
        raise SystemExit(f"auto has {a.shape} test rows, the cell {b.shape}: they were not given the same file")
    d = a - b
    half = NORMAL_95 * d.std(ddof=1) / math.sqrt(len(d))
    middle = float(d.mean())
    return Paired(float(a.mean()), float(b.mean()), middle, middle - half, middle + half, len(d))


def outcome(column: str, p: Paired) -> str:
    """Wins and losses alike need an interval on one side of 0 and a mean beyond the margin."""
    margin = LOSS_MARGIN * p.grid if column == "loss" else ACCURACY_MARGIN
    if abs(p.difference) <= margin or p.low <= 0 <= p.high:
        return TIE
    return WIN if (p.difference < 0) == (column == "loss") else LOSS


def one(bench: Bench, suite: Suite, of: Set) -> list[Line]:
    grid, parts, lines = read_grid(suite), splits(of, bench), []
    scores = {variant: [auto.row_scores(bench, part, variant) for part in parts] for variant in (DEFAULT, GSA)}
    for column in COLUMNS:
        cell = overall(grid, of.name, column, ANY)
        if cell is None:
            raise SystemExit(f"{of.name} is not in {suite.table('grid').name}: run the stage grid first")
        of_cell = cell_scores(bench, parts, cell, column)
        kind = GIVEN if parts[0].fixed else BY_SEED
        for variant, found in scores.items():
            p = paired([each[COLUMNS.index(column)] for each in found], of_cell, parts[0].fixed)
            key = (of.name, variant, kind, column, cell["method"], cell["parameters"], cell["pass"], str(p.n_rows))
            values = (number(value) for value in (p.auto, p.grid, p.difference, p.low, p.high))
            lines.append(dict(zip(HEADER, (*key, *values, outcome(column, p)), strict=True)))
    say(f"pairs       {of.name:20} {', '.join(line['outcome'] for line in lines)}")
    return lines


def stage(bench: Bench, suite: Suite) -> None:
    parts = spread(lambda of: one(bench, suite, of), suite.chosen(bench), bench.jobs)
    update_table(suite.table("pairs"), HEADER, [line for part in parts for line in part], suite.names)
