"""Stage regression: root mean squared error beside the least-squares optimum, Ridge, SGDRegressor and Vowpal Wabbit.

regression.csv has a line a set, method and seed. The optimum is the least-squares solution (of least length) of the
training part, judged on the test part like everything else. auto is told --loss squared: what kind of task it is.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy.sparse import issparse
from sklearn.linear_model import LinearRegression, RidgeCV, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import rows
import vowpal
from context import HERE, Bench, evaluate, forget, spread, train, update_table
from shared import VOWPAL, Line, number, run, say
from targets import TARGETS, Parts, Target

TABLE = HERE / "regression.csv"
HEADER = ("data", "method", "seed", "rmse", "ratio", "seconds")
OPTIMUM, AUTO = "least squares", "auto"
METHODS = (OPTIMUM, AUTO, "ridge", "sgd", "sgd, tuned", "vw")


def rmse(predicted: np.ndarray, y: np.ndarray) -> float:
    off = np.asarray(predicted, dtype=float) - y
    return float(np.sqrt(np.mean(off * off))) if np.isfinite(off).all() else float("nan")


def scaled(learner: object, parts: Parts) -> Pipeline:
    return make_pipeline(StandardScaler(with_mean=not issparse(parts.x)), learner)


def tuned_sgd(parts: Parts) -> GridSearchCV:
    grid = {
        "sgdregressor__eta0": [1e-4, 1e-3, 1e-2, 1e-1],
        "sgdregressor__alpha": [1e-6, 1e-4, 1e-2],
        "sgdregressor__learning_rate": ["invscaling", "adaptive"],
    }
    pipeline = scaled(SGDRegressor(random_state=0), parts)
    return GridSearchCV(pipeline, grid, cv=3, scoring="neg_mean_squared_error", error_score=-1e300)


def by_sklearn(method: str, parts: Parts) -> tuple[float, float]:
    learners = {
        OPTIMUM: LinearRegression,
        "ridge": lambda: RidgeCV(alphas=np.logspace(-4, 4, 17), cv=5),
        "sgd": lambda: SGDRegressor(random_state=0),
        "sgd, tuned": lambda: tuned_sgd(parts),
    }
    begun = time.monotonic()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        learner = learners[method]().fit(parts.x, parts.y)
        error = rmse(learner.predict(parts.x_test), parts.y_test)
    return error, time.monotonic() - begun


def by_auto(bench: Bench, stem: Path, seed: int) -> tuple[float, float, int]:
    """Error, seconds, passes."""
    model = stem.with_name(stem.name + ".model")
    summary = train(bench, stem.with_name(stem.name + ".train"), model, seed, ("--loss", "squared"))
    error = evaluate(bench, model, stem.with_name(stem.name + ".test"))["rmse"]
    forget(model)
    return error, summary["wall"], int(summary["passes"])


def by_vowpal(stem: Path, y_test: np.ndarray, seed: int, passes: int) -> tuple[float, float]:
    """Its defaults, with the passes that auto took."""
    files = {part: stem.with_name(f"{stem.name}.{part}.vw") for part in ("train", "test", "model", "p")}
    vowpal.write(stem.with_name(stem.name + ".train"), files["train"], None, seed)
    vowpal.write(stem.with_name(stem.name + ".test"), files["test"], None, None)
    seconds = vowpal.learn(files["train"], files["model"], (), passes)
    run([*VOWPAL, "-d", files["test"], "-t", "-i", files["model"], "-p", files["p"], "--quiet"])
    return rmse(np.loadtxt(files["p"], usecols=0), y_test), seconds


def measure(bench: Bench, target: Target, seed: int) -> list[Line]:
    parts = target.make(seed)
    stem = bench.folder / f"{target.name.replace(' ', '-')}.{seed}"
    rows.write(stem.with_name(stem.name + ".train"), parts.x, parts.y)
    rows.write(stem.with_name(stem.name + ".test"), parts.x_test, parts.y_test)
    lines, optimum, passes = [], float("nan"), 1
    for method in METHODS:
        if method == AUTO:
            error, seconds, passes = by_auto(bench, stem, seed)
        elif method == "vw":
            error, seconds = by_vowpal(stem, parts.y_test, seed, passes)
        else:
            error, seconds = by_sklearn(method, parts)
        optimum = error if method == OPTIMUM else optimum
        values = (number(value) for value in (error, error / optimum, seconds))
        lines.append(dict(zip(HEADER, (target.name, method, str(seed), *values), strict=True)))
    return lines


def stage(bench: Bench) -> None:
    lines: list[Line] = []
    for target in TARGETS:
        if not bench.wants(target.name):
            continue
        begun = time.monotonic()
        parts = spread(partial(measure, bench, target), range(bench.seeds), bench.jobs)
        lines += [line for part in parts for line in part]
        ratio = next(line["ratio"] for line in lines[::-1] if line["method"] == AUTO)
        say(f"regression  {target.name:20} auto/optimum {ratio:>9} {time.monotonic() - begun:8.1f} s")
    update_table(TABLE, HEADER, lines, [target.name for target in TARGETS])
