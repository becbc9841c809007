"""The rivals of scikit-learn, in a process of their own with one thread: what is timed is reading and fitting, not the
import of Python's modules. Rows are read once, and scaled (unit variance; dense ones are centred too) where a setting
says so; the time of both counts."""

from __future__ import annotations

import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

from common import Result, Rival
from search import Parts, search

SGD = Rival("SGDClassifier", version("scikit-learn"), "`alpha` 1e-4, 1e-5, 1e-3, 1e-6, 1e-2, 1e-7, scaled and not", 12)
LOGISTIC = Rival(
    "LogisticRegression", version("scikit-learn"), "`C` 1, 10, 0.1, 100, 0.01, 1000, 0.001, scaled and not", 14
)
ALPHAS = (1e-4, 1e-5, 1e-3, 1e-6, 1e-2, 1e-7)
CS = (1.0, 10.0, 0.1, 100.0, 0.01, 1000.0, 0.001)


def settings_of(tool: str) -> list[tuple[float, bool]]:
    strengths = ALPHAS if tool == SGD.name else CS
    return [(strength, scaled) for strength in strengths for scaled in (False, True)]


def measure(tool: str, parts: Parts, seed: int, budget: float) -> list[Result]:
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import LogisticRegression, SGDClassifier

    import logistic
    import rows

    warnings.simplefilter("ignore")
    begun = time.process_time()
    x, y = load_svmlight_file(str(parts.whole), zero_based=False)
    reading = time.process_time() - begun
    x = csr_matrix((x.data, x.indices, x.indptr), shape=x.shape)  # ids of 32 bits, which estimators want
    learned, held = rows.read(parts.learned), rows.read(parts.held)
    test, width = rows.read(parts.test), x.shape[1]
    files = {
        True: (x, y, test.with_columns(width), test.y),
        False: (learned.with_columns(width), learned.y, held.with_columns(width), held.y),
    }

    def estimator(strength: float) -> SGDClassifier | LogisticRegression:
        if tool == SGD.name:
            return SGDClassifier(loss="log_loss", alpha=strength, random_state=seed)
        return LogisticRegression(C=strength)

    def trial(setting: tuple[float, bool], whole: bool) -> tuple[float, float, float]:
        strength, is_scaled = setting
        x, y, x_judged, y_judged = files[whole]
        begun = time.process_time()
        if is_scaled:
            x, x_judged = logistic.scaled(x, x_judged)
        model = estimator(strength).fit(x, y)
        seconds = time.process_time() - begun
        p = model.predict_proba(x_judged)
        scores = rows.of_probabilities(p / p.sum(axis=1, keepdims=True), model.classes_, np.asarray(y_judged))
        return seconds, scores.mean_loss, scores.accuracy

    def name(setting: tuple[float, bool]) -> str:
        return f"{'alpha' if tool == SGD.name else 'C'}={setting[0]:g}{', scaled' if setting[1] else ''}"

    return search(settings_of(tool), name, trial, budget, reading)


def main() -> None:
    """estimators.py TOOL SEED BUDGET WHOLE LEARNED HELD TEST: the results as JSON."""
    import json
    from dataclasses import asdict

    tool, seed, budget, *paths = sys.argv[1:]
    found = measure(tool, Parts(*(Path(path) for path in paths)), int(seed), float(budget))
    print(json.dumps([asdict(each) for each in found]))


if __name__ == "__main__":
    main()
