"""Estimators and models: ``fit``, ``transform``, save and load."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import Any

from pyspark import keyword_only
from pyspark.ml.base import Estimator, Model
from pyspark.ml.param import TypeConverters
from pyspark.ml.param.shared import HasProbabilityCol, HasRawPredictionCol
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)

from .. import model as _plain
from .._arrow import free_name
from .._core import CModel, State
from .._keywords import adds_keywords
from ._columns import _quoted
from ._params import PredictionParams, TrainingParams, _param
from ._passes import Wanted, train
from ._score import scoring
from ._session import send
from ._summary import Pass, Shard, TrainingSummary

# The column of scores that predictions are made of.
_SCORES = "greedystep_scores"
# Bytes of a model that are stored in one row.
_CHUNK = 8 << 20


# ---- models --------------------------------------------------------------------------------------


class _GreedystepModel(Model, PredictionParams, MLWritable, MLReadable):  # type: ignore[misc]
    """The base of the models: the bytes of the library's model."""

    def __init__(
        self,
        stored: bytes = b"",
        state: bytes | None = None,
        summary: TrainingSummary | None = None,
    ) -> None:
        super().__init__()
        self._stored = stored
        self._state = state
        self._summary = summary
        self._sent: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_sent": None}

    @property
    def model(self) -> _plain.Model:
        """The plain model, with the state from which training continues if there is one."""
        state = None if self._state is None else State.read(self._state)
        return _plain.Model(CModel.read(self._stored), state)

    @property
    def summary(self) -> TrainingSummary:
        """The training run: passes, partitions, rows and losses."""
        if self._summary is None:
            raise RuntimeError("this model has no summary")
        return self._summary

    @property
    def hasSummary(self) -> bool:
        """Return whether there is a summary."""
        return self._summary is not None

    @property
    def numFeatures(self) -> int:
        """Highest feature number seen + 1."""
        return self.model.n_features

    def save_model(self, path: str | os.PathLike[str]) -> None:
        """Write the plain model, which the command and ``greedystep.load`` read.

        Parameters
        ----------
        path : path
            A file on the driver.
        """
        self.model.save(path)

    def _scored(self, frame: Any, name: str) -> Any:
        """Return the frame with a column of scores."""
        columns = self.columns_of(frame)
        if self._sent is None or self._sent[0] is not frame.sparkSession:
            self._sent = (frame.sparkSession, send(frame, CModel.read(self._stored)))
        score = scoring(self._sent[1], columns)
        return _by_rows(frame).withColumn(name, score(*columns.chosen_features(frame)))

    def write(self) -> MLWriter:
        """Return a writer that saves the model to any file system of Spark."""
        return _ModelWriter(self)

    @classmethod
    def read(cls) -> MLReader:
        """Return a reader that loads a model."""
        return _ModelReader(cls)


class GreedystepClassificationModel(_GreedystepModel, HasProbabilityCol, HasRawPredictionCol):  # type: ignore[misc]
    """A classification model, for two or more classes."""

    @property
    def classes(self) -> list[Any]:
        """The labels, in the order of probabilities."""
        found = self.model.classes
        return [] if found is None else found.tolist()

    @property
    def numClasses(self) -> int:
        """Number of labels."""
        return len(self.classes)

    def _transform(self, dataset: Any) -> Any:
        from pyspark.ml.functions import array_to_vector
        from pyspark.sql import functions as F

        name = free_name(_SCORES, dataset.columns)
        found = self._scored(dataset, name)
        classes = self.classes
        texts = any(isinstance(one, str) for one in classes)
        labels = F.array(*(F.lit(one if texts else float(one)) for one in classes))
        made = [
            (self.getRawPredictionCol(), array_to_vector(F.col(f"{name}.margins"))),
            (self.getProbabilityCol(), array_to_vector(F.col(f"{name}.probabilities"))),
            (self.getPredictionCol(), F.get(labels, F.col(f"{name}.class"))),
        ]
        return _with(dataset, found, made)


class GreedystepRegressionModel(_GreedystepModel):
    """A regression model."""

    def _transform(self, dataset: Any) -> Any:
        from pyspark.sql import functions as F

        name = free_name(_SCORES, dataset.columns)
        found = self._scored(dataset, name)
        value = F.get(F.col(f"{name}.margins"), F.lit(0))
        return _with(dataset, found, [(self.getPredictionCol(), value)])


def _by_rows(frame: Any) -> Any:
    """Return the frame in a form that Spark does not pass on in its own columnar batches.

    Spark 4.3 evaluates an Arrow UDF on these if it can, and then fails on columns of user-defined types,
    such as vectors. A filter that lets all rows pass prevents this.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import UserDefinedType

    if any(isinstance(field.dataType, UserDefinedType) for field in frame.schema):
        return frame.where(F.spark_partition_id() >= 0)
    return frame


def _with(before: Any, found: Any, made: list[tuple[str, Any]]) -> Any:
    """Return all earlier columns and the new ones, except those with empty names."""
    kept = [_quoted(name) for name in before.columns if name not in dict(made)]
    return found.select(*kept, *(column.alias(name) for name, column in made if name))


# ---- storing -------------------------------------------------------------------------------------


class _Writer(MLWriter):  # type: ignore[misc]
    """A writer of parameters as ``pyspark.ml`` stores them, by frames: Spark Connect has no other way."""

    def __init__(self, instance: Any) -> None:
        super().__init__()
        self._instance = instance

    def save(self, path: str) -> None:
        """Save the instance; overwriting as in pyspark.ml would need a JVM."""
        self._mode = "overwrite" if self.shouldOverwrite else "error"
        self.saveImpl(path)

    def saveImpl(self, path: str) -> None:
        self._save_metadata(path)

    def _save_metadata(self, path: str, **extra: Any) -> None:
        session = self.sparkSession
        text = DefaultParamsWriter._get_metadata_to_save(self._instance, session, extra or None)
        frame = session.createDataFrame([(text,)], "value string")
        frame.coalesce(1).write.mode(self._mode).text(os.path.join(path, "metadata"))


class _ModelWriter(_Writer):
    """A writer that also saves the summary, and the model's bytes as Parquet."""

    def saveImpl(self, path: str) -> None:
        made = self._instance
        self._save_metadata(path, summary=None if made._summary is None else json.dumps(asdict(made._summary)))
        rows = [
            (what, part, bytearray(stored[at : at + _CHUNK]))
            for what, stored in (("model", made._stored), ("state", made._state))
            if stored is not None
            for part, at in enumerate(range(0, len(stored), _CHUNK))
        ]
        frame = self.sparkSession.createDataFrame(rows, "what string, part int, bytes binary")
        frame.coalesce(1).write.mode(self._mode).parquet(os.path.join(path, "data"))


class _ModelReader(MLReader):  # type: ignore[misc]
    def __init__(self, cls: type[_GreedystepModel]) -> None:
        super().__init__()
        self._cls = cls

    def load(self, path: str) -> Any:
        session = self.sparkSession
        text = session.read.text(os.path.join(path, "metadata")).first()[0]
        metadata = DefaultParamsReader._parseMetaData(text)
        rows = session.read.parquet(os.path.join(path, "data")).collect()
        stored = {
            what: b"".join(bytes(row.bytes) for row in sorted(rows, key=lambda r: r.part) if row.what == what)
            for what in {row.what for row in rows}
        }
        made = self._cls(stored["model"], stored.get("state"), _summary_of(metadata["summary"]))
        made._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(made, metadata)
        return made


def _summary_of(text: str | None) -> TrainingSummary | None:
    if text is None:
        return None
    facts = json.loads(text)
    facts["passes"] = [
        Pass(**{**one, "shards": tuple(Shard(**shard) for shard in one["shards"])}) for one in facts["passes"]
    ]
    return TrainingSummary(**facts)


# ---- estimators ----------------------------------------------------------------------------------


class _GreedystepEstimator(
    Estimator,  # type: ignore[misc]
    PredictionParams,
    TrainingParams,
    DefaultParamsReadable,  # type: ignore[misc]
    MLWritable,  # type: ignore[misc]
):
    """The base of the estimators."""

    _has_classes = False
    _model_class: type[_GreedystepModel]

    # As in pyspark.ml the keywords are spelt out, though keyword_only hands on whatever it is given: it is what
    # notebooks complete and what refuses a misspelt name. Defaults are those of _params.py; a test compares.
    @keyword_only  # type: ignore[untyped-decorator]
    def __init__(
        self,
        *,
        featuresCol: str = "features",
        labelCol: str = "label",
        predictionCol: str = "prediction",
        weightCol: str | None = None,
        indicesCol: str | None = None,
        valuesCol: str | None = None,
        inputCols: list[str] | None = None,
        categorical: list[str] | None = None,
        cross: list[str] | None = None,
        bits: int = 24,
        passes: int | str = "auto",
        method: str = "auto",
        scale: str = "auto",
        curves: str = "auto",
        pairs: str = "auto",
        average: str = "auto",
        fitIntercept: bool = True,
        seed: int = 0,
        leastShardRows: int = 65536,
    ) -> None:
        super().__init__()
        self._set(**self._input_kwargs)

    def _wanted(self, frame: Any) -> Wanted:
        weight = self.getOrDefault("weightCol") if self.isDefined("weightCol") else None
        return Wanted(
            self.columns_of(frame, self.getLabelCol(), weight or None),
            self._has_classes,
            self.library_parameters(),
            0 if self.getOrDefault("passes") == "auto" else self.getOrDefault("passes"),
            self.getOrDefault("leastShardRows"),
            self.may_solve(),
        )

    def write(self) -> MLWriter:
        """Return a writer that saves the estimator to any file system of Spark."""
        return _Writer(self)

    def _fit(self, dataset: Any) -> Any:
        state, summary = train(dataset, self._wanted(dataset))
        return self._copyValues(self._model_class(state.finish().write(), state.write(), summary))


class GreedystepClassifier(_GreedystepEstimator, HasProbabilityCol, HasRawPredictionCol):  # type: ignore[misc]
    """Logistic regression for two or more classes, with calibrated probabilities and nothing to tune.

    Labels are numbers or text; predictions have the same type. ``probability``
    and ``rawPrediction`` are in the sorted order of the labels (``model.classes``).

    Parameters
    ----------
    featuresCol : str
        A column of vectors, sparse or dense, or of arrays.
    indicesCol, valuesCol : str
        Instead of `featuresCol`: columns of arrays with ids and values.
    inputCols, categorical, cross, bits
        Instead of `featuresCol`: plain columns of numbers and text, as the command reads them from a table.
    labelCol, weightCol, predictionCol, probabilityCol, rawPredictionCol : str
    passes : int or "auto"
        Passes of greedy step averaging; "auto": until the held-out loss stops falling.
    classWeight : {"none", "balanced"}
        "balanced": all classes have the same total weight.
    method : {"auto", "optimum", "gsa", "paper"}
        "auto": rows that fit in memory are solved by one task to the penalised optimum, as
        ``greedystep train`` does; all others are learned by "gsa", the partitions in parallel. A given
        `passes`, `average` or `leastShardRows` chooses "gsa" too.
    curves : {"auto", "off"}
        "auto": numeric columns have curves where that is better on held-out rows (``model.model.curves()``). In shards
        the first rows of all partitions decide.
    pairs : {"auto", "off"}
        "auto": pairs of columns act on one another where that is better on held-out rows (``model.model.pairs()``).
    scale, average, fitIntercept, seed
        The command's parameters.
    leastShardRows : int
        Partitions with fewer rows are combined.
    """

    _has_classes = True
    _model_class = GreedystepClassificationModel
    classWeight = _param("classWeight", "none, or balanced: all classes count the same", TypeConverters.toString)

    @adds_keywords(_GreedystepEstimator)
    @keyword_only  # type: ignore[untyped-decorator]
    def __init__(
        self,
        *,
        probabilityCol: str = "probability",
        rawPredictionCol: str = "rawPrediction",
        classWeight: str = "none",
        **others: Any,
    ) -> None:
        given = self._input_kwargs
        super().__init__(**others)
        self._setDefault(classWeight="none")
        self._set(**given)

    def setProbabilityCol(self, value: str) -> Any:
        """Set the name of the column of class probabilities."""
        return self._set(probabilityCol=value)

    def setRawPredictionCol(self, value: str) -> Any:
        """Set the name of the column of class margins."""
        return self._set(rawPredictionCol=value)

    def library_parameters(self) -> dict[str, str]:
        """Return the library's parameters as text."""
        return {**super().library_parameters(), "class_weight": self.getOrDefault("classWeight")}


class GreedystepRegressor(_GreedystepEstimator):
    """Least squares, with nothing to tune.

    Parameters
    ----------
    featuresCol, indicesCol, valuesCol, inputCols, categorical, cross, bits, labelCol, weightCol, \
predictionCol, passes, method, scale, curves, average, fitIntercept, seed, leastShardRows
        As in :class:`GreedystepClassifier`.
    """

    _model_class = GreedystepRegressionModel

    def library_parameters(self) -> dict[str, str]:
        """Return the library's parameters as text."""
        return {**super().library_parameters(), "loss": "squared"}


__all__ = [
    "GreedystepClassificationModel",
    "GreedystepClassifier",
    "GreedystepRegressionModel",
    "GreedystepRegressor",
]
