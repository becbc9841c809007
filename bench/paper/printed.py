"""The numbers as the paper printed them, where its loss is not the log loss: cod-rna and madelon.

cod-rna: the values of GSA, SGD and Adadelta match log(1+e^p) - y p of the probability p (a sigmoid applied twice).
madelon, and SCSG on cod-rna: the log loss with probabilities kept 1e-15 away from 0 and 1, so that no row costs
more than 34.5. The methods are the numpy loops, on the raw data, with the split of datasets.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import loops
from datasets import BY_NAME, HERE, Files
from grid import published_methods
from shared import Line, number

TABLE = HERE / "printed.csv"
HEADER = ("data", "method", "pass", "n_seeds", "loss", "loss_min", "loss_max", "accuracy", "log_loss")
NAMES = ("cod-rna", "madelon")
CLIP = 1e-15
OTHER_SEEDS = 2  # the loops are slow; GSA has them all


def clipped_log_loss(p: np.ndarray, labels: np.ndarray) -> float:
    p_label = np.clip(np.where(labels == 1, p, 1 - p), CLIP, 1 - CLIP)
    return float(-np.log(p_label).mean())


def sigmoid_twice(p: np.ndarray, labels: np.ndarray) -> float:
    return float((np.log1p(np.exp(p)) - labels * p).mean())


def printed_loss(data: str, method: str, p: np.ndarray, labels: np.ndarray) -> float:
    if data == "cod-rna" and not method.startswith("scsg"):
        return sigmoid_twice(p, labels)
    return clipped_log_loss(p, labels)


def one_run(data: str, method: str, rows: list[loops.Rows], seed: int) -> list[tuple[float, float, float]]:
    """(printed loss, accuracy, log loss) after every pass."""
    rng = np.random.default_rng(seed)
    train, test = rows if len(rows) == 2 else loops.split(rows[0], rng)
    train, test = train.with_intercept(), test.with_intercept()
    learner = loops.make(method, train, rng)
    scores = []
    for w in loops.run(learner, BY_NAME[data].passes, rng):
        p = loops.sigmoid(test.margins(w)[:, 0])
        accuracy = float(((p > 0.5) == (test.labels == 1)).mean())
        scores.append((printed_loss(data, method, p, test.labels), accuracy, clipped_log_loss(p, test.labels)))
    return scores


def loop_methods(data: str) -> list[str]:
    """GSA and the published methods, Adadelta with eps outside of the roots (forms.py says why)."""
    methods = ["paper"]
    for method in published_methods(data):
        methods.append(method + ":outside" if method.startswith("adadelta") else method)
    return methods


def measure(data: str, files: Files, folder: Path, seeds: int) -> list[Line]:
    dataset = BY_NAME[data]
    rows = loops.read_set(files, dataset.given_test, folder)
    lines = []
    for method in loop_methods(data):
        n_seeds = seeds if method == "paper" else min(seeds, OTHER_SEEDS)
        scores = np.array([one_run(data, method, rows, seed) for seed in range(n_seeds)])
        for at in range(dataset.passes):
            loss, accuracy, log_loss = scores[:, at, 0], scores[:, at, 1], scores[:, at, 2]
            values = (loss.mean(), loss.min(), loss.max(), accuracy.mean(), log_loss.mean())
            lines.append(
                dict(zip(HEADER, (data, method, str(at + 1), str(n_seeds), *map(number, values)), strict=True))
            )
    return lines
