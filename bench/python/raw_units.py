"""raw_units.py [-o FILE] [--data FOLDER]: data in the units it came in, and what a user has to write for it.

scikit-learn's bundled data sets by five folds, and the sets of bench/paper that are in FOLDER by their own test rows
(or a fifth). A contestant is the code that a user would write; its lines are counted. Prints Markdown.
"""

from __future__ import annotations

import argparse
import lzma
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.datasets import load_svmlight_file
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
OTHERS = ["w1a", "a9a", "cod-rna", "ijcnn1.val", "susy_30k", "criteo_8k", "mushrooms", "madelon", "dna.scale", "usps"]


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


def read(path: Path, n_features: int | None = None) -> tuple[Any, Any]:
    with lzma.open(path) as file:
        return load_svmlight_file(file, n_features=n_features, dtype=np.float32)


def held_out(name: str, folder: Path) -> list[tuple[tuple[Any, Any], tuple[Any, Any]]]:
    """Return the one split of a set of the paper's, nothing if it is not there."""
    if not (folder / f"{name}.xz").exists():
        return []
    X, y = read(folder / f"{name}.xz")
    if (folder / f"{name}.t.xz").exists():
        return [((X, y), read(folder / f"{name}.t.xz", X.shape[1]))]
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
    parser.add_argument("-o", "--output", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [
        "| data | what | log loss (numbers: RMSE) | accuracy (R²) | seconds a fit | lines |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for name in BUNDLED:
        lines += table(name, folds(name))
    for name in OTHERS if arguments.data else []:
        splits = held_out(name, arguments.data)
        lines += table(name, splits) if splits else []
    print("\n".join(lines), file=arguments.output)


if __name__ == "__main__":
    main()
