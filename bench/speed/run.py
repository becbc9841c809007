#!/usr/bin/env python3
"""How fast on one machine? Whole runs by size, learning beside the first version, parts beside limits: results.json.

    cmake --build build/release --target greedystep_cli bench_speed
    python3 bench/speed/run.py --build build/release [--stage sizes|learn|limits] [--before ../version-1]

sizes: `train` with no option but two threads, on generated rows of each size in SIZES; 10^8 rows once. learn needs
--before: a source tree of the first version (commit 52b00f8) with its build in build/. Every figure is a median of
--repeats runs that take turns with what they are compared with.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import measured, measured_at, run, say

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
ROWS = 10**6
NNZ = 20
SIZES = ((10**5, 10**4, "svm"), (10**6, 10**5, "svm"), (10**7, 10**6, "gsac"), (10**8, 10**7, "gsac"))


class Bench:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.build, self.folder, self.repeats = options.build.resolve(), options.folder or folder, options.repeats
        self.rows: int = options.rows or ROWS
        self.before: Path | None = options.before
        self.sizes: list[int] = options.size or [size[0] for size in SIZES]
        self.greedystep = self.build / "greedystep"

    def generate(self, rows: int, features: int, kind: str) -> Path:
        path = self.folder / f"clicks-{rows}-{features}.{kind}"
        shape = ["--rows", rows, "--features", features, "--nnz", NNZ, "--skew", 1, "--noise", 0.1]
        if not path.exists():
            run([self.greedystep, "generate", *shape, "-o", path, "--quiet"])
        return path


def sizes(bench: Bench) -> list[dict[str, object]]:
    """Whole runs of rows that are in the page cache, from the start of the command to the saved model."""
    earlier = json.loads(RESULTS.read_text()).get("sizes", {"found": []}) if RESULTS.exists() else {"found": []}
    found = [one for one in earlier["found"] if one["rows"] not in bench.sizes]
    for rows, features, kind in (size for size in SIZES if size[0] in bench.sizes):
        data, model = bench.generate(rows, features, kind), bench.folder / "model"
        command = [bench.greedystep, "train", data, "-o", model, "-q", "--threads", 2]
        taken = [measured(command) for _ in range(bench.repeats if rows < 10**8 else 1)]
        method = json.loads(run([bench.greedystep, "inspect", model, "--json"])).get("method")
        one = {key: statistics.median(x[key] for x in taken) for key in taken[0]} | {"runs": len(taken)}
        one |= {"rows": rows, "features": features, "format": kind, "method": method}
        found.append(one)
        say(f"sizes    {json.dumps(one)}")
    return sorted(found, key=lambda one: one["rows"])


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


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="the build directory, such as build/release")
    parser.add_argument("--before", type=Path, help="a source tree of version 1, with its build in build/")
    parser.add_argument("--stage", choices=STAGES, action="append", help="only this (may be repeated)")
    parser.add_argument("--size", type=int, action="append", help="of the stage sizes only these rows")
    parser.add_argument("--rows", type=int, metavar="N", help="rows of the stages learn and limits")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--folder", type=Path, help="where rows stay, for runs to come; default: a temporary one")
    return parser.parse_args()


STAGES = {"sizes": sizes, "learn": learn, "limits": limits}


def main() -> None:
    options = arguments()
    for stage in options.stage or STAGES:
        with tempfile.TemporaryDirectory(prefix="greedystep-speed-") as folder:
            bench = Bench(options, Path(folder))
            stage_found = {"found": STAGES[stage](bench), "rows": bench.rows, "repeats": bench.repeats}
        about = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        about[stage] = stage_found | measured_at()
        RESULTS.write_text(json.dumps(about, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
