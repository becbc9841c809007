"""Code that the scripts of this folder share: runs of the command on files and pipes, generated rows, result tables.

Generated rows come from rows.c, which is compiled into the folder of a run.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import Line, number, read_table, run, say, write_table

HERE = Path(__file__).resolve().parent
FILE, PIPE = "file", "pipe"
NOW, BEFORE = "now", "before"
GSA = ("--method", "gsa")
# A constant of the method: rows that are more cells are learned by greedy step averaging (docs/method.md).
MAX_CELLS = 2**28
Given = tuple[Path | None, Sequence[object] | None]  # rows of a file, or the command that prints them
SHORT = 1.0  # seconds; shorter runs are repeated


class FailedError(Exception):
    """A command that did not succeed; the message is what it printed."""


# ---- the command -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Used:
    """The processor seconds and the peak memory of one process."""

    text: str
    seconds: float
    megabytes: float


@dataclass(frozen=True)
class Learned:
    """A training run and its loss on test rows: log loss and accuracy, or RMSE and R2. NaN if the run failed."""

    loss: float
    score: float
    seconds: float
    megabytes: float
    method: str = ""
    passes: str = ""
    scale: str = ""
    note: str = ""

    def cells(self) -> dict[str, str]:
        return {
            "method": self.method,
            "passes": self.passes,
            "scale": self.scale,
            "loss": number(self.loss),
            "score": number(self.score),
            "seconds": f"{self.seconds:.3f}",
            "note": self.note,
        }


LEARNED = ("method", "passes", "scale", "loss", "score", "seconds", "note")


def measure(command: Iterable[object], source: Iterable[object] | None = None) -> Used:
    """Runs a command, with the output of another as its input; only the first is measured."""
    words = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        feeder = subprocess.Popen([str(word) for word in source], stdout=subprocess.PIPE) if source else None
        given = feeder.stdout if feeder else subprocess.DEVNULL
        process = subprocess.Popen(words, stdin=given, stdout=output, stderr=errors)
        if feeder and feeder.stdout:
            feeder.stdout.close()  # the command's end is the only one, so that the feeder notices if it closes
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        fed = feeder.wait() if feeder else 0
        errors.seek(0)
        if process.returncode != 0:
            raise FailedError((errors.read().split("\n")[0] or f"exit code {process.returncode}").strip())
        if fed != 0:
            raise SystemExit(f"failed with {fed}: the input of {' '.join(words)}")
        output.seek(0)
        return Used(output.read(), used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)


def test_loss(greedystep: Path, model: Path, test: Path) -> tuple[float, float]:
    said = json.loads(run([greedystep, "evaluate", model, test, "--json", "--quiet"]))
    return (said["log_loss"], said["accuracy"]) if "log_loss" in said else (said["rmse"], said["r2"])


def learn(
    greedystep: Path,
    data: Path | None,
    source: Sequence[object] | None,
    test: Path,
    options: Sequence[object] = (),
    repeats: int = 1,
    model: Path | None = None,
) -> Learned:
    """Trains on one thread from a file or from the output of a command; processor seconds are the median of repeats."""
    with tempfile.TemporaryDirectory() as folder:
        path = model or Path(folder) / "model"
        words = [greedystep, "train", data or "-", "-o", path, "--threads", "1", "--quiet", "--json", *options]
        words.append("--curves=off")
        try:
            used = [measure(words, source)]
            while len(used) < repeats and used[0].seconds < SHORT:
                used.append(measure(words, source))
        except FailedError as error:
            return Learned(math.nan, math.nan, math.nan, math.nan, note=str(error))
        said: dict[str, Any] = json.loads(used[0].text)
        loss, score = test_loss(greedystep, path, test)
    standardised = said.get("chosen", {}).get("standardised")
    return Learned(
        loss,
        score,
        statistics.median(each.seconds for each in used),
        max(each.megabytes for each in used),
        said["method"],
        str(said.get("passes", "")),
        "" if standardised is None else "standard" if standardised else "none",
    )


# ---- generated rows --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """A problem of rows.c, with the numbers that the bound counts."""

    name: str
    title: str
    n_entries: int
    n_features: int
    n_outputs: int = 1

    def rows_of(self, cells: float) -> int:
        """Returns the number of rows that take so many cells."""
        per_row = 4 * self.n_entries + 24 * self.n_outputs
        return int((cells - 64 * self.n_features * self.n_outputs) / per_row)


PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem("dense", "20 columns, two classes", 20, 20),
        Problem("clicks", "20 of 100,000 features, two classes", 20, 100_000),
        Problem("classes", "20 columns, ten classes", 20, 20, 10),
        Problem("numbers", "20 columns, regression", 20, 20),
        Problem("text", "60 of 49,980 features with values, two classes", 60, 49_980),
        Problem("drift", "clicks, weights that turn by 46 degrees", 20, 100_000),
        Problem("clock", "a time and 8 columns, two classes", 9, 9),
    )
}


class Rows:
    """rows.c, compiled."""

    def __init__(self, folder: Path) -> None:
        self.program = folder / "generator"
        flags = ("-std=c17", "-D_GNU_SOURCE", "-O2", "-o")
        run([os.environ.get("CC", "cc"), *flags, self.program, HERE / "rows.c", "-lm"])

    def command(
        self, problem: str, order: str, rows: int, seed: int = 1, weights: int = 1, skip: int = 0
    ) -> list[object]:
        return [self.program, problem, order, rows, seed, weights, skip]

    def write(self, path: Path, *arguments: Any, **options: Any) -> Path:
        with open(path, "wb") as file:
            words = [str(word) for word in self.command(*arguments, **options)]
            subprocess.run(words, stdout=file, check=True)
        return path

    def loss(self, problem: str, rows: int, seed: int, weights: int = 1) -> float:
        """Returns the loss of the weights that made these rows, on these rows."""
        return float(run(self.command(problem, "loss", rows, seed, weights)))


# ---- results ---------------------------------------------------------------------------------------------------------


class Table:
    """A csv file whose lines are replaced by those of the same key, each as soon as it is measured."""

    def __init__(self, path: Path, key: Sequence[str], values: Sequence[str]) -> None:
        self.path, self.key, self.header = path, tuple(key), (*key, *values)
        self.lines = {self.key_of(line): line for line in read_table(path)}

    def key_of(self, line: Line) -> tuple[str, ...]:
        return tuple(line[name] for name in self.key)

    def add(self, line: Line) -> None:
        say("  ".join(line[name] for name in self.header if line[name]))
        self.lines[self.key_of(line)] = line
        write_table(self.path, self.header, self.lines.values())

    def values(self, name: str, **wanted: str) -> list[str]:
        """Returns the different values of a column, in the order of the file."""
        return list(dict.fromkeys(line[name] for line in self.chosen(**wanted)))

    def chosen(self, **wanted: str) -> Iterator[Line]:
        return (line for line in self.lines.values() if all(line[name] == value for name, value in wanted.items()))

    def one(self, **wanted: str) -> Line | None:
        return next(self.chosen(**wanted), None)


def value(line: Line | None, name: str) -> float:
    with suppress(ValueError):
        return float(line[name]) if line else math.nan
    return math.nan


def shown(loss: float) -> str:
    return "–" if math.isnan(loss) else f"{loss:.5f}"


def seconds(line: Line | None) -> str:
    took = value(line, "seconds")
    return "–" if math.isnan(took) else f"{took:.2f}"


def ratio(a: float, b: float, digits: int = 3) -> str:
    return "–" if math.isnan(a) or math.isnan(b) or b == 0 else f"{a / b:.{digits}f}"
