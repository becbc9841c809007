"""Weights of rows are proportions: the same at every kind of input, and like rows repeated."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import assert_same_model, planted, run_command
from sklearn.utils import compute_sample_weight

import greedystep
from greedystep import GreedystepClassifier, GreedystepLinearSVC, GreedystepRegressor

ALL = [GreedystepClassifier, GreedystepRegressor, GreedystepLinearSVC]
LOSSES = ["squared", "logistic", "hinge", "squared_hinge", "softmax"]


def rows_for(kind, n_rows=600):
    X, y = planted(n_rows, 10, 1 if kind is GreedystepRegressor else 3, seed=2)
    return X, y, np.random.default_rng(1).integers(1, 12, n_rows) / 4


def opposites(loss):
    """Return rows of which every fifth says the opposite of the others, and counts 50 times."""
    a = (np.arange(100) * 37 % 101 - 50) / 25
    heavy = np.arange(100) % 5 == 0
    y = np.where(heavy, 2 * a, -a)
    if loss == "softmax":
        y = np.digitize(y, [-0.7, 0.7])
    elif loss != "squared":
        y = (y > 0).astype(float)
    return a.reshape(-1, 1).astype(np.float32), y, np.where(heavy, 50, 1)


# ---- a common factor ----------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [2, 1 / 64])
@pytest.mark.parametrize("kind", ALL)
def test_a_common_factor_changes_no_estimator(kind, factor):
    X, y, weights = rows_for(kind)
    assert_same_model(kind().fit(X, y, sample_weight=weights), kind().fit(X, y, sample_weight=weights * factor))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_common_factor_changes_no_training(loss):
    X, y, weights = opposites(loss)
    one = greedystep.train(X, y, weight=weights, loss=loss)
    for factor in (2, 1 / 64):
        other = greedystep.train(X, y, weight=weights * factor, loss=loss)
        assert_same_model(one, other)


@pytest.mark.parametrize("kind", ALL)
def test_a_common_factor_changes_no_stream(kind):
    X, y, weights = rows_for(kind)
    fitted = []
    for factor in (1, 2):
        one = kind()
        for at in range(0, 600, 150):
            part = slice(at, at + 150)
            classes = {} if kind is GreedystepRegressor else {"classes": [0, 1, 2]}
            one.partial_fit(X[part], y[part], sample_weight=weights[part] * factor, **classes)
        fitted.append(one)
    assert_same_model(*fitted)


def test_equal_weights_are_none():
    X, y = planted(600, 10, 2, seed=2)
    plain = GreedystepClassifier().fit(X, y)
    assert_same_model(plain, GreedystepClassifier().fit(X, y, sample_weight=np.full(600, 4.0)))
    hundredth = GreedystepClassifier().fit(X, y, sample_weight=np.full(600, 0.01))
    np.testing.assert_allclose(hundredth.decision_function(X), plain.decision_function(X), rtol=1e-3, atol=1e-3)


# ---- rows repeated ------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_a_weight_of_fifty_is_fifty_rows(loss):
    X, y, weights = opposites(loss)
    measure = {"squared": "r2", "logistic": "log_loss", "softmax": "log_loss"}.get(loss, "accuracy")
    weighted = greedystep.train(X, y, weight=weights, loss=loss)
    X, y = np.repeat(X, weights, axis=0), np.repeat(y, weights)
    repeated = greedystep.train(X, y, loss=loss)
    assert weighted.evaluate(X, y)[measure] == pytest.approx(repeated.evaluate(X, y)[measure], abs=0.03)


@pytest.mark.parametrize("kind", ALL)
def test_weights_are_like_repeated_rows_in_another_order(kind):
    """As scikit-learn's check_sample_weight_equivalence has it, with more rows than its 15, of weights 0 to 4.

    Rows of few values repeat others anyway, so copies are not known as such: curves would learn their labels by heart.
    """
    X, y, _ = rows_for(kind, 1500)
    X = X.toarray()
    random = np.random.default_rng(4)
    weights = random.integers(0, 5, 1500)
    copies = random.permutation(np.repeat(np.arange(1500), weights))
    weighted = kind(curves="off").fit(X, y, sample_weight=weights)
    repeated = kind(curves="off").fit(X[copies], y[copies])
    of = "predict" if kind is GreedystepRegressor else "decision_function"
    found, expected = getattr(weighted, of)(X), getattr(repeated, of)(X)
    assert np.abs(found - expected).mean() < 0.15 * expected.std()


@pytest.mark.parametrize("kind", ALL)
def test_weights_of_measured_rows_bend_columns_as_copies_do(kind):
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 3))
    y = np.abs(X[:, 0]) + X[:, 1] / 2 + random.normal(size=1500) / 2
    y = y if kind is GreedystepRegressor else np.digitize(y, [0.5, 1.2])
    weights = random.integers(0, 5, 1500)
    copies = random.permutation(np.repeat(np.arange(1500), weights))
    weighted = kind().fit(X, y, sample_weight=weights)
    assert weighted.curves_
    assert_same_model(weighted, kind().fit(X[copies], y[copies]))


def test_rows_of_weight_zero_are_absent():
    X, y = planted(400, 10, 2, seed=4)
    weights = np.where(np.arange(400) % 4, 1.0, 0.0)
    told = {"method": "paper", "order": "file", "passes": 2}
    some = greedystep.train(X, y, weight=weights, **told)
    none = greedystep.train(X[weights > 0], y[weights > 0], **told)
    assert_same_model(some, none)


# ---- every kind of input ---------------------------------------------------------------------------------


def test_every_door_has_the_same_weights(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    X, y, weights = rows_for(GreedystepClassifier)
    X = X.toarray()
    columns = {f"c{i}": X[:, i] for i in range(10)}
    table = pa.table({"y": y, "w": weights, **columns})
    path = tmp_path / "rows.csv"
    pd.DataFrame({"y": y, "w": weights, **columns}).to_csv(path, index=False)
    run_command("train", path, "--label", "y", "--weight", "w", "-o", tmp_path / "m", "--quiet")
    models = {
        "array": greedystep.train(X, y, weight=weights),
        "table": greedystep.train(table, label="y", weight="w"),
        "file": greedystep.train(path, label="y", weight="w"),
        "command": greedystep.load(tmp_path / "m"),
        "estimator": GreedystepClassifier().fit(X, y, sample_weight=weights).model_,
    }
    for model in models.values():
        assert_same_model(model, models["array"])


def test_a_frame_of_words_has_weights_too():
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"town": random.choice(["oslo", "lima", "rome"], 500), "age": random.integers(1, 90, 500)})
    y = (frame["town"] == "oslo").to_numpy() ^ (random.random(500) < 0.2)
    weights = random.integers(1, 9, 500)
    one, other = (GreedystepClassifier().fit(frame, y, sample_weight=weights * factor) for factor in (1, 2))
    assert np.array_equal(one.decision_function(frame), other.decision_function(frame))


def test_class_weights_multiply_those_of_rows():
    X, y, weights = rows_for(GreedystepClassifier)
    of_classes = {0: 1.0, 1: 8.0, 2: 0.5}
    both = GreedystepClassifier(class_weight=of_classes).fit(X, y, sample_weight=weights)
    by_hand = GreedystepClassifier().fit(X, y, sample_weight=weights * compute_sample_weight(of_classes, y))
    assert_same_model(both, by_hand)


def test_negative_weights_are_refused_at_every_door(tmp_path):
    X, y, weights = rows_for(GreedystepClassifier)
    model = greedystep.train(X, y)
    weights[5] = -1
    path = tmp_path / "rows.csv"
    path.write_text("y,w,a\n0,1,1\n1,-1,2\n")
    calls = [
        lambda: greedystep.train(X, y, weight=weights),
        lambda: greedystep.train(path, label="y", weight="w"),
        lambda: model.evaluate(X, y, weight=weights),
        lambda: GreedystepClassifier().fit(X, y, sample_weight=weights),
        lambda: GreedystepClassifier().partial_fit(X, y, classes=[0, 1, 2], sample_weight=weights),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"(?i)weight"):
            call()
