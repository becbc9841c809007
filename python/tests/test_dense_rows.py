"""Dense rows are the same wherever they lie: files, arrays, tensors, tables and caches give the same bytes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import greedystep

COMMAND = os.environ.get("GREEDYSTEP_COMMAND", "")
N_ROWS, WIDTH, N_CLASSES = 1500, 24, 3


@pytest.fixture(scope="module")
def rows() -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Return rows that are exact in half floats, some values of which are zero, and classes."""
    random = np.random.default_rng(29)
    x = (random.integers(-255, 256, (N_ROWS, WIDTH)) / 64).astype(np.float32)
    x[random.random(x.shape) < 0.1] = 0
    scores = x @ random.standard_normal((WIDTH, N_CLASSES)) + random.gumbel(size=(N_ROWS, N_CLASSES))
    return x, scores.argmax(axis=1)


def _bytes(model: greedystep.Model, folder: Path) -> bytes:
    model.save(folder / "model", state=False)
    return (folder / "model").read_bytes()


@pytest.mark.parametrize("method", ["optimum", "gsa"])
def test_files_of_arrays_give_the_model_of_the_array(rows: Any, tmp_path: Path, method: str) -> None:
    x, y = rows
    expected = _bytes(greedystep.train(x, y, method=method), tmp_path)
    np.save(tmp_path / "y.npy", y)
    for dtype in ("<f4", ">f4", "<f2", "<f8"):
        np.save(tmp_path / "x.npy", x.astype(dtype))
        model = greedystep.train(tmp_path / "x.npy", labels=tmp_path / "y.npy", method=method)
        assert _bytes(model, tmp_path) == expected, dtype
        assert _bytes(greedystep.train(tmp_path / "x.npy", y, method=method), tmp_path) == expected


def test_several_files_go_in_step(rows: Any, tmp_path: Path) -> None:
    x, y = rows
    names = []
    for part in (slice(0, 400), slice(400, N_ROWS)):
        names.append((tmp_path / f"x{part.start}.npy", tmp_path / f"y{part.start}.npy"))
        np.save(names[-1][0], x[part])
        np.save(names[-1][1], y[part])
    data, labels = zip(*names)
    assert _bytes(greedystep.train(data, labels=labels), tmp_path) == _bytes(greedystep.train(x, y), tmp_path)
    with pytest.raises(ValueError, match=r"x0\.npy has 400 rows and .*y400\.npy has 1100 labels"):
        greedystep.train(data, labels=labels[::-1])
    with pytest.raises(ValueError, match="without labels"):
        greedystep.train(data, labels=labels[:1])
    with pytest.raises(ValueError, match="more files of labels"):
        greedystep.train(data[:1], labels=labels)


def test_texts_are_classes_as_in_arrays(rows: Any, tmp_path: Path) -> None:
    x, y = rows
    np.save(tmp_path / "x.npy", x)
    for names in (np.array(["b", "a", "ç😀"])[y], np.array([b"b", b"a", b"cc"])[y]):
        np.save(tmp_path / "y.npy", names)
        model = greedystep.train(tmp_path / "x.npy", labels=tmp_path / "y.npy")
        assert _bytes(model, tmp_path) == _bytes(greedystep.train(x, names.astype(str)), tmp_path)
        assert model.evaluate(tmp_path / "x.npy", labels=tmp_path / "y.npy")["accuracy"] > 0.7
        assert (model.predict(tmp_path / "x.npy") == model.predict(x)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_lists_of_tables_give_the_model_of_the_array(rows: Any, tmp_path: Path, dtype: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    x, y = rows
    expected = _bytes(greedystep.train(x, y), tmp_path)
    items = pa.array(x.astype(dtype).ravel())
    fixed = pa.FixedSizeListArray.from_arrays(items, WIDTH)
    starts = pa.array(np.arange(0, x.size + 1, WIDTH, dtype=np.int32))
    for lists in (fixed, pa.ListArray.from_arrays(starts, items)):
        table = pa.table({"embedding": lists, "label": y})
        assert _bytes(greedystep.train(table), tmp_path) == expected
    parquet.write_table(pa.table({"embedding": fixed, "label": y}), tmp_path / "x.parquet")
    assert _bytes(greedystep.train(tmp_path / "x.parquet"), tmp_path) == expected


@pytest.mark.skipif(not COMMAND, reason="needs the command")
@pytest.mark.parametrize("method", ["optimum", "gsa"])
def test_caches_have_half_the_bytes_and_the_same_model(rows: Any, tmp_path: Path, method: str) -> None:
    x, y = rows
    expected = _bytes(greedystep.train(x, y, method=method), tmp_path)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    arguments = [COMMAND, "convert", "x.npy", "--labels", "y.npy", "-o", "x.gsac", "--quiet"]
    subprocess.run(arguments, cwd=tmp_path, check=True)
    assert (tmp_path / "x.gsac").stat().st_size < x.nbytes / 2 + 2 * N_ROWS + 500
    assert _bytes(greedystep.train(tmp_path / "x.gsac", method=method), tmp_path) == expected


def test_half_floats_and_memory_maps_are_their_floats(rows: Any, tmp_path: Path) -> None:
    x, y = rows
    expected = _bytes(greedystep.train(x, y), tmp_path)
    np.save(tmp_path / "x.npy", x.astype(np.float16))
    half = x.astype(np.float16)
    for array in (half, np.asfortranarray(half), half.astype(">f2"), np.load(tmp_path / "x.npy", mmap_mode="r")):
        assert _bytes(greedystep.train(array, y), tmp_path) == expected
    gaps = half.copy()
    gaps[3, 1] = np.nan
    assert greedystep.train(gaps, y).evaluate(gaps, y)["accuracy"] > 0.7


def test_bfloat16_is_the_upper_half_of_floats(rows: Any, tmp_path: Path) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x, y = rows
    short = x.astype(ml_dtypes.bfloat16)
    expected = _bytes(greedystep.train(short.astype(np.float32), y), tmp_path)
    assert _bytes(greedystep.train(short, y), tmp_path) == expected
    np.save(tmp_path / "x.npy", short)
    np.save(tmp_path / "y.npy", y)
    assert _bytes(greedystep.train(tmp_path / "x.npy", labels=tmp_path / "y.npy"), tmp_path) == expected


def test_tensors_are_read_where_they_are(rows: Any, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from greedystep._rows import Block, features_of

    x, y = rows
    tensor = torch.from_numpy(x)
    block = Block(10)
    features_of(tensor).lend(block, 0, 10)
    assert block.value == tensor.data_ptr()
    expected = _bytes(greedystep.train(x, y), tmp_path)
    for one in (tensor, tensor.half(), tensor.double(), tensor.clone().requires_grad_()):
        assert _bytes(greedystep.train(one, torch.from_numpy(y)), tmp_path) == expected
    short = tensor.to(torch.bfloat16)
    model = greedystep.train(short, y)
    assert _bytes(model, tmp_path) == _bytes(greedystep.train(short.float().numpy(), y), tmp_path)
    assert (model.predict(short) == model.predict(short.float())).all()


def test_a_number_that_is_missing_is_named(rows: Any, tmp_path: Path) -> None:
    x, y = rows
    bad = x.copy()
    bad[6, 2] = np.nan
    np.save(tmp_path / "x.npy", bad)
    np.save(tmp_path / "y.npy", y)
    with pytest.raises(ValueError, match=r"x\.npy, row 7: column 3 holds no number"):
        greedystep.train(tmp_path / "x.npy", labels=tmp_path / "y.npy")
    without = greedystep.train(np.delete(x, 6, axis=0), np.delete(y, 6))
    skipped = greedystep.train(tmp_path / "x.npy", labels=tmp_path / "y.npy", skip_bad_rows=True)
    assert _bytes(skipped, tmp_path) == _bytes(without, tmp_path)
    with pytest.raises(ValueError, match="labels="):
        greedystep.train(x, y, labels="y.npy")
