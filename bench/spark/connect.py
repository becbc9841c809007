#!/usr/bin/env python3
"""connect.py [--bits B ...]: how large a state may be on Spark Connect, and what a pass takes there and on classic.

Rows of 64 hashed words of 2^B, twice as many words as features, two partitions, on two cores of this machine. Each fit
has a process of its own, which prints a line of JSON: bytes of the state, seconds of the passes, bytes that are left in
the driver's folders, or the error that it ended with. Ways: classic; connect, a server of Spark Connect and its client;
closure, classic Spark that is sent states as Spark Connect is, within the task's function and not by a broadcast.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from on_cluster import session, timed, told

WORDS = 64


def write_rows(folder: Path, bits: int) -> str:
    """Write the rows of a size, if they are not there; return their folder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = folder / f"words-{bits}"
    if not data.exists():
        data.mkdir(parents=True)
        random, n_rows = np.random.default_rng(bits), (1 << bits) // WORDS
        starts = pa.array(np.arange(0, WORDS * n_rows + 1, WORDS, dtype=np.int32))
        ones = pa.ListArray.from_arrays(starts, pa.array(np.ones(WORDS * n_rows, np.float32)))
        for part in range(2):
            ids = pa.ListArray.from_arrays(starts, pa.array(random.integers(0, 1 << bits, WORDS * n_rows, np.int32)))
            label = pa.array(random.integers(0, 2, n_rows).astype(float))
            pq.write_table(pa.table({"ids": ids, "x": ones, "label": label}), data / f"{part}.parquet")
    return str(data)


def with_limit(limit: int):
    """Return another client of the server that there is, whose messages may be so large."""
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.session import SparkSession

    options = [(f"grpc.max_{way}_message_length", limit) for way in ("send", "receive")]
    return SparkSession.builder.channelBuilder(DefaultChannelBuilder("sc://localhost", options)).create()


def fit(way: str, bits: int, given: argparse.Namespace) -> None:
    """Fit and print a line."""
    from greedystep.spark import GreedystepClassifier, _session

    if way == "closure":
        _session.send = lambda _frame, value: _session.Carried(value)
    rows = write_rows(Path(given.folder), bits)
    with tempfile.TemporaryDirectory() as local:
        settings = {"spark.driver.memory": given.memory, "spark.local.dir": local}
        if given.limit:
            settings["spark.connect.grpc.maxInboundMessageSize"] = str(given.limit << 20)
        spark = session("local[2]", settings, way == "connect")
        frame = (with_limit(given.limit << 20) if given.limit and way == "connect" else spark).read.parquet(rows)
        chosen = GreedystepClassifier(indicesCol="ids", valuesCol="x", passes=given.passes, leastShardRows=1)
        facts: dict[str, object] = {"way": way, "bits": bits, "memory": given.memory, "limit_mb": given.limit or 128}
        try:
            model, facts["seconds"] = timed(lambda: chosen.fit(frame))
            facts["pass_seconds"] = [round(one.seconds, 2) for one in model.summary.passes]
            facts["state_mb"] = round(len(model._state) / 1e6, 1)
        except Exception as failure:
            facts["failed"] = f"{type(failure).__name__}: {failure}"[:600]
        facts["left_mb"] = round(sum(f.stat().st_size for f in Path(local).rglob("*") if f.is_file()) / 1e6)
        told(**facts)
        spark.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, nargs="+", default=[20, 21, 22, 23, 24])
    parser.add_argument("--ways", nargs="+", choices=["classic", "closure", "connect"], default=["classic", "connect"])
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--limit", type=int, default=0, help="megabytes of a message of gRPC; 0: Spark's default, 128")
    parser.add_argument("--memory", default="2g", help="spark.driver.memory")
    parser.add_argument("--folder", default="build/bench-spark", help="where the rows are kept")
    given = parser.parse_args()
    if len(given.bits) == len(given.ways) == 1:
        fit(given.ways[0], given.bits[0], given)
        return
    same = ["--passes", given.passes, "--limit", given.limit, "--memory", given.memory, "--folder", given.folder]
    for bits in given.bits:
        for way in given.ways:
            words = [sys.executable, __file__, "--bits", bits, "--ways", way, *same]
            subprocess.run([str(word) for word in words], check=False)


if __name__ == "__main__":
    main()
