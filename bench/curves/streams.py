#!/usr/bin/env python3
"""Curves and pairs against lines in streams and near the solver's bound: loss on fresh rows and processor seconds.

    python3 bench/curves/streams.py COMMAND [RESULTS.csv] [--only PART...] [--folder FOLDER]

susy: the split of the race. clicks: a click log (bench/tables/clicklog.c) with its 13 counts, and with their
logarithms. rows: generated ones, 20 columns of which 8 bend, and the loss of the truth; beside LightGBM. The
default rule (the solver while rows fit, else a stream) and `--method gsa`; the forms take turns, three times if a run
is short. bound: numbers of rows just below and above the solver's bound; the default rule only.
long: 10^7 rows, 1.4 GB in the folder. Seconds are from text to model on one thread; LightGBM's have no reading. Without
--only the first three parts; bound and long are kept as RESULTS.csv has them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forms  # isort: skip  # before numpy: it sets the number of threads

sys.path.append(str(forms.HERE.parent / "race"))
import numpy as np

import paths
import tasks
from shared import read_table, run, say, write_table

PARTS = ("susy", "clicks", "rows", "bound", "long")
HEADER = ("stream", "rows", "tool", "form", "loss", "seconds", "method", "curves", "pairs")
CLICKS, FRESH_CLICKS, COUNTS = (500_000, 10**6), 10**7, 13  # with curves half a million rows are solved
SIZES, LONG, FRESH = (10**4, 10**5, 10**6), (10**7,), 200_000
BOUND = (2_500_000, 2_700_000)  # 20 columns: 2^28 / 104 rows are solved
SHORT, ROUNDS, CHUNK = 5.0, 3, 500_000
WAYS = {"default": [], "gsa": ["--method", "gsa"]}
Line = list[object]


@dataclass(frozen=True)
class Given:
    """Rows to learn and fresh ones, and how they are learned: by which methods, in which forms."""

    name: str
    data: Path
    fresh: Path
    options: tuple[str, ...] = ()
    ways: tuple[str, ...] = tuple(WAYS)
    forms: tuple[str, ...] = tuple(forms.FORMS)


def compare(command: Path, model: Path, of: Given) -> Iterator[Line]:
    """Yield a line for each method and form."""
    with open(of.data, "rb") as file:
        n = sum(1 for _ in file) - (of.data.suffix == ".csv")
    methods: set[str] = set()
    for way in of.ways:
        taken: dict[str, list[float]] = {form: [] for form in of.forms}
        losses, fits = {}, {}
        if way in methods:  # the default was the same
            continue
        for again in range(ROUNDS):
            if again > 0 and max(map(max, taken.values())) > SHORT:
                break
            for form in of.forms:
                fits[form] = forms.train(command, form, of.data, model, [*of.options, *WAYS[way]])
                taken[form].append(fits[form].seconds)
                if again == 0:
                    losses[form] = forms.loss(command, model, of.fresh)
        methods |= {fit.method for fit in fits.values()}
        for form, fit in fits.items():
            seconds = statistics.median(taken[form])
            say(f"{of.name} {n}, {way} {form}: {losses[form]:.5f}, {seconds:.3g} s, {fit.method}, {fit.curves}")
            yield [of.name, n, way, form, f"{losses[form]:.6g}", f"{seconds:.4g}", fit.method, fit.curves, fit.pairs]


# ---- susy and clicks -------------------------------------------------------------------------------------------------


def susy(command: Path, folder: Path) -> Iterator[Line]:
    task = tasks.task("a", "susy_30k", 0, paths.FOLDER)
    assert task
    yield from compare(command, folder / "model", Given("susy", task.train, task.test))


def with_logarithms(log: Path, to: Path) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as text

    names = [f"f{i}" for i in range(40)]
    kinds = {name: pa.float64() if 0 < i <= COUNTS else pa.string() for i, name in enumerate(names)}
    table = text.read_csv(
        log,
        text.ReadOptions(column_names=names, use_threads=False),
        text.ParseOptions(delimiter="\t"),
        text.ConvertOptions(column_types=kinds, strings_can_be_null=True),
    )
    for i in range(1, COUNTS + 1):
        table = table.set_column(i, names[i], pc.round(pc.log1p(table[names[i]]), 6))
    text.write_csv(table, to, text.WriteOptions(include_header=False, delimiter="\t", quoting_style="none"))


def clicks(command: Path, folder: Path) -> Iterator[Line]:
    log = folder / "clicklog"
    run(["cc", "-O2", "-o", log, forms.HERE.parent / "tables" / "clicklog.c", "-lm"])

    def written(name: str, n: int, first: int) -> tuple[Path, Path]:
        paths = folder / f"{name}.tsv", folder / f"{name}.log.tsv"
        run(["sh", "-c", f"'{log}' {n} {first} tsv > '{paths[0]}'"])
        with_logarithms(*paths)
        return paths

    fresh = written("fresh", FRESH, FRESH_CLICKS)
    for n in CLICKS:
        data = written("train", n, 0)
        truth = float(run([log, FRESH, FRESH_CLICKS, "loss"]))
        yield from compare(command, folder / "model", Given("clicks", data[0], fresh[0]))
        yield from compare(command, folder / "model", Given("clicks, logarithms", data[1], fresh[1], forms=("lines",)))
        yield ["clicks", n, "truth", "", f"{truth:.6g}", "", "", "", ""]


# ---- generated rows --------------------------------------------------------------------------------------------------


def drawn(n: int, seed: int) -> tuple[Any, Any, Any]:
    """Return columns, chances and labels; half of the first 16 columns are skewed, 8 of the 20 bend."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 20))
    x[:, :16:2] = np.exp(x[:, :16:2])
    x = x.round(3)
    margin = x[:, 8:] @ (0.1 * (-1.0) ** np.arange(12)) - 1
    margin += np.log(x[:, 0] + 0.1) + np.abs(x[:, 1]) + np.sin(2 * x[:, 3]) + 0.5 * x[:, 5] ** 2
    margin += np.minimum(x[:, 2], 2) - 2 * (x[:, 4] > 1.5) + np.tanh(3 * x[:, 7]) - np.sqrt(x[:, 6])
    p = 1 / (1 + np.exp(-margin))
    return x, p, rng.random(n) < p


def write_rows(path: Path, n: int, seed: int) -> float:
    """Write a table; return the loss of the truth."""
    import pyarrow as pa
    from pyarrow import csv as text

    names, loss, writer = [f"x{i}" for i in range(20)], 0.0, None
    for first in range(0, n, CHUNK):
        x, p, y = drawn(min(CHUNK, n - first), seed + first)
        loss -= float(np.log(np.where(y, p, 1 - p)).sum())
        table = pa.table({"y": y.astype(np.int8)} | {name: x[:, i] for i, name in enumerate(names)})
        writer = writer or text.CSVWriter(path, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()
    return loss / n


def trees(n: int, seed: int, fresh_seed: int) -> tuple[float, float]:
    """Return the loss and the seconds of LightGBM."""
    from lightgbm import LGBMClassifier
    from sklearn.metrics import log_loss

    parts = [drawn(min(CHUNK, n - first), seed + first) for first in range(0, n, CHUNK)]
    x, y = np.concatenate([part[0] for part in parts]), np.concatenate([part[2] for part in parts])
    begun = time.process_time()
    model = LGBMClassifier(n_jobs=1, verbose=-1).fit(x, y)
    seconds = time.process_time() - begun
    fresh = drawn(FRESH, fresh_seed)
    return log_loss(fresh[2], model.predict_proba(fresh[0])[:, 1]), seconds


def rows(command: Path, folder: Path, sizes: Sequence[int], ways: tuple[str, ...], has_trees: bool) -> Iterator[Line]:
    seed, fresh_seed = 10**8, 1
    data, fresh = folder / "rows.csv", folder / "fresh.csv"
    truth = write_rows(fresh, FRESH, fresh_seed)
    if has_trees:
        yield ["rows", FRESH, "truth", "", f"{truth:.6g}", "", "", "", ""]
    for n in sizes:
        write_rows(data, n, seed)
        yield from compare(command, folder / "model", Given("rows", data, fresh, ("--label", "y"), ways))
        if has_trees:
            loss, seconds = trees(n, seed, fresh_seed)
            say(f"rows {n}, LightGBM: {loss:.5f}, {seconds:.3g} s")
            yield ["rows", n, "LightGBM", "", f"{loss:.6g}", f"{seconds:.4g}", "", "", ""]


def of_part(part: str, command: Path, folder: Path) -> Iterator[Line]:
    if part == "susy":
        yield from susy(command, folder)
    elif part == "clicks":
        yield from clicks(command, folder)
    elif part == "rows":
        yield from rows(command, folder, SIZES, tuple(WAYS), True)
    else:
        yield from rows(command, folder, BOUND if part == "bound" else LONG, ("default",), False)


def part_of(row: Line) -> str:
    """Return the part that a line of the results is of."""
    n = int(str(row[1]))
    return "bound" if n in BOUND else "long" if n in LONG else str(row[0]).split(",")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", type=Path)
    parser.add_argument("results", type=Path, nargs="?", default=forms.HERE / "streams.csv")
    parser.add_argument("--only", nargs="+", default=PARTS[:3], choices=PARTS)
    parser.add_argument("--folder", type=Path, help="of the rows; default: a folder for temporary files")
    given = parser.parse_args()
    found = [list(row.values()) for row in read_table(given.results)]
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        for part in given.only:
            made = list(of_part(part, given.command.resolve(), Path(name)))
            found = [row for row in found if part_of(row) != part] + made
            found.sort(key=lambda row: (min(PARTS.index(part_of(row)), 2), int(row[1])))
            write_table(given.results, HEADER, [dict(zip(HEADER, map(str, row), strict=True)) for row in found])
    forms.note_measured(given.results)


if __name__ == "__main__":
    main()
