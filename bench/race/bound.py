#!/usr/bin/env python3
"""Where rows in memory end: loss and processor seconds of both methods on the same rows, up to the bound.

    python3 bench/race/bound.py --command build/release/greedystep [--rows 100000 300000 1000000 2400000]

Rows are generated clicks: 20 of 100,000 features, planted weights, a twentieth of the labels flipped. The last 50,000
rows are the test. Appends to bound.csv: rows, features, method, loss, processor seconds of one thread with reading, MB
of memory.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import tempfile
from pathlib import Path

TEST_ROWS = 50_000
FIELDS = ["rows", "features", "method", "loss", "cpu_seconds", "megabytes"]


def run(command: list[str]) -> tuple[str, float, float]:
    """Runs a command; returns what it prints, its processor seconds and its memory in MB."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            raise SystemExit(f"{' '.join(command)} failed")
        output.seek(0)
        return output.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def measure(command: str, folder: Path, n_rows: int, n_features: int, method: str) -> dict[str, object]:
    model = folder / "model"
    train = [command, "train", str(folder / f"{n_rows}.gsac"), "-o", str(model), "--method", method]
    _, seconds, megabytes = run([*train, "--threads", "1", "--quiet"])
    text, _, _ = run([command, "evaluate", str(model), str(folder / "test.svm"), "--json"])
    loss = json.loads(text)["log_loss"]
    row = [n_rows, n_features, method, f"{loss:.5f}", f"{seconds:.2f}", f"{megabytes:.0f}"]
    return dict(zip(FIELDS, row, strict=True))


def generate(command: str, folder: Path, sizes: list[int], n_features: int) -> None:
    everything = folder / "all.svm"
    shape = ["--features", str(n_features), "--nnz", "20", "--noise", "0.05", "--seed", "1"]
    run([command, "generate", "--rows", str(max(sizes) + TEST_ROWS), *shape, "-o", str(everything), "--quiet"])
    with everything.open() as lines, (folder / "test.svm").open("w") as test:
        files = {n: (folder / f"{n}.svm").open("w") for n in sizes}
        for number, line in enumerate(lines):
            if number >= max(sizes):
                test.write(line)
            for n, file in files.items():
                if number < n:
                    file.write(line)
        for file in files.values():
            file.close()
    everything.unlink()
    for n in sizes:
        run([command, "convert", str(folder / f"{n}.svm"), "-o", str(folder / f"{n}.gsac"), "--quiet"])
        (folder / f"{n}.svm").unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="build/release/greedystep")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 300_000, 1_000_000, 2_400_000])
    parser.add_argument("--features", type=int, default=100_000)
    parser.add_argument("--results", type=Path, default=Path(__file__).with_name("bound.csv"))
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    is_new = not arguments.results.exists()
    with tempfile.TemporaryDirectory() as name, arguments.results.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        generate(arguments.command, Path(name), arguments.rows, arguments.features)
        for n_rows in arguments.rows:
            for method in ("optimum", "gsa"):
                row = measure(arguments.command, Path(name), n_rows, arguments.features, method)
                print(*row.values(), flush=True)
                writer.writerow(row)
                file.flush()


if __name__ == "__main__":
    main()
