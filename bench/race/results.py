"""The table of results: a row per part, set, split and method, appended once measured. The last row of a key counts."""

from __future__ import annotations

import csv
import fcntl
import io
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from shared import read_table, write_table

HEADER = (
    "part",
    "set",
    "split",
    "method",
    "loss",
    "accuracy",
    "auc",
    "cpu_seconds",
    "cpu_seconds_without_reading",
    "note",
    "commit",
    "date",
)
Key = tuple[str, str, int, str]  # part, set, split, method


@dataclass(frozen=True)
class Result:
    """What a method reached on one split. Regression: loss is the mean squared error and accuracy is R2."""

    part: str
    set: str
    split: int
    method: str
    loss: float
    accuracy: float = math.nan
    auc: float = math.nan
    cpu_seconds: float = math.nan
    cpu_seconds_without_reading: float = math.nan
    note: str = ""
    commit: str = ""  # of the greedystep that was measured, or beside which another tool was
    date: str = ""

    @property
    def key(self) -> Key:
        return self.part, self.set, self.split, self.method


def shown(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return str(value)


def append(path: Path, found: Iterable[Result]) -> None:
    """Appends rows. Several processes may do so at once."""
    text = io.StringIO()
    writer = csv.DictWriter(text, HEADER, lineterminator="\n")
    writer.writerows({name: shown(value) for name, value in asdict(each).items()} for each in found)
    with open(path, "a", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if file.tell() == 0:
            file.write(",".join(HEADER) + "\n")
        file.write(text.getvalue())


def number(text: str) -> float:
    return float(text) if text else math.nan


def read(path: Path) -> dict[Key, Result]:
    found = {}
    for line in read_table(path):
        values = {name: number(line[name]) for name in HEADER[4:9]}
        each = Result(
            line["part"],
            line["set"],
            int(line["split"]),
            line["method"],
            **values,
            note=line["note"],
            commit=line["commit"],
            date=line["date"],
        )
        found[each.key] = each
    return found


def compact(path: Path) -> None:
    """Sorts the table and drops the rows that later ones replaced. No run may be appending meanwhile."""
    with open(path, "r+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        kept = [each for _, each in sorted(read(path).items())]
        write_table(path, HEADER, ({name: shown(value) for name, value in asdict(each).items()} for each in kept))
