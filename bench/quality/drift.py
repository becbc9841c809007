"""Stage drift: models over consecutive days, once with half of the weights flipped overnight, once without.

drift.csv has a line for (flip or none, day, way, seed): the loss on rows of that day that were not learned. Ways: start
from yesterday's model; that day's rows alone; one long run over all days so far; the planted model itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from context import HERE, Bench, evaluate, forget, spread, train
from shared import Line, number, say, write_table

TABLE = HERE / "drift.csv"
HEADER = ("drift", "day", "way", "seed", "loss")
N_DAYS, FLIP_DAY = 6, 5
N_ROWS, N_TEST, N_FEATURES, NNZ = 100_000, 20_000, 2_000, 20
FLIP, NONE = "flip", "none"
CHAIN, ALONE, LONG, PLANTED = "start from yesterday", "the day alone", "one long run", "planted"
MOST_SEEDS = 3


@dataclass(frozen=True)
class Day:
    train: Path
    test: Path
    planted: float


def draw(rng: np.random.Generator, weights: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Features, one of each slice; labels; the mean loss of the weights that made them."""
    width = N_FEATURES // NNZ
    index = rng.integers(width, size=(n, NNZ)) + width * np.arange(NNZ)
    margin = weights[index].sum(axis=1)
    y = rng.random(n) * (1 + np.exp(-margin)) < 1
    return index, y, float(np.logaddexp(0, np.where(y, -margin, margin)).mean())


def write(path: Path, index: np.ndarray, y: np.ndarray) -> None:
    form = "%d" + " %d:1" * NNZ
    with open(path, "w", encoding="ascii") as file:
        file.writelines(form % (label, *line) + "\n" for label, line in zip(y, (index + 1).tolist(), strict=True))


def make_days(bench: Bench, drift: str, seed: int) -> list[Day]:
    rng = np.random.default_rng([seed, drift == FLIP])
    weights = rng.uniform(-1, 1, N_FEATURES) * 2 * np.sqrt(3 / NNZ)
    days = []
    for at in range(1, N_DAYS + 1):
        if drift == FLIP and at == FLIP_DAY:
            weights[rng.permutation(N_FEATURES)[: N_FEATURES // 2]] *= -1
        paths = [bench.folder / f"{drift}.{seed}.{at}.{part}" for part in ("train", "test")]
        write(paths[0], *draw(rng, weights, N_ROWS)[:2])
        index, y, loss = draw(rng, weights, N_TEST)
        write(paths[1], index, y)
        days.append(Day(paths[0], paths[1], loss))
    return days


def train_all(bench: Bench, days: list[Day], model: Path, seed: int) -> None:
    """One run over the files of all days, in their order."""
    train(bench, days[0].train, model, seed, [day.train for day in days[1:]])


def follow(bench: Bench, drift: str, seed: int) -> list[Line]:
    days, lines = make_days(bench, drift, seed), []
    models = {way: bench.folder / f"{drift}.{seed}.{way.replace(' ', '-')}.model" for way in (CHAIN, ALONE, LONG)}
    yesterday: Path | None = None
    for at, day in enumerate(days, 1):
        chain = models[CHAIN].with_name(f"{models[CHAIN].name}.{at}")
        train(bench, day.train, chain, seed, ("--start-from", yesterday) if yesterday else ())
        train(bench, day.train, models[ALONE], seed)
        train_all(bench, days[:at], models[LONG], seed)
        losses = {PLANTED: day.planted, CHAIN: evaluate(bench, chain, day.test)["log_loss"]}
        losses |= {way: evaluate(bench, models[way], day.test)["log_loss"] for way in (ALONE, LONG)}
        lines += [
            dict(zip(HEADER, (drift, str(at), way, str(seed), number(loss)), strict=True))
            for way, loss in losses.items()
        ]
        if yesterday:
            forget(yesterday)
        yesterday = chain
        for way in (ALONE, LONG):
            forget(models[way])
    return lines


def stage(bench: Bench) -> None:
    begun = time.monotonic()
    todo = [(drift, seed) for drift in (FLIP, NONE) for seed in range(min(bench.seeds, MOST_SEEDS))]
    parts = spread(lambda what: follow(bench, *what), todo, bench.jobs)
    write_table(TABLE, HEADER, [line for part in parts for line in part])
    say(f"drift       {len(todo)} runs of {N_DAYS} days {time.monotonic() - begun:8.1f} s")
