#!/usr/bin/env python3
"""model.py RESULTS...: predicts the time of a pass by MPI from its sizes, and from what size on merging dominates.

Constants are fitted to the stages `ranks` and `merge` of run.py. Prints the error for the runs of `network`, which were
not used in the fit, then predictions for rows in caches. A pass is

    first rows + sum over rounds of (learn / (ranks * threads) + fork + merge + bytes / bandwidth)

The first rows are learned by every rank alike. The schedule (src/train/schedule.c) determines the rows and replicas of
a round. A merge is a search on held-out rows, which takes the same time whatever the features are, and some work per
feature for each replica of a rank. The deltas of all features go through a link twice (to the rank that reduces them,
and back), and so do new held-out rows.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy

BLOCK_ROWS = 65536
SAMPLE_ROWS = 16384
ROW_BYTES, ENTRY_BYTES = 36, 8  # of a held-out row
SLICE_BYTES = 21  # of a feature and output
NEWS = 0.6  # held-out rows of all heads together that the base does not have, as a share of the sample


@dataclass
class Job:
    rows: float
    features: float
    nnz: float = 20
    classes: int = 2
    ranks: int = 1
    threads: int = 1
    bandwidth: float | None = None  # bytes a second, of a link in each direction; None: memory
    crowding: float = 1  # ranks and threads that share a core

    @property
    def cells(self) -> float:
        return self.features * (self.classes if self.classes > 2 else 1)

    def learning(self, known: dict[str, float], name: str) -> float:
        """Seconds to learn a row."""
        return (known[name] + known[name + "_entry"] * self.nnz) * (self.classes if self.classes > 2 else 1)


def plan(job: Job, most: int) -> tuple[float, list[tuple[float, int]]]:
    """Rows before the first round, and rows and copies of every round."""
    first = min(job.rows, math.ceil(max(1_000_000, 4 * job.features) / BLOCK_ROWS) * BLOCK_ROWS)
    done, rounds = first, []
    while done < job.rows:
        rows = min(done, max(done / 16, 2**26))
        copies, copy_rows = 8, max(job.features / 4, 2**18)
        while copies < most and 2 * copies * copy_rows <= rows:
            copies *= 2
        rounds.append((min(rows, job.rows - done), copies))
        done += rounds[-1][0]
    return first, rounds


def link_bytes(job: Job) -> float:
    """Through the link of a rank, each way, for one merge."""
    news = NEWS * SAMPLE_ROWS * (ROW_BYTES + ENTRY_BYTES * job.nnz)
    return 2 * SLICE_BYTES * job.cells * (job.ranks - 1) / job.ranks + news


def predict(job: Job, known: dict[str, float], most: int) -> dict[str, float]:
    first, rounds = plan(job, most)
    parts = dict.fromkeys(("first", "learn", "fork", "merge", "network"), 0.0)
    parts["first"] = job.learning(known, "first") * first * job.crowding
    for rows, copies in rounds:
        mine = math.ceil(copies / job.ranks)
        turns = math.ceil(mine / job.threads)
        parts["learn"] += job.learning(known, "learn") * rows / copies * turns * job.crowding
        parts["fork"] += known["fork"] * mine * job.cells * job.crowding
        work = known["search"] * job.nnz + known["copy"] * mine * job.cells
        parts["merge"] += work * job.crowding
        if job.ranks > 1 and job.bandwidth:
            parts["network"] += link_bytes(job) / job.bandwidth
    return parts | {
        "seconds": sum(parts.values()),
        "rounds": len(rounds),
        "copies": max((c for _, c in rounds), default=0),
    }


def as_job(line: dict, cores: int) -> Job:
    crowding = max(1.0, line["ranks"] * line["threads"] / cores)  # all ranks of run.py are on one machine
    names = ("rows", "features", "nnz", "classes", "ranks", "threads", "bandwidth")
    return Job(**{name: line[name] for name in names}, crowding=crowding)


def not_negative(columns: list[list[float]], values: list[float]) -> list[float]:
    """Least squares of relative errors; what would be negative is left out."""
    a, b = numpy.array(columns, float).T, numpy.array(values, float)
    a, b = a / b[:, None], numpy.ones(len(b))
    used = list(range(a.shape[1]))
    while used:
        found = numpy.linalg.lstsq(a[:, used], b, rcond=None)[0]
        if (found >= 0).all():
            break
        used = [u for u, x in zip(used, found, strict=True) if x >= 0]
    result = [0.0] * a.shape[1]
    for u, x in zip(used, found if used else [], strict=True):
        result[u] = float(x)
    return result


def fit(lines: list[dict], cores: int) -> dict[str, float]:
    jobs = [(line, as_job(line, cores)) for line in lines if line["rounds"] and not line["bandwidth"]]
    alone = [(line, job) for line, job in jobs if job.ranks == 1]
    known = {"fork": median(line["fork"] * job.ranks / (line["copies"] * job.cells) for line, job in jobs)}
    for name in ("first", "learn"):
        rows = [line["round_rows"] if name == "learn" else line["rows"] - line["round_rows"] for line, _ in alone]
        known[name], known[name + "_entry"] = not_negative(
            [rows, [n * job.nnz for n, (_, job) in zip(rows, alone, strict=True)]], [line[name] for line, _ in alone]
        )
    together = [(line, job) for line, job in jobs if job.ranks > 1]
    known["search"], known["copy"] = not_negative(
        [[line["rounds"] * job.nnz for line, job in together],
         [line["copies"] / job.ranks * job.cells for line, job in together]],
        [line["merge"] for line, _ in together],
    )  # fmt: skip
    return known


def rounded(parts: dict[str, float]) -> dict[str, float]:
    return {name: float(f"{value:.3g}") for name, value in parts.items()}


def compare(lines: list[dict], known: dict[str, float], given: argparse.Namespace) -> None:
    for line in lines:
        parts = predict(as_job(line, given.cores), known, given.copies_most)
        error = parts["seconds"] / line["seconds"] - 1
        print(json.dumps({"measured": round(line["seconds"], 2), "ranks": line["ranks"], "bandwidth": line["bandwidth"],
                          "error": round(error, 3), "predicted": rounded(parts)}))  # fmt: skip


def extrapolate(known: dict[str, float], given: argparse.Namespace) -> None:
    for rows in given.rows:
        tipping = None
        for ranks in sorted({*given.ranks, *(2**i for i in range(11))}):
            job = Job(rows, given.features, given.nnz, given.classes, ranks, given.threads, given.bandwidth)
            parts = predict(job, known, given.copies_most)
            merging = parts["fork"] + parts["merge"] + parts["network"]
            if tipping is None and ranks > 1 and merging > parts["learn"]:
                tipping = ranks
            if ranks in given.ranks:
                print(json.dumps({"rows": rows, "ranks": ranks, **rounded(parts)}))
        print(json.dumps({"rows": rows, "merging_is_more_than_learning_from_ranks": tipping}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="lines of run.py")
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="of the machine that was measured")
    parser.add_argument("--rows", type=float, nargs="+", default=[1e9, 1e10, 1e12])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 10, 30, 100, 300, 1000])
    parser.add_argument("--features", type=float, default=1e7)
    parser.add_argument("--nnz", type=float, default=20)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--threads", type=int, default=8, help="of a rank, each with a core")
    parser.add_argument("--bandwidth", type=float, default=1.25e9, help="bytes a second of a machine's link, each way")
    parser.add_argument("--copies-most", type=int, default=8192, help="of a round")
    given = parser.parse_args()
    every = [json.loads(line) for name in given.results for line in Path(name).read_text().splitlines()]
    lines = [line for line in every if line.get("stage") in ("ranks", "merge", "network")]
    known = fit([line for line in lines if line["stage"] != "network"], given.cores)
    print(json.dumps({"constants": rounded(known)}))
    compare([line for line in lines if line["stage"] == "network"], known, given)
    extrapolate(known, given)


if __name__ == "__main__":
    main()
