#!/usr/bin/env python3
"""Customers with an intercept and slopes of their own, beside statsmodels' mixed model and the known variances.

Usage: run.py [--out results.csv] [--only squared|logistic]. Rows are generated: three numbers with common slopes, and
per customer an intercept of deviation 1 and slopes of deviation .5 or .1; labels are numbers with noise of deviation 1,
or classes. The ideal is a penalised fit with the true variances. Losses are of 20 new rows per customer (root mean
squared error, or log loss); seconds are those of the processor, of all threads.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings

import greedystep
import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit

NUMBERS = 3
# Customers, rows of each, and the deviation of their slopes.
SIZES = [(100, 20, 0.5), (500, 20, 0.5), (500, 20, 0.1), (500, 100, 0.5), (2000, 20, 0.5), (10000, 20, 0.5)]
# Customers for which the mixed model is waited for.
MOST_MIXED = 2000


def drawn(customers: int, each: int, slopes: float, loss: str, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return rows to learn and new rows of the same customers."""
    rng = np.random.default_rng(seed)
    common, levels = rng.normal(0, 0.7, NUMBERS), rng.normal(0, 1, customers)
    own = rng.normal(0, slopes, (customers, NUMBERS))
    frames = []
    for n in (each, 20):
        who = np.repeat(np.arange(customers), n)
        x = rng.normal(size=(len(who), NUMBERS))
        margin = x @ common + levels[who] + (x * own[who]).sum(axis=1)
        y = (rng.random(len(who)) < expit(margin)) * 1.0 if loss == "logistic" else margin + rng.normal(size=len(who))
        columns = {f"x{j}": x[:, j] for j in range(NUMBERS)}
        frames.append(pd.DataFrame({"who": np.char.add("c", who.astype(str)), **columns, "y": y}))
    return frames[0], frames[1]


def loss_of(y: np.ndarray, margin: np.ndarray, loss: str) -> float:
    """Return the log loss, or the root of the mean squared error."""
    if loss == "logistic":
        return float((np.logaddexp(0, margin) - y * margin).mean())
    return float(np.sqrt(((margin - y) ** 2).mean()))


def ours(train: pd.DataFrame, test: pd.DataFrame, loss: str, per: str | None) -> float:
    """Return the loss of greedystep, with or without customers."""
    held = {"per": per} if per else {"ignore": ["who"]}
    model = greedystep.train(train, label="y", loss=loss, n_jobs=1, **held)
    rows = test.drop(columns="y" if per else ["y", "who"])
    if loss == "logistic":
        p = np.clip(model.predict_proba(rows)[:, 1], 1e-12, 1 - 1e-12)
        return loss_of(test["y"].to_numpy(), np.log(p / (1 - p)), loss)
    return loss_of(test["y"].to_numpy(), model.predict(rows), loss)


def mixed(train: pd.DataFrame, test: pd.DataFrame) -> float:
    """Return the loss of statsmodels' MixedLM, by restricted maximum likelihood."""
    import statsmodels.formula.api as smf

    formula = " + ".join(f"x{j}" for j in range(NUMBERS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = smf.mixedlm(f"y ~ {formula}", train, groups="who", re_formula=f"~ {formula}").fit()
    effects = pd.DataFrame(fitted.random_effects).T.loc[test["who"]].to_numpy()
    x = np.column_stack([np.ones(len(test)), test[[f"x{j}" for j in range(NUMBERS)]]])
    return loss_of(test["y"].to_numpy(), x @ fitted.fe_params.to_numpy() + (x * effects).sum(axis=1), "squared")


def ideal(train: pd.DataFrame, test: pd.DataFrame, slopes: float, loss: str) -> float:
    """Return the loss of a penalised fit with the true variances."""
    customers = train["who"].nunique()

    def design(rows: pd.DataFrame) -> sp.csr_matrix:
        x = np.column_stack([np.ones(len(rows)), rows[[f"x{j}" for j in range(NUMBERS)]]])
        who = rows["who"].str[1:].astype(int).to_numpy()
        at = (np.arange(len(rows)), who)
        own = [sp.csr_matrix((x[:, j], at), (len(rows), customers)) for j in range(NUMBERS + 1)]
        return sp.hstack([sp.csr_matrix(x), *own]).tocsr()

    z, y = design(train), train["y"].to_numpy()
    variance = np.concatenate([np.full(NUMBERS + 1, 1e4), np.ones(customers), np.full(NUMBERS * customers, slopes**2)])
    squares = np.asarray(z.multiply(z).sum(axis=0)).ravel() * (0.2 if loss == "logistic" else 1)
    unit = 1 / np.sqrt(1 / variance + squares)

    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        w = unit * v
        margin = z @ w
        value = np.logaddexp(0, margin) - y * margin if loss == "logistic" else 0.5 * (margin - y) ** 2
        residual = (expit(margin) if loss == "logistic" else margin) - y
        return value.sum() + 0.5 * (w * w / variance).sum(), unit * (z.T @ residual + w / variance)

    found = minimize(objective, np.zeros(z.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return loss_of(test["y"].to_numpy(), design(test) @ (unit * found.x), loss)


def main() -> None:
    """Measure all sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="results.csv")
    parser.add_argument("--only", choices=("squared", "logistic"))
    given = parser.parse_args()
    with open(given.out, "w", newline="", encoding="utf-8") as out:
        to = csv.writer(out)
        to.writerow(["loss", "customers", "rows_each", "slopes", "method", "test_loss", "seconds"])
        for loss in ("squared", "logistic"):
            for customers, each, slopes in SIZES:
                if given.only and loss != given.only:
                    continue
                train, test = drawn(customers, each, slopes, loss, customers + each)
                methods = {
                    "of all": lambda a=train, b=test, c=loss: ours(a, b, c, None),
                    "per customer": lambda a=train, b=test, c=loss: ours(a, b, c, "who"),
                    "ideal": lambda a=train, b=test, c=loss, d=slopes: ideal(a, b, d, c),
                }
                if loss == "squared" and customers <= MOST_MIXED:
                    methods["MixedLM"] = lambda a=train, b=test: mixed(a, b)
                for name, run in methods.items():
                    begun = time.process_time()
                    found = run()
                    seconds = time.process_time() - begun
                    to.writerow([loss, customers, each, slopes, name, f"{found:.4f}", f"{seconds:.2f}"])
                    out.flush()
                    print(loss, customers, each, slopes, name, f"{found:.4f} {seconds:.2f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
