"""raw_units.py [NAMES...] [--data FOLDER]: data in the units it came in, and what a user has to write for it.

scikit-learn's bundled data sets by five folds, and the sets of bench/paper that are in FOLDER by their own test rows
(or a fifth). A contestant is the code that a user would write; its lines are counted. Prints Markdown.
"""

from __future__ import annotations

import argparse
import contextlib
import lzma
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.datasets import load_svmlight_files
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, r2_score
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

CLASSIFIERS = {
    "greedystep": """
from greedystep import GSAClassifier
model = GSAClassifier().fit(X, y)
""",
    "scaler + LogisticRegression": """
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
model = make_pipeline(StandardScaler(with_mean=WITH_MEAN), LogisticRegression()).fit(X, y)
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
from greedystep import GSARegressor
model = GSARegressor().fit(X, y)
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
BUNDLED = ["wine", "breast_cancer", "digits", "diabetes"]
OTHERS = ["w1a", "a9a", "criteo_8k", "mushrooms", "ijcnn1.val", "madelon", "dna.scale", "cod-rna"]


def lines_of(code: str) -> int:
    return len([line for line in code.splitlines() if line.strip()])


def judge(code: str, train: tuple[Any, Any], test: tuple[Any, Any]) -> tuple[float, float, float]:
    """Return loss, accuracy (or R2) and seconds of one fit."""
    with_mean = isinstance(train[0], np.ndarray)
    names: dict[str, Any] = {"X": train[0], "y": train[1], "WITH_MEAN": with_mean}
    began = time.perf_counter()
    exec(code, names)
    seconds = time.perf_counter() - began
    model = names["model"]
    found = model.predict(test[0])
    if not hasattr(model, "predict_proba"):
        return float(np.sqrt(mean_squared_error(test[1], found))), float(r2_score(test[1], found)), seconds
    probabilities = np.clip(model.predict_proba(test[0]), 1e-12, 1)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return (
        float(log_loss(test[1], probabilities, labels=model.classes_)),
        float(accuracy_score(test[1], found)),
        seconds,
    )


def folds(name: str) -> list[tuple[tuple[Any, Any], tuple[Any, Any]]]:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True, **({"scaled": False} if name == "diabetes" else {}))
    kind = KFold if name == "diabetes" else StratifiedKFold
    parts = kind(5, shuffle=True, random_state=0).split(X, y)
    return [((X[a], y[a]), (X[b], y[b])) for a, b in parts]


def read(paths: list[Path]) -> list[tuple[Any, Any]]:
    """Return files of one width."""
    with contextlib.ExitStack() as stack:
        found = load_svmlight_files([stack.enter_context(lzma.open(path)) for path in paths], dtype=np.float32)
    for X in found[::2]:
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # what SGDClassifier insists on
    return list(zip(found[::2], found[1::2]))


def held_out(name: str, folder: Path) -> list[tuple[tuple[Any, Any], tuple[Any, Any]]]:
    """Return the one split of a set of the paper's, nothing if it is not there."""
    train, test = folder / f"{name}.xz", folder / f"{name}.t.xz"
    if not train.exists():
        return []
    if test.exists():
        both = read([train, test])
        return [(both[0], both[1])]
    ((X, y),) = read([train])
    a, b, c, d = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    return [((a, c), (b, d))]


def table(name: str, splits: list[tuple[tuple[Any, Any], tuple[Any, Any]]]) -> list[str]:
    contestants = REGRESSORS if name == "diabetes" else CLASSIFIERS
    rows = []
    for who, code in contestants.items():
        loss, accuracy, seconds = np.mean([judge(code, *split) for split in splits], axis=0)
        rows.append((who, float(loss), float(accuracy), float(seconds), lines_of(code)))
        print(name, *rows[-1], file=sys.stderr, flush=True)
    best = min(row[1] for row in rows)
    return [
        f"| {name} | {who} | {'**' if loss == best else ''}{loss:.4g}{'**' if loss == best else ''} | {accuracy:.3f} "
        f"| {seconds:.2f} | {lines} |"
        for who, loss, accuracy, seconds, lines in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=BUNDLED + OTHERS)
    parser.add_argument("--data", type=Path, help="folder with the sets of bench/paper")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| data | what | log loss (numbers: RMSE) | accuracy (R²) | seconds a fit | lines |")
    print("|---|---|--:|--:|--:|--:|", flush=True)
    for name in arguments.names:
        splits = folds(name) if name in BUNDLED else held_out(name, arguments.data) if arguments.data else []
        if splits:
            print("\n".join(table(name, splits)), flush=True)


if __name__ == "__main__":
    main()
