#!/usr/bin/env python3
"""memory.py --features M: how much memory a fit takes, process by process, on a cluster of two executors on loopback.

Each fit has a cluster and a driver of its own. A line of JSON for it has the peak resident memory (VmHWM, asked for
five times a second) of the driver's Python, the driver's JVM, each executor's JVM and the Python workers of each
executor, in megabytes: of the largest worker, and of those that lived at a time together. It has the seconds of the
fit and of its passes, or the error that it ended with. LogisticRegression of pyspark.ml is measured in the same way.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from on_cluster import click, cluster, said, session, timed, told
from shared import process_status

OURS, THEIRS = "greedystep", "LogisticRegression"


# ---- the fit, in a process of its own -------------------------------------------------------------


def fitted(given: argparse.Namespace, train) -> dict[str, object]:
    """Return what is to be told of a fit."""
    if given.fit == OURS:
        from greedystep.spark import GreedystepClassifier

        model, seconds = timed(lambda: GreedystepClassifier(passes=given.passes, leastShardRows=given.least).fit(train))
        passes = [round(one.seconds, 2) for one in model.summary.passes]
        return {"seconds": seconds, "pass_seconds": passes, "shards": model.summary.n_shards}
    from pyspark.ml.classification import LogisticRegression

    peer = LogisticRegression(maxIter=given.iterations, regParam=1e-5, standardization=False)
    model, seconds = timed(lambda: peer.fit(train))
    return {"seconds": seconds, "iterations": model.summary.totalIterations}


def fit(given: argparse.Namespace) -> None:
    """Fit on the cluster that there is, and print a line of JSON; an error is a result too."""
    logging.basicConfig(format="%(message)s")
    logging.getLogger("greedystep").setLevel(logging.INFO)
    settings = {"spark.driver.memory": given.driver_memory, "spark.executor.memory": given.executor_memory}
    spark = session(given.master, settings)
    began = time.monotonic()
    try:
        found = fitted(given, spark.read.parquet(given.data))
    except Exception as failure:
        found = {"failed": said(failure), "seconds": round(time.monotonic() - began, 2)}
    print(json.dumps(found), flush=True)
    sys.stdin.readline()  # until what the processes took is read


# ---- looking at processes -------------------------------------------------------------------------


def is_running(process: int, what: str) -> bool:
    try:
        return what in Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return False


@dataclass
class Tree:
    """The processes of a moment."""

    facts: dict[int, dict[str, int]]
    children: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def now(cls) -> Tree:
        numbers = (int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit())
        found = cls({process: process_status(process) for process in numbers})
        for process, facts in found.facts.items():
            found.children.setdefault(facts.get("PPid", 0), []).append(process)
        return found

    def below(self, process: int) -> list[int]:
        """Return all that a process has started."""
        found = list(self.children.get(process, []))
        for one in found:
            found.extend(self.children.get(one, []))
        return found


class Watch(threading.Thread):
    """Keeps the peaks of a driver and of the executors that the cluster's workers start."""

    def __init__(self, driver: int, cluster_folder: Path) -> None:
        super().__init__(daemon=True)
        self._driver = driver
        self._daemons = [int(line) for line in (cluster_folder / "pids").read_text().split()]
        self._over = threading.Event()
        self.peaks: dict[str, dict[int, int]] = {"driver": {}, "driver_jvm": {}, "executor_jvm": {}}
        self.workers: dict[int, dict[int, int]] = {}  # of each executor, its Python processes' peaks
        self.together: dict[int, int] = {}  # of each executor, what these had at a time
        self.start()

    def run(self) -> None:
        while not self._over.wait(0.2):
            self._look(Tree.now())

    def stop(self) -> None:
        self._over.set()
        self.join()

    def _look(self, tree: Tree) -> None:
        self._keep("driver", self._driver, tree)
        for process in tree.below(self._driver):
            if is_running(process, "org.apache.spark.deploy.SparkSubmit"):
                self._keep("driver_jvm", process, tree)
        for process in (one for daemon in self._daemons for one in tree.below(daemon)):
            if is_running(process, "org.apache.spark.executor.CoarseGrainedExecutorBackend"):
                self._keep("executor_jvm", process, tree)
                self._look_below(process, tree)

    def _keep(self, kind: str, process: int, tree: Tree) -> None:
        peak = tree.facts.get(process, {}).get("VmHWM", 0)
        self.peaks[kind][process] = max(peak, self.peaks[kind].get(process, 0))

    def _look_below(self, executor: int, tree: Tree) -> None:
        peaks = self.workers.setdefault(executor, {})
        pythons = tree.below(executor)
        for process in pythons:
            peaks[process] = max(tree.facts[process].get("VmHWM", 0), peaks.get(process, 0))
        now = sum(tree.facts[process].get("VmRSS", 0) for process in pythons)
        self.together[executor] = max(now, self.together.get(executor, 0))

    def told(self) -> dict[str, object]:
        """Return the peaks in megabytes, executors in the order in which they began."""
        executors = sorted(self.peaks["executor_jvm"])
        return {
            "driver_python_mb": megabytes(max(self.peaks["driver"].values(), default=0)),
            "driver_jvm_mb": megabytes(max(self.peaks["driver_jvm"].values(), default=0)),
            "executor_jvm_mb": [megabytes(self.peaks["executor_jvm"][one]) for one in executors],
            "executor_worker_mb": [megabytes(max(self.workers[one].values(), default=0)) for one in executors],
            "executor_workers_mb": [megabytes(self.together[one]) for one in executors],
        }


def megabytes(kilobytes: int) -> int:
    return round(kilobytes * 1024 / 1e6)


# ---- one measurement after the other --------------------------------------------------------------


def ended(driver: subprocess.Popen[str], machines: list[int]) -> None:
    """Let a driver end, and its JVM with it, which may have no memory left to do so."""
    with contextlib.suppress(OSError):
        driver.stdin.close()
    driver.wait()
    until = time.monotonic() + 30
    while any(process_status(one).get("VmRSS") for one in machines):
        if time.monotonic() > until:
            for one in machines:
                with contextlib.suppress(OSError):
                    os.kill(one, signal.SIGKILL)
        time.sleep(0.2)


def measured(what: str, given: argparse.Namespace, data: Path) -> None:
    folder = Path(given.folder).resolve() / "cluster"
    with cluster(folder, given.executor_memory) as master:
        chosen = ["--fit", what, "--master", master, "--data", str(data / "train")]
        command = [sys.executable, __file__, *sys.argv[1:], *chosen]
        driver = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        watch = Watch(driver.pid, folder)
        limit = threading.Timer(given.most_seconds, driver.kill)
        limit.start()
        line, seconds = timed(driver.stdout.readline)
        limit.cancel()
        watch.stop()
        ended(driver, list(watch.peaks["driver_jvm"]))
    found = (
        json.loads(line)
        if line
        else {"failed": f"no answer after {seconds} s: the driver ended with {driver.returncode}"}
    )
    size = {"rows": given.rows, "features": given.features, "partitions": given.partitions}
    told(what=what, **size, driver_memory=given.driver_memory, **found, **watch.told())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--features", type=int, default=20_000_000)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--driver-memory", default="2g", help="of the driver's JVM")
    parser.add_argument("--executor-memory", default="2g", help="of each executor's JVM")
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--least", type=int, default=65536, help="leastShardRows: partitions below are put together")
    parser.add_argument("--iterations", type=int, default=10, help=f"of {THEIRS}")
    parser.add_argument("--what", nargs="*", default=[OURS, THEIRS], choices=[OURS, THEIRS])
    parser.add_argument("--most-seconds", type=float, default=3600, help="after which a fit is given up")
    parser.add_argument("--folder", default="build/spark")
    for name in ("--fit", "--master", "--data"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        fit(given)
        return
    data = click(given.folder, given.rows, given.features, given.partitions)
    for what in given.what:
        measured(what, given, data)


if __name__ == "__main__":
    main()
