"""csr.py LIBRARY_FOLDER [ROWS [PASSES]]: `fit` on CSR in memory beside the library called from C on the same arrays.

Prints a line per run: seconds of C, seconds of Python, and how far the peak memory of `fit` lies
above that of the arrays. The result is the medians of several runs, which take turns.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from greedystep import GreedystepClassifier
from scipy import sparse

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import process_status

HERE = Path(__file__).parent
RUNS = 5


def peak_mb() -> float:
    return process_status()["VmHWM"] / 1024


def planted(n_rows: int, n_features: int = 100_000, nnz: int = 20) -> tuple[sparse.csr_matrix, np.ndarray]:
    random = np.random.default_rng(0)
    slices = np.arange(nnz, dtype=np.int32) * (n_features // nnz)
    indices = random.integers(0, n_features // nnz, (n_rows, nnz), dtype=np.int32) + slices
    data = random.random((n_rows, nnz), dtype=np.float32) + np.float32(0.5)
    weights = random.normal(size=n_features) / 3
    margins = (weights[indices] * data).sum(axis=1)
    y = (margins + random.logistic(size=n_rows) > 0).astype(np.int64)
    starts = np.arange(0, n_rows * nnz + 1, nnz, dtype=np.int64)
    return sparse.csr_matrix((data.ravel(), indices.ravel(), starts), shape=(n_rows, n_features)), y


def main() -> None:
    library = Path(sys.argv[1]).resolve()
    n_rows = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    passes = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    X, y = planted(n_rows)
    pairs: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "direct"
        words = ["cc", "-O2", f"-I{HERE}/../../include", str(HERE / "direct.c"), f"-L{library}"]
        subprocess.run([*words, "-lgreedystep", f"-Wl,-rpath,{library}", "-o", program], check=True)
        X.indptr.astype(np.int64).tofile(f"{folder}/starts")
        X.indices.tofile(f"{folder}/indices")
        X.data.tofile(f"{folder}/data")
        y.astype(np.float64).tofile(f"{folder}/labels")
        for _ in range(RUNS):
            done = subprocess.run(
                [program, folder, str(n_rows), str(passes)],
                capture_output=True,
                text=True,
                check=True,
            )
            by_c, total = map(float, done.stdout.split())
            Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
            before = peak_mb()
            began = time.perf_counter()
            fitted = GreedystepClassifier(passes=passes).fit(X, y)
            coef = fitted.coef_
            by_python = time.perf_counter() - began
            assert np.isclose(np.abs(coef).sum(), total, rtol=1e-12), "not the same model"
            pairs.append((by_c, by_python))
            print(
                f"C {by_c:.3f} s  Python {by_python:.3f} s  {peak_mb() - before:.0f} MB more",
                flush=True,
            )
    size = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20
    c, python = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(f"{n_rows} rows, {size:.0f} MB, {passes} passes: C {c:.3f} s, Python {python:.3f} s, {python / c:.3f} times")


if __name__ == "__main__":
    main()
