"""Tables and counts of this folder's results, for docs/quality.md and docs/quality-tables.md (bench/race/page.py)."""

from __future__ import annotations

import math

import drift
from auto import Auto
from cells import ANY, overall, read_grid
from context import DEFAULT, GSA, HERE
from pairs import LOSS, TIE, WIN
from sets import KNOWN
from shared import Line, markdown, mean, read_table

ROBUST = HERE / "robust.csv"
ACCURACY_LIMIT = 0.005
UNTOUCHED, ANOTHER_PROBLEM = "untouched", ("20 % label noise", "99.9 % one class")
TITLES = {DEFAULT: "no option", GSA: "`--method gsa`"}


def shown(value: float, digits: int = 4) -> str:
    """Fixed digits; small losses, which those would hide, by their leading ones."""
    if math.isnan(value):
        return "–"
    return f"{value:.2g}" if 0 < abs(value) < 0.001 else f"{value:.{digits}f}"


def relative(off: float, grid: float) -> str:
    """In percent; of a loss of nearly nothing that says no more."""
    percent = 100 * off / grid
    return f"{percent:+.1f} %" if abs(percent) < 1000 else "> 1000 %"


# ---- beside the grid -------------------------------------------------------------------------------------------------


def pairs(variant: str, column: str) -> list[Line]:
    lines = read_table(KNOWN.table("pairs"))
    return [line for line in lines if (line["variant"], line["column"]) == (variant, column)]


def names(variant: str, column: str, outcome: str) -> list[str]:
    return [line["data"] for line in pairs(variant, column) if line["outcome"] == outcome]


def grid_counts() -> str:
    rows = []
    for variant, title in TITLES.items():
        for column, what in (("loss", "log loss"), ("accuracy", "accuracy")):
            counts = [len(names(variant, column, outcome)) for outcome in (WIN, TIE, LOSS)]
            rows.append([title, what, *counts, ", ".join(names(variant, column, LOSS)) or "none"])
    return markdown(["greedystep", "measured by", "better", "same", "worse", "worse on"], rows)


def cell_name(line: Line) -> str:
    parameters = line["parameters"].removesuffix(";gamma=0").removesuffix(";eps=1e-08").replace(";", " ")
    return f"{line['method']} {parameters}, pass {line['pass']}"


def grid_table(column: str) -> str:
    auto, rows = Auto(KNOWN), []
    for line, other in zip(pairs(DEFAULT, column), pairs(GSA, column), strict=True):
        row = [line["data"], shown(float(line["grid"])), cell_name(line)]
        for variant, each in ((DEFAULT, line), (GSA, other)):
            off, low, high = (float(each[name]) for name in ("difference", "low", "high"))
            share = relative(off, float(each["grid"])) if column == "loss" else f"{100 * off:+.2f} points"
            outcome = each["outcome"] if each["outcome"] == TIE else f"**{each['outcome']}**"
            value = shown(auto.mean(line["data"], variant, column))
            row += [value, f"{share} [{low:+.4f}, {high:+.4f}] {outcome}"]
        rows.append(row)
    header = ["data", "best of the grid", "its setting", "no option", "difference [95 %]"]
    return markdown([*header, "`--method gsa`", "difference [95 %]"], rows)


def calibration_table() -> str:
    auto = Auto(KNOWN)
    rows = [
        [name, *(shown(auto.mean(name, variant, "calibration_error")) for variant in TITLES)] for name in KNOWN.names
    ]
    return markdown(["data", *TITLES.values()], rows)


def calibration_range() -> tuple[float, float]:
    auto = Auto(KNOWN)
    values = [auto.mean(name, DEFAULT, "calibration_error") for name in KNOWN.names]
    return min(values), max(values)


def grid_repeated() -> tuple[int, float]:
    """How many of the best settings the stage pairs ran again, and by how much the loss differed at most (relative)."""
    found, grid = [], read_grid(KNOWN)
    for line in pairs(DEFAULT, "loss"):
        cell = overall(grid, line["data"], "loss", ANY)
        assert cell
        if int(cell["n_seeds"]) == 1 or not any(each.heavy for each in KNOWN.sets if each.name == line["data"]):
            found.append(abs(float(line["grid"]) / float(cell["mean"]) - 1))
    return len(found), max(found, default=math.nan)


# ---- robustness ------------------------------------------------------------------------------------------------------


def robust_cells() -> dict[str, dict[str, Line]]:
    found: dict[str, dict[str, Line]] = {}
    for line in read_table(ROBUST):
        found.setdefault(line["data"], {})[line["way"]] = line
    return found


def robust_table() -> str:
    cells = robust_cells()
    ways = list(dict.fromkeys(way for by_way in cells.values() for way in by_way))
    ways.sort(key=lambda way: way in ANOTHER_PROBLEM)
    rows = []
    for way in ways:
        row = [way]
        for by_way in cells.values():
            line = by_way.get(way)
            text = f"{float(line['loss']):.4f} / {float(line['accuracy']):.4f}" if line else "–"
            if line and way in ANOTHER_PROBLEM:
                text += f" (constant {float(line['constant_loss']):.4f})"
            row.append(text)
        rows.append(row)
    return markdown(["change", *cells], rows)


def robust_changes() -> list[tuple[float, str]]:
    """What each harmless change costs in accuracy, the worst first."""
    changes: list[tuple[float, str]] = []
    for name, by_way in robust_cells().items():
        base = float(by_way[UNTOUCHED]["accuracy"])
        for way, line in by_way.items():
            if way not in (UNTOUCHED, *ANOTHER_PROBLEM):
                changes.append((base - float(line["accuracy"]), f"{way} on {name}"))
    return sorted(changes, reverse=True)


# ---- drift -----------------------------------------------------------------------------------------------------------


def drift_loss(kind: str, day: int, way: str) -> float:
    lines = read_table(drift.TABLE)
    return mean([float(x["loss"]) for x in lines if (x["drift"], int(x["day"]), x["way"]) == (kind, day, way)])


def drift_table(kind: str) -> str:
    ways = (drift.PLANTED, drift.CHAIN, drift.ALONE, drift.LONG)
    days = range(1, drift.N_DAYS + 1)
    return markdown(["day", *ways], [[day, *(shown(drift_loss(kind, day, way)) for way in ways)] for day in days])
