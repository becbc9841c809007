#!/usr/bin/env python3
"""Rows that come in batches: partial_fit beside fit, and models that start from earlier ones.

    python3 bench/order/partial.py --command build/release/greedystep [--program before]
    python3 bench/order/partial.py --command G --part fit --only digits --calls 10 100
    python3 bench/order/partial.py --tables                   the tables of the page, from partial.csv

Three parts, in partial.csv:

fit         GreedystepClassifier on seven sets: fit on all rows, partial_fit on the same rows in 1, 2, 10 and 100
            batches, and in calls of 1, 10 and 100 rows. Seconds are those of the processor, of all calls and one
            prediction; in one way each of 10 batches is followed by a prediction. A way is given up after --limit
            seconds.
start       --start-from on these sets: a model of the first half of the rows, from it one of the
            other half (as a file, and from a pipe), and a model of all rows.
stationary  a model of 600,000 generated rows, and from it one of 60,000 more of the same kind with --method gsa: the
            test loss must not become worse by 0.0005 or more. Two problems, three seeds; from a pipe and from a file.

Rows are shuffled by a fixed seed. The loss is the log loss of test rows. --program names the lines that are written,
such as `before` for the command and the package of another commit. The Python package is the one that is imported:

    cmake -S . -B build/shared -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON && ninja -C build/shared
    GREEDYSTEP_LIBRARY=build/shared/src/libgreedystep.so PYTHONPATH=python python3 bench/order/partial.py ...

Packages: requirements.txt. Data: $GREEDYSTEP_DATA_DIR (default: ../shared/data beside the source tree); sets
that are not there are skipped with a message.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file, load_digits, load_svmlight_file

from runs import (
    FILE,
    GSA,
    HERE,
    LEARNED,
    NOW,
    PIPE,
    PROBLEMS,
    Given,
    Learned,
    Rows,
    Table,
    learn,
    ratio,
    seconds,
    shown,
    value,
)
from shared import data_directory, find_data, given_command, markdown, say, unpack

KEY = ("part", "data", "way", "program")
FIT, START, STATIONARY = "fit", "start", "stationary"
PARTS = (FIT, START, STATIONARY)
SETS = {
    "digits": None,
    "a9a": None,
    "cod-rna": None,
    "dna.scale": None,
    "letter.scale": None,
    "mnist.scale": 10_000,  # the first rows
    "usps": None,
}
SEED = 1
BATCHES = (1, 2, 10, 100)
CALLS = (1, 10, 100)
PREDICTED = 10
WHOLE = "fit"
HALF, ALL, AFTER = "first half", "all rows", "both halves, {}"

SEEDS = (1, 2, 3)
N_BEFORE, N_MORE, N_TEST = 600_000, 60_000, 200_000
MAX_CHANGE = 0.0005
STARTED, MORE = "started from", "after, {}"

Part = tuple[csr_matrix, np.ndarray]


# ---- sets ------------------------------------------------------------------------------------------------------------


def read(name: str, most: int | None, folder: Path) -> tuple[Part, Part] | None:
    """Training and test rows, the first ones shuffled; digits are split four to one."""
    random = np.random.default_rng(SEED)
    if name == "digits":
        x, y = load_digits(return_X_y=True)
        order = random.permutation(len(y))
        n = len(y) // 5
        return (csr_matrix(x[order[n:]]), y[order[n:]]), (csr_matrix(x[order[:n]]), y[order[:n]])
    paths = [find_data(name), find_data(f"{name}.t")]
    if paths[0] is None or paths[1] is None:
        say(f"SKIPPED: {name} is not in {data_directory()} (set GREEDYSTEP_DATA_DIR)")
        return None
    plain = [str(unpack(path, folder)) for path in paths if path]
    x, y, x_test, y_test = load_both(plain)
    order = random.permutation(len(y) if most is None else min(most, len(y)))
    return (x[order], y[order]), (x_test, y_test)


def load_both(paths: Sequence[str]) -> tuple[csr_matrix, np.ndarray, csr_matrix, np.ndarray]:
    """Both files with the columns of the first; what lies beyond has no weight."""
    x, y = load_svmlight_file(paths[0], zero_based=False)
    x_test, y_test = load_svmlight_file(paths[1], zero_based=False)
    n = x.shape[1]
    if x_test.shape[1] < n:
        x_test = csr_matrix((x_test.data, x_test.indices, x_test.indptr), shape=(x_test.shape[0], n))
    return x, y, x_test[:, :n], y_test


def write(path: Path, x: csr_matrix, y: np.ndarray) -> Path:
    dump_svmlight_file(x, y, str(path), zero_based=False)
    return path


# ---- partial_fit -----------------------------------------------------------------------------------------------------


def ways(n: int, calls: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """Names, and where the batches end; whole and in one batch are both there, with the same end."""
    yield WHOLE, [n]
    for count in BATCHES:
        yield f"{count} batch{'es' if count > 1 else ''}", [n * (i + 1) // count for i in range(count)]
    yield f"{PREDICTED} batches, predicted", [n * (i + 1) // PREDICTED for i in range(PREDICTED)]
    for size in calls:
        yield f"{size} row{'s' if size > 1 else ''} per call", [*range(size, n, size), n]


def fit(way: str, ends: Sequence[int], train: Part, test: Part, limit: float) -> Learned:
    from greedystep import GreedystepClassifier

    (x, y), (x_test, y_test) = train, test
    classes, model = np.unique(y), GreedystepClassifier(n_jobs=1)
    begun, at, note = time.process_time(), 0, ""
    if way == WHOLE:
        model.fit(x, y)
    else:
        for end in ends:
            model.partial_fit(x[at:end], y[at:end], classes=classes)
            at = end
            if way.endswith("predicted"):
                model.predict_proba(x_test)
            if time.process_time() - begun > limit:
                took = time.process_time() - begun
                return Learned(math.nan, math.nan, took, 0, note=f"given up after {end} of {len(y)} rows")
    p = model.predict_proba(x_test)
    took = time.process_time() - begun
    place = np.searchsorted(classes, y_test)
    own = np.maximum(p[np.arange(len(place)), place], 1e-15)
    accuracy = float(np.mean(p.argmax(axis=1) == place))
    return Learned(float(-np.log(own).mean()), accuracy, took, 0, str(getattr(model, "method_", "")), note=note)


def run_fit(table: Table, folder: Path, only: Sequence[str], program: str, calls: Sequence[int], limit: float) -> None:
    for name, most in SETS.items():
        parts = read(name, most, folder) if not only or name in only else None
        if parts is None:
            continue
        for way, ends in ways(len(parts[0][1]), calls):
            found = fit(way, ends, *parts, limit)
            table.add(dict(zip(KEY, (FIT, name, way, program), strict=True)) | found.cells())


# ---- --start-from ----------------------------------------------------------------------------------------------------


def run_start(table: Table, greedystep: Path, folder: Path, only: Sequence[str], program: str) -> None:
    for name, most in SETS.items():
        parts = read(name, most, folder) if not only or name in only else None
        if parts is None:
            continue
        (x, y), test = parts
        half = len(y) // 2
        files = {
            word: write(folder / word, *rows)
            for word, rows in {
                "whole": (x, y),
                "first": (x[:half], y[:half]),
                "second": (x[half:], y[half:]),
                "test": test,
            }.items()
        }

        def add(way: str, found: Learned, name: str = name) -> None:
            table.add(dict(zip(KEY, (START, name, way, program), strict=True)) | found.cells())

        add(ALL, learn(greedystep, files["whole"], None, files["test"]))
        first = folder / "first.model"
        add(HALF, learn(greedystep, files["first"], None, files["test"], model=first))
        options = ("--start-from", first)
        add(AFTER.format(FILE), learn(greedystep, files["second"], None, files["test"], options))
        add(AFTER.format(PIPE), learn(greedystep, None, ["cat", files["second"]], files["test"], options))


def run_stationary(table: Table, greedystep: Path, folder: Path, only: Sequence[str], program: str) -> None:
    rows = Rows(folder)
    for problem in ("dense", "clicks"):
        if only and problem not in only:
            continue
        for seed in SEEDS:
            base, more, test = 100 * seed, 100 * seed + 1, 100 * seed + 2  # seeds of the rows; seed is of the weights
            test_file = rows.write(folder / "test", problem, "shuffled", N_TEST, test, seed)
            model = folder / "base.model"
            path = rows.write(folder / "rows", problem, "shuffled", N_BEFORE, base, seed)
            found = {STARTED: learn(greedystep, path, None, test_file, model=model)}
            path = rows.write(folder / "rows", problem, "shuffled", N_MORE, more, seed)
            for door in (FILE, PIPE):
                given: Given = (path, None) if door == FILE else (None, ["cat", path])
                options = (*GSA, "--start-from", model)
                found[MORE.format(door)] = learn(greedystep, *given, test_file, options)
            for way, each in found.items():
                key = (STATIONARY, f"{problem}, seed {seed}", way, program)
                table.add(dict(zip(KEY, key, strict=True)) | each.cells())
            # the loss in the table has six digits; the limit is checked with all
            worst = max(each.loss for way, each in found.items() if way != STARTED) - found[STARTED].loss
            say(f"{'ok' if worst < MAX_CHANGE else 'WORSE'}: {problem}, seed {seed}: {worst:+.6f}")


# ---- tables ----------------------------------------------------------------------------------------------------------


def ratios(table: Table, part: str, program: str, base: str) -> str:
    """Losses as ratios to that of one way, which is the first column."""
    columns = table.values("way", part=part, program=program)
    rows = []
    for name in table.values("data", part=part, program=program):
        lines = [table.one(part=part, program=program, data=name, way=way) for way in columns]
        reference = value(table.one(part=part, program=program, data=name, way=base), "loss")
        rows.append(
            [
                name,
                *(
                    shown(reference) if way == base else ratio(value(line, "loss"), reference)
                    for way, line in zip(columns, lines, strict=True)
                ),
            ]
        )
    return markdown([f"loss of {base}, others / {base}", *columns], rows)


def all_seconds(table: Table, part: str, program: str) -> str:
    columns = table.values("way", part=part, program=program)
    rows = [
        [name, *(seconds(table.one(part=part, program=program, data=name, way=way)) for way in columns)]
        for name in table.values("data", part=part, program=program)
    ]
    return markdown(["processor seconds", *columns], rows)


def stationary_table(table: Table, program: str) -> str:
    rows = []
    for name in table.values("data", part=STATIONARY, program=program):
        key = {"part": STATIONARY, "data": name, "program": program}
        before = value(table.one(**key, way=STARTED), "loss")
        after = [value(table.one(**key, way=MORE.format(door)), "loss") for door in (FILE, PIPE)]
        rows.append([name, shown(before), *(f"{each - before:+.5f}" for each in after)])
    return markdown([f"{N_MORE:,} rows more, --method gsa", "loss before", "change, file", "change, pipe"], rows)


def say_tables(table: Table) -> None:
    for program in table.values("program"):
        for part, base, title in ((FIT, WHOLE, "partial_fit"), (START, ALL, "--start-from")):
            if table.one(part=part, program=program):
                say(f"\n## {title} ({program})\n\n{ratios(table, part, program, base)}")
                say(all_seconds(table, part, program))
        if table.one(part=STATIONARY, program=program):
            titles = "; ".join(f"{name}: {PROBLEMS[name].title}" for name in ("dense", "clicks"))
            say(f"\n## More rows of the same kind ({program})\n\n{stationary_table(table, program)}\n{titles}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", type=Path, help="the command to measure (parts start and stationary)")
    parser.add_argument("--program", default=NOW, help="the name of these lines in the tables")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this (may be repeated)")
    parser.add_argument("--only", metavar="SET", action="append", help="only this set (may be repeated)")
    parser.add_argument("--calls", type=int, nargs="*", default=CALLS, metavar="ROWS", help="rows per call")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="of one way of partial_fit")
    parser.add_argument("--results", type=Path, default=HERE / "partial.csv")
    parser.add_argument("--tables", action="store_true", help="print the tables of the results, and measure nothing")
    arguments = parser.parse_args()
    table = Table(arguments.results, KEY, LEARNED)
    if not arguments.tables:
        parts, only, program = arguments.part or PARTS, arguments.only or (), arguments.program
        greedystep = given_command(arguments.command) if {START, STATIONARY} & set(parts) else Path()
        with tempfile.TemporaryDirectory(prefix="greedystep-partial-") as name:
            if FIT in parts:
                run_fit(table, Path(name), only, program, arguments.calls, arguments.limit)
            if START in parts:
                run_start(table, greedystep, Path(name), only, program)
            if STATIONARY in parts:
                run_stationary(table, greedystep, Path(name), only, program)
    say_tables(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
