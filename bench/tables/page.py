"""docs/tables.md from the results of run.py."""

from __future__ import annotations

import statistics

from shared import ROOT

PAGE = ROOT / "docs" / "tables.md"


def middle(runs: list[dict[str, float]], key: str) -> float:
    return statistics.median(one[key] for one in runs)


def spread(runs: list[dict[str, float]], key: str) -> str:
    values = sorted(one[key] for one in runs)
    return f"{statistics.median(values):.1f} s ({values[0]:.1f} to {values[-1]:.1f})"


def page_of_clicks(found: dict) -> list[str]:
    rows, ours, theirs = found["rows"], found["found"]["ours"], found["found"]["vowpal"]
    lines = [
        "## A click log as it comes",
        "",
        f"{rows:,} rows in the layout of Criteo's (`bench/tables/clicklog.c`: a label, 13 long-tailed counts, 26 words, tabs, no",
        "header), gzip. `greedystep train day.tsv.gz -o model`, no option, one pass; Vowpal Wabbit on the same rows converted for",
        "it, gzip too, one pass, its defaults with `--loss_function logistic -b 24`. Conversion is not counted. Medians of",
        f"{found['repeats']} runs in turn; test loss of {found['found']['test_rows']:,} rows after them.",
        "",
        "| | time | rows/s | memory | test log loss |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, runs in (("greedystep", ours), ("Vowpal Wabbit", theirs)):
        rate, peak = rows / middle(runs, "seconds"), middle(runs, "peak") / 1000
        lines.append(
            f"| {name} | {spread(runs, 'seconds')} | {rate:,.0f} | {peak:,.0f} MB | {middle(runs, 'loss'):.4f} |"
        )
    ratio = middle(theirs, "seconds") / middle(ours, "seconds")
    lines += [
        "",
        f"greedystep takes 1/{ratio:.2f} of the time. The planted model itself, which knows the logarithms of the counts,",
        f"has {found['found']['planted_loss']:.4f}. Of the {ours[0]['planted']} words with large planted weights,",
        f"{ours[0]['found']} are the {ours[0]['planted']} strongest features of `inspect --top {ours[0]['planted']}`, by name.",
        "",
    ]
    return lines


def page_of_parquet(found: dict) -> list[str]:
    rows, runs = found["rows"], found["found"]["runs"]
    lines = [
        "## Parquet through DuckDB",
        "",
        f"The same rows as Parquet ({found['found']['bytes'] / 1e6:,.0f} MB), `greedystep train day.parquet --label clicked -o",
        f"model --passes 1`, beside DuckDB {found['found']['duckdb']} alone on the same 40 columns, on all cores: a hash of all cells,",
        f"and all rows handed out as Arrow batches that nobody looks at. Medians of {found['repeats']} runs in turn.",
        "",
        "| | time | rows/s |",
        "|---|--:|--:|",
    ]
    for name, key in (
        ("DuckDB, a hash of every row", "hash"),
        ("DuckDB, every row as Arrow", "arrow"),
        ("greedystep, reading and learning", "learning"),
        ("greedystep, to the saved model", "train"),
    ):
        lines.append(f"| {name} | {spread(runs, key)} | {rows / middle(runs, key):,.0f} |")
    learning = middle(runs, "learning")
    lines += [
        "",
        f"That is {middle(runs, 'hash') / learning:.2f} of the scan and {middle(runs, 'arrow') / learning:.2f} of the hand-out",
        f"(aim: 0.5). Memory: {middle(runs, 'peak') / 1000:,.0f} MB at the most, of which the table of 2^24 features takes 268 twice.",
        "",
    ]
    return lines


def write_page(results: dict) -> None:
    lines = [
        "# Tables: rows a second",
        "",
        "Made by `python3 bench/tables/run.py --greedystep build/release/greedystep`; see there for what is needed.",
        "The machine was shared and noisy.",
        "",
    ]
    for stage, make in (("clicks", page_of_clicks), ("parquet", page_of_parquet)):
        if stage in results:
            lines += [*make(results[stage]), f"Run on {results[stage]['date']}: {results[stage]['machine']}.", ""]
    PAGE.write_text("\n".join(lines).rstrip() + "\n")
