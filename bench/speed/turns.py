#!/usr/bin/env python3
"""Has a change made greedystep slower? Whole runs of two builds of the command, in turns: ratios of processor time.

    python3 bench/speed/turns.py --greedystep build/release/greedystep --before ../before/build/release/greedystep

Each case runs --repeats times per build on one thread, one build after the other. The ratio is that of the medians; the
spread is the smallest and the largest ratio of neighbouring runs. The exit code is 1 if a ratio is above --limit.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import given_command, machine, measured, run, say


def write_table(path: Path, rows: int) -> None:
    """Write a table with numbers, categories, dates and missing cells."""
    draw = random.Random(5)
    with path.open("w", encoding="utf-8") as out:
        out.write("label,city,age,price,share,day\n")
        for _ in range(rows):
            age, price = draw.randrange(18, 90), draw.random() * 1e5
            label = "yes" if age * 3 + draw.gauss(0, 60) > 150 else "no"
            share = f"{draw.random():.5g}" if draw.random() > 0.1 else ""
            day = f"2024-{draw.randrange(1, 13):02d}-{draw.randrange(1, 29):02d}"
            out.write(f"{label},city {draw.randrange(37)},{age},{price:.2f},{share},{day}\n")


def cases(command: Path, folder: Path, rows: int) -> dict[str, list[object]]:
    """Return the runs of one build by name, after making what they read; each build reads caches of its own."""
    folder.mkdir()
    text, small, table, wide = (folder.parent / name for name in ("rows.svm", "small.svm", "table.csv", "classes.svm"))
    shape = ["--nnz", 20, "--skew", 1, "--noise", 0.1, "--seed", 5, "--quiet"]
    if not text.exists():
        run([command, "generate", "--rows", rows, "--features", 10**5, *shape, "-o", text])
        run([command, "generate", "--rows", rows // 10, "--features", 10**4, *shape, "-o", small])
        run([command, "generate", "--rows", rows // 10, "--features", 10**4, "--classes", 20, *shape, "-o", wide])
        write_table(table, rows)
    cache, model, out = folder / "rows.gsac", folder / "model", folder / "out"
    run([command, "convert", text, "-o", cache, "--quiet"])
    train = ["--threads", 1, "-q", "-o", model]
    gsa = ["--method", "gsa", "--passes", 2, *train]
    scored = folder / "scored"
    run([command, "train", small, "--threads", 1, "-q", "-o", scored])
    return {
        "convert a table": [command, "convert", table, "--label", "label", "--quiet", "-o", cache.with_name("t.gsac")],
        "convert libsvm text": [command, "convert", text, "--quiet", "-o", cache.with_name("s.gsac")],
        "gsa, libsvm text": [command, "train", text, *gsa],
        "gsa, cache": [command, "train", cache, *gsa],
        "gsa, table": [command, "train", table, "--label", "label", *gsa],
        "gsa, 20 classes": [command, "train", wide, *gsa],
        "paper, cache": [command, "train", cache, "--method", "paper", "--passes", 2, *train],
        "optimum, libsvm text": [command, "train", small, *train],
        "optimum, table": [command, "train", table, "--label", "label", *train],
        "predict": [command, "predict", scored, text, "--threads", 1, "-o", out],
        "evaluate": [command, "evaluate", scored, text],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--greedystep", type=Path, required=True, help="the command of this build")
    parser.add_argument("--before", type=Path, required=True, help="the command that it is compared with")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--limit", type=float, default=1.03, help="the largest ratio that passes")
    options = parser.parse_args()
    found = 0
    with tempfile.TemporaryDirectory(prefix="greedystep-turns-") as name:
        folder = Path(name)
        now = cases(given_command(options.greedystep), folder / "now", options.rows)
        before = cases(given_command(options.before), folder / "before", options.rows)
        say(f"{machine()}; {options.rows} rows, medians of {options.repeats}, processor seconds")
        say("| run | before | now | ratio | spread |\n|---|--:|--:|--:|---|")
        for case in now:
            taken = [(measured(before[case]), measured(now[case])) for _ in range(options.repeats)]
            old, new = (statistics.median(pair[i]["processor"] for pair in taken) for i in (0, 1))
            ratios = [pair[1]["processor"] / pair[0]["processor"] for pair in taken]
            say(f"| {case} | {old:.3f} | {new:.3f} | {new / old:.3f} | {min(ratios):.2f} to {max(ratios):.2f} |")
            found += new / old > options.limit
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
