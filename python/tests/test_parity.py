"""Same data, same seed: the command, `train` and the estimators give the same bits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import assert_same_model, planted, run_command, write_libsvm

import greedystep


def estimator_for(n_classes, **parameters):
    kind = greedystep.GreedystepRegressor if n_classes == 1 else greedystep.GreedystepClassifier
    return kind(**parameters)


@pytest.fixture
def data_file(rows, tmp_path):
    X, y, _ = rows
    return write_libsvm(tmp_path / "rows.txt", X, y)


METHODS = {"auto": "optimum", "optimum": "optimum", "gsa": "gsa", "paper": "paper"}


def given_as(form, X):
    return {"sparse": X, "dense": X.toarray(), "float64": X.toarray().astype(np.float64)}[form]


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("method", METHODS)
def test_command_train_and_fit_give_the_same_bits(rows, data_file, tmp_path, method, seed):
    X, y, n_classes = rows
    run_command("train", data_file, "-o", tmp_path / "model", "--method", method, "--seed", seed, "--quiet")
    by_command = greedystep.load(tmp_path / "model")
    by_file = greedystep.train(data_file, method=method, seed=seed)
    by_file.save(tmp_path / "file")
    for form in ("sparse", "dense", "float64"):
        by_arrays = greedystep.train(given_as(form, X), y, method=method, seed=seed)
        fitted = estimator_for(n_classes, method=method, random_state=seed).fit(given_as(form, X), y)
        assert fitted.method_ == METHODS[method]
        assert_same_model(by_command, fitted.model_)
        if not fitted.curves_:
            assert np.array_equal(np.atleast_2d(fitted.coef_), by_command.coef)
        by_arrays.save(tmp_path / form)
    for other in ("file", "sparse", "dense", "float64"):
        for suffix in ("", ".state"):
            written = (tmp_path / f"model{suffix}").read_bytes()
            assert (tmp_path / f"{other}{suffix}").read_bytes() == written, f"{other}{suffix}"


def test_threads_do_not_change_a_bit(rows):
    X, y, n_classes = rows
    one = estimator_for(n_classes, n_jobs=1).fit(X, y)
    assert_same_model(one.model_, estimator_for(n_classes, n_jobs=4).fit(X, y).model_)


def test_more_rows_than_a_block_give_the_same_bits(tmp_path):
    X, y = planted(70_000, 30, 2, seed=5)
    path = write_libsvm(tmp_path / "rows.txt", X, y)
    run_command("train", path, "-o", tmp_path / "model", "--quiet")
    fitted = greedystep.GreedystepClassifier().fit(X, y)
    assert_same_model(greedystep.load(tmp_path / "model"), fitted.model_)


def learn_chunks(estimator, X, y, chunk, pickle_at=()):
    classes = None if isinstance(estimator, greedystep.GreedystepRegressor) else np.unique(y)
    for lo in range(0, len(y), chunk):
        if lo in pickle_at:
            estimator = pickle.loads(pickle.dumps(estimator))
        if classes is None:
            estimator.partial_fit(X[lo : lo + chunk], y[lo : lo + chunk])
        else:
            estimator.partial_fit(X[lo : lo + chunk], y[lo : lo + chunk], classes=classes)
    return estimator


@pytest.fixture
def streamed(data_file, tmp_path):
    """What the command learns from a pipe: one pass in the order of the rows."""
    run_command("train", "-", "-o", tmp_path / "piped", "--quiet", stdin=data_file)
    return greedystep.load(tmp_path / "piped")


@pytest.mark.parametrize("chunk", [1, 7, 1000, 1300])
def test_partial_fit_in_chunks_gives_the_bits_of_a_stream(rows, streamed, chunk):
    X, y, n_classes = rows
    assert_same_model(streamed, learn_chunks(estimator_for(n_classes), X, y, chunk).model_)


def test_dense_rows_in_chunks_give_the_bits_of_a_stream(rows, streamed):
    X, y, n_classes = rows
    fitted = learn_chunks(estimator_for(n_classes), X.toarray().astype(np.float64), y, 90)
    assert_same_model(streamed, fitted.model_)


@pytest.mark.parametrize("at", [1, 2, 500, 1023, 1024, 1299])
def test_pickled_at_any_row_it_goes_on_with_the_same_bits(rows, streamed, at):
    X, y, n_classes = rows
    fitted = learn_chunks(estimator_for(n_classes), X, y, 1, pickle_at={at})
    assert_same_model(streamed, fitted.model_)


def test_looking_at_the_model_in_between_changes_nothing(rows, streamed):
    X, y, n_classes = rows
    estimator = estimator_for(n_classes)
    for lo in range(0, len(y), 100):
        learn_more = {} if n_classes == 1 else {"classes": np.unique(y)}
        estimator.partial_fit(X[lo : lo + 100], y[lo : lo + 100], **learn_more)
        estimator.predict(X[:5])
        assert np.isfinite(estimator.intercept_).all()
    assert_same_model(streamed, estimator.model_)


def test_a_state_that_was_written_gives_equal_bytes(rows):
    X, y, n_classes = rows
    fitted = estimator_for(n_classes).fit(X, y)
    assert pickle.dumps(fitted) == pickle.dumps(pickle.loads(pickle.dumps(fitted)))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_support_vectors_are_the_commands(tmp_path, loss):
    X, y = planted(900, 30, 3, seed=1)
    path = write_libsvm(tmp_path / "rows.txt", X, y)
    run_command("train", path, "-o", tmp_path / "model", "--loss", loss, "--quiet")
    fitted = greedystep.GreedystepLinearSVC(loss=loss).fit(X, y)
    assert_same_model(greedystep.load(tmp_path / "model"), fitted.model_)


def test_balanced_classes_are_the_commands(tmp_path):
    X, y = planted(900, 30, 2, seed=1)
    path = write_libsvm(tmp_path / "rows.txt", X, y)
    run_command("train", path, "-o", tmp_path / "m", "--class-weight", "balanced", "--quiet")
    fitted = greedystep.GreedystepClassifier(class_weight="balanced").fit(X, y)
    assert_same_model(greedystep.load(tmp_path / "m"), fitted.model_)


def test_predictions_are_the_commands(rows, data_file, tmp_path):
    X, y, n_classes = rows
    fitted = estimator_for(n_classes).fit(X, y)
    fitted.model_.save(tmp_path / "model")
    lines = run_command("predict", tmp_path / "model", data_file).split("\n")[:-1]
    if n_classes == 1:
        assert np.allclose([float(line) for line in lines], fitted.predict(X), rtol=1e-7)
        return
    labels, probabilities = zip(*(line.split() for line in lines))
    assert [int(float(label)) for label in labels] == list(fitted.predict(X))
    known = fitted.predict_proba(X)
    assert np.allclose([float(p) for p in probabilities], known.max(axis=1), 1e-5)


@pytest.mark.parametrize("options", [{}, {"curves": "off"}, {"cross": ["city:x"], "bits": 5}], ids=str)
@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_the_command_and_explain_give_the_same_contributions(tmp_path, n_classes, options):
    pd, random, n = pytest.importorskip("pandas"), np.random.default_rng(3), 1200
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "city": random.choice(["oslo", "rome", "lima"], n),
            "age, in years": random.normal(40, 10, n).round(3),
            "far": 1_700_000_000 + random.integers(0, 5000, n),
            "since": pd.date_range("2020-01-01", periods=n, freq="7h"),
            "x": random.normal(size=n).round(4),
        }
    )
    y = frame["age, in years"] / 10 + 2 * abs(frame["x"]) + frame["since"].dt.month / 6 + (frame["city"] == "rome")
    y = y.to_numpy() + random.normal(size=n) / 4
    for name in ("city", "age, in years"):
        frame.loc[random.random(n) < 0.1, name] = None
    frame.insert(2, "y", y if n_classes == 1 else np.digitize(y, [6, 7.5][: n_classes - 1]))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = greedystep.train(tmp_path / "rows.csv", label="y", **options)
    assert bool(model.curves()) == ("curves" not in options)
    model.save(tmp_path / "model")
    run_command("predict", tmp_path / "model", tmp_path / "rows.csv", "--explain", "-o", tmp_path / "explained")
    printed, rows = pd.read_csv(tmp_path / "explained"), pd.read_csv(tmp_path / "rows.csv").drop(columns="y")
    found, margins = model.explain(rows), np.asarray(model.decision_function(rows))
    values, base = found.values, found.base_values
    if n_classes > 2:
        each, best = np.arange(n), margins.argmax(axis=1)
        values, base, margins = values[each, :, best], base[each, best], margins[each, best]
    start = list(printed.columns).index("intercept")
    assert list(printed.columns[start + 1 :]) == found.feature_names
    np.testing.assert_allclose(printed["intercept"], base, rtol=1e-8)
    np.testing.assert_allclose(printed.iloc[:, start + 1 :], values, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(printed.iloc[:, start:].sum(axis=1), margins, atol=1e-6)
