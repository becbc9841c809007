"""Code that all stages share: the command that is measured, a folder for its files, and how its table is kept.

A stage writes one table of this folder and nothing else. With --only the other sets keep their lines.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import Line, read_table, run, timed, write_table

HERE = Path(__file__).resolve().parent
# The method under test, and nothing else: no option that could be tuned. Empty once it is the default.
METHOD: tuple[str, ...] = ()
DEFAULT, GSA = "default", "gsa"
VARIANTS: dict[str, tuple[str, ...]] = {DEFAULT: (), GSA: ("--method", "gsa")}

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Bench:
    greedystep: Path
    folder: Path  # of our own, for files that need not stay
    seeds: int
    jobs: int
    only: tuple[str, ...] = ()

    def wants(self, name: str) -> bool:
        return not self.only or name in self.only


def train(
    bench: Bench, data: Path, model: Path, seed: int, options: Sequence[str | Path] = (), method: Sequence[str] = METHOD
) -> dict[str, Any]:
    """Trains; the summary that the command prints, with the seconds of the whole command as "wall"."""
    command: list[str | Path] = [bench.greedystep, "train", data, "-o", model, "--seed", str(seed), "--quiet", "--json"]
    said, seconds = timed([*command, "--curves=off", *method, *options])
    return {**json.loads(said), "wall": seconds}


def evaluate(bench: Bench, model: Path, data: Path) -> dict[str, float]:
    return json.loads(run([bench.greedystep, "evaluate", model, data, "--json"]))


def forget(model: Path) -> None:
    """Removes a model and its state."""
    model.unlink(missing_ok=True)
    model.with_name(model.name + ".state").unlink(missing_ok=True)


def spread(work: Callable[[T], R], todo: Sequence[T], at_once: int) -> list[R]:
    """All of a list, at_once at a time (the work is done by other processes), in the order of the list."""
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(work, todo))


def update_table(path: Path, header: Sequence[str], lines: Sequence[Line], order: Sequence[str]) -> None:
    """Replaces the lines of the sets that were run (column data) and keeps the others, in the order given."""
    new = {line["data"] for line in lines}
    ranks = {name: at for at, name in enumerate(order)}
    kept = [line for line in read_table(path) if line["data"] not in new and line["data"] in ranks]
    write_table(path, header, sorted([*kept, *lines], key=lambda line: ranks[line["data"]]))
