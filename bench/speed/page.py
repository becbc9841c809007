#!/usr/bin/env python3
"""Writes the measured parts of docs/performance.md and docs/scaling.md, between markers, from the result files.

    python3 bench/speed/page.py

A part stands between `<!-- measured: NAME -->` and `<!-- end -->`; the function NAME below makes its text.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from statistics import median

sys.path += [str(Path(__file__).resolve().parent.parent / folder) for folder in ("", "mpi")]
from shared import ROOT, markdown

BENCH = ROOT / "bench"
PAGES = ("performance.md", "scaling.md")


def load(name: str) -> dict:
    return json.loads((BENCH / name).read_text(encoding="utf-8"))


def load_lines(name: str) -> list[dict]:
    return [json.loads(line) for line in (BENCH / name).read_text(encoding="utf-8").splitlines()]


def when(stage: dict, runs: int | None = None) -> str:
    """Say when and on what a stage was measured, and how often (0: its text says so)."""
    runs = stage.get("repeats", 1) if runs is None else runs
    cores = stage["machine"].replace(", Intel(R) Xeon(R) Processor, Linux x86_64", " of an Intel Xeon virtual machine")
    often = "" if runs == 0 else ", one run" if runs == 1 else f", medians of {runs}"
    return f"\n*{stage['date']}, commit {stage['commit']}, {cores}{often}.*\n"


def power(n: int) -> str:
    digits = len(str(n)) - 1
    return f"10^{digits}" if n == 10**digits else f"{n:,}"


def rate(value: float, unit: str) -> str:
    for scale, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if unit not in ("MB/s", "ns") and value >= scale:
            return f"{value / scale:.3g} {letter} {unit}"
    return f"{value:,.0f} {unit}"


def seconds(value: float) -> str:
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}"


# ---- docs/performance.md ---------------------------------------------------------------------------------------------


def sizes() -> str:
    stage, long = load("speed/results.json")["sizes"], load("tables/results.json")["long"]
    kinds = {"svm": "text", "gsac": "cache"}
    lines = [(x["rows"], x["features"], kinds[x["format"]], x) for x in stage["found"]]
    ours = long["found"]["greedystep"] | {"method": "gsa"}
    lines.append((long["rows"], 2**24, "raw click log, 40 columns, gzip", ours))
    cells = [
        (power(rows), "2^24" if features == 2**24 else power(features), source, x["method"],
         seconds(x["wall"]), seconds(x["processor"]), f"{x['peak'] / 1e3:,.0f} MB")
        for rows, features, source, x in sorted(lines, key=lambda line: line[0])
    ]  # fmt: skip
    head = ["rows", "features", "from", "method", "seconds", "processor seconds", "peak memory"]
    return markdown(head, cells) + when(stage).replace(".*", "; from 10^8 rows on, and the log, one run.*")


def clicks() -> str:
    stage = load("tables/results.json")["clicks"]
    found, lines = stage["found"], []
    for name, x in found.items():
        if x["loss"] is not None:
            tool, source, *threads = name.split(", ")
            tool = f"greedystep, {threads[0]} thread{'s' * (threads[0] != '1')}" if threads else "Vowpal Wabbit"
            lines.append(
                (
                    tool,
                    source,
                    f"{x['wall']:.1f}",
                    f"{x['processor']:.1f}",
                    f"{x['peak'] / 1e3:,.0f} MB",
                    f"{x['loss']:.4f}",
                )
            )
    times = {kind: found[f"vw, {kind}"]["wall"] / found[f"greedystep, {kind}, 2"]["wall"] for kind in ("text", "cache")}
    work = {
        kind: found[f"vw, {kind}"]["processor"] / found[f"greedystep, {kind}, 1"]["processor"]
        for kind in ("text", "cache")
    }
    text = f"""{stage["rows"]:,} rows in the layout of Criteo's (`bench/tables/clicklog.c`: a label, 13 counts, 26 words), one pass
(`--passes 1`), 2^24 weights. Vowpal Wabbit {stage["vowpal"]} reads the same rows as its own text and cache, whose making is not counted, with
its defaults and `--loss_function logistic -b 24`. Log loss of 200,000 other rows.

"""
    head = ["", "from", "seconds", "processor seconds", "peak memory", "log loss"]
    start = found["vw, start alone"]["wall"]
    after = f"""
By the clock, two threads take {1 / times["text"]:.2f} times as long as Vowpal Wabbit (which has a parser thread) from text, {1 / times["cache"]:.2f} times from a
cache. One thread takes {1 / work["text"]:.2f} and {1 / work["cache"]:.2f} of its processor time. The start of its Python module, {start:.1f} s, is in its
seconds.
"""
    return text + markdown(head, lines) + after + when(stage)


def long() -> str:
    stage = load("tables/results.json")["long"]
    found = stage["found"]
    lines = [
        (name, f"{x['wall']:.0f}", f"{x['processor']:.0f}", f"{stage['rows'] / x['wall']:,.0f}", f"{x['peak'] / 1e3:,.0f} MB", f"{x['loss']:.4f}")
        for name, x in (("greedystep", found["greedystep"]), ("Vowpal Wabbit", found["vw"]))
    ]  # fmt: skip
    ratio = found["greedystep"]["wall"] / found["vw"]["wall"]
    text = f"""{stage["rows"]:,} rows of the same log from gzip: `greedystep train day.tsv.gz -o model`, with no option, and Vowpal Wabbit as above.

"""
    head = ["", "seconds", "processor seconds", "rows per second", "peak memory", "log loss"]
    after = f"""
greedystep takes {ratio:.2f} of the time. The model that generated the rows, which knows the logarithms of the counts, has a loss of
{found["generator"]["loss"]:.4f}.
"""
    return text + markdown(head, lines) + after + when(stage)


def parquet() -> str:
    stage = load("tables/results.json")["parquet"]
    x, rows = stage["found"], stage["rows"]
    lines = [(name, f"{x[key]:.0f}", f"{rows / x[key]:,.0f}") for name, key in (
        ("DuckDB, a hash of every cell", "hash"),
        ("DuckDB, every row as Arrow", "arrow"),
        ("greedystep, to the saved model", "wall"),
    )]  # fmt: skip
    text = f"""The same rows as Parquet ({x["bytes"] / 1e6:,.0f} MB): `greedystep train day.parquet --label clicked -o model --passes 1`, which reads by
DuckDB, beside DuckDB {x["duckdb"]} alone on the same columns and both cores. Exported batches are not read.

"""
    after = f"""
Training takes {x["wall"] / x["arrow"]:.1f} times as long as the export alone, and {x["peak"] / 1e3:,.0f} MB at its peak.
"""
    return text + markdown(["", "seconds", "rows per second"], lines) + after + when(stage)


def flights() -> str:
    about = load("flights/results.json")
    names = {
        "greedystep": "`greedystep train flights.csv --label LABEL`",
        "linear": "pipeline: imputer, one-hot, scaler, LogisticRegressionCV or RidgeCV",
        "boosting": "HistGradientBoosting, defaults (not linear)",
    }

    def cells(label: str, kind: str) -> list[str]:
        runs = about["found"][label][kind]
        loss, taken = (median(run[key] for run in runs) for key in ("loss", "seconds"))
        return [f"{loss:.4f}" if label == "late" else f"{loss:.2f}", f"{taken:.1f}"]

    lines = [[name, *cells("late", kind), *cells("arr_delay", kind)] for kind, name in names.items()]
    head = ["", "late or not: log loss", "processor seconds", "minutes: root mean squared error", "processor seconds"]
    return markdown(head, lines) + when(about)


def learn() -> str:
    stage = load("speed/results.json")["learn"]
    lines = [
        (x["rows"], f"{x['features']:,}", f"{x['bare']:.0f}", f"{x['before']:.0f}", f"{x['now']:.0f}",
         f"{x['before'] / x['now']:.2f}", f"{x['bare'] / x['now']:.2f}")
        for x in stage["found"]
    ]  # fmt: skip
    head = ["rows", "features", "bare loop", "version 1", "now", "times as fast", "share of the bare loop"]
    return markdown(head, lines) + when(stage)


def limits() -> str:
    stage, lines = load("speed/results.json")["limits"], []
    for what, x in sorted(stage["found"].items()):
        if what.startswith("learn, "):  # the table of the function learn has these
            continue
        unit, ours, limit = x["unit"], x["ours"], x["limit"]
        share = limit / ours if unit == "ns" else ours / limit
        lines.append((what, rate(ours, unit), rate(limit, unit), f"{share:.0%}", x["limit_is"]))
    return markdown(["what", "speed", "bare limit", "share", "the limit is"], lines) + when(stage)


# ---- docs/scaling.md -------------------------------------------------------------------------------------------------


def shards() -> str:
    about, *runs = load_lines("spark/shards.jsonl")
    rows, found = runs[0]["rows"], {(run["shards"], run["asked"]): run for run in runs}
    lines = []
    for n in sorted({run["shards"] for run in runs}):
        chosen = found.get((n, 0))
        more = f"{chosen['test_loss']:.4f} ({chosen['passes']})" if chosen else ""
        lines.append((n, f"{rows // n:,}", f"{found[n, 1]['test_loss']:.4f}", more))
    text = f"""{rows:,} click rows of 20 out of 10^6 features, in N parts that are learned side by side and merged once per pass
(`train --shards N`, the bits of N partitions on Spark). Test log loss of 200,000 rows; passes in brackets.

"""
    head = ["shards", "rows per shard", "one pass", "passes chosen on held-out rows"]
    return text + markdown(head, lines) + when(about, 0)


def mpi_results() -> tuple[dict, list[dict], dict[str, list[dict]]]:
    """What was measured when, the runs, and the results by their name."""
    about, *lines = load_lines("mpi/results.jsonl")
    results: dict[str, list[dict]] = {}
    for line in lines:
        if "result" in line:
            results.setdefault(line["result"], []).append(line)
    return about, [line for line in lines if line.get("stage") in ("ranks", "merge", "network")], results


def mpi() -> str:
    about, lines, results = mpi_results()

    def runs(stage: str, n_ranks: int) -> str:
        """Say how often a stage was run; the stage merge through two links."""
        found = sum(line["stage"] == stage and line["ranks"] == n_ranks for line in lines) // (1 + (stage == "merge"))
        return "one run" if found == 1 else f"medians of {found}"

    ranks, network = results["ranks"][-1], results["network"][-1]
    same = "the same bytes" if ranks["same_bytes"] and network["same_bytes"] else "different bytes"
    rounds = [
        (x["through"], f"{x['allreduce']:.2f} s", f"{x['first_round']:.1f} s ({x['first_ratio']:.1f} times)",
         f"{x['last_round']:.1f} s ({x['last_ratio']:.1f} times)")
        for x in results["merge"]
    ]  # fmt: skip
    head = ["through", "allreduce", "first round (8 replicas)", "last round (16 replicas)"]
    return f"""**Two ranks against one**, one thread each, {ranks["rows"]:,} click rows of {ranks["nnz"]} out of {power(ranks["features"])} features in a cache, one
pass: {ranks["one"]:.1f} s and {ranks["two"]:.1f} s, **{ranks["ratio"]:.2f} times** as fast ({runs("ranks", 2)}). Both learn the first million rows.

**Four ranks in network namespaces**, links of 100 Mbit/s each, the same rows, four ranks on two cores ({runs("network", 4)}): {network["seconds"]:.1f} s, of which
{network["merge"]:.1f} s merge; {network["link_bytes"] / 1e6:.0f} MB through each link. One rank beside them took {network["alone"]:.1f} s. Models of one, two and four
ranks have {same}.

**A round beside a bare `MPI_Allreduce`** of the {16 * results["merge"][0]["features"] / 1e6:.0f} MB of the state, {power(results["merge"][0]["features"])} features, two ranks; fork, waiting,
merge and line search included ({runs("merge", 2)}):

{markdown(head, rounds)}
An allreduce adds up two arrays. A round forks and merges 8 or 16 replicas, and sums travel rather than rounded averages, because the bits of
the result must not depend on the number of ranks: 21 bytes per feature each way in place of 16. The schedule therefore gives a replica at
least a quarter as many rows as there are features.
{when(about, 0)}"""


def fitted() -> tuple[dict[str, float], list[dict]]:
    import model

    _, lines, _ = mpi_results()
    return model.fit([line for line in lines if line["stage"] != "network"], 2), lines


def cost() -> str:
    import model

    known, lines = fitted()
    errors = []
    for line in (line for line in lines if line["stage"] == "network"):
        predicted = model.predict(model.as_job(line, 2), known, MOST_COPIES)["seconds"]
        errors.append((line["ranks"], predicted / line["seconds"] - 1))
    told = " and ".join(
        f"{', '.join(f'{error:+.0%}' for of, error in errors if of == n)} ({n} rank{'s' * (n > 1)})" for n in (4, 1)
    )
    parts = [
        ("the first max(10^6, 4 d) rows, by every rank", f"({1e6 * known['first']:.2f} + {1e6 * known['first_entry']:.4f} z) us per row"),
        ("learning, c = ranks * threads replicas at a time", f"({1e6 * known['learn']:.2f} + {1e6 * known['learn_entry']:.4f} z) us per row / c"),
        ("making replicas", f"{1e9 * known['fork']:.1f} ns per feature and replica of the rank"),
        ("line search on held-out rows", f"{1e3 * known['search']:.1f} ms * z per round"),
        ("reducing and applying deltas", f"{1e9 * known['copy']:.1f} ns per feature and replica of the rank"),
        ("network, each way of a link, per round", "42 bytes * d * (ranks - 1) / ranks, and 10,000 held-out rows"),
    ]  # fmt: skip
    return f"""n rows of z entries, d features. A replica has max(2^18, d / 4) rows; a round has as many rows as were learned before it, at most 2^26 or
a 16th of them, and 8 to 8192 replicas. `bench/mpi/model.py` fits the constants to the runs of one and two ranks. Its errors for the runs in
namespaces, and for the runs of one rank beside them, which it has not seen: {told}.

{markdown(["part", "seconds"], parts)}"""


MOST_COPIES = 8192
LINK = 1.25e9  # bytes per second


def duration(value: float) -> str:
    return f"{value:.0f} s" if value < 100 else f"{value / 60:.0f} min" if value < 5400 else f"{value / 3600:.1f} h"


def extrapolation() -> str:
    import model

    known, _ = fitted()
    lines = []
    for rows in (1e9, 1e10, 1e12):
        for features in (1e6, 1e7):
            jobs = [model.Job(rows, features, ranks=n, threads=8, bandwidth=LINK) for n in (1, 10, 100, 1000)]
            parts = [model.predict(job, known, MOST_COPIES) for job in jobs]
            last = parts[-1]
            names = {
                "first": "first rows",
                "learn": "learning",
                "fork": "making replicas",
                "merge": "merging",
                "network": "network",
            }
            largest = max(names, key=lambda name: last[name])
            cells = [duration(part["seconds"]) for part in parts]
            lines.append(
                (
                    power(int(rows)),
                    power(int(features)),
                    *cells,
                    f"{names[largest]} ({last[largest] / last['seconds']:.0%})",
                )
            )
    text = """Predicted by the cost model; none of this was run. One pass from caches, 20 entries per row, ranks of 8 threads with a core each,
links of 10 Gbit/s, disks that keep up (100 MB/s per thread). Replicas are made and merged on one thread per rank in the model, on all threads
in the program, which makes most figures too high.

"""
    head = ["rows", "features", "1 machine", "10", "100", "1000", "largest part with 1000"]
    return text + markdown(head, lines)


def spark() -> str:
    about, *lines = load_lines("spark/results.jsonl")
    parts = next((line for line in lines if "write deltas" in line), None)
    scans = [line["seconds"] for line in lines if line.get("what") == "bare scan"]
    fits = [line for line in lines if line.get("what") == "greedystep"]
    others = [line for line in lines if line.get("what") == "LogisticRegression" and "test_loss" in line]
    scan, rows = median(scans[1:]), about["rows"]
    passes = [seconds for one in fits for seconds in one["passes"]]
    cells = [
        (
            "bare scan of the same columns (`mapInArrow` that counts): the first, and later ones",
            f"{scans[0]:.1f}; {', '.join(f'{x:.1f}' for x in scans[1:])}",
            "",
        )
    ]
    for one in fits:
        taken = ", ".join(f"{x:.1f}" for x in one["passes"])
        cells.append(
            (
                f"`fit`, {len(one['passes'])} pass{'es' * (len(one['passes']) > 1)} ({taken}), counting and first rows included",
                f"{one['seconds']:.1f}",
                f"{one['test_loss']:.4f}",
            )
        )
    for one in others:
        cells.append(
            (
                f"`LogisticRegression`, {one['iterations']} iterations, regParam {one['reg_param']:g}",
                f"{one['seconds']:.1f}",
                f"{one['test_loss']:.4f}",
            )
        )
    per_row = 2e6 * median(passes) / rows
    text = f"""{rows:,} click rows of 20 out of {power(about["features"])} features, {about["partitions"]} partitions in Parquet (a column of sparse vectors), Spark {about["spark"]}, one
master and two executors of one core each; log loss of 200,000 test rows.

{markdown(["", "seconds", "test log loss"], cells)}
A pass takes {median(passes) / scan:.1f} times a bare scan: {per_row:.1f} us of a core per row, of which {2e6 * scan / rows:.1f} us are Spark's reading, Arrow and the pipe to
Python."""
    if parts:
        features = parts["features"]
        text += f""" A task reads and copies the state ({1e9 * (parts["read a state"] + parts["copy a state"]) / features:.0f} ns per feature) and writes deltas
({1e9 * parts["write deltas"] / features:.0f} ns per feature, {parts["bytes of a delta of everything"] / features:.0f} bytes); reducing them takes {1e9 * parts["reduce 64 deltas"] / features / 64:.0f} ns per feature and delta
(`bench/spark/parts.py`)."""
    hours = 1e12 * per_row / 1e6 / 1000 / 3600
    return (
        text
        + f"""

Predicted, not run: 10^12 such rows on 1000 cores take {hours:.1f} hours per pass, nearly all of it reading. Choose as many partitions as there
are cores, or twice as many: each sends a delta of every feature it has met.
{when(about, 0)}"""
    )


# ---- both ------------------------------------------------------------------------------------------------------------


def fill(page: str) -> None:
    path = ROOT / "docs" / page

    def part(found: re.Match) -> str:
        return f"<!-- measured: {found[1]} -->\n{globals()[found[1]]()}<!-- end -->"

    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"<!-- measured: (\w+) -->\n.*?<!-- end -->", part, text, flags=re.DOTALL), encoding="utf-8")


def main() -> None:
    for page in PAGES:
        fill(page)


if __name__ == "__main__":
    main()
