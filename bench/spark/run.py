#!/usr/bin/env python3
"""run.py --rows N: click rows on a standalone cluster of two executors on loopback.

Times one pass beside a bare scan of the same columns by mapInArrow, which only counts, and beside
pyspark.ml's LogisticRegression until its test loss is as low; prints a line of JSON for each.
Run it with a Python that has greedystep and pyspark installed, on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import click_rows

ROOT = Path(__file__).parents[2]
CLUSTER = ROOT / "tests" / "spark" / "cluster.sh"


def told(**facts: object) -> None:
    load = round(os.getloadavg()[0], 1)
    print(json.dumps({**facts, "load": load}), flush=True)


def session(master: str, driver_memory: str):
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    from pyspark.sql import SparkSession

    found = (
        SparkSession.builder.master(master)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", driver_memory)
        .config("spark.executor.cores", "1")
        .config("spark.executor.memory", "2g")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.files.maxPartitionBytes", "4g")
        .config("spark.sql.files.openCostInBytes", "4g")  # a file is a partition
        .getOrCreate()
    )
    found.sparkContext.setLogLevel("ERROR")
    return found


def count(batches):
    import pyarrow as pa

    n = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"n": pa.array([n], pa.int64())})


def loss_of(model, frame) -> float:
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator

    return MulticlassClassificationEvaluator(metricName="logLoss").evaluate(model.transform(frame))


def timed(work):
    began = time.monotonic()
    result = work()
    return result, round(time.monotonic() - began, 2)


def bare_scan(train, times: int) -> None:
    for _ in range(times):
        rows, seconds = timed(lambda: train.mapInArrow(count, "n long").groupBy().sum().collect())
        told(what="bare scan", rows=rows[0][0], seconds=seconds)


def ours(train, test, passes: int) -> float:
    from greedystep.spark import GSAClassifier

    model, seconds = timed(lambda: GSAClassifier(passes=passes).fit(train))
    loss, scoring = timed(lambda: loss_of(model, test))
    told(
        what="greedystep",
        passes=[round(one.seconds, 2) for one in model.summary.passes],
        seconds=seconds,
        test_loss=round(loss, 5),
        scoring_seconds=scoring,
        shards=model.summary.n_shards,
    )
    return loss


def theirs(train, test, target: float, iterations: list[int]) -> None:
    from pyspark.ml.classification import LogisticRegression

    for n in iterations:
        peer = LogisticRegression(maxIter=n, regParam=1e-5, standardization=False)
        try:
            model, seconds = timed(lambda peer=peer: peer.fit(train))
        except Exception as failure:
            told(what="LogisticRegression", iterations=n, failed=str(failure)[:300])
            return
        loss = loss_of(model, test)
        told(what="LogisticRegression", iterations=n, seconds=seconds, test_loss=round(loss, 5))
        if loss <= target:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--folder", default="build/spark")
    parser.add_argument("--driver-memory", default="2g")
    parser.add_argument("--passes", type=int, nargs="*", default=[1, 0])
    parser.add_argument("--iterations", type=int, nargs="*", default=[5, 10, 20, 40])
    given = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    logging.getLogger("greedystep").setLevel(logging.INFO)
    data = Path(given.folder) / f"click-{given.rows}-{given.features}-{given.partitions}"
    if not data.exists():
        click_rows.write(str(data), given.rows, 200_000, given.features, 20, given.partitions)
    env = {**os.environ, "PYTHON": sys.executable, "WORKER_MEMORY": "3g"}
    cluster = str(Path(given.folder).resolve() / "cluster")
    master = subprocess.run(
        ["bash", CLUSTER, "start", cluster], env=env, check=True, capture_output=True, text=True
    ).stdout.strip()
    try:
        spark = session(master, given.driver_memory)
        train = spark.read.parquet(str(data / "train"))
        test = spark.read.parquet(str(data / "test"))
        bare_scan(train, 1)  # the first warms up
        losses = []
        for passes in given.passes:
            bare_scan(train, 1)
            losses.append(ours(train, test, passes))
        bare_scan(train, 1)
        theirs(train, test, min(losses, default=0), given.iterations)
        spark.stop()
    finally:
        subprocess.run(["bash", CLUSTER, "stop", cluster], check=True)


if __name__ == "__main__":
    main()
