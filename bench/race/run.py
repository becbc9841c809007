#!/usr/bin/env python3
"""Measures greedystep beside Vowpal Wabbit, LIBLINEAR, SGDClassifier and LogisticRegression, with default settings and
after a search, and beside RidgeCV. Appends to results.csv row by row and goes on where it was interrupted; page.py
makes the pages.

    python3 bench/race/run.py --command build/release/greedystep --commit HASH      everything that is missing
    python3 bench/race/run.py --only greedystep --anew 2026-11-18 --command G       what is older, measured again
    python3 bench/race/run.py --parts a --sets iris wine --splits 1                 a part
    python3 bench/race/run.py --parts u --command G                                 the unseen sets

Parts: a 21 sets, c Python on arrays, d a scaler in front, e regression, f copies and kinds of rows, u unseen.
All methods have one thread and take turns on a split; times are processor seconds. Data: $GREEDYSTEP_DATA_DIR (default:
../shared/data beside the source tree). Packages: requirements.txt, and liblinear-tools (Debian). Python part: the
package greedystep must be importable (PYTHONPATH, GREEDYSTEP_LIBRARY).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import paths  # isort: skip  # before numpy: it sets the number of threads
import arrays
import estimators_of_sklearn as sk
import results
import rows
import tools
from results import Result
from shared import run, say, write_table
from tasks import N_SPLITS, Task, tasks

PARTS = "acdefu"
OWN = "greedystep"
SIZES = ("set", "train_rows", "test_rows", "columns", "classes")
Measure = Callable[[], list[Result]]


@dataclass(frozen=True)
class Bench:
    command: Path | None
    folder: Path
    table: Path
    only: tuple[str, ...]
    anew: str
    commit: str


def of_arrays(task: Task, method: str) -> list[Result]:
    kind = "values" if task.is_regression else "classes"
    said = json.loads(run([sys.executable, arrays.__file__, method, kind, task.train, task.test], os.environ))
    return [Result(task.part, task.set, task.split, method, **said)]


def known_choice(bench: Bench, task: Task, method: str) -> str:
    """The note of split 0 where its choice serves all splits."""
    if task.set not in sk.REUSED or task.split == 0:
        return ""
    found = results.read(bench.table).get((task.part, task.set, 0, method))
    return found.note if found else ""


def commands_of(bench: Bench, task: Task, stem: Path) -> Iterator[tuple[str, Measure]]:
    if bench.command:
        yield OWN, partial(tools.greedystep, task, bench.command, OWN, stem)


def classifiers(bench: Bench, task: Task, stem: Path) -> Iterator[tuple[str, Measure]]:
    for is_scaled, end in ((False, ""), (True, " scaled")):
        yield f"LR{end}", partial(sk.default, task, is_scaled)
    for is_scaled, name in ((False, "LR CV"), (True, "LR CV scaled")):
        yield name, lambda s=is_scaled, n=name: sk.cross_validated(task, s, known_choice(bench, task, n))
    yield "SGD", partial(sk.sgd_default, task)
    yield "SGD tuned", lambda: sk.sgd_tuned(task, known_choice(bench, task, "SGD tuned"))
    yield "LIBLINEAR -s 0", partial(tools.liblinear, task, 0, stem)
    yield "LIBLINEAR tuned", lambda: tools.liblinear_tuned(task, stem, known_choice(bench, task, "LIBLINEAR tuned"))
    for method in tools.VOWPAL_SETTINGS:
        yield method, partial(tools.vowpal_default, task, stem, method)
        name = f"{method} tuned"
        yield name, lambda m=method, n=name: tools.vowpal_tuned(task, stem, m, known_choice(bench, task, n))


def methods_of(bench: Bench, task: Task, stem: Path) -> Iterator[tuple[str, Measure]]:
    """The methods of a task in turn, by name."""
    if task.part == "c":
        for method in arrays.VALUES if task.is_regression else arrays.CLASSES:
            yield method, partial(of_arrays, task, method)
        return
    yield from commands_of(bench, task, stem)
    if task.part == "f":
        yield "best possible", partial(tools.best_kinds, task)
    elif task.is_regression:
        yield "RidgeCV", partial(sk.ridge, task, False)
        yield "RidgeCV scaled", partial(sk.ridge, task, True)
    elif task.part == "d":
        yield "LR", partial(sk.default, task, False)
        yield "LR CV", lambda: sk.cross_validated(task, False, "")
    else:
        yield from classifiers(bench, task, stem)


def is_wanted(bench: Bench, key: results.Key) -> bool:
    """Whether a method is asked for, and missing or older than --anew."""
    known = results.read(bench.table).get(key)
    return (not bench.only or key[3] in bench.only) and (known is None or known.date < bench.anew)


def keep(bench: Bench, found: list[Result]) -> None:
    today = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
    found = [replace(each, commit=bench.commit, date=today) for each in found]
    results.append(bench.table, found)
    for each in found:
        what = f"{each.part} {each.set:20} {each.split} {each.method:26}"
        say(f"{what} {each.loss:9.5f} {each.accuracy:7.4f} {each.cpu_seconds:10.4f} s  {each.note}")


def measure(bench: Bench, task: Task) -> None:
    """Every method that is wanted, on one split."""
    stem = bench.folder / f"work-{os.getpid()}"
    for method, find in methods_of(bench, task, stem):
        if not is_wanted(bench, (task.part, task.set, task.split, method)):
            continue
        try:
            keep(bench, find())
        except (Exception, SystemExit) as error:
            say(f"{task.part} {task.set} {task.split} {method}: failed: {error}")


def measure_copies(bench: Bench, wanted: list[str]) -> None:
    for task in tasks("a", list(tools.COPIED), 1, bench.folder):
        is_asked = not wanted or task.set in wanted
        if bench.command and is_asked and is_wanted(bench, ("f", f"{task.set} x {tools.COPIES[0]}", 0, OWN)):
            keep(bench, tools.copies(task.set, task.train, bench.command, OWN, bench.folder / f"work-{os.getpid()}"))


def write_sizes(folder: Path) -> None:
    lines = []
    for task in tasks("a", [], 1, folder):
        train, test = rows.read(task.train), rows.read(task.test)
        counts = (len(train), len(test), train.x.shape[1], len(set(train.y)))
        lines.append(dict(zip(SIZES, (task.set, *map(str, counts)), strict=True)))
    write_table(paths.HERE / "sizes.csv", SIZES, lines)


def warm_up() -> None:
    sk.warm_up()


def given(path: Path | None) -> Path | None:
    if path and not path.is_file():
        raise SystemExit(f"cannot find {path}")
    return path.resolve() if path else None


def options_of() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", type=Path, help="the greedystep to measure")
    parser.add_argument("--commit", default="", help="the commit that it was built from, for the table")
    parser.add_argument("--parts", default="acdef", help="letters of the parts (default: %(default)s)")
    parser.add_argument("--sets", nargs="+", default=[], metavar="SET", help="only these sets")
    parser.add_argument("--splits", type=int, default=N_SPLITS, metavar="N", help="at most so many splits per set")
    parser.add_argument(
        "--only", action="append", default=[], metavar="METHOD", help="only this method; may be repeated"
    )
    parser.add_argument("--anew", default="", metavar="DATE", help="measure again what is older (2026-11-18 05:00)")
    parser.add_argument("--folder", type=Path, default=paths.FOLDER, help="where split files are kept (%(default)s)")
    parser.add_argument("--results", type=Path, default=paths.RESULTS, help="the table (default: results.csv)")
    parser.add_argument("--jobs", type=int, default=1, help="splits at a time; times are honest with 1 only")
    parser.add_argument("--sizes", action="store_true", help="write the sizes of the 21 sets to sizes.csv")
    parser.add_argument("--compact", action="store_true", help="sort the table, drop replaced rows, measure nothing")
    return parser.parse_args()


def main() -> int:
    options = options_of()
    if options.sizes:
        write_sizes(options.folder)
        return 0
    if options.compact:
        results.compact(options.results)
        return 0
    if set(options.parts) - set(PARTS):
        raise SystemExit(f"--parts are letters of {PARTS}")
    command, only = given(options.command), tuple(options.only)
    bench = Bench(command, options.folder, options.results, only, options.anew, options.commit)
    found = tasks(options.parts, options.sets, options.splits, options.folder)
    if options.jobs > 1:
        with ProcessPoolExecutor(options.jobs, initializer=warm_up) as pool:
            list(pool.map(partial(measure, bench), list(found)))
    else:
        warm_up()
        for task in found:
            measure(bench, task)
    if "f" in options.parts:
        measure_copies(bench, options.sets)
    return 0


if __name__ == "__main__":
    sys.exit(main())
