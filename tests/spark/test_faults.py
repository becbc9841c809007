"""Executors that are lost and tasks that are run twice, each in the middle of a pass: not a bit may change.

A frame whose rows pass through `halted` stops one task of one pass after its first rows, so that what happens to it
happens there and not now and then; that it did happen is read from Spark's own account of its tasks and executors.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import urllib.request
from pathlib import Path

import pytest

import greedystep

pytest.importorskip("pyspark", reason="Spark is NOT tested: pyspark is not there")

from spark_models import bits, classifier, merged_in_slices, rows_of
from spark_rows import N, pairs, parquet

pytestmark = pytest.mark.ways("classic")  # what Spark says of its tasks is asked for by a SparkContext

N_SHARDS = 6
IN_PASS = 2
HALTED = 4  # the partition; tasks of those before it are over when it begins, or nearly
PATIENCE = 60.0


class Account:
    """What Spark says of the jobs from now on."""

    def __init__(self, spark) -> None:
        context = spark.sparkContext
        self._address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}"
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        self._before = {job["jobId"] for job in self._get("jobs")}

    def _get(self, what: str):
        with self._open(f"{self._address}/{what}") as answer:
            return json.load(answer)

    def tasks(self, of_pass: int = IN_PASS) -> list[dict]:
        """Return all attempts at the tasks that learned in a pass."""
        described = f"greedystep: pass {of_pass},"
        jobs = [job for job in self._get("jobs") if job["jobId"] not in self._before]
        stages = {s for job in jobs if job.get("description", "").startswith(described) for s in job["stageIds"]}
        first = min(stages)  # of deltas: those that add them up come after it
        attempts = [attempt["attemptId"] for attempt in self._get(f"stages/{first}")]
        found = [self._get(f"stages/{first}/{attempt}/taskList?length=1000") for attempt in attempts]
        return [task for tasks in found for task in tasks]

    def executor(self, number: str) -> dict:
        """Return what has become of an executor."""
        return next(one for one in self._get("allexecutors") if one["id"] == number)


def halted(frame, folder: Path):
    """Return the frame, the first task of whose partition HALTED stops in a pass until there is a file "go".

    The task writes the id of its executor's process into a file "halted". One that finds this file goes on.
    """
    description, shard, patience = f"greedystep: pass {IN_PASS},", HALTED, PATIENCE
    mark, go = str(folder / "halted"), str(folder / "go")

    def passing(batches):
        import os
        import time

        from pyspark import TaskContext

        context = TaskContext.get()
        job = context.getLocalProperty("spark.job.description") or ""
        yield next(batches)
        if context.partitionId() == shard and job.startswith(description) and not os.path.exists(mark):
            with open(f"/proc/{os.getppid()}/stat") as daemon:  # whose parent is the executor
                executor = daemon.read().rsplit(")", 1)[1].split()[1]
            with open(f"{mark}.new", "w") as file:
                file.write(executor)
            os.rename(f"{mark}.new", mark)
            until = time.monotonic() + patience
            while not os.path.exists(go) and time.monotonic() < until:
                time.sleep(0.05)
        yield from batches

    return frame.mapInArrow(passing, frame.schema)


@pytest.fixture(scope="module")
def in_six(spark, tmp_path_factory):
    """Rows in six partitions, each of which comes in four batches."""
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 500)
    folder = tmp_path_factory.mktemp("rows") / "six"
    yield spark.read.parquet(parquet(folder, pairs(N), [N // N_SHARDS] * N_SHARDS))
    spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


@pytest.fixture(scope="module")
def undisturbed(in_six):
    """The bits of a run to which nothing happened, whose model is that of one machine."""
    fitted = classifier(passes=IN_PASS).fit(in_six)
    alone = greedystep.train(*rows_of(in_six), shards=N_SHARDS, passes=IN_PASS)
    assert fitted._stored == alone._model.write()
    return bits(fitted)


def executor_of(process: int) -> str:
    """Return the number of the executor that a process is, according to its command line."""
    words = Path(f"/proc/{process}/cmdline").read_text().split("\0")
    assert "org.apache.spark.executor.CoarseGrainedExecutorBackend" in words
    return words[words.index("--executor-id") + 1]


class Killer(threading.Thread):
    """Kills the executor whose task has halted, once Spark says that other tasks of the pass are over."""

    def __init__(self, account: Account, folder: Path) -> None:
        super().__init__()
        self._account, self._mark = account, folder / "halted"
        self.executor = ""
        self.tasks: list[dict] = []  # as they were just before
        self.start()

    def run(self) -> None:
        until = time.monotonic() + PATIENCE
        while not self._mark.exists():
            if time.monotonic() > until:
                return
            time.sleep(0.02)
        process = int(self._mark.read_text())
        executor = executor_of(process)
        while not any(t["executorId"] == executor and t["status"] == "SUCCESS" for t in self.tasks):
            if time.monotonic() > until:
                return
            self.tasks = self._account.tasks()
        os.kill(process, signal.SIGKILL)
        self.executor = executor


def fitted_while_killed(spark, frame, folder: Path) -> tuple[str, Killer, Account]:
    account = Account(spark)
    killer = Killer(account, folder)
    found = bits(classifier(passes=IN_PASS).fit(halted(frame, folder)))
    killer.join()
    assert killer.executor, "no task halted, or nothing was over by then"
    return found, killer, account


def assert_lost_in_mid_pass(killer: Killer, account: Account) -> None:
    """Check that the pass had tasks behind it and before it, and that Spark lost the executor with one of them."""
    over = [task for task in killer.tasks if task["status"] == "SUCCESS"]
    assert 1 <= len(over) < N_SHARDS
    gone = account.executor(killer.executor)
    assert not gone["isActive"]
    assert "137" in gone["removeReason"], "not by a signal 9"
    lost = [task for task in account.tasks() if "ExecutorLostFailure" in task.get("errorMessage", "")]
    assert [(task["index"], task["executorId"]) for task in lost] == [(HALTED, killer.executor)]


def test_an_executor_killed_in_mid_pass_does_not_change_a_bit(spark, in_six, undisturbed, tmp_path):
    found, killer, account = fitted_while_killed(spark, in_six, tmp_path)
    assert_lost_in_mid_pass(killer, account)
    assert found == undisturbed


@pytest.mark.every_spark
def test_deltas_that_are_lost_with_an_executor_are_made_again_to_the_bit(
    spark, in_six, undisturbed, tmp_path, monkeypatch
):
    merges = merged_in_slices(monkeypatch, width=20)
    found, killer, account = fitted_while_killed(spark, in_six, tmp_path)
    assert merges == list(range(1, IN_PASS + 1))
    assert_lost_in_mid_pass(killer, account)
    over = [task for task in killer.tasks if task["status"] == "SUCCESS"]
    written = {task["index"] for task in over if task["executorId"] == killer.executor}
    again = {task["index"] for task in account.tasks() if task["attempt"] > 0 and task["status"] == "SUCCESS"}
    assert again >= written | {HALTED}
    assert found == undisturbed


def test_a_speculative_duplicate_does_not_change_a_bit(spark, in_six, undisturbed, tmp_path):
    account = Account(spark)
    found = bits(classifier(passes=IN_PASS).fit(halted(in_six, tmp_path)))
    tasks = {task["speculative"]: task for task in account.tasks() if task["index"] == HALTED}
    (tmp_path / "go").touch()
    assert tasks.keys() == {False, True}
    assert tasks[True]["status"] == "SUCCESS"
    assert tasks[False]["status"] in ("RUNNING", "KILLED"), "the slow one came first"
    assert tasks[True]["host"] != tasks[False]["host"]
    assert found == undisturbed
