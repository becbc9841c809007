"""The example for Dask, on clusters of this machine: the bytes of the command."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import EXAMPLES, assert_killed, by_command, example, fatal_once, saved

dask_distributed = pytest.importorskip("dask.distributed", reason="Dask is NOT tested: it is not there")


@pytest.fixture
def start():
    """Start a cluster with so many workers."""
    begun = []

    def starting(n_workers: int):
        begun.append(dask_distributed.Client(n_workers=n_workers, threads_per_worker=1, dashboard_address=None))
        return begun[0]

    yield starting
    for client in begun:
        client.shutdown()
        client.close()


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_any_number_of_workers_gives_the_bytes_of_the_command(start, shards, expected, tmp_path, n_workers):
    assert saved(example("dask").train(start(n_workers), shards, curves="auto"), tmp_path) == expected


@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_worker_killed_in_mid_pass_changes_no_bit(start, shards, expected, tmp_path, monkeypatch, n_workers):
    module = example("dask")
    monkeypatch.setattr(module, "learn", fatal_once(tmp_path / "killed"))
    assert saved(module.train(start(n_workers), shards, curves="auto"), tmp_path) == expected
    assert_killed(tmp_path / "killed")


def test_caches_have_the_bytes_of_their_tables(start, caches, expected, tmp_path):
    assert saved(example("dask").train(start(2), caches, curves="auto"), tmp_path) == expected


def test_the_example_runs_as_its_head_says(files, tmp_path):
    words = [sys.executable, EXAMPLES / "dask" / "train.py", tmp_path / "model", "came", *files[:2]]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    of_two = by_command(tmp_path / "by the command", *files[:2], "--label", "came", "--shards", 2)
    assert (tmp_path / "model").read_bytes() == of_two
