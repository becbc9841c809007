"""Parquet files larger than memory, learned batch by batch.

The memory used does not depend on the number of files.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import greedystep

N_FILES, ROWS, COLUMNS = 3, 500_000, 30


def write_file(path, random, weights):
    """Write rows a group at a time, so that they are never all in memory here either."""
    schema = pa.schema([(f"x{i}", pa.float64()) for i in range(COLUMNS)] + [("y", pa.int8())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as file:
        for _ in range(ROWS // 50_000):
            X = random.normal(size=(50_000, COLUMNS))
            y = random.random(50_000) < 1 / (1 + np.exp(-X @ weights))
            file.write_table(pa.table([*X.T.copy(), y.astype(np.int8)], schema=schema))


def peak_mb():
    status = Path("/proc/self/status").read_text()  # of Linux
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


with tempfile.TemporaryDirectory() as folder:
    random = np.random.default_rng(0)
    weights = random.normal(size=COLUMNS)
    for number in range(N_FILES):
        write_file(f"{folder}/day{number}.parquet", random, weights)
    size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 2**20
    before = peak_mb()
    model = greedystep.train(f"{folder}/*.parquet", label="y", passes=1, curves="off")
    grown = peak_mb() - before

error = np.abs(model.coef[0] - weights).max()
print(f"{model.n_rows} rows, {size:.0f} MB of Parquet: memory grew by {grown:.0f} MB")
print(f"no weight is further than {error:.2f} from the one that made the rows")
assert grown < 290 < 300 < size
assert error < 0.15
