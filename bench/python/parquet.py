"""parquet.py FILE [ROWS]: streaming a Parquet file beside a bare pyarrow scan of the same columns.

Writes FILE if it is not there: ten million rows of seven numbers and six columns of words. Each
measurement is a process of its own, the scan and the training in turns.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import process_status

RUNS = 3
CARDINALITIES = [50, 200, 1000, 5000, 20_000, 100_000]


def write(path: str, n_rows: int) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(0)
    effects = [random.normal(size=n) * 0.5 for n in CARDINALITIES]
    writer = None
    for _ in range(0, n_rows, 500_000):
        n = 500_000
        columns = {f"n{i}": random.normal(size=n).astype(np.float32) for i in range(7)}
        words = [(random.zipf(1.3, n) - 1) % most for most in CARDINALITIES]
        margins = sum(effect[word] for effect, word in zip(effects, words, strict=True))
        margins = margins + 0.3 * columns["n0"] - 0.2 * columns["n1"] - 1
        clicked = (margins + random.logistic(size=n) > 0).astype(np.int8)
        table = pa.table({"clicked": clicked, **columns})
        for i, (word, most) in enumerate(zip(words, CARDINALITIES, strict=True)):
            names = pa.array([f"v{j:06x}" for j in range(most)])
            column = pa.DictionaryArray.from_arrays(pa.array(word.astype(np.int32)), names)
            table = table.append_column(f"c{i}", column.cast(pa.string()))
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=250_000)
    assert writer is not None
    writer.close()


def memory_mb(which: str) -> float:
    return process_status()[which] / 1024


def measure(what: str, path: str) -> None:
    """Print rows a second, and MB beyond the interpreter with its modules."""
    import greedystep
    import pyarrow.parquet as pq

    n_rows = pq.ParquetFile(path).metadata.num_rows
    before = memory_mb("VmRSS")
    began = time.perf_counter()
    if what == "scan":
        from pyarrow import dataset

        n_rows = sum(batch.num_rows for batch in dataset.dataset(path).to_batches())
    else:
        greedystep.train(path, label="clicked", bits=20, passes=1)
    print(n_rows / (time.perf_counter() - began), memory_mb("VmHWM") - before)


def main() -> None:
    path = sys.argv[1]
    if not os.path.exists(path):
        write(path, int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000)
    found: dict[str, list[tuple[float, float]]] = {"scan": [], "train": []}
    for _ in range(RUNS):
        for what in found:
            done = subprocess.run(
                [sys.executable, __file__, path, what, "measure"],
                capture_output=True,
                text=True,
                check=True,
            )
            rate, memory = map(float, done.stdout.split())
            found[what].append((rate, memory))
            print(f"{what:6} {rate:12,.0f} rows/s {memory:6.0f} MB", flush=True)
    scan, train = (statistics.median(rate for rate, _ in found[what]) for what in ("scan", "train"))
    most = max(memory for _, memory in found["train"])
    print(f"train {train:,.0f} rows/s, {train / scan:.2f} of a bare scan ({scan:,.0f}), at most {most:.0f} MB")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        measure(sys.argv[2], sys.argv[1])
    else:
        main()
