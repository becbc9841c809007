#!/usr/bin/env python3
"""How large the code is, at one or several commits: lines per folder by cloc, files, lengths of functions,
public symbols, verbs and options, repeated lines, and the time of a build.

    apt-get install cloc
    python3 bench/code/run.py 52b00f8 HEAD              a table, in Markdown
    python3 bench/code/run.py 52b00f8 HEAD --build      with the time of a release build of each, in turn, three times
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

# core and engine are those of version 1.
LAYERS = ("base", "data", "core", "learn", "solve", "merge", "model", "store", "engine", "train", "mpi", "baseline")
OTHERS = ("src", "include", "cli", "compare", "python/greedystep", "python/tests", "tests", "fuzz", "bench")
FOLDERS = [*(f"src/{name}" for name in LAYERS), *OTHERS]
LANGUAGES = "C,C/C++ Header,Python,Bourne Shell"
CODE = {".c", ".h", ".def", ".py", ".sh"}
RUN = 6  # lines
PROBES = 3  # builds of each tree
NOT_CODE = re.compile(r"\s*(/\*|\*|#|//|$)")
THIN = re.compile(r'[\s{}()\[\];,]*$|\s*(from|import|#include)\b|\s*("""|\'\'\')')
OPTION = re.compile(r'^\s*\{"([a-z-]+)", (?:0|\'.\'), OPTION_', re.MULTILINE)
FUNCTION = re.compile(r"^\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)

Facts = dict[str, str]


def code_files(tree: Path, *folders: str) -> list[Path]:
    found = (path for name in folders for path in (tree / name).rglob("*") if path.is_file())
    return sorted(path for path in found if path.suffix in CODE or is_script(path))


def is_script(path: Path) -> bool:
    return path.suffix == "" and path.read_bytes()[:2] == b"#!"


def lines_of_code(path: Path) -> list[str]:
    """Without comments and blank lines; `#` begins C's directives, which are code."""
    is_c = path.suffix in {".c", ".h", ".def"}
    return [
        line
        for line in path.read_text().splitlines()
        if not NOT_CODE.match(line) or (is_c and line.lstrip().startswith("#"))
    ]


def longest_files(tree: Path, *folders: str) -> str:
    sizes = [(len(path.read_text().splitlines()), path.name) for path in code_files(tree, *folders)]
    return ", ".join(f"{name} {size}" for size, name in sorted(sizes, reverse=True)[:3])


def functions(tree: Path) -> str:
    sizes = []
    for path in code_files(tree, "src", "cli", "compare"):
        text = path.read_text()
        for body in FUNCTION.finditer(text):
            before = text[: body.start()].rstrip().rsplit("\n\n", 1)[-1].rsplit(";\n", 1)[-1]
            name = re.search(r"(\w+)\(", before)
            sizes.append((body.group(1).count("\n"), name.group(1) if name else "?"))
    longest = ", ".join(f"{name} {size}" for size, name in sorted(sizes, reverse=True)[:3])
    return f"median {statistics.median(size for size, _ in sizes):.0f}; {longest}"


def cloc(tree: Path, folder: str) -> str:
    if not (tree / folder).is_dir():
        return "-"
    told = subprocess.run(
        ["cloc", "--quiet", "--csv", f"--include-lang={LANGUAGES}", str(tree / folder)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    n_files, _, _, _, n_lines = told.strip().splitlines()[-1].split(",")
    return f"{int(n_lines):,} in {n_files} files"


def duplicated(tree: Path, *folders: str) -> int:
    """Lines that stand in a run of RUN lines, white space folded, that stands in another place too."""
    places = collections.defaultdict(list)
    for path in code_files(tree, *folders):
        lines = [" ".join(line.split()) for line in lines_of_code(path) if not THIN.match(line)]
        for at in range(len(lines) - RUN + 1):
            places["\n".join(lines[at : at + RUN])].append((path, at))
    again = {(path, at + i) for found in places.values() if len(found) > 1 for path, at in found for i in range(RUN)}
    return len(again)


def flags(tree: Path) -> set[str]:
    named = {name for path in code_files(tree, "cli") for name in OPTION.findall(path.read_text())}
    return named | set(
        re.findall(r"^PARAM\((\w+)", next((tree / "src").glob("*/params.def")).read_text(), re.MULTILINE)
    )


def verbs(tree: Path) -> int:
    texts = (path.read_text() for path in code_files(tree, "cli"))
    return sum(len(re.findall(r"^const cli_verb \w+ = ", text, re.MULTILINE)) for text in texts)


def public_symbols(tree: Path) -> int:
    """How many functions the library exports; older trees have a list of names."""
    for kept in (tree / "tests").glob("*/abi.txt"):
        return len(re.findall(r"^function (?!mpi)", kept.read_text(), re.MULTILINE))
    return len(next((tree / "tests").glob("*/exports.txt")).read_text().split())


def look_at(tree: Path) -> Facts:
    facts = {f"lines of {folder}": cloc(tree, folder) for folder in FOLDERS}
    facts["pages of docs"] = f"{len(list((tree / 'docs').rglob('*.md')))}"
    facts["longest files of src, cli"] = longest_files(tree, "src", "cli", "compare")
    facts["longest files of tests"] = longest_files(tree, "tests")
    facts["functions, in lines"] = functions(tree)
    facts["public symbols"] = f"{public_symbols(tree)}"
    facts["verbs, options"] = f"{verbs(tree)}, {len(flags(tree))}"
    program, around = ("src", "cli", "compare", "include"), ("python", "bench", "scripts", "examples")
    for folders in (program, around, ("tests", "fuzz")):
        facts[f"lines in repeated runs of {RUN}: {', '.join(folders)}"] = f"{duplicated(tree, *folders)}"
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
