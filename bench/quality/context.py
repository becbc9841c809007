"""What every stage shares: the command that is measured, a folder for its files, and small tables in csv.

A stage writes one table of this folder and nothing else. With --only the other sets keep their lines.
"""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# The method under test, and nothing else: no option that could be tuned. Empty once it is the default.
METHOD: tuple[str, ...] = ()
DEFAULT, ONE_PASS = "default", "one-pass"
VARIANTS: dict[str, tuple[str, ...]] = {DEFAULT: (), ONE_PASS: ("--passes", "1")}

Line = dict[str, str]
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Bench:
    greedystep: Path
    folder: Path  # of our own, for files that need not stay
    seeds: int
    jobs: int
    only: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()  # of the stage scale, if not its own
    peers: tuple[str, ...] = ()  # of the stage peers, if not all

    def wants(self, name: str) -> bool:
        return not self.only or name in self.only


def run(command: Sequence[str | Path]) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"failed: {' '.join(str(word) for word in command)}\n{done.stderr[-2000:]}")
    return done.stdout


def timed(command: Sequence[str | Path]) -> tuple[str, float]:
    begun = time.monotonic()
    return run(command), time.monotonic() - begun


def train(
    bench: Bench, data: Path, model: Path, seed: int, options: Sequence[str | Path] = (), method: Sequence[str] = METHOD
) -> dict[str, Any]:
    """Trains; the summary that the command prints, with the seconds of the whole command as "wall"."""
    command: list[str | Path] = [bench.greedystep, "train", data, "-o", model, "--seed", str(seed), "--quiet", "--json"]
    said, seconds = timed([*command, *method, *options])
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


def say(text: str) -> None:
    print(text, flush=True)


# ---- numbers and tables ----------------------------------------------------------------------------------------------


def number(value: float) -> str:
    return "nan" if math.isnan(value) else f"{value:.6g}"


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def read_table(path: Path) -> list[Line]:
    """A table of this folder, empty if it has not been made."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def write_table(path: Path, header: Sequence[str], lines: Iterable[Line]) -> None:
    partial = path.with_suffix(".partial")
    with open(partial, "w", newline="", encoding="ascii") as file:
        writer = csv.DictWriter(file, header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    partial.replace(path)


def update_table(path: Path, header: Sequence[str], lines: Sequence[Line], order: Sequence[str]) -> None:
    """Replaces the lines of the sets that were run (column data) and keeps the others, in the order given."""
    new = {line["data"] for line in lines}
    ranks = {name: at for at, name in enumerate(order)}
    kept = [line for line in read_table(path) if line["data"] not in new and line["data"] in ranks]
    write_table(path, header, sorted([*kept, *lines], key=lambda line: ranks[line["data"]]))


def use_paper_modules() -> None:
    """Makes the modules of bench/paper importable, behind those of this folder."""
    path = str(HERE.parent / "paper")
    if path not in sys.path:
        sys.path.insert(1, path)
