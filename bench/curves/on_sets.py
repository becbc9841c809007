#!/usr/bin/env python3
"""Curves and pairs against lines on the 21 sets of the race (bench/race): loss on test rows and processor seconds.

    python3 bench/curves/on_sets.py COMMAND [RESULTS.csv] [--sets NAME...]

Data: $GREEDYSTEP_DATA_DIR, as in the race. The forms take turns; seconds are medians of three rounds on split 0, of
nine if a run is short, from text to model on one thread. Losses are of every split, a set with a test file has one.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import tempfile
from pathlib import Path

import forms  # isort: skip  # before numpy: it sets the number of threads

sys.path.append(str(forms.HERE.parent / "race"))
import paths
import tasks
from shared import say

HEADER = ("set", "split", "rows", "form", "loss", "seconds", "curves", "pairs", "held_out")
SHORT, ROUNDS, ROUNDS_OF_SHORT = 0.3, 3, 9


def compare(command: Path, task: tasks.Task, folder: Path) -> list[list[object]]:
    model, taken, fits = folder / "model", {form: [] for form in forms.FORMS}, {}
    losses: dict[str, float] = {}
    rounds = ROUNDS if task.split == 0 else 1
    done = 0
    while done < rounds:
        for form in forms.FORMS:
            fits[form] = forms.train(command, form, task.train, model)
            taken[form].append(fits[form].seconds)
            if done == 0:
                losses[form] = forms.loss(command, model, task.test)
        done += 1
        if rounds == ROUNDS and taken["lines"][0] < SHORT:
            rounds = ROUNDS_OF_SHORT
    with open(task.train, "rb") as file:
        n = sum(1 for _ in file)
    seconds = {form: statistics.median(taken[form]) for form in forms.FORMS}
    of_task = task.set, task.split, n
    return [
        [*of_task, form, f"{losses[form]:.6g}", f"{seconds[form]:.4g}", fit.curves, fit.pairs, f"{fit.held_out:.6g}"]
        for form, fit in fits.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", type=Path)
    parser.add_argument("results", type=Path, nargs="?", default=forms.HERE / "sets.csv")
    parser.add_argument("--sets", nargs="+", default=[])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, given.results.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(HEADER)
        for task in tasks.tasks("a", given.sets, tasks.N_SPLITS, paths.FOLDER):
            lines = compare(given.command.resolve(), task, Path(folder))
            out.writerows(lines)
            file.flush()
            say(f"{task.set} {task.split}: " + ", ".join(f"{line[3]} {line[4]} {line[5]} s" for line in lines))
    forms.note_measured(given.results)


if __name__ == "__main__":
    main()
