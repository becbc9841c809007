"""docs/performance.md from results.json."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "performance.md"

INTRO = """# How fast on one machine

Written by `bench/speed/run.py` from `bench/speed/results.json`; do not edit. What is compared took turns in one run; seconds are
medians. These machines are noisy (their clock was seen between 1.5 and 2.7 GHz within an hour): ratios of one run say more than
figures of two.

```sh
cmake --build build/release --target greedystep bench_speed
pip install -r bench/quality/requirements.txt; apt-get install liblinear-tools
python3 bench/speed/run.py --build build/release
```
"""

ROOMS = """## Single rooms, one core

`memchr` is a bare search for newlines in the same bytes, `sum` adds up the bytes of the mapped cache, `touch` loads and stores the
same records for the same ids without arithmetic. `learn` is the default method with its held-out rows; seconds of cache and learn are
the processor's.
"""

THREADS = """## Threads

`train` from text to model with `--threads 1` and `2`. A file of at most 65536 rows is learned by a team, whose members are spread
over the threads; of a longer one the next block is read while the last is learned. Models are compared byte by byte; mnist was run three times only.
"""

PEERS = """## Beside other programs

{rows} rows of 20 ones each, 100000 features, labels drawn from a planted model; 100000 rows to test. From text to a model on
disk, one pass, defaults; LIBLINEAR and LogisticRegression until they converge. Vowpal Wabbit reads its own text (conversion not
counted), the making of its cache is not counted either.
"""


def when(stage: dict) -> str:
    return f"{stage['date']}, {stage['machine']}, medians of {stage['repeats']}.\n"


def rooms(stage: dict) -> str:
    lines = ["| what | measure | |", "|---|---|--:|"]
    for what, found in stage["found"].items():
        lines += [f"| {what} | {name} | {value} |" for name, value in found.items()]
    return "\n".join([ROOMS, *lines, "", when(stage)])


def threads(stage: dict) -> str:
    lines = ["| data | one, s | two, s | ratio | same bytes |", "|---|--:|--:|--:|---|"]
    for what, x in stage["found"].items():
        same = "yes" if x["same"] else "**no**"
        lines.append(f"| {what} | {x['one']:.2f} | {x['two']:.2f} | {x['ratio']:.2f} | {same} |")
    return "\n".join([THREADS, *lines, "", when(stage)])


def peers(stage: dict) -> str:
    found = stage["found"]
    ours = found["greedystep, 2 threads"]["seconds"]
    lines = ["| program | seconds | times ours | test log loss | runs |", "|---|--:|--:|--:|--:|"]
    for name, x in sorted(found.items(), key=lambda item: item[1]["seconds"]):
        loss = "" if x["loss"] is None else f"{x['loss']:.4f}"
        lines.append(f"| {name} | {x['seconds']:.2f} | {x['seconds'] / ours:.1f} | {loss} | {x['runs']} |")
    return "\n".join([PEERS.format(rows=stage["rows"]), *lines, "", when(stage)])


def write(about: dict) -> None:
    makers = {"rooms": rooms, "threads": threads, "peers": peers}
    parts = [INTRO, *(maker(about[name]) for name, maker in makers.items() if name in about)]
    PAGE.write_text("\n".join(parts), encoding="utf-8")
