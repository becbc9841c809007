"""Parameters of the estimators and models, as ``pyspark.ml`` has them."""

from __future__ import annotations

from typing import Any

from pyspark.ml.linalg import VectorUDT
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasFitIntercept,
    HasInputCols,
    HasLabelCol,
    HasPredictionCol,
    HasSeed,
    HasWeightCol,
)
from pyspark.sql.types import ArrayType, BinaryType, MapType, StructType, UserDefinedType

from .. import _library as c
from .._core import State
from ..training import parameter_texts
from ._columns import Columns

LEAST_SHARD_ROWS = c.BLOCK_ROWS


def _param(name: str, doc: str, convert: Any) -> Any:
    return Param(Params._dummy(), name, doc, typeConverter=convert)


class FeatureParams(HasFeaturesCol, HasInputCols):  # type: ignore[misc]
    """The parameters for feature columns: one column, two, or any number of plain ones."""

    indicesCol = _param("indicesCol", "column of arrays with the ids of features", TypeConverters.toString)
    valuesCol = _param("valuesCol", "column of arrays with the values of features", TypeConverters.toString)
    categorical = _param(
        "categorical",
        "columns of inputCols to treat as categories even if they hold numbers",
        TypeConverters.toListString,
    )
    cross = _param(
        "cross",
        'of inputCols: products ("A:B") that are features too',
        TypeConverters.toListString,
    )
    bits = _param("bits", "categories are hashed to 2^bits features", TypeConverters.toInt)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._setDefault(categorical=[], cross=[], bits=24)

    def setFeaturesCol(self, value: str) -> Any:
        """Set the column of vectors or arrays."""
        return self._set(featuresCol=value)

    def setInputCols(self, value: list[str]) -> Any:
        """Set the columns of numbers and words that are features."""
        return self._set(inputCols=value)

    def setIndicesCol(self, value: str) -> Any:
        """Set the column of ids."""
        return self._set(indicesCol=value)

    def setValuesCol(self, value: str) -> Any:
        """Set the column of values."""
        return self._set(valuesCol=value)

    def columns_of(self, frame: Any, label: str | None = None, weight: str | None = None) -> Columns:
        """Return the columns of a frame; raise ValueError for a missing one."""
        for name in (label, weight):
            if name is not None:
                _need(frame, name)
        rest = (label, weight)
        if self.isDefined("inputCols"):
            names = tuple(self.getOrDefault("inputCols"))
            for name in names:
                _need(frame, name)
                _need_plain(frame, name)
                if name in rest or names.count(name) > 1:
                    what = "labelCol" if name == label else "weightCol" if name == weight else "inputCols itself"
                    raise ValueError(f"column {name!r} of inputCols is in {what}, too: name it once")
            return Columns(
                "table",
                names,
                *rest,
                tuple(self.getOrDefault("categorical")),
                tuple(self.getOrDefault("cross")),
                self.getOrDefault("bits"),
            )
        if self.isDefined("indicesCol") or self.isDefined("valuesCol"):
            if not (self.isDefined("indicesCol") and self.isDefined("valuesCol")):
                raise ValueError("indicesCol and valuesCol belong together: set both or none")
            pair = (self.getOrDefault("indicesCol"), self.getOrDefault("valuesCol"))
            for name in pair:
                _need(frame, name)
            return Columns("pairs", pair, *rest)
        name = self.getOrDefault("featuresCol")
        _need(frame, name)
        return Columns(_kind_of(frame, name), (name,), *rest)


def _need(frame: Any, name: str) -> None:
    if name not in frame.columns:
        raise ValueError(f"there is no column {name!r}; there are {', '.join(frame.columns)}")


def _need_plain(frame: Any, name: str) -> None:
    kind = frame.schema[name].dataType
    if isinstance(kind, (ArrayType, MapType, StructType, BinaryType, UserDefinedType)):
        raise ValueError(
            f"column {name!r} of inputCols is of type {kind.simpleString()}, expected numbers, texts or dates; vectors "
            "and arrays are named by featuresCol"
        )


def _kind_of(frame: Any, name: str) -> str:
    kind = frame.schema[name].dataType
    if isinstance(kind, VectorUDT):
        return "vector"
    if isinstance(kind, ArrayType):
        return "array"
    raise ValueError(
        f"column {name!r} is of type {kind.simpleString()}, expected vectors or arrays; plain "
        "columns of numbers and text are named by inputCols"
    )


class TrainingParams(HasLabelCol, HasWeightCol, HasFitIntercept, HasSeed):  # type: ignore[misc]
    """The parameters of estimators except those for features."""

    passes = _param(
        "passes",
        "passes of gsa; auto: until the held-out loss stops falling",
        lambda value: value if value == "auto" else TypeConverters.toInt(value),
    )
    method = _param("method", "auto, optimum, gsa or paper: the training method", TypeConverters.toString)
    scale = _param("scale", "auto, none or standard: whether features are standardised", TypeConverters.toString)
    curves = _param(
        "curves",
        "off, or auto: numeric columns have curves where that is better on held-out rows",
        TypeConverters.toString,
    )
    pairs = _param(
        "pairs",
        "off, or auto: pairs of columns act on one another where that is better on held-out rows",
        TypeConverters.toString,
    )
    average = _param(
        "average",
        "which weights a model has: last, full, suffix, recent; auto: recent, last for method paper",
        TypeConverters.toString,
    )
    leastShardRows = _param("leastShardRows", "partitions with fewer rows are combined", TypeConverters.toInt)

    def may_solve(self) -> bool:
        """Return whether the optimum is possible: no parameter of greedy step averaging in shards is given."""
        is_default = self.getOrDefault("leastShardRows") == LEAST_SHARD_ROWS
        return is_default and State.new(self.library_parameters()).chosen_method == "optimum"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._setDefault(
            passes="auto",
            method="auto",
            scale="auto",
            curves="auto",
            pairs="auto",
            average="auto",
            leastShardRows=LEAST_SHARD_ROWS,
            fitIntercept=True,
            seed=0,
        )

    def setLabelCol(self, value: str) -> Any:
        """Set the label column."""
        return self._set(labelCol=value)

    def setWeightCol(self, value: str) -> Any:
        """Set the column of row weights; only their proportions matter."""
        return self._set(weightCol=value)

    def setPasses(self, value: int | str) -> Any:
        """Set the number of passes."""
        return self._set(passes=value)

    def setSeed(self, value: int) -> Any:
        """Set the seed for shuffling."""
        return self._set(seed=value)

    def library_parameters(self) -> dict[str, str]:
        """Return the library's parameters as text."""
        names = ("passes", "method", "scale", "curves", "pairs", "average", "seed")
        same = {name: self.getOrDefault(name) for name in names}
        return parameter_texts({**same, "intercept": self.getOrDefault("fitIntercept"), "order": "shuffled"})


class PredictionParams(FeatureParams, HasPredictionCol):  # type: ignore[misc]
    """The base of estimators and models."""

    def setPredictionCol(self, value: str) -> Any:
        """Set the column for the predicted label or number."""
        return self._set(predictionCol=value)
