"""What the files of this folder share: where things are, processor seconds of a command, and the table."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# The rows, the splits and the scores are those of bench/quality.
sys.path.append(str(Path(__file__).resolve().parent.parent / "quality"))
sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import run

HERE = Path(__file__).resolve().parent
TABLE, ABOUT = HERE / "race.csv", HERE / "about.json"

GREEDYSTEP = "greedystep"
DEFAULT, TUNED = "default", "tuned"  # as it comes; after its search
HEADER = ("data", "tool", "state", "seed", "seconds", "loss", "accuracy", "cells", "chosen")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Rival:
    name: str
    version: str
    grid: str  # what its search tries, in words
    cells: int


@dataclass(frozen=True)
class Result:
    """A model on all rows of training: what it took, the search included, and what it is worth on the test rows."""

    state: str
    seconds: float
    loss: float
    accuracy: float
    cells: int  # settings that were tried before, within the budget
    chosen: str


def processor_seconds(command: Iterable[object]) -> float:
    """Of a command that must succeed, user and system. On a machine with other work they say more than a clock."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command, os.environ | ONE_THREAD)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
