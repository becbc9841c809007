#!/usr/bin/env python3
"""Measures what `train --compact` keeps and what it costs; writes the table of docs/export.md.

    python3 bench/compact/run.py --greedystep build/release/greedystep --data FOLDER --commit HASH [--rows 1000000]

FOLDER has news20.scale.xz and news20.scale.t.xz (LIBSVM data). The click log has the layout of Criteo's
(bench/tables/clicklog.c).
"""

from __future__ import annotations

import argparse
import datetime
import json
import lzma
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import ROOT, given_command, machine, run

PAGE = ROOT / "docs" / "export.md"
BEGIN, END = "<!-- table: bench/compact/run.py -->\n", "<!-- end -->\n"
TEST_ROWS = 200_000
HEAD = (
    "| rows | method | | features with a weight | test log loss | model | state | exported C | processor seconds |\n"
    "|---|---|---|--:|--:|--:|--:|--:|--:|\n"
)


def size(path: Path) -> str:
    """Return the size of a file for people."""
    n = path.stat().st_size
    return f"{n / 1e6:.1f} MB" if n >= 1e6 else f"{n / 1e3:.1f} kB"


def processor_seconds() -> float:
    """Return the processor time of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def click_log(folder: Path, rows: int) -> tuple[str, Path, Path]:
    """Write the rows of a click log to learn and to test."""
    program = folder / "clicklog"
    run(["cc", "-O2", "-o", program, ROOT / "bench" / "tables" / "clicklog.c", "-lm"])
    train, test = folder / "log.tsv", folder / "log.t.tsv"
    for path, n, first in ((train, rows, 0), (test, TEST_ROWS, rows)):
        with path.open("wb") as out:
            subprocess.run([program, str(n), str(first), "tsv"], stdout=out, check=True)
    return f"click log, {rows:,} rows", train, test


def news20(folder: Path, data: Path) -> tuple[str, Path, Path]:
    """Unpack news20."""
    for name in ("news20.scale", "news20.scale.t"):
        (folder / name).write_bytes(lzma.decompress((data / f"{name}.xz").read_bytes()))
    return "news20, 20 classes", folder / "news20.scale", folder / "news20.scale.t"


def lines(greedystep: Path, folder: Path, rows: tuple[str, Path, Path], method: str) -> Iterator[str]:
    """Return a line of the table for the full and for the compact model."""
    name, train, test = rows
    model = folder / "model"
    full = 0
    for compact in ("off", "on"):
        command = [greedystep, "train", train, "--method", method, "--compact", compact, "-o", model, "--json", "-q"]
        before = processor_seconds()
        text = run([*command, "--curves=off"])
        seconds = processor_seconds() - before
        kept = json.loads(text).get("compact", {}).get("features")
        if kept is None:
            outputs = json.loads(text)["classes"] if json.loads(text)["classes"] > 2 else 1
            weights = json.loads(run([greedystep, "inspect", model, "--json"]))["nonzero_weights"]
            kept = full = round(weights / outputs)
        loss = json.loads(run([greedystep, "evaluate", model, test, "--json"]))["log_loss"]
        source = folder / "model.c"
        run([greedystep, "export", model, "-o", source])
        files = " | ".join(size(path) for path in (model, folder / "model.state", source))
        share = 100 * kept / full
        yield (
            f"| {name} | `{method}` | {'compact' if compact == 'on' else 'full'} | {kept:,} ({share:.3g} %) "
            f"| {loss:.5f} | {files} | {seconds:.1f} |\n"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--greedystep", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--commit", required=True, help="the commit that the command was built from")
    given = parser.parse_args()
    greedystep = given_command(given.greedystep)
    table = HEAD
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows in (click_log(folder, given.rows), news20(folder, given.data)):
            for method in ("gsa",) if "log" in rows[0] else ("optimum", "gsa"):
                table += "".join(lines(greedystep, folder, rows, method))
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    today = datetime.date.today().isoformat()
    n_threads = len(os.sched_getaffinity(0))
    source = f"One run each on {n_threads} of {machine()}; measured at commit {given.commit}, {today}."
    PAGE.write_text(f"{before}{BEGIN}{table}\n{source}\n{END}{after}")


if __name__ == "__main__":
    main()
