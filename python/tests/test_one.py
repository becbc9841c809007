"""One row at a time has the bits of many."""

import datetime
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import greedystep


def frame(n=400):
    """Rows with every kind of column."""
    random = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "age": random.normal(40, 10, n),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, n), unit="D"),
            "colour": random.choice(["a", "b", "c"], n),
            "floor": random.integers(0, 5, n),
            "big": 2**60 + random.integers(0, 1000, n),
            "flag": random.random(n) < 0.5,
            "took": pd.to_timedelta(random.integers(0, 100, n), unit="h"),
            "note": [f"this is {i} note of {'xyz'[i % 3]} thing" for i in range(n)],
        }
    )
    rows.loc[3, "age"] = np.nan
    rows.loc[4, "when"] = pd.NaT
    rows.loc[5, "colour"] = None
    return rows, np.where(rows["age"].fillna(40) + 10 * (rows["colour"] == "a") > 45, "yes", "no")


def test_every_kind_of_column_has_the_bits_of_a_frame():
    rows, y = frame()
    model = greedystep.train(rows, y, categorical=["floor", "big"])
    new = rows.iloc[:100].copy()
    new["colour"] = new["colour"].replace("b", "unseen")
    wanted, labels = model.predict_proba(new), model.predict(new)
    for i in range(100):
        row = new.iloc[i].to_dict()
        assert model.predict_proba_one(row) == wanted[i].tolist()
        assert model.predict_proba_one(tuple(row.values())) == wanted[i].tolist()
        assert model.predict_proba_one({"id": 7, **dict(reversed(row.items()))}) == wanted[i].tolist()
        assert model.predict_one(row) == labels[i]


def test_cells_of_python_types():
    rows, y = frame()
    model = greedystep.train(rows, y, categorical=["floor", "big"])
    row = rows.iloc[0].to_dict()
    wanted = model.predict_proba_one(row)
    zone = datetime.timezone(datetime.timedelta(hours=2))
    for same in (
        {"when": row["when"].date(), "age": str(row["age"])},
        {"when": row["when"].to_datetime64(), "took": row["took"].to_timedelta64()},
        {"when": row["when"].to_pydatetime().replace(hour=2, tzinfo=zone), "took": row["took"].to_pytimedelta()},
        {"big": int(row["big"]), "floor": float(row["floor"]), "flag": int(row["flag"])},
    ):
        assert model.predict_proba_one({**row, **same}) == wanted
    missing = [model.predict_proba_one({**row, "age": none}) for none in (None, pd.NA, float("nan"), "", "NA")]
    assert all(other == missing[0] != wanted for other in missing)


@pytest.mark.parametrize("loss", ["squared", "poisson", "huber"])
def test_numbers(loss):
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 5))
    y = random.poisson(np.exp(0.3 * X[:, 0]))
    model = greedystep.train(X, y, loss=loss)
    assert [model.predict_one(row) for row in X[:50]] == model.predict(X[:50]).tolist()
    named = greedystep.train(pd.DataFrame(X, columns=list("abcde")), y, loss=loss)
    row = dict(zip("edcba", X[7, ::-1]))
    assert named.predict_one(row) == named.predict(pd.DataFrame(X[7:8], columns=list("abcde")))[0]
    with pytest.raises(ValueError, match="no probabilities"):
        model.predict_proba_one(X[0])
    with pytest.raises(ValueError, match="without gaps"):
        greedystep.Model(model._model).predict_one([np.nan, 1, 1, 1, 1])


@pytest.mark.parametrize("classes", [1, 2, 4])
def test_classes(classes):
    random = np.random.default_rng(2)
    rows = pd.DataFrame({"a": random.normal(size=300), "b": random.choice(["x", "y"], 300)})
    y = np.array([10, 20, 30, 40])[np.clip((rows["a"] * 1.5 + 2).astype(int), 0, classes - 1)]
    model = greedystep.train(rows, y, loss="softmax" if classes > 2 else "logistic")
    found = [model.predict_one(row) for row in rows.head(50).to_dict("records")]
    assert found == model.predict(rows.head(50)).tolist()
    assert all(type(label) is int for label in found)


def test_threads_share_a_model_and_pickles_serve():
    rows, y = frame()
    model = greedystep.train(rows, y)
    records = rows.to_dict("records")
    wanted = model.predict_proba(rows).tolist()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(model.predict_proba_one, records)) == wanted
    assert pickle.loads(pickle.dumps(model)).predict_proba_one(records[0]) == wanted[0]


def test_what_is_wrong_is_named():
    rows, y = frame()
    model = greedystep.train(rows, y)
    row = rows.iloc[0].to_dict()
    with pytest.raises(ValueError, match="has no column 'when'"):
        model.predict_one({"age": 1})
    with pytest.raises(ValueError, match="2 cells, and the model has 8 columns"):
        model.predict_one((1, 2))
    with pytest.raises(TypeError, match="column 'age' holds a list"):
        model.predict_one({**row, "age": [1]})
    with pytest.raises(ValueError, match="column 'age' holds 'old'"):
        model.predict_one({**row, "age": "old"})
    assert model.predict_one(row) == model.predict(rows.iloc[:1])[0]
