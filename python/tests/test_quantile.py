"""Quantile regression beside scikit-learn's, and row weights as repetitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import mean_pinball_loss

import greedystep
from greedystep import GreedystepRegressor


def rows(n: int, seed: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, 100 + 10 * (X @ [1, -1, 0.5, 0]) + rng.standard_t(3, size=n) * np.exp(0.5 * X[:, 0])


@pytest.mark.parametrize("quantile", [0.05, 0.5, 0.9])
def test_the_loss_is_about_that_of_the_exact_optimum(quantile: float) -> None:
    X, y = rows(2000)
    own = GreedystepRegressor(loss="quantile", quantile=quantile, curves="off").fit(X, y)
    best = QuantileRegressor(quantile=quantile, alpha=0).fit(X, y)
    loss = mean_pinball_loss(y, own.predict(X), alpha=quantile)
    assert loss < 1.005 * mean_pinball_loss(y, best.predict(X), alpha=quantile)
    assert abs((y < own.predict(X)).mean() - quantile) < 0.01
    model = greedystep.train(X, y, loss="quantile", quantile=quantile, curves="off")
    assert (model.predict(X) == own.predict(X)).all()
    measured = model.evaluate(X, y)
    assert measured["pinball_loss"] == pytest.approx(loss, rel=1e-6)
    assert measured["below"] == (y < own.predict(X)).mean()


def test_weights_are_repetitions() -> None:
    X, y = rows(1000)
    times = np.random.default_rng(2).integers(1, 4, size=len(y))
    once = GreedystepRegressor(loss="quantile", quantile=0.8, method="optimum").fit(X, y, sample_weight=times)
    often = GreedystepRegressor(loss="quantile", quantile=0.8).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(once.predict(X), often.predict(X), rtol=1e-3)


def test_streams_learn_quantiles() -> None:
    X, y = rows(30_000)
    stream = GreedystepRegressor(loss="quantile", quantile=0.9)
    for start in range(0, len(y), 5000):
        stream.partial_fit(X[start : start + 5000], y[start : start + 5000])
    new_rows, labels = rows(10_000, seed=3)
    assert abs((labels < stream.predict(new_rows)).mean() - 0.9) < 0.01


def test_a_quantile_is_for_quantile_loss() -> None:
    X, y = rows(50)
    with pytest.raises(ValueError, match="quantile"):
        greedystep.train(X, y, quantile=0.9)
    with pytest.raises(ValueError, match="above 0 and below 1"):
        GreedystepRegressor(loss="quantile", quantile=90).fit(X, y)


@pytest.mark.parametrize("parameters", [{}, {"method": "gsa"}, {"loss": "huber"}])
def test_intervals_cover_new_labels(parameters: dict[str, Any], tmp_path: Path) -> None:
    X, y = rows(4000)
    new_rows, labels = rows(4000, seed=3)
    fitted = GreedystepRegressor(**parameters).fit(X, y)
    for coverage in (0.5, 0.9):
        low, high = fitted.predict_interval(new_rows, coverage).T
        assert (low <= high).all()
        assert abs(((low <= labels) & (labels <= high)).mean() - coverage) < 0.03
    fitted.model_.save(tmp_path / "m")
    again = greedystep.load(tmp_path / "m")
    assert (again.predict_interval(new_rows, 0.9) == fitted.predict_interval(new_rows)).all()


def test_intervals_are_refused_where_there_are_none() -> None:
    X, y = rows(1000)
    model = greedystep.train(X, y)
    for coverage in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="coverage"):
            model.predict_interval(X, coverage)
    with pytest.raises(ValueError, match="classes"):
        greedystep.train(X, y > 0).predict_interval(X)
    with pytest.raises(ValueError, match="intervals"):
        greedystep.train(X[:12], y[:12]).predict_interval(X)
