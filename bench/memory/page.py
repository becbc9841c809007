#!/usr/bin/env python3
"""Makes the tables of results.csv in Markdown.

python3 bench/memory/page.py [--results FILE] [-o PAGE]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import paths  # isort: skip
import results
import summary
from shared import markdown
from summary import OLD, OWN, Table

AS_THEY_COME = (OWN, OLD, "LR", "LR scaled", "LIBLINEAR -s 0", "LIBLINEAR -s 7", "VW")
TUNED = (OWN, "LR CV", "LR CV scaled", "LIBLINEAR tuned", "VW tuned")
CALIBRATED = (OWN, *(f"{name} calibrated" for name in TUNED[1:]))
VALUES = (OWN, OLD, "RidgeCV", "RidgeCV scaled")
BEGIN, END = "<!-- bench/memory/page.py writes from here -->", "<!-- to here -->"
ARRAYS = ("python greedystep", "python LogisticRegression", "python LogisticRegressionCV", "python RidgeCV")


def digits(column: str, value: float) -> str:
    if math.isnan(value):
        return "–"
    if column == summary.LOSS:
        return f"{value:.4f}"
    if column in (summary.TIME, summary.FIT):
        return f"{value:.3g}" if value < 1000 else f"{value:.0f}"
    return f"{value:.4f}"


def cells(table: Table, part: str, name: str, methods: Sequence[str], column: str, is_least: bool) -> list[str]:
    """Means over the splits, the best in bold."""
    means = [summary.mean(table, part, name, method, column) for method in methods]
    known = [value for value in means if not math.isnan(value)]
    best = (min if is_least else max)(known) if known else math.nan
    return [f"**{digits(column, value)}**" if value == best else digits(column, value) for value in means]


def n_splits(table: Table, part: str, name: str) -> int:
    return len({split for p, n, split, _ in table if (p, n) == (part, name)})


def by_set(table: Table, part: str, methods: Sequence[str], column: str, is_least: bool = True) -> str:
    there = [method for method in methods if any((p, m) == (part, method) for p, _, _, m in table)]
    rows = []
    for name in summary.sets_of(table, part):
        line = cells(table, part, name, there, column, is_least)
        if any(cell != "–" for cell in line):
            rows.append([name, n_splits(table, part, name), *line])
    return markdown(["set", "splits", *there], rows) if rows else ""


def ratio_table(table: Table, part: str, ours: str, columns: Sequence[summary.Column]) -> str:
    found = summary.ratios(table, part, ours, columns)
    if not found:
        return ""
    rows = [[name, *(summary.cell(value) for value in row)] for name, row in found.items()]
    ends = [[f"**{line[0]}**", *line[1:]] for line in summary.medians(found, columns)]
    return markdown(["set", *(each.title for each in columns)], [*rows, *ends])


def classes_of(table: Table, part: str) -> list[tuple[str, str]]:
    """The tables of a part with classes, with titles."""
    return [
        ("Ratios", ratio_table(table, part, OWN, summary.CLASSES)),
        ("Log loss, as they come", by_set(table, part, AS_THEY_COME, summary.LOSS)),
        ("Log loss, tuned by cross-validation", by_set(table, part, TUNED, summary.LOSS)),
        ("Log loss, tuned and calibrated", by_set(table, part, CALIBRATED, summary.LOSS)),
        ("Accuracy, as they come", by_set(table, part, AS_THEY_COME, "accuracy", False)),
        ("Accuracy, tuned", by_set(table, part, TUNED, "accuracy", False)),
        ("Area under the ROC curve, as they come", by_set(table, part, AS_THEY_COME, "auc", False)),
        ("Area under the ROC curve, tuned", by_set(table, part, TUNED, "auc", False)),
        ("Processor seconds with reading, as they come", by_set(table, part, AS_THEY_COME, summary.TIME)),
        ("Processor seconds without reading, as they come", by_set(table, part, AS_THEY_COME, summary.FIT)),
        ("Processor seconds with the search", by_set(table, part, TUNED, summary.TIME)),
    ]


def scaler_table(table: Table) -> str:
    lines = [[method, *line] for method in (OWN, OLD, "LR", "LR CV") for line in summary.scaler(table, method)]
    return markdown(["method", "set", "loss without", "with", "ratio", "of splits"], lines) if lines else ""


def page(table: Table) -> str:
    parts = (
        ("21 sets", classes_of(table, "a")),
        ("Dense sets", classes_of(table, "b")),
        (
            "Python on arrays",
            [
                ("Ratios", ratio_table(table, "c", "python greedystep", summary.ARRAYS)),
                ("Processor seconds of fit", by_set(table, "c", ARRAYS, summary.FIT)),
            ],
        ),
        ("A scaler in front", [("Loss", scaler_table(table))]),
        (
            "Regression",
            [
                ("R2", by_set(table, "e", VALUES, "accuracy", False)),
                ("Processor seconds with reading", by_set(table, "e", VALUES, summary.TIME)),
            ],
        ),
        ("Copies and kinds of rows", [("Found", kinds_table(table))]),
        ("Unseen sets", classes_of(table, "u")),
    )
    texts = []
    for title, tables in parts:
        made = [f"### {name}\n\n{text}" for name, text in tables if text]
        if made:
            texts.append("\n".join([f"## {title}\n", *made]))
    return "\n".join(texts)


def kinds_table(table: Table) -> str:
    lines = [[method, *line] for method in (OWN, OLD) for line in summary.kinds(table, method)]
    return markdown(["method", "set", "loss", "found"], lines) if lines else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=paths.RESULTS)
    parser.add_argument(
        "-o", "--output", type=Path, help="the page whose tables are replaced; standard output without it"
    )
    options = parser.parse_args()
    text = page(results.read(options.results))
    if not options.output:
        print(text, end="")
        return 0
    old = options.output.read_text(encoding="utf-8")
    begin, end = old.index(BEGIN) + len(BEGIN), old.index(END)
    options.output.write_text(f"{old[:begin]}\n\n{text.strip()}\n\n{old[end:]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
