"""A search by cross-validation: every setting on every fold, scored by log loss; the best is learned on all rows.

The held-out predictions of the best setting also give a calibration: probabilities are raised to the power that makes
their held-out log loss least. Settings are tried in order; a search along strengths ends after three in a row were
worse than the best.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

import rows

PATIENCE = 3
BUDGET = 120.0  # processor seconds of a search, after which no further setting is begun
Setting = TypeVar("Setting")


@dataclass(frozen=True)
class Outcome:
    """Predictions on the rows that judge: probabilities of the labels, which are sorted."""

    seconds: float
    p: np.ndarray
    labels: np.ndarray

    def log_p(self) -> np.ndarray:
        return np.log(np.clip(self.p, 1e-15, 1))


@dataclass(frozen=True)
class Found(Generic[Setting]):
    setting: Setting
    scale: float
    seconds: float
    note: str


@dataclass
class Search(Generic[Setting]):
    """trial(setting, fold) learns without the fold and predicts it; without a fold it predicts the test rows."""

    settings: Sequence[Setting]
    name: Callable[[Setting], str]
    trial: Callable[[Setting, int | None], Outcome]
    held_labels: Sequence[np.ndarray]
    note: str = ""
    patience: int = PATIENCE
    known: str = ""  # the note of another split of the set, whose choice is taken over
    _held: dict[int, list[Outcome]] = field(default_factory=dict)

    def run(self) -> Found[Setting]:
        taken = self._taken_over()
        if taken:
            return taken
        losses: list[float] = []
        spent = 0.0
        cut = ""
        for at, setting in enumerate(self.settings):
            if is_getting_worse(losses, self.patience):
                break
            if spent > BUDGET:
                cut = f"; cut after {BUDGET:g} s"
                break
            outcomes = [self.trial(setting, fold) for fold in range(len(self.held_labels))]
            spent += sum(each.seconds for each in outcomes)
            self._held[at] = outcomes
            losses.append(self._loss(outcomes))
        best = int(np.nanargmin([loss if np.isfinite(loss) else 1e300 for loss in losses]))
        scale = best_scale(self._held[best], self.held_labels)
        tried = f"{len(losses)} of {len(self.settings)} tried on {len(self.held_labels)} folds"
        chosen = f"{self.name(self.settings[best])}; scale={scale:.4g}; held={losses[best]:.6g}"
        note = f"{chosen}; {tried}{self.note}{cut}"
        return Found(self.settings[best], scale, spent, note)

    def _taken_over(self) -> Found[Setting] | None:
        if not self.known:
            return None
        name, scale = self.known.split(";")[0], re.search(r"scale=([0-9.e+-]+)", self.known)
        setting = next((each for each in self.settings if self.name(each) == name), None)
        if setting is None or scale is None:
            return None
        return Found(setting, float(scale[1]), 0.0, f"{name}; scale={scale[1]}; both chosen on split 0{self.note}")

    def _loss(self, outcomes: Sequence[Outcome]) -> float:
        parts = list(known_rows(outcomes, self.held_labels))
        return float(np.concatenate([rows.of_log_probabilities(*part).loss for part in parts]).mean())


def is_getting_worse(losses: Sequence[float], patience: int) -> bool:
    return len(losses) > patience and min(losses[-patience:]) >= min(losses[:-patience])


def known_rows(
    outcomes: Sequence[Outcome], labels: Sequence[np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Log probabilities, their labels and the rows' labels, without rows whose class the fold has never seen."""
    for outcome, y in zip(outcomes, labels, strict=True):
        is_known = np.isin(y, outcome.labels)
        yield outcome.log_p()[is_known], outcome.labels, y[is_known]


def best_scale(outcomes: Sequence[Outcome], labels: Sequence[np.ndarray]) -> float:
    parts = list(known_rows(outcomes, labels))

    def loss(log_scale: float) -> float:
        scale = float(np.exp(log_scale))
        values = [rows.of_log_probabilities(log_softmax(scale * p, axis=1), k, y).loss for p, k, y in parts]
        return float(np.concatenate(values).mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-4, 4), method="bounded").x))


def folds_of(y: np.ndarray, n_folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    enough = np.unique(y, return_counts=True)[1].min() >= n_folds
    kind = StratifiedKFold if enough else KFold
    return list(kind(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y))


def judged(log_p: np.ndarray, labels: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Loss, accuracy and, for two classes, the area under the ROC curve."""
    scores = rows.of_log_probabilities(log_p, labels, y)
    found = {"loss": scores.mean_loss, "accuracy": scores.accuracy}
    if len(labels) == 2 and len(np.unique(y)) == 2:
        found["auc"] = float(roc_auc_score(y == labels[1], log_p[:, 1] - log_p[:, 0]))
    return found
