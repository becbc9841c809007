"""A real standalone cluster on loopback, and rows for it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLUSTER = ROOT / "tests" / "spark" / "cluster.sh"


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in Path(item.path).parents:
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def master():
    """The address of a cluster of two workers, one core each."""
    if not CLUSTER.exists():
        pytest.skip("the script that starts a cluster is not here")
    with tempfile.TemporaryDirectory(prefix="greedystep-cluster-") as folder:
        env = {**os.environ, "PYTHON": sys.executable}
        started = subprocess.run(
            ["bash", CLUSTER, "start", folder], env=env, capture_output=True, text=True, check=False
        )
        if started.returncode != 0:
            pytest.skip(f"no cluster: {started.stderr[-500:]}")
        try:
            yield started.stdout.strip()
        finally:
            subprocess.run(["bash", CLUSTER, "stop", folder], check=True)


@pytest.fixture(scope="session")
def spark(master):
    """A session on the cluster."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(master)
        .appName("greedystep tests")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executor.cores", "1")
        .config("spark.executor.memory", "1g")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.files.maxPartitionBytes", "1g")
        .config("spark.sql.files.openCostInBytes", "1g")  # a file is a partition
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
