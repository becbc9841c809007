#!/usr/bin/env python3
"""Linear probes on dense rows beside scikit-learn and BLAS; writes results.csv and the tables of docs/probes.md.

    GREEDYSTEP_DATA_DIR=DATA python3 bench/probes/run.py --kernels build/release/bench/probes/bench_probes
    python3 bench/probes/run.py --page

DATA has isolet, coil20 and fashion_20k in LIBSVM format. The package greedystep must be importable (GREEDYSTEP_LIBRARY
may name the library of a build). Every fit is a process of its own with one thread; its seconds are those of the
processor, around the fit alone. Parts and sets that lack a package or a file are named and skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import ROOT, Line, find_data, machine, markdown, read_table, run, say, unpack, write_table

FOLDER = Path(__file__).resolve().parent
# Releases of OpenBLAS do not know processors that are newer than they are: the environment may name another one.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "SkylakeX"}
RESULTS, PAGE = FOLDER / "results.csv", ROOT / "docs" / "probes.md"
HEADER = ("part", "set", "method", "measure", "value")
BEGIN, END = "<!-- tables: bench/probes/run.py -->\n", "<!-- end -->\n"
SETS = ("isolet", "coil20", "fashion_20k", "fortunes")
# A sweep of C: ten values on five folds; on larger sets three folds.
STRENGTHS = np.logspace(-4, 4, 10)
MANY_CELLS, PATIENCE = 10_000_000, 2
# Many rows; as many of them as the optimum takes; and more classes.
LARGE, SOLVED, WIDE = (200_000, 768, 100), (48_000, 768, 100), (20_000, 768, 1000)
TARGET_ROWS = 1_280_000
SHAPES = ((2048, 384, 35), (2048, 768, 100), (2048, 1024, 20), (512, 768, 1000))
LOOPS = ("solver_margins", "solver_sums", "learner_margins", "learner_update")


# ---- rows ------------------------------------------------------------------------------------------------------------


def read_set(name: str, folder: Path) -> tuple[np.ndarray, ...]:
    """Return rows and labels to learn, and to test, of a set or of the text embeddings."""
    if name == "fortunes":
        import embeddings

        return embeddings.make(folder)
    from sklearn.datasets import load_svmlight_files

    paths = [find_data(name), find_data(f"{name}.t")]
    if None in paths:
        raise OSError(f"{name} and {name}.t are not in GREEDYSTEP_DATA_DIR")
    x, y, x_test, y_test = load_svmlight_files([str(unpack(path, folder)) for path in paths if path])
    return x.toarray().astype(np.float32), y, x_test.toarray().astype(np.float32), y_test


def planted(n_rows: int, n_columns: int, n_classes: int) -> tuple[np.ndarray, ...]:
    """Return rows of unit length with correlated columns and labels drawn from a planted softmax model, and a tenth
    more of both to test."""
    draw = np.random.default_rng(1)
    mix = draw.standard_normal((n_columns, n_columns), dtype=np.float32)
    mix *= (np.arange(1, n_columns + 1, dtype=np.float32) ** -0.5)[:, None]
    n = n_rows + n_rows // 10
    x = draw.standard_normal((n, n_columns), dtype=np.float32) @ mix
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    margins = x @ draw.standard_normal((n_columns, n_classes), dtype=np.float32)
    margins *= 3 / margins.std()
    y = (margins + draw.gumbel(size=margins.shape)).argmax(1)
    return x[:n_rows], y[:n_rows], x[n_rows:], y[n_rows:]


def log_loss(chances: np.ndarray, labels: np.ndarray, classes: np.ndarray) -> float:
    own = chances[np.arange(len(labels)), np.searchsorted(classes, labels)]
    return float(-np.log(np.maximum(own, 1e-15)).mean())


# ---- fits: each in a process of its own ------------------------------------------------------------------------------


def used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def fit_greedystep(rows: tuple[np.ndarray, ...], given: dict[str, object]) -> dict[str, float]:
    import greedystep

    x, y, x_test, y_test = rows
    labels, numbers = np.unique(y, return_inverse=True)
    begun = used()
    model = greedystep.train(x, numbers.astype(str), n_jobs=1, **given)
    seconds = used() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    order = np.argsort([int(name) for name in model.classes])
    chances = model.predict_proba(x_test)[:, order]
    accuracy = float((labels[chances.argmax(1)] == y_test).mean())
    return {"loss": log_loss(chances, y_test, labels), "accuracy": accuracy, "seconds": seconds, "gigabytes": peak}


def fit_sweep(rows: tuple[np.ndarray, ...], scaled: bool) -> dict[str, float]:
    """Search C on folds, each fit from where the last ended, and fit the best on all rows."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold
    from sklearn.preprocessing import StandardScaler

    x, y, x_test, y_test = rows
    begun = used()
    if scaled:
        scaler = StandardScaler().fit(x)
        x, x_test = scaler.transform(x), scaler.transform(x_test)
    folds = StratifiedKFold(3 if x.size > MANY_CELLS else 5, shuffle=True, random_state=0)
    parts = [(learn, judge, LogisticRegression(warm_start=True)) for learn, judge in folds.split(x, y)]
    losses: list[float] = []
    for strength in STRENGTHS:
        total = 0.0
        for learn, judge, model in parts:
            model.set_params(C=strength).fit(x[learn], y[learn])
            total += log_loss(model.predict_proba(x[judge]), y[judge], model.classes_) / len(parts)
        losses.append(total)
        if len(losses) > PATIENCE and min(losses[-PATIENCE:]) >= min(losses[:-PATIENCE]):
            break
    best = int(np.argmin(losses))
    model = LogisticRegression(C=STRENGTHS[best], max_iter=1000).fit(x, y)
    seconds = used() - begun
    chances = model.predict_proba(x_test)
    accuracy = float((model.classes_[chances.argmax(1)] == y_test).mean())
    loss = log_loss(chances, y_test, model.classes_)
    return {"loss": loss, "accuracy": accuracy, "seconds": seconds, "cv": losses[best], "C": float(STRENGTHS[best])}


def blas(n_rows: int, n_columns: int, n_outputs: int, limit: float = 0.5) -> dict[str, float]:
    """Return billions of operations per second of numpy's products of the same shapes."""
    draw = np.random.default_rng(0)
    x = draw.standard_normal((n_rows, n_columns), dtype=np.float32)
    w = draw.standard_normal((n_columns, n_outputs), dtype=np.float32)
    m, x8, m8 = x @ w, x[:8].copy(), (x @ w)[:8].copy()
    groups = range(n_rows // 8)

    def rate(product: Callable[[], object]) -> float:
        took, end = [], time.process_time() + limit
        while len(took) < 3 or time.process_time() < end:
            begun = time.process_time()
            product()
            took.append(time.process_time() - begun)
        return 2e-9 * n_rows * n_columns * n_outputs / sorted(took)[len(took) // 2]

    return {
        "solver_margins": rate(lambda: np.matmul(x, w, out=m)),
        "solver_sums": rate(lambda: np.matmul(x.T, m, out=w)),
        "learner_margins": rate(lambda: [np.matmul(x8, w, out=m8) for _ in groups]),
        "learner_update": rate(lambda: [np.matmul(x8.T, m8, out=w) for _ in groups]),
    }


def child(task: dict[str, object], folder: Path) -> dict[str, float]:
    """Do one task and return its measures."""
    shape = task.get("shape")
    if task["what"] == "blas":
        return blas(*shape)  # type: ignore[misc]
    rows = planted(*shape) if shape else read_set(str(task["set"]), folder)  # type: ignore[misc]
    if task["what"] == "sweep":
        return fit_sweep(rows, bool(task["scaled"]))
    return fit_greedystep(rows, dict(task.get("given", {})))  # type: ignore[call-overload]


def measured(task: dict[str, object], folder: Path) -> dict[str, float]:
    """Return what a process of its own measures."""
    words = [sys.executable, __file__, "--folder", folder, "--child", json.dumps(task)]
    return dict(json.loads(run(words, {**ONE_THREAD, **os.environ}).splitlines()[-1]))


# ---- parts -----------------------------------------------------------------------------------------------------------


def lines_of(part: str, name: str, method: str, measures: dict[str, float]) -> list[Line]:
    say(f"{name:24} {method:16} " + "  ".join(f"{key} {value:.5g}" for key, value in measures.items()))
    return [
        {"part": part, "set": name, "method": method, "measure": key, "value": f"{value:.6g}"}
        for key, value in measures.items()
    ]


def keep(lines: list[Line]) -> None:
    """Put lines in place of those of the same part, set and method."""
    new = {(line["part"], line["set"], line["method"]) for line in lines}
    old = [line for line in read_table(RESULTS) if (line["part"], line["set"], line["method"]) not in new]
    key = ("sets", "large", "kernels", "about")
    write_table(RESULTS, HEADER, sorted(old + lines, key=lambda line: (key.index(line["part"]), line["set"])))


def run_sets(names: list[str], folder: Path) -> None:
    for name in names:
        try:
            rows = read_set(name, folder)
        except (ImportError, OSError, StopIteration, subprocess.CalledProcessError) as problem:
            say(f"SKIPPED: {name}: {problem}")
            continue
        shape = {
            "rows": len(rows[0]),
            "columns": rows[0].shape[1],
            "classes": len(np.unique(rows[1])),
            "test": len(rows[2]),
        }
        keep(lines_of("sets", name, "shape", {key: float(value) for key, value in shape.items()}))
        keep(lines_of("sets", name, "greedystep", measured({"what": "fit", "set": name}, folder)))
        for scaled in (False, True):
            task = {"what": "sweep", "set": name, "scaled": scaled}
            keep(lines_of("sets", name, "LR CV scaled" if scaled else "LR CV", measured(task, folder)))


def run_large(folder: Path) -> None:
    """Fit the planted rows by both methods, and fewer rows of more classes by passes."""
    for method, shape, given in (
        ("pass", LARGE, {"method": "gsa", "passes": 1}),
        ("pass", WIDE, {"method": "gsa", "passes": 1}),
        ("optimum", SOLVED, {"method": "optimum"}),
        ("default", LARGE, {}),
    ):
        name = " x ".join(f"{n:,}" for n in shape)
        keep(lines_of("large", name, method, measured({"what": "fit", "shape": shape, "given": given}, folder)))


def run_kernels(program: Path | None, folder: Path) -> None:
    if program is None or not program.is_file():
        say("SKIPPED: kernels: --kernels must name the program bench_probes")
        return
    for shape in SHAPES:
        name = " x ".join(str(n) for n in shape)
        ours = dict(line.split() for line in run([program, *shape, 0.5]).splitlines())
        keep(lines_of("kernels", name, "greedystep", {key: float(value) for key, value in ours.items()}))
        keep(lines_of("kernels", name, "BLAS", measured({"what": "blas", "shape": shape}, folder)))


# ---- the page --------------------------------------------------------------------------------------------------------


def table_of_sets(at: Callable[..., float]) -> str:
    lines = []
    for name in SETS:
        if np.isnan(at("sets", name, "shape", "rows")):
            continue
        better = min(("LR CV", "LR CV scaled"), key=lambda method: at("sets", name, method, "cv"))
        own, other = (at("sets", name, method, "loss") for method in ("greedystep", better))
        if np.isnan(sum(at("sets", name, method, "cv") for method in ("LR CV", "LR CV scaled"))):
            other = np.nan  # the search is not complete
        search = sum(at("sets", name, method, "seconds") for method in ("LR CV", "LR CV scaled"))
        seconds = at("sets", name, "greedystep", "seconds")
        shape = " x ".join(f"{at('sets', name, 'shape', key):,.0f}" for key in ("rows", "columns", "classes"))
        scores = [f"{at('sets', name, method, 'accuracy'):.3f}" for method in ("greedystep", better)]
        cells = [f"{own:.4f}", f"{other:.4f}", f"**{own / other:.3f}**", *scores]
        lines.append([name, shape, *cells, f"{seconds:.2f}", f"{search:.1f}", f"**{seconds / search:.3f}**"])
    head = ["set", "rows x values x classes", "loss", "of the search", "ratio", "accuracy", "of the search"]
    return markdown([*head, "seconds", "of the search", "ratio"], lines)


def table_of_large(at: Callable[..., float]) -> str:
    lines = []
    whats = {"optimum": "optimum, in all", "default": "greedy step averaging, in all", "pass": "one pass of it"}
    for method, shape in (("optimum", SOLVED), ("default", LARGE), ("pass", LARGE), ("pass", WIDE)):
        name = " x ".join(f"{n:,}" for n in shape)
        values = [at("large", name, method, key) for key in ("seconds", "loss", "accuracy", "gigabytes")]
        own = [f"{values[0]:.1f}", f"{1e6 * values[0] / shape[0]:.0f}", f"{values[1]:.3f}", f"{values[2]:.3f}"]
        lines.append([name, whats[method], *own, f"{values[3]:.1f} GB"])
    text = markdown(
        ["rows x values x classes", "", "seconds", "µs per row", "test loss", "accuracy", "peak memory"], lines
    )
    per_row = at("large", " x ".join(f"{n:,}" for n in WIDE), "pass", "seconds") / WIDE[0]
    minutes = per_row * TARGET_ROWS / 60
    cells = TARGET_ROWS * (4 * WIDE[1] + 24 * WIDE[2])
    return text + (
        f"\n**Extrapolated, not measured:** {TARGET_ROWS:,} rows of {WIDE[1]} values in {WIDE[2]:,} classes are more "
        f"than the optimum takes ({cells:.1e} numbers against 2.7e+08), so they are learned by greedy step averaging: "
        f"{minutes:.0f} processor minutes per pass of one thread, if a row costs what it cost above.\n"
    )


def table_of_kernels(at: Callable[..., float]) -> str:
    lines = []
    for shape in SHAPES:
        name, cells = " x ".join(str(n) for n in shape), []
        for loop in LOOPS:
            own, other = (at("kernels", name, method, loop) for method in ("greedystep", "BLAS"))
            cells.append(f"{own:.0f} / {other:.0f} = {own / other:.2f}")
        lines.append([name, *cells])
    head = [
        "rows x values x classes",
        "solver, rows times weights",
        "solver, gradient",
        "learner, margins",
        "learner, update",
    ]
    return markdown(head, lines)


def write_page() -> None:
    found = {tuple(line[key] for key in HEADER[:4]): line["value"] for line in read_table(RESULTS)}

    def at(*key: str) -> float:
        return float(found.get(key, "nan"))

    about = found.get(("about", "", "", "machine"), "")
    tables = ["## Loss and time\n\n", table_of_sets(at), "\n## Many rows, many classes\n\n", table_of_large(at)]
    tables += ["\n## Share of BLAS\n\n", table_of_kernels(at), f"\nMachine: {about}.\n"]
    text = re.sub(r"\bnan\b", "–", "".join(tables))  # not measured
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + text + "\n" + END + rest.split(END)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="sets,large,kernels")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--kernels", type=Path, help="the program bench_probes of a build")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "probes", help="where sets are kept")
    parser.add_argument("--page", action="store_true", help="write the page from results.csv only")
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.child:
        print(json.dumps(child(given.child, given.folder)))
        return
    if not given.page:
        about = f"{machine()}, one thread, {time.strftime('%Y-%m-%d')}"
        keep([{"part": "about", "set": "", "method": "", "measure": "machine", "value": about}])
        if "sets" in given.parts:
            run_sets(given.sets.split(","), given.folder)
        if "large" in given.parts:
            run_large(given.folder)
        if "kernels" in given.parts:
            run_kernels(given.kernels, given.folder)
    write_page()


if __name__ == "__main__":
    main()
