"""Time of Model.predict_one for a row as a dict and as a tuple, beside predict of a frame of one row.

Models have 1, 10 and 100 columns, half of them numbers, the others categories. Prints a table; run.sh runs it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import greedystep
import numpy as np
import pandas as pd


def table(n_columns: int) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Return a frame of rows and their labels."""
    random = np.random.default_rng(n_columns)
    drawn = random.integers(0, 100, (2000, n_columns))
    columns: dict[str, Any] = {}
    for i in range(n_columns):
        columns[f"column_{i}"] = [f"w{x}" for x in drawn[:, i]] if i % 2 else drawn[:, i] + 0.5
    total = drawn[:, :2].sum(axis=1) + random.integers(0, 50, 2000)
    return pd.DataFrame(columns), np.where(total > np.median(total), "yes", "no")


def percentiles(work: Callable[[], Any], n: int) -> tuple[float, float]:
    """Return the median and the 99th percentile of a call, in microseconds."""
    took = []
    for _ in range(n):
        start = time.perf_counter_ns()
        work()
        took.append(time.perf_counter_ns() - start)
    took.sort()
    return took[n // 2] / 1e3, took[n * 99 // 100] / 1e3


def main() -> None:
    """Print a line for each number of columns."""
    print("columns   dict: p50, p99 us    tuple: p50, p99 us   frame: p50, p99 us")
    for n_columns in (1, 10, 100):
        rows, y = table(n_columns)
        model = greedystep.train(rows, y)
        row = rows.iloc[7].to_dict()
        assert model.predict_proba_one(row) == model.predict_proba(rows.iloc[7:8])[0].tolist()
        cells, one = tuple(row.values()), rows.iloc[7:8]
        times = [
            percentiles(partial(model.predict_one, row), 5000),
            percentiles(partial(model.predict_one, cells), 5000),
            percentiles(partial(model.predict, one), 200),
        ]
        print(f"{n_columns:7}" + "".join(f"{p50:12.1f}{p99:9.1f}" for p50, p99 in times))


if __name__ == "__main__":
    main()
