"""What the label of a table is: classes or a number, the same from frames, Arrow (and so Parquet) and CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

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


def test_arrays_keep_whole_numbers_as_classes() -> None:
    features = np.column_stack([_SPREAD, np.ones(len(_SPREAD))]).astype(np.float32)
    with pytest.warns(greedystep.NoticeWarning, match="predicts 89 classes"):
        assert greedystep.train(features, CASES["ages"][0], method="gsa", passes=1).loss == "softmax"


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
