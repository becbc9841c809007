"""The paper's theory, checked with numbers: its bound on the best loss so far, and what Adadelta costs beside GSA.

The bound (Convergence Analysis, without its limit):

    E[min_k f(w_k)] - f(w*)  <=  (G + M sum eta_k^2) / (2 sum eta_k)   ->   M eta_0 / 2

with eta_k the running mean that Algorithm 1 uses, M >= E|grad f_i(w_k)|^2 for all k, and G >= |w_0 - w*|^2 (the paper
has the norm and uses its square). The problem is drawn: logistic labels of a known linear model, so that no weight
vector separates them and the optimum is finite; Newton's method finds it to 1e-12.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from datasets import BY_NAME, HERE, Files
from loops import greedy_step, sigmoid
from shared import Line, number, process_status, read_table, unpack

BOUND = HERE / "bound.csv"
COSTS = HERE / "costs.csv"
BOUND_HEADER = ("row", "gap", "gap_min", "gap_max", "last", "last_min", "last_max", "bound", "eta", "negative_share")
COST_HEADER = ("data", "method", "seconds_a_pass", "peak_kib")
N_ROWS, N_FEATURES, N_STEPS, N_SEEDS = 500, 10, 20000, 20


@dataclass(frozen=True)
class Problem:
    x: np.ndarray
    y: np.ndarray

    def loss(self, w: np.ndarray) -> float:
        m = self.x @ w
        return float((np.logaddexp(0, m) - self.y * m).mean())

    def optimum(self) -> np.ndarray:
        w = np.zeros(self.x.shape[1])
        for _ in range(100):
            p = sigmoid(self.x @ w)
            gradient = self.x.T @ (p - self.y) / len(self.y)
            hessian = (self.x * (p * (1 - p))[:, None]).T @ self.x / len(self.y)
            w -= np.linalg.solve(hessian, gradient)
            if np.abs(gradient).max() < 1e-12:
                return w
        raise ArithmeticError("Newton's method did not converge")


def draw_problem() -> Problem:
    rng = np.random.default_rng(20161103)
    x = np.hstack((rng.normal(size=(N_ROWS, N_FEATURES)), np.ones((N_ROWS, 1))))
    truth = rng.normal(size=N_FEATURES + 1)
    return Problem(x, (rng.random(N_ROWS) < sigmoid(x @ truth)).astype(float))


@dataclass(frozen=True)
class Trace:
    """One run: for every k the loss, the mean step, and the mean squared gradient norm at w_k."""

    loss: np.ndarray
    eta: np.ndarray
    squared_norm: np.ndarray
    negative: np.ndarray


def run_gsa(problem: Problem, seed: int) -> Trace:
    """Rows are drawn with replacement, as the theorem has it."""
    rng = np.random.default_rng(seed)
    w, total = np.zeros(problem.x.shape[1]), 0.0
    loss, eta, squared, negative = (np.zeros(N_STEPS + 1) for _ in range(4))
    lengths = (problem.x**2).sum(axis=1)
    for k, i in enumerate(rng.integers(0, N_ROWS, N_STEPS)):
        p = sigmoid(problem.x @ w)
        loss[k] = problem.loss(w)
        squared[k] = ((p - problem.y) ** 2 * lengths).mean()
        step = 2 * greedy_step(np.array([1 - p[i], p[i]]), int(problem.y[i])) / lengths[i]
        negative[k] = step < 0
        total += step
        eta[k] = total / (k + 1)
        w -= eta[k] * (p[i] - problem.y[i]) * problem.x[i]
    loss[-1], eta[-1], squared[-1] = problem.loss(w), eta[-2], squared[-2]
    return Trace(loss, eta, squared, negative)


def check_bound() -> tuple[list[Line], dict[str, float]]:
    """The curves at about 200 rows spread evenly in the logarithm, and the constants."""
    problem = draw_problem()
    best = problem.optimum()
    f_best = problem.loss(best)
    traces = [run_gsa(problem, seed) for seed in range(N_SEEDS)]
    g = float(best @ best)
    m = max(float(trace.squared_norm.max()) for trace in traces)
    gaps = np.array([np.minimum.accumulate(trace.loss) - f_best for trace in traces])
    last = np.array([trace.loss - f_best for trace in traces])
    eta = np.array([trace.eta for trace in traces])
    negative = np.array([np.cumsum(trace.negative) / np.arange(1, N_STEPS + 2) for trace in traces])
    bound = ((g + m * np.cumsum(eta**2, axis=1)) / (2 * np.cumsum(eta, axis=1))).mean(axis=0)
    at = np.unique(np.geomspace(1, N_STEPS, 200).astype(int))
    columns = [at.astype(float)]
    for curves in (gaps, last):
        columns += [curves[:, at].mean(axis=0), curves[:, at].min(axis=0), curves[:, at].max(axis=0)]
    columns += [bound[at], eta[:, at].mean(axis=0), negative[:, at].mean(axis=0)]
    lines = [dict(zip(BOUND_HEADER, map(number, values), strict=True)) for values in zip(*columns, strict=True)]
    constants = {
        "rows": N_ROWS,
        "features": N_FEATURES + 1,
        "steps": N_STEPS,
        "seeds": N_SEEDS,
        "G": g,
        "M": m,
        "eta_0": float(eta[:, -1].mean()),
        "limit": m * float(eta[:, -1].mean()) / 2,
        "optimum": f_best,
        "gap_at_end": float(gaps[:, -1].mean()),
        "last_gap_at_end": float(last[:, -1].mean()),
        "violations": int((gaps.mean(axis=0)[1:] > bound[1:]).sum()),
        "negative_share": float(negative[:, -1].mean()),
    }
    return lines, {name: float(f"{value:.6g}") for name, value in constants.items()}


def peak_memory(child: subprocess.Popen) -> int:
    """The most memory a running child has held, in KiB. Read while it runs: what wait4 says includes our own."""
    peak = 0
    while child.poll() is None:
        peak = max(peak, process_status(child.pid).get("VmHWM", 0))
        time.sleep(0.005)
    return peak


def timed(greedystep: Path, data: Path, test: Path, method: str, passes: int) -> tuple[float, int]:
    """Seconds of training a pass, and the peak memory of the whole command in KiB."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as out:
        command = [str(greedystep), "compare", str(data), "--test", str(test), "--methods", method]
        command += ["--passes", str(passes), "--seeds", "1", "--quiet", "-o", out.name]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        peak = peak_memory(child)
        if child.returncode != 0:
            raise SystemExit(f"greedystep compare --methods {method} on {data.name} failed")
        lines = read_table(Path(out.name))
    return float(lines[-1]["seconds"]) / passes, peak


COST_DATA = ("a9a", "mnist.scale", "news20.scale", "sector.scale")
COST_METHODS = ("paper", "sgd:0.01", "adadelta:1e-4")


def measure_costs(greedystep: Path, present: dict[str, Files], folder: Path, repeats: int = 3) -> list[Line]:
    """The least time and the greatest peak of some repeats, one process at a time, two passes each."""
    lines = []
    for data in COST_DATA:
        files = present.get(data)
        if files is None or files.test is None or data not in BY_NAME:
            continue
        train, test = unpack(files.train, folder), unpack(files.test, folder)
        for method in COST_METHODS:
            runs = [timed(greedystep, train, test, method, 2) for _ in range(repeats)]
            values = (f"{min(s for s, _ in runs):.3g}", str(max(k for _, k in runs)))
            lines.append(dict(zip(COST_HEADER, (data, method, *values), strict=True)))
    return lines
