"""Data that cannot be read as it is, and parameters of other packages: an own message that names the remedy."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

import greedystep
from greedystep import GreedystepClassifier, GreedystepRegressor, GreedystepValueError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")

N = 200
random = np.random.default_rng(1)
x = random.normal(size=N)
y = (x + random.logistic(size=N) > 0).astype(int)
FRAME = pd.DataFrame({"x": x, "word": ["a", "b"] * (N // 2)})


def uses_of(frame):
    """Return calls that read a frame as rows to learn, to predict and to measure."""
    model, estimator = greedystep.train(FRAME, y), GreedystepClassifier().fit(FRAME, y)
    return {
        "train": lambda: greedystep.train(frame, y),
        "fit": lambda: GreedystepClassifier().fit(frame, y),
        "predict": lambda: model.predict(frame),
        "evaluate": lambda: model.evaluate(frame, y),
        "estimator's predict": lambda: estimator.predict(frame),
    }


# ---- frames -------------------------------------------------------------------------------------


def test_lazy_frames_of_polars_are_collected():
    whole = pl.from_pandas(FRAME)
    model, estimator = greedystep.train(whole, y), GreedystepClassifier().fit(whole, y)
    assert np.array_equal(greedystep.train(whole.lazy(), y).coef, model.coef)
    assert np.array_equal(model.predict_proba(whole.lazy()), model.predict_proba(whole))
    assert np.array_equal(estimator.predict_proba(whole.lazy()), estimator.predict_proba(whole))
    assert GreedystepClassifier().fit(whole.lazy(), y).score(whole.lazy(), y) == estimator.score(whole, y)
    labelled = whole.with_columns(label=pl.Series(y)).lazy()
    assert np.array_equal(greedystep.train(labelled, label="label").coef, model.coef)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_timedeltas_are_numbers_of_days(kind):
    days = random.normal(size=N).round(3)
    y = 3 * days + x
    waits = [datetime.timedelta(days=one) for one in days]
    model = greedystep.train(kind({"x": x, "wait": waits}), y)
    assert {one.name: one.weight for one in model.strongest(2)}["wait"] == pytest.approx(3, abs=0.02)
    same = greedystep.train(kind({"x": x, "wait": days}), y)
    assert np.allclose(model.predict(kind({"x": x, "wait": waits})), same.predict(kind({"x": x, "wait": days})))
    with pytest.raises(ValueError, match=r"column 'wait'"):
        GreedystepRegressor().partial_fit(kind({"x": x, "wait": waits}), y)


def test_intervals_are_categories():
    frame = FRAME.assign(part=pd.cut(x, 4))
    assert any(one.name.startswith("part=(") for one in greedystep.train(frame, y).strongest(10))


def test_columns_of_mixed_types_are_refused_by_name():
    for use in uses_of(FRAME.assign(word=pd.Series([1, "a"] * (N // 2), dtype=object))).values():
        with pytest.raises(GreedystepValueError, match=r"column 'word'.* mixes int and str; make it text by .*astype"):
            use()
    with pytest.raises(GreedystepValueError, match=r"column 'word'.* holds complex"):
        greedystep.train(FRAME.assign(word=x + 1j), y)
    with pytest.raises(GreedystepValueError, match=r"column 'm'.* mixes date and str"):
        greedystep.train(FRAME.assign(m=pd.Series([datetime.date(2020, 1, 1), "no"] * (N // 2)), y=y), label="y")


def test_ignored_columns_may_hold_anything():
    odd = FRAME.assign(odd=pd.Series([1, "a"] * (N // 2), dtype=object))
    model = greedystep.train(odd, y, ignore=["odd"])
    assert np.array_equal(model.coef, greedystep.train(FRAME, y).coef)
    assert np.array_equal(model.predict(odd), model.predict(FRAME))
    assert model.evaluate(odd.assign(y=y), label="y") == model.evaluate(FRAME, y)
    assert list(odd["odd"][:2]) == [1, "a"]


def test_two_columns_of_one_name_are_refused_by_name():
    for use in uses_of(pd.concat([FRAME, FRAME[["word"]]], axis=1)).values():
        with pytest.raises(GreedystepValueError, match="two columns have the name 'word': rename one"):
            use()
    twice = pd.DataFrame(np.column_stack([x, x]), columns=["x", "x"])
    for learn in (greedystep.train, GreedystepClassifier().fit):
        with pytest.raises(GreedystepValueError, match="two columns have the name 'x'"):
            learn(twice, y)


def test_arrays_of_text_name_the_frame():
    for rows in (FRAME.to_numpy(object), FRAME.to_numpy().tolist(), np.full((N, 2), "a")):
        for learn in (greedystep.train, GreedystepClassifier().fit):
            with pytest.raises(GreedystepValueError, match=r"an array must hold numbers .*: give a frame"):
                learn(rows, y)
    for rows in (x[:, np.newaxis] + 1j, np.full((N, 1), "2020-01-01", "M8[s]")):
        with pytest.raises(GreedystepValueError, match="an array must hold numbers"):
            greedystep.train(rows, y)
    assert np.array_equal(
        greedystep.train(x[:, np.newaxis].astype(object), y).coef, greedystep.train(x[:, None], y).coef
    )


def test_what_is_no_table_is_named():
    for rows in (x, pd.Series(x)):
        with pytest.raises(ValueError, match=r"found 1 dimension\(s\); X\.reshape\(-1, 1\) is one feature"):
            greedystep.train(rows, y)
    with pytest.raises(GreedystepValueError, match="cannot read dict as rows: give file names, a frame"):
        greedystep.train({"x": x}, y)


# ---- labels -------------------------------------------------------------------------------------

HAS_NONE = np.isin(np.arange(N), [5, 8, 9])
NAMES = np.where(y == 1, "yes", "no")


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(y, dtype="Int64").mask(HAS_NONE),
        pd.Series(y, dtype="boolean").mask(HAS_NONE),
        pd.Series(NAMES, dtype=object).mask(HAS_NONE, None),
        pd.Series(NAMES, dtype="string").mask(HAS_NONE),
        pd.Series(NAMES, dtype="category").mask(HAS_NONE),
        np.where(HAS_NONE, np.nan, y),
        [None if none else name for none, name in zip(HAS_NONE, NAMES)],
        pl.Series([None if none else int(one) for none, one in zip(HAS_NONE, y)]),
    ],
    ids=["Int64", "boolean", "object", "string", "category", "NaN", "list", "polars"],
)
@pytest.mark.parametrize("rows", [FRAME, FRAME[["x"]], FRAME[["x"]].to_numpy()], ids=["text", "numbers", "array"])
def test_missing_labels_are_counted(labels, rows):
    uses = [greedystep.train, GreedystepClassifier().fit, GreedystepRegressor().fit]
    uses += [lambda rows, labels: GreedystepClassifier().partial_fit(rows, labels, classes=[0, 1])]
    for use in uses:
        with pytest.raises(
            GreedystepValueError, match=r"^3 of 200 labels in y are missing \(NaN or None\), the first in row 5: leave"
        ):
            use(rows, labels)


def test_labels_may_be_a_column_of_a_frame():
    expected = greedystep.train(FRAME, y).coef
    assert np.array_equal(greedystep.train(FRAME, pd.DataFrame({"y": y})).coef, expected)
    with pytest.raises(GreedystepValueError, match="name their column by label='y'"):
        greedystep.train(FRAME.assign(y=y), "y")


def test_a_regression_of_texts_names_the_classifier():
    with pytest.raises(GreedystepValueError, match=r"needs numbers in y.*GreedystepClassifier"):
        GreedystepRegressor().fit(FRAME, NAMES)


# ---- parameters of other packages ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("C", "the strength of the penalty is chosen by cross-validation"),
        ("alpha", "the strength of the penalty is chosen"),
        ("penalty", "the penalty is L2"),
        ("l1_ratio", "the penalty is L2"),
        ("max_iter", "training stops by itself"),
        ("solver", "chosen by the size of the data"),
        ("learning_rate", "no learning rate"),
    ],
)
def test_hyperparameters_of_others_are_not_needed(name, reason):
    message = rf"^greedystep has no parameter {name}: .*{reason}.*; leave it out$"
    for estimator in (GreedystepClassifier, GreedystepRegressor, greedystep.GreedystepLinearSVC):
        with pytest.raises(TypeError, match=message):
            estimator(**{name: 1})
        with pytest.raises(ValueError, match=message):
            estimator().set_params(**{name: 1})
    with pytest.raises(TypeError, match=message):
        greedystep.train(FRAME, y, **{name: 1})


@pytest.mark.parametrize("classes", [[" yes", "no"], ["z", "b", " c"], [" ", "x"]])
def test_blanks_around_the_names_of_classes_belong_to_them(classes):
    """Tables ignore blanks around a cell; classes that differ by them stay the classes that were given."""
    rng = np.random.default_rng(2)
    k = rng.integers(len(classes), size=300)
    X = pd.DataFrame({"a": 4.0 * k + rng.normal(size=300), "text": rng.choice(["u", "v"], 300)})
    y = np.array(classes)[k]
    assert GreedystepClassifier().fit(X, y).score(X, y) > 0.8
