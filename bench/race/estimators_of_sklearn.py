"""scikit-learn in this process, after a warm-up: LogisticRegression and SGDClassifier, default and searched, RidgeCV.

Rows are read by load_svmlight_file, and become a dense array if more than half of the cells are filled. "scaled": a
StandardScaler in front, which centres dense rows only. The search has 10 strengths on 5 folds, from the strongest
regularisation on, each fit beginning where the last one ended. Limits, named in the note: 5 strengths on 3 folds for
the sets of HEAVY, and 100 iterations in place of 1,000 where non-zeros times outputs exceed WORK_LIMIT.
"""

from __future__ import annotations

import io
import statistics
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression, RidgeCV, SGDClassifier
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

from results import Result
from tasks import Task
from tuning import Outcome, Search, folds_of, judged

DENSE = 0.5
WORK_LIMIT = 10_000_000
SHORT = 1.0  # seconds below which a fit is timed REPEATS times
REPEATS = 5
STRENGTHS = tuple(np.logspace(-4, 4, 10))
HEAVY: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {  # as given, scaled
    "mnist.scale": ((0.01, 0.03, 0.1, 0.3, 1.0), (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)),
    "news20.scale": ((3.0, 10.0, 30.0, 100.0, 300.0), (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)),
    "sector.scale": ((10.0, 30.0, 100.0, 300.0, 1000.0), (1e-4, 1e-3, 1e-2, 1e-1, 1.0)),
}
TOLERANCE = 1e-6  # of the search: with 1e-4 a fit of short sparse rows ends where the one before it did
REUSED = ("sector.scale",)  # the choice of split 0 serves all splits
ALPHAS = np.logspace(-6, 6, 25)
ALPHAS_OF_SGD = (1e-4, 1e-5, 1e-3, 1e-6, 1e-2, 1e-7)  # the default first
Matrix: TypeAlias = "np.ndarray | csr_matrix"


class Data:
    """The rows of a task, and the processor seconds of reading the training part."""

    def __init__(self, train: Path, test: Path) -> None:
        (self.x, self.y), self.reading = seconds_of(lambda: read(train))
        x_test, self.y_test = read(test, self.x.shape[1])
        self.x_test = x_test if issparse(self.x) else dense(x_test)
        self.labels = np.unique(self.y)

    def scaled(self) -> tuple[Matrix, Matrix, float]:
        """Both parts scaled, and the seconds of scaling the training part."""
        begun = time.process_time()
        scaler = StandardScaler(with_mean=not issparse(self.x))
        x = scaler.fit_transform(self.x)
        return x, scaler.transform(self.x_test), time.process_time() - begun


def dense(x: Matrix) -> np.ndarray:
    return x.toarray() if issparse(x) else x


def read(path: Path, width: int | None = None) -> tuple[Matrix, np.ndarray]:
    """Rows of libsvm text. width: columns beyond have no weight; dense rows become an array unless it is given."""
    x, y = load_svmlight_file(str(path), zero_based=False)
    x = csr_matrix((x.data, x.indices, x.indptr), shape=x.shape)  # ids of 32 bits, which estimators want
    if width is None:
        return (x.toarray() if x.nnz > DENSE * x.shape[0] * x.shape[1] else x), y
    if x.shape[1] > width:
        return x[:, :width], y
    return csr_matrix((x.data, x.indices, x.indptr), shape=(x.shape[0], width)), y


@lru_cache(maxsize=1)
def data_of(train: Path, test: Path) -> Data:
    return Data(train, test)


def warm_up() -> None:
    """Imports and first calls that no fit should be charged for."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((50, 3)), np.arange(50) % 3
    for rows in (x, csr_matrix(x)):
        for labels in (y, y % 2):
            for model in (LogisticRegression(), sgd(1e-4)):
                model.fit(rows, labels).predict_proba(rows)
    RidgeCV(ALPHAS).fit(StandardScaler().fit_transform(x), y)
    load_svmlight_file(io.BytesIO(b"1 1:1\n"))


def seconds_of(fit: Callable[[], Any]) -> tuple[Any, float]:
    """A fit and its processor seconds, the median of five if it is short."""
    spent = []
    while len(spent) < 1 or (len(spent) < REPEATS and spent[0] < SHORT):
        begun = time.process_time()
        model = fit()
        spent.append(time.process_time() - begun)
    return model, statistics.median(spent)


# ---- LogisticRegression ----------------------------------------------------------------------------------------------


def predicted(model: LogisticRegression, x: Matrix, seconds: float) -> Outcome:
    return Outcome(seconds, model.predict_proba(x), model.classes_)


def matrices(data: Data, is_scaled: bool) -> tuple[Matrix, Matrix, float]:
    return data.scaled() if is_scaled else (data.x, data.x_test, 0.0)


def default(task: Task, is_scaled: bool) -> list[Result]:
    data = data_of(task.train, task.test)
    x, x_test, scaling = matrices(data, is_scaled)
    model, seconds = seconds_of(lambda: LogisticRegression().fit(x, data.y))
    found = judged(predicted(model, x_test, 0).log_p(), model.classes_, data.y_test)
    seconds += scaling
    note = "did not converge" if model.n_iter_.max() >= model.max_iter else ""
    method = "LR scaled" if is_scaled else "LR"
    where = task.part, task.set, task.split
    return [
        Result(
            *where, method, **found, cpu_seconds=data.reading + seconds, cpu_seconds_without_reading=seconds, note=note
        )
    ]


def n_outputs(labels: np.ndarray) -> int:
    return 1 if len(labels) == 2 else len(labels)


def start_from(model: LogisticRegression, other: LogisticRegression | None) -> LogisticRegression:
    if other is not None:
        model.coef_, model.intercept_, model.classes_ = other.coef_.copy(), other.intercept_.copy(), other.classes_
    return model


def cross_validated(task: Task, is_scaled: bool, known: str) -> list[Result]:
    data = data_of(task.train, task.test)
    x, x_test, scaling = matrices(data, is_scaled)
    is_heavy = task.set in HEAVY
    folds = folds_of(data.y, 3 if is_heavy else 5, task.split)
    size = x.nnz if issparse(x) else x.size
    iterations = 1000 if size * n_outputs(data.labels) <= WORK_LIMIT else 100
    last: dict[int | None, LogisticRegression] = {}

    def trial(c: float, fold: int | None) -> Outcome:
        rows, held = (slice(None), None) if fold is None else folds[fold]
        x_held = x_test if held is None else x[held]
        begun = time.process_time()
        model = start_from(LogisticRegression(C=c, tol=TOLERANCE, max_iter=iterations, warm_start=True), last.get(fold))
        model.fit(x[rows], data.y[rows])
        last[fold] = model
        return predicted(model, x_held, time.process_time() - begun)

    strengths = HEAVY[task.set][is_scaled] if is_heavy else STRENGTHS
    limits = ", 5 strengths around the known best" if is_heavy else ""
    limits += f"; {iterations} iterations, tol {TOLERANCE:g}"
    search = Search(strengths, lambda c: f"C={c:.3g}", trial, [data.y[held] for _, held in folds], limits, known=known)
    found = search.run()
    outcome = trial(found.setting, None)
    seconds = scaling + found.seconds + outcome.seconds
    method = "LR CV scaled" if is_scaled else "LR CV"
    return both(task, method, outcome, found.scale, data.y_test, data.reading, seconds, found.note)


# ---- SGDClassifier ---------------------------------------------------------------------------------------------------


def sgd(alpha: float) -> SGDClassifier:
    return SGDClassifier(loss="log_loss", alpha=alpha, random_state=0)


def sgd_default(task: Task) -> list[Result]:
    data = data_of(task.train, task.test)
    model, seconds = seconds_of(lambda: sgd(ALPHAS_OF_SGD[0]).fit(data.x, data.y))
    return [
        Result(
            *(task.part, task.set, task.split, "SGD"),
            **judged(predicted(model, data.x_test, 0).log_p(), model.classes_, data.y_test),
            cpu_seconds=data.reading + seconds,
            cpu_seconds_without_reading=seconds,
        )
    ]


def sgd_tuned(task: Task, known: str) -> list[Result]:
    """Strengths from the default on, each on the rows as given and scaled."""
    data = data_of(task.train, task.test)
    rows = {is_scaled: matrices(data, is_scaled) for is_scaled in (False, True)}
    folds = folds_of(data.y, 3 if task.set in HEAVY else 5, task.split)

    def trial(setting: tuple[float, bool], fold: int | None) -> Outcome:
        x, x_test, _ = rows[setting[1]]
        learned, held = (slice(None), None) if fold is None else folds[fold]
        begun = time.process_time()
        model = sgd(setting[0]).fit(x[learned], data.y[learned])
        return predicted(model, x_test if held is None else x[held], time.process_time() - begun)

    settings = [(alpha, is_scaled) for alpha in ALPHAS_OF_SGD for is_scaled in (False, True)]
    found = Search(
        settings,
        lambda each: f"alpha={each[0]:g}{', scaled' if each[1] else ''}",
        trial,
        [data.y[held] for _, held in folds],
        patience=len(settings),
        known=known,
    ).run()
    outcome = trial(found.setting, None)
    seconds = rows[True][2] + found.seconds + outcome.seconds
    return both(task, "SGD tuned", outcome, found.scale, data.y_test, data.reading, seconds, found.note)


def both(
    task: Task, method: str, outcome: Outcome, scale: float, y: np.ndarray, reading: float, seconds: float, note: str
) -> list[Result]:
    """A tuned model, and the same calibrated by its held-out predictions."""
    return [
        Result(
            *(task.part, task.set, task.split, name),
            **judged(power * outcome.log_p() - normaliser(power * outcome.log_p()), outcome.labels, y),
            cpu_seconds=reading + seconds,
            cpu_seconds_without_reading=seconds,
            note=note,
        )
        for name, power in ((method, 1.0), (f"{method} calibrated", scale))
    ]


def normaliser(log_p: np.ndarray) -> np.ndarray:
    from scipy.special import logsumexp

    return logsumexp(log_p, axis=1, keepdims=True)


# ---- RidgeCV ---------------------------------------------------------------------------------------------------------


def ridge(task: Task, is_scaled: bool) -> list[Result]:
    data = data_of(task.train, task.test)
    x, x_test, scaling = matrices(data, is_scaled)
    model, seconds = seconds_of(lambda: RidgeCV(ALPHAS).fit(x, data.y))
    p = model.predict(x_test)
    seconds += scaling
    return [
        Result(
            *(task.part, task.set, task.split, "RidgeCV scaled" if is_scaled else "RidgeCV"),
            loss=float(np.mean((p - data.y_test) ** 2)),
            accuracy=float(r2_score(data.y_test, p)),
            cpu_seconds=data.reading + seconds,
            cpu_seconds_without_reading=seconds,
            note=f"alpha={model.alpha_:.3g}",
        )
    ]


warnings.filterwarnings("ignore", category=UserWarning)  # convergence: said in the note
warnings.filterwarnings("ignore", category=FutureWarning)
