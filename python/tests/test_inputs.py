"""The same rows give the same model through every kind of input."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import assert_same_model, planted, run_command
from scipy import sparse

import greedystep
from greedystep import GreedystepClassifier, GreedystepRegressor, _rows

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


# ---- arrays -------------------------------------------------------------------------------------


def whole_numbers():
    X, y = planted(700, 12, 2, seed=6)
    return np.round(X.toarray() * 8).astype(np.float32), y


def unsorted(X):
    X = sparse.csr_matrix(X)
    for row in range(X.shape[0]):
        part = slice(X.indptr[row], X.indptr[row + 1])
        X.indices[part] = X.indices[part][::-1].copy()
        X.data[part] = X.data[part][::-1].copy()
    X.has_sorted_indices = False
    return X


def with_duplicates(X):
    X = sparse.csr_matrix(X)
    twice = sparse.csr_matrix((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), X.indptr * 2), shape=X.shape)
    assert not twice.has_canonical_format
    return twice


def scattered(X):
    X = sparse.coo_matrix(X)
    order = np.random.default_rng(0).permutation(X.nnz)
    return sparse.coo_matrix((X.data[order], (X.row[order], X.col[order])), shape=X.shape)


def wide_indices(X):
    X = sparse.csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def columns(X):
    return [f"column {i}" for i in range(X.shape[1])]


ARRAYS = {
    "float32": lambda X: X,
    "float64": lambda X: X.astype(np.float64),
    "Fortran order": np.asfortranarray,
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "int16": lambda X: X.astype(np.int16),
    "big-endian": lambda X: X.astype(">f4"),
    "read-only": read_only,
    "csr": sparse.csr_matrix,
    "csr array": sparse.csr_array,
    "csr of float64": lambda X: sparse.csr_matrix(X, dtype=np.float64),
    "csr of int8": lambda X: sparse.csr_matrix(X.astype(np.int8)),
    "csr with wide indices": wide_indices,
    "csr unsorted": unsorted,
    "csr with duplicates": with_duplicates,
    "csc": sparse.csc_matrix,
    "csc array": sparse.csc_array,
    "coo": scattered,
    "coo array": sparse.coo_array,
    "lil": sparse.lil_matrix,
    "pandas": lambda X: pd.DataFrame(X, columns=columns(X)),
    "pandas of many types": lambda X: pd.DataFrame(X).astype({0: "int64", 1: "Int32", 2: "float64"}),
    "polars": lambda X: pl.DataFrame(X, schema=columns(X)),
}


@pytest.mark.parametrize("small", [False, True], ids=["one block", "many blocks"])
@pytest.mark.parametrize("door", ARRAYS)
def test_arrays_of_every_kind_give_the_same_bits(door, small, monkeypatch):
    X, y = whole_numbers()
    expected = GreedystepClassifier().fit(X, y)
    probabilities = expected.predict_proba(X)
    in_order = GreedystepClassifier().partial_fit(X, y, classes=[0, 1])
    if small:
        monkeypatch.setattr(_rows.c, "BLOCK_ROWS", 33)
        for kind in (_rows.Csr, _rows.Csc, _rows.Coo):
            monkeypatch.setattr(kind, "most_entries", 70)
        monkeypatch.setattr(_rows, "_CHUNK", 100)
    given = ARRAYS[door](X)
    fitted = GreedystepClassifier().fit(given, y)
    assert_same_model(fitted, expected)
    assert np.array_equal(fitted.predict_proba(given), probabilities)
    learned = GreedystepClassifier().partial_fit(given, y, classes=[0, 1])
    assert_same_model(learned, in_order)


def test_rows_without_features_are_rows():
    X, y = whole_numbers()
    X[100:300] = 0
    expected = GreedystepClassifier().fit(X, y)
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
        assert_same_model(GreedystepClassifier().fit(kind(X), y), expected)


# ---- tables -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clicks():
    random = np.random.default_rng(1)
    n = 900
    city = random.choice(["oslo", "bergen", "trondheim", "ålesund"], n)
    age = random.integers(18, 90, n).astype(np.float64)
    age[::11] = np.nan
    hour = random.integers(0, 24, n)
    margin = (city == "oslo") * 2.0 - (hour > 12) + np.nan_to_num(age) / 50 - 1
    clicked = (margin + random.logistic(size=n) > 0).astype(np.int64)
    return pd.DataFrame({"city": city, "age": age, "hour": hour, "clicked": clicked})


@pytest.fixture(scope="module")
def by_command(clicks, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clicks")
    clicks.to_csv(folder / "clicks.csv", index=False)
    words = ["train", folder / "clicks.csv", "--label", "clicked", "-o", folder / "model"]
    run_command(*words, "--quiet")
    return greedystep.load(folder / "model")


def parquet_files(clicks, folder):
    for i, part in enumerate((clicks[:300], clicks[300:])):
        part.to_parquet(folder / f"part{i}.parquet", index=False)
    return str(folder / "*.parquet")


def dataset(clicks, folder):
    from pyarrow import dataset

    parquet_files(clicks, folder)
    return dataset.dataset([str(folder / "part0.parquet"), str(folder / "part1.parquet")])


def relation(clicks, _folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.sql("SELECT * FROM clicks").project("city, nullif(age, 'nan') age, hour, clicked")


def csv_file(clicks, folder):
    clicks.to_csv(folder / "clicks.csv", index=False)
    return folder / "clicks.csv"


TABLES = {
    "CSV": csv_file,
    "pandas": lambda clicks, _: clicks,
    "pandas categories": lambda clicks, _: clicks.astype({"city": "category"}),
    "polars": lambda clicks, _: pl.from_pandas(clicks),
    "polars categories": lambda clicks, _: pl.from_pandas(clicks).with_columns(pl.col("city").cast(pl.Categorical)),
    "pyarrow": lambda clicks, _: pa.Table.from_pandas(clicks),
    "Parquet": parquet_files,
    "dataset": dataset,
    "DuckDB": relation,
}


@pytest.mark.parametrize("door", TABLES)
def test_tables_of_every_kind_give_the_commands_bits(door, clicks, by_command, tmp_path):
    model = greedystep.train(TABLES[door](clicks, tmp_path), label="clicked")
    assert model.schema == by_command.schema
    assert_same_model(model, by_command)
    assert repr(model.strongest(5)) == repr(by_command.strongest(5))  # the weight of a curve is NaN
    assert "city=oslo" in [one.name for one in model.strongest(5)]
    found = model.predict_proba(TABLES[door](clicks, tmp_path))
    assert np.array_equal(found, by_command.predict_proba(clicks))


@pytest.mark.parametrize("kind", ["reader", "scanner"])
def test_what_can_be_read_once_is_learned_in_one_pass(kind, clicks, tmp_path):
    if kind == "reader":
        once = pa.RecordBatchReader.from_stream(pa.Table.from_pandas(clicks))
    else:
        once = dataset(clicks, tmp_path).scanner()
    model = greedystep.train(once, label="clicked")
    assert model.n_passes == 1
    assert (model.predict(clicks) == clicks.clicked).mean() > 0.65


def test_columns_are_left_out_crossed_or_taken_for_words(clicks, by_command, tmp_path):
    model = greedystep.train(clicks, label="clicked", ignore=["age"], categorical=["hour"])
    files = parquet_files(clicks, tmp_path)
    other = greedystep.train(files, label="clicked", ignore=["age"], categorical=["hour"])
    assert other.schema == model.schema
    assert_same_model(other, model)
    assert np.array_equal(other.predict(files), model.predict(clicks))
    assert "ignored age" in model.schema
    assert any(one.name.startswith("hour=") for one in model.strongest(100))
    crossed = greedystep.train(clicks, label="clicked", cross=["city:hour"], bits=12)
    assert crossed.n_features <= 2**12 + 2
    assert by_command.n_features > 2**13


def test_a_column_without_any_category_goes_to_scikit_learn_as_none():
    X = pd.DataFrame({"a": np.arange(40.0), "zero": 0.0, "city": pd.Categorical([None] * 40, ["oslo", "rome"])})
    model = GreedystepRegressor().fit(X, 3 * X.a).model_
    assert model.coef.shape == (1, 2) and model.feature_names == ["a", "zero"]
    assert np.allclose(model.to_sklearn(n_features=2).predict(X[["a", "zero"]].to_numpy()), model.predict(X))


def test_estimators_take_frames_with_words(clicks, by_command):
    X, y = clicks.drop(columns="clicked"), clicks.clicked.to_numpy()
    for frame in (X, X.astype({"city": "category"}), pl.from_pandas(X)):
        fitted = GreedystepClassifier().fit(frame, y)
        assert list(fitted.feature_names_in_) == ["city", "age", "hour"]
        assert fitted.n_features_in_ == 3
        assert_same_model(fitted, by_command)
        lines = GreedystepClassifier(curves="off").fit(frame, y)
        names = list(lines.get_feature_names_out())
        assert names[0] == "age" and "city=oslo" in names and len(names) < 40
        assert list(fitted.get_feature_names_out()) == names
        assert lines.coef_.shape == (1, len(names)) == (1, len(set(names)))
        strongest = lines.model_.strongest(3)
        assert all(lines.coef_[0, names.index(one.name)] == np.float32(one.weight) for one in strongest)
        assert np.array_equal(fitted.predict_proba(frame), by_command.predict_proba(clicks))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(pl.from_pandas(X).rename({"age": "years"}))
    for names in (["10", "9"], ["NA", "b"], ["no", "yes"]):
        named = np.array(names)[y]
        found = GreedystepClassifier().fit(X, named)
        assert list(found.classes_) == sorted(names)
        assert np.mean(found.predict(X) == named) == np.mean((by_command.predict(clicks) == 1) == (y == 1))
    weights = np.where(y == 1, 1.0, 0.5)
    weighted = GreedystepClassifier().fit(X, y, sample_weight=weights)
    assert weighted.predict(X).mean() > fitted.predict(pl.from_pandas(X)).mean()


def test_categories_of_numbers_are_one_hot():
    random = np.random.default_rng(0)
    month = random.integers(1, 13, 2000)
    y = (month % 2).astype(float) + random.normal(size=2000) / 10
    frame = pd.DataFrame({"month": pd.Categorical(month)})
    assert GreedystepRegressor().fit(frame, y).score(frame, y) > 0.9
    numbers = frame.astype("int64")
    assert GreedystepRegressor(curves="off").fit(numbers, y).score(numbers, y) < 0.1


def test_feature_names_are_compared(clicks):
    X = clicks[["hour"]].assign(one=1.0)
    fitted = GreedystepClassifier().fit(X, clicks.clicked)
    assert list(fitted.feature_names_in_) == ["hour", "one"]
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(X[["one", "hour"]])


def test_what_does_not_fit_is_said(clicks, by_command, tmp_path):
    with pytest.raises(ValueError, match="give it one, not an array"):
        by_command.predict(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="feature numbers"):
        greedystep.train(np.eye(4), [0, 1, 0, 1]).predict(pa.table({"y": [1.0], "a": [1.0]}))
    with pytest.raises(ValueError, match="no labels"):
        greedystep.train(np.zeros((3, 3)))
    with pytest.raises(FileNotFoundError, match="no file matches"):
        greedystep.train(str(tmp_path / "*.csv"))
    with pytest.raises(OSError, match=r"absent.csv"):
        greedystep.train(str(tmp_path / "absent.csv"))
    with pytest.raises(ValueError, match="clickd"):
        greedystep.train(clicks, label="clickd")


# ---- what cannot be ------------------------------------------------------------------------------


def broken(field, place, value, dtype=np.int64, form="csr"):
    """Return a sparse matrix of four rows with one number of its arrays replaced."""
    X = sparse.csr_matrix(np.array([[1, 0, 2], [0, 3, 0], [0, 0, 4], [5, 0, 6]], np.float32)).asformat(form)
    for name in ("indices", "indptr") if form != "coo" else ("row", "col"):
        setattr(X, name, getattr(X, name).astype(dtype))
    getattr(X, field)[place] = value
    return X


def wide(last, form="csr"):
    """Return a matrix with room for ids beyond 32 bits, which scipy allows."""
    entries = (np.ones(3, np.float32), (np.arange(3), np.array([0, 1, last], np.int64)))
    return sparse.coo_matrix(entries, shape=(3, 2**40)).asformat(form)


BROKEN = {
    "negative id": (lambda: broken("indices", 2, -1), "row 1 has feature id -1: expected one from 0 to 2"),
    "negative id of 32 bits": (lambda: broken("indices", 0, -1, np.int32), "row 0 has feature id -1"),
    "id modulo 2^32": (lambda: wide(2**32 + 1), "row 2 has feature id 4294967297: expected one from 0 to 4294967293"),
    "largest id of 32 bits": (lambda: wide(2**32 - 1), "row 2 has feature id 4294967295"),
    "id above the largest": (lambda: wide(2**32 - 2), "row 2 has feature id 4294967294"),
    "id beyond the columns": (lambda: broken("indices", 5, 3), "row 3 has feature id 3: expected one from 0 to 2"),
    "offset that descends": (lambda: broken("indptr", 2, 1), "row 1 is from 2 to 1 of 6 entries"),
    "negative offset": (lambda: broken("indptr", 0, -4, np.int32), "row 0 is from -4 to 2"),
    "offset beyond the entries": (lambda: broken("indptr", 4, 9), "row 3 is from 4 to 9 of 6 entries"),
    "row of a csc": (lambda: broken("indices", 1, 4, form="csc"), "is of row 4: the matrix has 4"),
    "offset of a csc": (lambda: broken("indptr", 1, 5, form="csc"), "column 1 is from 5 to 3 of 6 entries"),
    "row of a coo": (lambda: broken("row", 1, -1, form="coo"), "entry 1 is of row -1"),
    "id of a coo": (lambda: wide(2**32 + 1, "coo"), "row 2 has feature id 4294967297"),
}


@pytest.mark.parametrize("name", list(BROKEN))
def test_ids_and_offsets_that_cannot_be_are_refused_at_every_door(name):
    make, message = BROKEN[name]
    X, y = make(), [0, 1, 0, 1]
    y = y[: X.shape[0]]
    model = greedystep.train(np.eye(4, 3, dtype=np.float32), y=[0, 1, 0, 1])
    calls = [
        lambda: greedystep.train(X, y=y),
        lambda: model.predict(X),
        lambda: model.evaluate(X, y=y),
        lambda: GreedystepRegressor().fit(X, y),
        lambda: GreedystepClassifier().partial_fit(X, y, classes=[0, 1]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("found", [-1, 2**32 - 2, 2**32])
def test_ids_in_lists_of_arrow_are_refused_too(found):
    ids, values = [[0], [1], [0], [found]], [[1.0]] * 4
    table = pa.table({"label": [0, 1, 0, 1], "indices": pa.array(ids, pa.list_(pa.int64())), "values": values})
    with pytest.raises(ValueError, match=f"row 4: column 'indices' holds '{found}'"):
        greedystep.train(table, label="label")


def test_the_largest_id_is_one():
    X = sparse.csr_matrix((np.zeros(2, np.float32), [0, 2**32 - 3], [0, 1, 2]), shape=(2, 2**32 - 2))
    assert greedystep.train(X, y=[0, 1]).predict(X).shape == (2,)


def test_labels_and_weights_are_as_many_as_rows():
    X = np.ones((100, 3), np.float32)
    for y in (np.zeros(99), ["a", "b"]):
        with pytest.raises(ValueError, match=f"there are 100 rows, and {len(y)} labels in y"):
            greedystep.train(X, y=y)
    for weight in (np.ones(99), np.ones((100, 1)), 1.0):
        with pytest.raises(ValueError, match="there are 100 rows, and weight has"):
            greedystep.train(X, y=np.arange(100) % 2, weight=weight)


def test_weights_in_an_array_are_refused_beside_a_column_of_labels(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("label,a\n0,1\n1,2\n")
    with pytest.raises(ValueError, match="files have weights in a column: name it by weight="):
        greedystep.train(path, label="label", weight=np.ones(2))
    with pytest.raises(ValueError, match="a table has labels in a column: name it by label="):
        greedystep.train(pa.table({"a": [1, 2]}), y=[0, 1])


def test_the_strongest_feature_moves_predictions_most_whatever_its_unit():
    random = np.random.default_rng(3)
    grams, metres = random.normal(5e4, 1e4, 2000), random.normal(0, 1, 2000)
    X = np.column_stack([metres, grams])
    model = greedystep.train(X, 3e-4 * grams + metres + random.normal(0, 0.1, 2000))
    (first, weight, importance), second = model.strongest(2)
    assert weight == pytest.approx(3e-4, rel=0.01) and importance == pytest.approx(weight * grams.std(), rel=0.01)
    assert second.weight > weight and second.importance == pytest.approx(second.weight * metres.std(), rel=0.01)
    assert first != second.name
