#!/usr/bin/env python3
"""Judges greedystep on data that fits in memory, beside its version 1, LogisticRegression (as given and scaled, as it
comes and cross-validated), RidgeCV, LIBLINEAR and Vowpal Wabbit. Appends to results.csv row by row and goes on where it
was interrupted; page.py makes tables of it.

    python3 bench/memory/run.py --command build/release/greedystep --version-1 OLD    everything that is missing
    python3 bench/memory/run.py --only greedystep --redo greedystep --command G       only greedystep, measured again
    python3 bench/memory/run.py --parts a --sets iris wine --splits 1                 a part
    python3 bench/memory/run.py --summary                                             the ratios, from the table
    python3 bench/memory/run.py --parts u --command G                                 the unseen sets, once

Parts: a 21 sets, b dense, c Python on arrays, d a scaler in front, e regression, f copies and kinds of rows, u unseen.
All methods have one thread and take turns on a split; times are processor seconds. Data: $GREEDYSTEP_DATA_DIR (default:
../shared/data beside the source tree). Packages: requirements.txt, and liblinear-tools (Debian). Python part: the
package greedystep must be importable (PYTHONPATH, GREEDYSTEP_LIBRARY).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import paths  # isort: skip  # before numpy: it sets the number of threads
import arrays
import estimators_of_sklearn as sk
import results
import tools
from results import Result
from shared import run, say
from tasks import N_SPLITS, Task, tasks

PARTS = "abcdefu"
OWN, OLD = "greedystep", "version 1"
Measure = Callable[[], list[Result]]


@dataclass(frozen=True)
class Bench:
    command: Path | None
    version_1: Path | None
    folder: Path
    table: Path
    only: tuple[str, ...]
    redo: tuple[str, ...]


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
    for method, command in ((OWN, bench.command), (OLD, bench.version_1)):
        if command:
            yield method, partial(tools.greedystep, task, command, method, stem)


def classifiers(bench: Bench, task: Task, stem: Path) -> Iterator[tuple[str, Measure]]:
    for is_scaled, end in ((False, ""), (True, " scaled")):
        yield f"LR{end}", partial(sk.default, task, is_scaled)
    for is_scaled, name in ((False, "LR CV"), (True, "LR CV scaled")):
        yield name, lambda s=is_scaled, n=name: sk.cross_validated(task, s, known_choice(bench, task, n))
    yield "LIBLINEAR -s 0", partial(tools.liblinear, task, 0, stem)
    yield "LIBLINEAR -s 7", partial(tools.liblinear, task, 7, stem)
    yield "LIBLINEAR tuned", lambda: tools.liblinear_tuned(task, stem, known_choice(bench, task, "LIBLINEAR tuned"))
    yield "VW", partial(tools.vowpal_default, task, stem)
    yield "VW tuned", lambda: tools.vowpal_tuned(task, stem, known_choice(bench, task, "VW tuned"))


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


def measure(bench: Bench, task: Task) -> None:
    """Every method that is wanted and missing, on one split."""
    known = results.read(bench.table)
    stem = bench.folder / f"work-{os.getpid()}"
    for method, find in methods_of(bench, task, stem):
        is_missing = (task.part, task.set, task.split, method) not in known or method in bench.redo
        if not is_missing or (bench.only and method not in bench.only):
            continue
        try:
            found = find()
        except (Exception, SystemExit) as error:
            say(f"{task.part} {task.set} {task.split} {method}: failed: {error}")
            continue
        results.append(bench.table, found)
        for each in found:
            what = f"{each.part} {each.set:20} {each.split} {each.method:26}"
            say(f"{what} {each.loss:9.5f} {each.accuracy:7.4f} {each.cpu_seconds:10.4f} s  {each.note}")


def measure_copies(bench: Bench, wanted: list[str]) -> None:
    for method, command in ((OWN, bench.command), (OLD, bench.version_1)):
        if not command or (bench.only and method not in bench.only):
            continue
        for task in tasks("a", list(tools.COPIED), 1, bench.folder):
            if wanted and task.set not in wanted:
                continue
            key = ("f", f"{task.set} x {tools.COPIES[0]}", 0, method)
            if key not in results.read(bench.table) or method in bench.redo:
                found = tools.copies(task.set, task.train, command, method, bench.folder / f"work-{os.getpid()}")
                results.append(bench.table, found)
                say(", ".join(f"{each.set}: {each.note}, loss {each.loss:.6f}" for each in found))


def warm_up() -> None:
    sk.warm_up()


def given(path: Path | None) -> Path | None:
    if path and not path.is_file():
        raise SystemExit(f"cannot find {path}")
    return path.resolve() if path else None


def options_of() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", type=Path, help="the greedystep to measure")
    parser.add_argument("--version-1", type=Path, help="greedystep of version 1 (commit 52b00f8)")
    parser.add_argument("--parts", default="abcdef", help="letters of the parts (default: %(default)s)")
    parser.add_argument("--sets", nargs="+", default=[], metavar="SET", help="only these sets")
    parser.add_argument("--splits", type=int, default=N_SPLITS, metavar="N", help="at most so many splits per set")
    parser.add_argument(
        "--only", action="append", default=[], metavar="METHOD", help="only this method; may be repeated"
    )
    parser.add_argument("--redo", action="append", default=[], metavar="METHOD", help="measure this method again")
    parser.add_argument("--folder", type=Path, default=paths.FOLDER, help="where split files are kept (%(default)s)")
    parser.add_argument("--results", type=Path, default=paths.RESULTS, help="the table (default: results.csv)")
    parser.add_argument("--jobs", type=int, default=1, help="splits at a time; times are honest with 1 only")
    parser.add_argument("--summary", action="store_true", help="print the ratios and measure nothing")
    parser.add_argument("--compact", action="store_true", help="sort the table, drop replaced rows, measure nothing")
    return parser.parse_args()


def main() -> int:
    options = options_of()
    if options.summary:
        import summary

        print(summary.text(results.read(options.results)), end="")
        return 0
    if options.compact:
        results.compact(options.results)
        return 0
    if set(options.parts) - set(PARTS):
        raise SystemExit(f"--parts are letters of {PARTS}")
    commands = given(options.command), given(options.version_1)
    bench = Bench(*commands, options.folder, options.results, tuple(options.only), tuple(options.redo))
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
