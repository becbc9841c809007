"""The contents of a model: weights, classes, names and results."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._columns import Frozen
from ._core import CModel, DoubleArray, FloatArray, State
from ._keywords import suggests_keywords
from ._schema import Names, Schema


def _classes_of(labels: list[str]) -> npt.NDArray[Any]:
    """Return labels as whole numbers or numbers if all of them are, else as texts."""
    for kind in (int, float):
        try:
            return np.array([kind(label) for label in labels])
        except ValueError:
            continue
    return np.array(labels)


def _counted(n: int, one: str, more: str) -> str:
    return f"{n} {one if n == 1 else more}"


class StrongFeature(NamedTuple):
    """A feature: its name, its weight, and its effect on predictions."""

    name: str
    weight: float
    importance: float


class Summary(dict[str, Any]):
    """Choices made on held-out rows, and how good the model is on them, by name.

    docs/method.md defines the names: ``held_out_loss`` (by cross-validation if the rows fit in memory) and
    ``baseline_loss``, ``accuracy`` and ``auc`` or ``r2`` and ``mae``; ``C`` or ``alpha``, as scikit-learn defines the
    penalty, ``standardised``, ``folds``, ``calibration_scale`` and others; ``groups`` or ``latest``, the groups or the
    latest rows that were held out. Only what is known is there.
    """

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(
            f"{name:{width}}  {value:.6g}" if isinstance(value, float) else f"{name:{width}}  {value}"
            for name, value in self.items()
        )


class Curve(NamedTuple):
    """A column that bends, and its part of the margin of a row.

    Attributes
    ----------
    name : str
        The column.
    knots : array of shape (knots,)
        Values of the column, ascending; the first and the last are beyond those of the rows learned.
    values : array of shape (outputs, knots)
        Its part of the margin there.
    share : array of shape (knots,)
        The share of the rows learned that is nearest to each knot.
    """

    name: str
    knots: DoubleArray
    values: DoubleArray
    share: DoubleArray

    @property
    def deviation(self) -> float:
        """The standard deviation of what it adds to the rows learned; of several outputs, the largest."""
        share = self.share / self.share.sum()
        off = self.values - (self.values @ share)[:, np.newaxis]
        return float(np.sqrt((off**2 @ share).max()))


class Pair(NamedTuple):
    """Two columns that act on one another, and what they add to the margin of a row beside their own parts.

    Attributes
    ----------
    names : tuple of two str
        The columns; of a category, column and value.
    knots : tuple of two arrays
        Values of both, ascending; 0 and 1 of a category.
    values : array of shape (outputs, knots of the first, knots of the second)
        The part of the margin there; interpolated between them.
    share : array of shape (knots of the first, knots of the second)
        The share of the rows learned that is nearest to each.
    """

    names: tuple[str, str]
    knots: tuple[DoubleArray, DoubleArray]
    values: DoubleArray
    share: DoubleArray

    @property
    def deviation(self) -> float:
        """The standard deviation of what it adds to the rows learned; of several outputs, the largest."""
        total = self.share.sum()
        off = self.values - ((self.values * self.share).sum(axis=(1, 2)) / total)[:, np.newaxis, np.newaxis]
        return float(np.sqrt(((off**2 * self.share).sum(axis=(1, 2)) / total).max()))


_COUNTS = dict.fromkeys(
    ("curves", "pairs", "penalties_tried", "penalties_averaged", "folds", "groups", "latest", "best_pass", "customers"),
    int,
)
_KINDS = {**_COUNTS, "standardised": bool}


class ModelContents:
    """The base of :class:`greedystep.Model`: its contents, without its uses."""

    def __init__(
        self,
        model: CModel,
        state: State | None = None,
        means: FloatArray | None = None,
        names: Names | None = None,
    ) -> None:
        self._model = model
        self._state = state
        # Of rows without gaps; a file does not keep the means, nor the names of columns that were 0 in every row.
        self._frozen = Frozen(model.schema, means, names or Names.of_model(model))
        info = model.info
        self.loss: str = model.loss
        self.method: str = c.text_of(info.method) or ""
        self.n_features: int = info.n_features - (model.knots[1] - model.knots[0])
        self._schema = None if model.schema is None else Schema.of(model.schema)
        self.n_rows: int = info.n_rows
        self.n_passes: int = info.n_passes
        self.classes: npt.NDArray[Any] | None = _classes_of(model.labels()) if info.n_classes > 0 else None

    def __repr__(self) -> str:
        what = "numbers" if self.classes is None else _counted(len(self.classes), "class", "classes")
        return f"<greedystep.Model: {self.loss}, {what}, {_counted(self._model.info.n_used, 'feature', 'features')}>"

    @property
    def schema(self) -> str | None:
        """The schema of the table, as text; None if rows had feature numbers."""
        return self._model.schema

    @functools.cached_property
    def _in_use(self) -> tuple[npt.NDArray[np.int64], FloatArray] | None:
        """The columns of numbers and the features with a weight, with their weights; None: no features are hashed."""
        if self._schema is None or not self._schema.others:
            return None
        found, lines = self._model.lines()
        used = lines.any(axis=1)
        ids = (np.arange(len(lines)) if found is None else found.astype(np.int64))[used]
        first, end = self._model.knots  # which are no features of rows
        ids = ids[(ids < first) | (ids >= end)]
        features = np.union1d(np.arange(len(self._schema.numeric)), ids)
        weights = np.zeros((len(features), lines.shape[1]), np.float32)
        weights[np.searchsorted(features, ids)] = self._weights_of(ids)
        weights.flags.writeable = False
        return features, weights

    @property
    def features(self) -> npt.NDArray[np.int64]:
        """Numbers, from 0, of the features that the columns of ``coef`` are of.

        These are all, or, if categories were hashed, the columns of numbers and the features with a weight.
        """
        return np.arange(self.n_features) if self._in_use is None else self._in_use[0]

    @functools.cached_property
    def _curves(self) -> dict[int, Curve]:
        """The curves by the numbers of their features."""
        found = {}
        offsets = Schema.of(self.schema).offsets if self.schema is not None else np.zeros(0)
        for one in self._model.curves():
            values = self._weights_of(np.arange(one.first, one.first + one.n_knots)).astype(np.float64)
            knots = np.ctypeslib.as_array(one.knot, (one.n_knots,)).astype(np.float64)
            share = np.ctypeslib.as_array(one.share, (one.n_knots,)).astype(np.float64)
            offset = offsets[one.feature] if one.feature < len(offsets) else 0.0
            found[one.feature] = Curve(self.feature_name(one.feature), knots + offset, values.T, share)
        return found

    def curves(self) -> list[Curve]:
        """Return the columns that bend, those that move predictions most first; empty: all are straight lines.

        A row's margin is the intercept plus a part of every column. That of a curve is ``numpy.interp(value,
        curve.knots, curve.values[output])``: a straight line from knot to knot, and constant beyond them.
        """
        return sorted(self._curves.values(), key=lambda curve: -curve.deviation)

    @functools.cached_property
    def _pairs(self) -> list[Pair]:
        """The pairs in their order."""
        found = []
        offsets = Schema.of(self.schema).offsets if self.schema is not None else np.zeros(0)
        for one in self._model.pairs():
            shape = (one.n_knots[0], one.n_knots[1])
            n_nodes = shape[0] * shape[1]
            values = self._weights_of(np.arange(one.first, one.first + n_nodes)).astype(np.float64)
            knots = [np.ctypeslib.as_array(one.knot[i], (shape[i],)).astype(np.float64) for i in (0, 1)]
            for i in (0, 1):
                knots[i] += offsets[one.feature[i]] if one.feature[i] < len(offsets) else 0.0
            share = np.ctypeslib.as_array(one.share, (n_nodes,)).astype(np.float64).reshape(shape)
            names = (self.feature_name(one.feature[0]), self.feature_name(one.feature[1]))
            found.append(Pair(names, (knots[0], knots[1]), values.T.reshape(-1, *shape), share))
        return found

    def pairs(self) -> list[Pair]:
        """Return the pairs of columns that act on one another, those that move predictions most first."""
        return sorted(self._pairs, key=lambda pair: -pair.deviation)

    def _ids_of(self, features: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the ids that features of rows have in the model: those that came after the knots stand behind them."""
        first, end = self._model.knots
        return np.where((features < first) | (first == end), features, features + (end - first))

    def _refuse_curves(self, what: str) -> None:
        if self._curves:
            raise AttributeError(f'{what} of a model whose columns bend: see curves(), or train it with curves="off"')

    @property
    def coef(self) -> FloatArray:
        """Weights, [outputs x features], read-only; see ``features``. A model with curves has none."""
        self._refuse_curves("there is no coef")
        return (self._model.weights() if self._in_use is None else self._in_use[1]).T

    def _weights_of(self, features: npt.NDArray[Any]) -> FloatArray:
        """Return the weights of features by their numbers, [features x outputs]; 0 of those without."""
        ids, lines = self._model.lines()
        place = features if ids is None else np.searchsorted(ids, features)
        found = place < len(lines)
        if ids is not None:
            found[found] = ids[place[found]] == features[found]
        weights = np.zeros((len(features), lines.shape[1]), np.float32)
        weights[found] = lines[place[found]]
        return weights

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of ``coef``, as :meth:`feature_name` gives them."""
        numbers = [] if self._schema is None else self._schema.numeric
        names = [self.feature_name(int(feature)) for feature in self.features[len(numbers) :]]
        return [*numbers[: len(self.features)], *names]

    @property
    def intercept(self) -> DoubleArray:
        """Constant terms, one per output; of a table whose columns have offsets, that of a row with these values."""
        return self._model.intercepts()

    def _plain_intercept(self) -> DoubleArray:
        """Return the constant terms of columns of numbers that are not measured from offsets; curves stay so."""
        if self._curves:
            return self.intercept
        offsets = Schema.of(self.schema).offsets[: self.n_features] if self.schema is not None else np.zeros(0)
        return self.intercept - self.coef[:, : len(offsets)].astype(np.float64) @ offsets

    def feature_name(self, feature: int) -> str:
        """Return the name of a feature, or its number as `inspect` prints it, from 1."""
        n = self._model.info.n_features  # knots have numbers too
        if not 0 <= feature < n:
            raise ValueError(f"there is no feature {feature}: the model has {n}, counted from 0")
        return self._model.name(feature) or str(feature + 1)

    @suggests_keywords
    def strongest(self, n: int = 20, output: int = 0) -> list[StrongFeature]:
        """Return the `n` features with the largest effect on predictions, the strongest first.

        Each has its name, its weight, and its importance: the absolute weight times the standard deviation of the
        feature on the training rows (NaN if that is not known).

        Parameters
        ----------
        n : int
            Number of features, at most 16384.
        output : int
            With more than two classes: the index of the class.
        """
        n_outputs = self._model.info.n_outputs
        if not 0 <= output < n_outputs:
            raise ValueError(f"there is no output {output}: the model has {n_outputs}, counted from 0")
        return [
            StrongFeature(self.feature_name(one.feature), one.weight, one.importance)
            for one in self._model.strongest(n, output)
        ]

    @property
    def summary(self) -> Summary:
        """Choices made on held-out rows, and how good the model is on them (:class:`Summary`)."""
        found = self._model.results()
        kind = {"loss": self.loss, "method": self.method, "n_rows": self.n_rows}
        return Summary(kind | {name: _KINDS.get(name, float)(value) for name, value in found.items()})

    def _wide_coef(self, n_features: int | None) -> FloatArray:
        """Return the weights of `n_features` features; those that were never seen are zero."""
        n = self.n_features if n_features is None else n_features
        if n < self.n_features:
            raise ValueError(f"the model has {self.n_features} features: n_features={n} would leave some out")
        return self._weights_of(self._ids_of(np.arange(n))).T
