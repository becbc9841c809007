"""Estimators on a standalone cluster: two executors, each a process of its own."""

from __future__ import annotations

import hashlib
import inspect
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import greedystep

pytest.importorskip("pyspark", reason="Spark is NOT tested: pyspark is not there")

from spark_rows import pairs, parquet, planted, with_vectors

spark_classes = pytest.importorskip("greedystep.spark")
GSAClassifier, GSARegressor = spark_classes.GSAClassifier, spark_classes.GSARegressor

N = 12_000
LEAST = 1500  # so that few rows make several shards


def bits(model) -> str:
    return hashlib.sha256(model.model._need_state().write()).hexdigest()


def log_loss(frame, column: str = "probability") -> float:
    rows = frame.select(column, "label").collect()
    return float(np.mean([-np.log(max(row[0][int(row[1])], 1e-15)) for row in rows]))


def csr(n_rows: int, n_classes: int = 2, seed: int = 1):
    ids, values, labels = planted(n_rows, n_classes, seed=seed)
    starts = np.arange(0, 8 * n_rows + 1, 8)
    return sparse.csr_matrix((values.ravel().astype(np.float32), ids.ravel(), starts)), labels


def rows_of(frame):
    """Return features and labels in the frame's order: files come in the order of their sizes."""
    rows = frame.collect()
    values = np.array([row.x for row in rows], np.float32).ravel()
    ids = np.array([row.ids for row in rows]).ravel()
    X = sparse.csr_matrix((values, ids, np.arange(0, 8 * len(rows) + 1, 8)), (len(rows), 60))
    return X, np.array([row.label for row in rows])


@pytest.fixture(scope="session")
def frame(spark, tmp_path_factory):
    """Rows in four partitions."""
    folder = tmp_path_factory.mktemp("rows") / "four"
    return spark.read.parquet(parquet(folder, pairs(N), [3000] * 4))


@pytest.fixture(scope="session")
def model(frame):
    return estimator().fit(frame)


def estimator(least: int = LEAST, **more):
    return GSAClassifier(indicesCol="ids", valuesCol="x", leastShardRows=least, **more)


def test_loss_is_near_that_of_one_machine(frame, model):
    X, y = csr(N)
    alone = greedystep.train(X, y).evaluate(X, y)["log_loss"]
    assert model.summary.n_shards == 4
    assert log_loss(model.transform(frame)) < 1.02 * alone


def test_few_rows_have_the_bits_of_one_machine(frame):
    fitted = GSAClassifier(indicesCol="ids", valuesCol="x").fit(frame)
    alone = greedystep.train(*rows_of(frame))
    assert fitted.summary.n_shards == 1
    np.testing.assert_array_equal(fitted.model.coef, alone.coef)
    np.testing.assert_array_equal(fitted.model.intercept, alone.intercept)


def test_two_runs_have_the_same_bits(frame, model):
    assert bits(estimator().fit(frame)) == bits(model)


def test_slices_have_the_bits_of_whole_states(frame, model, monkeypatch):
    from greedystep.spark import _merge

    monkeypatch.setattr(_merge, "WHOLE_BYTES", 0)
    monkeypatch.setattr(_merge, "slice_features", lambda *_: 7)
    assert bits(estimator().fit(frame)) == bits(model)


@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
def test_vectors_are_learned_like_lists(frame, model, dense):
    vectors = with_vectors(frame, dense=dense)
    fitted = GSAClassifier(leastShardRows=LEAST).fit(vectors)
    np.testing.assert_array_equal(fitted.model.coef, model.model.coef)
    ours = fitted.transform(vectors).select("probability").collect()
    theirs = model.transform(frame).select("probability").collect()
    assert [row[0].toArray().tolist() for row in ours] == [row[0].toArray().tolist() for row in theirs]


def test_a_frame_may_have_both_sorts_of_vectors(spark, tmp_path):
    from pyspark.ml.linalg import Vectors

    rows = [(float(i % 2), Vectors.dense([1.0, i % 2]) if i % 3 else Vectors.sparse(2, [0], [1.0])) for i in range(600)]
    frame = spark.createDataFrame(rows, ["label", "features"])
    found = GSAClassifier().fit(frame).transform(frame).collect()
    alone = greedystep.train(np.array([row[1].toArray() for row in rows]), [r[0] for r in rows])
    margins = alone.decision_function(np.array([row.features.toArray() for row in found]))
    assert [row.rawPrediction[1] for row in found] == pytest.approx(margins.tolist(), rel=0.05)


def test_arrays_are_learned_like_dense_rows(spark, tmp_path):
    X, y = csr(3000, 3)
    table = pa.table({"features": X.toarray().astype(np.float64).tolist(), "label": y})
    frame = spark.read.parquet(parquet(tmp_path / "arrays", table, [1000, 2000]))
    fitted = GSAClassifier().fit(frame)
    rows = frame.collect()
    X = np.array([row.features for row in rows], np.float32)
    alone = greedystep.train(X, np.array([row.label for row in rows]))
    assert fitted.classes == [0, 1, 2]
    np.testing.assert_allclose(
        [row.probability.toArray() for row in fitted.transform(frame).collect()],
        alone.predict_proba(X),
        rtol=1e-9,
    )


def words(n_rows: int):
    random = np.random.default_rng(5)
    city = random.choice(["oslo", "lima", "rome"], n_rows)
    age = random.integers(18, 80, n_rows)
    age_or_null = [None if i % 50 == 0 else int(a) for i, a in enumerate(age)]
    chance = 1 / (1 + np.exp(-(1.5 * (city == "oslo") - 1.0 + (age - 50) / 20)))
    label = np.where(random.random(n_rows) < chance, "yes", "no")
    noise = random.random(n_rows)  # so that rows differ
    return pa.table({"city": city, "age": age_or_null, "noise": noise, "clicked": label})


def test_columns_of_words_and_numbers_are_those_of_the_command(spark, tmp_path):
    table = words(6000)
    frame = spark.read.parquet(parquet(tmp_path / "words", table, [3000, 3000]))
    chosen = {"inputCols": ["city", "age", "noise"], "labelCol": "clicked"}
    alone = greedystep.train(table, label="clicked")
    small = GSAClassifier(**chosen).fit(frame)
    assert sorted(small.model.schema.split()) == sorted(alone.schema.split())
    assert small.classes == ["no", "yes"]
    many = GSAClassifier(leastShardRows=1500, **chosen).fit(frame)
    assert many.summary.n_shards == 2
    found = many.transform(frame).collect()
    assert {row.prediction for row in found} == {"no", "yes"}
    alone = greedystep.train(frame.toPandas(), label="clicked")
    theirs = alone.predict_proba(frame.toPandas())
    for fitted, near in ((small, 1e-6), (many, 0.1)):
        ours = [row.probability.toArray() for row in fitted.transform(frame).collect()]
        assert np.abs(np.array(ours) - theirs).max() < near
    assert "city=oslo" in dict(many.model.strongest(20))


def test_numbers_are_learned(spark, tmp_path):
    frame = spark.read.parquet(parquet(tmp_path / "numbers", pairs(N, 1), [4000] * 3))
    fitted = GSARegressor(indicesCol="ids", valuesCol="x", leastShardRows=LEAST).fit(frame)
    rows = fitted.transform(frame).select("prediction", "label").collect()
    errors = np.array([row[0] - row[1] for row in rows])
    X, y = csr(N, 1)
    alone = greedystep.train(X, y).evaluate(X, y)["rmse"]
    assert np.sqrt(np.mean(errors**2)) < 1.02 * alone


def test_empty_and_uneven_partitions_are_learned(spark, tmp_path, model):
    sizes = [0, 600, 10_800, 0, 600]
    frame = spark.read.parquet(parquet(tmp_path / "uneven", pairs(N), sizes))
    assert frame.rdd.getNumPartitions() == 5
    fitted = estimator(least=500).fit(frame)
    assert sorted(s.rows for s in fitted.summary.passes[-1].shards) == [600, 600, 10_800]
    assert log_loss(fitted.transform(frame)) < 1.02 * log_loss(model.transform(frame))


def test_small_partitions_are_put_together(spark, tmp_path):
    frame = spark.read.parquet(parquet(tmp_path / "small", pairs(N), [300] * 40))
    fitted = estimator(passes=1).fit(frame)
    assert (fitted.summary.n_partitions, fitted.summary.n_shards) == (40, 8)
    assert sum(shard.rows for shard in fitted.summary.passes[0].shards) == (N - fitted.summary.first_rows)


def test_weights_count_as_many_rows(spark, tmp_path):
    table = pairs(N)
    label = table.column("label").to_numpy()
    heavy = table.append_column("w", pa.array(np.where(label == 1, 8.0, 2.0)))
    frame = spark.read.parquet(parquet(tmp_path / "weights", heavy, [6000] * 2))
    fitted = estimator(weightCol="w").fit(frame)
    plain = estimator().fit(frame)
    shift = np.mean(
        [
            a.rawPrediction[1] - b.rawPrediction[1]
            for a, b in zip(fitted.transform(frame).collect(), plain.transform(frame).collect())
        ]
    )
    assert shift == pytest.approx(np.log(4), abs=0.3)


# ---- lost executors -----------------------------------------------------------------------------


def executors() -> list[int]:
    """Return the processes of executors of this cluster's workers."""
    found = subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend"], capture_output=True, text=True, check=False)
    me = os.getpid()
    mine = []
    for word in found.stdout.split():
        try:
            line = Path(f"/proc/{word}/cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if "greedystep-cluster-" in Path(f"/proc/{word}/cwd").resolve().as_posix() and (
            "java" in line and int(word) != me
        ):
            mine.append(int(word))
    return mine


def test_a_lost_executor_does_not_change_a_bit(spark, tmp_path, monkeypatch):
    from greedystep.spark import _merge

    monkeypatch.setattr(_merge, "WHOLE_BYTES", 0)  # slices: what a stage has written is lost too
    n = 200_000
    frame = spark.read.parquet(parquet(tmp_path / "many", pairs(n), [n // 8] * 8))
    chosen = estimator(least=n // 8, passes=3)
    undisturbed = bits(chosen.fit(frame))
    before = executors()
    assert len(before) == 2
    killed = []

    def kill_in_mid_pass():
        tracker = spark.sparkContext.statusTracker()
        for _ in range(2000):
            for job in tracker.getActiveJobsIds():
                info = tracker.getJobInfo(job)
                for stage in info.stageIds if info else ():
                    told = tracker.getStageInfo(stage)
                    if told and told.numTasks == 8 and 2 <= told.numCompletedTasks <= 6:
                        passes = [j for j in tracker.getJobIdsForGroup(None) if j < job]
                        if len(passes) >= seen + 3:  # counting and the first rows are over
                            os.kill(before[0], signal.SIGKILL)
                            killed.append(stage)
                            return
            time.sleep(0.01)

    seen = len(spark.sparkContext.statusTracker().getJobIdsForGroup(None))
    thread = threading.Thread(target=kill_in_mid_pass)
    thread.start()
    disturbed = bits(chosen.fit(frame))
    thread.join()
    assert killed, "no pass was met halfway"
    assert disturbed == undisturbed


# ---- as a citizen of pyspark.ml -----------------------------------------------------------------


def test_a_model_is_stored_and_loaded(frame, model, tmp_path):
    path = str(tmp_path / "model")
    model.write().overwrite().save(path)
    loaded = spark_classes.GSAClassificationModel.load(path)
    assert bits(loaded) == bits(model)
    assert loaded.summary == model.summary
    assert loaded.uid == model.uid
    assert loaded.getOrDefault("indicesCol") == "ids"
    assert log_loss(loaded.transform(frame)) == log_loss(model.transform(frame))


@pytest.mark.parametrize("kind", [GSAClassifier, GSARegressor])
def test_keywords_are_the_parameters_with_their_defaults(kind):
    made = kind()
    told = {name: one.default for name, one in inspect.signature(kind).parameters.items()}
    values = {one.name: made.getOrDefault(one) if made.isDefined(one) else None for one in made.params}
    assert told.keys() == values.keys()
    assert {name: value or None for name, value in told.items()} == {name: v or None for name, v in values.items()}


def test_an_estimator_is_stored_and_loaded(tmp_path, spark):
    path = str(tmp_path / "estimator")
    estimator(passes=3).save(path)
    loaded = GSAClassifier.load(path)
    assert loaded.getOrDefault("passes") == 3
    assert loaded.getOrDefault("leastShardRows") == LEAST


def test_the_command_reads_a_saved_model(frame, model, tmp_path):
    path = tmp_path / "plain"
    model.save_model(path)
    X, _ = rows_of(frame)
    loaded = greedystep.load(path)
    ours = [row.probability[1] for row in model.transform(frame).collect()]
    np.testing.assert_array_equal(loaded.predict_proba(X)[:, 1], ours)


def test_it_is_a_stage_of_a_pipeline(spark, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import VectorAssembler

    random = np.random.default_rng(2)
    X = random.normal(size=(2000, 2))
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "label": (X[:, 0] > X[:, 1]).astype(float)})
    frame = spark.read.parquet(parquet(tmp_path / "rows", table, [1000, 1000]))
    stages = [VectorAssembler(inputCols=["a", "b"], outputCol="features"), GSAClassifier()]
    fitted = Pipeline(stages=stages).fit(frame)
    fitted.save(str(tmp_path / "pipeline"))
    found = PipelineModel.load(str(tmp_path / "pipeline")).transform(frame)
    assert found.where("prediction = label").count() > 1950
    assert found.columns == [
        "a",
        "b",
        "label",
        "features",
        "rawPrediction",
        "probability",
        "prediction",
    ]


def test_cross_validation_chooses_among_parameters(frame):
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    chosen = GSAClassifier(indicesCol="ids", valuesCol="x")
    grid = ParamGridBuilder().addGrid(chosen.fitIntercept, [True, False]).build()
    validator = CrossValidator(
        estimator=chosen,
        estimatorParamMaps=grid,
        evaluator=BinaryClassificationEvaluator(),
        numFolds=2,
        seed=1,
    )
    fitted = validator.fit(frame)
    assert min(fitted.avgMetrics) > 0.85


def test_mistakes_are_told(spark, frame):
    with pytest.raises(ValueError, match="there is no column 'features'; there are ids, x, label"):
        GSAClassifier().fit(frame)
    with pytest.raises(ValueError, match="named by inputCols"):
        GSAClassifier(featuresCol="label").fit(frame)
    with pytest.raises(ValueError, match="nothing to tell apart"):
        estimator().fit(frame.where("label = 1"))
    with pytest.raises(ValueError, match="no rows"):
        estimator().fit(frame.where("label = 7"))
