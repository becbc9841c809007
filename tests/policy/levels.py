#!/usr/bin/env python3
"""levels.py SOURCE_DIR [BUILD_DIR] [--picture]: who may include and call whom in src/, cli/, compare/ and python/.

L1  A folder includes the folders below it (BELOW) and what it may use of the system and of libraries (MAY_USE).
L2  No headers include each other in a circle.
L3  With a build directory: no files call each other in a circle, and none calls into a folder that is not below.
L4  No modules of the Python package import each other in a circle, at their beginning, in functions or for types.

--picture prints the levels of every folder: a file calls only files on lower ones. The checks are first made on planted
trees that break each rule once.
"""

from __future__ import annotations

import argparse
import ast
import os
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
    "store": ("base", "learn", "solve", "merge", "model"),
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
    "solve": PLAIN + " greedystep/greedystep greedystep/distributed",
    "merge": PLAIN + " greedystep/greedystep greedystep/distributed",
    "model": PLAIN + " greedystep/greedystep",
    "store": PLAIN + " greedystep/greedystep greedystep/distributed jansson",
    "train": PLAIN + " greedystep/greedystep greedystep/data greedystep/train greedystep/distributed pthread",
    "mpi": SYSTEM + " greedystep/distributed greedystep/mpi pthread sched signal",
    "cli": SYSTEM
    + " greedystep/greedystep greedystep/data greedystep/train greedystep/distributed jansson signal stdatomic locale",
    "baseline": PLAIN + " greedystep/greedystep",
    "compare": PLAIN + " stdio greedystep/greedystep greedystep/data greedystep/distributed",
}
FILES_MAY_USE = {
    "src/base/half.c": "immintrin",  # only where the compiler knows AVX
    "src/base/hash.c": "xxhash",
    "src/base/processor.c": "cpuid",
    "src/base/workers.h": "pthread",
    "src/base/workers.c": "stdatomic",
    "src/base/os.h": "pthread",  # what the library needs of the system
    "src/base/posix.c": "fcntl locale poll signal sys/mman sys/resource sys/stat sys/statvfs time unistd xlocale",
    "src/base/linux.c": "sched unistd",
    "src/base/unix.c": "unistd",
    "src/base/windows.c": "fcntl io locale process sys/stat windows",
    "src/base/output_path.c": "fcntl sys/stat unistd",
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
    "cli/train_start.c": "dirent",  # what a killed process has left
    "cli/cluster.c": "dlfcn",  # a library that may be there or not
    "cli/duckdb.c": "dlfcn greedystep/arrow",
    "cli/duckdb_find.c": "dlfcn glob",
    "cli/session.c": "greedystep/arrow",
}
FILES_MAY_CALL = {"cli/manual.c": ("compare",)}  # a program of its own, which writes the manual of both
# The struct of a state, and what includes it: other folders use the accessors of learn/state.h.
INSIDE_LEARN = ("learn/inside.h", "learn/paper.h")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:([<"])([^>"]*)[>"]|([^<"\s].*))', re.MULTILINE)


def folder_of(path: str) -> str:
    if path.startswith("python/"):
        return "python"
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
        self.imports: dict[str, dict[str, str]] = {
            str(path.relative_to(root)): {} for path in sorted((root / "python" / "greedystep").rglob("*.py"))
        }
        for path in self.imports:
            self.read_imports(path)

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
        if name in INSIDE_LEARN:
            ok = here == "learn"
        if not ok:
            self.complain(f'{path} must not include "{name}"')
        elif target not in self.files:
            self.complain(f'{path} includes "{name}", which is not there')
        else:
            self.includes[path][target] = name

    def read_calls(self, build: Path) -> None:
        defined, wanted = {}, defaultdict(set)
        objects: dict[str, Path] = {}
        places = ("src/*/CMakeFiles/gsa_*.dir/**/*.o", "cli/**/*.o", "compare/**/*.o")
        for item in sorted((one for place in places for one in build.glob(place)), key=lambda one: one.stat().st_mtime):
            parts = item.relative_to(build).parts  # src learn CMakeFiles gsa_learn.dir loss heavy.c.o
            at = parts.index("CMakeFiles")
            if "mpi" not in parts[:at]:
                objects["/".join((*parts[:at], *parts[at + 2 :])).removesuffix(".o")] = item  # the newest of a file
        for path in sorted(objects.keys() & self.calls.keys()):  # others are of a build of another time
            item = objects[path]
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
                is_public = here in ("cli", "compare") and symbol.startswith("gsa_")
                may = there == here or there in BELOW[here] or there in FILES_MAY_CALL.get(caller, ())
                if not may and not is_public:
                    self.complain(f"{caller} must not call {symbol} of {callee}")
                if callee != caller:
                    self.calls[caller].setdefault(callee, symbol)

    def read_imports(self, path: str) -> None:
        """Relative imports are the only ones inside the package; one of a package is of its __init__."""
        for node in ast.walk(ast.parse((self.root / path).read_text())):
            if isinstance(node, ast.ImportFrom) and node.level > 0:
                above = Path(path).parents[node.level - 1]
                module = above.joinpath(*(node.module or "").split(".")) if node.module else above
                for name in node.names:
                    places = [module / f"{name.name}.py", module.with_suffix(".py"), module / "__init__.py"]
                    found = next((str(place) for place in places if str(place) in self.imports), None)
                    if found is None:
                        self.complain(f"{path} imports {name.name} of {module}, which is not there")
                    elif found != path:
                        self.imports[path].setdefault(found, name.name)

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
        return self.levels(self.calls, "calls") | self.levels(self.imports, "imports")


def plant(root: Path, files: dict[str, str], *, builds: bool = False) -> Tree:
    build = root / "build"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
        if builds:
            parts = Path(name).parts
            folders = parts[:2] if parts[0] == "src" else parts[:1]
            made = build.joinpath(*folders, "CMakeFiles", f"gsa_{folders[-1]}.dir", *parts[len(folders) :])
            made.parent.mkdir(parents=True, exist_ok=True)
            compiler = os.environ.get("CC", "cc").split()
            subprocess.run([*compiler, "-c", root / name, "-o", f"{made}.o"], check=True)
    tree = Tree(root, build if builds else None)
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
    "src/solve/inside.c": '#include "learn/inside.h"',
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
    "python/greedystep/circle.py": "def late():\n    from ._below import nothing",
    "python/greedystep/_below.py": "from .circle import late",
    "python/greedystep/gone.py": "from ._gone import nothing",
}
# Two circles, and two calls that lead upwards.
PLANTED_CALLS = {
    "src/base/one.c": "void two(void); void one(void) { two(); }",
    "src/base/two.c": "void one(void); void two(void) { one(); }",
    "cli/first.c": "void second(void); void first(void) { second(); }",
    "cli/second.c": "void first(void); void second(void) { first(); }",
    "src/learn/up.c": "void gsai_merge(void); void up(void) { gsai_merge(); }",
    "src/merge/merge.c": "void gsai_merge(void) {}",
    "cli/inside.c": "void gsai_merge(void); void gsa_api(void); void inside(void) { gsai_merge(); gsa_api(); }",
    "src/merge/api.c": "void gsa_api(void) {}",
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
    "python/greedystep/__init__.py": "from .fine import word",
    "python/greedystep/fine.py": "from . import _low as low\nfrom .inner._fine import word",
    "python/greedystep/_low.py": "import os",
    "python/greedystep/inner/_fine.py": "from .. import _low",
}


def check_self() -> None:
    with tempfile.TemporaryDirectory() as name:
        if found := plant(Path(name), FINE).findings:
            sys.exit("the check finds something where nothing is wrong:\n" + "\n".join(found))
    with tempfile.TemporaryDirectory() as name:
        found = plant(Path(name), {**FINE, **PLANTED}).findings
        wanted = len(PLANTED) - 2  # twice two files are one cycle
        if len(found) != wanted:
            sys.exit(f"the check finds {len(found)} of {wanted} planted violations:\n" + "\n".join(found))
    with tempfile.TemporaryDirectory() as name:
        found = plant(Path(name), PLANTED_CALLS, builds=True).findings
        if len(found) != 4:
            sys.exit(f"the check finds {len(found)} of 4 planted calls:\n" + "\n".join(found))


def picture(levels: dict[str, int]) -> None:
    for folder in (*BELOW, "python"):
        own = {path: level for path, level in levels.items() if folder_of(path) == folder}
        print(f"\n{folder}: {len(own)} files, {max(own.values(), default=-1) + 1} levels")
        for level in sorted(set(own.values()), reverse=True):
            names = (os.path.splitext(path.split(f"{folder}/", 1)[1])[0] for path in own if own[path] == level)
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
    n_files = len(tree.files) + len(tree.imports)
    print(f"{n_files} files: no include, call or import leads upwards or in a circle")


if __name__ == "__main__":
    main()
