"""The 17 sets: where they are, whether they are the originals, and how they are split.

A set with a test file NAME.t is evaluated on it with every seed; the others are split 80/20, anew by every seed. The
parts are written to files, so that every method sees the same rows. Standard library only.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from context import HERE, Bench
from shared import data_directory, find_data, unpack, write_lines

Source = Callable[[str, Path], tuple[Path, Path | None]]  # (name, folder) -> plain training and test file


@dataclass(frozen=True)
class Set:
    name: str
    classes: int
    passes: int  # of the grid
    origin: str  # what the files are, beside those of the LIBSVM site
    source: Source
    heavy: bool = False  # the grid screens its cells with one seed


@dataclass(frozen=True)
class Split:
    """A training and a test file. The seed also orders the rows; it chose the files unless they are fixed."""

    data: str
    seed: int
    train: Path
    test: Path
    fixed: bool

    @property
    def key(self) -> str:
        return f"{self.data}.{self.seed}"


@dataclass(frozen=True)
class Suite:
    """Sets that are run, reported and committed together; tables of another suite have its name in front."""

    name: str
    sets: tuple[Set, ...]

    def table(self, stage: str) -> Path:
        return HERE / (f"{stage}.csv" if self.name == "known" else f"{self.name}-{stage}.csv")

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.sets]

    def chosen(self, bench: Bench) -> list[Set]:
        """The sets asked for, the heavy ones first, so that they do not end a run alone."""
        return sorted((each for each in self.sets if bench.wants(each.name)), key=lambda each: not each.heavy)


def known_files(name: str, folder: Path) -> tuple[Path, Path | None]:
    train, test = find_data(name), find_data(name + ".t")
    if train is None:
        raise SystemExit(f"{name} is not in {data_directory()} (set GREEDYSTEP_DATA_DIR)")
    return unpack(train, folder), unpack(test, folder) if test else None


def known(name: str, classes: int, origin: str, passes: int = 10, heavy: bool = False) -> Set:
    return Set(name, classes, passes, origin, known_files, heavy)


KNOWN = Suite(
    "known",
    (
        known("w1a", 2, "exact"),
        known("a9a", 2, "exact"),
        known("breast-cancer_scale", 2, "rebuilt"),
        known("cod-rna", 2, "exact", passes=5),
        known("madelon", 2, "rebuilt"),
        known("letter.scale", 26, "copy", heavy=True),
        known("dna.scale", 3, "copy"),
        known("usps", 10, "rebuilt", heavy=True),
        known("news20.scale", 20, "rebuilt", heavy=True),
        known("sector.scale", 105, "copy", heavy=True),
        known("mnist.scale", 10, "rebuilt", passes=5, heavy=True),
        known("ipinyou_sample", 2, "sample, re-encoded"),
        known("criteo_8k", 2, "sample, re-encoded"),
        known("susy_30k", 2, "sample, rebuilt"),
        known("mushrooms", 2, "exact"),
        known("ijcnn1.val", 2, "part, copy"),
        known("protein.val", 3, "part, rebuilt"),
    ),
)
HEAVY_SEEDS = 2


def split(of: Set, seed: int, folder: Path) -> Split:
    train, test = of.source(of.name, folder)
    if test:
        return Split(of.name, seed, train, test, True)
    parts = [folder / f"{of.name}.{seed}.{part}" for part in ("train", "test")]
    if not all(part.exists() for part in parts):
        lines = train.read_text(encoding="ascii").splitlines(keepends=True)
        random.Random(seed).shuffle(lines)
        n_test = len(lines) // 5
        write_lines(parts[0], lines[n_test:])
        write_lines(parts[1], lines[:n_test])
    return Split(of.name, seed, parts[0], parts[1], False)


def splits(of: Set, bench: Bench) -> list[Split]:
    return [split(of, seed, bench.folder) for seed in range(min(bench.seeds, HEAVY_SEEDS) if of.heavy else bench.seeds)]
