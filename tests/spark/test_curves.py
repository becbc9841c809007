"""Columns that bend, in one task and in shards: the model of one machine."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import greedystep
from greedystep import distributed
from greedystep._core import State

pytest.importorskip("pyspark", reason="Spark is NOT tested: pyspark is not there")

from spark_models import bits, items, merged_in_slices
from spark_rows import parquet
from spark_vectors import dense_vectors, sparse_vectors, with_vectors

from greedystep.spark import GreedystepClassificationModel, GreedystepClassifier, GreedystepRegressor, _passes

N = 8000
NAMES = ["wave", "edge", "log", "line"]


def bent(n_rows: int = N, seed: int = 1):
    """Return rows of which all columns but the last bend, and what they add up to."""
    random = np.random.default_rng(seed)
    X = np.stack([random.uniform(-2, 2, n_rows) for _ in NAMES], 1)
    X[:, 2] = np.exp(X[:, 2])
    X[random.random(X.shape) < 0.3] = 0  # so that sparse rows are sparse
    X = X.astype(np.float32).astype(np.float64)
    log = np.log(np.where(X[:, 2] > 0, X[:, 2], 1))
    return X, np.sin(3 * X[:, 0]) + np.abs(X[:, 1]) + log + X[:, 3] / 2


def table_of(n_rows: int = N, seed: int = 1):
    """Return them as plain columns and as vectors of both sorts, with a class and a number to predict."""
    X, score = bent(n_rows, seed)
    random = np.random.default_rng(seed + 1)
    came = (3 * (score - 0.8) + random.logistic(size=n_rows) > 0).astype(float)
    number = score + 0.3 * random.normal(size=n_rows)
    table = pa.table({**{name: X[:, j] for j, name in enumerate(NAMES)}, "label": came, "number": number})
    is_there = X != 0
    starts = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))])
    vectors = {
        "dense": dense_vectors(X),
        "sparse": sparse_vectors(starts, np.nonzero(is_there)[1], X[is_there], len(NAMES)),
    }
    return with_vectors(table, vectors)


@pytest.fixture(scope="module")
def bent_frame(spark, tmp_path_factory):
    """Them in four partitions."""
    return spark.read.parquet(parquet(tmp_path_factory.mktemp("bent") / "four", table_of(), [N // 4] * 4))


def knots(state) -> list[tuple[str, list[float]]]:
    return sorted((one.name, one.knots.tolist()) for one in greedystep.Model(state.finish()).curves())


def knots_of_replicas(monkeypatch) -> list[list]:
    """Return a list that will have the knots of every whole replica."""
    found = []

    def noted(training, learned):
        parts = [part for one in learned for part in one]
        found.extend(knots(State.read(part.content)) for part in parts)
        return distributed.merge(training, [parts])

    monkeypatch.setattr(_passes, "merge", noted)
    return found


@pytest.mark.every_spark
def test_few_rows_bend_as_on_one_machine(bent_frame, tmp_path):
    """In a pipeline that is stored and loaded."""
    from pyspark.ml import Pipeline, PipelineModel

    fitted = Pipeline(stages=[GreedystepClassifier(inputCols=NAMES, curves="auto")]).fit(bent_frame)
    fitted.save(str(tmp_path / "pipeline"))
    loaded = PipelineModel.load(str(tmp_path / "pipeline"))
    model = loaded.stages[0]
    assert (model.model.method, model.summary.n_shards, model.numFeatures) == ("optimum", 1, len(NAMES))
    assert model.model.summary["curves"] == len(NAMES)
    table = bent_frame.select("label", *NAMES).toPandas()
    alone = greedystep.train(table, label="label", curves="auto", loss="logistic")
    assert model._stored == alone._model.write()
    ours = items(loaded.transform(bent_frame), "probability", 1)
    np.testing.assert_array_equal(ours, alone.predict_proba(table)[:, 1])


@pytest.mark.every_spark
@pytest.mark.parametrize("column", ["dense", "sparse"])
def test_partitions_bend_as_shards_on_one_machine(bent_frame, tmp_path, monkeypatch, column):
    """All replicas have the same knots."""
    table = bent_frame.select(*NAMES, "label").toPandas()
    X, y = table[NAMES].to_numpy(np.float32), table["label"].to_numpy()
    replicas = knots_of_replicas(monkeypatch)
    fitted = GreedystepClassifier(featuresCol=column, leastShardRows=N // 4, curves="auto").fit(bent_frame)
    alone = greedystep.train(X, y, curves="auto", shards=4)
    assert fitted.summary.n_shards == 4
    assert fitted._stored == alone._model.write()
    assert len(fitted.model.curves()) == fitted.numFeatures == len(NAMES)
    assert replicas == [knots(fitted.model._need_state())] * 4 * len(fitted.summary.passes)
    path = str(tmp_path / "model")
    fitted.save(path)
    loaded = GreedystepClassificationModel.load(path)
    assert bits(loaded) == bits(fitted)
    np.testing.assert_array_equal(items(loaded.transform(bent_frame), "probability", 1), alone.predict_proba(X)[:, 1])


def test_numbers_bend_with_any_number_of_partitions(spark, tmp_path, monkeypatch):
    """By deltas as well."""
    table, new = (table_of(seed=seed).select([*NAMES, "number"]) for seed in (1, 3))
    models = [greedystep.train(table, label="number", curves=how) for how in ("auto", "off")]
    alone, lines = (one.evaluate(new)["rmse"] for one in models)
    assert alone < 0.5 * lines
    merges = merged_in_slices(monkeypatch, width=7)
    for n_partitions in (1, 2):
        folder = tmp_path / str(n_partitions)
        frame = spark.read.parquet(parquet(folder, table, [N // n_partitions] * n_partitions))
        chosen = GreedystepRegressor(inputCols=NAMES, labelCol="number", leastShardRows=N // 2, curves="auto")
        fitted = chosen.fit(frame)
        assert fitted.summary.n_shards == n_partitions
        assert fitted.model.method == "gsa"
        assert fitted.model.evaluate(new)["rmse"] < 1.05 * alone
    assert merges
