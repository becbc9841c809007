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
from ._contents import Pair
from ._core import Handle, new_object, reader_options
from ._data import open_paths
from ._errors import GreedystepError, call
from ._first import features_in
from ._rows import Block
from ._run import Run
from ._schema import Schema
from .explanation import columns_of
from .model import Model, finished
from .plot_trace import Event, Source, Trace, read_trace
from .training import load

Floats = npt.NDArray[np.float64]

_MAX_ROWS = 100_000  # about: batches stay whole
_MAX_CONFUSION = 20
_MAX_CLASSES = 1000
_STRONGEST = 50
_OUTSIDE = 0.005  # of rows at either end of a column, which would stretch a picture
_MAX_CONTRIBUTIONS = 5000  # of a row: columns times outputs


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
    dates = [] if model.schema is None else Schema.of(model.schema).dates
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
        "curves": [
            {
                "name": one.name,
                "is_date": one.name in dates,
                "knots": one.knots.tolist(),
                "values": one.values.tolist(),
                "share": one.share.tolist(),
            }
            for one in model.curves()
        ],
        **({"pairs": [_pair_event(one) for one in model.pairs()]} if model.pairs() else {}),
    }


def _pair_event(one: Pair) -> Event:
    return {
        "names": list(one.names),
        "knots": [knots.tolist() for knots in one.knots],
        "values": one.values.tolist(),
        "share": one.share.tolist(),
    }


class _Shares:
    """The share that each column has in the variance of margins, and the rows near each knot of a curve.

    A share is the covariance of a column's contribution and the margin, over the variance of the margin; of several
    outputs all are added up. So shares add up to 1, and one is below 0 if others outweigh the column.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._width = model.n_features if model.schema is None else 0
        self._names = columns_of(model, self._width) if self._width <= _MAX_CONTRIBUTIONS else []
        if len(self._names) * model._model.info.n_outputs > _MAX_CONTRIBUTIONS:
            self._names = []
        self._parts: list[list[Any]] = []
        self._first: Floats = np.zeros(0)
        self._curves = model._model.curves()
        self._near = [np.zeros(one.n_knots) for one in self._curves]
        self._ranges: list[list[Floats]] = [[] for _ in self._curves]

    def add(self, batch: c.Batch, cells: Any, weight: Floats) -> None:
        rows = features_in(batch, batch.n_rows).tocoo()
        order = np.argsort(rows.col, kind="stable")
        row, column, values = rows.row[order], rows.col[order], rows.data[order].astype(float)
        for one, near, ranges in zip(self._curves, self._near, self._ranges):
            own = slice(*np.searchsorted(column, [one.feature, one.feature + 1]))
            value = np.zeros(batch.n_rows)
            value[row[own]] = values[own]
            knots = np.ctypeslib.as_array(one.knot, (one.n_knots,)).astype(float)
            near += np.bincount(np.searchsorted((knots[1:] + knots[:-1]) / 2, value), weight, one.n_knots)
            ranges.append(np.quantile(value, [_OUTSIDE, 1 - _OUTSIDE]))
        if not self._names:
            return
        if self._model.schema is None:
            known = column < self._width
            dense = np.zeros((batch.n_rows, self._width), np.float32)
            dense[row[known], column[known]] = values[known]
            batch = Block(batch.n_rows)
            batch.width = self._width
            batch.lend("value", dense)
        out = np.zeros((batch.n_rows, len(self._names), self._model._model.info.n_outputs))
        try:
            self._model._model.explain(batch, cells, out)
        except GreedystepError:  # a cache does not have the columns of hashed features
            self._names = []
            return
        self._first = out[:1] if not self._parts else self._first  # so that no digits are lost
        off = out - self._first
        margin = off.sum(axis=1)
        weighted = weight[:, np.newaxis] * margin
        sums = [weight.sum(), weighted.sum(axis=0), np.tensordot(weight, off, 1)]
        self._parts.append([*sums, (weighted * margin).sum(), np.einsum("rk,rjk->j", weighted, off)])

    def event(self) -> Event:
        """Return what was found, columns with the largest share first."""
        curves = list(self._model._curves.values())
        order = sorted(range(len(curves)), key=lambda one: -curves[one].deviation)  # that of Model.curves()
        offsets = [curve.knots[0] - one.knot[0] for curve, one in zip(curves, self._curves)]
        ranges = [np.median(found, axis=0) + offset for found, offset in zip(self._ranges, offsets)]
        found: Event = {
            "near": [self._near[one].tolist() for one in order],
            "ranges": [ranges[one].tolist() for one in order],
        }
        if not self._names or not self._parts:
            return found
        total, margin, of_columns, squares, products = (sum(one) for one in zip(*self._parts))
        variance = float(squares - (margin**2).sum() / total) if total > 0 else 0.0
        own = products - of_columns @ margin / max(total, 1e-300)
        if variance > 0:
            columns = [{"column": name, "share": float(one) / variance} for name, one in zip(self._names, own)]
            found["columns"] = sorted(columns, key=lambda one: -one["share"])
        return found


@dataclass
class _Rows:
    """The first rows of a file: margins [rows x outputs], the class or the number of each, weights and lengths."""

    margins: Floats
    actual: npt.NDArray[Any]
    weight: Floats
    length: npt.NDArray[np.int64]
    metrics: dict[str, float]
    is_all: bool
    shares: Event


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
    options = reader_options(skip_bad_rows=True)
    options.keep_cells = True
    reader = open_paths([path], options, run)
    reader.follow(model.schema)
    shares = _Shares(model)
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
        weight = np.ones(n) if weight is None else weight.astype(float)
        parts.append((margins, actual, weight, length))
        shares.add(batch, reader.cells(), weight)
        n_rows += n
    reader.close()
    margins, actual, weights, lengths = (np.concatenate(column) for column in zip(*parts))
    return _Rows(margins, actual, weights, lengths, finished(metrics), not more, shares.event())


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
    trace.evaluations[which] = {**about, "metrics": metrics, **pictures, **rows.shares}


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
