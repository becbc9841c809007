"""Stage scale: planted click data, one pass: how far above the planted model's own loss, beside Adagrad.

scale.csv has a line for (rows, method, seed). Rows are generated once a seed; what is written is the excess over the
planted model on the same test rows. Adagrad is `compare`'s, whose rows are in memory (about 250 bytes each at 20
non-zeros). Beyond COMPARE_LIMIT rows nothing is kept: auto reads a stream, and Adagrad is `vw --adaptive`, which is the
same update (the smallest size has both, to show it), at the rates around the best of the size before.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

import planted
import rows
import vowpal
from cells import compare
from context import HERE, METHOD, Bench, evaluate, forget, train
from sets import Split
from shared import VOWPAL, Line, number, read_table, run, say, write_table

TABLE = HERE / "scale.csv"
HEADER = ("rows", "method", "seed", "loss", "planted", "excess", "seconds")
SIZES = (1_000_000, 10_000_000)
SEEDS = {1_000_000: 3}  # others: one
COMPARE_LIMIT = 20_000_000
N_TEST, N_FEATURES, NNZ = 200_000, 100_000, 20
RATES = ("1", ".3", ".2", ".1", ".05", ".03", ".01")
AUTO, AUTO_STREAM, BY_VOWPAL = "auto", "auto, as a stream", "adagrad by vw"


def generate(bench: Bench, n: int, seed: int) -> list[str | Path]:
    shape = ("--features", str(N_FEATURES), "--nnz", str(NNZ), "--seed", str(seed))
    return [bench.greedystep, "generate", "--rows", str(n), *shape, "--quiet", "-o", "-"]


def write_parts(bench: Bench, n: int, seed: int) -> Split:
    """Training rows and the test rows that follow them."""
    parts = [bench.folder / f"planted.{n}.{seed}.{part}" for part in ("train", "test")]
    with subprocess.Popen(generate(bench, n + N_TEST, seed), stdout=subprocess.PIPE) as process:
        assert process.stdout
        with open(parts[0], "wb") as file:
            file.writelines(islice(process.stdout, n))
        with open(parts[1], "wb") as file:
            file.writelines(process.stdout)
    return Split("planted", seed, parts[0], parts[1], True)


def planted_loss(test: Path, seed: int) -> float:
    weights, intercept = planted.two_classes(seed, N_FEATURES, NNZ)
    asked = rows.read(test)
    margin = asked.with_columns(N_FEATURES) @ weights + intercept
    return float(np.logaddexp(0, np.where(asked.y == 1, -margin, margin)).mean())


def line(n: int, method: str, seed: int, loss: float, best: float, seconds: float) -> Line:
    values = (number(value) for value in (loss, best, loss - best, seconds))
    return dict(zip(HEADER, (str(n), method, str(seed), *values), strict=True))


def measure_file(bench: Bench, n: int, seed: int) -> list[Line]:
    part = write_parts(bench, n, seed)
    best = planted_loss(part.test, seed)
    model = bench.folder / "planted.model"
    summary = train(bench, part.train, model, seed, ("--passes", "1"))
    lines = [line(n, AUTO, seed, evaluate(bench, model, part.test)["log_loss"], best, summary["wall"])]
    forget(model)
    path = compare(bench, part, [f"adagrad:{rate}" for rate in RATES], 1, 1)
    for found in read_table(path):
        if found["split"] == "test":
            method = f"adagrad {found['parameters'].split(';')[0]}"
            lines.append(line(n, method, seed, float(found["loss"]), best, float(found["seconds"])))
    for each in (part.train, part.test, path):
        each.unlink()
    return lines


def vowpal_line(row: bytes) -> bytes:
    return (b"1 | " if row[:1] == b"1" else b"-1 | ") + row[2:]


def through(
    bench: Bench, n: int, seed: int, test: Path, command: Sequence[str], change: Callable[[bytes], bytes] | None = None
) -> float:
    """Generates rows into a command's standard input; the first N_TEST go to a file instead. Seconds."""
    begun = time.monotonic()
    with subprocess.Popen(generate(bench, n + N_TEST, seed), stdout=subprocess.PIPE) as process:
        assert process.stdout
        with open(test, "wb") as file:
            file.writelines(islice(process.stdout, N_TEST))
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as learner:
            assert learner.stdin
            if change:
                learner.stdin.writelines(map(change, process.stdout))
            else:
                shutil.copyfileobj(process.stdout, learner.stdin, 1 << 20)
            learner.stdin.close()
            if learner.wait() != 0:
                raise SystemExit(f"failed on a stream of {n} rows: {' '.join(command)}")
    return time.monotonic() - begun


def auto_stream(bench: Bench, n: int, seed: int) -> Line:
    test, model = bench.folder / "stream.test", bench.folder / "stream.model"
    command = [str(bench.greedystep), "train", "-", "-o", str(model), "--seed", str(seed), "--quiet", *METHOD]
    seconds = through(bench, n, seed, test, command)
    found = line(n, AUTO_STREAM, seed, evaluate(bench, model, test)["log_loss"], planted_loss(test, seed), seconds)
    forget(model)
    return found


def vowpal_stream(bench: Bench, n: int, seed: int, rate: str) -> Line:
    """Adagrad without Vowpal Wabbit's own scaling; its table has a place for every weight."""
    test, model, asked = (bench.folder / name for name in ("vw.test", "vw.model", "vw.asked"))
    kind = ("--adaptive", "-l", rate, "--loss_function", "logistic", "-b", str(vowpal.bits(N_FEATURES, 2)), "--quiet")
    learning = [*VOWPAL, "-d", "/dev/stdin", "-f", str(model), *kind]
    seconds = through(bench, n, seed, test, learning, vowpal_line)
    with open(test, "rb") as source, open(asked, "wb") as target:
        target.writelines(map(vowpal_line, source))
    p = bench.folder / "vw.p"
    run([*VOWPAL, "-d", asked, "-t", "-i", model, "-p", p, "--quiet"])
    margin = np.loadtxt(p, usecols=0)
    loss = float(np.logaddexp(0, np.where(rows.read(test).y == 1, -margin, margin)).mean())
    return line(n, f"{BY_VOWPAL} r={float(rate):g}", seed, loss, planted_loss(test, seed), seconds)


def best_rates(n: int, lines: Sequence[Line]) -> list[str]:
    """Around the best of the greatest size below n: it, and its neighbours."""
    own = [x for x in lines if int(x["rows"]) < n and x["method"].startswith("adagrad r=") and x["excess"] != "nan"]
    if not own:
        return list(RATES[1:-1])
    most = max(int(x["rows"]) for x in own)
    best = min((x for x in own if int(x["rows"]) == most), key=lambda x: float(x["excess"]))
    at = [float(rate) for rate in RATES].index(float(best["method"].split("=")[1]))
    return list(RATES[max(at - 1, 0) : at + 2])


def measure_stream(bench: Bench, n: int, seed: int, lines: Sequence[Line]) -> list[Line]:
    return [auto_stream(bench, n, seed), *(vowpal_stream(bench, n, seed, r) for r in best_rates(n, lines))]


def stage(bench: Bench) -> None:
    sizes = bench.sizes or SIZES
    lines = [old for old in read_table(TABLE) if int(old["rows"]) not in sizes]
    for n in sizes:
        begun = time.monotonic()
        for seed in range(min(bench.seeds, SEEDS.get(n, 1))):
            if n <= COMPARE_LIMIT:
                lines += measure_file(bench, n, seed)
            else:
                lines += measure_stream(bench, n, seed, lines)
        if n == min(SIZES):
            lines.append(vowpal_stream(bench, n, 0, best_rates(n + 1, lines)[1]))
        say(f"scale       {n:>11} rows {time.monotonic() - begun:8.1f} s")
        write_table(TABLE, HEADER, sorted(lines, key=lambda each: int(each["rows"])))
