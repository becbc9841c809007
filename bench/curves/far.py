"""Typing errors: the loss of pairs and of lines where cells of test rows are ten or a hundred times too large.

    python3 bench/curves/far.py COMMAND [--share 0.02]

The tables of tables.csv, on the first split of run.py. In a share of the test rows one numeric cell is multiplied; the
models have learned rows without errors. Printed in Markdown: the loss of pairs divided by that of lines on the same
rows, as a geometric mean over the tables whose columns bend, and how many are above 1.01.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any

import forms  # isort: skip  # before numpy: it sets the number of threads

import numpy as np

from run import frame_of, split_of, tables

FACTORS = (1, 10, 100)


def spoiled(test: Any, label: str, factor: int, share: float) -> Any:
    """Return a copy of which one numeric cell of a share of the rows is multiplied."""
    rng = np.random.default_rng(factor)
    columns = [name for name in test.select_dtypes("number").columns if name != label]
    test = test.astype(dict.fromkeys(columns, float))
    for row in np.flatnonzero(rng.random(len(test)) < share):
        at = test.columns.get_loc(columns[rng.integers(len(columns))])
        test.iloc[row, at] = test.iloc[row, at] * factor
    return test


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", type=Path)
    parser.add_argument("--share", type=float, default=0.02)
    options = parser.parse_args()
    ratios: dict[int, list[float]] = {factor: [] for factor in FACTORS}
    for table in tables():
        train, test = split_of(frame_of(table), table, 0)
        words = ["--label", table["label"]] + (["--loss", "squared"] if table["task"] == "number" else [])
        curves, losses = "", {factor: [] for factor in FACTORS}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            train.to_csv(folder / "train.csv", index=False)
            for form in forms.FORMS:
                curves = forms.train(options.command, form, folder / "train.csv", folder / "model", words).curves
                for factor in FACTORS:
                    far = spoiled(test, table["label"], factor, options.share)
                    far.to_csv(folder / "far.csv", index=False)
                    losses[factor].append(forms.loss(options.command, folder / "model", folder / "far.csv"))
        if curves in ("", "0"):
            continue
        for factor in FACTORS:
            ratios[factor].append(losses[factor][-1] / losses[factor][0])
        shown = ", ".join(f"x {factor}: {ratios[factor][-1]:.3f}" for factor in FACTORS)
        print(f"{table['item']}: {shown}", flush=True)
    print(f"\n| a cell in {options.share:.0%} of the rows | tables | curves / lines | median | above 1.01 |")
    print("|---|--:|--:|--:|--:|")
    for factor in FACTORS:
        found = [ratio for ratio in ratios[factor] if math.isfinite(ratio)]
        above = sum(ratio > 1.01 for ratio in found)
        print(f"| x {factor} | {len(found)} | {forms.geometric(found):.3f} | {np.median(found):.3f} | {above} |")


if __name__ == "__main__":
    main()
