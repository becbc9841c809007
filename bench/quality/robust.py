"""Stage robust: dense sets spoilt in ways that should not matter (other units, other origins, useless columns, a sorted
file), and in two that must (label noise, one rare class).

Rows are shuffled in blocks of 65536, which no dense set here exceeds: a longer generated file, sorted, shows what a
block cannot mix. robust.csv has a line per set and way: means over the seeds, and the loss of always predicting the
shares of the test labels, which shows how much can be gained with the rare class.
"""

from __future__ import annotations

import time
import zlib

import numpy as np

import rows
import spoil
from context import HERE, Bench, evaluate, forget, spread, train, update_table
from sets import KNOWN, Set, Split, split
from shared import Line, mean, number, run, say, write_lines

TABLE = HERE / "robust.csv"
HEADER = ("data", "way", "n_seeds", "loss", "accuracy", "constant_loss")
NAMES = ("breast-cancer_scale", "cod-rna", "madelon", "letter.scale", "susy_30k", "ijcnn1.val")
LONG = "generated, 300k rows"
MOST_SEEDS = 2
MOST_TEST_ROWS = 20_000  # of cod-rna, for the sake of writing them a dozen times
WAYS: dict[str, spoil.Spoil] = {spoil.UNTOUCHED: lambda table, _: table, **spoil.HARMLESS, **spoil.HARMFUL}


def table_of(part: Split) -> spoil.Table:
    known, asked = rows.read(part.train), rows.read(part.test)
    n = max(known.x.shape[1], asked.x.shape[1])
    x_test = asked.with_columns(n)[:MOST_TEST_ROWS].toarray()
    return spoil.Table(known.with_columns(n).toarray(), known.y, x_test, asked.y[:MOST_TEST_ROWS])


def constant_loss(y: np.ndarray) -> float:
    share = np.unique(y, return_counts=True)[1] / len(y)
    return float(-(share * np.log(share)).sum())


def measure(bench: Bench, part: Split, table: spoil.Table, way: str) -> tuple[float, float, float]:
    """Log loss and accuracy of the spoilt set, and the loss of a constant."""
    spoilt = WAYS[way](table, np.random.default_rng([part.seed, zlib.crc32(way.encode())]))
    stem = f"{part.key}.{zlib.crc32(way.encode())}"
    paths = [bench.folder / f"{stem}.{name}" for name in ("train", "test", "model")]
    rows.write(paths[0], spoilt.x, spoilt.y)
    rows.write(paths[1], spoilt.x_test, spoilt.y_test)
    train(bench, paths[0], paths[2], part.seed)
    said = evaluate(bench, paths[2], paths[1])
    forget(paths[2])
    for path in paths[:2]:
        path.unlink()
    return said["log_loss"], said["accuracy"], constant_loss(spoilt.y_test)


def one(bench: Bench, of: Set) -> list[Line]:
    begun, lines = time.monotonic(), []
    parts = [split(of, seed, bench.folder) for seed in range(min(bench.seeds, MOST_SEEDS))]
    tables = [table_of(part) for part in parts]
    for way in WAYS:
        if way == "99.9 % one class" and of.classes > 2:
            continue
        found = [measure(bench, part, table, way) for part, table in zip(parts, tables, strict=True)]
        means = (number(mean(values)) for values in zip(*found, strict=True))
        lines.append(dict(zip(HEADER, (of.name, way, str(len(found)), *means), strict=True)))
    say(f"robust      {of.name:20} {len(lines)} ways {time.monotonic() - begun:8.1f} s")
    return lines


def long_file(bench: Bench) -> list[Line]:
    """A generated file of several blocks, as it comes, sorted, and sorted and read in that order."""
    whole, *parts = (bench.folder / f"{LONG}.{name}" for name in ("all", "train", "test", "sorted", "model"))
    run([bench.greedystep, "generate", "--rows", "350000", "--quiet", "-o", whole])
    text = whole.read_text(encoding="ascii").splitlines(keepends=True)
    write_lines(parts[0], text[:300_000])
    write_lines(parts[1], text[300_000:])
    write_lines(parts[2], sorted(text[:300_000], key=lambda each: each[0]))
    reference = number(constant_loss(np.array([each[0] for each in text[300_000:]])))
    ways = {
        spoil.UNTOUCHED: (parts[0], ()),
        "sorted by label": (parts[2], ()),
        "sorted by label, --order file": (parts[2], ("--order", "file")),
    }
    lines = []
    for way, (data, options) in ways.items():
        train(bench, data, parts[3], 0, options)
        said = evaluate(bench, parts[3], parts[1])
        forget(parts[3])
        values = (number(said["log_loss"]), number(said["accuracy"]), reference)
        lines.append(dict(zip(HEADER, (LONG, way, "1", *values), strict=True)))
    return lines


def stage(bench: Bench) -> None:
    todo = [of for of in KNOWN.chosen(bench) if of.name in NAMES]
    lines = [line for part in spread(lambda of: one(bench, of), todo, bench.jobs) for line in part]
    lines += long_file(bench) if bench.wants(LONG) else []
    update_table(TABLE, HEADER, lines, [*KNOWN.names, LONG])
