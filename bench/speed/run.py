#!/usr/bin/env python3
"""How fast on one machine? Rooms beside their bare limits, threads, and other programs; writes docs/performance.md.

    cmake --build build/release --target greedystep_cli bench_speed
    pip install -r bench/quality/requirements.txt -r bench/paper/requirements.txt; apt-get install liblinear-tools
    python3 bench/speed/run.py --build build/release [--stage learn|limits|threads|peers] [--rows 1000000]
    python3 bench/speed/run.py --build build/release --stage scaling      # half an hour, 12 GB of disk
    python3 bench/speed/run.py --build build/release --stage cold         # 10 minutes, 7 GB of disk
    python3 bench/speed/run.py --build build/release --stage headline     # a quarter of an hour
    python3 bench/speed/run.py --page-only

Files go to $TMPDIR, which should be on a disk for the stage cold. Every figure is a median of --repeats runs that take
turns with what they are compared with. Data are generated; mnist.scale comes from $GREEDYSTEP_DATA_DIR (default:
../shared/data beside the source tree), and is left out where it is absent.
"""

from __future__ import annotations

import argparse
import datetime
import filecmp
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parent.parent / folder) for folder in ("", "quality")]
import page
from shared import find_data, machine, run, say, timed, unpack

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
STAGES = ("learn", "limits", "threads", "peers")
LONG_STAGES = {"headline": 10**9, "scaling": 10**8, "cold": 10**8}  # their rows; made only when they are named
ROWS = 10**6


class Bench:
    def __init__(self, options: argparse.Namespace, folder: Path, rows: int) -> None:
        self.build, self.folder, self.rows, self.repeats = options.build.resolve(), folder, rows, options.repeats
        self.before: Path | None = options.before
        self.greedystep = self.build / "greedystep"

    def generate(self, name: str, rows: int, features: int, nnz: int, seed: int = 0) -> Path:
        path = self.folder / name
        shape = ["--rows", rows, "--features", features, "--nnz", nnz, "--seed", seed]
        run([self.greedystep, "generate", *shape, "-o", path, "--quiet"])
        return path

    def train(self, data: Path | list[Path], *options: object) -> float:
        files = data if isinstance(data, list) else [data]
        return timed([self.greedystep, "train", *files, "-o", self.folder / "model", "--quiet", *options])[1]


def limits(bench: Bench) -> dict[str, object]:
    """Single parts and whole runs beside their bare limits."""
    found = {}
    for line in run([bench.build / "bench" / "limits" / "bench_limits", bench.rows]).splitlines():
        what, ours, limit, unit, limit_is = line.split("\t")
        found[what] = {"ours": float(ours), "limit": float(limit), "unit": unit, "limit_is": limit_is}
        say(f"limits   {what:32} {float(ours):15,.0f} {float(limit):15,.0f} {unit}")
    return found | softmax(bench)


def softmax(bench: Bench) -> dict[str, object]:
    """1000 classes beside OpenBLAS, where there is one."""
    said = run([bench.build / "bench" / "speed" / "bench_softmax", 1000, 128, bench.repeats])
    value = {line.split("\t")[0]: float(line.split("\t")[1]) for line in said.splitlines() if "\t" in line}
    if "blas_limit" not in value:
        say("SKIPPED softmax: no OpenBLAS to compare with")
        return {}
    what = "learn 1000 classes, 128 values a row"
    limit = "OpenBLAS sgemv and sger, without an average"
    say(f"limits   {what:32} {value['softmax']:15,.0f} {value['blas_limit']:15,.0f} rows/s")
    return {what: {"ours": value["softmax"], "limit": value["blas_limit"], "unit": "rows/s", "limit_is": limit}}


LEARN_FEATURES = (10_000, 100_000, 1_000_000, 10_000_000)
LIBRARIES = ("z", "zstd", "lzma", "bz2", "xxhash", "jansson", "m", "pthread")


def learn_program(bench: Bench, before: Path) -> Path:
    """bench/speed/learn.c with the library of another version, a source tree with its build in build/."""
    out = bench.folder / "learn_before"
    library = next((before / "build").rglob("libgreedystep.a"))
    linked = [f"-l{name}" for name in LIBRARIES]
    run(["cc", "-O2", "-D_DEFAULT_SOURCE", "-I", before / "include", HERE / "learn.c", library, *linked, "-o", out])
    return out


def learn_figures(program: Path, rows: int, features: int) -> dict[str, tuple[float, float]]:
    """By the kind of rows: nanoseconds of the bare loop and of learning."""
    line = re.compile(r"(\w+) .*bare loop (\d+) ns a row, learning (\d+),")
    said = run([program, rows, features, 1]).splitlines()
    return {found[1]: (float(found[2]), float(found[3])) for found in map(line.match, said) if found}


def learn(bench: Bench) -> list[dict[str, object]]:
    """Learning rows in memory, this version and the one before in turns."""
    if bench.before is None:
        raise SystemExit("the stage learn needs --before, a source tree of version 1 with its build in build/")
    programs = {"now": bench.build / "bench" / "speed" / "bench_learn", "before": learn_program(bench, bench.before)}
    found = []
    for features in LEARN_FEATURES:
        taken: dict[str, list[dict]] = {name: [] for name in programs}
        for _ in range(bench.repeats):
            for name, program in programs.items():
                taken[name].append(learn_figures(program, bench.rows, features))
        for kind in ("ones", "values_weights"):
            bare = statistics.median(x[kind][0] for runs in taken.values() for x in runs)
            median = {name: statistics.median(x[kind][1] for x in runs) for name, runs in taken.items()}
            found.append({"rows": kind.replace("_", ", "), "features": features, "bare": bare, **median})
            say(f"learn    {kind:15} {features:9} features: bare {bare:.0f}, {median}")
    return found


def mnist(bench: Bench) -> Path | None:
    packed = find_data("mnist.scale")
    if packed is None:
        say("SKIPPED mnist.scale: it is not there (set GREEDYSTEP_DATA_DIR)")
        return None
    return unpack(packed, bench.folder)


def threads(bench: Bench) -> dict[str, object]:
    """One thread and two, the same bytes."""
    data = {
        f"clicks, {bench.rows} rows, text": (bench.generate("clicks.svm", bench.rows, 100000, 20), ()),
        f"clicks, {10 * bench.rows} rows, cache": (bench.generate("clicks.gsac", 10 * bench.rows, 100000, 20), ()),
        "clicks, 50000 rows, a team": (bench.generate("few.svm", 50000, 10000, 20), ()),
    }
    digits = mnist(bench)
    if digits is not None:
        run([bench.greedystep, "convert", digits, "-o", bench.folder / "mnist.gsac"])
        data["mnist.scale, a team"] = (digits, ("--passes", 2))
        data["mnist.scale 100 times, cache"] = ([bench.folder / "mnist.gsac"] * 100, ("--passes", 1))
    found = {}
    for name, (path, options) in data.items():
        taken: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(bench.repeats if "mnist" not in name else 3):
            for n in taken:
                taken[n].append(bench.train(path, *options, "--threads", n))
                (bench.folder / "model").replace(bench.folder / f"model{n}")
        same = filecmp.cmp(bench.folder / "model1", bench.folder / "model2", shallow=False)
        one, two = (statistics.median(taken[n]) for n in (1, 2))
        found[name] = {"one": one, "two": two, "ratio": one / two, "same": same}
        say(f"threads  {name:30} {one:.2f} s, {two:.2f} s, same bytes: {same}")
    return found


def planted_loss(bench: Bench, features: int) -> float:
    """Of the planted model itself, on generated rows."""
    import numpy as np

    from planted import two_classes

    weights, intercept = two_classes(0, features, 20)
    losses = []
    with open(bench.generate("planted.svm", 200000, features, 20), encoding="ascii") as lines:
        for line in lines:
            label, *cells = line.split()
            margin = weights[[int(cell.split(":")[0]) - 1 for cell in cells]].sum() + intercept
            losses.append(np.logaddexp(0, -margin if label == "1" else margin))
    return float(np.mean(losses))


def headline(bench: Bench) -> dict[str, object]:
    """headline.sh, and the planted model's own loss beside it."""
    features = 10_000_000
    begun = time.monotonic()
    both = subprocess.run(
        ["sh", HERE / "headline.sh", bench.greedystep, str(bench.rows), str(features)],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds = round(time.monotonic() - begun)
    lines = (both.stdout + both.stderr).splitlines()

    def said(name: str) -> str:
        return next(line.removeprefix(name).split()[0] for line in lines if line.startswith(name))

    found = {"features": features, "seconds": seconds, "held_out_loss": float(said('  "held_out_loss":').rstrip(","))}
    return found | {"peak_kb": int(said("peak memory")), "planted_loss": planted_loss(bench, features)}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, help="the build directory, such as build/release")
    parser.add_argument("--before", type=Path, help="a source tree of version 1 (52b00f8), with its build in build/")
    parser.add_argument("--stage", choices=(*STAGES, *LONG_STAGES), action="append", help="only this (may be repeated)")
    parser.add_argument(
        "--rows", type=int, metavar="N", help="rows that are generated; every stage has its own default"
    )
    parser.add_argument("--repeats", type=int, default=5, metavar="N")
    parser.add_argument("--page-only", action="store_true", help="docs/performance.md from results.json")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    if not options.page_only:
        from peers import peers
        from scale import cold, draw, scaling

        run_stage = {"learn": learn, "limits": limits, "threads": threads, "peers": peers}
        run_stage |= {"headline": headline, "scaling": scaling, "cold": cold}
        about = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        for stage in options.stage or STAGES:
            rows = options.rows or LONG_STAGES.get(stage, ROWS)
            with tempfile.TemporaryDirectory(prefix="greedystep-speed-") as folder:
                bench = Bench(options, Path(folder), rows)
                about[stage] = {"found": run_stage[stage](bench), "date": datetime.date.today().isoformat()}
                about[stage] |= {"rows": rows, "repeats": options.repeats, "machine": machine()}
            RESULTS.write_text(json.dumps(about, indent=2, sort_keys=True) + "\n")
        if "scaling" in about and {"scaling", "headline"} & set(options.stage or ()):
            draw(about)
    page.write(json.loads(RESULTS.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
