#!/usr/bin/env python3
"""How good is `greedystep train` with no option? All of bench/quality in one command, and docs/quality.md.

    python3 bench/quality/run.py --greedystep build/release/greedystep             everything but unseen
    python3 bench/quality/run.py --greedystep G --stage grid --only w1a --seeds 1  a part; other lines stay
    python3 bench/quality/run.py --greedystep G --quick                            a check for CI, no packages needed
    python3 bench/quality/run.py --page-only                                       the page from the tables here

The stage `unseen` (sets that nobody has looked at) runs only when it is named, once, after the method is frozen.
Data: $GREEDYSTEP_DATA_DIR (default: ../shared/data beside the source tree). Packages: requirements.txt.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import platform
import sys
import tempfile
import time
from pathlib import Path

from context import HERE, Bench
from sets import KNOWN, Suite
from shared import given_command, machine, say, version_of

ABOUT = HERE / "about.json"
# Stages that run on any suite of sets, in this order, and stages that bring their own data.
SUITE_STAGES = {"grid": "cells", "auto": "auto", "pairs": "pairs", "peers": "peers"}
OWN_STAGES = {
    "regression": "regress",
    "scale": "scale",
    "ablation": "ablation",
    "robust": "robust",
    "drift": "drift",
}
STAGES = (*SUITE_STAGES, *OWN_STAGES)
UNSEEN = "unseen"
PACKAGES = ("numpy", "scipy", "sklearn", "vowpalwabbit")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--greedystep", type=Path, help="the command to measure, such as build/release/greedystep")
    parser.add_argument("--quick", action="store_true", help="check a few figures against the tables and stop")
    parser.add_argument("--page-only", action="store_true", help="docs/quality.md from the tables")
    parser.add_argument("--stage", choices=(*STAGES, UNSEEN), action="append", help="only this (may be repeated)")
    parser.add_argument("--only", metavar="SET", action="append", help="only this data set (may be repeated)")
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="things to run at a time")
    parser.add_argument("--scale-rows", type=int, action="append", metavar="N", help="a size of the stage scale")
    parser.add_argument("--peer", metavar="NAME", action="append", help="only this of the stage peers, such as vw")
    return parser.parse_args()


def run_suite(bench: Bench, suite: Suite, stage: str) -> None:
    importlib.import_module(SUITE_STAGES[stage]).stage(bench, suite)


def run_stage(bench: Bench, stage: str) -> None:
    if stage == UNSEEN:
        suite = importlib.import_module("unseen").SUITE
        for each in SUITE_STAGES:
            run_suite(bench, suite, each)
    elif stage in SUITE_STAGES:
        run_suite(bench, KNOWN, stage)
    else:
        importlib.import_module(OWN_STAGES[stage]).stage(bench)


def versions(greedystep: Path) -> dict[str, str]:
    said = {"greedystep": version_of(greedystep), "python": platform.python_version()}
    return said | {name: importlib.import_module(name).__version__ for name in PACKAGES}


def run_stages(bench: Bench, stages: list[str]) -> None:
    """Runs them and notes for each when, how long and with how many seeds, for the page."""
    about = json.loads(ABOUT.read_text()) if ABOUT.exists() else {"stages": {}}
    for stage in stages:
        begun = time.monotonic()
        run_stage(bench, stage)
        took = round(time.monotonic() - begun, 1)
        say(f"{stage} took {took} s")
        note = {"date": datetime.date.today().isoformat(), "seconds": took, "seeds": bench.seeds, "jobs": bench.jobs}
        about["stages"][stage] = note | ({"only": list(bench.only)} if bench.only else {})
        about |= {"machine": machine(), "versions": versions(bench.greedystep)}
        ABOUT.write_text(json.dumps(about, indent=2, sort_keys=True) + "\n")


def make_page() -> None:
    importlib.import_module("report").write(json.loads(ABOUT.read_text()))


def main() -> int:
    options = arguments()
    if options.page_only:
        make_page()
        return 0
    greedystep = given_command(options.greedystep)
    with tempfile.TemporaryDirectory(prefix="greedystep-quality-") as name:
        only, sizes = tuple(options.only or ()), tuple(options.scale_rows or ())
        peers = tuple(options.peer or ())
        bench = Bench(greedystep, Path(name), options.seeds, options.jobs, only, sizes, peers)
        if options.quick:
            return importlib.import_module("check").run(bench)
        run_stages(bench, options.stage or list(STAGES))
    make_page()
    return 0


if __name__ == "__main__":
    sys.exit(main())
