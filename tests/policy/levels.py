#!/usr/bin/env python3
"""levels.py SOURCE_DIR [BUILD_DIR] [--picture]: who may include and call whom in src/, cli/ and compare/.

L1  A folder includes the folders below it (BELOW) and what it may use of the system and of libraries (MAY_USE).
L2  No headers include each other in a circle.
L3  With a build directory: no files call each other in a circle, and none calls into a folder that is not below.

--picture prints the levels of every folder: a file calls only files on lower ones. The checks are first made on planted
trees that break each rule once.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

BELOW = {
    "base": (),
    "data": ("base",),
    "learn": ("base",),
    "solve": ("base", "learn"),
    "merge": ("base", "learn"),
    "model": ("base", "learn"),
    "store": ("base", "learn", "merge", "model"),
    "train": ("base", "data", "learn", "solve", "merge", "model", "store"),
    "mpi": (),
    "cli": ("base",),
    "baseline": ("base", "learn"),
    "compare": ("base", "learn", "cli", "baseline"),
}
PLAIN = "assert ctype errno float inttypes limits math stdalign stdarg stdbool stddef stdint stdlib string"
SYSTEM = PLAIN + " fcntl poll stdio sys/mman sys/stat sys/types time unistd"
# What a folder may include in angle brackets; files that may use more, and why.
MAY_USE = {
    "base": PLAIN + " stdio greedystep/greedystep greedystep/distributed",
    "data": PLAIN + " stdio greedystep/greedystep greedystep/data greedystep/distributed greedystep/arrow",
    "learn": PLAIN + " greedystep/greedystep greedystep/distributed",
    "solve": PLAIN + " greedystep/greedystep",
    "merge": PLAIN + " greedystep/greedystep greedystep/distributed",
    "model": PLAIN + " greedystep/greedystep",
    "store": SYSTEM + " greedystep/greedystep greedystep/distributed jansson",
    "train": PLAIN + " greedystep/greedystep greedystep/data greedystep/train greedystep/distributed pthread",
    "mpi": SYSTEM + " greedystep/distributed greedystep/mpi pthread sched signal",
    "cli": SYSTEM
    + " greedystep/greedystep greedystep/data greedystep/train greedystep/distributed jansson signal stdatomic locale",
    "baseline": PLAIN + " greedystep/greedystep",
    "compare": PLAIN + " stdio greedystep/greedystep greedystep/data greedystep/distributed",
}
FILES_MAY_USE = {
    "src/base/hash.c": "xxhash",
    "src/base/workers.h": "pthread",
    "src/base/workers.c": "stdatomic",
    "src/base/os.h": "pthread",  # what the library needs of the system
    "src/base/posix.c": "fcntl locale poll signal sys/mman sys/resource sys/stat sys/statvfs time unistd xlocale",
    "src/base/windows.c": "fcntl io locale process sys/stat windows",
    "src/base/output_path.c": "fcntl sys/stat unistd",
    "src/base/output_path_windows.c": "fcntl io sys/stat windows",
    "src/data/codec/gzip.c": "zlib",
    "src/data/codec/zstd.c": "zstd zstd_errors",
    "src/data/codec/xz.c": "lzma",
    "src/data/codec/bzip2.c": "bzlib",
    "src/data/reader.h": "stdatomic",  # progress, asked by another thread
    "src/data/spill.h": "stdatomic",
    "src/data/format/digits.h": "emmintrin",  # only where the compiler says that there is SSE2
    "src/train/prefetch.c": "stdatomic",  # a size that may change while a thread reads
    "cli/style.c": "strings sys/ioctl",  # what a terminal is called, and how wide it is
    "cli/trace.c": "sys/resource",  # the peak memory of a run
    "cli/train_checkpoint.c": "dirent",  # what a killed process has left
    "cli/cluster.c": "dlfcn",  # a library that may be there or not
    "cli/duckdb.c": "dlfcn greedystep/arrow",
    "cli/duckdb_find.c": "dlfcn glob",
    "cli/session.c": "greedystep/arrow",
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:([<"])([^>"]*)[>"]|([^<"\s].*))', re.MULTILINE)


def folder_of(path: str) -> str:
    top, inner = path.split("/")[:2]
    return inner if top == "src" or inner == "baseline" else top


class Tree:
    def __init__(self, root: Path, build: Path | None) -> None:
        self.root, self.findings = root, []
        self.files = sorted(
            str(path.relative_to(root))
            for top in ("src", "cli", "compare")
            for path in (root / top).rglob("*")
            if path.suffix in (".c", ".h", ".def")
        )
        self.includes: dict[str, dict[str, str]] = {path: {} for path in self.files}
        self.calls: dict[str, dict[str, str]] = {path: {} for path in self.files if path.endswith(".c")}
        for path in self.files:
            self.read_includes(path)
        if build:
            self.read_calls(build)

    def complain(self, text: str) -> None:
        self.findings.append(text)

    def read_includes(self, path: str) -> None:
        for kind, name, other in INCLUDE.findall((self.root / path).read_text()):
            if other:
                self.complain(f"{path} includes {other.strip()}, which cannot be checked")
            elif kind == "<":
                self.check_library(path, name)
            else:
                self.check_own(path, name)

    def check_library(self, path: str, name: str) -> None:
        may = (MAY_USE.get(folder_of(path), "") + " " + FILES_MAY_USE.get(path, "")).split()
        if name.removesuffix(".h") not in may:
            self.complain(f"{path} must not include <{name}>")

    def check_own(self, path: str, name: str) -> None:
        here = folder_of(path)
        top = name.split("/")[0]
        target = f"src/{name}" if "/" in name else f"{here}/{name}"
        if top == "cli":
            target = name
        elif top == "baseline":
            target = f"compare/{name}"
        there = folder_of(target)
        ok = there == here or there in BELOW.get(here, ())
        if here in ("baseline", "compare") and there == "learn":
            ok = name.startswith(("learn/loss/", "learn/kernel/"))
        if not ok:
            self.complain(f'{path} must not include "{name}"')
        elif target not in self.files:
            self.complain(f'{path} includes "{name}", which is not there')
        else:
            self.includes[path][target] = name

    def read_calls(self, build: Path) -> None:
        defined, wanted = {}, defaultdict(set)
        for item in sorted([*build.glob("src/*/CMakeFiles/gsa_*.dir/**/*.o"), *build.glob("compare/**/*.o")]):
            parts = item.relative_to(build).parts  # src learn CMakeFiles gsa_learn.dir loss heavy.c.o
            at = parts.index("CMakeFiles")
            if "mpi" in parts[:at]:
                continue
            path = "/".join((*parts[:at], *parts[at + 2 :])).removesuffix(".o")
            if path not in self.calls:
                continue  # of a build of another time
            for line in subprocess.run(["nm", item], capture_output=True, text=True, check=True).stdout.splitlines():
                *_, kind, symbol = line.split()
                if kind == "U":
                    wanted[path].add(symbol)
                elif kind.isupper():
                    defined[symbol] = path
        for caller, symbols in wanted.items():
            for symbol in sorted(symbols & defined.keys()):
                callee = defined[symbol]
                here, there = folder_of(caller), folder_of(callee)
                is_public = here == "compare" and symbol.startswith("gsa_")
                if there != here and there not in BELOW[here] and not is_public:
                    self.complain(f"{caller} must not call {symbol} of {callee}")
                if callee != caller:
                    self.calls[caller].setdefault(callee, symbol)

    def levels(self, edges: dict[str, dict[str, str]], verb: str) -> dict[str, int]:
        """The level of every file in its folder; complains about cycles."""
        level: dict[str, int] = {}
        open_files: set[str] = set()

        def visit(path: str, way: list[str]) -> int:
            if path in open_files:
                cycle = [*way[way.index(path) :], path]
                steps = " ".join(f"{a} {verb} {edges[a][b]}:" for a, b in pairwise(cycle))
                self.complain(f"cycle: {steps} {path}")
                return 0
            if path not in level:
                open_files.add(path)
                below = [other for other in edges[path] if folder_of(other) == folder_of(path)]
                level[path] = 1 + max((visit(other, [*way, path]) for other in below), default=-1)
                open_files.remove(path)
            return level[path]

        for path in edges:
            visit(path, [])
        return level

    def check(self) -> dict[str, int]:
        self.levels(self.includes, "includes")
        return self.levels(self.calls, "calls")


def plant(root: Path, files: dict[str, str]) -> Tree:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    tree = Tree(root, None)
    tree.check()
    return tree


PLANTED = {
    "src/base/sibling.c": '#include "learn/state.h"',
    "src/base/library.c": "#include <xxhash.h>",
    "src/learn/prints.c": "#include <stdio.h>",
    "src/learn/clock.c": "  #  include <time.h>",
    "src/learn/data.c": "#include <greedystep/data.h>",
    "src/learn/upward.c": '#include "store/snapshot.h"',
    "src/learn/hidden.c": "#include HEADER",
    "src/data/learns.c": '#include "learn/state.h"',
    "src/data/codec/gzip.c": "#include <lzma.h>",
    "src/solve/upward.c": '#include "train/job.h"',
    "src/train/cluster.c": "#include <greedystep/mpi.h>",
    "src/mpi/inside.c": '#include "base/error.h"',
    "src/mpi/direct.c": "#include <mpi.h>",
    "cli/inside.c": '#include "learn/state.h"',
    "cli/missing.c": '#include "missing.h"',
    "cli/train.c": '#include "baseline/optimizer.h"',
    "compare/baseline/state.c": '#include "learn/state.h"',
    "compare/store.c": '#include "store/snapshot.h"',
    "src/merge/one.h": '#include "merge/two.h"',
    "src/merge/two.h": '#include "merge/one.h"',
}
FINE = {
    "src/learn/state.h": "",
    "src/store/snapshot.h": '#include "learn/state.h"',
    "src/base/error.h": "",
    "src/base/hash.c": "#include <xxhash.h>",
    "src/train/job.h": "",
    "compare/baseline/optimizer.h": "",
    "src/mpi/fine.c": "#include <greedystep/mpi.h>",
    "compare/fine.c": '#include "baseline/optimizer.h"',
    "compare/fine_too.c": '#include "cli/fine.h"',
    "cli/fine.h": "#include <greedystep/train.h> /* public */",
    "cli/fine.c": '#include "fine.h"',
}


def check_self() -> None:
    with tempfile.TemporaryDirectory() as name:
        if found := plant(Path(name), FINE).findings:
            sys.exit("the check finds something where nothing is wrong:\n" + "\n".join(found))
    with tempfile.TemporaryDirectory() as name:
        found = plant(Path(name), {**FINE, **PLANTED}).findings
        wanted = len(PLANTED) - 1  # two files are one cycle
        if len(found) != wanted:
            sys.exit(f"the check finds {len(found)} of {wanted} planted violations:\n" + "\n".join(found))


def picture(levels: dict[str, int]) -> None:
    for folder in BELOW:
        own = {path: level for path, level in levels.items() if folder_of(path) == folder}
        print(f"\n{folder}: {len(own)} files, {max(own.values(), default=-1) + 1} levels")
        for level in sorted(set(own.values()), reverse=True):
            names = (path.split(f"{folder}/", 1)[1].removesuffix(".c") for path in own if own[path] == level)
            print(f"  {level:2}  " + "  ".join(sorted(names)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("build", type=Path, nargs="?")
    parser.add_argument("--picture", action="store_true")
    options = parser.parse_args()
    check_self()
    tree = Tree(options.source, options.build)
    levels = tree.check()
    if options.picture:
        picture(levels)
    if tree.findings:
        sys.exit("\n".join(tree.findings))
    print(f"{len(tree.files)} files: no include and no call leads upwards or in a circle")


if __name__ == "__main__":
    main()
