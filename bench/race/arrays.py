"""Part (c), in a process of its own per fit: an estimator on arrays in memory, after a warm-up on 50 rows.

arrays.py METHOD TRAIN TEST    prints loss, accuracy and processor seconds of fit as JSON
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import paths  # noqa: F401  # isort: skip
import numpy as np

CLASSES = ("python greedystep", "python LogisticRegression", "python LogisticRegressionCV")
VALUES = ("python greedystep", "python RidgeCV")
SHORT = 1.0  # seconds below which a fit is timed REPEATS times
REPEATS = 5


def of_package(is_regression: bool) -> Any:
    import greedystep

    return (greedystep.GreedystepRegressor if is_regression else greedystep.GreedystepClassifier)(n_jobs=1)


def estimator(method: str, is_regression: bool) -> Any:
    from sklearn import linear_model

    if method == "python greedystep":
        return of_package(is_regression)
    if method == "python LogisticRegression":
        return linear_model.LogisticRegression()
    if method == "python LogisticRegressionCV":
        return linear_model.LogisticRegressionCV(Cs=10, cv=5, scoring="neg_log_loss")
    return linear_model.RidgeCV()


def measure(method: str, is_regression: bool, train: Path, test: Path) -> dict[str, object]:
    from estimators_of_sklearn import data_of
    from tuning import judged

    data = data_of(train, test)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((50, 3)), np.arange(50) % 2
    estimator(method, is_regression).fit(x, y + 0.5 * is_regression)
    spent: list[float] = []
    while len(spent) < 1 or (len(spent) < REPEATS and spent[0] < SHORT):
        begun = time.process_time()
        model = estimator(method, is_regression).fit(data.x, data.y)
        spent.append(time.process_time() - begun)
    seconds = statistics.median(spent)
    if is_regression:
        p = model.predict(data.x_test)
        mean = np.mean((data.y_test - data.y_test.mean()) ** 2)
        loss = float(np.mean((p - data.y_test) ** 2))
        found: dict[str, Any] = {"loss": loss, "accuracy": 1 - loss / float(mean)}
    else:
        p = np.asarray(model.predict_proba(data.x_test), dtype=float)
        found = judged(np.log(np.clip(p, 1e-15, 1)), np.asarray(model.classes_, dtype=float), data.y_test)
    return found | {"cpu_seconds_without_reading": seconds, "note": type(model).__name__}


def main() -> None:
    method, kind, train, test = sys.argv[1:]
    import warnings

    warnings.simplefilter("ignore")
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    print(json.dumps(measure(method, kind == "values", Path(train), Path(test))))


if __name__ == "__main__":
    main()
