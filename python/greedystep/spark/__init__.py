"""On Apache Spark: estimators and models of ``pyspark.ml``.

>>> from greedystep.spark import GreedystepClassifier
>>> model = GreedystepClassifier(labelCol="clicked").fit(frame)  # doctest: +SKIP
>>> model.transform(frame).select("prediction", "probability")  # doctest: +SKIP

Partitions are learned side by side by the executors, each row by the C library, and merged after
every pass (docs/spark.md). There is no Scala API.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    import pyarrow as _pyarrow  # noqa: F401
    import pyspark as _pyspark  # noqa: F401
except ImportError as failure:
    raise ImportError("greedystep.spark needs pyspark and pyarrow: pip install 'greedystep[spark]'") from failure

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
    """Import what is asked for: every Python worker of an executor imports this package, and needs no estimator."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _summary, estimators

    return getattr(_summary if hasattr(_summary, name) else estimators, name)
