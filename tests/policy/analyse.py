#!/usr/bin/env python3
"""Static analysis of src/ and cli/: any finding fails.

    analyse.py BUILD_DIR [PART...] [--only FOLDER]     parts: cppcheck tidy gcc; without: all of them

cppcheck  warnings, performance, portability; what it is mistaken about is in cppcheck.txt beside this script
tidy      clang-tidy with the checks of .clang-tidy
gcc       gcc -fanalyzer

Answered findings carry their reason where they are, or in .clang-tidy and cppcheck.txt. Tools see a source together with
analysed.h, which tells them that failures fail. A tool that is not there is skipped, loudly (exit code 77). Standard
library only.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOOLS = {"cppcheck": "cppcheck", "tidy": "clang-tidy", "gcc": "gcc"}
# Both are wrong of gcc 12 about vectors in the kernels, and the first about numbers that are copied as bytes; clang's
# analyser looks for uninitialised values too.
GCC_WITHOUT = ["-Wno-analyzer-use-of-uninitialized-value", "-Wno-analyzer-shift-count-overflow"]
FOUND = re.compile(r"(warning|error|style|portability|performance): ")


def configure(build):
    """The commands that compile src/, cli/ and compare/, as (source below ROOT, words of the command)."""
    command = ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DGREEDYSTEP_TESTS=OFF"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "CC": "gcc"})
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = os.path.relpath(entry["file"], ROOT)
        if source.startswith(("src/", "cli/", "compare/")):
            commands.setdefault(source, shlex.split(entry["command"]))
    return commands


def told(source):
    """What a tool is told before it looks at a source."""
    if source in ("src/base/error.c", "cli/message.c"):
        return []
    told = ["-include", str(HERE / "analysed.h")]
    if source.startswith(("cli/", "compare/")):
        told += ["-DANALYSED_CLI", f"-I{ROOT}/cli"]
    # What these define themselves, too late now that a header comes before it.
    return told + (["-D_GNU_SOURCE="] if source in ("src/base/posix.c", "src/base/linux.c", "src/base/output_path.c") else [])


def run(command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).splitlines()
    found = [line for line in lines if FOUND.search(line)]
    return found or ([f"{command[0]} failed: {line}" for line in lines[-3:]] if done.returncode != 0 else [])


def with_tidy(source, words, build):
    extra = [f"--extra-arg={word}" for word in told(source)]
    return ["clang-tidy", "-p", str(build), "--quiet", *extra, source]


def with_gcc(source, words, build):
    words = list(words)
    words[words.index("-o") + 1] = "/dev/null"
    return words + ["-fanalyzer", *GCC_WITHOUT, *told(source)]


def analyse_each(make, build, only):
    commands = [make(source, words, build) for source, words in configure(build).items() if source.startswith(only)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [line for found in pool.map(run, commands) for line in found]


def analyse(part, build, only):
    if part == "tidy":
        return analyse_each(with_tidy, build, only)
    if part == "gcc":
        return analyse_each(with_gcc, build, only)
    defined = [f"-DGSA_HAVE_{codec}=1" for codec in ("ZLIB", "ZSTD", "LZMA", "BZIP2")]
    return run(["cppcheck", "--quiet", f"-j{os.cpu_count()}", "--std=c11", "--enable=warning,performance,portability",
                f"--suppressions-list={HERE}/cppcheck.txt", "--error-exitcode=1", "-Iinclude", "-Isrc", "-I.", "-Icompare",
                "-D_POSIX_C_SOURCE=200809L", "-DGSAI_HAVE_AVX", *defined, *([only] if only else ["src", "cli", "compare"])])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("part", nargs="*", choices=[*TOOLS, []])
    parser.add_argument("--only", default="", metavar="FOLDER", help="src/base, for example")
    given = parser.parse_args()
    code = 0
    for part in given.part or TOOLS:
        if shutil.which(TOOLS[part]) is None:
            print(f"SKIPPED: {TOOLS[part]} is not there, so that nobody knows what it would find")
            code = code or 77
            continue
        began = time.monotonic()
        found = sorted(set(analyse(part, given.build.resolve(), given.only)))
        print("\n".join([*found, f"{part}: {len(found)} findings, {time.monotonic() - began:.0f} s"]), flush=True)
        code = 1 if found else code
    sys.exit(code)


if __name__ == "__main__":
    main()
