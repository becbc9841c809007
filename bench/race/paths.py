"""Puts the folders whose modules are used here on the path: bench and bench/quality."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCH = HERE.parent
ROOT = BENCH.parent
RESULTS = HERE / "results.csv"
FOLDER = ROOT / "build" / "bench-race"
sys.path += [str(BENCH / "quality"), str(BENCH)]

# Before numpy is imported: one thread for every method.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
os.environ.update(ONE_THREAD)
