"""Columns that bend: what estimators, models and explanations say of them."""

from __future__ import annotations

import pathlib
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.metrics import log_loss

import greedystep
from greedystep import GreedystepClassifier, GreedystepRegressor

N = 3000


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    a, b, c, noise = rng.uniform(-2, 2, N), rng.normal(size=N), rng.uniform(-2, 2, N), rng.normal(size=N)
    y = np.abs(a) + b / 2 + np.minimum(c, 1) + 0.1 * noise
    return pd.DataFrame({"a": a, "b": b, "c": c, "n": noise, "y": y})


@pytest.fixture(scope="module")
def fitted(table: pd.DataFrame) -> GreedystepRegressor:
    return GreedystepRegressor(curves="auto").fit(table[["a", "b", "c"]], table["y"])


def test_curves_explain_what_lines_cannot(table: pd.DataFrame, fitted: GreedystepRegressor) -> None:
    X, y = table[["a", "b", "c"]], table["y"]
    assert GreedystepRegressor(curves="off").fit(X, y).score(X, y) < 0.8
    assert fitted.score(X, y) > 0.98
    assert fitted.summary_["curves"] == 3
    assert fitted.summary_["lines_loss"] > 10 * fitted.summary_["held_out_loss"]


def test_a_curve_is_what_numpy_interpolates(table: pd.DataFrame, fitted: GreedystepRegressor) -> None:
    X = table[["a", "b", "c"]]
    curves = fitted.model_.curves()
    sums = fitted.model_.intercept[0] + sum(np.interp(X[one.name], one.knots, one.values[0]) for one in curves)
    np.testing.assert_allclose(fitted.predict(X), sums, atol=1e-5)
    for one in curves:
        assert (np.diff(one.knots) > 0).all()
        assert one.share.sum() == pytest.approx(1, abs=1e-5)
        inside = X[one.name].between(one.knots[1], one.knots[-2])
        assert inside.mean() > 0.99 and one.knots[0] < X[one.name].min()
    assert [one.deviation for one in curves] == sorted((one.deviation for one in curves), reverse=True)


def test_contributions_add_up_to_the_margin(table: pd.DataFrame, fitted: GreedystepRegressor) -> None:
    X = table[["a", "b", "c"]][:200]
    explained = fitted.model_.explain(X)
    np.testing.assert_allclose(explained.values.sum(axis=1) + explained.base_values, fitted.predict(X), atol=1e-5)
    alone = X.assign(b=0.0, c=0.0)
    np.testing.assert_allclose(explained.values[:, 0] + explained.base_values, fitted.predict(alone), atol=1e-5)


def test_gaps_words_and_classes(table: pd.DataFrame) -> None:
    X = table[["a", "b", "c"]].assign(w=np.where(np.arange(N) % 3 == 0, "x", "z"))
    X.loc[::7, "a"] = np.nan
    score = X["a"].abs().fillna(2.5) + 2 * (X["w"] == "x") - X["c"].clip(upper=1)
    y = np.digitize(score, [0.8, 2.2])
    lines, curves = (GreedystepClassifier(curves=how).fit(X, y) for how in ("off", "auto"))
    assert log_loss(y, curves.predict_proba(X)) < 0.7 * log_loss(y, lines.predict_proba(X))
    explained = curves.model_.explain(X[:50])
    margins = curves.model_.decision_function(X[:50]) if hasattr(curves.model_, "decision_function") else None
    if margins is not None:
        np.testing.assert_allclose(explained.values.sum(axis=1) + explained.base_values, margins, atol=1e-4)
    assert all(one.values.shape[0] == 3 for one in curves.model_.curves())


def test_the_model_is_the_same_through_every_door(
    table: pd.DataFrame, fitted: GreedystepRegressor, tmp_path: pathlib.Path
) -> None:
    X, y = table[["a", "b", "c"]].astype(np.float32), table["y"]
    dense = GreedystepRegressor(curves="auto").fit(X.to_numpy(), y)
    rows = GreedystepRegressor(curves="auto").fit(sparse.csr_matrix(X.to_numpy()), y)
    np.testing.assert_array_equal(dense.predict(X.to_numpy()), rows.predict(sparse.csr_matrix(X.to_numpy())))
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(table[["a", "b", "c"]]), fitted.predict(table[["a", "b", "c"]]))
    fitted.model_.save(tmp_path / "curves.model")
    loaded = greedystep.load(tmp_path / "curves.model")
    np.testing.assert_array_equal(loaded.predict(table[["a", "b", "c"]]), fitted.predict(table[["a", "b", "c"]]))


def test_weights_are_refused_and_importances_take_their_place(table: pd.DataFrame, fitted: GreedystepRegressor) -> None:
    with pytest.raises(AttributeError, match=r'curves_ .*curves="off"'):
        fitted.coef_  # noqa: B018
    assert not hasattr(fitted, "coef_")
    X, y = table[["a", "n", "b", "c"]], table["y"]
    chosen = SelectFromModel(GreedystepRegressor(curves="auto"), max_features=3, threshold=-np.inf).fit(X, y)
    assert list(chosen.get_feature_names_out()) == ["a", "b", "c"]
    assert [one.name for one in fitted.curves_] == [one.name for one in fitted.model_.curves()]
    lines = GreedystepRegressor(curves="off").fit(X, y)
    assert not hasattr(lines, "feature_importances_") and lines.curves_ == []


def test_a_linear_truth_keeps_its_lines() -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, 5))
    y = X @ [1, -2, 0.5, 0, 3] + rng.normal(size=N)
    lines, auto = GreedystepRegressor(curves="off").fit(X, y), GreedystepRegressor(curves="auto").fit(X, y)
    assert auto.summary_["curves"] == 0
    np.testing.assert_array_equal(auto.coef_, lines.coef_)


def test_streams_and_partial_fit_continue_with_the_knots(table: pd.DataFrame, fitted: GreedystepRegressor) -> None:
    X, y = table[["a", "b", "c"]].to_numpy(), table["y"].to_numpy()
    stream = GreedystepRegressor(curves="auto", method="gsa").fit(X, y)
    assert stream.score(X, y) > 0.97
    first = clone(fitted).fit(X[:1500], y[:1500])
    knots = [one.knots for one in sorted(first.model_.curves(), key=lambda one: one.name)]
    first.partial_fit(X[1500:], y[1500:])
    for one, before in zip(sorted(first.model_.curves(), key=lambda one: one.name), knots):
        np.testing.assert_array_equal(one.knots, before)
    assert first.score(X, y) > 0.98


@pytest.mark.parametrize("method", ["optimum", "gsa"])
def test_rows_a_little_beyond_those_that_decided_do_not_move_a_curve_far(method: str) -> None:
    rng = np.random.default_rng(6)
    X = rng.uniform(-2, 2, (20_000, 2))
    y = np.abs(X[:, 0]) + X[:, 1] + rng.normal(size=len(X)) / 3
    first = GreedystepRegressor(curves="auto", method=method).fit(X[:15_000] * 0.99, y[:15_000])
    second = clone(first).fit(X[:15_000] * 0.99, y[:15_000]).partial_fit(X[15_000:], y[15_000:])
    for model in (first, second):
        assert model.model_.curves()
        beyond = model.predict([[-2.2, 0], [2.2, 0], [1, -2.2], [1, 2.2]])
        np.testing.assert_allclose(beyond, [2.2, 2.2, -1.2, 3.2], atol=0.5)


@pytest.mark.parametrize("method", ["optimum", "gsa"])
def test_words_that_come_after_the_knots_keep_their_names(table: pd.DataFrame, method: str) -> None:
    plain = table[["a", "b", "c", "y"]]
    first = greedystep.train(plain.assign(w="first"), label="y", curves="auto", method=method)
    words = [f"word {i}" for i in range(30)]
    later = plain.assign(w=[words[i % 30] for i in range(N)], y=table["y"] + np.arange(N) % 30)
    second = greedystep.train(later, label="y", start_from=first)
    assert {f"w={word}" for word in words[2:]} <= {one.name for one in second.strongest(40)}


@pytest.mark.parametrize("kind", ["array", "frame", "gaps and words", "classes"])
def test_onnx_has_the_curves(table: pd.DataFrame, kind: str) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = table[["a", "b", "c"]].astype(np.float32), table["y"].to_numpy()
    if kind == "gaps and words":
        X = X.assign(w=np.where(np.arange(N) % 3 == 0, "x", "z"))
        X.loc[::7, "a"] = np.nan
    if kind == "classes":
        model: object = GreedystepClassifier(curves="auto").fit(X, np.digitize(y, [0.8, 2.2]))
    else:
        model = GreedystepRegressor(curves="auto").fit(X if kind != "array" else X.to_numpy(), y)
    assert model.model_.curves()
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString())
    if kind == "gaps and words":
        rows = {name: X[name].to_numpy().reshape(-1, 1) for name in X}
        rows["w"] = rows["w"].astype(object)
    else:
        rows = {"X": X.to_numpy()}
    found = session.run(None, rows)
    if kind == "classes":
        np.testing.assert_allclose(found[1], model.predict_proba(X), atol=1e-4)
    else:
        np.testing.assert_allclose(found[0].ravel(), model.predict(X if kind != "array" else X.to_numpy()), atol=1e-4)


def test_the_picture_of_a_column_is_its_curve(fitted: GreedystepRegressor) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from greedystep import plot

    axes = plot.curves(fitted, top=2)
    assert [ax.get_title(loc="left") for ax in axes] == [one.name for one in fitted.model_.curves()[:2]]
    x, y = axes[0].lines[0].get_data()
    best = fitted.model_.curves()[0]
    np.testing.assert_array_equal(x, best.knots[1:-1])
    np.testing.assert_array_equal(y, best.values[0][1:-1])
    bars = [bar.get_width() * bar.get_height() for bar in axes[0].patches]
    np.testing.assert_allclose(np.array(bars) / sum(bars), best.share[1:-1] / best.share.sum(), atol=1e-6)
    with pytest.raises(ValueError, match="bends"):
        plot.curves(GreedystepRegressor().fit(np.arange(200.0)[:, None], np.arange(200.0)))


def test_pictures_of_several_curves_have_one_scale(fitted: GreedystepRegressor) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from greedystep import plot

    axes = plot.curves(fitted)
    assert len(axes) == len(fitted.model_.curves())
    assert len({ax.get_ylim() for ax in axes}) == 1
    low, high = axes[0].get_ylim()
    for ax in axes:
        drawn = ax.lines[0].get_ydata()
        assert low + 0.18 * (high - low) <= min(drawn) <= max(drawn) <= high
