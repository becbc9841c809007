"""Columns of Spark's vectors, made without Spark: Parquet files that say in its own words that structs are vectors."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

_VALUE = pa.list_(pa.field("element", pa.float64(), nullable=False))
_FIELDS = [
    pa.field("type", pa.int8(), nullable=False),
    pa.field("size", pa.int32()),
    pa.field("indices", pa.list_(pa.int32())),
    pa.field("values", _VALUE),
]


def sparse_vectors(starts, ids, values, size: int):
    """Return vectors of so many features, row by row as in a CSR matrix."""
    n = len(starts) - 1
    offsets = pa.array(np.asarray(starts, np.int32))
    return pa.StructArray.from_arrays(
        [
            pa.array(np.zeros(n, np.int8)),
            pa.array(np.full(n, size, np.int32)),
            pa.ListArray.from_arrays(offsets, pa.array(np.asarray(ids, np.int32))),
            pa.ListArray.from_arrays(offsets, pa.array(np.asarray(values, np.float64)), _VALUE),
        ],
        fields=_FIELDS,
    )


def dense_vectors(rows):
    """Return the rows of a matrix as vectors."""
    n, width = rows.shape
    offsets = pa.array(np.arange(0, n * width + 1, width, dtype=np.int32))
    return pa.StructArray.from_arrays(
        [
            pa.array(np.ones(n, np.int8)),
            pa.nulls(n, pa.int32()),
            pa.nulls(n, pa.list_(pa.int32())),
            pa.ListArray.from_arrays(offsets, pa.array(rows.ravel()), _VALUE),
        ],
        fields=_FIELDS,
    )


def with_vectors(table, vectors: dict):
    """Return a table with columns of vectors beside its own, and what Spark reads them by."""
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import StructField, StructType

    kinds = [StructField(field.name, from_arrow_type(field.type)) for field in table.schema]
    kinds += [StructField(name, VectorUDT()) for name in vectors]
    for name, column in vectors.items():
        table = table.append_column(name, column)
    said = {"org.apache.spark.sql.parquet.row.metadata": StructType(kinds).json()}
    return table.replace_schema_metadata(said)
