#!/usr/bin/env python3
"""A click log as it comes, and as Parquet, beside Vowpal Wabbit and DuckDB; writes docs/tables.md.

    pip install -r bench/tables/requirements.txt
    python3 bench/tables/run.py --greedystep build/release/greedystep [--rows 10000000] [--stage clicks|parquet]

The log has the layout of Criteo's (bench/tables/clicklog.c): a label, 13 counts, 26 words, tabs, no header. Files go to
$TMPDIR: 400 bytes a row. DuckDB's library is the one inside of its Python package, unless $GREEDYSTEP_DUCKDB names
another.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import page
from shared import VOWPAL, log_loss, machine

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
OPTIONS = ("--loss_function", "logistic", "--link", "logistic", "-b", "24", "--quiet")
TEST_ROWS = 200_000
NUMBERS, WORDS = [f"i{k}" for k in range(1, 14)], [f"c{k}" for k in range(1, 27)]


def run(command: list[object], env: dict[str, str] | None = None) -> tuple[str, float, int]:
    """What was printed, seconds, and the most kilobytes in memory."""
    begun = time.monotonic()
    timed = ["/usr/bin/time", "-f", "peak %M", *map(str, command)]
    done = subprocess.run(timed, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})})
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed: {done.stderr.strip()[-500:]}")
    return done.stdout, time.monotonic() - begun, int(re.findall(r"peak (\d+)", done.stderr)[-1])


def shell(command: str) -> None:
    subprocess.run(["bash", "-o", "pipefail", "-c", command], check=True)


class Bench:
    def __init__(self, greedystep: Path, rows: int, repeats: int, folder: Path) -> None:
        self.greedystep, self.rows, self.repeats, self.folder = greedystep.resolve(), rows, repeats, folder
        self.log = folder / "clicklog"
        shell(f"cc -O2 -o {self.log} {HERE}/clicklog.c -lm")

    def write(self, name: str, first: int, rows: int, kind: str) -> Path:
        path = self.folder / name
        if not path.exists():
            pack = " | gzip -1" if name.endswith(".gz") else ""
            shell(f"{self.log} {rows} {first} {kind}{pack} > {path}")
        return path

    def loss(self, model: Path) -> float:
        test = self.write("test.tsv", self.rows, TEST_ROWS, "tsv")
        return json.loads(run([self.greedystep, "evaluate", model, test, "--json"])[0])["log_loss"]


def labels(path: Path) -> list[bool]:
    with path.open() as lines:
        return [line[0] == "1" for line in lines]


def of_greedystep(bench: Bench, day: Path) -> dict[str, object]:
    model = bench.folder / "model"
    _, seconds, peak = run([bench.greedystep, "train", day, "-o", model, "--quiet"])
    planted = run([bench.log, 0, 0, "planted"])[0].split()[::2]
    top = json.loads(run([bench.greedystep, "inspect", model, "--top", len(planted), "--json"])[0])["top"]
    found = len({entry.get("name") for entry in top} & set(planted))
    return {"seconds": seconds, "peak": peak, "loss": bench.loss(model), "planted": len(planted), "found": found}


def of_vowpal(bench: Bench) -> dict[str, object]:
    day, test = bench.write("day.vw.gz", 0, bench.rows, "vw"), bench.write("test.vw", bench.rows, TEST_ROWS, "vw")
    model, out = bench.folder / "vw.model", bench.folder / "vw.p"
    _, seconds, peak = run([*VOWPAL, *OPTIONS, "-d", day, "-f", model])
    run([*VOWPAL, *OPTIONS, "-d", test, "-t", "-i", model, "-p", out])
    chances = [float(line.split()[0]) for line in out.read_text().splitlines()]
    return {"seconds": seconds, "peak": peak, "loss": log_loss(chances, labels(bench.folder / "test.tsv"))}


def clicks(bench: Bench) -> dict[str, object]:
    day = bench.write("day.tsv.gz", 0, bench.rows, "tsv")
    runs = [(of_greedystep(bench, day), of_vowpal(bench)) for _ in range(bench.repeats)]
    best = float(run([bench.log, TEST_ROWS, bench.rows, "loss"])[0])
    return {
        "ours": [pair[0] for pair in runs],
        "vowpal": [pair[1] for pair in runs],
        "planted_loss": best,
        "test_rows": TEST_ROWS,
    }


def duckdb_library() -> dict[str, str]:
    """The library inside of this Python's module."""
    if "GREEDYSTEP_DUCKDB" in os.environ:
        return {}
    import _duckdb

    return {"GREEDYSTEP_DUCKDB": _duckdb.__file__}


def scans(path: Path) -> dict[str, float]:
    """Seconds that DuckDB alone takes to look at every cell, and to hand out every row as Arrow."""
    import duckdb

    connection, seconds = duckdb.connect(), {}
    begun = time.monotonic()
    connection.execute(f"SELECT bit_xor(hash(clicked, {', '.join(NUMBERS + WORDS)})) FROM '{path}'").fetchall()
    seconds["hash"] = time.monotonic() - begun
    begun = time.monotonic()
    n_rows = sum(batch.num_rows for batch in connection.sql(f"SELECT * FROM '{path}'").to_arrow_reader(2048))
    seconds["arrow"] = time.monotonic() - begun
    return {**seconds, "rows": n_rows}


def parquet(bench: Bench) -> dict[str, object]:
    import duckdb

    day, path = bench.write("day.tsv.gz", 0, bench.rows, "tsv"), bench.folder / "day.parquet"
    kinds = {"clicked": "INTEGER", **dict.fromkeys(NUMBERS, "INTEGER"), **dict.fromkeys(WORDS, "VARCHAR")}
    if not path.exists():
        table = f"read_csv('{day}', delim='\t', header=false, columns={kinds})"
        duckdb.sql(f"COPY (SELECT * FROM {table}) TO '{path}' (FORMAT parquet)")
    env, runs = duckdb_library(), []
    for _ in range(bench.repeats):
        alone = scans(path)
        model = bench.folder / "model"
        command = [bench.greedystep, "train", path, "--label", "clicked", "-o", model, "--passes", 1]
        said, seconds, peak = run([*command, "--quiet", "--json"], env)
        learning = json.loads(said)["seconds"]
        runs.append({**alone, "train": seconds, "learning": learning, "peak": peak})
    return {"runs": runs, "bytes": path.stat().st_size, "duckdb": duckdb.__version__}


STAGES = {"clicks": clicks, "parquet": parquet}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--greedystep", type=Path)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--stage", choices=STAGES, action="append")
    parser.add_argument("--folder", type=Path, help="where files stay, for runs to come; default: a temporary one")
    arguments = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if arguments.greedystep:
        with tempfile.TemporaryDirectory() as temporary:
            bench = Bench(arguments.greedystep, arguments.rows, arguments.repeats, arguments.folder or Path(temporary))
            for stage in arguments.stage or STAGES:
                results[stage] = {
                    "date": datetime.date.today().isoformat(),
                    "machine": machine(),
                    "rows": bench.rows,
                    "repeats": bench.repeats,
                    "found": STAGES[stage](bench),
                }
                RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    page.write_page(results)


if __name__ == "__main__":
    main()
