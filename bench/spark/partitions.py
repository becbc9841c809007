#!/usr/bin/env python3
"""partitions.py: what it costs in test loss that rows lie in many partitions.

The loss after passes by gain, for 1, 2, 8 and 64 partitions, with the default leastShardRows, by which small ones are
put together, and with leastShardRows=1, by which all are learned apart. Prints a line of JSON for every fit, and at
the end a table of means over the seeds, each with its ratio to one partition with the default, which is one machine's
loss for sets of up to 65536 rows. Seconds are not measured: the master is local.

Data: NAME and NAME.t, libsvm text, of $GREEDYSTEP_DATA_DIR (default: ../shared/data beside the source tree); of a
set without test file every fifth row is one. Rows are put into one random order, since some sets come sorted by
class. `click` is generated.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

import click_rows
import loops
from on_cluster import TEST_ROWS, said, session, sparse_vectors, told, with_vectors
from shared import data_directory, find_data, markdown

DEFAULT = 65536
NNZ, CLICK_FEATURES = 20, 1_000_000


# ---- sets -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Set:
    """Rows to learn and rows to judge by."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


def matrix(rows: loops.Rows) -> Any:
    """Return the features of rows as CSR of float32."""
    parts = (rows.values.astype(np.float32), rows.columns.astype(np.int32), rows.starts)
    return sparse.csr_matrix(parts, (len(rows), rows.n_columns))


def read(name: str) -> Set:
    packed, test = find_data(name), find_data(f"{name}.t")
    if packed is None:
        raise SystemExit(f"{name} is not in {data_directory()} (set GREEDYSTEP_DATA_DIR)")
    with tempfile.TemporaryDirectory(prefix="greedystep-partitions-") as folder:
        first, *rest = loops.read_set(loops.Files(packed, test), True, Path(folder))
    X, y = matrix(first), first.labels
    if rest:
        X_test, y_test = matrix(rest[0]), rest[0].labels
    else:
        is_test = np.arange(len(y)) % 5 == 4
        X, y, X_test, y_test = X[~is_test], y[~is_test], X[is_test], y[is_test]
    order = np.random.default_rng(1).permutation(len(y))
    return Set(X[order], y[order], X_test, y_test)


def generated(n_rows: int) -> Set:
    parts = list(click_rows.generated(n_rows + TEST_ROWS, CLICK_FEATURES, NNZ))
    ids, y = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    starts = np.arange(0, len(ids) + 1, NNZ)
    X = sparse.csr_matrix((np.ones(len(ids), np.float32), ids, starts), (len(y), CLICK_FEATURES))
    return Set(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def write(folder: Path, rows: Set, n_files: int) -> None:
    """Write the rows to learn in their order to files of as many rows each: every file is a partition."""
    folder.mkdir()
    X, y = rows.X, rows.y
    for number in range(n_files):
        lo, hi = (len(y) * i // n_files for i in (number, number + 1))
        part = X[lo:hi]
        vectors = sparse_vectors(part.indptr, part.indices, part.data, X.shape[1])
        table = with_vectors(pa.table({"label": y[lo:hi]}), {"features": vectors})
        pq.write_table(table, folder / f"{number:04}.parquet")


# ---- fits -----------------------------------------------------------------------------------------

Losses = dict[tuple[str, int, int], list[float]]  # by set, leastShardRows and partitions; NaN: the fit failed


def fit(frame: Any, rows: Set, least: int, seed: int) -> dict[str, object]:
    """Return what is to be told of a fit; many large copies may be more than the driver has memory for."""
    from greedystep.spark import GreedystepClassifier

    try:
        model = GreedystepClassifier(leastShardRows=least, seed=seed).fit(frame)
    except Exception as failure:
        return {"failed": said(failure), "test_loss": None}
    loss = model.model.evaluate(rows.X_test, rows.y_test)["log_loss"]
    made = model.summary
    return {"shards": made.n_shards, "passes": len(made.passes), "test_loss": round(loss, 6)}


def fit_all(frame: Any, name: str, rows: Set, given: argparse.Namespace, losses: Losses) -> None:
    """Fit a frame with every leastShardRows and seed."""
    n_partitions = frame.rdd.getNumPartitions()
    for least in given.least:
        for seed in range(given.seeds):
            found = fit(frame, rows, least, seed)
            told(set=name, rows=len(rows.y), partitions=n_partitions, least=least, seed=seed, **found)
            losses.setdefault((name, least, n_partitions), []).append(found["test_loss"] or math.nan)


def table_of(losses: Losses) -> str:
    """Return means over the seeds as Markdown, each with its ratio to the first that was measured of its set."""
    widths, rows = sorted({n for _, _, n in losses}), []
    for name, least in dict.fromkeys((name, least) for name, least, _ in losses):
        first = mean(next(found for (of, _, _), found in losses.items() if of == name))
        means = [mean(losses[name, least, n]) for n in widths]
        cells = ["failed" if math.isnan(one) else f"{one:.4f} ({one / first:.3f})" for one in means]
        rows.append([name, least, *cells])
    return markdown(["set", "leastShardRows", *(f"{n} partitions" for n in widths)], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=["sector.scale", "news20.scale", "mnist.scale", "click"])
    parser.add_argument("--partitions", type=int, nargs="*", default=[1, 2, 8, 64])
    parser.add_argument("--least", type=int, nargs="*", default=[DEFAULT, 1], help="leastShardRows")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2_000_000, help="of click")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--driver-memory", default="6g")
    given = parser.parse_args()
    losses: Losses = {}
    spark = session(given.master, {"spark.driver.memory": given.driver_memory, "spark.driver.maxResultSize": "0"})
    for name in given.sets:
        rows = generated(given.rows) if name == "click" else read(name)
        with tempfile.TemporaryDirectory(prefix="greedystep-partitions-") as folder:
            for n_files in given.partitions:
                write(Path(folder) / str(n_files), rows, n_files)
                frame = spark.read.parquet(str(Path(folder) / str(n_files)))
                fit_all(frame, name, rows, given, losses)
    spark.stop()
    print(f"\n{table_of(losses)}")


if __name__ == "__main__":
    main()
