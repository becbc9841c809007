"""Models that the tests on Spark train, and what they look at in them."""

from __future__ import annotations

import hashlib

import numpy as np
from scipy import sparse
from spark_rows import planted

from greedystep.spark import GreedystepClassifier

LEAST = 1500  # so that few rows make several shards


def classifier(least: int = LEAST, **more):
    """Return an estimator of rows as lists."""
    return GreedystepClassifier(indicesCol="ids", valuesCol="x", leastShardRows=least, **more)


def bits(model) -> str:
    """Return what tells any two states apart."""
    return hashlib.sha256(model.model._need_state().write()).hexdigest()


def items(frame, vectors: str, which):
    """Return one item of every vector of a column: numbers are collected faster than vectors."""
    from pyspark.ml.functions import vector_to_array
    from pyspark.sql import functions as F

    chosen = F.get(vector_to_array(vectors), which if hasattr(which, "cast") else F.lit(which))
    return np.array([row[0] for row in frame.select(chosen).collect()])


def log_loss(model, frame) -> float:
    """Return the mean loss of a frame whose labels are 0, 1, ..."""
    from pyspark.sql import functions as F

    chances = items(model.transform(frame), "probability", F.col("label").cast("int"))
    return float(-np.log(np.maximum(chances, 1e-15)).mean())


def csr(n_rows: int, n_classes: int = 2, seed: int = 1):
    """Return rows and labels without Spark, in the order in which they were made."""
    ids, values, labels = planted(n_rows, n_classes, seed=seed)
    starts = np.arange(0, 8 * n_rows + 1, 8)
    return sparse.csr_matrix((values.ravel().astype(np.float32), ids.ravel(), starts), (n_rows, 60)), labels


def rows_of(frame):
    """Return features and labels in the frame's order: files come in the order of their sizes."""
    rows = frame.select("ids", "x", "label").collect()
    values = np.array([row.x for row in rows], np.float32).ravel()
    ids = np.array([row.ids for row in rows]).ravel()
    X = sparse.csr_matrix((values, ids, np.arange(0, 8 * len(rows) + 1, 8)), (len(rows), 60))
    return X, np.array([row.label for row in rows])


def merged_in_slices(monkeypatch, width: int) -> list[int]:
    """Have copies of any size merged by few tasks in deltas of so many features; return the passes that were."""
    from greedystep import distributed
    from greedystep.spark import _passes

    merges = []

    def counted(training, learned):
        if training.range_features > 0:
            merges.append(int(training.state.summary().pass_))
        return distributed.merge(training, learned)

    monkeypatch.setattr(_passes, "merge", counted)
    monkeypatch.setattr(_passes, "MAX_REDUCERS", 3)
    monkeypatch.setattr(distributed, "WHOLE_BYTES", 0)
    monkeypatch.setattr(distributed, "features_per_range", lambda *_: width)
    return merges
