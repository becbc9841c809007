#!/usr/bin/env python3
"""Runs what the documentation tells readers to type, and compares what it prints with what the page shows.

    run.py [--command GREEDYSTEP] [PAGE...]           run the pages (without: all of them)
    run.py --accept ... [PAGE...]                     write what was printed into the pages
    run.py --python INTERPRETER ... [PAGE...]         Python blocks too, of the pages that have some
    run.py --script PAGE                              print the commands of a page as a script for sh
    run.py --list                                     blocks that are not run, with their reasons

The blocks of a page are run in their order, in one temporary folder: files that were made earlier are there.
console  commands behind `$ `, each followed by what it prints; a line `...` stands for any lines
sh       a script that must succeed
python   run by --python, all of a page in one process where the first of it stands; without it they are left out
c        compiled, between the lines of the page's hidden C before and after its line `...`; a whole program has a file
         name and is run by the commands that follow
json     parsed

blocks.py says how a page excuses a block from this. Standard library only; exit code 77: something needed is not here.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

import blocks
import output
import shell

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OTHER_PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md", "examples/python/README.md"]
SEPARATOR = "\x1d"


class Run:
    """One page, run in a folder of its own."""

    def __init__(self, path: pathlib.Path, arguments: argparse.Namespace) -> None:
        self.path = path
        self.page = blocks.parse(path.read_text(encoding="utf-8"))
        self.python: str | None = arguments.python
        self.accept: bool = arguments.accept
        self.failures: list[str] = []
        self.left_out: list[str] = []
        self.lines_anew: list[tuple[blocks.Block, list[str]]] = []
        self.count = 0
        command = pathlib.Path(arguments.command).resolve()
        self.environment = {
            "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "100",
        }

    def go(self) -> None:
        self.failures += self.page.mistakes()
        if self.page.reason is not None:
            return
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve()
            for data in data_of(self.path):
                shutil.copy(data, folder)
            for block in self.page.blocks:
                if block.reason is None and not block.installs:
                    self.run_block(block, folder)
        if self.accept and self.lines_anew:
            self.write()

    def run_block(self, block: blocks.Block, folder: pathlib.Path) -> None:
        missing = shell.missing(block)
        if missing:
            self.left_out.append(f"{self.place(block)}: there is no {' '.join(missing)}")
            return
        if block.file_name and not block.hidden:
            (folder / block.file_name).write_text(block.text, encoding="utf-8")
            self.count += 1
            return
        runners = {"console": self.console, "sh": self.sh, "c": self.c, "json": self.json, "python": self.python_block}
        if block.language in runners:
            self.count += 1
            runners[block.language](block, folder)

    def console(self, block: blocks.Block, folder: pathlib.Path) -> None:
        steps = shell.steps_of(block)
        shell.run_steps(steps, folder, self.environment)
        must_fail = block.note("fails") is not None
        for step in steps:
            if step.code is None or (step.code != 0) != must_fail:
                ended = "did not come to its end" if step.code is None else f"ended with {step.code}"
                self.fail(block, f"`{step.command[0]}` {ended}:\n" + "\n".join(step.printed))
                return
        anew = []
        for step in steps:
            same = output.agree(step.shown, step.printed)
            if not same and not self.accept:
                self.fail(block, f"`{step.command[0]}`\n{output.difference(step.shown, step.printed)}")
            anew += step.prompt + (step.shown if same else step.printed)
        if anew != block.lines:
            self.lines_anew.append((block, anew))

    def sh(self, block: blocks.Block, folder: pathlib.Path) -> None:
        self.must_succeed(block, ["sh", "-e", "-c", block.text], folder)

    def c(self, block: blocks.Block, folder: pathlib.Path) -> None:
        if "main(" in block.text and not block.hidden:
            self.fail(block, "a whole program: name its file in the first line, and run it in a console block")
            return
        source = folder / "fragment.c"
        around = "".join(other.text for other in self.page.blocks if other.hidden and other.language == "c")
        before, _, after = around.partition("...\n")
        source.write_text(before + block.text + after, encoding="utf-8")
        if not block.hidden:
            self.must_succeed(block, ["cc", "-std=c17", "-fsyntax-only", f"-I{ROOT / 'include'}", "fragment.c"], folder)

    def json(self, block: blocks.Block, folder: pathlib.Path) -> None:
        del folder
        try:
            json.loads(block.text)
        except ValueError as error:
            self.fail(block, f"this is no JSON: {error}")

    def python_block(self, block: blocks.Block, folder: pathlib.Path) -> None:
        """All Python of the page in one process, when the first of it is met."""
        if self.python is None:
            self.count -= 1
            self.left_out.append(f"{self.place(block)}: Python is run by tests/python/run.sh")
            return
        all_of_it = [other for other in self.page.blocks if is_run_python(other)]
        if block is not all_of_it[0]:
            return
        modules = {name for other in all_of_it for name in shell.needs(other)}
        if modules and shell.run([self.python, "-c", f"import {', '.join(modules)}"], folder, {}).returncode != 0:
            self.count -= 1
            self.left_out.append(f"{self.place(block)}: Python without {', '.join(modules)}")
            return
        text = "".join(f"print({SEPARATOR!r}, end='', flush=True)\n{other.text}" for other in all_of_it)
        done = shell.run([self.python, "-c", text], folder, self.environment, together=False)
        parts = done.stdout.split(SEPARATOR)[1:]
        if done.returncode != 0:
            self.fail(all_of_it[len(parts) - 1], (parts[-1] if parts else "") + done.stderr)
            return
        for other, printed in zip(all_of_it, parts):
            self.compare_python(other, printed)

    def compare_python(self, block: blocks.Block, text: str) -> None:
        """What a block printed, with the block of output that follows it, if one does."""
        following = self.page.blocks[self.page.blocks.index(block) + 1 :][:1]
        if not following or following[0].note("output") is None:
            return
        printed = output.lines_of(text)
        if not output.agree(following[0].lines, printed):
            self.lines_anew.append((following[0], printed))
            if not self.accept:
                self.fail(block, output.difference(following[0].lines, printed))

    def must_succeed(self, block: blocks.Block, command: list[str], folder: pathlib.Path) -> None:
        done = shell.run(command, folder, self.environment)
        if done.returncode != 0:
            self.fail(block, f"it ended with {done.returncode}:\n{done.stdout}")

    def place(self, block: blocks.Block) -> str:
        return f"{name_of(self.path)}:{block.start + 1}"

    def fail(self, block: blocks.Block, message: str) -> None:
        self.failures.append(f"{self.place(block)}: {message}")

    def write(self) -> None:
        """The page with what was printed, from its end so that line numbers hold."""
        lines = self.page.lines
        for block, anew in sorted(self.lines_anew, key=lambda pair: -pair[0].start):
            indented = [(block.indent + line).rstrip() for line in anew]
            lines[block.start : block.start + len(block.lines)] = indented
        self.path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def name_of(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT) if ROOT in path.parents else path)


def data_of(path: pathlib.Path) -> list[pathlib.Path]:
    """The tables of examples/data that a page asks its reader to save."""
    names = re.findall(r"Save \[[^]]*\]\((?:\.\./)?(examples/data/[^)]*)\)", path.read_text(encoding="utf-8"))
    return [ROOT / name for name in names]


def is_run_python(block: blocks.Block) -> bool:
    return block.language == "python" and block.reason is None and not (block.file_name and not block.hidden)


def all_pages() -> list[pathlib.Path]:
    return sorted((ROOT / "docs").rglob("*.md")) + [ROOT / name for name in OTHER_PAGES]


def show_reasons(pages: list[pathlib.Path]) -> None:
    for path in pages:
        page = blocks.parse(path.read_text(encoding="utf-8"))
        if page.reason is not None:
            print(f"{name_of(path)}: {page.reason}")
        for block in page.blocks:
            if block.reason is not None:
                print(f"{name_of(path)}:{block.start + 1}: {block.reason}")


def arguments_of(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--command", default=str(ROOT / "build/release/greedystep"), metavar="GREEDYSTEP")
    parser.add_argument("--python", metavar="INTERPRETER")
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("--script", action="store_true")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    arguments = arguments_of(argv)
    pages = [path.resolve() for path in arguments.pages] or all_pages()
    if arguments.script:
        for path in pages:
            page = blocks.parse(path.read_text(encoding="utf-8"))
            print(shell.script_of(page.blocks, name_of(path), data_of(path)), end="")
        return 0
    if arguments.list:
        show_reasons(pages)
        return 0
    if not os.access(arguments.command, os.X_OK):
        print(f"there is no {arguments.command}: build it, or name another with --command", file=sys.stderr)
        return 2
    failed = skipped = False
    for path in pages:
        began = time.monotonic()
        run = Run(path, arguments)
        if arguments.python and not any(is_run_python(block) for block in run.page.blocks):
            continue
        run.go()
        show_reasons([path])
        for line in run.left_out:
            print(f"left out: {line}")
        for line in run.failures:
            print(f"FAILED: {line}")
        print(f"{name_of(path)}: {run.count} blocks run, {time.monotonic() - began:.1f} s")
        failed = failed or bool(run.failures)
        skipped = skipped or any("there is no" in line for line in run.left_out)
    return 1 if failed else 77 if skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
