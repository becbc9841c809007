"""Rows in memory, and what a model makes of each: the loss and whether it is right.

The model file is read here from its specification (docs/formats/model.md), so that the losses are those of the weights
that were saved; `of_model` checks their mean against what `greedystep evaluate` says.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import log_softmax
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

UNKNOWN_LOSS = -np.log(1e-15)  # of a label that the model has never seen, as in `evaluate`
CALIBRATION_BINS = 15
DTYPES = {"U8": "<u1", "U32": "<u4", "U64": "<u8", "F32": "<f4", "F64": "<f8"}


@dataclass(frozen=True)
class Rows:
    x: csr_matrix
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    def with_columns(self, n: int) -> csr_matrix:
        """The rows with exactly n columns: what lies beyond has no weight."""
        if self.x.shape[1] > n:
            return self.x[:, :n]
        return csr_matrix((self.x.data, self.x.indices, self.x.indptr), shape=(self.x.shape[0], n))


@dataclass(frozen=True)
class Scores:
    loss: np.ndarray
    correct: np.ndarray
    calibration_error: float

    @property
    def mean_loss(self) -> float:
        return float(self.loss.mean())

    @property
    def accuracy(self) -> float:
        return float(self.correct.mean())


@dataclass(frozen=True)
class Model:
    labels: np.ndarray
    weights: np.ndarray  # [features, outputs]
    intercept: np.ndarray


@lru_cache(maxsize=6)
def read(path: Path) -> Rows:
    x, y = load_svmlight_file(str(path), zero_based=False)
    return Rows(x, y)


def read_model(path: Path) -> Model:
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    if header["__metadata__"]["format"] != "greedystep.model" or header["__metadata__"]["version"] != "3":
        raise SystemExit(f"{path}: not a model of format version 3; bench/quality/rows.py must learn the new one")
    data = memoryview(raw)[8 + size :]

    def tensor(name: str) -> np.ndarray:
        about = header[name]
        begin, end = about["data_offsets"]
        return np.frombuffer(data[begin:end], dtype=DTYPES[about["dtype"]]).reshape(about["shape"])

    lines = tensor("weight")
    weights = np.zeros((int(tensor("n_features")[0]), lines.shape[1]))
    weights[tensor("feature") if "feature" in header else slice(len(lines))] = lines
    return Model(tensor("labels.number"), weights, tensor("intercept").astype(float))


def margins(model: Model, rows: Rows) -> np.ndarray:
    return rows.with_columns(len(model.weights)) @ model.weights + model.intercept


def calibration_error(p: np.ndarray, correct: np.ndarray) -> float:
    """Expected calibration error: confidence against accuracy in bins of equal width, weighted by their rows."""
    confidence = p.max(axis=1)
    bins = np.minimum((confidence * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    off = np.bincount(bins, confidence - correct, CALIBRATION_BINS)
    return float(np.abs(off).sum() / len(correct))


def of_log_probabilities(log_p: np.ndarray, labels: np.ndarray, y: np.ndarray) -> Scores:
    """Scores of rows whose labels are y; the columns of log_p are the sorted labels."""
    actual = np.searchsorted(labels, y).clip(max=len(labels) - 1)
    is_known = labels[actual] == y
    loss = np.where(is_known, -log_p[np.arange(len(y)), actual], UNKNOWN_LOSS)
    correct = (log_p.argmax(axis=1) == actual) & is_known
    return Scores(loss, correct, calibration_error(np.exp(log_p), correct))


def of_model(path: Path, rows: Rows, evaluated: dict[str, float]) -> Scores:
    model = read_model(path)
    m = margins(model, rows)
    if len(model.labels) == 2 and m.shape[1] == 1:
        m = np.hstack([np.zeros_like(m), m])
    if len(model.labels) == 1:
        m = np.zeros((len(rows), 1))
    scores = of_log_probabilities(log_softmax(m, axis=1), model.labels, rows.y)
    if abs(scores.mean_loss - evaluated["log_loss"]) > 1e-4 * (1 + evaluated["log_loss"]):
        raise SystemExit(f"{path}: log loss {scores.mean_loss} here, {evaluated['log_loss']} by evaluate")
    return scores


def write(path: Path, x: np.ndarray | csr_matrix, y: np.ndarray) -> None:
    """Rows as libsvm text, indices from 1, zeros left out."""
    dump_svmlight_file(x, y, str(path), zero_based=False)
