"""Shards that are learned apart, each from pickled bytes, have the bytes of ``greedystep train --shards``."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pyarrow.csv
import pytest
from conftest import planted, run_command, write_libsvm
from scipy import sparse

import greedystep
from greedystep import distributed
from greedystep._core import State
from greedystep.distributed import Rows, begin, learn, merge, scan, schema_of

N = 5000


def sent(thing):
    """Return a thing as another process would get it."""
    return pickle.loads(pickle.dumps(thing))


def trained(shards, /, *, schema=None, scanned=len, **parameters):
    """Return the run that an engine comes to, which learns the shards in another order than they have."""
    training = begin([sent(scan(rows, scanned(shards), schema=schema)) for rows in shards], **parameters)
    while training.wants_pass:
        numbers = reversed(range(len(shards)))
        training = merge(training, [sent(learn(sent(training), shards[number], number)) for number in numbers])
    return training


def by_command(folder: Path, *words) -> Path:
    model = folder / "by the command"
    run_command("train", *words, "-o", model, "--quiet")
    return model


def assert_same_bytes(training, model: Path) -> None:
    saved = model.with_name("by an engine")
    training.model().save(saved)
    assert saved.read_bytes() == model.read_bytes()
    assert Path(f"{saved}.state").read_bytes() == Path(f"{model}.state").read_bytes()


def bounds(n_rows: int, n_shards: int) -> list[slice]:
    return [slice(n_rows * s // n_shards, n_rows * (s + 1) // n_shards) for s in range(n_shards)]


@pytest.mark.parametrize("n_shards", [1, 2, 3, 20])
@pytest.mark.parametrize("n_classes", [1, 2, 5], ids=["numbers", "two classes", "five classes"])
def test_arrays_have_the_bytes_of_the_command(tmp_path, n_classes, n_shards):
    X, y = planted(N, 40, n_classes, seed=3)
    model = by_command(tmp_path, write_libsvm(tmp_path / "rows.svm", X, y), "--shards", n_shards)
    forms = [X, X.toarray(), X.tocsc(), X.toarray().astype(np.float64)]
    shards = [Rows(forms[s % 4][part], y[part]) for s, part in enumerate(bounds(N, n_shards))]
    assert_same_bytes(trained(shards, shards=n_shards), model)


@pytest.mark.parametrize("passes", [1, 3])
def test_passes_may_be_asked_for(tmp_path, passes):
    X, y = planted(N, 40, 2, seed=3)
    rows = write_libsvm(tmp_path / "rows.svm", X, y)
    model = by_command(tmp_path, rows, "--shards", 2, "--passes", passes)
    training = trained([Rows(X[part], y[part]) for part in bounds(N, 2)], passes=passes, shards=2)
    assert_same_bytes(training, model)


def written_as_csv(folder: Path, n_shards: int, n_rows: int = N) -> list[Path]:
    """Write a table with words, numbers, gaps and weights to several files."""
    random = np.random.default_rng(4)
    city, plan = random.choice(["oslo", "lima", "rome"], n_rows), random.choice(["a", "b", "c", "d"], n_rows)
    age = random.integers(18, 80, n_rows)
    came = np.where(random.random(n_rows) < 0.3 + 0.4 * (city == "oslo") - age / 400, "yes", "no")
    cells = zip(city, plan, np.where(np.arange(n_rows) % 50 == 0, "", age), 1 + np.arange(n_rows) % 3, came)
    lines = [",".join(map(str, row)) + "\n" for row in cells]
    paths = []
    for number, part in enumerate(bounds(n_rows, n_shards)):
        paths.append(folder / f"part-{number:02}.csv")
        paths[-1].write_text("city,plan,age,times,came\n" + "".join(lines[part]))
    return paths


@pytest.mark.parametrize("form", ["csv", "gsac", "arrow"])
def test_tables_have_the_bytes_of_the_command(tmp_path, form):
    """Schema and feature names included."""
    paths = written_as_csv(tmp_path, 3)
    columns = {"label": "came", "weight": "times", "bits": 12}
    words = [word for name, value in columns.items() for word in (f"--{name}", value)]
    schema = schema_of(Rows(paths[0], **columns))
    data = [pyarrow.csv.read_csv(path) for path in paths] if form == "arrow" else paths
    if form == "gsac":  # each is filled in by the means of its own file
        data = [path.with_suffix(".gsac") for path in paths]
        for path, cache in zip(paths, data):
            run_command("convert", path, "-o", cache, *words, "--quiet")
        paths, columns, words = data, {}, []
    model = by_command(tmp_path, *paths, *words, "--shards", 3)
    assert_same_bytes(trained([Rows(one, **columns) for one in data], schema=schema, shards=3), model)


@pytest.mark.parametrize("form", ["arrays", "files"])
def test_classes_that_come_late_are_numbered_as_by_the_command(tmp_path, form):
    n = 140_000
    X, y = planted(n, 10, 3, seed=5)
    y[:100_000] %= 2
    y[0], y[69_000], y[71_000], y[139_000] = 7, 9, 8, 6
    parts = bounds(n, 2)
    paths = [write_libsvm(tmp_path / f"{part.start}.svm", X[part], y[part]) for part in parts]
    if form == "arrays":
        shards = [Rows(X[part], y[part]) for part in parts]
        (tmp_path / "rows.svm").write_text("".join(path.read_text() for path in paths))
        model = by_command(tmp_path, tmp_path / "rows.svm", "--shards", 2, "--passes", 1)
    else:
        shards = paths
        model = by_command(tmp_path, *paths, "--shards", 2, "--passes", 1)
    assert_same_bytes(trained(shards, passes=1, shards=2), model)


def bent(n_rows: int, n_late: int = 0, seed: int = 6):
    """Return rows of which three columns bend, a class for each, and columns that only the last rows have."""
    random = np.random.default_rng(seed)
    X = random.uniform(-2, 2, (n_rows, 4 + n_late)).astype(np.float32)
    X[random.random(X.shape) < 0.2] = 0
    X[: n_rows - n_rows // 8, 4:] = 0
    score = np.sin(3 * X[:, 0]) + np.abs(X[:, 1]) + np.log(0.1 + np.abs(X[:, 2])) + X[:, 3] / 2 + X[:, 4:].sum(axis=1)
    return sparse.csr_matrix(X), np.digitize(score + random.logistic(size=n_rows) / 3, [0, 1]).astype(float)


def knots_of(state) -> dict[str, list[float]]:
    return {one.name: one.knots.tolist() for one in greedystep.Model(state.finish()).curves()}


@pytest.mark.parametrize("n_shards", [1, 2, 4])
def test_columns_bend_at_the_knots_of_the_first_rows_in_all_replicas(tmp_path, n_shards):
    X, y = bent(12_000)
    model = by_command(tmp_path, write_libsvm(tmp_path / "rows.svm", X, y), "--shards", n_shards, "--curves", "auto")
    forms = [X.toarray(), X]
    shards = [Rows(forms[s % 2][part], y[part]) for s, part in enumerate(bounds(12_000, n_shards))]
    training = begin([sent(scan(rows, n_shards)) for rows in shards], curves="auto", shards=n_shards)
    first = knots_of(training.state)
    assert set("123") <= first.keys()
    while training.wants_pass:
        learned = [sent(learn(sent(training), rows, shard)) for shard, rows in enumerate(shards)]
        assert all(knots_of(State.read(parts[0].content)) == first for parts in learned)
        training = merge(training, learned)
    assert knots_of(training.state) == first
    assert_same_bytes(training, model)
    new_rows = bent(12_000, seed=7)
    lines, alone = (greedystep.train(X, y, curves=how).evaluate(*new_rows)["log_loss"] for how in ("off", "auto"))
    ours = training.model().evaluate(*new_rows)["log_loss"]
    assert ours < 1.02 * alone < 0.8 * lines


@pytest.mark.parametrize("n_shards", [1, 2])
def test_rows_beyond_the_first_ones_are_learned(n_shards):
    """Of a column that ascends, the rest of a shard has none of the values of its first rows."""
    random = np.random.default_rng(7)
    X = np.stack([np.arange(40_000) / 4000, random.uniform(-2, 2, 40_000)], 1).astype(np.float32)
    y = X[:, 0] * 1.5 + np.abs(X[:, 1]) + random.normal(size=40_000) / 3
    training = trained([Rows(X[part], y[part]) for part in bounds(40_000, n_shards)], curves="auto")
    assert len(training.model().curves()) == 2
    assert training.model().evaluate(X, y)["rmse"] < 0.4


@pytest.mark.parametrize("curves", ["off", "auto"])
def test_deltas_have_the_bits_of_whole_replicas(monkeypatch, curves):
    """Also of features that only one shard has, which stand behind the knots of curves."""
    X, y = bent(20_000, n_late=3)
    shards = [Rows(X[part], y[part]) for part in bounds(20_000, 4)]
    whole = trained(shards, curves=curves)
    assert whole.range_features == 0
    assert bool(knots_of(whole.state)) == (curves == "auto")
    monkeypatch.setattr(distributed, "WHOLE_BYTES", 0)
    monkeypatch.setattr(distributed, "features_per_range", lambda *_: 7)
    by_deltas = trained(shards, curves=curves)
    assert by_deltas.range_features == 7
    assert by_deltas.state.write() == whole.state.write()
    margins = whole.model().decision_function(np.eye(4, 7, 4, dtype=np.float32))  # the last row has no feature
    gains = (margins - margins[3]) @ [-1, 0, 1]
    assert (gains[:3] > 1).all()


def test_files_may_be_short(tmp_path):
    """Rests of files join the next one: labels and the beginning of a run are those of all files."""
    n = 9000
    X, y = planted(n, 10, 3, seed=5)
    y[:600] %= 2
    y[620], y[8800] = 9, 7
    paths = [write_libsvm(tmp_path / f"{part.start}.svm", X[part], y[part]) for part in bounds(n, 15)]
    model = by_command(tmp_path, *paths, "--shards", 15)
    assert_same_bytes(trained(paths, shards=15), model)


def test_uneven_files_have_the_bytes_of_local_files(tmp_path):
    X, y = planted(30_000, 10, 3, seed=5)
    caches = []
    for lo, hi in ((0, 9000), (9000, 21_000), (21_000, 30_000)):
        caches.append(tmp_path / f"{lo}.gsac")
        run_command("convert", write_libsvm(tmp_path / "rows.svm", X[lo:hi], y[lo:hi]), "-o", caches[-1], "--quiet")
    model = by_command(tmp_path, "--local", *caches)
    assert_same_bytes(trained(caches), model)


def test_files_may_be_empty(tmp_path):
    paths = [tmp_path / f"{number}.csv" for number in range(4)]
    for path, n in zip(paths, (0, 600, 0, 700)):
        path.write_text("f,y\n" + "".join(f"{i * i % 7},{i % 3 % 2}\n" for i in range(n)))
    schema = schema_of(Rows(paths[1], label="y"))
    training = trained([Rows(path, label="y") for path in paths], schema=schema, scanned=lambda _: 2)
    assert training.shards == [1, 3]
    filled = trained([Rows(path, label="y") for path in paths if path.stat().st_size > 9], schema=schema)
    assert filled.state.summary().n_rows == training.state.summary().n_rows


def test_a_shard_may_be_empty(monkeypatch):
    X, y = planted(N, 40, 2, seed=7)
    parts = bounds(N, 2)
    shards = [Rows(X[part], y[part]) for part in (parts[0], slice(0, 0), parts[1])]
    found = trained(shards, scanned=lambda _: 2)
    assert found.shards == [0, 2]
    monkeypatch.setattr(distributed, "WHOLE_BYTES", 0)
    assert trained(shards, scanned=lambda _: 2).state.write() == found.state.write()
    shards = [Rows(X[part], y[part]) for part in parts]
    alone = trained(shards)
    assert alone.state.summary().n_rows == found.state.summary().n_rows


def test_wide_rows_are_as_many_first_rows_as_their_entries_allow():
    X, y = planted(1200, 40_000, 2, seed=8)  # 8,000 entries each: 4 million are 524 rows
    training = trained([Rows(X[part], y[part]) for part in bounds(1200, 2)], passes=1)
    assert sum(training.first) == 524
    alone = greedystep.train(X, y, passes=1, shards=2)
    assert training.state.finish().write() == alone._model.write()


def test_many_numbers_are_told_from_many_classes():
    n = 25_000
    X, _ = planted(n, 10, 1, seed=9)
    y = np.arange(n, dtype=np.float64)
    with pytest.raises(ValueError, match="more than 10000 different whole numbers"):
        begin([scan(Rows(X, y), 1)])
    with pytest.raises(ValueError, match="more than 10000 different labels"):
        begin([scan(Rows(X, y), 1)], loss="softmax")
    y[-1] += 0.5
    seen = scan(Rows(X, y), 1)
    assert len(seen.labels.first_row) < 10_005
    assert begin([seen]).state.summary().n_classes == 0


def test_mistakes_are_told(tmp_path):
    X, y = planted(N, 40, 2, seed=3)
    shards = [Rows(X[part], y[part]) for part in bounds(N, 2)]
    training = begin([scan(rows, 2) for rows in shards])
    with pytest.raises(ValueError, match="shard 1 had 2500 rows when they were counted and has 2499 now"):
        learn(training, Rows(X[:2499], y[:2499]), 1)
    with pytest.raises(ValueError, match=r"needs the results of shards \[0, 1\], and has those of \[1\]"):
        merge(training, [learn(training, shards[1], 1)])
    whole = learn(training, shards[1], 1)
    for wrong, found in ((whole, "the result of one"), ([None], "None"), ([whole, 3], "3")):
        with pytest.raises(TypeError, match=rf"merge expects a list with the results of learn .* and has {found}"):
            merge(training, wrong)
    for n_shards in (0, -1):
        with pytest.raises(ValueError, match=f"n_shards is {n_shards}: expected how many shards have rows"):
            scan(shards[0], n_shards)
    with pytest.raises(ValueError, match="no parts to reduce"):
        distributed.reduce_range([], training.shards)
    with pytest.raises(ValueError, match="an optimum needs all rows in one place"):
        begin([scan(rows, 2) for rows in shards], method="optimum")
    with pytest.raises(ValueError, match="no rows"):
        begin([scan(Rows(X[:0], y[:0]), 1)])
    with pytest.raises(ValueError, match="no labels"):
        scan(Rows(X), 1)
    for name, cell in (("a", "1"), ("b", "x")):
        (tmp_path / f"{name}.csv").write_text("f,y\n" + f"{cell},0\n{cell},1\n" * 5)
    with pytest.raises(ValueError, match="the columns of the shards differ"):
        begin([scan(Rows(tmp_path / f"{name}.csv", label="y"), 2) for name in "ab"])
