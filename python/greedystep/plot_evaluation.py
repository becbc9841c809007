"""The result of a traced run: its model, and how well it predicts rows.

The trace names the files. The model is read from its file and evaluated on the first rows of the test and training
files, so that a run spends no time on pictures that may never be drawn.
"""

from __future__ import annotations

import ctypes
import math
import os
from ctypes import byref
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._core import Handle, new_object, reader_options
from ._data import open_paths
from ._errors import GreedystepError, call
from ._run import Run
from .model import Model, finished
from .plot_trace import Event, Source, Trace, read_trace
from .training import load

Floats = npt.NDArray[np.float64]

_MAX_ROWS = 100_000  # about: batches stay whole
_MAX_CONFUSION = 20
_MAX_CLASSES = 1000
_STRONGEST = 50


def _find(name: str, folder: str) -> str | None:
    """Return the path of a file that the trace names: as named, or beside the trace."""
    for path in (name, os.path.join(folder, name)):
        if os.path.isfile(path):
            return path
    return None


def _strongest(model: Model, labels: list[str]) -> list[Event]:
    found = []
    for one in model._model.strongest(_STRONGEST):
        entry: Event = {"index": one.feature + 1, "importance": one.importance, "weight": one.weight}
        name = model._model.name(one.feature)
        if name is not None:
            entry["name"] = name
        if model._model.info.n_outputs > 1:
            entry["label"] = labels[one.output]
        found.append(entry)
    return found


def model_event(model: Model) -> Event:
    """Return the event that describes the model."""
    weights, labels = model._model.weights(), model._model.labels()
    return {
        "loss": model.loss,
        "method": model.method,
        "features": model.n_features,
        "features_used": int((weights != 0).any(axis=1).sum()),
        "outputs": weights.shape[1],
        "classes": len(labels),
        "labels": labels[:_MAX_CLASSES],
        "nonzero_weights": int((weights != 0).sum()),
        "intercept": model.intercept.tolist(),
        "strongest": _strongest(model, labels),
    }


@dataclass
class _Rows:
    """The first rows of a file: margins [rows x outputs], the class or the number of each, weights and lengths."""

    margins: Floats
    actual: npt.NDArray[Any]
    weight: Floats
    length: npt.NDArray[np.int64]
    metrics: dict[str, float]
    is_all: bool


def _array(address: int | None, kind: Any, n: int) -> Any:
    if not address:
        return None
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(kind)), (n,)).copy()


def _classes(model: Model, batch: c.Batch) -> npt.NDArray[np.int64]:
    """Return the classes of the rows' labels; their number for a label that the model does not know."""
    classes = np.full(batch.n_rows, model._model.info.n_classes, np.int64)
    found = ctypes.c_size_t()
    for row in range(batch.n_rows):
        if c.library().gsa_model_class(model._model.pointer, byref(batch), row, byref(found), None) == c.OK:
            classes[row] = found.value
    return classes


def _read_rows(model: Model, path: str) -> _Rows:
    run, batch, parts, n_rows, more = Run(), c.Batch(), [], 0, True
    reader = open_paths([path], reader_options(skip_bad_rows=True), run)
    reader.follow(model.schema)
    metrics = Handle(new_object("gsa_metrics_new", model._model.pointer), "gsa_metrics_free")
    while n_rows < _MAX_ROWS and (more := reader.next(batch)):
        n = batch.n_rows
        margins = np.empty((n, model._model.info.n_outputs))
        (model._model.predict if model._model.info.has_log_link else model._model.margins)(batch, margins)
        call("gsa_metrics_update", metrics.pointer, byref(batch))
        actual = _array(batch.label, ctypes.c_double, n) if model.classes is None else _classes(model, batch)
        weight = _array(batch.weight, ctypes.c_float, n)
        if batch.index:
            length = np.diff(_array(batch.row_start, ctypes.c_int64, n + 1))
        else:
            length = np.count_nonzero(_array(batch.value, ctypes.c_float, n * batch.width).reshape(n, -1), axis=1)
        parts.append((margins, actual, np.ones(n) if weight is None else weight.astype(float), length))
        n_rows += n
    reader.close()
    margins, actual, weights, lengths = (np.concatenate(column) for column in zip(*parts))
    return _Rows(margins, actual, weights, lengths, finished(metrics), not more)


def _sums(group: npt.NDArray[np.int64], values: Floats, n: int) -> Floats:
    sums: Floats = np.bincount(group, weights=values, minlength=n).astype(np.float64)
    return sums


def _columns(**columns: Floats) -> dict[str, list[float]]:
    return {name: values.tolist() for name, values in columns.items()}


def _scores(score: Floats, is_positive: npt.NDArray[np.bool_], weight: Floats, has_probabilities: bool) -> Event:
    """Group rows of two classes by score into about 200 groups, in which each class has half of the resolution."""
    order = np.argsort(score, kind="stable")
    score, weight, is_positive = score[order], weight[order], is_positive[order]
    sides = [np.where(is_positive == side, weight, 0.0) for side in (True, False)]
    share = sum(np.cumsum(side) / max(float(side.sum()), 1e-300) for side in sides) / 2
    group = np.minimum((200 * np.asarray(share)).astype(np.int64), 199)
    group = np.unique(group, return_inverse=True)[1].reshape(-1)
    n = int(group.max()) + 1
    total = np.maximum(_sums(group, weight, n), 1e-300)
    found = _columns(
        score=_sums(group, weight * score, n) / total,
        positive=_sums(group, sides[0], n),
        negative=_sums(group, sides[1], n),
    )
    if has_probabilities:
        found |= _columns(probability=_sums(group, weight / (1 + np.exp(-np.clip(score, -700, 700))), n) / total)
    return found


def _confidence(rows: _Rows, predicted: npt.NDArray[np.int64]) -> Event:
    """Return the probability of the predicted class in 20 bins, and how often it is right; for 3 or more classes."""
    top = rows.margins.max(axis=1, keepdims=True)
    confidence = 1 / np.exp(rows.margins - top).sum(axis=1)
    group = np.minimum((20 * confidence).astype(np.int64), 19)
    weight = _sums(group, rows.weight, 20)
    right = _sums(group, rows.weight * (predicted == rows.actual), 20)
    some = weight > 0
    mean = _sums(group, rows.weight * confidence, 20)[some] / weight[some]
    return _columns(confidence=mean, accuracy=right[some] / weight[some], weight=weight[some])


def _of_classes(rows: _Rows, labels: list[str], has_probabilities: bool) -> Event:
    n, is_one = len(labels), rows.margins.shape[1] == 1
    predicted = (rows.margins[:, 0] > 0).astype(np.int64) if is_one else rows.margins.argmax(axis=1)
    known = rows.actual < n  # others are labels that the model does not know
    actual, said, weight = rows.actual[known], predicted[known], rows.weight[known]
    counts = (_sums(actual, weight, n), _sums(predicted, rows.weight, n), _sums(actual, weight * (actual == said), n))
    names = ("actual", "predicted", "correct")
    found: Event = {
        "classes": [
            {"label": label, **{name: float(values[k]) for name, values in zip(names, counts)}}
            for k, label in enumerate(labels[:_MAX_CLASSES])
        ]
    }
    if n <= _MAX_CONFUSION:
        found["confusion"] = _sums(actual * n + said, weight, n * n).reshape(n, n).tolist()
    if n > 2 and has_probabilities:
        found["confidence"] = _confidence(rows, predicted)
    if n == 2:
        score = rows.margins[known, 0] if is_one else rows.margins[known, 1] - rows.margins[known, 0]
        found["scores"] = _scores(score, actual == 1, weight, has_probabilities)
    return found


def _of_numbers(rows: _Rows) -> Event:
    """Return groups of 1/40 of the rows by prediction, and a histogram of the residuals."""
    said, rest, weight = rows.margins[:, 0], rows.actual - rows.margins[:, 0], rows.weight
    order = np.argsort(said, kind="stable")
    share = np.cumsum(weight[order]) / max(float(weight.sum()), 1e-300)
    group = np.empty(len(said), np.int64)
    group[order] = np.unique(np.minimum((40 * share).astype(np.int64), 39), return_inverse=True)[1].reshape(-1)
    n = int(group.max()) + 1
    total = _sums(group, weight, n)
    mean = _sums(group, weight * rest, n) / total
    square = _sums(group, weight * rest * rest, n) / total
    low, high = (float(edge) for edge in np.percentile(rest, [0.5, 99.5]))
    heights, edges = np.histogram(rest, 60, (low, high), weights=weight) if high > low else (np.empty(0), np.empty(0))
    outside = {"below": float(weight[rest < low].sum()), "above": float(weight[rest > high].sum())}
    return {
        "predictions": _columns(
            prediction=_sums(group, weight * said, n) / total,
            weight=total,
            residual=mean,
            deviation=np.sqrt(np.maximum(square - mean * mean, 0)),
        ),
        "residuals": {**_columns(edges=edges, weight=heights), **outside},
    }


def _data_event(rows: _Rows, labels: list[str]) -> Event:
    found: Event = {
        "values": int(rows.length.sum()),
        "values_least": int(rows.length.min()),
        "values_most": int(rows.length.max()),
    }
    if labels:
        known = rows.actual < len(labels)
        weight = _sums(rows.actual[known], rows.weight[known], len(labels))
        found["classes"] = [{"label": label, "weight": float(w)} for label, w in zip(labels[:_MAX_CLASSES], weight)]
    else:
        mean = float(np.average(rows.actual, weights=rows.weight)) if rows.weight.any() else math.nan
        found |= {"label_mean": mean, "label_least": rows.actual.min(), "label_most": rows.actual.max()}
    return found


def _evaluate(trace: Trace, model: Model, which: str, path: str) -> None:
    """Evaluate the model on the rows of a file: metrics on all of a test file, pictures on the first rows."""
    rows, labels = _read_rows(model, path), model._model.labels()
    about = {"rows": which, "file": path, "n_rows": len(rows.weight), "complete": rows.is_all}
    trace.data[which] = {**about, **_data_event(rows, labels)}
    pictures = _of_classes(rows, labels, bool(model._model.info.has_probabilities)) if labels else _of_numbers(rows)
    metrics = model.evaluate(path) if which == "test" and not rows.is_all else rows.metrics
    trace.evaluations[which] = {**about, "metrics": metrics, **pictures}


def evaluated(source: Source) -> Trace:
    """Return a trace with its model and its evaluations, as far as the files of the run are still there.

    A model that was written after the trace is that of another run.
    """
    trace = read_trace(source)
    if trace.model is not None or trace.path is None or trace.end is None:
        return trace
    folder = os.path.dirname(trace.path)
    path = _find(str(trace.start.get("model", "")), folder)
    if path is None or os.path.getmtime(path) > os.path.getmtime(trace.path) + 1:
        return trace
    model = load(path)
    trace.model = model_event(model)
    test, data = trace.start.get("test"), trace.start.get("data") or []
    files = {"test": test["path"] if test else None, "training": data[0]["path"] if data else None}
    for which, name in files.items():
        found = _find(str(name), folder) if name and trace.end.get("status") == "done" else None
        if found is not None:
            try:
                _evaluate(trace, model, which, found)
            except (GreedystepError, ValueError, OSError):
                continue  # the file has changed since: there are no pictures of it
    return trace
