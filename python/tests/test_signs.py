"""Columns with which predictions never fall, or never rise."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import lsq_linear
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import greedystep
from greedystep import GreedystepClassifier, GreedystepError, GreedystepLinearSVC, GreedystepRegressor

SIGNS = {"a": 1, "b": -1}


def rows(n: int = 800, seed: int = 1, far: float = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows and labels: a raises them, b lowers them, c does both; the noise is large."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n) + far, "b": rng.uniform(3, 9, n), "c": rng.normal(size=n)})
    y = np.tanh(2 * (X.a - far)) - np.sqrt(X.b) + X.c**2 / 2 + rng.normal(size=n) * 1.5
    return X, y.to_numpy()


def worst(predict, X: pd.DataFrame, column: str, sign: int) -> float:
    """Return the largest move to the wrong side along a column, for some rows, from below to above all values."""
    values = np.linspace(X[column].min() - 9, X[column].max() + 9, 301)
    grid = X.iloc[np.repeat(np.arange(30), len(values))].reset_index(drop=True)
    grid[column] = np.tile(values, 30)
    return float(np.max(-sign * np.diff(predict(grid).reshape(30, -1), axis=1)))


@pytest.mark.parametrize("far", [0, 1e6])
@pytest.mark.parametrize("form", ["frame", "array", "list", "polars", "words"])
def test_estimators_keep_the_signs(form, far):
    X, y = rows(far=far)
    if form == "words":
        X["w"] = np.where(np.arange(len(X)) % 2, "odd", "even")
    given = X.to_numpy() if form in ("array", "list") else pl.from_pandas(X) if form == "polars" else X
    monotone = {0: 1, 1: -1} if form == "array" else [1, -1, 0] if form == "list" else SIGNS
    for estimator in (GreedystepRegressor(monotone=monotone), GreedystepRegressor(monotone=monotone, curves="off")):
        model = clone(estimator).fit(given, y)

        def predict(grid, model=model):
            return model.predict(grid.to_numpy() if form in ("array", "list") else grid)

        assert worst(predict, X, "a", 1) < 1e-5
        assert worst(predict, X, "b", -1) < 1e-5
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.predict(given), model.predict(given))
    free = GreedystepRegressor().fit(X, y)
    assert worst(free.predict, X, "a", 1) > 1e-3
    assert worst(free.predict, X, "c", 1) > 1e-3


def test_classes_have_the_sign_of_the_second():
    X, y = rows()
    labels = np.where(y > np.median(y), "high", "low")  # low is the second
    model = GreedystepClassifier(monotone={"a": -1, "b": 1}).fit(X, labels)
    assert worst(lambda grid: model.predict_proba(grid)[:, 1], X, "a", -1) < 1e-6
    assert worst(lambda grid: model.predict_proba(grid)[:, 1], X, "b", 1) < 1e-6
    margins = GreedystepLinearSVC(monotone={"a": -1}).fit(X, labels)
    assert worst(margins.decision_function, X, "a", -1) < 1e-5


def test_train_keeps_the_signs_of_tables_and_arrays(tmp_path):
    X, y = rows()
    table = X.assign(y=y)
    table.to_csv(tmp_path / "t.csv", index=False)
    of_frame = greedystep.train(table, label="y", monotone=SIGNS)
    of_file = greedystep.train(str(tmp_path / "t.csv"), label="y", monotone=SIGNS)
    beside = greedystep.train(X, y, monotone=SIGNS)
    of_array = greedystep.train(X.to_numpy(), y, monotone=[1, -1, 0])
    with_offset = greedystep.train(X, y, monotone=SIGNS, offset=X.c.to_numpy())
    for model in (of_frame, of_file, beside):
        assert worst(model.predict, X, "a", 1) < 1e-5
        assert worst(model.predict, X, "b", -1) < 1e-5
    assert np.allclose(of_array.predict(X.to_numpy()), beside.predict(X), atol=1e-6)
    assert "increasing" in of_file.schema
    assert with_offset.predict(X, offset=X.c.to_numpy()).shape == (len(X),)


@pytest.mark.parametrize("signs", [[-1, 1, 0], [1, -1, 1], [0, 0, -1]])
def test_lines_are_the_optimum_within_the_bounds(signs):
    """So many rows that the penalties which are averaged are small: what is minimal is known, and SciPy finds it."""
    X, y = rows(6000, 3)
    model = greedystep.train(X.to_numpy(), y, monotone=signs, curves="off", scale="standard")
    z = (X - X.mean()) / X.std(ddof=0)
    root = np.sqrt(model.summary["lambda"])
    low, high = np.where(np.array(signs) > 0, 0, -np.inf), np.where(np.array(signs) < 0, 0, np.inf)
    found = lsq_linear(np.vstack([z, root * np.eye(3)]), np.append(y - y.mean(), np.zeros(3)), (low, high)).x
    grid = X.iloc[[0, 0]].to_numpy().copy()
    for column, expected in enumerate(found * model.summary["calibration_scale"] / X.std(ddof=0)):
        grid[1] = grid[0]
        grid[1, column] += 1
        slope = np.diff(model.predict(grid))[0]
        assert slope == pytest.approx(expected, abs=5e-3 * np.abs(found).max())


def test_true_signs_help_a_little():
    (X, y), (later, truth) = rows(300, 5), rows(4000, 6)
    free, signed = (GreedystepRegressor(monotone=signs).fit(X, y) for signs in (None, SIGNS))
    assert signed.score(later, truth) > free.score(later, truth) - 0.005
    assert np.mean(cross_val_score(GreedystepRegressor(monotone=SIGNS), X, y)) > 0


@pytest.mark.parametrize(
    ("monotone", "says"),
    [
        ({"d": 1}, "no column 'd'"),
        ({"a": 2}, "has the sign 2"),
        ({"a": "up"}, "has the sign 'up'"),
        ([1, -1], "3 columns, and monotone= has 2 signs"),
        ("a", "expected signs by column"),
    ],
)
def test_what_is_no_sign_is_refused(monotone, says):
    X, y = rows(100)
    with pytest.raises(ValueError, match=says):
        GreedystepRegressor(monotone=monotone).fit(X, y)


def test_what_cannot_keep_signs_is_refused():
    X, y = rows(100)
    with pytest.raises(GreedystepError, match="all rows at once"):
        GreedystepRegressor(monotone=SIGNS, method="gsa").fit(X, y)
    with pytest.raises(ValueError, match="row by row"):
        GreedystepRegressor(monotone=SIGNS).partial_fit(X, y)
    with pytest.raises(GreedystepError, match="3 classes"):
        GreedystepClassifier(monotone=SIGNS).fit(X, np.arange(100) % 3)
    fitted = GreedystepRegressor(monotone=SIGNS, warm_start=True).fit(X, y)
    with pytest.raises(GreedystepError, match="no model to start from"):
        fitted.fit(X, y)
    numbers = csr_array(X.to_numpy())
    with pytest.raises(ValueError, match="sparse"):
        GreedystepRegressor(monotone=[1, 0, 0]).fit(numbers, y)
