"""Estimators and models for ``pyspark.ml`` on Apache Spark.

>>> from greedystep.spark import GreedystepClassifier
>>> model = GreedystepClassifier(labelCol="clicked").fit(frame)  # doctest: +SKIP
>>> model.transform(frame).select("prediction", "probability")  # doctest: +SKIP

The executors learn the partitions in parallel, with the C library, and merge them after
every pass (docs/spark.md). There is no Scala API.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    import pyarrow as _pyarrow  # noqa: F401
    import pyspark as _pyspark  # noqa: F401
except ImportError as failure:
    raise ImportError("greedystep.spark needs pyspark and pyarrow: pip install pyspark pyarrow") from failure

if TYPE_CHECKING:
    from ._summary import Shard, TrainingSummary
    from .estimators import (
        GreedystepClassificationModel,
        GreedystepClassifier,
        GreedystepRegressionModel,
        GreedystepRegressor,
    )

__all__ = [
    "GreedystepClassificationModel",
    "GreedystepClassifier",
    "GreedystepRegressionModel",
    "GreedystepRegressor",
    "Shard",
    "TrainingSummary",
]


def __getattr__(name: str) -> Any:
    """Import a name on first use: workers import this package and need no estimator."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _summary, estimators

    return getattr(_summary if hasattr(_summary, name) else estimators, name)
