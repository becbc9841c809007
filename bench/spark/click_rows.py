#!/usr/bin/env python3
"""click_rows.py --rows N FOLDER: generated click rows as Parquet, with a column of Spark's vectors.

The rows of `greedystep generate`, 20 of 10^6 features each, in files of as many rows; they are
read as vectors because the file says so in Spark's own words. Test rows are the ones after the
last, in FOLDER/test.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
from ctypes import byref, c_double, c_uint64, c_void_p

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from greedystep import _library as c
from greedystep._core import Reader
from greedystep._errors import call


class Generator(ctypes.Structure):
    """gsa_generator."""

    _fields_ = [
        *((name, c_uint64) for name in ("n_rows", "n_features", "nnz", "n_classes", "seed")),
        ("skew", c_double),
        ("noise", c_double),
    ]


def column(name: str, kind: object) -> dict[str, object]:
    return {"name": name, "type": kind, "nullable": True, "metadata": {}}


VECTOR = {
    "type": "udt",
    "class": "org.apache.spark.ml.linalg.VectorUDT",
    "pyClass": "pyspark.ml.linalg.VectorUDT",
    "sqlType": {
        "type": "struct",
        "fields": [
            {**column("type", "byte"), "nullable": False},
            column("size", "integer"),
            column("indices", {"type": "array", "elementType": "integer", "containsNull": False}),
            column("values", {"type": "array", "elementType": "double", "containsNull": False}),
        ],
    },
}
SPARK = {"type": "struct", "fields": [column("label", "double"), column("features", VECTOR)]}


def table_of(block: c.Batch, n_features: int, nnz: int) -> pa.Table:
    """Return rows of as many entries each as Arrow has Spark's vectors."""
    n = block.n_rows
    ids = np.ctypeslib.as_array((ctypes.c_int32 * (n * nnz)).from_address(block.index)).copy()
    labels = np.ctypeslib.as_array((c_double * n).from_address(block.label)).copy()
    starts = pa.array(np.arange(0, n * nnz + 1, nnz, dtype=np.int32))
    not_null = pa.field("element", pa.float64(), nullable=False)
    vectors = pa.StructArray.from_arrays(
        [
            pa.array(np.zeros(n, np.int8)),
            pa.array(np.full(n, n_features, np.int32)),
            pa.ListArray.from_arrays(starts, pa.array(ids)),
            pa.ListArray.from_arrays(starts, pa.array(np.ones(n * nnz)), pa.list_(not_null)),
        ],
        fields=[
            pa.field("type", pa.int8(), nullable=False),
            pa.field("size", pa.int32()),
            pa.field("indices", pa.list_(pa.int32())),
            pa.field("values", pa.list_(not_null)),
        ],
    )
    table = pa.table({"label": labels, "features": vectors})
    said = {"org.apache.spark.sql.parquet.row.metadata": json.dumps(SPARK)}
    return table.replace_schema_metadata(said)


def write(folder: str, n_train: int, n_test: int, n_features: int, nnz: int, n_files: int) -> None:
    library = c.library()
    library.gsa_reader_open_generated.argtypes = [c_void_p] * 4
    what = Generator(n_train + n_test, n_features, nnz, 2, 1, 1.0, 0.0)
    out = c_void_p()
    call("gsa_reader_open_generated", byref(what), None, byref(out))
    reader = Reader(out.value)
    os.makedirs(f"{folder}/test", exist_ok=True)
    os.makedirs(f"{folder}/train", exist_ok=True)
    done, writer, bounds = 0, None, [n_train * (i + 1) // n_files for i in range(n_files)]
    number = 0
    block = c.Batch()
    while reader.next(block):
        table, at = table_of(block, n_features, nnz), 0
        while at < len(table):
            if writer is None:
                name = f"train/{number:04}" if number < n_files else "test/0000"
                writer = pq.ParquetWriter(f"{folder}/{name}.parquet", table.schema)
            end = bounds[number] if number < n_files else n_train + n_test
            n = min(end - done, len(table) - at)
            writer.write_table(table.slice(at, n))
            at, done = at + n, done + n
            if done == end:
                writer.close()
                writer, number = None, number + 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--test-rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=1_000_000)
    parser.add_argument("--nnz", type=int, default=20)
    parser.add_argument("--files", type=int, default=8)
    given = parser.parse_args()
    write(given.folder, given.rows, given.test_rows, given.features, given.nnz, given.files)
