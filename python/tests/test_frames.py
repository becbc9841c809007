"""Frames with labels beside them: columns are what their names say, and what cannot be is refused."""

from __future__ import annotations

import numpy as np
import pytest

import greedystep

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")

N = 400
KINDS = pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])


def numbers():
    """Return three columns that differ in what they say of the labels, and the labels."""
    random = np.random.default_rng(4)
    X = random.normal(size=(N, 3))
    return dict(zip("abc", X.T)), (X @ [3.0, 0.0, -1.0] + random.logistic(size=N) > 0).astype(int)


def weights_of(y):
    return np.where(y == 1, 10.0, 1.0)


# ---- labels and weights -------------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize("others", [{}, {"word": np.array(["x", "y"] * (N // 2))}], ids=["numbers", "words"])
def test_weights_in_a_column_beside_labels_count_as_an_array_of_them_does(kind, others):
    columns, y = numbers()
    columns = {**columns, **others}
    frame = kind({"w": weights_of(y), **columns})
    model = greedystep.train(frame, y, weight="w")
    same = greedystep.train(kind(columns), y, weight=weights_of(y))
    assert "w" not in [one.name for one in model.strongest(10)]
    assert np.array_equal(model.coef, same.coef)
    assert model.evaluate(frame, y, weight="w") == same.evaluate(kind(columns), y, weight=weights_of(y))


@KINDS
def test_a_column_of_weights_that_is_not_there_is_refused(kind):
    columns, y = numbers()
    frame = kind(columns)
    with pytest.raises(ValueError, match="no column 'nosuch'; the columns are a, b, c"):
        greedystep.train(frame, y, weight="nosuch")
    with pytest.raises(ValueError, match="no column 'nosuch'"):
        greedystep.train(frame, y).evaluate(frame, y, weight="nosuch")


def test_a_label_column_beside_labels_is_refused():
    columns, y = numbers()
    frame = pd.DataFrame(columns)
    for label in ("a", "nosuch"):
        with pytest.raises(ValueError, match="labels in y and in the column"):
            greedystep.train(frame, y, label=label)
        with pytest.raises(ValueError, match="labels in y and in the column"):
            greedystep.train(frame, y).evaluate(frame, y, label=label)


def test_arrays_have_no_column_of_weights():
    columns, y = numbers()
    with pytest.raises(ValueError, match="weight= names a column"):
        greedystep.train(np.column_stack(list(columns.values())), y, weight="w")
