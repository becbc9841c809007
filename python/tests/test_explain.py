"""Contributions of columns: they add up to the margin, and are those of SHAP for linear models."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import run_command
from scipy import sparse

import greedystep
from greedystep import GreedystepClassifier, GreedystepRegressor

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")

N = 500


def mixed_frame():
    """Return a frame with columns of every kind, missing values included, and a number that depends on it."""
    random = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "city": random.choice(["oslo", "rome", "lima"], N),
            "age": random.normal(40, 10, N),
            "job": pd.Categorical(random.choice([f"job {i}" for i in range(40)], N)),
            "since": pd.date_range("2020-01-01", periods=N, freq="7h"),
            "x": random.normal(size=N),
        }
    )
    target = frame["age"] / 10 + frame["x"] + 2.0 * (frame["city"] == "rome") + frame["since"].dt.month / 6
    for name in ("city", "age", "since"):
        frame.loc[random.random(N) < 0.1, name] = None
    return frame, (target + random.logistic(size=N)).to_numpy()


def assert_adds_up(found, margins):
    assert np.allclose(found.base_values + found.values.sum(axis=1), margins, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"cross": ["city:job"]}, {"bits": 3}], ids=["plain", "cross", "collisions"])
def test_contributions_add_up_to_the_margin(kind, n_classes, options):
    frame, target = mixed_frame()
    y = target if n_classes == 1 else np.digitize(target, [4, 8][: n_classes - 1])
    frame = kind(frame)
    model = greedystep.train(frame, y, **{"bits": 12, **options})
    found = model.explain(frame)
    assert found.feature_names == [*frame.columns, *options.get("cross", [])]
    assert found.values.shape == (N, len(found.feature_names)) + ((3,) if n_classes == 3 else ())
    assert np.allclose(found.base_values, model.intercept)
    assert_adds_up(found, model.decision_function(frame))
    against = model.explain(frame[:7], background=frame)
    assert_adds_up(against, model.decision_function(frame[:7]))
    assert np.allclose(against.base_values, model.decision_function(frame).mean(axis=0))


def test_a_category_contributes_what_its_cell_changes():
    frame, target = mixed_frame()
    model = greedystep.train(frame, target)
    found = dict(zip(frame.columns, model.explain(frame).values.T))
    margins = model.decision_function(frame)
    for name in ("city", "job"):
        emptied = frame.assign(**{name: pd.Series([None] * N, dtype=frame[name].dtype)})
        assert np.allclose(found[name], margins - model.decision_function(emptied), atol=1e-12)
        assert len(np.unique(found[name].round(9))) > 2
    weight = next(one.weight for one in model.strongest(60) if one.name == "x")
    assert np.allclose(found["x"], weight * frame["x"].to_numpy(np.float32), atol=1e-12)


@pytest.mark.parametrize("has_gaps", [False, True])
def test_arrays_and_frames_of_numbers_are_explained_alike(has_gaps):
    frame, target = mixed_frame()
    frame = frame[["age", "x"]] if has_gaps else frame[["age", "x"]].fillna(40.0)
    of_frame, of_array = (GreedystepRegressor().fit(rows, target) for rows in (frame, frame.to_numpy()))
    found, same = of_frame.explain(frame[["age", "x"]]), of_array.explain(frame.to_numpy())
    assert (found.feature_names, same.feature_names) == (["age", "x"], ["1", "2"])
    assert np.array_equal(found.values, same.values)
    assert_adds_up(found, of_frame.predict(frame))
    assert np.array_equal(of_frame.model_.explain(frame[["x", "age"]]).values, found.values)


def test_contributions_are_the_shap_values_of_a_linear_model():
    shap = pytest.importorskip("shap")
    frame, target = mixed_frame()
    rows = frame[["age", "x"]].fillna(40.0)
    estimator = GreedystepRegressor().fit(rows, target)
    found = estimator.explain(rows[:9], background=rows[:100])
    expected = shap.LinearExplainer(estimator, rows[:100])(rows[:9])
    assert np.allclose(found.values, expected.values, atol=1e-5)
    assert np.allclose(found.base_values, expected.base_values, atol=1e-5)
    classifier = GreedystepClassifier().fit(frame, target > 6)
    explanation = shap.Explanation(**classifier.explain(frame, background=frame)._asdict(), data=frame.to_numpy())
    assert explanation[0].values.shape == (5,)
    assert explanation.abs.mean(0).values.shape == (5,)


def test_files_are_explained_like_frames(tmp_path):
    frame, target = mixed_frame()
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = greedystep.train(frame, target)
    assert np.array_equal(model.explain(tmp_path / "rows.csv").values, model.explain(frame).values)


def test_categories_that_share_a_feature_with_a_curve_add_up():
    frame, target = mixed_frame()
    words = pd.DataFrame({f"w{k}": np.random.default_rng(k).choice(list("abcdefgh"), N) for k in range(9)})
    model = greedystep.train(pd.concat([frame, words], axis=1), target, bits=2, curves="auto")
    assert_adds_up(
        model.explain(pd.concat([frame, words], axis=1)), model.decision_function(pd.concat([frame, words], axis=1))
    )


def test_what_cannot_be_explained_is_refused(tmp_path):
    frame, target = mixed_frame()
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = greedystep.train(frame, target)
    run_command("convert", tmp_path / "rows.csv", "--label", "x", "-o", tmp_path / "rows.gsac")
    with pytest.raises(greedystep.GreedystepError, match=r"features and no columns: give the table itself"):
        greedystep.train(tmp_path / "rows.gsac").explain(tmp_path / "rows.gsac")
    with pytest.raises(ValueError, match=r"X\.multiply\(model\.coef\)"):
        greedystep.train(np.eye(4), [0, 1, 0, 1]).explain(sparse.eye(4, format="csr"))
    assert_adds_up(model.explain(frame.assign(id=1), ignore=["id"]), model.decision_function(frame))
