"""The example for Ray, on clusters of this machine: the bytes of the command."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import EXAMPLES, assert_killed, by_command, example, fatal_once, saved

ray = pytest.importorskip("ray", reason="Ray is NOT tested: it is not there")


@pytest.fixture
def start():
    """Start a cluster with so many workers."""

    def starting(n_workers: int) -> None:
        ray.init(num_cpus=n_workers, include_dashboard=False, log_to_driver=False)

    yield starting
    ray.shutdown()


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_any_number_of_workers_gives_the_bytes_of_the_command(start, shards, expected, tmp_path, n_workers):
    start(n_workers)
    assert saved(example("ray").train(shards, curves="auto"), tmp_path) == expected


def test_caches_and_a_worker_killed_in_mid_pass_change_no_bit(start, shards, expected, caches, tmp_path, monkeypatch):
    start(2)
    module = example("ray")
    assert saved(module.train(caches, curves="auto"), tmp_path) == expected
    monkeypatch.setattr(module, "learn", fatal_once(tmp_path / "killed"))
    assert saved(module.train(shards, curves="auto"), tmp_path) == expected
    assert_killed(tmp_path / "killed")


def test_the_example_runs_as_its_head_says(files, tmp_path):
    words = [sys.executable, EXAMPLES / "ray" / "train.py", tmp_path / "model", "came", *files[:2]]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    of_two = by_command(tmp_path / "by the command", *files[:2], "--label", "came", "--shards", 2)
    assert (tmp_path / "model").read_bytes() == of_two
