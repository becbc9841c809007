#!/usr/bin/env python3
"""What a model costs, the search for its settings included: greedystep beside Vowpal Wabbit, LIBLINEAR and scikit-learn
on the sets of bench/quality. Writes race.csv, docs/figures/race.svg and docs/no-tuning.md, and the part of README.md
that is marked for it.

    python3 bench/race/run.py --greedystep build/release/greedystep            an hour or two
    python3 bench/race/run.py --greedystep G --only a9a --seeds 1              a part; other lines stay
    python3 bench/race/run.py --page-only                                      figure and pages from the table

Data: $GREEDYSTEP_DATA_DIR (default: ../shared/data beside the source tree). Packages: requirements.txt, and
liblinear-tools (Debian).
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from common import ABOUT, GREEDYSTEP, HEADER, ONE_THREAD, TABLE, Result

import commands  # isort: skip
import estimators  # isort: skip
from context import Bench, update_table
from search import parts_of
from sets import KNOWN, Set, Split, splits
from shared import Line, given_command, machine, number, run, say, version_of

BUDGET = 120.0  # processor seconds of a search, after which no further setting is begun
RIVALS = (commands.VOWPAL_WABBIT, commands.LIBLINEAR, estimators.SGD, estimators.LOGISTIC)


def of_estimator(tool: str, split: Split, parts: tuple[Path, ...]) -> list[Result]:
    script = Path(estimators.__file__)
    said = run([sys.executable, script, tool, str(split.seed), str(BUDGET), *parts])
    return [Result(**each) for each in json.loads(said)]


def race(bench: Bench, split: Split, with_rivals: bool) -> Iterator[tuple[str, Result]]:
    parts, stem = parts_of(split, bench.folder), bench.folder / split.key
    yield from ((GREEDYSTEP, each) for each in commands.greedystep(bench.greedystep, parts, split.seed, stem))
    if not with_rivals:
        return
    yield from ((commands.VOWPAL_WABBIT.name, each) for each in commands.vowpal_wabbit(parts, BUDGET, stem))
    yield from ((commands.LIBLINEAR.name, each) for each in commands.liblinear(parts, BUDGET, stem))
    files = (parts.whole, parts.learned, parts.held, parts.test)
    for tool in (estimators.SGD.name, estimators.LOGISTIC.name):
        yield from ((tool, each) for each in of_estimator(tool, split, files))


def lines_of(bench: Bench, of: Set) -> list[Line]:
    lines = []
    for split in splits(of, bench):
        for tool, found in race(bench, split, with_rivals=split.seed == 0 or not of.heavy):
            values = (number(found.seconds), number(found.loss), number(found.accuracy), str(found.cells), found.chosen)
            lines.append(dict(zip(HEADER, (of.name, tool, found.state, str(split.seed), *values), strict=True)))
            what = f"{of.name:20} {split.seed} {tool:20} {found.state:8}"
            say(f"{what} {found.seconds:9.3f} s  {found.loss:.4f}  {found.chosen}")
    return lines


def measure(bench: Bench) -> None:
    for of in KNOWN.chosen(bench):
        update_table(TABLE, HEADER, lines_of(bench, of), KNOWN.names)
    liblinear = run(["dpkg-query", "-W", "-f", "${Version}", "liblinear-tools"]).split("+")[0]
    versions = {GREEDYSTEP: version_of(bench.greedystep), "LIBLINEAR": liblinear}
    versions |= {"Python": platform.python_version()} | {each.name: each.version for each in RIVALS if each.version}
    about = {"date": datetime.date.today().isoformat(), "machine": machine(), "seeds": bench.seeds, "budget": BUDGET}
    ABOUT.write_text(json.dumps(about | {"versions": versions}, indent=2, sort_keys=True) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--greedystep", type=Path, help="the command to measure, such as build/release/greedystep")
    parser.add_argument("--page-only", action="store_true", help="figure and pages from the table")
    parser.add_argument("--only", metavar="SET", action="append", help="only this data set (may be repeated)")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="of sets that are not heavy for the others")
    options = parser.parse_args()
    if not options.page_only:
        greedystep = given_command(options.greedystep)
        os.environ.update(ONE_THREAD)
        with tempfile.TemporaryDirectory(prefix="greedystep-race-") as name:
            measure(Bench(greedystep, Path(name), options.seeds, 1, tuple(options.only or ())))
    import page

    page.write(RIVALS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
