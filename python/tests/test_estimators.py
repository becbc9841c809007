"""The estimators among scikit-learn's own."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pytest
from conftest import assert_same_model, planted
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import greedystep
from greedystep import GreedystepClassifier, GreedystepLinearSVC, GreedystepRegressor

ALL = [GreedystepClassifier, GreedystepRegressor, GreedystepLinearSVC]


def expected_failures(_estimator):
    """Return what scikit-learn itself expects of SGDClassifier and SGDRegressor, and no more.

    The check has 15 rows: copies of so few are dealt out to the folds one by one, and judge each other.
    """
    why = "sample_weight is not equivalent to removing/repeating samples where there are few kinds of rows."
    return {
        "check_sample_weight_equivalence_on_dense_data": why,
        "check_sample_weight_equivalence_on_sparse_data": why,
    }


@parametrize_with_checks([kind() for kind in ALL], expected_failed_checks=expected_failures)
def test_scikit_learn_has_no_objection(estimator, check):
    check(estimator)


# ---- in place of the checks that are expected to fail -------------------------------------------


def two_populations(n_classes):
    """Rows of two kinds that contradict each other, and weights that prefer the first."""
    X, y = planted(2000, 10, n_classes, seed=2)
    other_X, other_y = planted(2000, 10, n_classes, seed=3)
    X = np.vstack([X.toarray(), other_X.toarray()])
    weights = np.repeat([3, 1], 2000)
    weights[::10] = 0
    return X, np.concatenate([y, other_y]), weights


def data_for(kind, n_rows, n_features, n_classes=2, seed=4):
    return planted(n_rows, n_features, 1 if kind is GreedystepRegressor else n_classes, seed=seed)


@pytest.mark.parametrize("kind", ALL)
def test_weights_of_an_optimum_are_copies_bit_for_bit(kind):
    X, y = data_for(kind, 1500, 30)
    random = np.random.default_rng(0)
    X = X.toarray() + random.normal(size=X.shape)
    weights = random.integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weights)
    weighted = kind().fit(X, y, sample_weight=weights)
    repeated = kind().fit(X[copies], y[copies])
    assert weighted.method_ == repeated.method_ == "optimum"
    assert np.array_equal(weighted.coef_, repeated.coef_)
    assert np.array_equal(weighted.intercept_, repeated.intercept_)


@pytest.mark.parametrize("kind", ALL)
def test_neither_the_order_of_rows_nor_the_seed_changes_an_optimum(kind):
    X, y = data_for(kind, 900, 20)
    order = np.random.default_rng(0).permutation(len(y))
    first, other = kind().fit(X, y), kind(random_state=7).fit(X[order], y[order])
    assert first.method_ == "optimum"
    assert np.array_equal(first.coef_, other.coef_)
    by_steps = [kind(method="gsa", random_state=seed).fit(X, y).coef_ for seed in (0, 7)]
    assert not np.array_equal(*by_steps)


@pytest.mark.parametrize("kind", ALL)
def test_weights_of_gsa_are_like_copies_on_average(kind):
    """Over several orders of the rows, weights and copies lead to the same mean prediction."""
    n_classes = 1 if kind is GreedystepRegressor else 2
    X, y, weights = two_populations(n_classes)
    copies = np.repeat(np.arange(len(y)), weights)

    def mean_numbers(rows, sample_weight=None):
        found = 0
        for seed in range(4):
            fitted = kind(method="gsa", random_state=seed, curves="off")
            fitted.fit(X[rows], y[rows], sample_weight=sample_weight)
            found += fitted.predict(X) if n_classes == 1 else fitted.decision_function(X)
        return found / found.std()

    everything = np.arange(len(y))
    weighted, repeated = mean_numbers(everything, weights), mean_numbers(copies)
    apart = np.abs(weighted - repeated).mean()
    assert apart < 0.1
    assert apart < 0.25 * np.abs(mean_numbers(everything) - repeated).mean()


@pytest.mark.parametrize("kind", ALL)
def test_rows_of_weight_zero_are_as_if_they_were_not_there(kind):
    X, y = planted(400, 10, 1 if kind is GreedystepRegressor else 2, seed=4)
    X = X.toarray()
    weights = np.ones(400)
    weights[300:] = 0
    some = kind(method="paper", order="file", passes=2).fit(X, y, sample_weight=weights)
    none = kind(method="paper", order="file", passes=2).fit(X[:300], y[:300])
    assert np.array_equal(some.coef_, none.coef_)


@pytest.mark.parametrize("kind", ALL)
def test_few_rows_that_come_in_calls_are_solved_as_all_at_once(kind):
    X, y = planted(300, 10, 1 if kind is GreedystepRegressor else 2, seed=4)
    classes = {} if kind is GreedystepRegressor else {"classes": np.unique(y)}
    as_they_come = kind(method="gsa")
    for i in range(0, 300, 60):
        as_they_come.partial_fit(X[i : i + 60], y[i : i + 60], **classes)
    assert np.array_equal(as_they_come.coef_, kind().fit(X, y).coef_)


@pytest.mark.parametrize(
    ("parameters", "method"),
    [
        ({}, "optimum"),
        ({"method": "optimum"}, "optimum"),
        ({"method": "gsa"}, "gsa"),
        ({"method": "paper"}, "paper"),
        ({"passes": 2}, "gsa"),
        ({"average": "last"}, "gsa"),
        ({"holdout": "none"}, "gsa"),
        ({"order": "file"}, "gsa"),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ALL)
def test_method_says_which_ran(kind, parameters, method):
    X, y = data_for(kind, 300, 10)
    fitted = kind(**parameters).fit(X / 8, y)
    assert fitted.method_ == fitted.model_.method == method
    assert pickle.loads(pickle.dumps(fitted)).method_ == method


@pytest.mark.parametrize("kind", ALL)
def test_rows_that_come_after_an_optimum_are_learned_by_gsa(kind):
    X, y = data_for(kind, 300, 10)
    fitted = kind().fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    assert fitted.method_ == "gsa"
    assert fitted.model_.n_rows == 300


def test_a_method_that_contradicts_another_parameter_is_refused():
    X, y = planted(50, 4, 2, seed=4)
    with pytest.raises(ValueError, match="passes 3 is for greedy step averaging"):
        GreedystepClassifier(method="optimum", passes=3).fit(X, y)


def test_an_unknown_method_is_refused_with_those_there_are():
    X, y = planted(50, 4, 2, seed=4)
    with pytest.raises(ValueError, match=r"auto\|optimum\|gsa\|paper"):
        GreedystepClassifier(method="team").fit(X, y)


# ---- in company ---------------------------------------------------------------------------------


def test_none_and_words_stand_for_what_no_number_says():
    X, y = load_iris(return_X_y=True)
    plain = GreedystepClassifier().fit(X, y)
    for passes, holdout in (("auto", None), (None, "auto")):
        same = GreedystepClassifier(passes=passes, holdout=holdout).fit(X, y)
        np.testing.assert_array_equal(same.coef_, plain.coef_)
    assert GreedystepClassifier(holdout="none").fit(X, y).method_ == "gsa"
    with pytest.raises(ValueError, match="expected auto or a whole number from 1"):
        GreedystepClassifier(passes=0).fit(X, y)


def test_raw_units_need_no_scaler():
    for load in (load_breast_cancer, load_wine):
        X, y = load(return_X_y=True)
        scaled = make_pipeline(StandardScaler(), LogisticRegression())
        ours = cross_val_score(GreedystepClassifier(), X, y, cv=5).mean()
        assert ours > cross_val_score(scaled, X, y, cv=5).mean() - 0.05
        assert ours > cross_val_score(SGDClassifier(random_state=0), X, y, cv=5).mean() + 0.02
    X, y = load_diabetes(return_X_y=True)
    ours = cross_val_score(GreedystepRegressor(), X, y, cv=5).mean()
    assert ours > cross_val_score(LinearRegression(), X, y, cv=5).mean() - 0.03


def test_in_a_pipeline_and_a_grid():
    X, y = load_iris(return_X_y=True)
    pipe = make_pipeline(FunctionTransformer(np.log1p), GreedystepClassifier())
    grid = GridSearchCV(pipe, {"greedystepclassifier__passes": [1, "auto"]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.9
    assert OneVsRestClassifier(GreedystepLinearSVC()).fit(X, y).score(X, y) > 0.8


def test_support_vectors_can_be_calibrated():
    X, y = load_breast_cancer(return_X_y=True)
    calibrated = CalibratedClassifierCV(GreedystepLinearSVC(), cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.9
    assert np.allclose(calibrated.predict_proba(X).sum(axis=1), 1)


def test_metadata_is_routed():
    from sklearn import config_context

    X, y = load_iris(return_X_y=True)
    weights = np.where(y == 2, 0.0, 1.0)
    with config_context(enable_metadata_routing=True):
        asked = GreedystepClassifier().set_fit_request(sample_weight=True)
        asked.set_score_request(sample_weight=True)
        found = cross_validate(asked, X, y, params={"sample_weight": weights}, cv=3)
        assert np.all(found["test_score"] > 0.9)


@pytest.mark.parametrize("kind", ALL)
def test_clone_repr_and_html(kind):
    estimator = kind(passes=3, random_state=4)
    assert clone(estimator).get_params() == estimator.get_params()
    assert repr(estimator) == f"{kind.__name__}(passes=3, random_state=4)"
    assert kind.__name__ in estimator._repr_html_()


@pytest.mark.parametrize("kind", ALL)
def test_pickle_and_joblib_keep_every_bit(kind, tmp_path):
    X, y = planted(300, 10, 1 if kind is GreedystepRegressor else 3, seed=1)
    fitted = kind().fit(X, y)
    joblib.dump(fitted, tmp_path / "fitted")
    for other in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "fitted")):
        assert_same_model(other, fitted)
        assert np.array_equal(other.predict(X), fitted.predict(X))


def test_names_of_classes_reach_the_model_file(tmp_path):
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    fitted = GreedystepClassifier().fit(X, names)
    assert list(fitted.classes_) == ["setosa", "versicolor", "virginica"]
    fitted.model_.save(tmp_path / "iris")
    loaded = greedystep.load(tmp_path / "iris")
    assert np.array_equal(loaded.predict(X), fitted.predict(X))
    assert np.array_equal(loaded.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize(
    "names",
    [["10", "9"], ["b", "é", "a"], [True, False], [1.0, -2.0, 3.0], [2**60, 2**60 + 1], ["", "x"]],
    ids=str,
)
def test_classes_of_any_kind_keep_their_order(names):
    X, y = planted(300, 10, len(names), seed=1)
    classes = np.unique(np.array(names))
    fitted = GreedystepClassifier().fit(X, classes[y])
    by_number = GreedystepClassifier().fit(X, y)
    assert np.array_equal(fitted.classes_, classes)
    assert np.array_equal(fitted.predict(X), classes[by_number.predict(X)])
    thawed = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(thawed.predict_proba(X), by_number.predict_proba(X))


def test_warm_start_begins_with_what_was_learned():
    X, y = planted(2000, 20, 2, seed=1)
    warm = GreedystepClassifier(warm_start=True, passes=1).fit(X, y)
    before = warm.coef_
    warm.fit(X[:50], y[:50])
    cold = GreedystepClassifier(passes=1).fit(X[:50], y[:50])
    assert np.linalg.norm(warm.coef_ - before) < 0.5 * np.linalg.norm(cold.coef_ - before)


SETS = {
    "breast_cancer": (GreedystepClassifier, lambda seed: load_breast_cancer(return_X_y=True)),
    "digits": (GreedystepClassifier, lambda seed: load_digits(return_X_y=True)),
    "diabetes": (GreedystepRegressor, lambda seed: load_diabetes(return_X_y=True)),
    "two classes": (GreedystepClassifier, lambda seed: planted(2000, 20, 2, seed=seed)),
    "five classes": (GreedystepClassifier, lambda seed: planted(2000, 40, 5, seed=seed)),
    "numbers": (GreedystepRegressor, lambda seed: planted(2000, 40, 1, seed=seed)),
}


def loss_of(fitted, X, y):
    if isinstance(fitted, GreedystepRegressor):
        return np.mean((fitted.predict(X) - y) ** 2)
    return log_loss(y, fitted.predict_proba(X), labels=fitted.classes_)


@pytest.mark.parametrize(("method", "most"), [("auto", 0.005), ("gsa", 0.15)])
def test_a_hundred_rows_after_a_fit_cost_little(method, most):
    """The mean of six sets, by rows that neither call has. After gsa a new run begins, whose average is of 100 rows."""
    change = []
    for kind, load in SETS.values():
        for seed in range(1, 4):
            X, y = load(seed)
            rest, test = train_test_split(np.arange(len(y)), test_size=1 / 3, random_state=seed)
            fitted = kind(method=method).fit(X[rest[100:]], y[rest[100:]])
            before = loss_of(fitted, X[test], y[test])
            fitted.partial_fit(X[rest[:100]], y[rest[:100]])
            change.append(loss_of(fitted, X[test], y[test]) / before - 1)
    assert np.mean(change) < most


def test_partial_fit_with_a_class_that_comes_late():
    X, y = planted(900, 20, 3, seed=1)
    order = np.argsort(y == 2, kind="stable")
    fitted = GreedystepClassifier()
    for part in np.array_split(order, 9):
        fitted.partial_fit(X[part], y[part], classes=[0, 1, 2])
        assert fitted.predict_proba(X).shape == (900, 3)
    with pytest.raises(ValueError, match="not among the classes"):
        fitted.partial_fit(X[:2], [0, 5])
    with pytest.raises(ValueError, match="not the same as on the last call"):
        fitted.partial_fit(X[:2], y[:2], classes=[0, 1])


def test_class_weights_shift_what_is_predicted():
    X, y = planted(1500, 10, 2, seed=3)
    plain = GreedystepClassifier().fit(X, y).predict(X).mean()
    heavy = GreedystepClassifier(class_weight={1: 5.0}).fit(X, y).predict(X).mean()
    by_hand = GreedystepClassifier().fit(X, y, sample_weight=np.where(y == 1, 5.0, 1.0))
    assert heavy > plain + 0.05
    assert heavy == by_hand.predict(X).mean()


def test_estimators_that_were_trained_apart_are_merged():
    X, y = planted(3000, 20, 3, seed=1)
    halves = [GreedystepClassifier().partial_fit(X[i::2], y[i::2], classes=[0, 1, 2]) for i in (0, 1)]
    merged = halves[0].model_.merge(halves[1].model_)
    assert (merged.predict(X) == y).mean() > halves[0].score(X, y) - 0.02


@pytest.mark.parametrize("n_classes", [2, 5])
def test_optima_of_two_halves_merge_to_nearly_that_of_all(n_classes):
    X, y = planted(6000, 40, n_classes, seed=2)
    X, y, test_X, test_y = X[:4000], y[:4000], X[4000:], y[4000:]
    halves = [GreedystepClassifier().fit(X[i::2], y[i::2]).model_ for i in (0, 1)]
    loss = {
        "merged": halves[0].merge(halves[1]).evaluate(test_X, test_y)["log_loss"],
        "all": GreedystepClassifier().fit(X, y).model_.evaluate(test_X, test_y)["log_loss"],
        "half": halves[0].evaluate(test_X, test_y)["log_loss"],
    }
    assert loss["merged"] < min(1.01 * loss["all"], loss["half"])


def test_nothing_is_there_before_it_is_fitted():
    for name in ("coef_", "intercept_", "model_"):
        with pytest.raises(NotFittedError):
            getattr(GreedystepClassifier(), name)


def test_a_fit_that_fails_leaves_the_estimator_as_it_was():
    X, y = load_iris(return_X_y=True)
    fitted = GreedystepClassifier().fit(X, y)
    before = fitted.predict_proba(X)

    def refuse(_event):
        raise RuntimeError("enough")

    fitted.callback = refuse
    with pytest.raises(RuntimeError, match="enough"):
        fitted.fit(X[:, :2], y == 0)
    assert np.array_equal(fitted.predict_proba(X), before)
    assert fitted.coef_.shape == (3, 4)
    assert list(fitted.classes_) == [0, 1, 2]


def test_a_first_fit_that_fails_leaves_nothing_learned():
    def refuse(_event):
        raise RuntimeError("enough")

    X, y = load_diabetes(return_X_y=True)
    for kind in ALL:
        never = kind(callback=refuse)
        before = set(vars(never))
        with pytest.raises(RuntimeError, match="enough"):
            never.fit(X, y > y.mean())
        assert set(vars(never)) == before


def test_compact_estimators_have_fewer_weights_and_about_the_score():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3000, 60))
    y = X[:, 0] - X[:, 1] + 0.01 * X[:, 2:].sum(axis=1) + 0.5 * rng.standard_normal(3000)
    for kind, target in ((GreedystepRegressor, y), (GreedystepClassifier, y > 0)):
        full, small = kind().fit(X, target), kind(compact=True).fit(X, target)
        assert np.count_nonzero(small.coef_) <= 10 < 50 <= np.count_nonzero(full.coef_)
        assert small.score(X, target) > full.score(X, target) - 0.03
