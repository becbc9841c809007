"""Cells of results.csv run once more by a later build, and compared digit by digit: again.csv.

GSA is run completely (every set, protocol, pass and seed); of the others, every STRIDE-th method of each job. A cell is
a method's line of results.csv, one per pass: mean, minimum and maximum of loss, accuracy, AUC and step, in six digits.
"""

from __future__ import annotations

import math
import time
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from datasets import HERE, Files
from grid import HEADER, HEAVY, KEY, RESULTS, Job, aggregate, compare, jobs_for
from shared import Line, read_table, write_table

TABLE = HERE / "again.csv"
METHOD_KEY = ("data", "protocol", "method", "parameters")
AGAIN_HEADER = (*METHOD_KEY, "commit", "cells", "same", "apart")
STRIDE = 4
WHICH = ("gsa", "others")


def key(line: Line, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(line[name] for name in names)


def parts(present: dict[str, Files], seeds: int, which: str) -> list[Job]:
    """GSA's part of every job, or a sample of the other methods."""
    found = []
    for job in jobs_for(present, seeds):
        gsa = tuple(method for method in job.methods if method.split(":")[0] == "paper")
        others = tuple(method for method in job.methods if method not in gsa)[::STRIDE]
        methods = gsa if which == "gsa" else others
        found += [replace(job, methods=(method,)) for method in methods]
    return sorted(found, key=lambda job: (job.dataset.name in HEAVY, job.dataset.classes > 2))  # the short ones first


def apart(found: Line, committed: Line) -> float:
    """The largest relative difference of two lines' numbers; 0 if every digit is the same."""
    pairs = [(found[name], committed[name]) for name in HEADER if found[name] != committed[name]]
    if any("nan" in pair or "" in pair for pair in pairs):
        return math.inf
    return max((abs(float(a) - float(b)) / max(abs(float(a)), abs(float(b))) for a, b in pairs), default=0.0)


def run(options: Namespace, present: dict[str, Files], folder: Path) -> None:
    """Adds a line per method to again.csv after each, so that a run that is ended early keeps what it has."""
    committed = {key(line, KEY): line for line in read_table(RESULTS)}
    lines = {key(line, METHOD_KEY): line for line in read_table(TABLE)}
    end = time.monotonic() + 60 * options.minutes
    for job in parts(present, options.seeds, options.again):
        if time.monotonic() > end:
            break
        begun = time.monotonic()
        found = aggregate(job, compare(options.greedystep, job, folder))
        off = [apart(line, committed[key(line, KEY)]) for line in found if key(line, KEY) in committed]
        counts = (str(len(off)), str(off.count(0.0)), f"{max(off, default=0.0):.1g}")
        values = (*key(found[0], METHOD_KEY), options.commit, *counts)
        lines[values[:4]] = dict(zip(AGAIN_HEADER, values, strict=True))
        write_table(TABLE, AGAIN_HEADER, list(lines.values()))
        print(f"{' '.join(values)} {time.monotonic() - begun:.1f} s", flush=True)
