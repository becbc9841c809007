"""What training chose is shown, in terms that users of scikit-learn know."""

import json
import pickle

import numpy as np
import pytest
from conftest import run_command
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, roc_auc_score

from greedystep import GreedystepClassifier, GreedystepRegressor, load


def rows(n, seed=0):
    """Rows of different units; classes and numbers that follow a linear rule."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * [1, 3, 0.1, 10, 1]
    score = X @ [1.5, -0.3, 6, 0.05, 0]
    return X, (score + rng.logistic(size=n) > 0).astype(int), score + rng.normal(size=n)


def scaled(X, summary):
    return X / X.std(axis=0) if summary["standardised"] else X


def test_held_out_metrics_are_those_of_new_rows():
    X, classes, numbers = rows(12000)
    classifier = GreedystepClassifier().fit(X[:3000], classes[:3000])
    found = classifier.summary_
    p = classifier.predict_proba(X[3000:])[:, 1]
    assert found["accuracy"] == pytest.approx(accuracy_score(classes[3000:], p > 0.5), abs=0.02)
    assert found["auc"] == pytest.approx(roc_auc_score(classes[3000:], p), abs=0.015)
    regressor = GreedystepRegressor().fit(X[:3000], numbers[:3000])
    assert regressor.summary_["r2"] == pytest.approx(regressor.score(X[3000:], numbers[3000:]), abs=0.02)
    error = np.abs(regressor.predict(X[3000:]) - numbers[3000:]).mean()
    assert regressor.summary_["mae"] == pytest.approx(error, rel=0.04)


def test_alpha_is_that_of_ridge():
    X, _, numbers = rows(3000)
    model = GreedystepRegressor().fit(X, numbers)
    found = model.summary_
    ridge = Ridge(alpha=found["alpha"]).fit(scaled(X, found), numbers)
    units = X.std(axis=0) if found["standardised"] else np.ones(X.shape[1])
    ours = model.coef_ * units / found["calibration_scale"]
    assert ours == pytest.approx(ridge.coef_, abs=0.02 * np.abs(ridge.coef_).max())


def test_c_of_logistic_regression_is_as_good():
    X, classes, _ = rows(12000)
    model = GreedystepClassifier().fit(X[:3000], classes[:3000])
    found = model.summary_
    units = X[:3000].std(axis=0) if found["standardised"] else np.ones(X.shape[1])
    other = LogisticRegression(C=found["C"], max_iter=1000).fit(X[:3000] / units, classes[:3000])
    theirs = other.predict_proba(X[3000:] / units)[:, 1]
    assert roc_auc_score(classes[3000:], theirs) == pytest.approx(found["auc"], abs=0.015)


def test_summary_is_kept_by_files_and_pickles(tmp_path):
    X, classes, _ = rows(500)
    model = GreedystepClassifier().fit(X, classes)
    found = model.summary_
    assert found["method"] == "optimum" and found["folds"] == 8 and isinstance(found["standardised"], bool)
    assert model.cv_loss_ == found["held_out_loss"] < found["baseline_loss"]
    model.model_.save(tmp_path / "m")
    assert load(tmp_path / "m").summary == found
    assert pickle.loads(pickle.dumps(model)).summary_ == found
    shown = json.loads(run_command("inspect", tmp_path / "m", "--json"))
    assert shown["chosen"]["C"] == found["C"] and shown["accuracy"] == found["accuracy"]


def test_summary_reads_as_lines():
    X, classes, _ = rows(500)
    lines = repr(GreedystepClassifier().fit(X, classes).summary_).splitlines()
    names = [line.split()[0] for line in lines]
    assert {"loss", "held_out_loss", "accuracy", "auc", "C", "standardised", "calibration_scale"} <= set(names)


def test_greedy_step_averaging_says_what_it_chose():
    X, classes, numbers = rows(20000)
    model = GreedystepClassifier(method="gsa").fit(X[:10000], classes[:10000])
    found = model.summary_
    assert found["method"] == "gsa" and "C" not in found
    assert {"standardised", "best_pass", "held_out_loss"} <= set(found)
    p = model.predict_proba(X[10000:])[:, 1]
    assert found["accuracy"] == pytest.approx(accuracy_score(classes[10000:], p > 0.5), abs=0.03)
    assert found["auc"] == pytest.approx(roc_auc_score(classes[10000:], p), abs=0.03)
    other = GreedystepRegressor(method="gsa").fit(X[:10000], numbers[:10000])
    assert other.summary_["r2"] == pytest.approx(other.score(X[10000:], numbers[10000:]), abs=0.04)
