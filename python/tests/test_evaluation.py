"""The pictures of a run are of its model and its rows, and there are none if these are no longer there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import run_command

from greedystep.plot_evaluation import evaluated
from greedystep.plot_trace import Trace, TraceError

Event = dict[str, Any]


def traced(folder: Path, classes: int, *options: str, rows: int = 2000, test_rows: int = 0) -> Trace:
    """Train on generated rows, and read what the run was."""
    whole = folder / "all.svm"
    shape = ("--features", "50", "--nnz", "5", "--classes", str(classes))
    run_command("generate", "--rows", str(rows + test_rows), *shape, "-o", whole)
    lines = whole.read_text().splitlines(keepends=True)
    (folder / "train.svm").write_text("".join(lines[:rows]))
    words: list[Any] = ["train", folder / "train.svm", "-o", folder / "m", "--trace", folder / "run.jsonl", "-q"]
    if test_rows:
        (folder / "test.svm").write_text("".join(lines[rows:]))
        words += ["--test", folder / "test.svm"]
    run_command(*words, *options)
    return evaluated(folder / "run.jsonl")


def area(scores: Event) -> float:
    """Return the area under the ROC curve: pairs in the right order, those of one group count half."""
    right = below = 0.0
    for positive, negative in zip(scores["positive"], scores["negative"]):
        right += positive * (below + negative / 2)
        below += negative
    return float(right / below / sum(scores["positive"]))


def test_two_classes_of_test_and_training_rows(tmp_path: Path) -> None:
    trace = traced(tmp_path, 2, "--passes", "2", test_rows=1000)
    for rows, n in (("test", 1000), ("training", 2000)):
        found = trace.evaluation(rows)
        scores, confusion, metrics = found["scores"], np.array(found["confusion"]), found["metrics"]
        assert found["n_rows"] == n and found["complete"] and metrics["rows"] == n
        assert sum(scores["positive"]) + sum(scores["negative"]) == n
        assert 100 < len(scores["score"]) <= 200 and scores["score"] == sorted(scores["score"])
        assert abs(area(scores) - metrics["auc"]) < 1e-3
        assert all(0 < p < 1 for p in scores["probability"])
        assert confusion.sum() == n and confusion[0, 1] != confusion[1, 0]
        assert confusion.sum(axis=1).tolist() == [one["actual"] for one in found["classes"]]
        assert confusion.sum(axis=0).tolist() == [one["predicted"] for one in found["classes"]]
        assert confusion.trace() / n == pytest.approx(metrics["accuracy"])
        told = json.loads(run_command("evaluate", tmp_path / "m", found["file"], "--json"))
        assert metrics == pytest.approx({name: told[name] for name in metrics})


def test_a_loss_without_probabilities_has_scores_only(tmp_path: Path) -> None:
    found = traced(tmp_path, 2, "--loss", "hinge").evaluation()
    assert "probability" not in found["scores"] and abs(area(found["scores"]) - found["metrics"]["auc"]) < 1e-3


def test_several_classes_have_confidence_and_few_a_confusion_matrix(tmp_path: Path) -> None:
    found = traced(tmp_path, 4).evaluation()
    confidence, accuracy = found["confidence"], found["metrics"]["accuracy"]
    assert np.trace(found["confusion"]) / 2000 == pytest.approx(accuracy)
    assert sum(confidence["weight"]) == 2000
    assert np.dot(confidence["accuracy"], confidence["weight"]) / 2000 == pytest.approx(accuracy)
    many = traced(tmp_path, 30, rows=400).evaluation()
    assert "confusion" not in many and len(many["classes"]) == 30
    assert sum(one["actual"] for one in many["classes"]) == sum(one["predicted"] for one in many["classes"]) == 400


def test_numbers_have_groups_and_residuals(tmp_path: Path) -> None:
    found = traced(tmp_path, 1).evaluation()
    groups, residuals = found["predictions"], found["residuals"]
    assert sum(residuals["weight"]) + residuals["below"] + residuals["above"] == 2000
    assert len(residuals["edges"]) == 61 and residuals["below"] < 40 > residuals["above"]
    assert sum(groups["weight"]) == 2000 and groups["prediction"] == sorted(groups["prediction"])
    square = np.square(groups["residual"]) + np.square(groups["deviation"])
    assert np.sqrt(np.dot(groups["weight"], square) / 2000) == pytest.approx(found["metrics"]["rmse"])


def test_the_model_is_that_of_the_file(tmp_path: Path) -> None:
    model = traced(tmp_path, 2).model
    assert model is not None
    told = json.loads(run_command("inspect", tmp_path / "m", "--json", "--top", "50"))
    assert model["nonzero_weights"] == told["nonzero_weights"] and model["labels"] == told["labels"]
    assert [one["index"] for one in model["strongest"]] == [one["index"] for one in told["top"]]


def test_what_is_gone_or_of_another_run_has_no_pictures(tmp_path: Path) -> None:
    traced(tmp_path, 2)
    later = os.path.getmtime(tmp_path / "run.jsonl") + 10
    os.utime(tmp_path / "m", (later, later))
    trace = evaluated(tmp_path / "run.jsonl")
    assert trace.model is None
    with pytest.raises(TraceError, match="needs the model of the run"):
        trace.evaluation()
    os.utime(tmp_path / "m", (later - 20, later - 20))
    (tmp_path / "train.svm").unlink()
    trace = evaluated(tmp_path / "run.jsonl")
    assert trace.model is not None and not trace.evaluations
