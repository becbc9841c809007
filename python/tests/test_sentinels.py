"""Numbers that mean a missing value, such as -999, through every kind of input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import greedystep
from greedystep import GreedystepRegressor

pd = pytest.importorskip("pandas")


def _table(sentinel: float, dtype: str = "float64", n: int = 500) -> pd.DataFrame:
    """Return rows in which a tenth of one column is missing."""
    rng = np.random.default_rng(3)
    temp, other = rng.normal(20, 5, n).round(2), rng.uniform(0, 100, n).round(2)
    y = 2 * temp + 0.1 * other + rng.normal(0, 1, n)
    temp[rng.random(n) < 0.1] = sentinel
    return pd.DataFrame({"temp": temp.astype(dtype), "other": other, "y": y.round(3)})


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_frames_files_and_labels_apart_give_one_model(tmp_path, dtype):
    """The model of -999 is that of NaN, whichever way the rows come in."""
    rows, gaps = _table(-999, dtype), _table(np.nan, dtype)
    expected = greedystep.train(gaps, label="y").predict(gaps.drop(columns="y"))
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    features = rows.drop(columns="y")
    models = [
        greedystep.train(rows, label="y"),
        greedystep.train(features, rows["y"].to_numpy()),
        greedystep.train(tmp_path / "rows.csv", label="y"),
        greedystep.train(tmp_path / "rows.jsonl", label="y"),
    ]
    for model in models:
        assert "\tmissing=-999" in model.schema
        np.testing.assert_allclose(model.predict(features), expected, rtol=1e-5)
        np.testing.assert_allclose(model.predict(features.to_numpy()), expected, rtol=1e-5)
    estimator = GreedystepRegressor().fit(features, rows["y"])
    np.testing.assert_allclose(estimator.predict(features), expected, rtol=1e-5)


def test_the_caller_decides(tmp_path):
    """Any number can be missing, and none need be."""
    rows = _table(-999)
    as_number = greedystep.train(rows, label="y", missing="none")
    assert "missing=" not in as_number.schema
    rows["temp"] = rows["temp"].replace(-999, -1)
    assert "missing=" not in greedystep.train(rows, label="y").schema
    for missing in (-1, [-1, 9], "-1"):
        model = greedystep.train(rows, label="y", missing=missing)
        assert "number temp\tmean=" in model.schema
        assert "\tmissing=-1" in model.schema
        expected = greedystep.train(_table(np.nan), label="y").predict(_table(np.nan).drop(columns="y"))
        np.testing.assert_allclose(model.predict(rows.drop(columns="y")), expected, rtol=1e-5)
    with pytest.raises(ValueError, match=r"expected a number, or none \(missing=\.\.\.\)"):
        greedystep.train(rows, label="y", missing="unknown")
    with pytest.raises(ValueError, match="missing= is for tables"):
        greedystep.train(rows[["temp"]].to_numpy(), rows["y"].to_numpy(), missing=-1)


def test_the_paper_gets_values_as_they_are():
    """Algorithm 1 is not told what to leave out."""
    rows = _table(-999)
    rows["y"] = rows["y"] > rows["y"].median()
    assert "missing=" not in greedystep.train(rows, label="y", method="paper", passes=1).schema


def test_onnx_knows_them():
    """The exported model takes -999 for a missing value, too."""
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    rows = _table(-999)
    features = rows.drop(columns="y")
    model = greedystep.train(rows, label="y")
    exported = model.to_onnx().SerializeToString()
    session = onnxruntime.InferenceSession(exported, providers=["CPUExecutionProvider"])
    found = session.run(None, {session.get_inputs()[0].name: features.to_numpy(np.float32)})[0]
    np.testing.assert_allclose(np.ravel(found), model.predict(features), rtol=1e-4)


def test_a_guess_is_told_and_a_decision_is_not():
    """What the program guessed is a warning; what the caller said is not."""
    rows = _table(-999)
    with pytest.warns(greedystep.NoticeWarning, match=r"-999 means missing in 'temp' \(\d+ rows\)"):
        greedystep.train(rows, label="y")
    with pytest.warns(greedystep.NoticeWarning, match=r"-999 means missing in 'temp'"):
        GreedystepRegressor().fit(rows.drop(columns="y"), rows["y"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        greedystep.train(rows, label="y", missing=-999)
        greedystep.train(_table(np.nan), label="y")
