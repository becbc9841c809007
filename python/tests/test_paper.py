"""Algorithm 1 of the paper, to the letter, through the command and Python; the oracle is tests/golden/paper.py."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from conftest import run_command, write_libsvm
from scipy import sparse

import greedystep

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden" / "paper.csv"


@pytest.fixture(params=["two", "five"])
def table(request):
    """Rows, labels and the weights of the oracle, [outputs, 1 + features]."""
    with GOLDEN.open() as file:
        lines = [line for line in csv.reader(file) if line[0] in ("row", "weight") and line[1] == request.param]
    rows = np.array([line[2:] for line in lines if line[0] == "row"], float)
    weights = np.array([float(line[4]) for line in lines if line[0] == "weight"]).reshape(-1, rows.shape[1])
    if len(weights) == 2:  # the library's one output is the difference of the two
        weights = weights[1:] - weights[:1]
    return rows[:, 1:], rows[:, 0], weights


def check(model, weights) -> None:
    found = np.column_stack([np.ravel(model.intercept), np.reshape(model.coef, (len(weights), -1))])
    np.testing.assert_allclose(found, weights, rtol=2e-5, atol=2e-5)


def test_the_command_returns_the_weights_of_algorithm_1(table, tmp_path):
    X, y, weights = table
    rows = write_libsvm(tmp_path / "rows.svm", sparse.csr_matrix(X), y)
    words = ["train", rows, "--method", "paper", "--order", "file", "--passes", 2, "--quiet", "-o"]
    run_command(*words, tmp_path / "model")
    check(greedystep.load(tmp_path / "model"), weights)
    run_command(*words, tmp_path / "last", "--average", "last")
    assert (tmp_path / "last").read_bytes() == (tmp_path / "model").read_bytes()
    run_command(*words, tmp_path / "recent", "--average", "recent")
    with pytest.raises(AssertionError):
        check(greedystep.load(tmp_path / "recent"), weights)


def test_python_returns_the_weights_of_algorithm_1(table):
    X, y, weights = table
    check(greedystep.train(X, y, method="paper", order="file", passes=2), weights)
    fitted = greedystep.GreedystepClassifier(method="paper", order="file", passes=2).fit(X, y)
    check(fitted.model_, weights)
