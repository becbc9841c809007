"""Columns and labels far from zero: digits are not lost, whichever way the rows come."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import run_command
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import greedystep
from greedystep import GreedystepClassifier, GreedystepRegressor

pd = pytest.importorskip("pandas")

N = 1000


def problem(name: str, seed: int = 0):
    """Return rows and labels; the first half is for training."""
    random = np.random.default_rng(seed)
    g, noise = random.normal(size=(2 * N, 3)), random.normal(size=2 * N)
    if name == "timestamps":
        X = np.column_stack([np.floor(1.7e9 + 30 * g[:, 0]), g[:, 1]])
        return X, 2 * g[:, 0] + 0.1 * noise
    if name == "ids":
        return 1e9 + 10 * g[:, :1], g[:, 0]
    if name == "prices":
        return np.column_stack([np.round(1e7 + 3 * g[:, 0], 2), g[:, 1]]), 5 * g[:, 0] - g[:, 1] + noise
    if name == "features":
        return 1e7 + g, g @ [1, -2, 0.5] + 0.4 * noise
    if name == "labels":
        return g, 1e9 + g @ [1, -2, 0.5] + 0.4 * noise
    return 1e9 + g, -1e9 + g @ [1, -2, 0.5] + 0.4 * noise


PROBLEMS = ["timestamps", "ids", "prices", "features", "labels", "both"]


@pytest.mark.parametrize("method", ["optimum", "gsa"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_numbers_far_from_zero_are_learned_as_well_as_by_a_scaler_and_ridge(name, method):
    X, y = problem(name)
    expected = make_pipeline(StandardScaler(), Ridge(1e-3)).fit(X[:N], y[:N]).predict(X[N:])
    found = GreedystepRegressor(method=method).fit(X[:N], y[:N])
    assert r2_score(y[N:], found.predict(X[N:])) > r2_score(y[N:], expected) - (0.001 if method == "optimum" else 0.003)


@pytest.mark.parametrize("loss", ["huber", "squared"])
@pytest.mark.parametrize("method", ["optimum", "gsa"])
def test_labels_far_from_zero_keep_their_digits(method, loss):
    X, y = problem("labels")
    model = greedystep.train(X[:N], y[:N], loss=loss, method=method)
    assert model.evaluate(X[N:], y[N:])["rmse"] < 0.43
    assert np.sqrt(np.mean((model.predict(X[N:]) - y[N:]) ** 2)) < 0.43


def test_counts_far_from_zero_keep_their_digits():
    random = np.random.default_rng(0)
    X = random.normal(size=(2 * N, 2))
    y = random.poisson(1e9 * np.exp(1e-3 * X[:, 0])).astype(np.float64)
    for method in ("optimum", "gsa"):
        model = GreedystepRegressor(loss="poisson", method=method).fit(X[:N], y[:N])
        assert r2_score(y[N:], model.predict(X[N:])) > 0.998


def test_classes_are_found_far_from_zero():
    X, y = problem("features")
    near = GreedystepClassifier().fit(X[:N] - 1e7, y[:N] > 0).score(X[N:] - 1e7, y[N:] > 0)
    assert GreedystepClassifier().fit(X[:N], y[:N] > 0).score(X[N:], y[N:] > 0) == pytest.approx(near, abs=0.01)


@pytest.fixture(scope="module", params=["timestamps", "prices", "both"])
def doors(request, tmp_path_factory):
    """Return the same rows as a frame, and the model that the command makes of them as text."""
    X, y = problem(request.param)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    folder = tmp_path_factory.mktemp(request.param)
    frame.assign(label=y)[:N].to_csv(folder / "rows.csv", index=False)
    frame[N:].to_csv(folder / "test.csv", index=False)
    run_command("train", folder / "rows.csv", "--label", "label", "-o", folder / "m", "--quiet")
    return frame, y, folder


def same(folder, model) -> bool:
    """Return whether a model is that of the command, to the byte."""
    model.save(folder / "other")
    return (folder / "other").read_bytes() == (folder / "m").read_bytes()


def test_every_door_gives_the_same_model_and_predictions(doors):
    frame, y, folder = doors
    table = frame.assign(label=y)
    expected = greedystep.load(folder / "m").predict(frame[N:])
    assert same(folder, greedystep.train(folder / "rows.csv", label="label"))
    by_frame = greedystep.train(table[:N], label="label")
    assert same(folder, by_frame)
    numbers = greedystep.train(frame[:N], y[:N], loss="squared")
    array = greedystep.train(frame[:N].to_numpy(), y[:N], loss="squared")
    estimator = GreedystepRegressor().fit(frame[:N], y[:N])
    for model in (by_frame, numbers, array, estimator, greedystep.load(folder / "m")):
        rows = frame[N:].to_numpy() if model is array else frame[N:]
        assert np.array_equal(model.predict(rows), expected)
    assert np.array_equal(numbers.predict(frame[N:].to_numpy()), expected)
    assert np.array_equal(array.predict(frame[N:].to_numpy()[:, ::1].copy(order="F")), expected)
    run_command("predict", folder / "m", folder / "test.csv", "-o", folder / "p", "--quiet")
    assert np.allclose(np.loadtxt(folder / "p"), expected, rtol=1e-8 if abs(expected[0]) < 1e6 else 1e-14)


def test_parquet_and_arrow_give_the_same_model(doors):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    frame, y, folder = doors
    table = pa.Table.from_pandas(frame.assign(label=y)[:N], preserve_index=False)
    assert same(folder, greedystep.train(table, label="label"))
    parquet.write_table(table, folder / "rows.parquet")
    assert same(folder, greedystep.train(folder / "rows.parquet", label="label"))


@pytest.mark.parametrize("name", ["timestamps", "both"])
@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4"])
def test_files_of_arrays_give_the_model_of_the_array(tmp_path, name, dtype):
    X, y = problem(name)
    X = X.astype(dtype)
    np.save(tmp_path / "x.npy", X[:N])
    np.save(tmp_path / "y.npy", y[:N])
    np.save(tmp_path / "test.npy", X[N:])
    expected = greedystep.train(X[:N].astype(dtype[1:]), y[:N])
    run_command("train", tmp_path / "x.npy", "--labels", tmp_path / "y.npy", "-o", tmp_path / "m", "--quiet")
    assert same(tmp_path, expected)
    found = greedystep.train(tmp_path / "x.npy", labels=tmp_path / "y.npy")
    assert same(tmp_path, found)
    for model in (expected, found, greedystep.load(tmp_path / "m")):
        assert np.array_equal(model.predict(tmp_path / "test.npy"), expected.predict(X[N:].astype(dtype[1:])))


def test_rows_that_follow_have_the_offsets_of_the_model_or_none(tmp_path):
    X, y = problem("features")
    near = greedystep.train(X[:N] - 1e7, y[:N])
    assert near.schema is None
    np.save(tmp_path / "x.npy", X[:N])
    np.save(tmp_path / "y.npy", y[:N])
    assert near.evaluate(tmp_path / "x.npy", labels=tmp_path / "y.npy")["rows"] == N
    near.save(tmp_path / "m")
    run_command("evaluate", tmp_path / "m", tmp_path / "x.npy", "--labels", tmp_path / "y.npy")
    labels = ["--labels", tmp_path / "y.npy"]
    run_command("train", tmp_path / "x.npy", *labels, "--start-from", tmp_path / "m", "-o", tmp_path / "n", "--quiet")


def test_later_rows_are_measured_from_the_offsets_of_the_model():
    X, y = problem("timestamps")
    first = greedystep.train(X[:N], y[:N])
    later = greedystep.train(X[N:] + [86400, 0], y[N:] + 2 * 86400 / 30, start_from=first)
    assert later.schema == first.schema
    assert later.evaluate(X[N:] + [86400, 0], y[N:] + 2 * 86400 / 30)["rmse"] < 0.2
    other = greedystep.train(X[N:] + [86400, 0], y[N:])
    with pytest.raises(greedystep.GreedystepError, match="column '1' is measured from different offsets"):
        first.merge(other)


def test_partial_fit_measures_from_the_offsets_of_the_first_rows():
    X, y = problem("features")
    model = GreedystepRegressor()
    for lo in range(0, N, 100):
        model.partial_fit(X[lo : lo + 100], y[lo : lo + 100])
    assert r2_score(y[N:], model.predict(X[N:])) > 0.95


def test_coefficients_and_intercept_are_those_of_the_columns_as_they_are():
    X, y = problem("both")
    model = GreedystepRegressor().fit(X[:N], y[:N])
    assert np.abs(X[N:] @ model.coef_ + model.intercept_ - model.predict(X[N:])).max() < 1e-4
    assert np.abs(model.model_.to_sklearn().predict(X[N:]) - model.predict(X[N:])).max() < 1e-4


def test_missing_numbers_far_from_zero_count_as_the_mean():
    X, y = problem("timestamps")
    X[::10, 0] = np.nan
    model = greedystep.train(X[:N], y[:N])
    mean = np.nanmean(X[:N, 0])
    filled = np.where(np.isnan(X), [mean, 0], X)
    expected = make_pipeline(StandardScaler(), Ridge(1e-3)).fit(filled[:N], y[:N]).predict(filled[N:])
    assert r2_score(y[N:], model.predict(X[N:])) > r2_score(y[N:], expected) - 0.001


def test_sparse_rows_are_refused_by_a_model_with_offsets():
    X, y = problem("features")
    model = greedystep.train(X[:N], y[:N])
    with pytest.raises(ValueError, match="measures column '1' from 1e\\+07, and absent numbers of a sparse matrix"):
        model.predict(sparse.csr_matrix(X))


def test_the_method_of_the_paper_sees_values_as_they_are():
    X, y = problem("features")
    assert "offset" not in (greedystep.train(X, y, method="paper").schema or "")
    assert "offset" not in (GreedystepRegressor(method="paper").fit(X, y).model_.schema or "")
    frame = pd.DataFrame(X).rename(columns=str).assign(label=y)
    assert "offset" not in (greedystep.train(frame, label="label", method="paper").schema or "offset")


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.float64])
def test_types_of_arrays_do_not_matter(dtype):
    X, y = problem("timestamps")
    X = np.floor(X).astype(dtype)
    model = greedystep.train(X[:N], y[:N])
    as_doubles = greedystep.train(X[:N].astype(np.float64), y[:N])
    assert np.array_equal(model.predict(X[N:]), as_doubles.predict(X[N:].astype(np.float64)))


@pytest.mark.parametrize("name", ["timestamps", "both", "labels"])
def test_onnx_agrees_far_from_zero(name):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = problem(name)
    model = greedystep.train(X[:N], y[:N])
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"])
    kind = np.float64 if "double" in session.get_inputs()[0].type else np.float32
    assert (kind == np.float64) == (name != "labels")
    found = session.run(["variable"], {"X": X[N:].astype(kind)})[0][:, 0]
    assert np.abs(found - model.predict(X[N:])).max() < 1e-5


def times(span: int = 10 * 3600):
    """Return times within that number of seconds of a day, the hours since midnight, and labels."""
    n = 2 * N
    random = np.random.default_rng(1)
    seconds = random.integers(13 * 3600 - span // 2, 13 * 3600 + span // 2, n)
    hours = seconds / 3600
    when = pd.Series(np.datetime64("2026-11-17", "ns") + seconds.astype("timedelta64[s]"))
    return when, hours, 72000 / span * hours + 0.1 * random.normal(size=n)


@pytest.mark.parametrize("span", [10 * 3600, 600])
@pytest.mark.parametrize("form", ["datetime64", "text", "csv"])
def test_times_of_one_day_are_learned_as_well_as_hours(tmp_path, form, span):
    when, hours, y = times(span)
    hours = hours[:, None]
    expected = make_pipeline(StandardScaler(), Ridge(1e-3)).fit(hours[:N], y[:N]).predict(hours[N:])
    frame = pd.DataFrame({"t": when if form == "datetime64" else when.dt.strftime("%Y-%m-%dT%H:%M:%S"), "y": y})
    rows = frame[:N]
    if form == "csv":
        rows = tmp_path / "rows.csv"
        frame[:N].to_csv(rows, index=False)
    model = greedystep.train(rows, label="y")
    assert "date t\toffset=20774.5" in model.schema
    found = model.predict(frame[N:].drop(columns="y"))
    assert r2_score(y[N:], found) > r2_score(y[N:], expected) - 0.001


def test_times_are_measured_alike_from_every_door(tmp_path):
    when, _, y = times()
    frame = pd.DataFrame({"t": when, "y": y})
    frame.assign(t=when.dt.strftime("%Y-%m-%dT%H:%M:%S")).to_csv(tmp_path / "rows.csv", index=False)
    run_command("train", tmp_path / "rows.csv", "--label", "y", "-o", tmp_path / "m", "--quiet")
    assert same(tmp_path, greedystep.train(frame, label="y"))
    first = greedystep.load(tmp_path / "m")
    next_day = frame.assign(t=when + pd.Timedelta(days=1), y=y + 48)
    assert greedystep.train(next_day, label="y", start_from=first).schema == first.schema
    assert "offset" not in greedystep.train(frame, label="y", method="paper").schema
    wide = frame.assign(t=when + pd.to_timedelta(np.arange(len(y)) % 30, unit="D"))
    assert "offset" not in greedystep.train(wide, label="y").schema


def test_onnx_agrees_on_times_of_one_day():
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    when, hours, y = times()
    frame = pd.DataFrame({"t": when, "x": np.sin(hours * 1000), "y": y})
    frame.loc[::50, "t"] = pd.NaT
    model = greedystep.train(frame[:N], label="y")
    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"])
    assert [one.type for one in session.get_inputs()] == ["tensor(double)", "tensor(double)"]
    days = (frame[["t"]] - np.datetime64(0, "s")) / np.timedelta64(1, "D")
    rows = {"t": days[N:].to_numpy(), "x": frame[["x"]][N:].to_numpy()}
    found = session.run(["variable"], rows)[0][:, 0]
    assert np.abs(found - model.predict(frame[N:].drop(columns="y"))).max() < 1e-5


@pytest.mark.parametrize("name", ["features", "labels"])
def test_lists_of_features_far_from_zero_are_told_of(name, capsys):
    pa = pytest.importorskip("pyarrow")
    X, y = problem(name)
    table = pa.table({"features": pa.array(list(X)), "y": y})
    greedystep.train(table, label="y", verbose=True)
    told = "values of feature 0 and 2 more are so far from 0" in capsys.readouterr().err
    assert told == (name == "features")
