#!/usr/bin/env python3
"""Poisson regression beside statsmodels, on randhie as it is and with exposures; writes the figures of docs/counts.md.

    pip install pandas statsmodels
    python3 bench/poisson/run.py --greedystep build/release/greedystep --commit HASH

randhie is the RAND health insurance experiment, which comes with statsmodels: 20,190 rows, visits to a doctor. It has
no exposures: for the second table a part of each person's visits is drawn, each with the probability of an exposure
between 0.05 and 1. Deviances are computed here, from the predictions.
"""

from __future__ import annotations

import argparse
import datetime
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
import statsmodels
import statsmodels.api as sm

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "counts.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
WAYS = {"greedystep": [], "a stream (`--method gsa`)": ["--method", "gsa"]}


def deviance(y: np.ndarray, mean: np.ndarray) -> float:
    """Return the Poisson deviance, by its definition."""
    own = np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mean), 0)
    return float(2 * np.sum(own - y + mean))


def ours(command: str, table: pd.DataFrame, label: str, options: list[str]) -> float:
    """Return the deviance of the rows that a model was trained on."""
    with tempfile.TemporaryDirectory() as folder:
        data, model = f"{folder}/data.csv", f"{folder}/model"
        table.to_csv(data, index=False)
        train = [command, "train", data, "--label", label, "--loss", "poisson", "-o", model, "-q", *options]
        subprocess.run([*train, "--curves=off"], check=True)
        found = subprocess.run([command, "predict", model, data], check=True, capture_output=True, text=True)
    return deviance(table[label].to_numpy(), np.array(found.stdout.split(), float))


def compare(command: str, table: pd.DataFrame, label: str, exposure: str | None) -> list[tuple[str, float]]:
    """Return the deviance of each way."""
    X = sm.add_constant(table.drop(columns=[label] + ([exposure] if exposure else [])))
    offset = np.log(table[exposure]) if exposure else None
    fitted = sm.GLM(table[label], X, family=sm.families.Poisson(), offset=offset).fit()
    columns = ["--exposure", exposure] if exposure else []
    lines = [("statsmodels GLM", deviance(table[label].to_numpy(), fitted.fittedvalues.to_numpy()))]
    return lines + [(name, ours(command, table, label, columns + options)) for name, options in WAYS.items()]


def page_of(found: list[tuple[str, list[tuple[str, float]]]], n_rows: int, commit: str) -> str:
    lines = [
        "| deviance of all rows | " + " | ".join(title for title, _ in found) + " |",
        "|---|" + "--:|" * len(found),
    ]
    for i, (name, _) in enumerate(found[0][1]):
        least = [f"{one[0][1]:.2f}" for _, one in found]
        cells = [f"{one[i][1]:.2f} (+{one[i][1] / one[0][1] - 1:.4%})" for _, one in found]
        lines.append(f"| {name} | " + " | ".join(cells if i > 0 else least) + " |")
    today = datetime.datetime.now(datetime.UTC).date()
    lines += [
        "",
        f"Data: randhie, {n_rows:,} rows, visits to a doctor; as it is, and with random exposures.",
        f"statsmodels {statsmodels.__version__} has no penalty, so its deviance is the minimum; ours has one, chosen",
        f"on held-out rows. `bench/poisson/run.py`, measured at commit {commit}, {today}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--greedystep", default="greedystep")
    parser.add_argument("--commit", required=True, help="the commit that the command was built from")
    given = parser.parse_args()
    command = str(pathlib.Path(given.greedystep).resolve())
    table = sm.datasets.randhie.load_pandas().data
    n = len(table)
    rng = np.random.default_rng(1)
    exposed = table.assign(exposure=rng.uniform(0.05, 1, n).round(4))
    exposed["mdvis"] = rng.binomial(table.mdvis.to_numpy(int), exposed.exposure)
    found = [
        ("as it is", compare(command, table, "mdvis", None)),
        ("with exposures", compare(command, exposed, "mdvis", "exposure")),
    ]
    before, _, rest = PAGE.read_text().partition(BEGIN)
    text = page_of(found, n, given.commit)
    PAGE.write_text(before + BEGIN + text + END + rest.partition(END)[2])
    print(text)
    if any(one[1][1] > 1.001 * one[0][1] for _, one in found):
        sys.exit("the solver is more than 0.1 % above the least deviance")


if __name__ == "__main__":
    main()
