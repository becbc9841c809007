#!/usr/bin/env python3
"""How good is `greedystep train` beside other optimisers, on spoilt data and day after day? All in one command.

    python3 bench/quality/run.py --greedystep build/release/greedystep             everything
    python3 bench/quality/run.py --greedystep G --stage grid --only w1a --seeds 1  a part; other lines stay
    python3 bench/quality/run.py --greedystep G --quick                            a check for CI, no packages needed

bench/race/page.py makes the pages of the tables here.
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
from sets import KNOWN
from shared import given_command, machine, say, version_of

ABOUT = HERE / "about.json"
# Stages that run on any suite of sets, in this order, and stages that bring their own data.
SUITE_STAGES = {"grid": "cells", "auto": "auto", "pairs": "pairs"}
OWN_STAGES = {
    "robust": "robust",
    "drift": "drift",
}
STAGES = (*SUITE_STAGES, *OWN_STAGES)
PACKAGES = ("numpy", "scipy", "sklearn", "vowpalwabbit")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--greedystep", type=Path, help="the command to measure, such as build/release/greedystep")
    parser.add_argument("--quick", action="store_true", help="check a few figures against the tables and stop")
    parser.add_argument("--stage", choices=STAGES, action="append", help="only this (may be repeated)")
    parser.add_argument("--only", metavar="SET", action="append", help="only this data set (may be repeated)")
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="things to run at a time")
    parser.add_argument("--commit", default="", help="the commit that the command was built from")
    return parser.parse_args()


def run_stage(bench: Bench, stage: str) -> None:
    if stage in SUITE_STAGES:
        importlib.import_module(SUITE_STAGES[stage]).stage(bench, KNOWN)
    else:
        importlib.import_module(OWN_STAGES[stage]).stage(bench)


def versions(greedystep: Path) -> dict[str, str]:
    said = {"greedystep": version_of(greedystep), "python": platform.python_version()}
    return said | {name: importlib.import_module(name).__version__ for name in PACKAGES}


def run_stages(bench: Bench, stages: list[str], commit: str) -> None:
    """Runs them and notes for each when, how long and with how many seeds, for the page."""
    about = json.loads(ABOUT.read_text()) if ABOUT.exists() else {"stages": {}}
    for stage in stages:
        begun = time.monotonic()
        run_stage(bench, stage)
        took = round(time.monotonic() - begun, 1)
        say(f"{stage} took {took} s")
        note = {
            "date": datetime.date.today().isoformat(),
            "seconds": took,
            "seeds": bench.seeds,
            "jobs": bench.jobs,
            "commit": commit,
        }
        about["stages"][stage] = note | ({"only": list(bench.only)} if bench.only else {})
        about |= {"machine": machine(), "versions": versions(bench.greedystep)}
        ABOUT.write_text(json.dumps(about, indent=2, sort_keys=True) + "\n")


def main() -> int:
    options = arguments()
    greedystep = given_command(options.greedystep)
    with tempfile.TemporaryDirectory(prefix="greedystep-quality-") as name:
        bench = Bench(greedystep, Path(name), options.seeds, options.jobs, tuple(options.only or ()))
        if options.quick:
            return importlib.import_module("check").run(bench)
        run_stages(bench, options.stage or list(STAGES), options.commit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
