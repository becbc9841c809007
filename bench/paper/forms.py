"""Which Adadelta the paper ran: its published cells beside three places for eps (loops.Adadelta), one seed each."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import loops
from datasets import BY_NAME, HERE, Files
from grid import published_methods
from shared import Line, number

TABLE = HERE / "adadelta.csv"
HEADER = ("data", "form", "eps", "pass", "loss", "accuracy")
FORMS = ("zeiler", "printed", "outside")
NAMES = ("w1a", "a9a", "breast-cancer_scale", "letter.scale", "dna.scale", "usps")


def one_run(method: str, rows: list[loops.Rows], passes: int) -> list[tuple[float, float]]:
    rng = np.random.default_rng(0)
    train, test = rows if len(rows) == 2 else loops.split(rows[0], rng)
    train, test = train.with_intercept(), test.with_intercept()
    scores = []
    for w in loops.run(loops.make(method, train, rng), passes, rng):
        p = loops.probabilities(test.margins(w), test.n_classes)
        p_label = np.maximum(p[np.arange(len(test)), test.labels], 1e-300)
        scores.append((float(-np.log(p_label).mean()), float((p.argmax(axis=1) == test.labels).mean())))
    return scores


def measure(data: str, files: Files, folder: Path) -> list[Line]:
    dataset = BY_NAME[data]
    rows = loops.read_set(files, dataset.given_test, folder)
    lines = []
    for method in published_methods(data):
        if not method.startswith("adadelta"):
            continue
        for form in FORMS:
            scores = one_run(f"{method}:{form}", rows, dataset.true_last_pass)
            for at in {1, 2, dataset.true_last_pass}:
                loss, accuracy = scores[at - 1]
                key = (data, form, method.split(":")[1], str(at))
                lines.append(dict(zip(HEADER, (*key, number(loss), number(accuracy)), strict=True)))
    return lines
