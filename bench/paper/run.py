#!/usr/bin/env python3
"""The paper's experiments in one command: grids, theory, tables, figures, and pages.

    python3 bench/paper/run.py --greedystep build/release/greedystep            everything, under an hour on two cores
    python3 bench/paper/run.py --greedystep build/release/greedystep --quick    a check against results.csv, for CI
    python3 bench/paper/run.py --greedystep build/release/greedystep --again gsa --commit X    GSA against results.csv
    python3 bench/paper/run.py --page-only                                      figures and page from the tables here

Data: $GREEDYSTEP_DATA_DIR (default: ../shared/data beside the source tree); download.sh fetches what is missing.
Needs numpy and matplotlib (requirements.txt), except for --quick.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import again
import quick
from datasets import HERE, Files, present_and_missing
from grid import RESULTS, jobs_for, peer_jobs, run_jobs, write_results
from shared import given_command, machine, read_table, run, write_table

ABOUT = HERE / "about.json"
STAGES = ("grid", "peers", "printed", "hypotheses", "adadelta", "bound", "costs")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--greedystep", type=Path, help="the command to measure, such as build/release/greedystep")
    parser.add_argument("--quick", action="store_true", help="check a few cells against results.csv and stop")
    parser.add_argument("--page-only", action="store_true", help="figures and pages from the tables")
    parser.add_argument("--again", choices=again.WHICH, help="run cells of results.csv again and compare their digits")
    parser.add_argument("--commit", default="", help="the commit of the command (default: the present one)")
    parser.add_argument("--minutes", type=float, default=1e6, metavar="N", help="with --again: begin no cell after N")
    parser.add_argument("--only", metavar="NAME", action="append", help="only this data set (may be repeated)")
    parser.add_argument("--stage", choices=STAGES, action="append", help="only this stage (may be repeated)")
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="data sets at a time")
    return parser.parse_args()


def versions() -> dict[str, str]:
    import matplotlib
    import numpy

    return {
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "matplotlib": matplotlib.__version__,
    }


def present_commit() -> str:
    return run(["git", "-C", HERE, "rev-parse", "--short=8", "HEAD"]).strip()


def run_grid(options: argparse.Namespace, present: dict[str, Files], folder: Path) -> dict[str, float]:
    """Runs the grids; with --only, the other sets keep their lines of results.csv."""
    lines, seconds = run_jobs(options.greedystep, jobs_for(present, options.seeds), folder, options.jobs)
    if options.only and RESULTS.exists():
        lines = [line for line in read_table(RESULTS) if line["data"] not in present] + lines
    write_results(lines)
    return seconds


def run_peers(options: argparse.Namespace, present: dict[str, Files], folder: Path) -> None:
    """The methods of today alone (a part of the grid); all other lines of results.csv stay."""
    jobs = peer_jobs(present, options.seeds)
    names = {method.split(":")[0] for job in jobs for method in job.methods}
    lines, _ = run_jobs(options.greedystep, jobs, folder, options.jobs)
    write_results([x for x in read_table(RESULTS) if x["data"] not in present or x["method"] not in names] + lines)


def run_loops(options: argparse.Namespace, present: dict[str, Files], folder: Path, stages: list[str]) -> None:
    """The numpy loops, spread over processes; a table is only written whole, so --only leaves them alone."""
    import forms
    import hypotheses
    import printed

    sets = {name: (name, files, folder) for name, files in present.items()}
    work = {
        "printed": (printed, [(*sets[name], options.seeds) for name in printed.NAMES if name in sets]),
        "hypotheses": (hypotheses, [(x, *sets[x.data][1:]) for x in hypotheses.HYPOTHESES if x.data in sets]),
        "adadelta": (forms, [sets[name] for name in forms.NAMES if name in sets]),
    }
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = {
            stage: [pool.submit(module.measure, *each) for each in todo]
            for stage, (module, todo) in work.items()
            if stage in stages
        }
        for stage, futures in waiting.items():
            module, lines = work[stage][0], [line for future in futures for line in future.result()]
            write_table(module.TABLE, module.HEADER, lines)
            print(f"{stage} done", flush=True)


def run_everything(options: argparse.Namespace, present: dict[str, Files], missing: list[str], folder: Path) -> None:
    import theory

    stages = options.stage or (["grid"] if options.only else list(STAGES))
    about = json.loads(ABOUT.read_text()) if ABOUT.exists() else {}
    begun = time.monotonic()
    if "costs" in stages:  # first, while nothing else runs
        lines = theory.measure_costs(options.greedystep, present, folder)
        write_table(theory.COSTS, theory.COST_HEADER, lines)
    if "grid" in stages:
        about.setdefault("seconds", {}).update(run_grid(options, present, folder))
    elif "peers" in stages:
        run_peers(options, present, folder)
    run_loops(options, present, folder, stages)
    if "bound" in stages:
        lines, about["bound"] = theory.check_bound()
        write_table(theory.BOUND, theory.BOUND_HEADER, lines)
    if not options.only and not options.stage:
        about["minutes"] = round((time.monotonic() - begun) / 60, 1)
    now = {"commit": options.commit, "date": datetime.date.today().isoformat()}
    about |= {stage: now for stage in ("peers", "costs") if stage in stages}
    if "grid" in stages:
        about |= now | {"peers": now}
    about |= {
        "machine": machine(),
        "versions": versions(),
        "seeds": options.seeds,
        "jobs": options.jobs,
        "missing": missing,
    }
    ABOUT.write_text(json.dumps(about, indent=2, sort_keys=True) + "\n")


def make_page() -> None:
    import figures
    import page
    from tables import load

    results, published = load()
    about = json.loads(ABOUT.read_text())
    figures.draw_all(results, published, about["bound"]["limit"])
    page.write(results, published, about)


def main() -> int:
    options = arguments()
    if options.page_only:
        make_page()
        return 0
    options.greedystep = given_command(options.greedystep)
    if not options.quick:
        options.commit = options.commit or present_commit()
    present, missing = present_and_missing()
    if options.only:
        present = {name: files for name, files in present.items() if name in options.only}
    print(f"data: {', '.join(present) or 'none'}")
    if missing:
        print(f"not there: {', '.join(missing)} (bench/paper/download.sh fetches them)")
    with tempfile.TemporaryDirectory(prefix="greedystep-paper-") as folder:
        if options.quick:
            return quick.run(options.greedystep, present, Path(folder))
        if not present:
            return 77
        if options.again:
            again.run(options, present, Path(folder))
            return 0
        run_everything(options, present, missing, Path(folder))
    make_page()
    return 0


if __name__ == "__main__":
    sys.exit(main())
