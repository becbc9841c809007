"""Models as ONNX, judged by onnxruntime against what the library itself predicts."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import planted

import greedystep
from greedystep import GreedystepClassifier, GreedystepLinearSVC, GreedystepRegressor

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def run(proto, X) -> dict[str, np.ndarray]:
    """Return the outputs by name."""
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": rows.astype(np.float32)})))


def random_rows(seed: int, n_classes: int):
    """Return rows in units that differ by 10^6, and their classes."""
    random = np.random.default_rng(seed)
    n_features = int(random.integers(1, 60))
    X = random.normal(size=(400, n_features)) + random.normal(size=n_features)
    margins = X @ random.normal(size=(n_features, n_classes)) * random.uniform(0.1, 3)
    margins -= margins.mean(axis=0)
    units = 10.0 ** random.integers(-3, 4, n_features)
    return (X * units).astype(np.float32), (margins + random.gumbel(size=margins.shape)).argmax(axis=1)


@pytest.mark.parametrize("n_classes", [2, 3, 11])
@pytest.mark.parametrize("seed", range(8))
def test_probabilities_are_those_of_the_model(seed, n_classes):
    X, y = random_rows(seed, n_classes)
    model = greedystep.train(X, y)
    found = run(model.to_onnx(), X)
    expected = model.predict_proba(X)
    assert list(found) == ["output_label", "output_probability"]
    assert found["output_probability"].shape == expected.shape
    assert np.abs(found["output_probability"] - expected).max() < 1e-5
    second, first = np.sort(expected, axis=1)[:, -2:].T
    decided = first - second > 1e-4
    assert decided.mean() > 0.9
    assert np.array_equal(found["output_label"][decided], model.predict(X)[decided])


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_hinge_models_give_scores(loss, n_classes):
    X, y = random_rows(5, n_classes)
    model = greedystep.train(X, y, loss=loss)
    found = run(model.to_onnx(), X)
    assert list(found) == ["output_label", "output_score"]
    assert np.allclose(found["output_score"], model.decision_function(X), rtol=1e-5, atol=1e-4)
    assert found["output_score"].shape == model.decision_function(X).shape
    assert (found["output_label"] == model.predict(X)).mean() > 0.99


@pytest.mark.parametrize("seed", range(4))
def test_numbers_are_those_of_the_model(seed):
    X, _ = random_rows(seed, 2)
    y = np.sin(X / np.abs(X).max(axis=0)).sum(axis=1) * 1000 + seed
    model = greedystep.train(X, y, loss="squared")
    found = run(model.to_onnx(), X)["variable"]
    assert found.shape == (len(X), 1)
    assert np.abs(found[:, 0] - model.predict(X)).max() < 1e-5 * np.abs(y).max()


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["no", "yes"], "U"),
        (["a", "b", "ö"], "U"),
        ([-1, 1], "i"),
        ([0, 7, 2**40], "i"),
        ([0.5, 1.5], "U"),
    ],
    ids=str,
)
def test_labels_keep_their_names(names, kind):
    X, y = random_rows(1, len(names))
    model = greedystep.train(X, np.array(names)[y], loss="logistic" if len(names) == 2 else "softmax")
    found = run(model.to_onnx(), X)["output_label"]
    assert found.dtype.kind in ("O" if kind == "U" else kind)
    expected = model.predict(X)
    same = found == (expected.astype(str) if kind == "U" else expected)
    assert same.mean() > 0.99
    assert set(found) <= set(map(str, names) if kind == "U" else names)


def test_estimators_give_their_own_width_and_classes():
    X, y = planted(300, 10, 3)
    X = X.toarray()
    X[:, 7:] = 0  # never seen, so that the model itself ends at 7
    names = np.array(["007", "7", "seven"], object)[y]
    classifier = GreedystepClassifier().fit(X, names)
    assert classifier.model_.n_features == 7
    found = run(classifier.to_onnx(), X)
    assert np.abs(found["output_probability"] - classifier.predict_proba(X)).max() < 1e-5
    assert np.array_equal(found["output_label"], classifier.predict(X))
    flags = GreedystepClassifier().fit(X, y > 0)
    assert np.array_equal(run(flags.to_onnx(), X)["output_label"], flags.predict(X).astype(int))
    machine = GreedystepLinearSVC().fit(X, y)
    assert np.array_equal(run(machine.to_onnx(), X)["output_label"], machine.predict(X))
    regressor = GreedystepRegressor().fit(X, y)
    assert np.allclose(run(regressor.to_onnx(), X)["variable"][:, 0], regressor.predict(X), atol=1e-5)


def test_width_may_be_given():
    X, y = planted(300, 10, 2)
    model = greedystep.train(X, y)
    wide = np.hstack([X.toarray(), np.ones((300, 3))])
    found = run(model.to_onnx(n_features=13), wide)
    assert np.abs(found["output_probability"] - model.predict_proba(X)).max() < 1e-5
    assert np.allclose(model.to_sklearn(n_features=13).predict_proba(wide), model.predict_proba(X), atol=1e-6)
    for export in (model.to_onnx, model.to_sklearn):
        with pytest.raises(ValueError, match="has 10 features: n_features=9 would leave some out"):
            export(n_features=9)


def test_a_table_of_numbers_names_its_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = random_rows(2, 2)
    frame = pandas.DataFrame(X[:, :3], columns=["age", "net income", "zip"]).assign(y=y)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = greedystep.train(str(tmp_path / "rows.csv"), label="y")
    proto = model.to_onnx()
    assert {prop.key: prop.value for prop in proto.metadata_props}["columns"] == "age\nnet income\nzip"
    found = run(proto, X[:, :3])["output_probability"]
    assert np.abs(found - model.predict_proba(str(tmp_path / "rows.csv"))).max() < 1e-5


def mixed_frame(pandas, n_rows=600):
    """Return a frame with numbers, text, missing values and unequal names, and what it says of labels."""
    random = np.random.default_rng(3)
    frame = pandas.DataFrame(
        {
            "city": random.choice(["oslo", "rome", "são paulo", "a=b", "lima"], n_rows),
            "missing": random.normal(40, 10, n_rows),  # named as a tensor inside of the graph might be
            "job": random.choice([f"job {i}" for i in range(40)], n_rows),
            "X": random.normal(size=n_rows),
        }
    )
    margin = frame["missing"] / 10 - 4 + frame["X"] + 2.0 * (frame["city"] == "rome") + random.logistic(size=n_rows)
    frame.loc[random.random(n_rows) < 0.1, "missing"] = np.nan
    frame.loc[random.random(n_rows) < 0.1, "city"] = None
    return frame, margin.to_numpy()


def run_columns(proto, frame) -> dict[str, np.ndarray]:
    """Return the outputs of a graph that takes a frame column by column."""
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    of_type = {
        "tensor(string)": lambda column: column.fillna("").to_numpy(object),
        "tensor(float)": lambda column: column.to_numpy(np.float32),
        "tensor(double)": lambda column: (
            column if column.dtypes.iloc[0].kind == "f" else (column - np.datetime64(0, "s")) / np.timedelta64(1, "D")
        ),
    }
    rows = {one.name: np.asarray(of_type[one.type](frame[[one.name]])) for one in session.get_inputs()}
    assert list(rows) == list(frame.columns)
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, rows)))


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_categories_are_inputs_of_text(n_classes):
    pandas = pytest.importorskip("pandas")
    frame, margin = mixed_frame(pandas)
    later = pandas.concat([frame, frame.assign(city="atlantis", missing=np.nan), frame.assign(job=None)])
    if n_classes == 1:
        model = greedystep.train(frame, margin)
        found = run_columns(model.to_onnx(), later)["variable"][:, 0]
        assert np.abs(found - model.predict(later)).max() < 1e-5
        return
    names = np.array(["low", "middle", "high"], object)[np.digitize(margin, [-1, 2][: n_classes - 1])]
    estimator = GreedystepClassifier().fit(frame, names)
    found = run_columns(estimator.to_onnx(), later)
    expected = estimator.predict_proba(later)
    assert np.abs(found["output_probability"] - expected).max() < 1e-5
    assert len(np.unique(expected[len(frame) :], axis=0)) > 400  # rows differ by what is left
    assert (found["output_label"] == estimator.predict(later)).mean() > 0.99


def test_a_table_of_categories_alone_from_a_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame, margin = mixed_frame(pandas)
    frame = frame[["city", "job"]]
    frame.assign(y=margin > 0).to_csv(tmp_path / "rows.csv", index=False)
    greedystep.train(str(tmp_path / "rows.csv"), label="y", loss="squared_hinge").save(tmp_path / "model")
    model = greedystep.load(tmp_path / "model")
    found = run_columns(model.to_onnx(), frame)["output_score"]
    assert np.abs(found - model.decision_function(frame)).max() < 1e-5


@pytest.mark.parametrize("has_text", [True, False])
def test_dates_are_inputs_in_days(has_text):
    pandas = pytest.importorskip("pandas")
    frame, margin = mixed_frame(pandas)
    random = np.random.default_rng(5)
    seconds = random.integers(-4_000_000_000, 4_000_000_000, len(frame))  # 1843 to 2096
    seconds[:300] = np.arange(300) * 3600 + 1_709_000_000  # around the 29 February of 2024
    frame = frame.assign(
        since=pandas.to_datetime(seconds, unit="s"), until=pandas.to_datetime(seconds // 86400, unit="D")
    )
    margin = margin + frame["since"].dt.month + frame["since"].dt.hour / 8 + frame["since"].dt.day_of_week
    frame.loc[random.random(len(frame)) < 0.1, "since"] = pandas.NaT
    frame = frame if has_text else frame[["X", "since", "until"]]
    model = greedystep.train(frame, margin)
    found = run_columns(model.to_onnx(), frame)["variable"][:, 0]
    assert np.abs(found - model.predict(frame)).max() < 1e-4
    assert model.evaluate(frame, margin)["r2"] > 0.7


@pytest.mark.parametrize("unit", ["min", "h"])
def test_dates_of_few_days_lose_no_digits(unit):
    pandas = pytest.importorskip("pandas")
    frame, margin = mixed_frame(pandas)
    frame = frame.assign(since=pandas.Timestamp("2024-05-01") + pandas.to_timedelta(np.arange(len(frame)), unit=unit))
    model = greedystep.train(frame, margin + 10 * np.arange(len(frame)) / len(frame))
    # Days without an offset nearly cancel with the intercept.
    assert ("offset" in model.schema) if unit == "min" else (abs(model.intercept[0]) > 1000)
    found = run_columns(model.to_onnx(), frame)["variable"][:, 0]
    assert np.abs(found - model.predict(frame)).max() < 1e-4


def test_what_a_graph_cannot_hold_is_refused_by_name(monkeypatch):
    pandas = pytest.importorskip("pandas")
    frame, margin = mixed_frame(pandas)
    with pytest.raises(ValueError, match="cannot export the cross 'city:job'"):
        greedystep.train(frame, margin, cross=["city:job"]).to_onnx()
    with pytest.raises(ValueError, match="column 'variable': an output of the graph has this name"):
        greedystep.train(frame.rename(columns={"job": "variable"}), margin).to_onnx()
    with pytest.warns(greedystep.NoticeWarning, match="categories share a feature"):
        greedystep.train(frame, margin, bits=8).to_onnx()
    model = greedystep.train(frame, margin)
    monkeypatch.setattr("greedystep._core.CModel.name", lambda *_: None)
    with pytest.raises(ValueError, match=r"cannot export 45 of 45 categories to ONNX.*compact=True"):
        model.to_onnx()


def test_large_models_are_refused(monkeypatch):
    X, y = planted(300, 10, 3)
    model = greedystep.train(X, y)
    with pytest.raises(ValueError, match=r"400000 features x 3 output\(s\) are more than the 1000000 weights"):
        model.to_onnx(n_features=400_000)
    monkeypatch.setattr("greedystep.onnx.MAX_WEIGHTS", 30)
    assert model.to_onnx() is not None
    monkeypatch.setattr("greedystep.onnx.MAX_WEIGHTS", 29)
    with pytest.raises(ValueError, match=r"Model\.save"):
        model.to_onnx()
