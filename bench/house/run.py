#!/usr/bin/env python3
"""How large the house is, at one commit or several beside each other: lines of code by room, the longest files and
functions, public symbols, verbs and flags, lines that stand somewhere else too, and what a build costs.

    python3 bench/house/run.py 9b26a8b HEAD              a table, in Markdown
    python3 bench/house/run.py 9b26a8b HEAD --build      with the time of a release build of each, in turn, three times
"""

from __future__ import annotations

import argparse
import collections
import io
import os
import re
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import markdown

ROOMS = [
    *(f"src/{room}" for room in ("base", "core", "store", "data", "engine", "mpi", "baseline")),
    *("include", "cli", "python/greedystep", "python/tests", "tests", "fuzz", "bench", "scripts", "examples"),
]
CODE = {".c", ".h", ".def", ".py", ".sh"}
RUN = 6  # lines
PROBES = 3  # builds of each tree
NOT_CODE = re.compile(r"\s*(/\*|\*|#|//|$)")
THIN = re.compile(r'[\s{}()\[\];,]*$|\s*(from|import|#include)\b|\s*("""|\'\'\')')
OPTION = re.compile(r'^\s*\{"([a-z-]+)", (?:0|\'.\'), OPTION_', re.MULTILINE)
FUNCTION = re.compile(r"^\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)

Facts = dict[str, str]


def code_files(tree: Path, *rooms: str) -> list[Path]:
    found = (path for room in rooms for path in (tree / room).rglob("*") if path.is_file())
    return sorted(path for path in found if path.suffix in CODE or is_script(path))


def is_script(path: Path) -> bool:
    return path.suffix == "" and path.read_bytes()[:2] == b"#!"


def lines_of_code(path: Path) -> list[str]:
    """Without comments and blank lines, as tests/policy/size.sh counts; `#` begins C's directives, which are code."""
    is_c = path.suffix in {".c", ".h", ".def"}
    return [
        line
        for line in path.read_text().splitlines()
        if not NOT_CODE.match(line) or (is_c and line.lstrip().startswith("#"))
    ]


def longest_files(tree: Path, *rooms: str) -> str:
    sizes = [(len(path.read_text().splitlines()), path.name) for path in code_files(tree, *rooms)]
    return ", ".join(f"{name} {size}" for size, name in sorted(sizes, reverse=True)[:3])


def longest_functions(tree: Path) -> tuple[str, int]:
    sizes = []
    for path in code_files(tree, "src", "cli"):
        text = path.read_text()
        for body in FUNCTION.finditer(text):
            before = text[: body.start()].rstrip().rsplit("\n\n", 1)[-1].rsplit(";\n", 1)[-1]
            name = re.search(r"(\w+)\(", before)
            sizes.append((body.group(1).count("\n"), name.group(1) if name else "?"))
    return ", ".join(f"{name} {size}" for size, name in sorted(sizes, reverse=True)[:3]), sum(s > 40 for s, _ in sizes)


def duplicated(tree: Path, *rooms: str) -> int:
    """Lines that stand in a run of RUN lines, white space folded, that stands in another place too."""
    places = collections.defaultdict(list)
    for path in code_files(tree, *rooms):
        lines = [" ".join(line.split()) for line in lines_of_code(path) if not THIN.match(line)]
        for at in range(len(lines) - RUN + 1):
            places["\n".join(lines[at : at + RUN])].append((path, at))
    again = {(path, at + i) for found in places.values() if len(found) > 1 for path, at in found for i in range(RUN)}
    return len(again)


def flags(tree: Path) -> set[str]:
    named = {name for path in code_files(tree, "cli") for name in OPTION.findall(path.read_text())}
    return named | set(re.findall(r"^PARAM\((\w+)", (tree / "src/learn/params.def").read_text(), re.MULTILINE))


def verbs(tree: Path) -> int:
    texts = (path.read_text() for path in code_files(tree, "cli"))
    return sum(len(re.findall(r"^const cli_verb \w+ = ", text, re.MULTILINE)) for text in texts)


def look_at(tree: Path) -> Facts:
    facts = {}
    for room in ROOMS:
        files = code_files(tree, room)
        if room == "tests":
            room = "tests (C, sh, Python)"
        facts[f"lines of {room}"] = f"{sum(len(lines_of_code(path)) for path in files):,} in {len(files)}"
    facts["pages of docs"] = f"{len(list((tree / 'docs').rglob('*.md')))}"
    facts["longest files of src, cli"] = longest_files(tree, "src", "cli")
    facts["longest files of tests"] = longest_files(tree, "tests")
    facts["longest functions"], over = longest_functions(tree)
    facts["functions above 40 lines"] = f"{over}"
    facts["public symbols"] = f"{len((tree / 'tests/policy/exports.txt').read_text().split())}"
    facts["verbs, flags"] = f"{verbs(tree)}, {len(flags(tree))}"
    for rooms in (("src", "cli", "include"), ("python", "bench", "scripts", "examples"), ("tests", "fuzz")):
        facts[f"lines in runs of {RUN} that stand twice: {', '.join(rooms)}"] = f"{duplicated(tree, *rooms)}"
    return facts


def build(tree: Path) -> tuple[float, float]:
    """Wall and processor seconds of a release build from nothing, all but its configuration."""
    folder = tempfile.mkdtemp(dir=tree)
    command = ["cmake", "-S", tree, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["cmake", "--build", folder], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def time_builds(trees: dict[str, Path], facts: dict[str, Facts]) -> None:
    seconds = {name: [] for name in trees}
    for _ in range(PROBES):
        for name, tree in trees.items():
            seconds[name].append(build(tree))
    for name in trees:
        wall, processor = (statistics.median(column) for column in zip(*seconds[name], strict=True))
        what = f"release build with tests, {os.cpu_count()} cores"
        facts[name][what] = f"{wall:.0f} s ({processor:.0f} s of processor)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commits", nargs="+", metavar="COMMIT")
    parser.add_argument("--build", action="store_true", help="time release builds too")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trees = {}
        for commit in asked.commits:
            trees[commit] = Path(folder, commit)
            packed = subprocess.run(["git", "archive", commit], check=True, stdout=subprocess.PIPE).stdout
            with tarfile.open(fileobj=io.BytesIO(packed)) as files:
                files.extractall(trees[commit], filter="data")
        facts = {commit: look_at(tree) for commit, tree in trees.items()}
        if asked.build:
            time_builds(trees, facts)
    names = next(iter(facts.values()))
    print(markdown(["what", *facts], [[what, *(of[what] for of in facts.values())] for what in names]), end="")


if __name__ == "__main__":
    main()
