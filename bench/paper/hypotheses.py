"""Why a published number of GSA may differ from ours: two or three changes each, tried and tabulated, then left.

Every hypothesis is one change to the numpy loop of Algorithm 1 (or to its data), on the split of datasets.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import loops
from datasets import BY_NAME, HERE, Files
from loops import Rows, Variant
from printed import printed_loss
from shared import Line, number

TABLE = HERE / "hypotheses.csv"
SCORES = ("loss", "loss_min", "loss_max", "accuracy", "accuracy_min", "accuracy_max")
HEADER = ("data", "method", "hypothesis", "pass", "n_seeds", *SCORES)
Scaling = Callable[[Rows, Rows], tuple[Rows, Rows]]


def shorter_rows(train: Rows, test: Rows) -> tuple[Rows, Rows]:
    half = np.sqrt(0.5)
    return replace(train, values=train.values * half), replace(test, values=test.values * half)


def _dense(rows: Rows) -> np.ndarray:
    out = np.zeros((len(rows), rows.n_columns))
    out[np.repeat(np.arange(len(rows)), np.diff(rows.starts)), rows.columns] = rows.values
    return out


def _sparse(like: Rows, x: np.ndarray) -> Rows:
    n, k = x.shape
    return Rows(np.arange(n + 1) * k, np.tile(np.arange(k), n), x.ravel(), like.labels, k, like.n_classes)


def unit_rows(train: Rows, test: Rows) -> tuple[Rows, Rows]:
    a, b = (_dense(rows) for rows in (train, test))
    return tuple(_sparse(r, x / np.linalg.norm(x, axis=1, keepdims=True)) for r, x in ((train, a), (test, b)))


def to_minus_one_one(train: Rows, test: Rows) -> tuple[Rows, Rows]:
    a, b = (_dense(rows) for rows in (train, test))
    low, width = a.min(axis=0), np.ptp(a, axis=0)
    return tuple(_sparse(r, 2 * (x - low) / width - 1) for r, x in ((train, a), (test, b)))


@dataclass(frozen=True)
class Hypothesis:
    data: str
    label: str
    seeds: int = 3
    method: str = "paper"
    intercept: bool = True
    order: loops.Order = loops.shuffled
    scaling: Scaling | None = None
    share: float = 1.0  # of the training rows, a new draw for every seed
    given_test: bool | None = None  # None: as datasets.py says
    variant: Variant = field(default_factory=Variant)


HYPOTHESES = (
    Hypothesis("letter.scale", "as we run it: 80/20"),
    Hypothesis("letter.scale", "no intercept", intercept=False),
    Hypothesis("letter.scale", "given test set, all 15000 rows", given_test=True),
    Hypothesis("letter.scale", "rows in the order of the file", order=loops.as_stored),
    Hypothesis("dna.scale", "as we run it"),
    Hypothesis("dna.scale", "no intercept", intercept=False),
    Hypothesis("dna.scale", "class 0 without weights", variant=Variant(reference_class=True)),
    Hypothesis("news20.scale", "as we run it", 2),
    Hypothesis("news20.scale", "no intercept", 2, intercept=False),
    Hypothesis("news20.scale", "rows of squared length 1/2", 2, scaling=shorter_rows),
    Hypothesis(
        "news20.scale",
        "rows of squared length 1/2, intercept counted twice in x.x",
        2,
        scaling=shorter_rows,
        variant=Variant(extra_length=1.0),
    ),
    Hypothesis("news20.scale", "half of the training rows", 2, share=0.5),
    Hypothesis("news20.scale", "as we run it", 2, "sgd:0.1"),
    Hypothesis("news20.scale", "rows of squared length 1/2", 2, "sgd:0.1", scaling=shorter_rows),
    Hypothesis("sector.scale", "as we run it", 2),
    Hypothesis("sector.scale", "no intercept", 2, intercept=False),
    Hypothesis("sector.scale", "rows in the order of the file", 2, order=loops.as_stored),
    Hypothesis("sector.scale", "intercept counted twice in x.x", 2, variant=Variant(extra_length=1.0)),
    Hypothesis("madelon", "as we run it, 20 seeds", 20),
    Hypothesis("madelon", "rows in the order of the file", 1, order=loops.as_stored),
    Hypothesis("madelon", "rows of length 1", 3, scaling=unit_rows),
    Hypothesis("cod-rna", "as we run it: raw"),
    Hypothesis("cod-rna", "no intercept", intercept=False),
    Hypothesis("cod-rna", "rows of length 1", scaling=unit_rows),
    Hypothesis("cod-rna", "features in [-1, 1]", scaling=to_minus_one_one),
)


def one_run(what: Hypothesis, rows: list[Rows], seed: int, passes: int) -> list[tuple[float, float]]:
    rng = np.random.default_rng(seed)
    train, test = rows if len(rows) == 2 else loops.split(rows[0], rng)
    if what.share < 1:
        train = train.take(np.sort(rng.permutation(len(train))[: int(what.share * len(train))]))
    if what.scaling:
        train, test = what.scaling(train, test)
    if what.intercept:
        train, test = train.with_intercept(), test.with_intercept()
    scores = []
    for w in loops.run(loops.make(what.method, train, rng, what.variant), passes, rng, what.order):
        p = loops.probabilities(test.margins(w), test.n_classes)
        p_label = p[np.arange(len(test)), test.labels]
        if what.data == "cod-rna":
            loss = printed_loss(what.data, what.method, p[:, 1], test.labels)
        else:
            loss = float(-np.log(np.maximum(p_label, 1e-300)).mean())
        scores.append((loss, float((p.argmax(axis=1) == test.labels).mean())))
    return scores


def measure(what: Hypothesis, files: Files, folder: Path) -> list[Line]:
    dataset = BY_NAME[what.data]
    rows = loops.read_set(files, dataset.given_test if what.given_test is None else what.given_test, folder)
    scores = np.array([one_run(what, rows, seed, dataset.true_last_pass) for seed in range(what.seeds)])
    lines = []
    for at in range(dataset.true_last_pass):
        values = [f(scores[:, at, m]) for m in (0, 1) for f in (np.mean, np.min, np.max)]
        key = (what.data, what.method, what.label, str(at + 1), str(what.seeds))
        lines.append(dict(zip(HEADER, (*key, *map(number, values)), strict=True)))
    return lines
