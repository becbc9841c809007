"""Offsets: margins of another model, to which the learned ones are added."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import greedystep
from greedystep import GreedystepClassifier, GreedystepRegressor

N = 4000
RNG = np.random.default_rng(7)
X = RNG.normal(size=(N, 3))
OFFSET = np.round(16 * RNG.normal(size=N)) / 8
MARGIN = X @ [1.0, -0.5, 0.25] + 0.5 + OFFSET
CLASSES = (RNG.random(N) < 1 / (1 + np.exp(-MARGIN))).astype(int)
NUMBERS = np.round(64 * (MARGIN + RNG.normal(size=N))) / 64


def _loss(w: np.ndarray) -> float:
    return float(np.logaddexp(0, (1 - 2 * CLASSES) * (X @ w[:3] + w[3] + OFFSET)).sum())


def _optimum(alpha: float) -> np.ndarray:
    """Return weights and intercept of the logistic loss with offsets, by scipy."""
    found: np.ndarray = minimize(lambda w: _loss(w) + alpha / 2 * w[:3] @ w[:3], np.zeros(4)).x
    return found


def test_the_weights_are_those_of_an_independent_optimum() -> None:
    model = greedystep.train(X, CLASSES, offset=OFFSET, curves="off")
    expected = _optimum(1.0)
    assert np.abs(model.coef[0, :3] - expected[:3]).max() < 0.08
    assert abs(model.intercept[0] - expected[3]) < 0.05
    assert _loss(np.append(model.coef[0, :3], model.intercept[0])) < 1.001 * _loss(expected)
    without = greedystep.train(X, CLASSES, curves="off")
    assert np.abs(without.coef[0, :3] - expected[:3]).max() > 0.1  # what it is without
    margins = X @ model.coef[0, :3] + model.intercept[0] + OFFSET
    np.testing.assert_allclose(model.decision_function(X, offset=OFFSET), margins, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X, offset=OFFSET)[:, 1], 1 / (1 + np.exp(-margins)), atol=1e-5)
    metrics = model.evaluate(X, CLASSES, offset=OFFSET)
    assert metrics["log_loss"] == pytest.approx(np.logaddexp(0, -(2 * CLASSES - 1) * margins).mean(), abs=1e-6)
    explained = model.explain(X[:50], offset=OFFSET[:50])
    assert explained.feature_names[-1] == "offset"
    np.testing.assert_allclose(explained.values[:, -1], OFFSET[:50])
    np.testing.assert_allclose(explained.base_values + explained.values.sum(axis=1), margins[:50], atol=1e-5)


def test_arrays_frames_and_files_give_one_model(tmp_path: pathlib.Path) -> None:
    frame = pd.DataFrame(X.astype(np.float32), columns=["a", "b", "c"]).assign(score=OFFSET)
    frame.assign(y=NUMBERS).to_csv(tmp_path / "rows.csv", index=False)
    models = [
        greedystep.train(str(tmp_path / "rows.csv"), label="y", offset="score"),
        greedystep.train(frame.assign(y=NUMBERS), label="y", offset="score"),
        greedystep.train(frame, NUMBERS, offset="score"),
        greedystep.train(frame.drop(columns="score"), NUMBERS, offset=OFFSET),
        greedystep.train(X.astype(np.float32), NUMBERS, offset=OFFSET),
    ]
    expected = greedystep.train(X.astype(np.float32), NUMBERS - OFFSET).predict(X.astype(np.float32)) + OFFSET
    for model in models[:3]:
        np.testing.assert_allclose(model.predict(frame), expected, atol=1e-6)
    for model, rows in zip(
        models[2:], [frame.drop(columns="score"), frame.drop(columns="score"), X.astype(np.float32)]
    ):
        np.testing.assert_allclose(model.predict(rows, offset=OFFSET), expected, atol=1e-6)
    models[4].save(tmp_path / "m")
    again = greedystep.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(X, offset=OFFSET), models[4].predict(X, offset=OFFSET))


@pytest.mark.parametrize("as_frame", [False, True])
def test_estimators_take_offsets(as_frame: bool) -> None:
    rows: Any = pd.DataFrame(X, columns=["a", "b", "c"]) if as_frame else X
    one = GreedystepClassifier(curves="off").fit(rows, CLASSES, offset=OFFSET)
    assert one.coef_.shape == (1, 3)
    assert np.abs(one.coef_[0] - _optimum(1.0)[:3]).max() < 0.08
    margins = X @ one.coef_[0] + one.intercept_[0] + OFFSET
    np.testing.assert_allclose(one.decision_function(rows, offset=OFFSET), margins, atol=1e-5)
    assert (one.predict(rows, offset=OFFSET) == (margins > 0)).all()
    assert one.predict_proba(rows, offset=OFFSET).shape == (N, 2)
    with pytest.raises(ValueError, match=r"trained with an offset: give that|'offset'"):
        one.predict(rows)
    stream = GreedystepClassifier(curves="off")
    for lo in range(0, N, 500):
        part = slice(lo, lo + 500)
        stream.partial_fit(rows[part], CLASSES[part], classes=[0, 1], offset=OFFSET[part])
    assert np.abs(stream.coef_[0] - _optimum(1.0)[:3]).max() < 0.15
    value = GreedystepRegressor().fit(rows, NUMBERS, offset=OFFSET)
    plain = GreedystepRegressor().fit(rows, NUMBERS - OFFSET)
    np.testing.assert_allclose(value.predict(rows, offset=OFFSET), plain.predict(rows) + OFFSET, atol=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"offset": OFFSET[:3]}, "there are 4000 rows, and offset has the shape"),
        ({"offset": np.where(np.arange(N) == 2, np.nan, OFFSET)}, "row 2 has the offset nan"),
        ({"offset": "score"}, "give offsets in an array"),
        ({"offset": OFFSET, "loss": "softmax"}, "softmax loss has a margin for each class"),
    ],
)
def test_offsets_that_cannot_be_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        greedystep.train(X, CLASSES, **given)


def test_models_say_what_they_need() -> None:
    import scipy.sparse

    model, plain = greedystep.train(X, CLASSES, offset=OFFSET), greedystep.train(X, CLASSES)
    with pytest.raises(ValueError, match="trained with an offset"):
        model.predict(X)
    with pytest.raises(ValueError, match="trained without an offset"):
        plain.predict(X, offset=OFFSET)
    with pytest.raises(ValueError, match="dense rows or a table"):
        greedystep.train(scipy.sparse.csr_matrix(X), CLASSES, offset=OFFSET)
