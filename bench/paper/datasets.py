"""The paper's 16 data sets: their files here and on the LIBSVM site, and how the paper split and evaluated them.

A data set is present if the data directory holds its training file and, where the paper used one, its test file, under
the name used here or the LIBSVM site's, plain or compressed.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import find_data, unpack, write_lines

HERE = Path(__file__).resolve().parent

PAPER_SPLIT = "paper-split"
GIVEN_TEST = "given-test"


@dataclass(frozen=True)
class Dataset:
    name: str
    classes: int
    passes: int
    given_test: bool  # the paper evaluated on the site's test file; otherwise on a fifth of the training file
    site_train: str
    site_test: str | None = None
    last_pass: int = 0  # the pass that the column labelled `passes` really shows, if another (docs/paper.md); else 0
    sorted_by_label: bool = False  # in long runs, which shuffling in blocks may not mix

    @property
    def true_last_pass(self) -> int:
        return self.last_pass or self.passes

    @property
    def run_passes(self) -> int:
        """How many passes we run: not beyond what the paper shows where a pass is dear."""
        return self.true_last_pass if self.classes > 100 else self.passes

    @property
    def binary(self) -> bool:
        return self.classes == 2

    @property
    def split(self) -> str:
        return "given test set" if self.given_test else "80/20 of the training file"


@dataclass(frozen=True)
class Files:
    """Where a data set was found; test is None if there is none."""

    train: Path
    test: Path | None


DATASETS = (
    Dataset("w1a", 2, 5, True, "binary/w1a", "binary/w1a.t"),
    Dataset("a9a", 2, 5, False, "binary/a9a", "binary/a9a.t"),
    Dataset("breast-cancer_scale", 2, 5, False, "binary/breast-cancer_scale"),
    Dataset("cod-rna", 2, 5, False, "binary/cod-rna", "binary/cod-rna.t", sorted_by_label=True),
    Dataset("madelon", 2, 20, True, "binary/madelon", "binary/madelon.t"),
    Dataset("gisette_scale", 2, 5, True, "binary/gisette_scale.bz2", "binary/gisette_scale.t.bz2"),
    Dataset("url", 2, 5, False, "binary/url_combined.bz2"),
    Dataset("letter.scale", 26, 10, False, "multiclass/letter.scale", "multiclass/letter.scale.t", 5),
    Dataset("dna.scale", 3, 10, True, "multiclass/dna.scale", "multiclass/dna.scale.t", 5),
    Dataset("usps", 10, 5, True, "multiclass/usps.bz2", "multiclass/usps.t.bz2"),
    Dataset("protein", 3, 5, True, "multiclass/protein.bz2", "multiclass/protein.t.bz2"),
    Dataset("news20.scale", 20, 5, True, "multiclass/news20.scale.bz2", "multiclass/news20.t.scale.bz2"),
    Dataset(
        "sector.scale", 105, 10, True, "multiclass/sector/sector.scale.bz2", "multiclass/sector/sector.t.scale.bz2", 5
    ),
    Dataset("mnist.scale", 10, 5, False, "multiclass/mnist.scale.bz2", "multiclass/mnist.scale.t.bz2"),
    Dataset("aloi.scale", 1000, 5, False, "multiclass/aloi.scale.bz2"),
    Dataset(
        "rcv1.multiclass", 53, 5, True, "multiclass/rcv1_train.multiclass.bz2", "multiclass/rcv1_test.multiclass.bz2"
    ),
)

BY_NAME = {dataset.name: dataset for dataset in DATASETS}


def _site_stem(site: str) -> str:
    name = site.rsplit("/", 1)[-1]
    return name.removesuffix(".bz2").removesuffix(".xz")


def locate(dataset: Dataset) -> Files | None:
    """The files of a data set, or None if those that the paper used are not all there."""
    train = find_data(dataset.name, _site_stem(dataset.site_train))
    test = None
    if dataset.site_test:
        test = find_data(dataset.name + ".t", _site_stem(dataset.site_test))
    if train is None or (dataset.given_test and test is None):
        return None
    return Files(train, test)


def training_file(dataset: Dataset, files: Files, folder: Path) -> Path:
    """The plain training file, its rows shuffled once (always the same way) if they come sorted."""
    plain = unpack(files.train, folder)
    if not dataset.sorted_by_label:
        return plain
    mixed = folder / "mixed" / plain.name
    if not mixed.exists():
        mixed.parent.mkdir(exist_ok=True)
        lines = plain.read_text(encoding="ascii").splitlines(keepends=True)
        random.Random(8192).shuffle(lines)
        write_lines(mixed, lines)
    return mixed


def present_and_missing() -> tuple[dict[str, Files], list[str]]:
    present: dict[str, Files] = {}
    missing: list[str] = []
    for dataset in DATASETS:
        files = locate(dataset)
        if files is None:
            missing.append(dataset.name)
        else:
            present[dataset.name] = files
    return present, missing
