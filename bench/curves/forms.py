"""One training run of the command with lines, curves or pairs, on one thread, and its loss on other rows."""

from __future__ import annotations

import json
import math
import os
import resource
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import measured_at, run

HERE = Path(__file__).resolve().parent
FORMS = {"lines": ("--curves", "off"), "curves": ("--pairs", "off"), "pairs": ()}  # pairs are the default
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
os.environ.update(ONE_THREAD)  # before numpy is imported
MEASURED = HERE / "measured.json"


@dataclass(frozen=True)
class Fit:
    seconds: float  # of the processor, from text to model
    method: str
    curves: str  # columns that bend; 0: lines were as good; empty: nothing can bend, or it was not tried
    pairs: str  # in the same way
    held_out: float  # mean loss, as printed


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def train(command: Path, form: str, data: Path, model: Path, options: Sequence[object] = ()) -> Fit:
    words = [command, "train", data, *FORMS[form], "--threads", 1, "-o", model, "--json", "--quiet", *options]
    before = children()
    said = json.loads(run(words))
    seconds = children() - before
    curves, pairs = (str(said.get("chosen", {}).get(what, "")) for what in ("curves", "pairs"))
    return Fit(seconds, said["method"], curves, pairs, said.get("held_out_loss", math.nan))


def loss(command: Path, model: Path, data: Path) -> float:
    """Return the log loss, or the root mean square error."""
    said = json.loads(run([command, "evaluate", model, data, "--json"]))
    return said["log_loss" if "log_loss" in said else "rmse"]


def geometric(values: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else math.nan


def note_measured(results: Path) -> None:
    """Keep date, machine and commit of a file of results that is beside this one."""
    if results.resolve().parent == HERE:
        known = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
        known[results.name] = measured_at()
        MEASURED.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
