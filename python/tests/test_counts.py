"""Counts and rates: the Poisson loss, and exposures however they are given."""

from __future__ import annotations

import pathlib

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import d2_tweedie_score, mean_poisson_deviance

import greedystep
from greedystep import GreedystepRegressor

N = 3000


@pytest.fixture(scope="module")
def claims() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    a, b, years = rng.normal(size=N), rng.uniform(-1, 1, N), rng.uniform(0.1, 2, N).round(3)
    count = rng.poisson(years * np.exp(0.4 * a - 0.7 * b - 0.3))
    return pd.DataFrame({"claims": count, "years": years, "a": a.astype(np.float32), "b": b.astype(np.float32)})


def features(table: pd.DataFrame) -> np.ndarray:
    return table[["a", "b"]].to_numpy()


def weights(model: greedystep.Model) -> np.ndarray:
    return np.hstack([model.coef[0], model.intercept])


def test_exposures_in_files_frames_and_arrays_give_one_model(claims: pd.DataFrame, tmp_path: pathlib.Path) -> None:
    claims.to_csv(tmp_path / "claims.csv", index=False)
    claims.to_parquet(tmp_path / "claims.parquet")
    X, y, years = features(claims), claims["claims"], claims["years"]
    named = {"label": "claims", "exposure": "years", "loss": "poisson"}
    models = [
        greedystep.train(tmp_path / "claims.csv", **named),
        greedystep.train(tmp_path / "claims.parquet", **named),
        greedystep.train(claims, **named),
        greedystep.train(X, y, exposure=years, loss="poisson"),
        greedystep.train(claims.drop(columns="claims"), y, exposure="years", loss="poisson"),
        greedystep.train(X, y / years, weight=years, loss="poisson"),
    ]
    for model in models:
        np.testing.assert_array_equal(weights(model), weights(models[0]))
    expected = models[3].predict(X) * years
    np.testing.assert_allclose(models[0].predict(claims), expected, rtol=1e-6)
    np.testing.assert_allclose(models[0].predict(claims.drop(columns=["claims", "years"])), models[3].predict(X))
    evaluated = models[0].evaluate(claims)
    assert evaluated == models[3].evaluate(X, y, exposure=years)
    rate = y / years
    deviance = mean_poisson_deviance(rate, models[3].predict(X), sample_weight=years.astype(np.float32))
    assert evaluated["poisson_deviance"] == pytest.approx(deviance, rel=1e-9)
    d2 = d2_tweedie_score(rate, models[3].predict(X), sample_weight=years.astype(np.float32), power=1)
    assert evaluated["d2"] == pytest.approx(d2, rel=1e-9)


def test_the_estimator_has_nearly_the_least_deviance(claims: pd.DataFrame) -> None:
    X, rate, years = features(claims), claims["claims"] / claims["years"], claims["years"]
    least = PoissonRegressor(alpha=0, tol=1e-8, max_iter=1000).fit(X, rate, sample_weight=years)
    bound = mean_poisson_deviance(rate, least.predict(X), sample_weight=years)
    for method, share in (("auto", 1.001), ("gsa", 1.03)):
        found = GreedystepRegressor(loss="poisson", method=method).fit(X, rate, sample_weight=years).predict(X)
        assert (found > 0).all()
        assert mean_poisson_deviance(rate, found, sample_weight=years) < share * bound


def test_rows_as_they_come_are_learned(claims: pd.DataFrame) -> None:
    model = GreedystepRegressor(loss="poisson")
    for at in range(0, N, 500):
        model.partial_fit(features(claims)[at : at + 500], claims["claims"][at : at + 500])
    assert model.coef_ == pytest.approx([0.4, -0.7], abs=0.15)


def test_counts_go_to_scikit_learn_and_onnx(claims: pd.DataFrame) -> None:
    X = features(claims)[:50]
    model = greedystep.train(features(claims), claims["claims"], loss="poisson")
    found = model.predict(X)
    np.testing.assert_allclose(model.to_sklearn().predict(X), found, rtol=1e-6)
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(model.to_onnx().SerializeToString())
    np.testing.assert_allclose(session.run(None, {"X": X.astype(np.float32)})[0][:, 0], found, rtol=1e-5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"exposure": np.zeros(N)}, "row 0 has the exposure 0"),
        ({"exposure": np.full(N, np.inf)}, "row 0 has the exposure inf"),
        ({"exposure": np.ones(3)}, "there are 3000 labels, and exposure has 3"),
        ({"exposure": "years"}, "give exposures in an array"),
        ({"exposure": np.ones(N), "loss": "squared"}, 'give loss="poisson"'),
    ],
)
def test_exposures_that_cannot_be_are_refused(claims: pd.DataFrame, given: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        greedystep.train(features(claims), claims["claims"], **{"loss": "poisson", **given})


def test_labels_below_0_are_refused(claims: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="below 0"):
        greedystep.train(features(claims), claims["claims"] - 1, loss="poisson")
    with pytest.raises(ValueError, match="below 0"):
        GreedystepRegressor(loss="poisson").fit(features(claims), claims["claims"] - 1)
    with pytest.raises(ValueError, match="'squared', 'huber', 'quantile' or 'poisson'"):
        GreedystepRegressor(loss="tweedie").fit(features(claims), claims["claims"])
