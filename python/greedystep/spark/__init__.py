"""On Apache Spark: estimators and models of ``pyspark.ml``.

>>> from greedystep.spark import GSAClassifier
>>> model = GSAClassifier(labelCol="clicked").fit(frame)  # doctest: +SKIP
>>> model.transform(frame).select("prediction", "probability")  # doctest: +SKIP

Partitions are learned side by side by the executors, each row by the C library, and merged after
every pass (docs/spark.md). There is no Scala API.
"""

from __future__ import annotations

try:
    import pyarrow as _pyarrow  # noqa: F401
    import pyspark as _pyspark  # noqa: F401
except ImportError as failure:
    raise ImportError("greedystep.spark needs pyspark and pyarrow: pip install 'greedystep[spark]'") from failure

from ._summary import Shard, TrainingSummary
from .estimators import (
    GSAClassificationModel,
    GSAClassifier,
    GSARegressionModel,
    GSARegressor,
)

__all__ = [
    "GSAClassificationModel",
    "GSAClassifier",
    "GSARegressionModel",
    "GSARegressor",
    "Shard",
    "TrainingSummary",
]
