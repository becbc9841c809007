"""Typing errors: the loss of curves and of lines where cells of test rows are ten or a hundred times too large.

    python3 bench/curves/far.py COMMAND [--share 0.02]

The tables of tables.csv, on the first split of run.py. In a share of the test rows one numeric cell is multiplied; the
models have learned rows without errors. Printed in Markdown: the loss of curves divided by that of lines on the same
rows, as a geometric mean over the tables whose columns bend, and how many are above 1.01.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from run import FORMS, frame_of, geometric, greedystep, tables

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


def loss_of(command: str, model: Path, test: Path, task: str) -> float:
    words = [command, "evaluate", model, test, "--json"]
    found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    return float(found["log_loss" if task == "class" else "rmse"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--share", type=float, default=0.02)
    options = parser.parse_args()
    ratios: dict[int, list[float]] = {factor: [] for factor in FACTORS}
    for table in tables():
        frame, label, task = frame_of(table), table["label"], table["task"]
        held = np.random.default_rng(0).random(len(frame)) < 1 / 3
        train, test = frame[~held], frame[held]
        if task == "class":
            test = test[test[label].isin(train[label])]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            train.to_csv(folder / "train.csv", index=False)
            losses: dict[int, list[float]] = {factor: [] for factor in FACTORS}
            test.to_csv(folder / "test.csv", index=False)
            for form in FORMS:
                *_, curves = greedystep(options.command, form, folder, label, task)
                for factor in FACTORS:
                    spoiled(test, label, factor, options.share).to_csv(folder / "far.csv", index=False)
                    losses[factor].append(loss_of(options.command, folder / "model", folder / "far.csv", task))
        if curves in ("", "0"):
            continue
        for factor in FACTORS:
            ratios[factor].append(losses[factor][1] / losses[factor][0])
        shown = ", ".join(f"x {factor}: {ratios[factor][-1]:.3f}" for factor in FACTORS)
        print(f"{table['item']}: {shown}", flush=True)
    print(f"\n| a cell in {options.share:.0%} of the rows | tables | curves / lines | median | above 1.01 |")
    print("|---|--:|--:|--:|--:|")
    for factor in FACTORS:
        found = [ratio for ratio in ratios[factor] if math.isfinite(ratio)]
        above = sum(ratio > 1.01 for ratio in found)
        print(f"| x {factor} | {len(found)} | {geometric(found):.3f} | {np.median(found):.3f} | {above} |")


if __name__ == "__main__":
    main()
