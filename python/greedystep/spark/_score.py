"""Scoring: rows of a frame under a model, by Arrow batches.

Where Spark has Arrow UDFs (4.1 and later) arrays of Arrow arrive as they are. Before
that it is a pandas UDF, whose lists are objects, which takes longer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Callable

import numpy as np
import pyarrow as pa

from .. import _library as c
from .._columns import Frozen
from .._core import CModel
from .._run import Run
from ._columns import Columns

_RESULT = "struct<margins:array<double>,probabilities:array<double>,class:int>"


def _doubles(numbers: Any) -> Any:
    """Return [rows x n] numbers as a column of lists."""
    n_rows, width = numbers.shape
    offsets = pa.array(np.arange(0, n_rows * width + 1, max(1, width), dtype=np.int32))
    if width == 0:
        offsets = pa.array(np.zeros(n_rows + 1, np.int32))
    return pa.ListArray.from_arrays(offsets, pa.array(numbers.reshape(-1)))


def scored(model: CModel, columns: Columns, batch: Any) -> Any:
    """Return margins, probabilities and the number of the class of every row, as a struct."""
    info = model.info
    margins = np.empty((batch.num_rows, info.n_outputs))
    numbers = np.empty((batch.num_rows, model.width if info.has_probabilities else 0))
    given = columns.given(pa.Table.from_batches([columns.converted(batch)]))
    reader = given.open(Run(1), Frozen(model.schema), without_labels=True)
    rows, at = c.Batch(), 0
    while reader.next(rows):
        (model.predict if info.has_log_link else model.margins)(rows, margins[at:])
        if info.has_probabilities:
            model.predict(rows, numbers[at:])
        at += rows.n_rows
    reader.close()
    if info.n_outputs == 1:
        best = (margins[:, 0] > 0).astype(np.int32)
        if info.n_classes > 0:
            margins = np.hstack([-margins, margins])
    else:
        best = margins.argmax(axis=1).astype(np.int32)
    return pa.StructArray.from_arrays(
        [_doubles(margins), _doubles(numbers), pa.array(best)],
        names=["margins", "probabilities", "class"],
    )


def scoring(sent: Any, columns: Columns) -> Any:
    """Return a UDF of the columns of features, by a model that was sent."""
    names = list(columns.feature_names)

    def score(*arrays: pa.Array) -> pa.Array:
        batch = pa.RecordBatch.from_arrays(list(arrays), names=names)
        return scored(sent.value, columns, batch)

    return _udf(score)


@lru_cache(maxsize=1)
def has_arrow_udf() -> bool:
    """Return whether this Spark passes Arrow arrays to functions."""
    from pyspark.sql import functions

    return hasattr(functions, "arrow_udf")


def _udf(score: Callable[..., Any]) -> Any:
    if has_arrow_udf():
        from pyspark.sql.functions import arrow_udf

        return arrow_udf(score, _RESULT)
    from pyspark.sql.functions import PandasUDFType, pandas_udf

    def score_series(*series: Any) -> Any:
        import pandas as pd

        result = score(*(_array_of(one) for one in series))
        return pd.DataFrame({name: result.field(name).to_numpy(zero_copy_only=False) for name in _names(result)})

    return pandas_udf(score_series, _RESULT, PandasUDFType.SCALAR)


def _names(struct: Any) -> list[str]:
    return [struct.type.field(i).name for i in range(struct.type.num_fields)]


_VECTOR = pa.struct(
    [
        ("type", pa.int8()),
        ("size", pa.int32()),
        ("indices", pa.list_(pa.int32())),
        ("values", pa.list_(pa.float64())),
    ]
)


def _array_of(series: Any) -> Any:
    """Return a pandas object in Arrow's form; a column of vectors is a frame of their parts."""
    if not hasattr(series, "columns"):
        return pa.array(series, from_pandas=True)
    parts = [pa.array(series[field.name], field.type, from_pandas=True) for field in _VECTOR]
    return pa.StructArray.from_arrays(parts, fields=list(_VECTOR))
