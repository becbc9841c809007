#!/usr/bin/env python3
"""click_rows.py --rows N FOLDER: generated click rows as Parquet, with a column of Spark's vectors.

The rows of `greedystep generate`, 20 of 10^6 features each, in files of as many rows. Test rows are the ones after the
last, in FOLDER/test.
"""

from __future__ import annotations

import argparse
import ctypes
import os
from collections.abc import Iterator
from ctypes import byref, c_double, c_size_t, c_uint64, c_void_p
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from greedystep import _library as c
from greedystep._core import Reader
from greedystep._errors import call

from on_cluster import sparse_vectors, with_vectors

ROW_GROUP = 65536  # rows that are written at a time


class Generator(ctypes.Structure):
    """gsa_generator."""

    _fields_ = [
        ("size", c_size_t),
        *((name, c_uint64) for name in ("n_rows", "n_features", "nnz", "n_classes", "seed")),
        ("skew", c_double),
        ("noise", c_double),
    ]


def generated(n_rows: int, n_features: int, nnz: int) -> Iterator[tuple[Any, Any]]:
    """Yield the ids of features, nnz a row, and the labels of 65536 rows or a few more at a time."""
    c.library().gsa_reader_open_generated.argtypes = [c_void_p] * 5
    what = Generator(ctypes.sizeof(Generator), n_rows, n_features, nnz, 2, 1, 1.0, 0.0)
    out = c_void_p()
    call("gsa_reader_open_generated", byref(what), None, None, byref(out))
    reader, batch = Reader(out.value), c.Batch()
    ids: list[Any] = []
    labels: list[Any] = []
    while reader.next(batch):
        n = batch.n_rows
        ids.append(np.ctypeslib.as_array((ctypes.c_int32 * (n * nnz)).from_address(batch.index)).copy())
        labels.append(np.ctypeslib.as_array((c_double * n).from_address(batch.label)).copy())
        if sum(map(len, labels)) >= ROW_GROUP:
            yield np.concatenate(ids), np.concatenate(labels)
            ids, labels = [], []
    if labels:
        yield np.concatenate(ids), np.concatenate(labels)
    reader.close()


def table_of(ids: Any, labels: Any, n_features: int, nnz: int) -> pa.Table:
    """Return rows of as many ones each, with a column of vectors."""
    starts = np.arange(0, len(ids) + 1, nnz)
    vectors = sparse_vectors(starts, ids, np.ones(len(ids)), n_features)
    return with_vectors(pa.table({"label": labels}), {"features": vectors})


def write(folder: str, n_train: int, n_test: int, n_features: int, nnz: int, n_files: int) -> None:
    os.makedirs(f"{folder}/test", exist_ok=True)
    os.makedirs(f"{folder}/train", exist_ok=True)
    done, writer, bounds = 0, None, [n_train * (i + 1) // n_files for i in range(n_files)]
    number = 0
    for ids, labels in generated(n_train + n_test, n_features, nnz):
        table, at = table_of(ids, labels, n_features, nnz), 0
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
