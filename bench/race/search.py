"""A search as people make it: a fifth of the training rows is held out, every setting is learned on the others and
judged on it, and the best is learned once more on all rows. It ends early when it has used its budget, with the best so
far; settings are in the order of their distance from the default."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from common import DEFAULT, TUNED, Result
from sets import Split
from shared import write_lines

HELD_SHARE = 5
Setting = TypeVar("Setting")


@dataclass(frozen=True)
class Parts:
    """Files: all rows of training, shuffled; those to learn and those to judge by in the search; the test rows."""

    whole: Path
    learned: Path
    held: Path
    test: Path


def parts_of(split: Split, folder: Path) -> Parts:
    made = [folder / f"{split.key}.{name}" for name in ("whole", "learned", "held")]
    lines = split.train.read_text(encoding="ascii").splitlines(keepends=True)
    random.Random(split.seed + 1000).shuffle(lines)
    n_held = len(lines) // HELD_SHARE
    for path, some in zip(made, (lines, lines[n_held:], lines[:n_held]), strict=True):
        write_lines(path, some)
    return Parts(made[0], made[1], made[2], split.test)


# (setting, on all rows?) -> processor seconds of learning, log loss and accuracy on the rows that judge
Trial = Callable[[Setting, bool], tuple[float, float, float]]


def search(
    settings: Sequence[Setting],
    name: Callable[[Setting], str],
    trial: Trial[Setting],
    budget: float,
    reading: float = 0.0,
) -> list[Result]:
    """As it comes, and after the search. reading: what was spent once, before."""
    spent, loss, accuracy = trial(settings[0], True)
    results = [Result(DEFAULT, reading + spent, loss, accuracy, 0, name(settings[0]))]
    total, held, tried = 0.0, {}, 0
    for at, setting in enumerate(settings):
        if total > budget:
            break
        seconds, held[at], _ = trial(setting, False)
        total, tried = total + seconds, tried + 1
    best = settings[min(held, key=held.__getitem__)]
    seconds, loss, accuracy = trial(best, True)
    return [*results, Result(TUNED, reading + total + seconds, loss, accuracy, tried, name(best))]
