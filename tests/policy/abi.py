#!/usr/bin/env python3
"""abi.py SOURCE_DIR COMPILER [--accept]: the binary interface is the one that abi.txt keeps.

A1  Functions with their tier and prototype, enumerators, and sizes and offsets of public structs are those of abi.txt.
A2  The stable headers do not include distributed.h, and a struct of theirs begins with its size, unless it is one of
    those that never change.
A3  The symbols file of the Debian package names the functions of libgreedystep.

--accept writes abi.txt anew: do so only when a change is meant, and read its diff. Sizes are those of LP64; elsewhere
(exit code 77) only A2 and functions are compared.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TIERS = {"greedystep.h": "stable", "data.h": "stable", "train.h": "stable", "distributed.h": "engines", "mpi.h": "mpi"}
# Stable structs that never change, and two of which the library hands out pointers, so that they may grow at the end.
FIXED = {"gsa_error", "gsa_batch", "gsa_place", "gsa_cell", "gsa_metric", "gsa_strong_feature", "gsa_param", "gsa_predictions"}


def plain(path: Path) -> str:
    """Return a header without comments and preprocessor lines, the list of statuses spelled out."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    statuses = re.findall(r"X\((\w+), \d+,", text)
    text = re.sub(
        r"^[ \t]*GSA_STATUS_LIST\(.*$", ", ".join(f"GSA_{name}" for name in statuses), text, flags=re.MULTILINE
    )
    return re.sub(r"^[ \t]*#([^\n]*\\\n)*[^\n]*$", "", text, flags=re.MULTILINE)


def functions(text: str, tier: str) -> list[str]:
    """Return a line per exported function."""
    lines = []
    for declaration in re.findall(r"GSA_API\s+(.*?);", text, flags=re.DOTALL):
        declaration = " ".join(declaration.replace("GSA_NODISCARD", "").split())
        found = re.fullmatch(r"(.*?)\b(gsa_\w+)(\(.*\))", declaration)
        if not found:
            sys.exit(f"not understood: {declaration}")
        lines.append(f"function {tier} {found[2]} {found[1]}{found[3]}")
    return sorted(lines)


def member_names(body: str) -> list[str]:
    """Return the members of a struct in their order."""
    names = []
    for member in filter(None, (" ".join(part.split()) for part in body.split(";"))):
        pointer = re.search(r"\(\*(\w+)\)\(", member)
        names += [pointer[1]] if pointer else re.findall(r"(\w+)(?:\[[^]]*\])?(?=,|$)", member)
    return names


def structs(text: str) -> dict[str, list[str]]:
    found = re.findall(r"typedef struct (gsa_\w+) \{(.*?)\n\} \1;", text, flags=re.DOTALL)
    return {name: member_names(body) for name, body in found}


def enumerators(text: str) -> list[str]:
    bodies = re.findall(r"typedef enum gsa_\w+ \{(.*?)\}", text, flags=re.DOTALL)
    return [name for body in bodies for name in re.findall(r"\b(GSA_\w+)", body)]


def measure(source: Path, compiler: str, all_structs: dict[str, list[str]], names: list[str]) -> list[str] | None:
    """Return lines with sizes, offsets and values; None where pointers or longs have not 8 bytes."""
    prints = ["if (sizeof(void *) != 8 || sizeof(long) != 8) return 77;"]
    prints += [f'printf("enumerator {name} %d\\n", (int){name});' for name in names]
    for struct, members in all_structs.items():
        prints.append(f'printf("struct {struct} %zu\\n", sizeof({struct}));')
        for member in members:
            at = f"offsetof({struct}, {member})"
            size = f"sizeof((({struct} *)0)->{member})"
            prints.append(f'printf("  {struct}.{member} %zu %zu\\n", {at}, {size});')
    includes = "".join(f"#include <greedystep/{name}>\n" for name, tier in TIERS.items() if tier != "mpi")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "abi"
        code = Path(folder) / "abi.c"
        code.write_text(f"{includes}#include <stdio.h>\nint main(void)\n{{\n" + "\n".join(prints) + "\nreturn 0;\n}\n")
        flags = os.environ.get("CFLAGS", "").split()
        subprocess.run([compiler, *flags, f"-I{source / 'include'}", code, "-o", program], check=True)
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        return None if done.returncode == 77 else done.stdout.splitlines()


def check_members(lines: list[str]) -> None:
    """Members that the parser missed would leave a gap that alignment does not explain."""
    end, size = 0, 0
    for line in [*lines, "struct end 0"]:
        words = line.split()
        if line.startswith("struct"):
            if size - end >= 8:
                sys.exit(f"members are missing before: {line}")
            end, size = 0, int(words[2])
        elif line.startswith("  "):
            if int(words[1]) - end >= 8 or int(words[1]) < end:
                sys.exit(f"a member is missing before: {line}")
            end = int(words[1]) + int(words[2])


def check_rules(include: Path, texts: dict[str, str]) -> list[str]:
    found = []
    for name, tier in TIERS.items():
        if tier == "stable" and "distributed.h>" in (include / name).read_text():
            found.append(f"A2: {name} includes distributed.h")
        for struct, members in structs(texts[name]).items() if tier == "stable" else ():
            if struct not in FIXED and members[0] != "size":
                found.append(f"A2: {struct} does not begin with its size")
    return found


def check_symbols(source: Path, lines: list[str]) -> list[str]:
    """Return what the symbols file lacks or has too much."""
    text = (source / "packaging" / "debian" / "libgreedystep0.symbols").read_text()
    listed = set(re.findall(r"^ (\w+)@Base ", text, re.MULTILINE))
    functions_of_library = {line.split()[2] for line in lines if line.split()[1] in ("stable", "engines")}
    return [f"A3: libgreedystep0.symbols and the headers disagree on {name}" for name in listed ^ functions_of_library]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("compiler")
    parser.add_argument("--accept", action="store_true")
    options = parser.parse_args()
    include, kept = options.source / "include" / "greedystep", Path(__file__).with_name("abi.txt")
    texts = {name: plain(include / name) for name in TIERS}
    lines = [line for name, tier in TIERS.items() for line in functions(texts[name], tier)]
    lines.sort(key=lambda line: (list(TIERS.values()).index(line.split()[1]), line))
    all_structs = {name: members for text in texts.values() for name, members in structs(text).items()}
    measured = measure(
        options.source, options.compiler, all_structs, [n for t in texts.values() for n in enumerators(t)]
    )
    expected = kept.read_text().splitlines() if kept.exists() else []
    failures = check_rules(include, texts) + check_symbols(options.source, lines)
    if measured is None:
        expected = [line for line in expected if line.startswith("function")]
    else:
        check_members(measured)
        lines += measured
    if options.accept and measured is not None:
        kept.write_text("\n".join(lines) + "\n")
    elif lines != expected:
        failures += difflib.unified_diff(expected, lines, "abi.txt", "headers", lineterm="", n=0)
        failures.append("A1: the interface changed. If that is meant: python3 tests/policy/abi.py . cc --accept")
    if failures:
        sys.exit("\n".join(failures))
    counts = {tier: sum(line.startswith(f"function {tier} ") for line in lines) for tier in TIERS.values()}
    print(", ".join(f"{n} {tier}" for tier, n in counts.items()) + f" functions, {len(all_structs)} structs")
    if measured is None:
        print("SKIPPED: sizes and offsets are kept for 64-bit pointers and longs")
        sys.exit(77)


main()
