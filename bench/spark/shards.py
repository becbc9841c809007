#!/usr/bin/env python3
"""shards.py [--train FILE --test FILE]: what learning in shards costs. Rows in 1 to 4096 shards, on one machine.

The same rows, generated click rows unless files are given, are learned by `greedystep train --shards N`, which has the
bits that N partitions on Spark give, with one pass, with four and until the held-out loss stops falling, and evaluated
on test rows. Prints a line of JSON per run (results: shards.jsonl); --figure draws them.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import measured_at, run, timed


def make_rows(given: argparse.Namespace, folder: Path) -> tuple[Path, Path]:
    """Return training rows and test rows: those given, or generated ones, parsed, and those that come after them."""
    if given.train:
        return Path(given.train), Path(given.test)
    train, test = folder / f"train-{given.rows}.gsac", folder / f"test-{given.rows}.svm"
    if train.exists() and test.exists():
        return train, test
    folder.mkdir(parents=True, exist_ok=True)
    every, first = folder / "all.svm", folder / "first.svm"
    shape = ["--rows", given.rows + given.test_rows, "--features", given.features, "--nnz", 20, "--skew", 1]
    run([given.command, "generate", *shape, "--seed", 1, "-o", every])
    with every.open() as rows, first.open("w") as some, test.open("w") as rest:
        for number, row in enumerate(rows):
            (some if number < given.rows else rest).write(row)
    run([given.command, "convert", first, "-o", train])
    every.unlink()
    first.unlink()
    return train, test


def learn(given: argparse.Namespace, train: Path, test: Path, shards: int, passes: int) -> dict[str, object]:
    folder = Path(given.folder)
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "shards.model"
    options = ["--shards", shards, "--passes", passes or "auto", "--seed", given.seed, "--quiet", "--json"]
    said, seconds = timed([given.command, "train", train, "-o", model, *options])
    loss = json.loads(run([given.command, "evaluate", model, test, "--json"]))["log_loss"]
    return {
        "shards": shards,
        "asked": passes,
        "passes": json.loads(said)["passes"] - 1,  # but for the first rows, which end one of their own
        "test_loss": loss,
        "seconds": round(seconds, 1),
        "rows": train.name if given.train else given.rows,
        "seed": given.seed,
    }


def draw(results: list[dict[str, object]], path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "greedystep"
    figure, axes = pyplot.subplots(figsize=(6.4, 3.8), layout="constrained")
    names = {1: "one pass", 4: "four passes", 0: "passes chosen on held-out rows"}
    for asked, name in names.items():
        some = sorted((one["shards"], one["test_loss"]) for one in results if one["asked"] == asked)
        if some:
            axes.plot(*zip(*some, strict=True), marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("shards, merged once per pass")
    axes.set_ylabel("test log loss")
    rows = results[0]["rows"]
    axes.set_title(f"{rows:,} click rows, 20 of 1,000,000 features each", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default="greedystep")
    parser.add_argument("--folder", default="build/shards")
    parser.add_argument("--train", help="a file of the user's")
    parser.add_argument("--test", help="and rows to judge by")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--test-rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=1_000_000)
    parser.add_argument("--shards", type=int, nargs="*", default=[4**i for i in range(7)])
    parser.add_argument("--passes", type=int, nargs="*", default=[1, 4, 0])
    parser.add_argument("--by-gain-most", type=int, default=256, help="shards up to which passes are chosen")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figure")
    parser.add_argument("--drawn", help="lines of an earlier run, to draw only")
    given = parser.parse_args()
    results: list[dict[str, object]] = []
    if given.drawn:
        results = [json.loads(line) for line in Path(given.drawn).read_text().splitlines()[1:]]
    else:
        train, test = make_rows(given, Path(given.folder))
        print(json.dumps(measured_at()), flush=True)
        for shards in given.shards:
            for passes in given.passes:
                if passes == 0 and shards > given.by_gain_most:
                    continue
                results.append(learn(given, train, test, shards, passes))
                print(json.dumps(results[-1]), flush=True)
    if given.figure:
        draw(results, given.figure)


if __name__ == "__main__":
    sys.exit(main())
