#!/usr/bin/env python3
"""Chains of days: does a model that starts from yesterday's keep what stays, and forget what does not?

    python3 bench/chains/run.py --greedystep build/release/greedystep
    python3 bench/chains/run.py --greedystep G --old OTHER --days 10 --drift flip --way chain --way alternating

Each day has 20,000 click rows of 20 out of 10,000 features, and as many test rows. Printed is the mean log loss on the
test rows of days 2 and later, per drift and way, and that of the weights that made the rows. Needs numpy.

Drifts: none; slow (each day a weight keeps 0.95 of itself, the rest is new); flip (half of the weights change sign on
the middle day); skewed (slow, and a few features are in most rows).
Ways: chain (start from yesterday); alone (the day's rows); long (one run over all days so far; only every fifth day);
alternating (chain, every second day by the streaming learner, --method gsa); old (chain, by the command --old).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import given_command, run, say

N_ROWS, N_FEATURES, NNZ = 20_000, 10_000, 20
SLOW = 0.3
DRIFTS = ("none", "slow", "flip", "skewed")
WAYS = ("chain", "alone", "long", "alternating", "old")
EVERY = 5


def draw(rng: np.random.Generator, weights: np.ndarray, n: int, skewed: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """Features, one of each slice; labels; the mean loss of the weights that made them."""
    width = N_FEATURES // NNZ
    share = rng.random((n, NNZ))
    at = np.minimum(np.exp(share * np.log(width + 1)) - 1, width - 1) if skewed else share * width
    index = at.astype(np.int64) + width * np.arange(NNZ)
    margin = weights[index].sum(axis=1)
    y = rng.random(n) * (1 + np.exp(-margin)) < 1
    return index, y, float(np.logaddexp(0, np.where(y, -margin, margin)).mean())


def write(path: Path, index: np.ndarray, y: np.ndarray) -> None:
    form = "%d" + " %d:1" * NNZ
    with open(path, "w", encoding="ascii") as file:
        file.writelines(form % (label, *line) + "\n" for label, line in zip(y, (index + 1).tolist(), strict=True))


def fresh(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=N_FEATURES) * 2 / np.sqrt(NNZ)


def make_days(folder: Path, drift: str, n_days: int, seed: int) -> list[tuple[Path, Path, float]]:
    rng = np.random.default_rng([seed, DRIFTS.index(drift)])
    weights, days = fresh(rng), []
    for day in range(1, n_days + 1):
        if drift in ("slow", "skewed") and day > 1:
            weights = np.sqrt(1 - SLOW**2) * weights + SLOW * fresh(rng)
        if drift == "flip" and day == n_days // 2 + 1:
            weights[rng.permutation(N_FEATURES)[: N_FEATURES // 2]] *= -1
        paths = [folder / f"{drift}.{seed}.{day}.{part}" for part in ("train", "test")]
        write(paths[0], *draw(rng, weights, N_ROWS, drift == "skewed")[:2])
        index, y, loss = draw(rng, weights, N_ROWS, drift == "skewed")
        write(paths[1], index, y)
        days.append((paths[0], paths[1], loss))
    return days


def follow(commands: dict[str, Path], days: list[tuple[Path, Path, float]], way: str, folder: Path) -> list[float]:
    """The loss of every day; NaN where the way is not asked."""
    losses, yesterday = [], None
    command = commands["old" if way == "old" else "new"]
    for at, (train, test, _) in enumerate(days, 1):
        model = folder / f"{way}.{at % 2}.model"
        inputs = [day[0] for day in days[:at]] if way == "long" else [train]
        options: list[object] = ["--start-from", yesterday] if yesterday and way not in ("alone", "long") else []
        options += ["--method", "auto" if at % 2 else "gsa"] if way == "alternating" else []  # else the state says
        if way == "long" and at % EVERY:
            losses.append(float("nan"))
            continue
        run([command, "train", "--curves=off", *inputs, "-o", model, "--quiet", *options])
        losses.append(json.loads(run([command, "evaluate", model, test, "--json"]))["log_loss"])
        yesterday = model
    return losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--greedystep", type=Path)
    parser.add_argument("--old", type=Path, help="another command, for the way old")
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--drift", choices=DRIFTS, action="append")
    parser.add_argument("--way", choices=WAYS, action="append")
    parser.add_argument("--each", action="store_true", help="print the loss of every day too")
    given = parser.parse_args()
    commands = {"new": given_command(given.greedystep)}
    if given.old:
        commands["old"] = given_command(given.old)
    for drift in given.drift or DRIFTS:
        with tempfile.TemporaryDirectory() as name:
            days = make_days(Path(name), drift, given.days, given.seed)
            say(f"{drift:8} planted     {np.mean([loss for *_, loss in days[1:]]):.4f}")
            for way in given.way or [way for way in WAYS if way != "old" or given.old]:
                losses = follow(commands, days, way, Path(name))
                say(f"{drift:8} {way:11} {np.nanmean(losses[1:]):.4f}   last day {losses[-1]:.4f}")
                if given.each:
                    say("  " + " ".join(f"{loss:.4f}" for loss in losses))


if __name__ == "__main__":
    main()
