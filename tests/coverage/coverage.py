#!/usr/bin/env python3
"""How much of src/ the tests run: builds with gcov, runs the tests, prints lines and branches per folder.

    coverage.py BUILD_DIR                 build, run the tests, measure
    coverage.py BUILD_DIR --measure       only read what runs have left in BUILD_DIR
    coverage.py BUILD_DIR --check         fail below the least figures, or if a line that never ran has no reason
    coverage.py BUILD_DIR --write PAGE --commit HASH    the same, and write the table of docs/reliability.md
    coverage.py BUILD_DIR --missed FOLDER   the lines and branches of src/FOLDER that were not taken, with their text

Lines and branches are gcov's, at -O0 (`gcov --branch-probabilities --json-format`). A line counts if gcc made code of it.
A branch is one way out of a condition of the machine's: `if (a && b)` has four, a switch one for each case; a `for`
two. Ways that only an exception takes are left out (C has none). A source that is compiled more than once (into both
libraries for MPI, with and without codecs, a header into many files) counts once: a line ran if it ran in any of them.

Nothing is excluded. Lines that never ran need a reason in reasons.txt beside this script. Standard library only.
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LEAST_LINES, LEAST_BRANCHES = 95.0, 85.0
# What is left out here measures time or memory, or repeats at length what others do briefly.
LEFT_OUT = ["-LE", "slow|real", "-E", r"^((real|readme|install|policy)\.|cli\.keep$)"]


class Line:
    """One line of a source, over all the objects that have it."""

    def __init__(self):
        self.count = 0
        self.function = ""
        self.branches = []

    def add(self, seen):
        self.count += seen["count"]
        self.function = seen.get("function_name", self.function)
        branches = [each["count"] for each in seen["branches"] if not each["throw"]]
        if len(branches) > len(self.branches):
            branches, self.branches = self.branches, branches
        for i, count in enumerate(branches):
            self.branches[i] += count


def run(command, **options):
    print("$", " ".join(str(each) for each in command), flush=True)
    subprocess.run([str(each) for each in command], check=True, **options)


def build_and_test(build, jobs):
    run(["cmake", "--preset", "coverage", "-B", build], cwd=ROOT)
    run(["cmake", "--build", build, "--parallel", jobs])
    for left in build.rglob("*.gcda"):
        left.unlink()
    run(["ctest", "--test-dir", build, "--parallel", jobs, "--output-on-failure", *LEFT_OUT])


def read_gcov(build):
    """{path below ROOT: {line number: Line}} of everything in src/."""
    sources = collections.defaultdict(lambda: collections.defaultdict(Line))
    notes = sorted(each for each in (build / "src").rglob("*.gcno"))
    notes += sorted((build / "tests/unit/data").rglob("gsa_data_without_codecs.dir/**/*.gcno"))
    for note in notes:
        command = ["gcov", "--branch-probabilities", "--json-format", "--stdout", str(note)]
        done = subprocess.run(command, capture_output=True, cwd=build)
        if done.returncode != 0:
            print(f"{note}: {done.stderr.decode().strip()}")
        for document in done.stdout.splitlines():
            for source in json.loads(document)["files"]:
                path = os.path.relpath(os.path.join(build, source["file"]), ROOT)
                if path.startswith("src/"):
                    for seen in source["lines"]:
                        sources[path][seen["line_number"]].add(seen)
    return sources


class Sum:
    def __init__(self):
        self.lines = self.ran = self.branches = self.taken = 0

    def add(self, line):
        self.lines += 1
        self.ran += line.count > 0
        self.branches += len(line.branches)
        self.taken += sum(count > 0 for count in line.branches)

    def percent_lines(self):
        return 100 * self.ran / max(1, self.lines)

    def percent_branches(self):
        return 100 * self.taken / max(1, self.branches)

    def row(self):
        return (f"{self.ran} / {self.lines}", f"{self.percent_lines():.2f} %",
                f"{self.taken} / {self.branches}", f"{self.percent_branches():.2f} %")


def sums_of_folders(sources):
    sums = collections.OrderedDict()
    total = Sum()
    for path in sorted(sources):
        folder = "/".join(path.split("/")[:2])
        for line in sources[path].values():
            sums.setdefault(folder, Sum()).add(line)
            total.add(line)
    sums["all of src/"] = total
    return sums


def print_sums(sums):
    print(f"{'':16}{'lines':>16}{'':>10}{'branches':>16}")
    for folder, each in sums.items():
        lines, line_part, branches, branch_part = each.row()
        print(f"{folder:16}{lines:>16}{line_part:>10}{branches:>16}{branch_part:>10}")


class Reason:
    """A paragraph of reasons.txt: places, then a reason. A place is FILE, FILE FUNCTION or FILE FUNCTION /TEXT/."""

    def __init__(self, places, text):
        self.places, self.text = places, text
        self.lines = collections.defaultdict(list)

    def holds(self, path, function, text):
        for place in self.places:
            if not pathlib.PurePath(path).match(place[0]) or (place[1] != "*" and place[1] != function):
                continue
            if place[2] is None or place[2].search(text):
                return True
        return False


def read_reasons():
    reasons = []
    places = []
    for number, line in enumerate((HERE / "reasons.txt").read_text().splitlines(), 1):
        if not line.strip():
            places = []
        elif line.startswith("#"):
            continue
        elif line.startswith("src/"):
            found = re.fullmatch(r"(\S+)(?: (\S+))?(?: /(.*)/)?", line)
            if not found:
                sys.exit(f"reasons.txt:{number}: expected FILE [FUNCTION [/TEXT/]]")
            text = re.compile(found[3]) if found[3] else None
            places.append((found[1], found[2] or "*", text))
        elif places:
            reasons.append(Reason(places, line.strip()))
            places = []
        elif reasons:
            reasons[-1].text += " " + line.strip()
    return reasons


def sort_by_reason(sources):
    """The reasons, each with its lines, and the lines without one."""
    reasons, without = read_reasons(), []
    for path in sorted(sources):
        text = (ROOT / path).read_text().splitlines()
        for number in sorted(sources[path]):
            line = sources[path][number]
            if line.count > 0:
                continue
            for reason in reasons:
                if reason.holds(path, line.function, text[number - 1]):
                    reason.lines[path].append(number)
                    break
            else:
                without.append((path, number, line.function, text[number - 1].strip()))
    return reasons, without


BEGIN, END = "<!-- table: tests/coverage/coverage.py -->\n", "<!-- end -->\n"


def write_table(path, sums, commit):
    """Writes the figures to their place in a page."""
    rows = "\n".join("| " + " | ".join((f"`{folder}`" if " " not in folder else folder, *each.row())) + " |"
                     for folder, each in sums.items())
    before, rest = path.read_text().split(BEGIN)
    table = f"| folder | lines | | branches | |\n|---|--:|--:|--:|--:|\n{rows}\n"
    source = f"Measured at commit {commit}, {datetime.date.today()}."
    path.write_text(f"{before}{BEGIN}{table}\n{source}\n{END}{rest.split(END)[1]}")


def print_missed(sources, folder):
    for path in sorted(sources):
        if not path.startswith(folder.rstrip("/")):
            continue
        text = (ROOT / path).read_text().splitlines()
        for number, line in sorted(sources[path].items()):
            taken = [count > 0 for count in line.branches]
            if line.count == 0 or not all(taken):
                mark = "####" if line.count == 0 else f"{sum(taken)}/{len(taken)}"
                print(f"{path}:{number}: {line.function}: {mark:>5} {text[number - 1].rstrip()}")


def check(sums, reasons, without):
    good = True
    total = sums["all of src/"]
    if total.percent_lines() < LEAST_LINES or total.percent_branches() < LEAST_BRANCHES:
        print(f"too little: at least {LEAST_LINES} % of lines and {LEAST_BRANCHES} % of branches are asked for")
        good = False
    for path, number, function, text in without:
        print(f"{path}:{number}: in {function}, never ran and has no reason in reasons.txt: {text}")
        good = False
    for reason in reasons:
        if not reason.lines:
            print(f"note: this reason of reasons.txt holds no line any more: {reason.text}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--measure", action="store_true", help="build and run nothing")
    parser.add_argument("--check", action="store_true", help="fail below the least figures, or without a reason")
    parser.add_argument("--write", type=pathlib.Path, metavar="PAGE", help="the page with the table")
    parser.add_argument("--commit", default="?", help="what was measured, for the page")
    parser.add_argument("--missed", metavar="FOLDER", help="what was not taken below src/FOLDER")
    given = parser.parse_args()
    build = given.build.resolve()
    if not given.measure:
        build_and_test(build, given.jobs)
    sources = read_gcov(build)
    if not sources:
        sys.exit(f"{build} has nothing of gcov's")
    if given.missed:
        print_missed(sources, "src/" + given.missed)
        return
    sums = sums_of_folders(sources)
    reasons, without = sort_by_reason(sources)
    print_sums(sums)
    if given.write:
        write_table(given.write, sums, given.commit)
    if given.check and not check(sums, reasons, without):
        sys.exit(1)


if __name__ == "__main__":
    main()
