"""Missing numbers count as the mean of their column, with a feature that says so, whatever the rows come in."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import assert_same_model, planted, run_command
from scipy import sparse
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

import greedystep
from greedystep import GreedystepClassifier, GreedystepLinearSVC, GreedystepRegressor
from greedystep.distributed import Rows, begin, learn, merge, scan, schema_of

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

N = 4


def gappy(n_rows=600, n_classes=2, seed=0):
    """Return rows of which some have no number in columns 1 and 2, and labels that depend on that."""
    random = np.random.default_rng(seed)
    X = (random.normal(size=(n_rows, N)) * [1, 10, 0.1, 1] + [0, 100, 3, 5]).astype(np.float32)
    margin = X[:, 0] + (X[:, 1] - 100) / 10 + random.normal(size=n_rows)
    for column, share in ((1, 0.2), (2, 0.05)):
        is_gap = random.random(n_rows) < share
        X[is_gap, column] = np.nan
        margin += is_gap
    return X, margin if n_classes == 1 else np.digitize(margin, np.linspace(-1, 1, n_classes - 1))


def means_of(X):
    """Return means added up row after row, as the library does."""
    sums = np.cumsum(np.nan_to_num(X.astype(np.float64)), axis=0)[-1]
    return (sums / (~np.isnan(X)).sum(axis=0)).astype(np.float32)


def filled(X, means):
    """Return the numbers with means in the gaps, and then a feature per column that says where these are."""
    return np.hstack([np.where(np.isnan(X), means, X), np.isnan(X)]).astype(np.float32)


def columns(n=N):
    return [f"x{i}" for i in range(n)]


ARRAYS = {
    "float32": lambda X: X,
    "float64": lambda X: X.astype(np.float64),
    "Fortran order": np.asfortranarray,
    "objects": lambda X: np.where(np.isnan(X), None, X.astype(object)),
    "pandas": lambda X: pd.DataFrame(X, columns=columns()),
    "pandas nullable": lambda X: pd.DataFrame(X, columns=columns()).astype("Float32"),
    "pandas without names": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=columns()).with_columns(pl.all().fill_nan(None)),
}


# ---- training -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [1, 2, 5], ids=["numbers", "two classes", "five classes"])
@pytest.mark.parametrize("door", ARRAYS)
def test_gaps_are_filled_with_the_mean_and_told_by_a_feature(door, n_classes):
    X, y = gappy(n_classes=n_classes)
    full = filled(X, means_of(X))
    loss = {"loss": "squared"} if n_classes == 1 else {}
    expected = greedystep.train(full, y, **loss)
    model = greedystep.train(ARRAYS[door](X), y, **loss)
    assert np.array_equal(model.coef, expected.coef[:, : model.n_features])
    assert np.array_equal(model.predict(ARRAYS[door](X)), expected.predict(full))
    assert model.evaluate(ARRAYS[door](X), y) == expected.evaluate(full, y)
    assert model.coef[:, N + 1].any()


@pytest.mark.parametrize("n_classes", [1, 2])
def test_an_array_a_frame_and_a_file_with_the_same_gaps_are_the_same_rows(n_classes, tmp_path):
    X, y = gappy(n_classes=n_classes)
    y = y.astype(np.float64)
    frame = pd.DataFrame(X.astype(np.float64), columns=columns()).assign(y=y)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet")
    words = ["--label", "y", "--loss", "squared" if n_classes == 1 else "logistic"]
    run_command("train", tmp_path / "rows.csv", *words, "-o", tmp_path / "model", "--quiet")
    expected = greedystep.load(tmp_path / "model")
    loss = {"loss": words[-1]}
    by_name = [greedystep.train(one, label="y", **loss) for one in (frame, tmp_path / "rows.parquet", pa.table(frame))]
    by_y = [greedystep.train(one, y, **loss) for one in (X, frame.drop(columns="y"))]
    for model in by_name + by_y:
        assert np.array_equal(model.coef, expected.coef)
        assert np.array_equal(model.predict(X), expected.predict(tmp_path / "rows.csv"))
    assert all(model.schema == expected.schema for model in by_name)


def test_weights_count_in_the_means():
    X, y = gappy()
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(np.float32)
    copies = np.repeat(np.arange(len(y)), weights.astype(int))
    weighted = greedystep.train(X, y, weight=weights)
    assert np.allclose(weighted.coef, greedystep.train(X[copies], y[copies]).coef, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("names", [["no", "yes"], ["10", "9"], ["NA", "b"], ["ö", "a\nb"], [True, False]], ids=str)
def test_names_of_classes_do_not_matter_to_gaps(names):
    X, y = gappy()
    classes = np.unique(np.array(names))
    fitted = GreedystepClassifier().fit(X, classes[y])
    by_number = GreedystepClassifier().fit(X, y)
    assert np.array_equal(fitted.classes_, classes)
    assert np.array_equal(fitted.predict(X), classes[by_number.predict(X)])


@pytest.mark.parametrize("names", [["no", "yes"], ["9", "10"], [False, True]], ids=str)
def test_texts_of_labels_do_not_matter_to_gaps(names):
    X, y = gappy()
    model = greedystep.train(X, np.array(names)[y])
    assert np.array_equal(model.predict_proba(X), GreedystepClassifier().fit(X, y).predict_proba(X))
    with pytest.raises(ValueError, match="labels in y are missing"):
        greedystep.train(X, np.array(["NA", "b"])[y])


@pytest.mark.parametrize("n_labels", [2, 3, 89, 400])
def test_gaps_do_not_decide_what_labels_are(n_labels):
    X, _ = gappy(800)
    y = np.random.default_rng(0).integers(0, n_labels, 800)
    for labels in (y, y.astype(float), y + 0.5):
        clean = greedystep.train(np.nan_to_num(X), labels)
        assert greedystep.train(X, labels).loss == clean.loss
        assert greedystep.train(pd.DataFrame(X, columns=columns()), labels).loss == clean.loss


def test_features_have_names_and_numbers_count_from_1():
    X, y = gappy()
    names = {one.name for one in greedystep.train(X, y).strongest(20)}
    assert {"1", "2", "3", "4"} < names
    named = {one.name for one in greedystep.train(pd.DataFrame(X, columns=columns()), y).strongest(20)}
    assert set(columns()) < named
    assert any("x1" in name for name in named - set(columns()))


def test_a_frame_with_words_takes_labels_beside_it():
    X, y = gappy()
    frame = pd.DataFrame(X, columns=columns()).assign(city=np.where(y == 1, "oslo", "rome"))
    model = greedystep.train(frame, y)
    assert (model.predict(frame) == y).mean() > 0.99
    assert np.array_equal(model.coef, GreedystepClassifier().fit(frame, y).model_.coef)


# ---- a later first gap --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_a_first_gap_after_training_counts_as_the_mean_of_the_training_rows(kind):
    X, y = gappy()
    clean = np.where(np.isnan(X), np.float32(1), X)
    full = np.where(np.isnan(X), means_of(clean), X)
    door = (lambda rows: rows) if kind == "array" else (lambda rows: pd.DataFrame(rows, columns=columns()))
    model = greedystep.train(door(clean), y)
    assert np.array_equal(model.predict_proba(door(X)), model.predict_proba(door(full)))
    assert model.evaluate(door(X), y) == model.evaluate(door(full), y)
    for copy in (pickle.loads(pickle.dumps(model)), model.merge(greedystep.train(door(clean[:50] + 1), y[:50]))):
        assert np.array_equal(copy.predict(door(X)), copy.predict(door(full)))
    fitted = GreedystepClassifier().fit(door(clean), y)
    for one in (fitted, pickle.loads(pickle.dumps(fitted))):
        assert np.array_equal(one.predict_proba(door(X)), model.predict_proba(door(full)))


def test_frozen_means_are_those_that_a_table_would_have():
    X, y = gappy()
    clean = np.where(np.isnan(X), np.float32(1), X).astype(np.float64)
    table = greedystep.train(pd.DataFrame(clean, columns=columns()).assign(y=y), label="y")
    array = greedystep.train(clean, y)
    assert array.schema is None
    assert_same_model(array, table)
    assert np.array_equal(array.predict_proba(X), table.predict_proba(pd.DataFrame(X, columns=columns())))


def test_a_model_file_of_an_array_without_gaps_refuses_one_kindly(tmp_path):
    X, y = gappy()
    clean = np.nan_to_num(X)
    greedystep.train(clean, y).save(tmp_path / "model")
    model = greedystep.load(tmp_path / "model")
    assert len(model.predict(clean)) == len(y)
    row = int(np.flatnonzero(np.isnan(X).any(axis=1))[0])
    with pytest.raises(ValueError, match=rf"row {row}, column \d: the number is missing \(NaN\).* fill it in"):
        model.predict(X)
    with pytest.raises(ValueError, match="the number is missing"):
        model.evaluate(X, y)
    greedystep.train(X, y).save(tmp_path / "model")  # with gaps the file has all that is needed
    assert np.array_equal(greedystep.load(tmp_path / "model").predict(X), greedystep.train(X, y).predict(X))


def test_an_array_of_another_width_is_refused():
    X, y = gappy()
    model = greedystep.train(X, y)
    with pytest.raises(ValueError, match="the rows have 3 numbers, and the model was trained on 4 columns"):
        model.predict(X[:, :3])


# ---- going on -----------------------------------------------------------------------------------


def test_runs_that_start_from_a_model_fill_gaps_as_it_does():
    X, y = gappy()
    other, other_y = gappy(seed=1)
    model = greedystep.train(X, y)
    more = greedystep.train(other, other_y, start_from=model, passes=1)
    assert more.schema == model.schema
    clean = greedystep.train(np.nan_to_num(X), y)
    assert greedystep.train(other, other_y, start_from=clean, passes=1).schema is None
    warm = GreedystepClassifier(warm_start=True).fit(X, y)
    schema = warm.model_.schema
    assert warm.fit(other, other_y).model_.schema == schema
    warm = GreedystepClassifier(warm_start=True).fit(np.nan_to_num(X), y)
    assert warm.fit(other, other_y).model_.schema is None


def test_partial_fit_fills_gaps_by_the_first_chunk():
    X, y = gappy(900)
    full = filled(X, means_of(X[:300]))
    fitted, expected = GreedystepClassifier(), GreedystepClassifier()
    for part in np.array_split(np.arange(900), 3):
        fitted.partial_fit(X[part], y[part], classes=[0, 1])
        expected.partial_fit(full[part], y[part], classes=[0, 1])
        fitted = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(np.hstack([fitted.coef_, fitted.coef_missing_]), expected.coef_)
    assert np.array_equal(fitted.predict_proba(X), expected.predict_proba(full))


def test_partial_fit_after_rows_without_gaps_uses_their_means():
    X, y = gappy()
    clean = np.nan_to_num(X)
    full = np.where(np.isnan(X), means_of(clean), X)
    fitted = GreedystepClassifier().partial_fit(clean, y, classes=[0, 1]).partial_fit(X, y)
    expected = GreedystepClassifier().partial_fit(clean, y, classes=[0, 1]).partial_fit(full, y)
    assert_same_model(fitted, expected)
    again = GreedystepClassifier().fit(X, y).partial_fit(X[:100], y[:100])
    assert again.model_.n_rows == 700


def test_shards_with_one_schema_have_the_bytes_of_the_command(tmp_path):
    X, y = gappy(5000)
    frame = pd.DataFrame(X.astype(np.float64), columns=columns()).assign(y=y)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    run_command("train", tmp_path / "rows.csv", "--label", "y", "--shards", 2, "-o", tmp_path / "model", "--quiet")
    schema = greedystep.load(tmp_path / "model").schema
    assert schema_of(Rows(tmp_path / "rows.csv", label="y")) == schema
    for shards in (
        [Rows(pa.Table.from_pandas(frame[part]), label="y") for part in (slice(0, 2500), slice(2500, 5000))],
        [Rows(X[part], y[part]) for part in (slice(0, 2500), slice(2500, 5000))],
    ):
        training = begin([scan(rows, 2, schema=schema) for rows in shards], shards=2)
        while training.wants_pass:
            training = merge(training, [learn(training, rows, number) for number, rows in enumerate(shards)])
        training.model().save(tmp_path / "by shards")
        assert (tmp_path / "by shards").read_bytes() == (tmp_path / "model").read_bytes()


# ---- estimators ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [GreedystepClassifier, GreedystepRegressor, GreedystepLinearSVC])
def test_estimators_allow_nan_and_show_the_weights(kind):
    X, y = gappy(n_classes=1 if kind is GreedystepRegressor else 2)
    assert get_tags(kind()).input_tags.allow_nan
    fitted = kind(curves="off").fit(X, y)
    assert fitted.coef_.shape == fitted.coef_missing_.shape == ((N,) if kind is GreedystepRegressor else (1, N))
    full = filled(X, means_of(X))
    margins = full @ np.hstack([np.atleast_2d(fitted.coef_), np.atleast_2d(fitted.coef_missing_)]).T + fitted.intercept_
    found = fitted.predict(X) if kind is GreedystepRegressor else fitted.decision_function(X)
    assert np.allclose(margins[:, 0], found, atol=1e-4)
    assert cross_val_score(kind(), X, y, cv=3).mean() > 0.4
    assert not np.any(kind(curves="off").fit(np.nan_to_num(X), y).coef_missing_)


def test_filling_is_better_than_zeros():
    X, y = gappy(2000)
    lines = GreedystepClassifier(curves="off")  # a curve has a knot at 0
    ours = cross_val_score(lines, X, y, cv=3, scoring="neg_log_loss").mean()
    zeros = cross_val_score(lines, np.nan_to_num(X), y, cv=3, scoring="neg_log_loss").mean()
    assert ours > zeros + 0.01


# ---- what stays an error ------------------------------------------------------------------------


def test_what_is_infinite_or_sparse_or_a_label_may_not_be_missing():
    X, y = gappy()
    infinite = X.copy()
    infinite[5, 0] = np.inf
    holes = sparse.csr_matrix(np.nan_to_num(X))
    holes.data[3] = np.nan
    lost = y.astype(np.float64)
    lost[7] = np.nan
    for call in (
        lambda: greedystep.train(infinite, y),
        lambda: GreedystepClassifier().fit(infinite, y),
        lambda: GreedystepClassifier().fit(pd.DataFrame(infinite), y),
        lambda: greedystep.train(holes, y),
        lambda: GreedystepClassifier().fit(holes, y),
        lambda: greedystep.train(X, y).predict(holes),
        lambda: greedystep.train(X, lost),
        lambda: greedystep.train(np.nan_to_num(X), lost),
        lambda: GreedystepClassifier().fit(X, lost),
        lambda: GreedystepRegressor().fit(X, lost),
    ):
        with pytest.raises(ValueError, match=r"finite|infinity|NaN"):
            call()
    words = np.where(y == 1, "a", "b").astype(object)
    for absent in (None, np.nan):
        words[7] = absent
        with pytest.raises(ValueError, match=r"labels in y are missing.* in row 7"):
            greedystep.train(X, words)


def test_rows_without_a_label_are_left_out_of_a_table():
    X, y = gappy()
    frame = pd.DataFrame(X, columns=columns()).assign(y=np.where(np.arange(600) % 50 == 0, np.nan, y))
    with pytest.warns(greedystep.NoticeWarning, match=r"12 row\(s\) without a label were left out"):
        model = greedystep.train(frame, label="y", passes=2, method="gsa")
    some = frame.dropna(subset="y")
    assert model.n_rows == greedystep.train(some, label="y", passes=2, method="gsa").n_rows


def test_verbose_says_how_many_numbers_are_missing(capsys):
    X, y = gappy()
    n = int(np.isnan(X).sum())
    greedystep.train(X, y, verbose=True)
    assert f"{n} missing values in 2 columns, replaced by the column mean" in capsys.readouterr().err


def test_models_that_fill_gaps_have_no_twin_in_scikit_learn():
    X, y = gappy()
    with pytest.raises(ValueError, match="fills in missing numbers"):
        greedystep.train(X, y).to_sklearn()


# ---- ONNX ---------------------------------------------------------------------------------------


def by_onnx(proto, X):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X.astype(np.float32)})))


@pytest.mark.parametrize("n_classes", [1, 2, 5])
def test_onnx_fills_the_same_gaps(n_classes):
    pytest.importorskip("onnx")
    X, y = gappy(n_classes=n_classes)
    kind = GreedystepRegressor if n_classes == 1 else GreedystepClassifier
    fitted = kind().fit(X, y)
    clean = pd.DataFrame(np.nan_to_num(X), columns=columns()).assign(y=y)
    table = greedystep.train(clean, label="y", loss="squared" if n_classes == 1 else "auto")
    assert table.n_features == N
    for model in (fitted, fitted.model_, table):
        proto = model.to_onnx()
        rows = pd.DataFrame(X, columns=columns()) if model is table else X
        found = by_onnx(proto, X)
        if n_classes == 1:
            assert np.allclose(found["variable"][:, 0], model.predict(rows), atol=1e-4)
        else:
            assert np.abs(found["output_probability"] - model.predict_proba(rows)).max() < 1e-5


def test_planted_rows_without_gaps_are_as_they_were():
    X, y = planted(400, 6, 2)
    model = greedystep.train(X.toarray(), y)
    assert model.schema is None
    assert np.array_equal(model.coef, greedystep.train(X, y).coef)


# ---- cells with two readings --------------------------------------------------------------------


def test_cells_with_two_readings_are_settled_by_keywords(tmp_path):
    lines = "".join(f'"{1 + i % 9},{100 + i}",{1 + i % 12:02}/{1 + i % 11:02}/2024,{i % 2}\n' for i in range(300))
    (tmp_path / "rows.csv").write_text("price,day,y\n" + lines)
    with pytest.raises(ValueError, match=r"price.*\(decimal=\.\.\.\)"):
        greedystep.train(tmp_path / "rows.csv", label="y")
    model = greedystep.train(tmp_path / "rows.csv", label="y", decimal="point", dates="day-first")
    assert "number price" in model.schema
    assert "date day" in model.schema
    with pytest.raises(ValueError, match=r"point or comma \(decimal=\.\.\.\)"):
        greedystep.train(tmp_path / "rows.csv", label="y", decimal="dot")
