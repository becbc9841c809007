"""Frames with labels beside them: columns are what their names say, and what cannot be is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import greedystep

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")

N = 400
KINDS = pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])


def numbers():
    """Return three columns that differ in what they say of the labels, and the labels."""
    random = np.random.default_rng(4)
    X = random.normal(size=(N, 3))
    return dict(zip("abc", X.T)), (X @ [3.0, 0.0, -1.0] + random.logistic(size=N) > 0).astype(int)


def weights_of(y):
    return np.where(y == 1, 10.0, 1.0)


# ---- labels and weights -------------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize("others", [{}, {"word": np.array(["x", "y"] * (N // 2))}], ids=["numbers", "words"])
def test_weights_in_a_column_beside_labels_count_as_an_array_of_them_does(kind, others):
    columns, y = numbers()
    columns = {**columns, **others}
    frame = kind({"w": weights_of(y), **columns})
    model = greedystep.train(frame, y, weight="w")
    same = greedystep.train(kind(columns), y, weight=weights_of(y))
    assert "w" not in [one.name for one in model.strongest(10)]
    assert np.array_equal(model.coef, same.coef)
    assert model.evaluate(frame, y, weight="w") == same.evaluate(kind(columns), y, weight=weights_of(y))


@KINDS
def test_a_column_of_weights_that_is_not_there_is_refused(kind):
    columns, y = numbers()
    frame = kind(columns)
    with pytest.raises(ValueError, match="no column 'nosuch'; the columns are a, b, c"):
        greedystep.train(frame, y, weight="nosuch")
    with pytest.raises(ValueError, match="no column 'nosuch'"):
        greedystep.train(frame, y).evaluate(frame, y, weight="nosuch")


def test_a_label_column_beside_labels_is_refused():
    columns, y = numbers()
    frame = pd.DataFrame(columns)
    for label in ("a", "nosuch"):
        with pytest.raises(ValueError, match="labels in y and in the column"):
            greedystep.train(frame, y, label=label)
        with pytest.raises(ValueError, match="labels in y and in the column"):
            greedystep.train(frame, y).evaluate(frame, y, label=label)


def test_arrays_have_no_column_of_weights():
    columns, y = numbers()
    with pytest.raises(ValueError, match="weight= names a column"):
        greedystep.train(np.column_stack(list(columns.values())), y, weight="w")


# ---- columns by their names ---------------------------------------------------------------------


def saved_and_loaded(model, tmp_path):
    model.save(tmp_path / "model")
    return greedystep.load(tmp_path / "model")


@KINDS
@pytest.mark.parametrize("is_loaded", [False, True], ids=["in memory", "loaded"])
def test_columns_of_numbers_are_found_by_name(kind, is_loaded, tmp_path):
    columns, y = numbers()
    frame = kind(columns)
    model = greedystep.train(frame, y)
    model = saved_and_loaded(model, tmp_path) if is_loaded else model
    turned = frame[["c", "b", "a"]]
    assert np.array_equal(model.predict_proba(turned), model.predict_proba(frame))
    assert model.evaluate(turned, y) == model.evaluate(frame, y)
    go_on = [greedystep.train(one, y, start_from=model) for one in (frame, turned)]
    assert np.array_equal(go_on[0].coef, go_on[1].coef)
    assert np.array_equal(go_on[0].predict_proba(turned), go_on[0].predict_proba(frame))
    with pytest.raises(ValueError, match="no column 'b', which the model has"):
        model.predict(frame[["a", "c"]])


@KINDS
def test_a_column_of_numbers_that_the_model_does_not_have_is_refused(kind):
    columns, y = numbers()
    frame = kind(columns)
    model = greedystep.train(frame, y)
    more = kind({"d": columns["a"], **columns})
    for use in (
        model.predict,
        lambda rows: model.evaluate(rows, y),
        lambda rows: greedystep.train(rows, y, start_from=model),
    ):
        with pytest.raises(ValueError, match="a column 'd' that the model does not have"):
            use(more)


def test_a_loaded_model_takes_columns_that_were_0_in_every_row(tmp_path):
    columns, y = numbers()
    zero = np.zeros(N)
    frame = pd.DataFrame({"a": columns["a"], "none": zero, "c": columns["c"], "nothing": zero})
    model = greedystep.train(frame, y)
    loaded = saved_and_loaded(model, tmp_path)
    expected = model.predict_proba(frame)
    for one in (frame, frame[["nothing", "c", "none", "a"]]):
        assert np.array_equal(model.predict_proba(one), expected)
        assert np.array_equal(loaded.predict_proba(one), expected)


def test_arrays_and_models_of_arrays_go_by_the_order_of_columns():
    columns, y = numbers()
    frame = pd.DataFrame(columns)
    X = frame.to_numpy()
    expected = greedystep.train(X, y).predict_proba(X)
    assert np.array_equal(greedystep.train(frame, y).predict_proba(X), expected)
    assert np.array_equal(greedystep.train(X, y).predict_proba(frame), expected)


def test_models_of_columns_in_another_order_are_not_merged():
    columns, y = numbers()
    frame = pd.DataFrame(columns)
    one, other = (greedystep.train(frame[list(order)], y) for order in ("abc", "cba"))
    with pytest.raises(ValueError, match="in another order"):
        one.merge(other)


# ---- what only tables have ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "option",
    [
        {"categorical": ["a"]},
        {"ignore": ["a"]},
        {"cross": ["a:b"]},
        {"bits": 12},
        {"decimal": "comma"},
        {"dates": "day-first"},
        {"skip_bad_rows": True},
    ],
    ids=lambda option: next(iter(option)),
)
def test_arrays_refuse_what_only_tables_have(option):
    X, y = np.eye(4), [0, 1, 0, 1]
    for rows in (X, sparse.csr_matrix(X), X.tolist()):
        with pytest.raises(ValueError, match=f"{next(iter(option))}= is for tables and files"):
            greedystep.train(rows, y, **option)


def test_predictions_of_arrays_refuse_columns_to_ignore():
    X, y = np.eye(4), [0, 1, 0, 1]
    model = greedystep.train(X, y)
    for use in (model.predict, lambda rows, ignore: model.evaluate(rows, y, ignore=ignore)):
        with pytest.raises(ValueError, match="ignore= is for tables and files"):
            use(X, ignore=["a"])


@KINDS
def test_bad_rows_of_a_numeric_frame_are_skipped(kind):
    columns, y = numbers()
    columns["a"][3] = np.inf
    with pytest.raises(ValueError, match="row 4"):
        greedystep.train(kind(columns), y)
    model = greedystep.train(kind(columns), y, skip_bad_rows=True)
    assert model.n_rows == N - 1


@KINDS
@pytest.mark.parametrize("beside", [1.0, "x"], ids=["numbers", "words"])
def test_models_of_numbers_ignore_columns_of_a_frame(kind, beside):
    columns, y = numbers()
    frame, more = kind(columns), kind({"id": [beside] * N, **columns})
    for model in (greedystep.train(frame, y), greedystep.train(np.asarray(frame), y)):
        assert np.array_equal(model.predict(more, ignore=["id"]), model.predict(frame))
        assert model.evaluate(more, y, ignore=["id"]) == model.evaluate(frame, y)
        again = greedystep.train(more, y, ignore=["id"], start_from=model)
        assert np.array_equal(again.coef, greedystep.train(frame, y, start_from=model).coef)


# ---- lengths and names in messages --------------------------------------------------------------


def with_words(columns):
    return pd.DataFrame({**columns, "word": ["x", "y"] * (N // 2)})


@pytest.mark.parametrize("frame_of", [pd.DataFrame, with_words], ids=["numbers", "words"])
def test_lengths_that_differ_are_told_with_the_name_of_the_argument(frame_of):
    columns, y = numbers()
    frame = frame_of(columns)
    with pytest.raises(ValueError, match="there are 400 rows, and 399 labels in y"):
        greedystep.train(frame, y[:-1])
    with pytest.raises(ValueError, match="there are 400 rows, and weight has 399"):
        greedystep.train(frame, y, weight=np.ones(N - 1))
    with pytest.raises(ValueError, match="there are 400 rows, and weight has 399"):
        greedystep.train(frame, y).evaluate(frame, y, weight=[1.0] * (N - 1))


def test_evaluation_needs_no_weights_though_training_had_them(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90), "w": rng.integers(1, 4, 90)})
    frame["y"] = np.where(frame.a > 0.3 * rng.normal(size=90), "yes", "no")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = greedystep.train(tmp_path / "rows.csv", label="y", weight="w")
    bare, ones = frame.drop(columns="w"), frame.assign(w=1)
    bare.to_csv(tmp_path / "bare.csv", index=False)
    for rows in (tmp_path / "bare.csv", bare):
        assert model.evaluate(rows) == model.evaluate(ones)
    with pytest.raises(ValueError, match="no column 'w'"):
        model.evaluate(tmp_path / "bare.csv", weight="w")


def test_messages_name_the_arguments_beside_a_frame():
    columns, y = numbers()
    frame = with_words(columns)
    with pytest.raises(ValueError, match=r"'weight'.*-1") as caught:
        greedystep.train(frame, y, weight=np.full(N, -1.0))
    assert "greedystep" not in str(caught.value)


def test_a_column_that_is_called_as_labels_are_can_be_ignored():
    columns, y = numbers()
    frame = with_words(columns)
    model = greedystep.train(frame, y)
    assert model.evaluate(frame.assign(y=1.0), y, ignore=["y"]) == model.evaluate(frame, y)
    assert np.array_equal(greedystep.train(frame.assign(y=y), y).predict(frame.assign(y=y)), y)


def test_a_text_column_of_numbers_is_told():
    """Numbers as text are numbers, as in CSV, and the caller hears of it; declared categories stay categories."""
    x = np.random.default_rng(5).normal(size=200).round(3)
    rows = pd.DataFrame({"x": [f"{value}" for value in x], "y": np.where(x > 0, "yes", "no")})
    with pytest.warns(greedystep.NoticeWarning, match="'x' is text that holds numbers"):
        model = greedystep.train(rows, label="y")
    assert "\nnumber x" in model.schema
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = greedystep.train(rows.astype({"x": "category"}), label="y")
    assert "\nwords x" in model.schema


@pytest.mark.parametrize("is_descending", [False, True])
def test_rows_in_the_order_of_a_date_are_told(tmp_path, is_descending):
    """Such a frame has a warning if its label drifts; another order has the same model and none."""
    rng = np.random.default_rng(4)
    n = 1200
    day = pd.date_range("2021-01-01", periods=n, freq="8h")
    a = rng.normal(size=n)
    label = np.where(a * np.cos(np.arange(n) / 600) + rng.normal(size=n) / 4 > 0, "yes", "no")
    rows = pd.DataFrame({"a": a, "day": day, "y": label})
    rows = rows[::-1] if is_descending else rows
    with pytest.warns(greedystep.NoticeWarning, match="in the order of 'day': the latest eighth.*time="):
        model = greedystep.train(rows, label="y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mixed = greedystep.train(rows.sample(frac=1, random_state=1), label="y")
    mixed.save(tmp_path / "mixed", state=False)
    model.save(tmp_path / "model", state=False)
    assert (tmp_path / "mixed").read_bytes() == (tmp_path / "model").read_bytes()
