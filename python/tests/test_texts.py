"""Columns of texts: words and pairs of words are features, through every door."""

from __future__ import annotations

import csv
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import greedystep
from greedystep import GreedystepClassifier, GreedystepError, GreedystepRegressor

OTHERS = "the a we they it is was room staff food view price near very rather quite and but with for".split()  # noqa: SIM905


def reviews(n: int, seed: int) -> tuple[list[str], list[str]]:
    """Return texts and classes: a word or a pair of words tells the class, mostly."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        good = rng.random() < 0.5
        tells = good if rng.random() < 0.9 else not good
        said = ("Lovely" if tells else "DIRTY") if rng.random() < 0.5 else ("not bad" if tells else "bad, not")
        texts.append(" ".join(rng.choice(OTHERS, 9)) + f" {said} " + " ".join(rng.choice(OTHERS, 2)))
        labels.append("yes" if good else "no")
    return texts, labels


@pytest.fixture(scope="module")
def learned():
    """Return texts, classes and an estimator that was fitted to them."""
    texts, labels = reviews(500, 1)
    return texts, labels, GreedystepClassifier().fit(texts, labels)


def test_a_list_of_texts_is_learned_and_predicted(learned):
    _, _, model = learned
    texts, labels = reviews(500, 2)
    assert model.score(texts, labels) > 0.8
    assert model.predict_proba(texts).shape == (500, 2)
    assert list(model.feature_names_in_) == ["text"]
    names = {one.name for one in model.model_.strongest(4)}
    assert names == {"text=lovely", "text=dirty", "text=not bad", "text=bad not"}


@pytest.mark.parametrize("make", [np.array, pd.Series, pl.Series, tuple, lambda x: np.array(x, dtype=object)])
def test_series_and_arrays_are_lists(learned, make):
    texts, labels, model = learned
    other = GreedystepClassifier().fit(make(texts), labels)
    new = reviews(50, 3)[0]
    assert (other.decision_function(make(new)) == model.decision_function(new)).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_a_frame_is_recognised_as_in_files(learned, frame, tmp_path):
    texts, labels, _ = learned
    stars = np.arange(500) % 5
    data = frame({"text": texts, "stars": stars})
    fitted = GreedystepClassifier().fit(data, labels)
    with open(tmp_path / "t.csv", "w", newline="") as file:
        csv.writer(file).writerows([["text", "stars", "label"], *zip(texts, stars, labels)])
    of_file = greedystep.train(tmp_path / "t.csv")
    assert "\ntext text\n" in of_file.schema
    assert "\ntext text\n" in fitted.model_.schema
    assert (fitted.decision_function(data) == of_file.decision_function(data)).all()
    added = fitted.explain(data)
    assert added.feature_names == ["text", "stars"]
    np.testing.assert_allclose(added.values.sum(axis=1) + added.base_values, fitted.decision_function(data), rtol=1e-6)


def test_train_takes_texts_with_labels(learned):
    texts, labels, estimator = learned
    model = greedystep.train(texts, labels)
    assert "\ntext text\n" in model.schema
    new = reviews(50, 3)[0]
    assert (model.decision_function(np.array(new)) == estimator.decision_function(new)).all()
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(pd.Series(new)) == model.predict(np.array(new))).all()
    later = greedystep.train(np.array(texts[:100]), labels[:100], start_from=model)
    assert "\ntext text\n" in later.schema


def test_short_and_missing_texts(learned):
    _, _, model = learned
    both = model.decision_function(["", None, "lovely"])
    assert both[0] == both[1] != both[2]
    short = GreedystepClassifier().fit(["good", "bad", "good one", "so bad"] * 10, [1, 0, 1, 0] * 10)
    assert list(short.predict(["good and new", "bad and new"])) == [1, 0]
    prices = GreedystepRegressor().fit(["cheap", "dear", "a cheap one", "one dear thing"] * 10, [1.5, 9, 2, 8.5] * 10)
    cheap, dear = prices.predict(["cheap", "dear"])
    assert cheap < 3 < 7 < dear


def test_text_and_categorical_decide():
    texts, labels = reviews(100, 4)
    data = pd.DataFrame({"said": texts, "town": ["Rome", "New York"] * 50, "y": labels})
    assert "\ntext said\nwords town\n" in greedystep.train(data, label="y").schema
    assert "\nwords said\nwords town\n" in greedystep.train(data, label="y", categorical=["said"]).schema
    assert "\ntext said\ntext town\n" in greedystep.train(data, label="y", text=["town"]).schema
    assert "\nwords said\n" in greedystep.train(data.astype({"said": "category"}), label="y").schema


def test_onnx_and_explanations_of_two_texts_are_refused(learned):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="cannot export the texts of column 'text'"):
        learned[2].to_onnx()
    texts, labels = reviews(100, 4)
    data = pd.DataFrame({"a": texts, "b": texts[::-1]})
    with pytest.raises(GreedystepError, match="cannot be told apart"):
        GreedystepClassifier().fit(data, labels).explain(data)
