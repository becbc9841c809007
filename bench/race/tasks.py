"""The splits of every part, as files of libsvm text that are written once to a folder of our own.

(a) The 17 sets of bench/quality and scikit-learn's breast_cancer, wine, iris and digits. A set with a test file is
    evaluated on it, with three exceptions: criteo_8k and sector.scale are joined with their test files and split 80/20
    by five seeds, because 800 and 3,207 test rows are too few; w1a is trained on five samples of 80 % of its training
    rows and evaluated on its whole test file. Sets without a test file are split 80/20 by five seeds.
(c) Arrays: sets of (a) and (e), isolet, and planted ones of 300 x 2000 and 20,000 x 100.
(d) Sets as they are and with a StandardScaler in front ("NAME scaled").
(e) Regression.
(f) One-hot kinds of rows whose best possible loss is known; copies of a file are made in tools.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine, make_friedman1
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import rows
import sets
from shared import partial_name, write_lines

N_SPLITS = 5
RAW = ("breast_cancer", "digits", "iris", "wine")
JOINED = ("criteo_8k", "sector.scale")
SCALED = " scaled"
ARRAYS = (
    *("a9a", "breast-cancer_scale", "breast_cancer", "cod-rna", "digits", "dna.scale", "ijcnn1.val", "iris", "madelon"),
    *("mushrooms", "protein.val", "susy_30k", "w1a", "wine", "letter.scale", "usps", "isolet"),
)


@dataclass(frozen=True)
class Task:
    part: str
    set: str
    split: int
    is_regression: bool
    train: Path
    test: Path


Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # x, y, test x, test y


def names(part: str) -> list[str]:
    """The sets of a part, the cheap ones first."""
    if part == "a":
        heavy = ("usps", "news20.scale", "sector.scale", "mnist.scale")
        return [*RAW, *sorted(name for name in sets.KNOWN.names if name not in heavy), *heavy]
    if part == "c":
        return [*ARRAYS, *ARRAYS_DRAWN, *(f"regression {name}" for name in REGRESSION)]
    if part == "d":
        return [name + end for name in SHIFTED for end in ("", SCALED)]
    if part == "e":
        return list(REGRESSION)
    if part == "u":
        from unseen_sets import LOADERS

        return list(LOADERS)
    return list(KINDS)


def write_arrays(stem: Path, parts: Arrays) -> tuple[Path, Path]:
    files = stem.with_name(stem.name + ".train"), stem.with_name(stem.name + ".test")
    for path, x, y in zip(files, parts[::2], parts[1::2], strict=True):
        partial = partial_name(path)
        rows.write(partial, x, y)
        partial.rename(path)
    return files


def once(stem: Path, make: Callable[[], Arrays]) -> tuple[Path, Path]:
    """The two files of a split, made if they are not there."""
    files = stem.with_name(stem.name + ".train"), stem.with_name(stem.name + ".test")
    return files if all(path.exists() for path in files) else write_arrays(stem, make())


def halves(x: np.ndarray, y: np.ndarray, seed: int, n_test: int | None = None) -> Arrays:
    """Splits rows at random, a fifth for testing unless told otherwise."""
    order = np.random.default_rng(seed).permutation(len(y))
    n_test = n_test or len(y) // 5
    test, train = order[:n_test], order[n_test:]
    return x[train], y[train], x[test], y[test]


# ---- (a) -----------------------------------------------------------------------------------------------------


def bundled(name: str, folder: Path) -> tuple[Path, None]:
    """A set of scikit-learn, in the units it came in."""
    path = folder / name
    if not path.exists():
        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        partial = partial_name(path)
        rows.write(partial, x, y)
        partial.rename(path)
    return path, None


def joined(name: str, folder: Path) -> tuple[Path, None]:
    path = folder / f"{name}.joined"
    if not path.exists():
        train, test = sets.known_files(name, folder)
        write_lines(path, [train.read_text(encoding="ascii"), test.read_text(encoding="ascii")])
    return path, None


def sampled(name: str, seed: int, folder: Path) -> tuple[Path, Path]:
    """A random 80 % of the training rows; the given test file."""
    train, test = sets.known_files(name, folder)
    path = folder / f"{name}.{seed}.sampled"
    if not path.exists():
        lines = train.read_text(encoding="ascii").splitlines(keepends=True)
        random.Random(seed).shuffle(lines)
        write_lines(path, lines[len(lines) // 5 :])
    return path, test


def classification(part: str, name: str, seed: int, folder: Path) -> Task | None:
    """A split of a set of part (a) or the unseen ones; None if there is no such split."""
    source: sets.Source = sets.known_files
    if name in RAW:
        source = bundled
    elif name in JOINED:
        source = joined
    elif part == "u":
        import unseen_sets

        source = unseen_sets.files
    if name == "w1a":
        return Task(part, name, seed, False, *sampled(name, seed, folder))
    made = sets.split(sets.Set(name, 0, 0, "", source), seed, folder)
    return None if made.fixed and seed > 0 else Task(part, name, seed, False, made.train, made.test)


# ---- (c) -------------------------------------------------------------------------------------------------------------


def planted_classes(n: int, d: int, seed: int) -> Arrays:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n + 5000, d))
    margin = x @ rng.standard_normal(d) * (2 / np.sqrt(d))
    y = (rng.random(len(x)) < 1 / (1 + np.exp(-margin))).astype(float)
    return x[:n], y[:n], x[n:], y[n:]


def planted_values(n: int, d: int, seed: int) -> Arrays:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n + 5000, d))
    y = x @ rng.standard_normal(d) / np.sqrt(d) + rng.standard_normal(len(x))
    return x[:n], y[:n], x[n:], y[n:]


ARRAYS_DRAWN: dict[str, tuple[bool, Callable[[int], Arrays]]] = {
    "planted_300x2000": (False, lambda seed: planted_classes(300, 2000, seed)),
    "planted_20000x100": (False, lambda seed: planted_classes(20_000, 100, seed)),
    "values_300x2000": (True, lambda seed: planted_values(300, 2000, seed)),
    "values_20000x100": (True, lambda seed: planted_values(20_000, 100, seed)),
}


# ---- (d) -------------------------------------------------------------------------------------------------------------


def polynomials(seed: int) -> Arrays:
    x, y = load_breast_cancer(return_X_y=True)
    return halves(PolynomialFeatures(2, include_bias=False).fit_transform(x[:, :8]), y, seed)


def units(seed: int) -> Arrays:
    """Columns in units of 1e-3 to 1e4, with means around 1e4."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((2500, 20))
    x[:, 1:] += 0.5 * x[:, :-1]
    y = x @ rng.standard_normal(20) + rng.standard_normal(len(x))
    x = 1e4 * rng.uniform(0.5, 2, 20) + x * np.logspace(-3, 4, 20)
    return x[:2000], y[:2000], x[2000:], y[2000:]


def raw(load: Callable[..., tuple[np.ndarray, np.ndarray]]) -> Callable[[int], Arrays]:
    return lambda seed: halves(*load(return_X_y=True), seed)


SHIFTED: dict[str, tuple[bool, Callable[[int], Arrays]]] = {
    "breast_cancer": (False, raw(load_breast_cancer)),
    "wine": (False, raw(load_wine)),
    "digits": (False, raw(load_digits)),
    "breast_cancer_polynomials": (False, polynomials),
    "units": (True, units),
}


def scaled(parts: Arrays) -> Arrays:
    x, y, x_test, y_test = parts
    scaler = StandardScaler().fit(x)
    return scaler.transform(x), y, scaler.transform(x_test), y_test


# ---- (e) -------------------------------------------------------------------------------------------------------------


def friedman(seed: int) -> Arrays:
    return halves(*make_friedman1(2500, noise=1.0, random_state=seed), seed)


def heavy_tails(seed: int) -> Arrays:
    """Noise of Student's t with 2 degrees of freedom."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((4000, 30))
    y = x @ rng.standard_normal(30) / np.sqrt(30) + rng.standard_t(2, len(x))
    return x[:2000], y[:2000], x[2000:], y[2000:]


REGRESSION: dict[str, Callable[[int], Arrays]] = {
    "diabetes": lambda seed: halves(*load_diabetes(return_X_y=True, scaled=False), seed),
    "friedman1": friedman,
    "planted_20000x100": lambda seed: planted_values(20_000, 100, 1000 + seed),
    "planted_200x500": lambda seed: planted_values(200, 500, 1000 + seed),
    "heavy_tails": heavy_tails,
}


# ---- (f) -------------------------------------------------------------------------------------------------------------

KINDS = {"4_kinds_x_250": (4, 250), "370_kinds_x_540": (370, 540)}


def kinds(name: str) -> Arrays:
    """One-hot rows, each kind with a chance of its own; the rows that are learned also judge."""
    from scipy.sparse import csr_matrix

    n_kinds, n_each = KINDS[name]
    rng = np.random.default_rng(n_kinds)
    chance = np.array([0.1, 0.3, 0.6, 0.9]) if n_kinds == 4 else 1 / (1 + np.exp(-1.5 * rng.standard_normal(n_kinds)))
    of_row = rng.permutation(np.repeat(np.arange(n_kinds), n_each))
    y = (rng.random(len(of_row)) < chance[of_row]).astype(float)
    x = csr_matrix((np.ones(len(y)), of_row, np.arange(len(y) + 1)), shape=(len(y), n_kinds))
    return x, y, x, y


# ---- all -------------------------------------------------------------------------------------------------------------


def task(part: str, name: str, split: int, folder: Path) -> Task | None:
    """A split of a set, its files written; None if the set has fewer splits."""
    stem = folder / f"{part}.{name.replace(' ', '_')}.{split}"
    if part in "au" or (part == "c" and name in ARRAYS):
        return None if part == "c" and split else classification(part, name, split, folder)
    if part == "c" and split == 0:
        if name in ARRAYS_DRAWN:
            is_regression, make = ARRAYS_DRAWN[name]
            return Task(part, name, 0, is_regression, *once(stem, lambda: make(0)))
        of = name.removeprefix("regression ")
        return Task(part, name, 0, True, *once(folder / f"e.{of}.0", lambda: REGRESSION[of](0)))
    if part == "d":
        is_regression, make = SHIFTED[name.removesuffix(SCALED)]
        return Task(
            part, name, split, is_regression, *once(stem, lambda: (scaled if SCALED in name else tuple)(make(split)))
        )
    if part == "e":
        return Task(part, name, split, True, *once(stem, lambda: REGRESSION[name](split)))
    if part == "f" and split == 0:
        return Task(part, name, 0, False, *once(stem, lambda: kinds(name)))
    return None


def tasks(parts: str, wanted: list[str], n_splits: int, folder: Path) -> Iterator[Task]:
    """Split 0 of every set first, then split 1, ..."""
    folder.mkdir(parents=True, exist_ok=True)
    for split in range(n_splits):
        for part in parts:
            for name in names(part):
                if not wanted or name in wanted:
                    made = task(part, name, split, folder)
                    if made:
                        yield made
