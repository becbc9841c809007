"""How rows lie in partitions: few, many, small, empty, nearly all in one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import greedystep
from greedystep.comparison import command

pytest.importorskip("pyspark", reason="Spark is NOT tested: pyspark is not there")

from spark_models import bits, classifier, csr, log_loss, merged_in_slices, rows_of
from spark_rows import N, pairs, pairs_and_vectors, parquet, planted

from greedystep.spark import GreedystepClassifier


def shard_rows(fitted) -> list[int]:
    return sorted(shard.rows for shard in fitted.summary.passes[-1].shards)


@pytest.mark.every_spark
def test_loss_is_near_that_of_one_machine(frame, model):
    X, y = csr(N)
    alone = greedystep.train(X, y).evaluate(X, y)["log_loss"]
    assert model.summary.n_shards == 4
    assert log_loss(model, frame) < 1.02 * alone


@pytest.mark.every_spark
def test_few_rows_have_the_bits_of_one_machine(frame):
    fitted = GreedystepClassifier(indicesCol="ids", valuesCol="x").fit(frame)
    alone = greedystep.train(*rows_of(frame))
    assert fitted.summary.n_shards == 1
    assert fitted.model.method == alone.method == "optimum"
    np.testing.assert_array_equal(fitted.model.coef, alone.coef)
    np.testing.assert_array_equal(fitted.model.intercept, alone.intercept)


def written_as_libsvm(path, n_rows):
    ids, values, labels = planted(n_rows)
    with path.open("w") as file:
        for row in range(n_rows):
            entries = " ".join(f"{i + 1}:{v}" for i, v in zip(ids[row], values[row]))
            file.write(f"{labels[row]} {entries}\n")
    return path


@pytest.mark.every_spark
def test_the_paper_has_the_last_weights_as_in_the_command(frame):
    fitted = GreedystepClassifier(indicesCol="ids", valuesCol="x", method="paper").fit(frame)
    alone, last = (greedystep.train(*rows_of(frame), method="paper", average=each) for each in ("auto", "last"))
    assert fitted.summary.n_shards == 1
    for model in (alone, last):
        np.testing.assert_array_equal(fitted.model.coef, model.coef)


@pytest.mark.every_spark
@pytest.mark.parametrize("method", ["auto", "optimum"])
def test_rows_that_fit_in_memory_have_the_bytes_of_the_command(spark, tmp_path, method):
    """Model and state, though there are more rows than a shard should have."""
    n = 70_000
    frame = spark.read.parquet(parquet(tmp_path / "rows", pairs(n), [40_000, 20_000, 10_000]))
    fitted = GreedystepClassifier(indicesCol="ids", valuesCol="x", method=method).fit(frame)
    assert (fitted.summary.n_partitions, fitted.summary.n_shards) == (3, 1)
    assert fitted.model.method == "optimum"
    rows, model = written_as_libsvm(tmp_path / "rows.svm", n), tmp_path / "by the command"
    words = ["train", rows, "--method", method, "--loss", "logistic", "-o", model, "--quiet"]
    subprocess.run([command(), *words], check=True)
    fitted.save_model(tmp_path / "by spark")
    for suffix in ("", ".state"):
        assert Path(f"{tmp_path}/by spark{suffix}").read_bytes() == Path(f"{model}{suffix}").read_bytes(), suffix


def test_the_order_of_partitions_does_not_change_an_optimum(spark, frame):
    from pyspark.sql import functions as F

    halves = [frame.where((F.spark_partition_id() < 2) == is_first) for is_first in (True, False)]
    chosen = GreedystepClassifier(indicesCol="ids", valuesCol="x")
    found = [chosen.fit(one.union(other)).model for one, other in (halves, halves[::-1])]
    np.testing.assert_array_equal(found[0].coef, found[1].coef)
    np.testing.assert_array_equal(found[0].intercept, found[1].intercept)


def test_rows_beyond_the_bound_are_learned_in_shards(spark, tmp_path, monkeypatch):
    from greedystep.spark import _passes

    n = 140_000
    frame = spark.read.parquet(parquet(tmp_path / "rows", pairs(n), [n // 2] * 2))
    for bound, method, n_shards in ((8 * n, "optimum", 1), (8 * n - 1, "gsa", 2)):
        monkeypatch.setattr(_passes, "may_fit", lambda rows, entries, outputs, bound=bound: entries <= bound)
        fitted = GreedystepClassifier(indicesCol="ids", valuesCol="x").fit(frame)
        assert (fitted.model.method, fitted.summary.n_shards) == (method, n_shards)


@pytest.mark.every_spark
def test_deltas_have_the_bits_of_whole_states(frame, model, monkeypatch):
    merges = merged_in_slices(monkeypatch, width=7)
    assert bits(classifier().fit(frame)) == bits(model)
    assert merges == list(range(1, len(model.summary.passes) + 1))


@pytest.mark.every_spark
def test_partitions_have_the_bits_of_shards_on_one_machine(frame, model):
    alone = greedystep.train(*rows_of(frame), shards=4)
    assert model.summary.n_shards == 4
    assert model._stored == alone._model.write()


def test_small_partitions_are_put_together(spark, tmp_path):
    frame = spark.read.parquet(parquet(tmp_path / "small", pairs(N), [750] * 16))
    fitted = classifier(passes=1).fit(frame)
    assert (fitted.summary.n_partitions, fitted.summary.n_shards) == (16, 8)
    assert sum(shard_rows(fitted)) == N - fitted.summary.first_rows


def test_empty_partitions_after_all_others_do_not_change_a_bit(spark, tmp_path, frame):
    wider = spark.read.parquet(parquet(tmp_path / "wider", pairs_and_vectors(N), [N // 4] * 4 + [0] * 2))
    chosen = classifier(passes=1)
    fitted = chosen.fit(wider)
    assert fitted.summary.n_partitions == 6
    assert bits(fitted) == bits(chosen.fit(frame))


def test_an_empty_partition_before_others_is_no_shard(spark, tmp_path, frame, monkeypatch):
    from pyspark.sql import functions as F

    rest = frame.where(F.spark_partition_id() != 1)
    whole = classifier(passes=2).fit(rest)
    assert whole.summary.n_partitions == 4
    assert [shard.partition for shard in whole.summary.passes[-1].shards] == [0, 2, 3]
    assert shard_rows(whole) == [N // 4] * 3
    alone = greedystep.train(*rows_of(rest)).evaluate(*rows_of(rest))["log_loss"]
    assert log_loss(whole, rest) < 1.02 * alone
    merges = merged_in_slices(monkeypatch, width=20)
    assert bits(classifier(passes=2).fit(rest)) == bits(whole)
    assert merges == [1, 2]


def test_a_partition_of_nearly_all_rows_is_learned_with_the_others(spark, tmp_path, model, frame, monkeypatch):
    sizes = [N * 9 // 10, *[N // 40] * 4]
    uneven = spark.read.parquet(parquet(tmp_path / "uneven", pairs(N), sizes))
    fitted = classifier(least=min(sizes)).fit(uneven)
    assert shard_rows(fitted) == sorted(sizes)
    assert log_loss(fitted, frame) < 1.04 * log_loss(model, frame)
    merges = merged_in_slices(monkeypatch, width=20)
    assert bits(classifier(least=min(sizes)).fit(uneven)) == bits(fitted)
    assert merges
