"""Estimators on a standalone cluster: two executors, each a process of its own."""

from __future__ import annotations

import inspect
import subprocess

import numpy as np
import pyarrow as pa
import pytest

import greedystep
from greedystep.comparison import command

pytest.importorskip("pyspark", reason="Spark is NOT tested: pyspark is not there")

from spark_models import LEAST, bits, classifier, csr, items, log_loss, rows_of
from spark_rows import N, pairs, parquet

from greedystep.spark import GreedystepClassificationModel, GreedystepClassifier, GreedystepRegressor


def test_two_runs_have_the_same_bits(frame, model):
    assert bits(classifier().fit(frame)) == bits(model)


@pytest.mark.parametrize("column", [pytest.param("sparse", marks=pytest.mark.every_spark), "dense"])
def test_vectors_are_learned_like_lists(frame, model, column):
    fitted = GreedystepClassifier(featuresCol=column, leastShardRows=LEAST).fit(frame)
    np.testing.assert_array_equal(fitted.model.coef, model.model.coef)
    for made in ("probability", "rawPrediction"):
        ours, theirs = (items(one.transform(frame), made, 1) for one in (fitted, model))
        np.testing.assert_array_equal(ours, theirs)


def test_a_frame_may_have_both_sorts_of_vectors(spark, tmp_path):
    from pyspark.ml.linalg import Vectors

    rows = [(float(i % 2), Vectors.dense([1.0, i % 2]) if i % 3 else Vectors.sparse(2, [0], [1.0])) for i in range(600)]
    frame = spark.createDataFrame(rows, ["label", "features"])
    found = GreedystepClassifier().fit(frame).transform(frame).collect()
    alone = greedystep.train(np.array([row[1].toArray() for row in rows]), [r[0] for r in rows])
    margins = alone.decision_function(np.array([row.features.toArray() for row in found]))
    assert [row.rawPrediction[1] for row in found] == pytest.approx(margins.tolist(), rel=0.05)


def test_arrays_are_learned_like_dense_rows(spark, tmp_path):
    X, y = csr(3000, 3)
    table = pa.table({"features": X.toarray().astype(np.float64).tolist(), "label": y})
    frame = spark.read.parquet(parquet(tmp_path / "arrays", table, [1000, 2000]))
    fitted = GreedystepClassifier().fit(frame)
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
    small = GreedystepClassifier(**chosen).fit(frame)
    assert sorted(small.model.schema.split()) == sorted(alone.schema.split())
    assert small.classes == ["no", "yes"]
    many = GreedystepClassifier(leastShardRows=1500, **chosen).fit(frame)
    assert many.summary.n_shards == 2
    found = many.transform(frame).collect()
    assert {row.prediction for row in found} == {"no", "yes"}
    alone = greedystep.train(frame.toPandas(), label="clicked")
    theirs = alone.predict_proba(frame.toPandas())
    for fitted, near in ((small, 1e-6), (many, 0.15)):
        ours = [row.probability.toArray() for row in fitted.transform(frame).collect()]
        assert np.abs(np.array(ours) - theirs).max() < near
    assert "city=oslo" in [one.name for one in many.model.strongest(20)]


def table_with_gaps(n_rows: int):
    """Return rows whose gaps are frequent in the second half only, and of which every hundredth has no label."""
    random = np.random.default_rng(6)
    age, noise = random.integers(18, 80, n_rows), random.normal(size=n_rows)
    is_gap = random.random(n_rows) < np.where(np.arange(n_rows) < n_rows // 2, 0.01, 0.3)
    label = (age / 20 - 2.5 + is_gap + random.logistic(size=n_rows) > 0).astype(float)
    city = random.choice(["oslo", "lima"], n_rows)
    return pa.table(
        {
            "came": pa.array(label, mask=np.arange(n_rows) % 100 == 7),
            "age": pa.array(age, mask=is_gap),
            "city": pa.array(city, mask=random.random(n_rows) < 0.1),
            "noise": pa.array(np.where(random.random(n_rows) < 0.1, np.nan, noise)),
        }
    )


@pytest.mark.every_spark
@pytest.mark.parametrize("n_shards", [1, 2])
def test_gaps_are_filled_to_the_bytes_of_the_command(spark, tmp_path, n_shards):
    table = table_with_gaps(6000)
    frame = spark.read.parquet(parquet(tmp_path / "gaps", table, [3000, 3000]))
    chosen = {"inputCols": ["age", "city", "noise"], "labelCol": "came", "leastShardRows": 1500}
    fitted = GreedystepClassifier(**chosen if n_shards > 1 else {**chosen, "leastShardRows": 10_000}).fit(frame)
    assert fitted.summary.n_shards == n_shards
    frame.toPandas()[table.column_names].to_csv(tmp_path / "rows.csv", index=False)
    words = ["train", tmp_path / "rows.csv", "--label", "came", "--loss", "logistic", "--quiet"]
    words += ["--shards", "2"] if n_shards > 1 else []
    subprocess.run([command(), *words, "-o", tmp_path / "by the command"], check=True)
    fitted.save_model(tmp_path / "by spark")
    assert (tmp_path / "by spark").read_bytes() == (tmp_path / "by the command").read_bytes()
    ours = np.array([row.probability.toArray() for row in fitted.transform(frame).collect()])
    np.testing.assert_array_equal(ours, fitted.model.predict_proba(tmp_path / "rows.csv"))


def test_numbers_are_learned(spark, tmp_path):
    frame = spark.read.parquet(parquet(tmp_path / "numbers", pairs(N, 1), [4000] * 3))
    fitted = GreedystepRegressor(indicesCol="ids", valuesCol="x", leastShardRows=LEAST).fit(frame)
    rows = fitted.transform(frame).select("prediction", "label").collect()
    errors = np.array([row[0] - row[1] for row in rows])
    X, y = csr(N, 1)
    alone = greedystep.train(X, y).evaluate(X, y)["rmse"]
    assert np.sqrt(np.mean(errors**2)) < 1.02 * alone


def test_weights_count_as_many_rows(spark, tmp_path):
    table = pairs(N)
    label = table.column("label").to_numpy()
    heavy = table.append_column("w", pa.array(np.where(label == 1, 8.0, 2.0)))
    frame = spark.read.parquet(parquet(tmp_path / "weights", heavy, [6000] * 2))
    fitted = classifier(weightCol="w", passes=2).fit(frame)
    plain = classifier(passes=2).fit(frame)
    margins, plain_margins = (items(made.transform(frame), "rawPrediction", 1) for made in (fitted, plain))
    shift = np.mean(margins - plain_margins)
    assert shift == pytest.approx(np.log(4), abs=0.3)


@pytest.mark.parametrize("least", [LEAST, 10 * N], ids=["in shards", "in one task"])
def test_a_common_factor_of_weights_changes_nothing(spark, tmp_path, least):
    table = pairs(N)
    weights = np.random.default_rng(1).integers(0, 12, N) / 4
    found = []
    for factor in (1, 2):
        heavy = table.append_column("w", pa.array(weights * factor))
        frame = spark.read.parquet(parquet(tmp_path / str(factor), heavy, [6000] * 2))
        found.append(classifier(least, weightCol="w", passes=2).fit(frame).model)
    np.testing.assert_array_equal(found[0].coef, found[1].coef)
    np.testing.assert_array_equal(found[0].intercept, found[1].intercept)


# ---- as a citizen of pyspark.ml -----------------------------------------------------------------


@pytest.mark.every_spark
def test_a_model_is_stored_and_loaded(frame, model, tmp_path):
    path = str(tmp_path / "model")
    model.write().overwrite().save(path)
    loaded = GreedystepClassificationModel.load(path)
    assert bits(loaded) == bits(model)
    assert loaded.summary == model.summary
    assert loaded.uid == model.uid
    assert loaded.getOrDefault("indicesCol") == "ids"
    assert log_loss(loaded, frame) == log_loss(model, frame)


@pytest.mark.parametrize("kind", [GreedystepClassifier, GreedystepRegressor])
def test_keywords_are_the_parameters_with_their_defaults(kind):
    made = kind()
    told = {name: one.default for name, one in inspect.signature(kind).parameters.items()}
    values = {one.name: made.getOrDefault(one) if made.isDefined(one) else None for one in made.params}
    assert told.keys() == values.keys()
    assert {name: value or None for name, value in told.items()} == {name: v or None for name, v in values.items()}


def test_an_estimator_is_stored_and_loaded(tmp_path, spark):
    path = str(tmp_path / "estimator")
    classifier(passes=3).save(path)
    loaded = GreedystepClassifier.load(path)
    assert loaded.getOrDefault("passes") == 3
    assert loaded.getOrDefault("leastShardRows") == LEAST


def test_the_command_reads_a_saved_model(frame, model, tmp_path):
    path = tmp_path / "plain"
    model.save_model(path)
    X, _ = rows_of(frame)
    loaded = greedystep.load(path)
    ours = items(model.transform(frame), "probability", 1)
    np.testing.assert_array_equal(loaded.predict_proba(X)[:, 1], ours)


def test_it_is_a_stage_of_a_pipeline(spark, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import VectorAssembler

    random = np.random.default_rng(2)
    X = random.normal(size=(2000, 2))
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "label": (X[:, 0] > X[:, 1]).astype(float)})
    frame = spark.read.parquet(parquet(tmp_path / "rows", table, [1000, 1000]))
    stages = [VectorAssembler(inputCols=["a", "b"], outputCol="features"), GreedystepClassifier()]
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


def test_cross_validation_chooses_among_parameters(spark, tmp_path):
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    chosen = GreedystepClassifier(indicesCol="ids", valuesCol="x")
    grid = ParamGridBuilder().addGrid(chosen.fitIntercept, [True, False]).build()
    validator = CrossValidator(
        estimator=chosen,
        estimatorParamMaps=grid,
        evaluator=BinaryClassificationEvaluator(),
        numFolds=2,
        seed=1,
    )
    fitted = validator.fit(spark.read.parquet(parquet(tmp_path / "rows", pairs(2000), [1000] * 2)))
    assert min(fitted.avgMetrics) > 0.85


def test_mistakes_are_told(spark, frame):
    with pytest.raises(ValueError, match="there is no column 'features'; there are ids, x, label, sparse, dense"):
        GreedystepClassifier().fit(frame)
    with pytest.raises(ValueError, match="named by inputCols"):
        GreedystepClassifier(featuresCol="label").fit(frame)
    plain = frame.selectExpr("*", "double(label) as age")
    with pytest.raises(ValueError, match="column 'label' of inputCols is in labelCol, too: name it once"):
        GreedystepClassifier(inputCols=["age", "label"]).fit(plain)
    with pytest.raises(ValueError, match="column 'age' of inputCols is in weightCol, too"):
        GreedystepClassifier(inputCols=["age"], weightCol="age").fit(plain)
    with pytest.raises(ValueError, match="column 'age' of inputCols is in inputCols itself, too"):
        GreedystepClassifier(inputCols=["age", "age"]).fit(plain)
    with pytest.raises(ValueError, match=r"column .ids. of inputCols is of type array<.*expected numbers"):
        GreedystepClassifier(inputCols=["age", "ids"]).fit(plain)
    with pytest.raises(ValueError, match="column 'sparse' of inputCols is of type vector, expected numbers"):
        GreedystepClassifier(inputCols=["sparse"]).fit(plain)
    with pytest.raises(ValueError, match="nothing to tell apart"):
        classifier().fit(frame.where("label = 1"))
    with pytest.raises(ValueError, match="no rows"):
        classifier().fit(frame.where("label = 7"))
