#!/usr/bin/env python3
"""A raw click log, and the same rows as Parquet, beside Vowpal Wabbit and DuckDB; writes results.json.

    pip install -r bench/tables/requirements.txt
    python3 bench/tables/run.py --greedystep build/release/greedystep [--stage clicks|long|parquet] [--folder FOLDER]

The log has the layout of Criteo's (clicklog.c): a label, 13 counts, 26 words, tabs, no header. clicks: 10^6 rows from
text, gzip and caches, one pass. long: 10^7 rows from gzip, no option. parquet: the rows of long. Vowpal Wabbit gets the
same rows as its own text and cache, which are made once and not counted, and as many weights (2^24). Runs that are
compared take turns; seconds are medians, of the clock and of the processor (all threads together). Every run is a
process of its own, so the start of Vowpal Wabbit's Python module is in its seconds, and is stated separately. Losses
are those of other rows. DuckDB's library is the one in its Python package, unless $GREEDYSTEP_DUCKDB names another.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import VOWPAL, given_command, log_loss, measured, measured_at, run, say

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
ROWS = {"clicks": 10**6, "long": 10**7, "parquet": 10**7}
TEST_ROWS = 200_000
LEARN_VOWPAL = ("--loss_function", "logistic", "--link", "logistic", "-b", 24, "--quiet")
NUMBERS, WORDS = [f"i{k}" for k in range(1, 14)], [f"c{k}" for k in range(1, 27)]
Taken = dict[str, list[dict[str, float]]]


class Bench:
    def __init__(self, greedystep: Path, rows: int, repeats: int, folder: Path) -> None:
        self.greedystep, self.rows, self.repeats, self.folder = greedystep, rows, repeats, folder
        self.log = folder / "clicklog"
        run(["cc", "-O2", "-o", self.log, HERE / "clicklog.c", "-lm"])

    def write(self, name: str, first: int, rows: int, kind: str) -> Path:
        path = self.folder / f"{name}-{rows}-{first}"
        path = path.with_name(f"{path.name}.{kind}")
        text = kind.removesuffix(".gz")
        pack = " | gzip -1" if text != kind else ""
        if not path.exists():
            run(["bash", "-o", "pipefail", "-c", f"'{self.log}' {rows} {first} {text}{pack} > '{path}'"])
        return path

    def day(self, kind: str) -> Path:
        return self.write("day", 0, self.rows, kind)

    def train(self, data: Path, *options: object, env: dict[str, str] | None = None) -> dict[str, float]:
        return measured([self.greedystep, "train", data, "-o", self.folder / "model", "--quiet", *options], env)

    def loss(self) -> float:
        test = self.write("test", self.rows, TEST_ROWS, "tsv")
        return json.loads(run([self.greedystep, "evaluate", self.folder / "model", test, "--json"]))["log_loss"]

    def vowpal(self, *source: object) -> dict[str, float]:
        return measured([*VOWPAL, *LEARN_VOWPAL, *source, "-f", self.folder / "vw.model"])

    def vowpal_loss(self) -> float:
        test, vw_test = (self.write("test", self.rows, TEST_ROWS, kind) for kind in ("tsv", "vw"))
        out = self.folder / "vw.p"
        run([*VOWPAL, *LEARN_VOWPAL, "-d", vw_test, "-t", "-i", self.folder / "vw.model", "-p", out])
        labels = [line[0] == "1" for line in test.read_text(encoding="ascii").splitlines()]
        return log_loss([float(line.split()[0]) for line in out.read_text().splitlines()], labels)


def in_turns(bench: Bench, ways: dict) -> dict[str, dict[str, float]]:
    """Medians of every way to learn, and the loss of its first model: every round makes the same."""
    taken: Taken = {}
    losses = {}
    for again in range(bench.repeats):
        for name, (learn, loss) in ways.items():
            taken.setdefault(name, []).append(learn())
            if again == 0 and loss is not None:
                losses[name] = loss()
            say(f"round {again + 1} of {bench.repeats}: {name} {taken[name][-1]['wall']:.2f} s")
    return {
        name: {key: statistics.median(run[key] for run in found) for key in found[0]} | {"loss": losses.get(name)}
        for name, found in taken.items()
    }


def clicks(bench: Bench) -> dict[str, object]:
    cache, vw_cache = bench.folder / "day.gsac", bench.folder / "day.vw.cache"
    data = {"text": bench.day("tsv"), "gzip": bench.day("tsv.gz"), "cache": cache}
    run([bench.greedystep, "convert", data["text"], "-o", cache, "--quiet"])
    run([*VOWPAL, *LEARN_VOWPAL, "-d", bench.day("vw"), "-k", "--cache_file", vw_cache, "--noop"])
    ways = {}
    for kind, path in data.items():
        for n in (1, 2):
            options = ("--passes", 1, "--threads", n)
            ways[f"greedystep, {kind}, {n}"] = (lambda p=path, o=options: bench.train(p, *o), bench.loss)
    for kind, source in {"text": (), "cache": ("--cache_file", vw_cache)}.items():
        ways[f"vw, {kind}"] = (lambda s=source: bench.vowpal("-d", bench.day("vw"), *s), bench.vowpal_loss)
    ways["vw, start alone"] = (lambda: measured([*VOWPAL, "--version"]), None)
    return in_turns(bench, ways)


def long(bench: Bench) -> dict[str, object]:
    own, theirs = bench.day("tsv.gz"), bench.day("vw.gz")
    ways = {"greedystep": (lambda: bench.train(own), bench.loss)}
    ways["vw"] = (lambda: bench.vowpal("-d", theirs), bench.vowpal_loss)
    best = float(run([bench.log, TEST_ROWS, bench.rows, "loss"]))
    return in_turns(bench, ways) | {"generator": {"loss": best}}


def scans(path: Path) -> dict[str, dict[str, float]]:
    """Seconds that DuckDB alone takes to hash every cell, and to export every row as Arrow."""
    import duckdb

    connection, begun = duckdb.connect(), time.monotonic()
    connection.execute(f"SELECT bit_xor(hash(clicked, {', '.join(NUMBERS + WORDS)})) FROM '{path}'").fetchall()
    hashed = time.monotonic()
    for _ in connection.sql(f"SELECT * FROM '{path}'").to_arrow_reader(2048):
        pass
    return {"hash": hashed - begun, "arrow": time.monotonic() - hashed}


def parquet(bench: Bench) -> dict[str, object]:
    import _duckdb
    import duckdb

    path = bench.folder / "day.parquet"
    kinds = {"clicked": "INTEGER", **dict.fromkeys(NUMBERS, "INTEGER"), **dict.fromkeys(WORDS, "VARCHAR")}
    if not path.exists():
        table = f"read_csv('{bench.day('tsv.gz')}', delim='\t', header=false, columns={kinds})"
        duckdb.sql(f"COPY (SELECT * FROM {table}) TO '{path}' (FORMAT parquet)")
    env, runs = {"GREEDYSTEP_DUCKDB": _duckdb.__file__, **os.environ}, []
    for _ in range(bench.repeats):
        runs.append({**scans(path), **bench.train(path, "--label", "clicked", "--passes", 1, env=env)})
        say(json.dumps(runs[-1]))
    medians = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    return medians | {"bytes": path.stat().st_size, "duckdb": duckdb.__version__}


STAGES = {"clicks": clicks, "long": long, "parquet": parquet}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--greedystep", type=Path)
    parser.add_argument("--rows", type=int, help="instead of those of the stages")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--stage", choices=STAGES, action="append")
    parser.add_argument("--folder", type=Path, help="where files stay, for runs to come; default: a temporary one")
    options = parser.parse_args()
    greedystep = given_command(options.greedystep)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory() as temporary:
        for stage in options.stage or STAGES:
            bench = Bench(greedystep, options.rows or ROWS[stage], options.repeats, options.folder or Path(temporary))
            results[stage] = {"found": STAGES[stage](bench), "rows": bench.rows, "repeats": bench.repeats}
            results[stage] |= measured_at() | {"vowpal": run([*VOWPAL, "--version"]).split()[0]}
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
