"""Code that the measurements on Spark share: where the cluster's script is, click rows on disk, lines of JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path += [str(Path(__file__).resolve().parents[2] / name) for name in ("bench", "tests/spark")]
from spark_cluster import cluster, session
from spark_vectors import sparse_vectors, with_vectors

__all__ = ["click", "cluster", "session", "sparse_vectors", "timed", "told", "with_vectors"]

TEST_ROWS = 200_000


def told(**facts: object) -> None:
    """Print a line of JSON, with the machine's load, which says whether seconds mean anything."""
    print(json.dumps({**facts, "load": round(os.getloadavg()[0], 1)}), flush=True)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what the work returns, and seconds."""
    began = time.monotonic()
    result = work()
    return result, round(time.monotonic() - began, 2)


def click(folder: str, n_rows: int, n_features: int, n_partitions: int) -> Path:
    """Return the folder of click rows, which are written if they are not there."""
    import click_rows

    data = Path(folder) / f"click-{n_rows}-{n_features}-{n_partitions}"
    if not data.exists():
        unfinished = data.with_name(f"{data.name}.new")
        click_rows.write(str(unfinished), n_rows, TEST_ROWS, n_features, 20, n_partitions)
        unfinished.rename(data)
    return data
