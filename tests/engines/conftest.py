"""Rows in files, the model that the command trains of them, and the examples as modules."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import greedystep
from greedystep import distributed
from greedystep.comparison import command
from greedystep.distributed import Rows

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
N_ROWS, N_SHARDS, BITS = 20_001, 5, 12


def example(engine: str):
    """Return the example of an engine as a module."""
    found = importlib.util.spec_from_file_location(f"{engine}_example", EXAMPLES / engine / "train.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def files(tmp_path_factory) -> list[Path]:
    """A table with words, gaps and numbers that bend, in files as even as can be."""
    folder = tmp_path_factory.mktemp("rows")
    random = np.random.default_rng(1)
    city, age = random.choice(["oslo", "lima", "rome"], N_ROWS), random.integers(18, 80, N_ROWS)
    came = np.where(random.random(N_ROWS) < 0.1 + 0.3 * (city == "oslo") + abs(age - 50) / 60, "yes", "no")
    lines = [f"{c},{a if i % 50 else ''},{y}\n" for i, (c, a, y) in enumerate(zip(city, age, came))]
    paths = []
    for shard in range(N_SHARDS):
        paths.append(folder / f"part-{shard}.csv")
        first, last = N_ROWS * shard // N_SHARDS, N_ROWS * (shard + 1) // N_SHARDS
        paths[-1].write_text("city,age,came\n" + "".join(lines[first:last]))
    return paths


@pytest.fixture(scope="session")
def shards(files) -> list[Rows]:
    """The files as shards."""
    return [Rows(str(path), label="came", bits=BITS) for path in files]


def by_command(model: Path, *words) -> bytes:
    """Train by the command and return the model's bytes."""
    subprocess.run([command(), "train", *map(str, words), "-o", model, "--quiet"], check=True)
    return model.read_bytes()


@pytest.fixture(scope="session")
def expected(files, tmp_path_factory) -> bytes:
    """The model of the command, in which the age has a curve."""
    words = ["--label", "came", "--bits", BITS, "--shards", N_SHARDS, "--curves", "auto"]
    model = tmp_path_factory.mktemp("command") / "model"
    found = by_command(model, *files, *words)
    assert [one.name for one in greedystep.load(model).curves()] == ["age"]
    return found


@pytest.fixture
def caches(files, tmp_path) -> list[Rows]:
    """The same rows as caches, converted together: the mean that missing numbers count as is that of all."""
    folder = tmp_path / "caches"
    folder.mkdir()
    words = ["convert", *files, "--label", "came", "--bits", str(BITS), "-o", folder, "--quiet"]
    subprocess.run([command(), *words], check=True)
    return [Rows(str(path)) for path in sorted(folder.iterdir())]


def saved(model, folder: Path) -> bytes:
    """Return a model as the bytes of its file."""
    model.save(folder / "model")
    return (folder / "model").read_bytes()


def fatal_once(mark: Path):
    """Return a function like `learn` that kills its process in the middle of shard 2 of the second pass, once."""
    name, learn = str(mark), distributed.learn

    def learn_or_die(training, rows, shard):
        import os

        import pyarrow as pa
        import pyarrow.csv

        if shard != 2 or training.state.summary().pass_ != 2 or os.path.exists(name):
            return learn(training, rows, shard)
        batches = pyarrow.csv.read_csv(rows.data).to_batches(500)

        def dying():
            yield from batches[:3]
            with open(name, "w") as file:
                file.write(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)

        return learn(training, replace(rows, data=pa.RecordBatchReader.from_batches(batches[0].schema, dying())), shard)

    return learn_or_die


def assert_killed(mark: Path) -> None:
    """Check that a worker was killed and is gone."""
    assert mark.exists()
    assert not os.path.exists(f"/proc/{mark.read_text()}")
