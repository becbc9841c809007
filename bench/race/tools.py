"""Commands: greedystep, LIBLINEAR and Vowpal Wabbit, each with one thread.

Processor seconds are those of the training process, the median of five if it is short. Reading is measured separately
and subtracted for cpu_seconds_without_reading: `greedystep convert` to a cache, LIBLINEAR with a tolerance that ends it
at once, Vowpal Wabbit with --noop. Vowpal Wabbit comes with Python around it: wabbit.py counts its own seconds only.
"""

from __future__ import annotations

import itertools
import json
import math
import resource
import statistics
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

import rows
import vowpal
from estimators_of_sklearn import HEAVY, both
from results import Result
from shared import VOWPAL, run
from tasks import Task
from tuning import Outcome, Search, folds_of, judged

SHORT = 1.0  # seconds below which a fit is timed REPEATS times
REPEATS = 5
COSTS = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0)
HEAVY_COSTS = {"mnist.scale": COSTS[1:6], "news20.scale": COSTS[2:], "sector.scale": COSTS[2:]}
PASSES = ("", "--passes 5", "--passes 20")
VOWPAL_SETTINGS = {  # the first is the default
    "VW": [" ".join(filter(None, each)) for each in itertools.product(("", "-l 0.1", "-l 2.5"), PASSES)],
    "VW freegrad": [" ".join(filter(None, ("--freegrad", passes))) for passes in PASSES],
}
WABBIT = Path(__file__).with_name("wabbit.py")


def processor_seconds(command: Iterable[object]) -> float:
    """User and system seconds of a command that must succeed: other work on the machine disturbs them little."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def median_of(measure: Callable[[], float], repeats: int = REPEATS) -> float:
    spent = [measure()]
    while len(spent) < repeats and spent[0] < SHORT:
        spent.append(measure())
    return statistics.median(spent)


def seconds_of(command: Iterable[object], repeats: int = REPEATS) -> float:
    words = list(command)
    return median_of(lambda: processor_seconds(words), repeats)


# ---- greedystep ------------------------------------------------------------------------------------------------------


def greedystep(task: Task, command: Path, method: str, stem: Path) -> list[Result]:
    model, cache = stem.with_suffix(".model"), stem.with_suffix(".gsac")
    loss = ("--loss", "squared") if task.is_regression else ()
    reading = seconds_of([command, "convert", task.train, "-o", cache, "--quiet"])
    seconds = seconds_of(
        [command, "train", "--curves=off", task.train, "-o", model, "--threads", 1, "--quiet", "--json", *loss]
    )
    said = json.loads(run([command, "evaluate", model, task.test, "--json"]))
    for path in (model, cache, model.with_name(model.name + ".state")):
        path.unlink(missing_ok=True)
    if task.is_regression:
        found = {"loss": said["rmse"] ** 2, "accuracy": said["r2"]}
    else:
        found = {
            name: said[key]
            for name, key in (("loss", "log_loss"), ("accuracy", "accuracy"), ("auc", "auc"))
            if key in said
        }
    return [
        Result(
            *(task.part, task.set, task.split, method),
            **found,
            cpu_seconds=seconds,
            cpu_seconds_without_reading=max(seconds - reading, 0.0),
        )
    ]


# ---- folds as files --------------------------------------------------------------------------------------------------


class Folds:
    """The training file and its folds as text: (learned, held out) by fold, (all rows, test rows) for None."""

    def __init__(self, task: Task, stem: Path) -> None:
        lines = np.array(task.train.read_text(encoding="ascii").splitlines(keepends=True), dtype=object)
        y = rows.read(task.train).y
        self.files: dict[int | None, tuple[Path, Path]] = {None: (task.train, task.test)}
        self.held_labels, self.made = [], []
        for fold, (learned, held) in enumerate(folds_of(y, 3 if task.set in HEAVY else 5, task.split)):
            pair = stem.with_suffix(f".{fold}.learned"), stem.with_suffix(f".{fold}.held")
            for path, chosen in zip(pair, (learned, held), strict=True):
                path.write_text("".join(lines[chosen]), encoding="ascii")
            self.files[fold] = pair
            self.held_labels.append(y[held])
            self.made += pair

    def remove(self) -> None:
        for path in self.made:
            path.unlink(missing_ok=True)


def single(task: Task, method: str, outcome: Outcome, reading: float, note: str = "") -> list[Result]:
    y = rows.read(task.test).y
    return [
        Result(
            *(task.part, task.set, task.split, method),
            **judged(outcome.log_p(), outcome.labels, y),
            cpu_seconds=outcome.seconds,
            cpu_seconds_without_reading=max(outcome.seconds - reading, 0.0),
            note=note,
        )
    ]


# ---- LIBLINEAR -------------------------------------------------------------------------------------------------------


def liblinear_trial(solver: int, c: float, learned: Path, held: Path, stem: Path, repeats: int = 1) -> Outcome:
    model, out = stem.with_suffix(".liblinear"), stem.with_suffix(".p")
    seconds = seconds_of(["liblinear-train", "-s", solver, "-B", 1, "-c", c, "-q", learned, model], repeats=repeats)
    run(["liblinear-predict", "-b", "1", "-q", held, model, out])
    head, *lines = out.read_text(encoding="ascii").splitlines()
    labels = np.array([float(word) for word in head.split()[1:]])
    order = np.argsort(labels)
    p = np.array([[float(word) for word in line.split()[1:]] for line in lines])[:, order]
    for path in (model, out):
        path.unlink()
    return Outcome(seconds, p, labels[order])


def liblinear_reading(task: Task, stem: Path) -> float:
    model = stem.with_suffix(".liblinear")
    seconds = seconds_of(["liblinear-train", "-s", 0, "-B", 1, "-e", 1e30, "-q", task.train, model])
    model.unlink()
    return seconds


def liblinear(task: Task, solver: int, stem: Path) -> list[Result]:
    outcome = liblinear_trial(solver, 1.0, task.train, task.test, stem, repeats=REPEATS)
    return single(task, f"LIBLINEAR -s {solver}", outcome, liblinear_reading(task, stem))


def liblinear_tuned(task: Task, stem: Path, known: str) -> list[Result]:
    folds = Folds(task, stem)
    costs = HEAVY_COSTS.get(task.set, COSTS)

    def trial(c: float, fold: int | None) -> Outcome:
        return liblinear_trial(0, c, *folds.files[fold], stem)

    found = Search(costs, lambda c: f"-c {c:g}", trial, folds.held_labels, "; -s 0", known=known).run()
    outcome, reading = trial(found.setting, None), liblinear_reading(task, stem)
    folds.remove()
    y = rows.read(task.test).y
    seconds = found.seconds + outcome.seconds - reading  # the folds' reading is part of the search
    return both(task, "LIBLINEAR tuned", outcome, found.scale, y, reading, seconds, found.note)


# ---- Vowpal Wabbit ---------------------------------------------------------------------------------------------------


class Vowpal:
    """Text of its own, shuffled, made beforehand and not counted; its table has a place for every weight."""

    def __init__(self, task: Task, stem: Path) -> None:
        known = rows.read(task.train)
        self.stem, self.labels = stem, np.unique(known.y)
        self.names, k = vowpal.class_names(self.labels), len(self.labels)
        self.kind = ("--link", "logistic") if k == 2 else ("--oaa", str(k), "--probabilities")
        self.table = ("--loss_function", "logistic", "-b", str(vowpal.bits(known.x.shape[1], k)))
        self.texts: dict[Path, Path] = {}

    def text(self, path: Path, seed: int | None) -> Path:
        if path not in self.texts:
            self.texts[path] = self.stem.with_name(f"{path.name}.vw")
            vowpal.write(path, self.texts[path], self.names, seed)
        return self.texts[path]

    def reading(self, learned: Path) -> float:
        return self.seconds(["-d", self.text(learned, 0), "--noop", "--quiet"])

    @staticmethod
    def seconds(options: Iterable[object], repeats: int = REPEATS) -> float:
        """Processor seconds of Vowpal Wabbit itself, all its threads."""
        command = [sys.executable, WABBIT, *options]
        return median_of(lambda: float(run(command).split()[-1]), repeats)

    def trial(self, options: str, learned: Path, held: Path, repeats: int = 1) -> Outcome:
        model, cache, out = (self.stem.with_suffix(end) for end in (".vwmodel", ".vwcache", ".vwp"))
        several = ("--holdout_off", "-k", "--cache_file", cache) if "--passes" in options else ()
        files = ("-d", self.text(learned, 0), "-f", model, "--quiet")
        seconds = self.seconds([*files, *self.table, *self.kind, *options.split(), *several], repeats)
        k = len(self.labels)
        asking = self.kind[-1:] if k > 2 else ()  # --probabilities is not saved with the model
        run([*VOWPAL, "-d", self.text(held, None), "-t", "-i", model, "-p", out, "--quiet", *asking])
        p = vowpal.read_predictions(out, k)
        for path in (model, cache, out):
            path.unlink(missing_ok=True)
        total = p.sum(axis=1, keepdims=True)
        p = np.where(np.isfinite(total) & (total > 0), p / np.where(total > 0, total, 1.0), 1 / k)
        return Outcome(seconds, p, self.labels)

    def remove(self) -> None:
        for path in self.texts.values():
            path.unlink(missing_ok=True)


def vowpal_default(task: Task, stem: Path, method: str) -> list[Result]:
    wabbit = Vowpal(task, stem)
    outcome = wabbit.trial(VOWPAL_SETTINGS[method][0], task.train, task.test, REPEATS)
    reading = wabbit.reading(task.train)
    wabbit.remove()
    return single(task, method, outcome, reading)


def vowpal_tuned(task: Task, stem: Path, method: str, known: str) -> list[Result]:
    folds, wabbit = Folds(task, stem), Vowpal(task, stem)
    settings = VOWPAL_SETTINGS[method]
    found = Search(
        settings,
        lambda options: options or "default",
        lambda setting, fold: wabbit.trial(setting, *folds.files[fold]),
        folds.held_labels,
        patience=len(settings),
        known=known,
    ).run()
    outcome, reading = wabbit.trial(found.setting, task.train, task.test), wabbit.reading(task.train)
    folds.remove()
    wabbit.remove()
    seconds = max(found.seconds + outcome.seconds - reading, 0.0)
    return both(task, f"{method} tuned", outcome, found.scale, rows.read(task.test).y, reading, seconds, found.note)


# ---- part (f) --------------------------------------------------------------------------------------------------------

COPIES = (2, 3, 5)
COPIED = ("iris", "breast-cancer_scale", "dna.scale", "w1a", "a9a")


def copies(name: str, train: Path, command: Path, method: str, stem: Path) -> list[Result]:
    """Trains on k copies of a file, one after the other in one file, and compares the bytes of the models."""
    text, models = train.read_text(encoding="ascii"), {}
    data, model = stem.with_suffix(".copies"), stem.with_suffix(".model")
    for k in (1, *COPIES):
        data.write_text(text * k, encoding="ascii")
        run([command, "train", "--curves=off", data, "-o", model, "--threads", 1, "--quiet", "--json"])
        loss = json.loads(run([command, "evaluate", model, train, "--json"]))["log_loss"]
        models[k] = model.read_bytes(), loss
    for path in (data, model, model.with_name(model.name + ".state")):
        path.unlink(missing_ok=True)
    one = models[1][0]
    return [
        Result(
            "f", f"{name} x {k}", 0, method, models[k][1], note="equal bytes" if models[k][0] == one else "other bytes"
        )
        for k in COPIES
    ]


def best_kinds(task: Task) -> list[Result]:
    """The least loss that weights can reach on one-hot kinds: the share of each label per kind."""
    known = rows.read(task.train)
    kind = known.x.indices
    n, positive = np.bincount(kind), np.bincount(kind, known.y)
    p = positive / n
    loss = -sum(
        count * math.log(q)
        for q, count in ((*zip(p, positive, strict=True), *zip(1 - p, n - positive, strict=True)))
        if count
    )
    return [Result("f", task.set, 0, "best possible", loss / len(known))]
