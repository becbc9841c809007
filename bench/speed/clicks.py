#!/usr/bin/env python3
"""A click log to a model, beside Vowpal Wabbit: one pass, text and caches, in turns; writes bench/speed/clicks.json.

    pip install vowpalwabbit
    python3 bench/speed/clicks.py --greedystep build/release/greedystep [--rows 1000000] [--repeats 5] [--long 10000000]

The log has the layout of Criteo's (bench/tables/clicklog.c): a label, 13 counts, 26 words. Vowpal Wabbit gets the same
rows as its own text, which is made once and not counted, and its own cache, which is made once and not counted; both
have 2^24 weights. Seconds are medians: of the clock on the wall, and of the processor, all threads together. Each run
is one process, so that what Vowpal Wabbit's Python module takes to start is in its seconds, and is stated apart. Log
losses are of rows that neither has seen. --long: so many rows once, from gzip, greedystep alone; 0: none.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import ROOT, VOWPAL, given_command, log_loss, machine, run, say, version_of

RESULTS = Path(__file__).resolve().with_name("clicks.json")
CLICKLOG = ROOT / "bench" / "tables" / "clicklog.c"
TEST_ROWS = 200_000
LEARN_VOWPAL = ("--loss_function", "logistic", "--link", "logistic", "-b", 24, "--quiet")


def measured(command: list[object]) -> dict[str, float]:
    """Seconds on the wall and of the processor of a command that must succeed."""
    begun = time.monotonic()
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen([str(word) for word in command], stdout=nowhere, stderr=nowhere)
        _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"failed: {' '.join(map(str, command))}")
    return {"wall": wall, "processor": used.ru_utime + used.ru_stime}


class Bench:
    def __init__(self, greedystep: Path, folder: Path) -> None:
        self.greedystep, self.folder, self.log = greedystep, folder, folder / "clicklog"
        run(["cc", "-O2", "-o", self.log, CLICKLOG, "-lm"])

    def write(self, name: str, rows: int, first: int, kind: str) -> Path:
        path = self.folder / name
        pack = " | gzip -1" if path.suffix == ".gz" else ""
        run(["bash", "-o", "pipefail", "-c", f"'{self.log}' {rows} {first} {kind}{pack} > '{path}'"])
        return path

    def train(self, data: Path, threads: int) -> dict[str, float]:
        model = self.folder / "model"
        return measured([self.greedystep, "train", data, "-o", model, "--passes", 1, "--threads", threads, "--quiet"])

    def loss(self, test: Path) -> float:
        return json.loads(run([self.greedystep, "evaluate", self.folder / "model", test, "--json"]))["log_loss"]

    def vowpal(self, text: Path, cache: Path | None) -> dict[str, float]:
        source = ["--cache_file", cache] if cache else []
        return measured([*VOWPAL, *LEARN_VOWPAL, "-d", text, *source, "-f", self.folder / "vw.model"])

    def vowpal_loss(self, test: Path, labels: list[bool]) -> float:
        out = self.folder / "vw.p"
        run([*VOWPAL, *LEARN_VOWPAL, "-d", test, "-t", "-i", self.folder / "vw.model", "-p", out])
        return log_loss([float(line.split()[0]) for line in out.read_text().splitlines()], labels)


def in_turns(bench: Bench, rows: int, repeats: int) -> dict[str, dict[str, float]]:
    tsv, packed = (bench.write(name, rows, 0, "tsv") for name in ("day.tsv", "day.tsv.gz"))
    text, cache, vw_cache = bench.write("day.vw", rows, 0, "vw"), bench.folder / "day.gsac", bench.folder / "vw.cache"
    test, vw_test = (bench.write(f"test.{kind}", TEST_ROWS, rows, kind) for kind in ("tsv", "vw"))
    labels = [line[0] == "1" for line in test.read_text(encoding="ascii").splitlines()]
    run([bench.greedystep, "convert", tsv, "-o", cache, "--quiet"])
    run([*VOWPAL, *LEARN_VOWPAL, "-d", text, "-k", "--cache_file", vw_cache, "--noop"])
    data = {"tsv": tsv, "tsv.gz": packed, "cache": cache}
    ways = {f"greedystep, {kind}, {n} thread{'s' * (n > 1)}": (data[kind], n) for kind in data for n in (1, 2)}
    taken: dict[str, list[dict[str, float]]] = {}
    losses: dict[str, float] = {}
    for again in range(repeats):
        for name, (path, threads) in ways.items():
            taken.setdefault(name, []).append(bench.train(path, threads))
            if again == 0:  # every round makes the same models
                losses[name] = bench.loss(test)
        for name, source in (("vw, text", None), ("vw, cache", vw_cache)):
            taken.setdefault(name, []).append(bench.vowpal(text, source))
            if again == 0:
                losses[name] = bench.vowpal_loss(vw_test, labels)
        taken.setdefault("vw, start alone", []).append(measured([*VOWPAL, "--version"]))
        say(
            f"round {again + 1} of {repeats}: "
            + ", ".join(f"{way} {found[-1]['wall']:.2f}" for way, found in taken.items())
        )
    return {
        name: {key: statistics.median(run[key] for run in found) for key in found[0]} | {"loss": losses.get(name)}
        for name, found in taken.items()
    }


def ratios(found: dict[str, dict[str, float]]) -> dict[str, float]:
    """How many times as fast as Vowpal Wabbit, on the wall."""
    ours = {kind: found[f"greedystep, {kind}, 2 threads"]["wall"] for kind in ("tsv", "tsv.gz", "cache")}
    text, cache = found["vw, text"]["wall"], found["vw, cache"]["wall"]
    return {"tsv to text": text / ours["tsv"], "tsv.gz to text": text / ours["tsv.gz"], "caches": cache / ours["cache"]}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--greedystep", type=Path)
    parser.add_argument("--rows", type=int, default=10**6, metavar="N")
    parser.add_argument("--repeats", type=int, default=5, metavar="N")
    parser.add_argument("--long", type=int, default=10**7, metavar="N")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    greedystep = given_command(options.greedystep)
    about: dict[str, object] = {"date": datetime.date.today().isoformat(), "machine": machine()}
    about |= {"version": version_of(greedystep), "vowpal": run([*VOWPAL, "--version"]).split()[0]}
    about |= {"rows": options.rows, "repeats": options.repeats, "test_rows": TEST_ROWS}
    with tempfile.TemporaryDirectory(prefix="greedystep-clicks-") as folder:
        bench = Bench(greedystep, Path(folder))
        found = in_turns(bench, options.rows, options.repeats)
        about |= {"found": found, "times_as_fast": ratios(found)}
        about["load_average"] = os.getloadavg()
        RESULTS.write_text(json.dumps(about, indent=2, sort_keys=True) + "\n")
        if options.long > 0:
            day = bench.write("long.tsv.gz", options.long, 0, "tsv")
            test = bench.write("test.tsv", TEST_ROWS, options.long, "tsv")
            about["long"] = bench.train(day, 2) | {"rows": options.long, "loss": bench.loss(test)}
            RESULTS.write_text(json.dumps(about, indent=2, sort_keys=True) + "\n")
    say(json.dumps(about, indent=2, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
