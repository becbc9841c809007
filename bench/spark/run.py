#!/usr/bin/env python3
"""run.py --rows N: click rows on a standalone cluster of two executors on loopback.

Times one pass beside a bare scan of the same columns by mapInArrow, which only counts, and beside
pyspark.ml's LogisticRegression until its test loss is as low; prints a line of JSON for each (results.jsonl).
Run it with a Python that has greedystep and pyspark installed, on an idle machine.
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from on_cluster import click, cluster, session, timed, told
from shared import measured_at


def count(batches):
    import pyarrow as pa

    n = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"n": pa.array([n], pa.int64())})


def loss_of(model, frame) -> float:
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator

    return MulticlassClassificationEvaluator(metricName="logLoss").evaluate(model.transform(frame))


def bare_scan(train, times: int) -> None:
    for _ in range(times):
        rows, seconds = timed(lambda: train.mapInArrow(count, "n long").groupBy().sum().collect())
        told(what="bare scan", rows=rows[0][0], seconds=seconds)


def ours(train, test, passes: int) -> float:
    from greedystep.spark import GreedystepClassifier

    model, seconds = timed(lambda: GreedystepClassifier(passes=passes or "auto").fit(train))
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


def theirs(train, test, target: float, iterations: list[int], reg_param: float) -> None:
    from pyspark.ml.classification import LogisticRegression

    for n in iterations:
        peer = LogisticRegression(maxIter=n, regParam=reg_param, standardization=False)
        try:
            model, seconds = timed(lambda peer=peer: peer.fit(train))
        except Exception as failure:
            told(what="LogisticRegression", iterations=n, failed=str(failure)[:300])
            return
        loss = loss_of(model, test)
        told(what="LogisticRegression", iterations=n, reg_param=reg_param, seconds=seconds, test_loss=round(loss, 5))
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
    parser.add_argument("--reg-param", type=float, default=1e-5, help="of LogisticRegression")
    parser.add_argument("--iterations", type=int, nargs="*", default=[5, 10, 20, 40])
    given = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    logging.getLogger("greedystep").setLevel(logging.INFO)
    import pyspark

    told(
        **measured_at(),
        rows=given.rows,
        features=given.features,
        partitions=given.partitions,
        spark=pyspark.__version__,
    )
    data = click(given.folder, given.rows, given.features, given.partitions)
    settings = {"spark.driver.memory": given.driver_memory, "spark.executor.memory": "2g"}
    with cluster(Path(given.folder) / "cluster") as master:
        spark = session(master, settings)
        train = spark.read.parquet(str(data / "train"))
        test = spark.read.parquet(str(data / "test"))
        bare_scan(train, 1)  # the first warms up
        losses = []
        for passes in given.passes:
            bare_scan(train, 1)
            losses.append(ours(train, test, passes))
        bare_scan(train, 1)
        theirs(train, test, min(losses, default=0), given.iterations, given.reg_param)
        spark.stop()


if __name__ == "__main__":
    main()
