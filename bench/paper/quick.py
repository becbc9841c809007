"""The small check for CI: a few sets, GSA and two baselines, against the committed results.csv. Under three minutes.

Two things are checked. GSA and the baselines over two seeds: the mean may not be worse than the committed mean by more
than the seeds' committed spread or 0.01, whichever is greater. And cells that are the same everywhere: GSA on two small
sets with all seeds must give the committed line to the last digit, since equal runs give equal bits.
"""

from __future__ import annotations

import math
from pathlib import Path

from datasets import BY_NAME, PAPER_SPLIT, Files
from grid import KEY, MEASURES, RESULTS, Job, aggregate, compare
from shared import Line, read_table

NAMES = ("w1a", "breast-cancer_scale", "dna.scale", "usps")
EXACT = ("breast-cancer_scale", "dna.scale")
METHODS = {
    "w1a": ("paper", "sgd:0.1", "adadelta:0.01"),
    "breast-cancer_scale": ("paper", "sgd:0.1", "adadelta:0.01"),
    "dna.scale": ("paper", "sgd:0.01", "adadelta:1e-06"),
    "usps": ("paper", "sgd:0.01", "adadelta:1e-06"),
}
LEAST_TOLERANCE = 0.01
SEEDS = 2


def key(line: Line) -> tuple[str, ...]:
    return tuple(line[name] for name in KEY)


def regressions(found: Line, committed: Line) -> list[str]:
    """What got worse: a greater loss, a smaller accuracy or AUC."""
    worse = []
    for measure, sign in (("loss", 1), ("accuracy", -1), ("auc", -1)):
        if not committed[measure] or math.isnan(float(committed[measure])):
            continue
        spread = float(committed[measure + "_max"]) - float(committed[measure + "_min"])
        allowed = max(spread, LEAST_TOLERANCE)
        by = sign * (float(found[measure] or "nan") - float(committed[measure]))
        if not by <= allowed:
            worse.append(f"{measure} {found[measure] or 'nan'}, committed {committed[measure]}, allowed {allowed:.4f}")
    return worse


def check_close(greedystep: Path, name: str, files: Files, folder: Path, committed: dict[tuple[str, ...], Line]) -> int:
    job = Job(BY_NAME[name], PAPER_SPLIT, files, METHODS[name], SEEDS)
    failures = 0
    for found in aggregate(job, compare(greedystep, job, folder)):
        if int(found["pass"]) != BY_NAME[name].run_passes:
            continue
        expected = committed.get(key(found))
        what = f"{name} {found['method']} {found['parameters']} pass {found['pass']}"
        if expected is None:
            print(f"MISSING  {what}: not in results.csv; run the full grid")
            failures += 1
            continue
        worse = regressions(found, expected)
        failures += bool(worse)
        print(f"{'WORSE   ' if worse else 'ok      '} {what}: loss {found['loss']} (committed {expected['loss']})")
        for reason in worse:
            print(f"         {reason}")
    return failures


def check_exact(greedystep: Path, name: str, files: Files, folder: Path, committed: dict[tuple[str, ...], Line]) -> int:
    seeds = max((int(line["n_seeds"]) for line in committed.values() if line["data"] == name), default=SEEDS)
    job = Job(BY_NAME[name], PAPER_SPLIT, files, ("paper",), seeds)
    differing = []
    for found in aggregate(job, compare(greedystep, job, folder)):
        expected = committed.get(key(found), {})
        differing += [
            f"pass {found['pass']}: {m} {found[m]}, committed {expected.get(m)}"
            for m in MEASURES
            if found[m] != expected.get(m)
        ]
    if differing:
        print(f"CHANGED  {name} paper: the arithmetic is no longer that of results.csv ({differing[0]});")
        print("         if this is meant, run the full grid and commit its results")
        return 1
    print(f"same     {name} paper, all passes and seeds, to the last digit of results.csv")
    return 0


def run(greedystep: Path, present: dict[str, Files], folder: Path) -> int:
    """The number of failures; 77 (skipped) if no data set of the check is there."""
    chosen = [name for name in NAMES if name in present]
    if not chosen:
        print(f"SKIPPED: none of {', '.join(NAMES)} is there (set GREEDYSTEP_DATA_DIR)")
        return 77
    committed = {key(line): line for line in read_table(RESULTS)}
    failures = 0
    for name in chosen:
        failures += check_close(greedystep, name, present[name], folder, committed)
        if name in EXACT:
            failures += check_exact(greedystep, name, present[name], folder, committed)
    for name in set(NAMES) - set(chosen):
        print(f"SKIPPED: {name} is not there")
    print("no regression" if failures == 0 else f"{failures} failed")
    return 1 if failures else 0
