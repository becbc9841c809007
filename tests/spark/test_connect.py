"""What only Spark Connect has: limits of messages, and a server that keeps queries. All else runs both ways."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="Spark is NOT tested: pyspark is not there")

from spark_models import classifier
from spark_rows import parquet

pytestmark = pytest.mark.ways("connect")


def test_there_is_no_spark_context(spark):
    with pytest.raises(AttributeError, match="JVM_ATTRIBUTE_NOT_SUPPORTED"):
        _ = spark.sparkContext


@pytest.mark.every_spark
def test_a_state_that_is_too_large_says_what_to_set(spark, tmp_path):
    random, n_rows, n_words = np.random.default_rng(1), 6000, 64
    ids = random.integers(0, 1 << 20, (n_rows, n_words)).tolist()
    ones, label = [[1.0] * n_words] * n_rows, random.integers(0, 2, n_rows).astype(float)
    table = pa.table({"ids": ids, "x": ones, "label": label})
    frame = spark.read.parquet(parquet(tmp_path / "rows", table, [n_rows // 2] * 2))
    with pytest.raises(ValueError, match=r"cannot send a state of \d MiB to Spark Connect.*maxInboundMessageSize"):
        classifier().fit(frame)


def test_the_cache_of_queries_is_as_it_was(spark, frame):
    name = "spark.connect.session.planCache.enabled"
    for value in ("true", "false"):
        spark.conf.set(name, value)
        classifier(passes=1).fit(frame)
        assert spark.conf.get(name) == value
    spark.conf.unset(name)
