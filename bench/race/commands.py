"""The rivals that are commands: Vowpal Wabbit and LIBLINEAR; and greedystep, which has nothing to search."""

from __future__ import annotations

import json
import statistics
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

import rows
import vowpal
from common import DEFAULT, Result, Rival, processor_seconds
from search import Parts, search
from shared import VOWPAL, run

STARTS = 5
VOWPAL_WABBIT = Rival("Vowpal Wabbit", version("vowpalwabbit"), "`-l` 0.5, 0.1, 2.5, 0.02 with `--passes` 1, 4, 16", 12)
VOWPAL_SETTINGS = [(rate, passes) for rate in (0.5, 0.1, 2.5, 0.02) for passes in (1, 4, 16)]
LIBLINEAR = Rival("LIBLINEAR", "", "`-s 0 -B 1`, `-c` 1, 10, 0.1, 100, 0.01, 1000, 0.001", 7)
LIBLINEAR_SETTINGS = (1.0, 10.0, 0.1, 100.0, 0.01, 1000.0, 0.001)


def greedystep(command: Path, parts: Parts, seed: int, stem: Path) -> list[Result]:
    model = stem.with_suffix(".model")
    seconds = processor_seconds(
        [command, "train", parts.whole, "-o", model, "--seed", seed, "--threads", 1, "--quiet", "--json"]
    )
    said = json.loads(run([command, "evaluate", model, parts.test, "--json"]))
    return [Result(DEFAULT, seconds, said["log_loss"], said["accuracy"], 0, "")]


@lru_cache
def vowpal_start() -> float:
    """What Python takes before Vowpal Wabbit begins: not its fault, so it is taken off."""
    return statistics.median(processor_seconds([*VOWPAL, "--version"]) for _ in range(STARTS))


def vowpal_wabbit(parts: Parts, budget: float, stem: Path) -> list[Result]:
    """Its text is made beforehand, and its table has a place for every weight; neither is counted."""
    known = rows.read(parts.whole)
    labels = np.unique(known.y)
    names, k = vowpal.class_names(labels), len(labels)
    texts = {path: stem.with_name(f"{path.name}.vw") for path in (parts.whole, parts.learned, parts.held, parts.test)}
    for path, text in texts.items():
        vowpal.write(path, text, names, None)
    kind = ("--link", "logistic") if k == 2 else ("--oaa", str(k), "--probabilities")
    table = ("--loss_function", "logistic", "-b", str(vowpal.bits(known.x.shape[1], k)))
    model, cache, out = (stem.with_name(f"{stem.name}.vw{end}") for end in ("model", "cache", "p"))

    def trial(setting: tuple[float, int], whole: bool) -> tuple[float, float, float]:
        rate, passes = setting
        several = ("--passes", passes, "--holdout_off", "-k", "--cache_file", cache) if passes > 1 else ()
        learned, judged = (parts.whole, parts.test) if whole else (parts.learned, parts.held)
        seconds = processor_seconds(
            [*VOWPAL, "-d", texts[learned], "-f", model, "--quiet", "-l", rate, *table, *kind, *several]
        )
        cache.unlink(missing_ok=True)
        asking = kind[-1:] if k > 2 else ()  # --probabilities is not saved with the model
        run([*VOWPAL, "-d", texts[judged], "-t", "-i", model, "-p", out, "--quiet", *asking])
        p = vowpal.read_predictions(out, k)
        scores = rows.of_probabilities(p / p.sum(axis=1, keepdims=True), labels, rows.read(judged).y)
        return max(seconds - vowpal_start(), 0.0), scores.mean_loss, scores.accuracy

    return search(VOWPAL_SETTINGS, lambda setting: f"-l {setting[0]:g} --passes {setting[1]}", trial, budget)


def liblinear(parts: Parts, budget: float, stem: Path) -> list[Result]:
    model, out = (stem.with_name(f"{stem.name}.ll{end}") for end in ("model", "p"))

    def trial(c: float, whole: bool) -> tuple[float, float, float]:
        learned, judged = (parts.whole, parts.test) if whole else (parts.learned, parts.held)
        seconds = processor_seconds(["liblinear-train", "-s", 0, "-B", 1, "-c", c, "-q", learned, model])
        run(["liblinear-predict", "-b", "1", "-q", judged, model, out])
        head, *lines = out.read_text(encoding="ascii").splitlines()
        labels = np.array([float(word) for word in head.split()[1:]])
        order = np.argsort(labels)
        p = np.array([[float(word) for word in line.split()[1:]] for line in lines])[:, order]
        scores = rows.of_probabilities(p, labels[order], rows.read(judged).y)
        return seconds, scores.mean_loss, scores.accuracy

    return search(LIBLINEAR_SETTINGS, lambda c: f"-c {c:g}", trial, budget)
