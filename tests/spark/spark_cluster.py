"""A standalone cluster on loopback (cluster.sh) and sessions on it, for these tests and for bench/spark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SCRIPT = Path(__file__).with_name("cluster.sh")

#: For JVMs that live for a minute: compiling twice and collecting in parallel took half of the processors' time.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

LOOPBACK = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.port": "0",
    "spark.ui.showConsoleProgress": "false",
    "spark.executor.cores": "1",
    "spark.sql.files.maxPartitionBytes": "4g",
    "spark.sql.files.openCostInBytes": "4g",  # a file is a partition
}


@contextmanager
def cluster(folder: str | os.PathLike[str], worker_memory: str = "2g") -> Iterator[str]:
    """Start a Master and two Workers of one core each; yield the master's address, and stop them after that."""
    env = {**os.environ, "PYTHON": sys.executable, "WORKER_MEMORY": worker_memory}
    command = ["bash", str(SCRIPT), "start", str(folder)]
    try:
        started = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if started.returncode != 0:
            raise RuntimeError(f"the cluster did not start: {started.stderr[-2000:]}")
        yield started.stdout.strip()
    finally:
        subprocess.run(["bash", str(SCRIPT), "stop", str(folder)], check=True)


def session(master: str, settings: dict[str, str]):
    """Return a session whose executors have this Python.

    Parameters
    ----------
    master : str
        A cluster's address, or local[N].
    settings : dict
        Spark's, in addition to those of loopback.
    """
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("greedystep")
    for name, value in {**LOOPBACK, **settings}.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("ERROR")
    return found
