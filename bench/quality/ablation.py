"""Stage ablation: what each part of the default buys. All 17 sets, `train` with the options of one table.

ablation.csv has a line a set and choice: means over the seeds. The first choice is the default; the page shows the
others as ratios to it. Fill in CHOICES when the method has more to switch off.
"""

from __future__ import annotations

import time
from pathlib import Path

from context import DEFAULT, HERE, METHOD, Bench, evaluate, forget, spread, train, update_table
from sets import KNOWN, Set, Split, splits
from shared import Line, mean, number, say

TABLE = HERE / "ablation.csv"
HEADER = ("data", "choice", "n_seeds", "loss", "accuracy", "passes", "seconds")
# What it is called on the page -> all of the options that the command is given beside the seed.
CHOICES: dict[str, tuple[str, ...]] = {
    DEFAULT: METHOD,
    "one learner, not judged": (*METHOD, "--holdout", "none"),
    "one learner, last iterate": (*METHOD, "--holdout", "none", "--average", "last"),
    "units as given": (*METHOD, "--scale", "none"),
    "free of units": (*METHOD, "--scale", "standard"),
    "last iterate": (*METHOD, "--average", "last"),
    "average of all": (*METHOD, "--average", "full"),
    "one pass": (*METHOD, "--passes", "1"),
    "the paper's method": ("--method", "paper"),
}


def measure(bench: Bench, part: Split, choice: str) -> tuple[float, float, float, float]:
    """Log loss, accuracy, passes, seconds."""
    model: Path = bench.folder / f"{part.key}.{choice.replace(' ', '-')}.model"
    summary = train(bench, part.train, model, part.seed, method=CHOICES[choice])
    said = evaluate(bench, model, part.test)
    forget(model)
    return said["log_loss"], said["accuracy"], float(summary["passes"]), summary["wall"]


def one(bench: Bench, of: Set) -> list[Line]:
    begun, lines = time.monotonic(), []
    for choice in CHOICES:
        found = [measure(bench, part, choice) for part in splits(of, bench)]
        means = (number(mean(values)) for values in zip(*found, strict=True))
        lines.append(dict(zip(HEADER, (of.name, choice, str(len(found)), *means), strict=True)))
    say(f"ablation    {of.name:20} {len(CHOICES)} choices {time.monotonic() - begun:8.1f} s")
    return lines


def stage(bench: Bench) -> None:
    parts = spread(lambda of: one(bench, of), KNOWN.chosen(bench), bench.jobs)
    update_table(TABLE, HEADER, [line for part in parts for line in part], KNOWN.names)
