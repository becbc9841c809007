"""Rivals of curves on tables: linear models with a cross-validated penalty, boosted trees, and EBM. One thread each.

Words are one-hot columns for linear models, and categories for LightGBM, HistGradientBoosting (which has 255 of them:
rarer words are one) and EBM. Missing numbers are imputed by the mean with an indicator for linear models; the others
learn what to do with them. Seconds are of the processor, from a data frame to a model, choice and encoding included.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor, early_stopping
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

LINEAR, BOOSTING, LIGHT, STOPPED, STUMPS, EBM = (
    "linear, cross-validated",
    "HistGradientBoosting",
    "LightGBM",
    "LightGBM, early stopping",
    "LightGBM, stumps",
    "EBM",
)
OTHER = "another word"
MAX_WORDS = 250  # of a category column of HistGradientBoosting, the others are one
HELD, PATIENCE, MAX_TREES, RATE = 0.15, 50, 2000, 0.05  # of early stopping
STUMP = {"num_leaves": 2, "learning_rate": 0.2}  # no interactions, as with curves: what is left to trees shows


@dataclass(frozen=True)
class Rows:
    X: Any
    y: Any
    is_class: bool


def linear(rows: Rows) -> Any:
    numbers = make_column_selector(dtype_include="number")
    words = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2)
    filled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    model = (
        LogisticRegressionCV(Cs=10, max_iter=1000, use_legacy_attributes=False, l1_ratios=(0,), scoring="neg_log_loss")
        if rows.is_class
        else RidgeCV(np.logspace(-3, 4, 15))
    )
    columns = make_column_transformer((filled, numbers), remainder=words, sparse_threshold=0.3)
    return make_pipeline(columns, model).fit(rows.X, rows.y)


class Categories:
    """Words as categories of pandas, those of the training rows, and one for others."""

    def __init__(self, X: Any, most: int | None = None) -> None:
        self.kept = {name: X[name].value_counts().index[:most] for name in X.select_dtypes(exclude="number")}

    def __call__(self, X: Any) -> Any:
        made = {
            name: pd.Categorical(X[name].where(X[name].isin(kept) | X[name].isna(), OTHER), [*kept, OTHER])
            for name, kept in self.kept.items()
        }
        return X.assign(**made)


class Encoded:
    def __init__(self, encode: Categories, model: Any) -> None:
        self.encode, self.model = encode, model
        self.classes_ = getattr(model, "classes_", None)

    def predict(self, X: Any) -> Any:
        return self.model.predict(self.encode(X))

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(self.encode(X))


def boosting(rows: Rows) -> Encoded:
    encode = Categories(rows.X, MAX_WORDS)
    model = HistGradientBoostingClassifier() if rows.is_class else HistGradientBoostingRegressor()
    return Encoded(encode, model.fit(encode(rows.X), rows.y))


def light(rows: Rows) -> Encoded:
    encode = Categories(rows.X)
    model = (LGBMClassifier if rows.is_class else LGBMRegressor)(n_jobs=1, verbose=-1)
    return Encoded(encode, model.fit(encode(rows.X), rows.y))


def stopped(rows: Rows, **settings: float) -> Encoded:
    encode = Categories(rows.X)
    Z, held = encode(rows.X), np.random.default_rng(0).random(len(rows.y)) < HELD
    if rows.is_class:  # every class is learned
        held &= rows.y.isin(rows.y[~held]).to_numpy()
    kind = LGBMClassifier if rows.is_class else LGBMRegressor
    given = {"n_estimators": MAX_TREES, "learning_rate": RATE, "n_jobs": 1, "verbose": -1} | settings
    model = kind(**given)
    model.fit(
        Z[~held],
        rows.y[~held],
        eval_set=[(Z[held], rows.y[held])],
        callbacks=[early_stopping(PATIENCE, verbose=False)],
    )
    return Encoded(encode, model)


def stumps(rows: Rows) -> Encoded:
    return stopped(rows, **STUMP)


def boosted_curves(rows: Rows) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    model = (ExplainableBoostingClassifier if rows.is_class else ExplainableBoostingRegressor)(n_jobs=1)
    return model.fit(rows.X, rows.y)


Fit = Callable[[Rows], Any]
TOOLS: dict[str, Fit] = {LINEAR: linear, BOOSTING: boosting, LIGHT: light, STOPPED: stopped, STUMPS: stumps}
SLOW: dict[str, Fit] = {EBM: boosted_curves}


def loss_of(model: Any, rows: Rows) -> float:
    if rows.is_class:
        return float(log_loss(rows.y, model.predict_proba(rows.X), labels=model.classes_))
    return float(np.sqrt(mean_squared_error(rows.y, model.predict(rows.X))))


def plain(frame: Any, label: str, is_class: bool) -> Rows:
    """Numbers as doubles, all else as words; names of columns that every tool takes."""
    X = frame.drop(columns=label)
    is_number = [kind.kind in "iuf" for kind in X.dtypes]
    X = pd.DataFrame(
        {
            f"c{i}": X.iloc[:, i].astype(float) if is_number[i] else X.iloc[:, i].map(str, na_action="ignore")
            for i in range(X.shape[1])
        }
    )
    words = [name for name, number in zip(X, is_number, strict=True) if not number]
    return Rows(X.astype(dict.fromkeys(words, object)), frame[label], is_class)


def fits(
    train: Any, test: Any, label: str, is_class: bool, tools: dict[str, Fit]
) -> Iterator[tuple[str, float, float]]:
    """Yield tool, test loss and processor seconds."""
    learned, others = plain(train, label, is_class), plain(test, label, is_class)
    for name, fit in tools.items():
        begun = time.process_time()
        model = fit(learned)
        seconds = time.process_time() - begun
        yield name, loss_of(model, others), seconds
