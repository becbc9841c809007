"""Vowpal Wabbit from pip: logistic loss, one-against-all with probabilities where there are more classes than two.

It gets two advantages over its defaults: the rows are shuffled by the seed first (it reads them in the order of the
file), and its table is large enough for every weight (-b); the default of 2^18 is too small for news20 and sector.
"""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np


def write(source: Path, target: Path, names: dict[float, str] | None, seed: int | None) -> None:
    """libsvm text as VW's; labels by name, or as they are for None; shuffled if there is a seed."""
    lines = source.read_text(encoding="ascii").splitlines()
    if seed is not None:
        random.Random(seed).shuffle(lines)
    with open(target, "w", encoding="ascii") as out:
        for line in lines:
            label, _, cells = line.strip().partition(" ")
            name = names.get(float(label), "") if names else label
            out.write(f"{name} | {cells}\n")


def class_names(labels: np.ndarray) -> dict[float, str]:
    if len(labels) == 2:
        return {labels[0]: "-1", labels[1]: "1"}
    return {label: str(at + 1) for at, label in enumerate(labels)}


def bits(n_columns: int, n_classes: int) -> int:
    return max(18, math.ceil(math.log2((n_columns + 1) * (n_classes if n_classes > 2 else 1))) + 1)


def read_predictions(path: Path, n_classes: int) -> np.ndarray:
    with open(path, encoding="ascii") as lines:
        if n_classes == 2:
            p = np.array([float(line.split()[0]) for line in lines])
            return np.stack([1 - p, p], axis=1)
        return np.array([[float(word.split(":")[1]) for word in line.split()[:n_classes]] for line in lines])
