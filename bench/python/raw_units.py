"""raw_units.py [NAMES...] [-o PAGE] [--resume | --page-only]: raw units, and what a user has to write for them.

A contestant is the code that a user would write; its lines are counted. A cell is one contestant on one data set: five
seeds of a split into three quarters to learn and a quarter to judge by, in a process of its own that is ended after
LIMIT seconds of processor time; the seeds it has come to by then count. The cells are kept in raw_units.json, and
raw_units_page.py makes the page of them. Sets besides scikit-learn's own are taken from $GREEDYSTEP_DATA_DIR.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import lzma
import multiprocessing
import os
import platform
import resource
import signal
import sys
import time
import warnings
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # threads that wait would count as work

import greedystep
import numpy as np
from sklearn import datasets
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, r2_score
from sklearn.model_selection import train_test_split

sys.path.append(str(Path(__file__).resolve().parent.parent))
from raw_units_page import page
from shared import ROOT, data_directory, machine

SEEDS = 5
LIMIT = 40  # seconds of processor time a cell
MOST = 5_000_000  # entries x outputs of a set, above which it is not tried, to keep the whole short
RESULTS = Path(__file__).with_suffix(".json")
IMPORTS = ["greedystep.estimators", "sklearn.linear_model", "sklearn.pipeline", "sklearn.preprocessing"]  # untimed
BUNDLED = ["wine", "breast_cancer", "digits", "diabetes"]

CLASSIFIERS = {
    "greedystep": """
from greedystep import GreedystepClassifier
model = GreedystepClassifier().fit(X, y)
""",
    "scaler + LogisticRegression": """
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
""",
    "SGDClassifier": """
from sklearn.linear_model import SGDClassifier
model = SGDClassifier(loss="log_loss").fit(X, y)
""",
    "SGDClassifier, 12 settings": """
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
grid = {
    "alpha": [1e-5, 1e-4, 1e-3, 1e-2],
    "eta0": [0.001, 0.01, 0.1],
}
search = GridSearchCV(SGDClassifier(loss="log_loss", learning_rate="adaptive"), grid, scoring="neg_log_loss")
model = search.fit(X, y)
""",
    "LogisticRegressionCV": """
from sklearn.linear_model import LogisticRegressionCV
model = LogisticRegressionCV().fit(X, y)
""",
}
REGRESSORS = {
    "greedystep": """
from greedystep import GreedystepRegressor
model = GreedystepRegressor().fit(X, y)
""",
    "scaler + LinearRegression": """
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
model = make_pipeline(StandardScaler(), LinearRegression()).fit(X, y)
""",
    "SGDRegressor": """
from sklearn.linear_model import SGDRegressor
model = SGDRegressor().fit(X, y)
""",
    "SGDRegressor, 12 settings": """
from sklearn.linear_model import SGDRegressor
from sklearn.model_selection import GridSearchCV
grid = {
    "alpha": [1e-5, 1e-4, 1e-3, 1e-2],
    "eta0": [0.001, 0.01, 0.1],
}
model = GridSearchCV(SGDRegressor(learning_rate="adaptive"), grid).fit(X, y)
""",
    "RidgeCV": """
from sklearn.linear_model import RidgeCV
model = RidgeCV().fit(X, y)
""",
}


def others() -> list[str]:
    """Return the sets that lie in the folder, test files aside."""
    names = [path.name[: -len(".xz")] for path in data_directory().glob("*.xz")]
    return sorted(name for name in names if not name.endswith(".t"))


def read(name: str) -> tuple[Any, Any]:
    if name in BUNDLED:
        units = {"scaled": False} if name == "diabetes" else {}
        return getattr(datasets, f"load_{name}")(return_X_y=True, **units)
    with lzma.open(data_directory() / f"{name}.xz") as file:
        X, y = load_svmlight_file(file, dtype=np.float32)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # what SGDClassifier insists on
    return X, y


def judge(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """Return log loss and accuracy, or root mean squared error and R2."""
    found = model.predict(X)
    if not hasattr(model, "predict_proba"):
        return float(np.sqrt(mean_squared_error(y, found))), float(r2_score(y, found))
    probabilities = np.clip(model.predict_proba(X), 1e-12, 1)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return float(log_loss(y, probabilities, labels=model.classes_)), float(accuracy_score(y, found))


def run_cell(code: str, X: Any, y: Any, is_regression: bool, out: Any) -> None:
    """Send loss, accuracy and seconds of every seed."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    for seed in range(SEEDS):
        stratify = None if is_regression else y
        train, test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=stratify)
        names: dict[str, Any] = {"X": train, "y": y_train}
        np.random.seed(seed)  # for what has no seed of its own
        began = time.process_time()
        exec(code, names)
        seconds = time.process_time() - began
        out.send((*judge(names["model"], test, y_test), seconds))


def cell(code: str, X: Any, y: Any, is_regression: bool) -> list[tuple[float, float, float]]:
    """Return what the seeds came to that were done within the limit."""
    if not isinstance(X, np.ndarray):
        code = code.replace("StandardScaler()", "StandardScaler(with_mean=False)")
    context = multiprocessing.get_context("fork")
    there, here = context.Pipe(duplex=False)
    process = context.Process(target=run_cell, args=(code, X, y, is_regression, here))
    process.start()
    here.close()
    found: list[tuple[float, float, float]] = []
    with contextlib.suppress(EOFError):
        while True:
            found.append(there.recv())
    process.join()
    if process.exitcode not in (0, -signal.SIGXCPU, -signal.SIGKILL):
        raise RuntimeError(f"a cell has failed: {code}")
    return found


def about() -> dict[str, Any]:
    return {
        "date": date.today().isoformat(),
        "machine": machine(),
        "versions": f"greedystep {greedystep.__version__}, python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", "numpy", "scipy")),
        "seeds": SEEDS,
        "limit": LIMIT,
        "most": MOST,
        "load": [round(os.getloadavg()[0], 1)],
    }


def run_set(name: str, X: Any, y: Any) -> dict[str, Any]:
    is_regression = name == "diabetes"
    rows: dict[str, Any] = {"name": name, "rows": X.shape[0], "features": X.shape[1], "cells": []}
    for who, code in (REGRESSORS if is_regression else CLASSIFIERS).items():
        seeds = cell(code, X, y, is_regression)
        lines = len([line for line in code.splitlines() if line.strip()])
        rows["cells"].append({"who": who, "lines": lines, "seeds": seeds})
        mean = np.mean(seeds, axis=0).round(4).tolist() if seeds else "cut"
        print(name, who, len(seeds), mean, file=sys.stderr, flush=True)
    return rows


def run_all(names: list[str], keep: Path | None, results: dict[str, Any] | None) -> dict[str, Any]:
    """Return all cells, those of an interrupted run among them; they are kept after every set."""
    results = results or {"about": {**about(), "minutes": 0}, "sets": [], "left_out": []}
    done = [rows["name"] for rows in results["sets"]] + [name for name, _ in results["left_out"]]
    names = [name for name in names if name not in done]
    began = time.monotonic() - 60 * results["about"]["minutes"]
    for module in IMPORTS:
        importlib.import_module(module)
    for name in names:
        X, y = read(name)
        n_classes = 1 if name == "diabetes" else len(np.unique(y))
        size = (X.size if isinstance(X, np.ndarray) else X.nnz) * (n_classes if n_classes > 2 else 1)
        if size > MOST:
            results["left_out"].append([name, size])
            continue
        results["sets"].append(run_set(name, X, y))
        results["about"]["load"].append(round(os.getloadavg()[0], 1))
        results["about"]["minutes"] = round((time.monotonic() - began) / 60, 1)
        if keep is not None:
            keep.write_text(json.dumps(results, indent=1) + "\n")
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="sets; without any, all there are")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "python-quality.md")
    parser.add_argument("--resume", action="store_true", help="only the sets that an interrupted run has not come to")
    parser.add_argument("--page-only", action="store_true", help="the page from the results that are kept")
    arguments = parser.parse_args()
    if not arguments.page_only:
        before = json.loads(RESULTS.read_text()) if arguments.resume else None
        results = run_all(arguments.names or BUNDLED + others(), None if arguments.names else RESULTS, before)
    else:
        results = json.loads(RESULTS.read_text())
    if arguments.names:
        print(page(results))
    else:
        arguments.output.write_text(page(results))


if __name__ == "__main__":
    main()
