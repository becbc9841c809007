"""A standalone cluster on loopback (cluster.sh) and sessions on it, for these tests and for bench/spark."""

from __future__ import annotations

import os
import socket
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


def connect_settings() -> dict[str, str]:
    """Return what makes a session one of Spark Connect, at a free port that clients of this process connect to."""
    from pyspark.sql.connect.client import DefaultChannelBuilder

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    DefaultChannelBuilder.default_port = staticmethod(lambda: port)
    return {"spark.api.mode": "connect", "spark.connect.grpc.binding.port": str(port)}


def session(master: str, settings: dict[str, str], is_connect: bool = False):
    """Return a session whose executors have this Python.

    Parameters
    ----------
    master : str
        A cluster's address, or local[N].
    settings : dict
        Spark's, in addition to those of loopback.
    is_connect : bool
        Start a server of Spark Connect there, and return a client of it.
    """
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("greedystep")
    for name, value in {**LOOPBACK, **settings, **(connect_settings() if is_connect else {})}.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    if not is_connect:
        found.sparkContext.setLogLevel("ERROR")
    return found
