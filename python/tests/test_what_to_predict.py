"""What the label of a table is: classes or a number, the same from frames, Arrow (and so Parquet) and CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import greedystep
from greedystep.distributed import Rows, begin, scan, schema_of

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

_SPREAD = np.arange(6000) * 7919 % 10007 / 10007
CASES = {
    "ages": (1 + (_SPREAD * 89).astype(int), "squared"),
    "prices": (100_000 + (_SPREAD * 900_000).astype(int), "squared"),
    "stars": (1 + (_SPREAD * 5).astype(int), "softmax"),
    "months": (1 + (_SPREAD * 12).astype(int), "softmax"),
    "zip_codes": (501 + 9 * (_SPREAD * 3000).astype(int), "squared"),
    "thousand_classes": (np.arange(6000) % 1000, "softmax"),
    "years": (1990 + (_SPREAD * 31).astype(int), "squared"),
}


def _frame(labels: Any) -> Any:
    return pd.DataFrame({"label": labels, "a": _SPREAD, "b": np.arange(len(labels)) % 17})


@pytest.mark.parametrize("name", CASES)
def test_tables_of_all_kinds_have_the_same_task(name: str, tmp_path: Path) -> None:
    labels, loss = CASES[name]
    frame = _frame(labels)
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for data in (frame, table, str(tmp_path / "t.csv")):
        with pytest.warns(greedystep.NoticeWarning, match="predicts 'label': .*; loss='"):
            assert greedystep.train(data, label="label", method="gsa", passes=1).loss == loss


@pytest.mark.parametrize("name", CASES)
def test_labels_beside_arrays_and_frames_have_the_task_of_a_table(name: str, tmp_path: Path) -> None:
    labels, loss = CASES[name]
    frame = _frame(labels).drop(columns="label")
    np.save(tmp_path / "x.npy", np.ascontiguousarray(frame.to_numpy(np.float32)))
    np.save(tmp_path / "y.npy", labels.astype(np.float64))
    beside = [(frame, labels), (frame.to_numpy(np.float32), labels), (frame.assign(w="word"), labels)]
    beside += [(frame.to_numpy(), labels.astype(str)), (frame.assign(c=[np.nan, *_SPREAD[1:]]), labels.astype(float))]
    for data, y in beside:
        bits = 10 if "w" in getattr(data, "columns", ()) else None
        with pytest.warns(greedystep.NoticeWarning, match="predicts"):
            assert greedystep.train(data, y, method="gsa", passes=1, bits=bits).loss == loss
    with pytest.warns(greedystep.NoticeWarning, match="predicts"):
        found = greedystep.train(str(tmp_path / "x.npy"), labels=str(tmp_path / "y.npy"), method="gsa", passes=1)
    assert found.loss == loss


def test_types_that_declare_classes_make_classes_of_many_numbers() -> None:
    ages = pd.Series(CASES["ages"][0])
    features = np.column_stack([_SPREAD, np.ones(len(_SPREAD))]).astype(np.float32)
    frame = _frame(ages.astype("category"))
    for data, y, label in ((features, ages.astype("category"), None), (frame, None, "label")):
        model = greedystep.train(data, y, label=label, method="gsa", passes=1, bits=10 if y is None else None)
        assert model.loss == "softmax" and sorted(model.classes) == sorted(ages.unique())


def test_class_numbers_of_sparse_rows_are_classes_and_quantities_are_not() -> None:
    """Classes of libsvm text are numbered from 1: many values are classes if they are numbered without gaps."""
    features = sparse.csr_matrix(np.column_stack([_SPREAD, np.ones(len(_SPREAD))]).astype(np.float32))
    with pytest.warns(greedystep.NoticeWarning, match="predicts 89 classes"):
        assert greedystep.train(features, CASES["ages"][0], method="gsa", passes=1).loss == "softmax"
    with pytest.warns(greedystep.NoticeWarning, match="predicts a number"):
        assert greedystep.train(features, CASES["years"][0], method="gsa", passes=1).loss == "squared"


def test_texts_beside_an_array_are_read_as_the_cells_of_a_table() -> None:
    features = np.column_stack([_SPREAD, np.ones(len(_SPREAD))]).astype(np.float32)
    prices = [f"${1000 + 1000 * x:,.2f}" for x in _SPREAD]
    model = greedystep.train(features, prices)
    assert model.loss == "squared"
    assert np.allclose(model.predict(features), 1000 + 1000 * _SPREAD, atol=1)
    with pytest.raises(ValueError, match="1 of 3 labels in y are missing"):
        greedystep.train(features[:3], ["1.5", "NA", "2"])


@pytest.mark.parametrize("name", ["ages", "prices", "months", "thousand_classes"])
def test_shards_of_a_table_have_the_task_of_the_whole(name: str, tmp_path: Path) -> None:
    labels, loss = CASES[name]
    frame = _frame(labels)
    shards = []
    for at in range(0, 6000, 2000):
        frame[at : at + 2000].to_csv(tmp_path / f"{at}.csv", index=False)
        shards.append(Rows(tmp_path / f"{at}.csv", label="label"))
    schema = schema_of(shards[0])
    training = begin([scan(rows, len(shards), schema=schema) for rows in shards])
    assert training.state.summary().loss == loss.encode()


def test_classes_of_an_estimator_may_look_like_prices_or_dates() -> None:
    """Estimators declare classes: their names are never read as numbers, beside frames with text or gaps."""
    labels = np.array(["$1,200", "$800", "2026-11-18"])[np.arange(300) % 3]
    frame = pd.DataFrame({"a": (np.arange(300) % 3 == 1) + 0.1 * _SPREAD[:300], "b": (np.arange(300) % 3 == 2) * 1.0})
    for X in (frame, frame.assign(w="word"), frame.assign(c=[np.nan] + [1.0] * 299)):
        fitted = greedystep.GreedystepClassifier(method="gsa").fit(X, labels)
        assert list(fitted.classes_) == ["$1,200", "$800", "2026-11-18"]
        assert (fitted.predict(X) == labels).mean() > 0.95
