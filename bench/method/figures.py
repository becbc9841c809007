#!/usr/bin/env python3
"""The pictures of docs/method.md, as SVG in docs/figures/method.

    python3 bench/method/figures.py --greedystep build/release/greedystep
    python3 bench/method/figures.py --only crossover

rates and calibration are runs of the program, run is the trace of one; step and path are computed here, from the
formulas of docs/algorithms.md; crossover is drawn from the table of bench/order/crossover.py. Needs numpy and
matplotlib (bench/paper/requirements.txt), takes less than a minute. The same program gives the same pictures: no time
enters them, except that of crossover's table.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import look
from shared import ROOT, read_table

FOLDER = ROOT / "docs" / "figures" / "method"
CROSSOVER = ROOT / "bench" / "order" / "crossover.csv"
P = 0.95  # the confidence that a row's own step aims at
OURS, OTHER, THIRD = "#00695c", "#c62828", "#7b6f9c"
STYLE = look.STYLE | {"font.size": 10, "font.family": "sans-serif", "lines.linewidth": 1.6}


def save(figure: Figure, name: str) -> None:
    look.save(figure, FOLDER / f"{name}.svg", bbox_inches="tight")


def panels(n: int, height: float = 3.0) -> tuple[Figure, list[Axes]]:
    figure, axes = plt.subplots(1, n, figsize=(4.4 * n, height), squeeze=False)
    figure.subplots_adjust(wspace=0.32)
    return figure, list(axes[0])


class Program:
    """The command, run in a folder of its own."""

    def __init__(self, path: pathlib.Path, folder: pathlib.Path) -> None:
        self.path = path.resolve()
        self.folder = folder

    def __call__(self, *words: object) -> str:
        command = [str(self.path), *map(str, words)]
        return subprocess.run(command, cwd=self.folder, check=True, stdout=subprocess.PIPE, text=True).stdout

    def write_scaled(self, source: str, target: str, factor: float) -> None:
        """Rows of libsvm text with all values times a factor: the same problem in other units."""
        with open(self.folder / source) as rows, open(self.folder / target, "w") as out:
            for row in rows:
                label, *entries = row.split()
                values = (entry.split(":") for entry in entries)
                out.write(label + "".join(f" {index}:{float(value) * factor:g}" for index, value in values) + "\n")


def approximate_step(p: np.ndarray) -> np.ndarray:
    """Algorithm 1's step times x·x for logistic loss, by the probability of the row's own class."""
    q = 1 - p
    return 2 * (P - p) / (P * (p * np.expm1(p) + q * np.expm1(q)) + p * np.expm1(q))


def exact_step(p: np.ndarray) -> np.ndarray:
    return (np.log(P / (1 - P)) - np.log(p / (1 - p))) / (1 - p)


def draw_rates(program: Program) -> None:
    """Loss of SGD after one pass by its rate, in two units, beside methods that have none."""
    program("generate", "--rows", 12000, "--features", 200, "--nnz", 10, "-o", "one.svm", "--quiet")
    program.write_scaled("one.svm", "other.svm", 30)
    rates = [10.0**exponent for exponent in np.arange(-5, 1.01, 0.5)]
    figure, axes = panels(2)
    for axis, data, title in zip(
        axes, ("one.svm", "other.svm"), ("values of 1", "the same rows, values of 30"), strict=True
    ):
        methods = ",".join(["paper", "gsa", *(f"sgd:{rate:.3g}" for rate in rates)])
        table = program("compare", data, "--methods", methods, "--passes", 1, "--seeds", 3, "-o", "-", "--quiet")
        losses: dict[tuple[str, str], list[float]] = {}
        for line in csv.DictReader(io.StringIO(table)):
            if line["split"] == "test":
                losses.setdefault((line["method"], line["parameters"]), []).append(float(line["loss"]))
        mean = {key: float(np.mean(values)) for key, values in losses.items()}
        curve = [mean["sgd", f"r={rate:.3g}"] for rate in rates]
        axis.plot(rates, curve, "o-", color=OTHER, markersize=3.5, label="SGD")
        paper, gsa = (next(v for k, v in mean.items() if k[0] == name) for name in ("paper", "gsa"))
        axis.axhline(paper, color=THIRD, ls="--", label="the paper's rule")
        axis.axhline(gsa, color=OURS, label="greedystep")
        axis.set(xscale="log", ylim=(0.45, 0.8), xlabel="learning rate of SGD", title=title)
    axes[0].set_ylabel("log loss on test rows, one pass")
    axes[1].legend(loc="upper right")
    save(figure, "rates")


def draw_step() -> None:
    p = np.linspace(0.001, 0.999, 999)
    figure, (axis,) = panels(1)
    axis.plot(p, exact_step(p), color=OTHER, ls="--")
    axis.plot(p, approximate_step(p), color=OURS)
    axis.text(0.12, 4.6, "to 95 % exactly", color=OTHER)
    axis.text(0.12, 0.35, "what is averaged", color=OURS)
    axis.axhline(0, color="#888888", lw=0.8)
    axis.axvline(P, color="#888888", lw=0.8, ls=":")
    axis.text(P - 0.01, -2.6, "95 %", ha="right")
    axis.set(xlabel="probability of the row's own class", ylabel="step × x·x", ylim=(-3, 7), xlim=(0, 1))
    save(figure, "step")


def planted_rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of length 1 in all directions, with labels drawn from planted weights."""
    random = np.random.default_rng(4)
    x = random.normal(size=(n, 2))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = (random.random(n) < 1 / (1 + np.exp(-x @ [4.0, -3.0]))).astype(float)
    return x, y


def learn(x: np.ndarray, y: np.ndarray, rate: float | None) -> np.ndarray:
    """Weights after every row, by a constant rate or by the mean of the rows' steps."""
    w, total, weights = np.zeros(2), 0.0, [np.zeros(2)]
    for t, (row, label) in enumerate(zip(x, y, strict=True), 1):
        p1 = 1 / (1 + np.exp(-row @ w))
        total += float(approximate_step(np.array(p1 if label else 1 - p1))) / (row @ row)
        step = total / t if rate is None else rate
        w = w - step * (p1 - label) * row
        weights.append(w)
    return np.array(weights)


def draw_path() -> None:
    x, y = planted_rows(600)
    grid = np.meshgrid(np.linspace(-1, 9, 120), np.linspace(-7, 1.5, 120))
    margins = x @ np.stack([part.ravel() for part in grid])
    loss = np.mean(np.logaddexp(0, margins) - y[:, None] * margins, axis=0).reshape(grid[0].shape)
    levels = loss.min() + np.geomspace(0.001, 0.6, 11)
    figure, axes = panels(3, 3.2)
    titles = ["a rate of 8", "a rate of 0.02", "the mean of the rows' steps"]
    for axis, rate, colour, title in zip(axes, (8.0, 0.02, None), (OTHER, OTHER, OURS), titles, strict=True):
        path = learn(x, y, rate)
        axis.contour(*grid, loss, levels=levels, colors="#c9c9c9", linewidths=0.7)
        axis.plot(*path.T, color=colour, lw=0.6, label="after every row")
        axis.plot(*path[len(path) // 2 :].mean(axis=0), "o", color="black", markersize=6, label="mean, second half")
        axis.set(title=title, xlabel="first weight", xlim=(-1, 9), ylim=(-7, 1.5))
        axis.grid(visible=False)
    axes[0].set_ylabel("second weight")
    axes[1].legend(loc="lower right")
    save(figure, "path")


def draw_run(program: Program) -> None:
    program("generate", "--rows", 300000, "--features", 2000, "-o", "rows.gsac", "--quiet")
    program("train", "rows.gsac", "-o", "run.model", "--method", "gsa", "--trace", "run.jsonl", "--quiet")
    events = [json.loads(line) for line in (program.folder / "run.jsonl").read_text().splitlines()]
    lines = [event for event in events if event["event"] == "progress" and event["pass"] == 1]
    end = next(event for event in events if event["event"] == "end")
    rows = [line["rows"] for line in lines]
    figure, axes = panels(2)
    axes[0].plot(rows, [line["recent_loss"] for line in lines], color=OTHER, lw=1, label="rows before they are learned")
    axes[0].axhline(end["held_out_loss"], color=OURS, label="held-out rows, at the end")
    axes[0].set(xscale="log", xlabel="rows", ylabel="log loss")
    axes[0].set_ylim(0.44, 0.76)
    axes[0].legend(loc="upper right")
    axes[1].plot(rows, [line["step"] for line in lines], color=OURS)
    axes[1].set(xscale="log", xlabel="rows", ylabel="mean step", ylim=(0, None))
    save(figure, "run")


def bins_of(program: Program, model: str) -> tuple[list[float], list[float]]:
    """What was predicted for the class 1, and how often it was it, in ten bins of as many rows."""
    program("predict", model, "test.svm", "-o", f"{model}.csv")
    with open(program.folder / f"{model}.csv") as file:
        predicted = np.array([float(row["p_1"]) for row in csv.DictReader(file)])
    with open(program.folder / "test.svm") as file:
        actual = np.array([float(line.split(maxsplit=1)[0]) for line in file])
    groups = np.array_split(np.argsort(predicted, kind="stable"), 10)
    return [float(predicted[group].mean()) for group in groups], [float(actual[group].mean()) for group in groups]


def draw_calibration(program: Program) -> None:
    program("generate", "--rows", 23000, "--features", 2000, "--noise", 0.1, "-o", "all.svm", "--quiet")
    lines = (program.folder / "all.svm").read_text().splitlines(keepends=True)
    (program.folder / "few.svm").write_text("".join(lines[:3000]))
    (program.folder / "test.svm").write_text("".join(lines[3000:]))
    program("train", "few.svm", "-o", "plain", "--method", "paper", "--passes", 10, "--quiet")
    program("train", "few.svm", "-o", "auto", "--quiet")
    figure, (axis,) = panels(1, 3.4)
    axis.plot([0, 1], [0, 1], color="#888888", lw=0.8, ls=":")
    axis.plot(*bins_of(program, "plain"), "o--", color=OTHER, markersize=4, label="the paper's rule, 10 passes")
    axis.plot(*bins_of(program, "auto"), "o-", color=OURS, markersize=4, label="greedystep")
    axis.set(xlabel="predicted probability", ylabel="share of rows", xlim=(0, 1), ylim=(0, 1))
    axis.legend(loc="upper left")
    save(figure, "calibration")


def short(rows: int) -> str:
    """A number of rows as a mark on a line."""
    return f"{rows / 1_000_000:g}M" if rows >= 1_000_000 else f"{rows // 1000}k"


def draw_crossover() -> None:
    """Excess loss by processor seconds, a mark per method and number of rows; marks of the same rows are joined."""
    figure, axis = plt.subplots(figsize=(6.6, 3.6))
    lines = read_table(CROSSOVER)
    lines = [line for line in lines if line["program"] == "now"] or lines
    looks = {
        ("optimum", "file"): (OURS, "o-", "in memory, to the optimum"),
        ("gsa", "pipe"): (OTHER, "o-", "greedy step averaging, one pass"),
        ("paper", "pipe"): (THIRD, "o--", "the paper's rule, one pass"),
    }
    marks = {
        (line["method"], line["door"], line["rows"]): (float(line["seconds"]), float(line["excess"])) for line in lines
    }
    for rows in dict.fromkeys(line["rows"] for line in lines):
        same = [marks[*way, rows] for way in looks if (*way, rows) in marks]
        axis.plot(*zip(*same, strict=True), ":", color="#888888", lw=0.8, zorder=1)
        axis.annotate(short(int(rows)), same[0], (6, -2), textcoords="offset points", fontsize=8, color="#444444")
    for way, (colour, style, title) in looks.items():
        own = [mark for key, mark in marks.items() if key[:2] == way]
        axis.plot(*zip(*own, strict=True), style, color=colour, markersize=4, label=title)
    axis.set(xscale="log", yscale="log", xlabel="processor seconds", ylabel="log loss above that of the true weights")
    axis.legend(loc="lower left")
    save(figure, "crossover")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--greedystep", type=pathlib.Path, default=ROOT / "build/release/greedystep")
    parser.add_argument("--only", choices=["crossover"], help="draw this figure alone, without running the program")
    arguments = parser.parse_args()
    with plt.rc_context(STYLE), tempfile.TemporaryDirectory() as folder:
        if CROSSOVER.exists():
            draw_crossover()
        if arguments.only:
            return
        program = Program(arguments.greedystep, pathlib.Path(folder))
        draw_step()
        draw_path()
        draw_rates(program)
        draw_run(program)
        draw_calibration(program)


if __name__ == "__main__":
    main()
