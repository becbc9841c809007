"""Stage peers: LogisticRegression and Vowpal Wabbit on the splits that auto had.

peers.csv has a line a set, method and seed. L-BFGS does not depend on the order of rows, so that it is run once where
the test set is fixed (its folds alone would differ), and once on every split otherwise.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from context import DEFAULT, Bench, update_table
from sets import Set, Split, Suite, splits
from shared import Line, number, read_table, say

HEADER = ("data", "method", "passes", "seed", "loss", "accuracy", "seconds", "chosen")
LOGISTIC = ("logistic", "logistic, scaled")
HEAVY_SEEDS = 2  # one-against-all of 105 classes takes its time
VOWPAL = ("vw", "vw --coin")


@dataclass(frozen=True)
class Job:
    part: Split
    method: str
    passes: int  # 0: until convergence
    folder: Path


def measure(job: Job) -> Line:
    """In a process of its own, with one thread, so that jobs do not share what is timed."""
    import logistic
    import rows
    import vowpal

    part, chosen = job.part, ""
    if job.method in LOGISTIC:
        scores, seconds, chosen = logistic.measure(rows.read(part.train), rows.read(part.test), part.seed, job.method)
    else:
        stem = job.folder / f"{part.key}.{job.method.replace(' ', '')}.{job.passes}"
        scores, seconds = vowpal.measure(part.train, part.test, part.seed, job.method, job.passes, stem)
    values = (scores.mean_loss, scores.accuracy, seconds)
    key = (part.data, job.method, str(job.passes), str(part.seed))
    return dict(zip(HEADER, (*key, *(number(value) for value in values), chosen), strict=True))


def passes_of_auto(suite: Suite) -> dict[tuple[str, str], int]:
    lines = read_table(suite.table("auto"))
    return {(x["data"], x["seed"]): int(float(x["passes"])) for x in lines if x["variant"] == DEFAULT}


def jobs_of(bench: Bench, suite: Suite, of: Set) -> list[Job]:
    passes, jobs = passes_of_auto(suite), []
    for part in splits(of, bench)[: HEAVY_SEEDS if of.heavy else None]:
        if part.seed == 0 or not part.fixed:
            jobs += [Job(part, method, 0, bench.folder) for method in LOGISTIC]
        counts = sorted({1, passes.get((of.name, str(part.seed)), 1)})
        jobs += [Job(part, method, count, bench.folder) for method in VOWPAL for count in counts]
    return [job for job in jobs if not bench.peers or job.method in bench.peers]


def stage(bench: Bench, suite: Suite) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    jobs = [job for of in suite.chosen(bench) for job in jobs_of(bench, suite, of)]
    jobs.sort(key=lambda job: job.method not in LOGISTIC)
    lines = []
    with ProcessPoolExecutor(bench.jobs) as pool:
        for line in pool.map(measure, jobs):
            lines.append(line)
            if line["seed"] == "0":
                what = f"{line['method']} {line['passes']} {line['chosen']}"
                say(f"peers       {line['data']:20} {what:32} {line['seconds']:>9} s")
    update_table(suite.table("peers"), HEADER, lines, suite.names)
