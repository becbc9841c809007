"""A session on a real standalone cluster on loopback, rows in it, and a model of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in Path(item.path).parents:
            item.add_marker(pytest.mark.spark)


def pytest_generate_tests(metafunc):
    """Run every test on a session both ways, or those that it is marked with."""
    if "spark" in metafunc.fixturenames:
        marked = metafunc.definition.get_closest_marker("ways")
        metafunc.parametrize("spark", marked.args if marked else ("classic", "connect"), indirect=True, scope="session")


@pytest.fixture(scope="session")
def master(tmp_path_factory):
    """The address of a cluster of two workers, one core each."""
    from spark_cluster import SHORT_LIVED, cluster

    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Spark is NOT tested: there is no JRE")
    os.environ.setdefault("JAVA_TOOL_OPTIONS", SHORT_LIVED)
    with cluster(tmp_path_factory.mktemp("cluster")) as address:
        yield address


@pytest.fixture(scope="session")
def spark(request, master):
    """A session on the cluster: a classic one, or one of Spark Connect, whose server has the executors."""
    import pyspark
    from spark_cluster import session

    is_connect = request.param == "connect"
    if is_connect and pyspark.__version__ < "4":
        pytest.skip("Spark Connect is supported from Spark 4 on")
    settings = {
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        # A task that takes longer than any that nobody slows is run twice: test_faults.py.
        "spark.speculation": "true",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "10s",
        "spark.connect.grpc.maxInboundMessageSize": str(2 << 20),  # test_connect.py
    }
    made = session(master, settings, is_connect)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def frame(spark, tmp_path_factory):
    """Rows in four partitions, each as lists, as a sparse vector and as a dense one."""
    from spark_rows import N, pairs_and_vectors, parquet

    folder = tmp_path_factory.mktemp("rows") / "four"
    return spark.read.parquet(parquet(folder, pairs_and_vectors(N), [N // 4] * 4))


@pytest.fixture(scope="session")
def model(frame):
    """A model of them."""
    from spark_models import classifier

    return classifier().fit(frame)
