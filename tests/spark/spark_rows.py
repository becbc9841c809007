"""Rows for the tests on Spark."""

from __future__ import annotations

from pathlib import Path

import numpy as np

N = 12_000


def planted(n_rows: int, n_classes: int = 2, n_features: int = 60, seed: int = 1):
    """Return ids, values and labels of sparse rows from a planted model; 1 class: numbers."""
    random = np.random.default_rng(seed)
    ids = np.sort(random.random((n_rows, n_features)).argsort(axis=1)[:, :8], axis=1)
    values = np.round(random.random((n_rows, 8)), 3)
    weights = random.normal(size=(n_features, n_classes)) * 2
    margins = np.einsum("rj,rjk->rk", values, weights[ids])
    if n_classes == 1:
        return ids, values, np.round(margins[:, 0] + random.normal(size=n_rows) * 0.1, 4)
    if n_classes == 2:
        margins[:, 0] = 0
    return ids, values, (margins + random.gumbel(size=margins.shape)).argmax(axis=1).astype(float)


def parquet(folder: Path, table, sizes: list[int]) -> str:
    """Write a table to files of so many rows each: every file is a partition."""
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    at = 0
    for number, size in enumerate(sizes):
        pq.write_table(table.slice(at, size), folder / f"{number:03}.parquet")
        at += size
    assert at == table.num_rows
    return str(folder)


def pairs(n_rows: int, n_classes: int = 2, seed: int = 1):
    """Return rows as a table of lists of ids and values."""
    import pyarrow as pa

    ids, values, labels = planted(n_rows, n_classes, seed=seed)
    return pa.table({"ids": ids.tolist(), "x": values.tolist(), "label": labels})


def pairs_and_vectors(n_rows: int):
    """Return the same rows as lists, as sparse vectors and as dense ones."""
    from spark_vectors import dense_vectors, sparse_vectors, with_vectors

    ids, values, _ = planted(n_rows)
    every = np.zeros((n_rows, 60))
    np.put_along_axis(every, ids, values, axis=1)
    starts = np.arange(0, 8 * n_rows + 1, 8)
    return with_vectors(
        pairs(n_rows),
        {"sparse": sparse_vectors(starts, ids.ravel(), values.ravel(), 60), "dense": dense_vectors(every)},
    )
