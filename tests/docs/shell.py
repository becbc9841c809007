"""Commands of a page: taken from its blocks, run one after the other, or written as a script."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from dataclasses import dataclass, field

import output
from blocks import Block

SECONDS = 300
MARK = "\x1e"


@dataclass
class Step:
    """A command (lines behind `$ ` and `> `) and what the page shows it to print."""

    command: list[str]
    shown: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    code: int | None = None

    @property
    def prompt(self) -> list[str]:
        return [("> " if n else "$ ") + line for n, line in enumerate(self.command)]


def steps_of(block: Block) -> list[Step]:
    """The commands of a console block."""
    steps: list[Step] = []
    for line in block.lines:
        if line.startswith("$ "):
            steps.append(Step([line[2:]]))
        elif not steps:
            raise ValueError(f"line {block.start + 1}: a console block begins with a command: $ ...")
        elif line.startswith("> ") and not steps[-1].shown:
            steps[-1].command.append(line[2:])
        else:
            steps[-1].shown.append(line)
    return steps


def missing(block: Block) -> list[str]:
    """Programs that the block needs and that are not here."""
    return [] if block.language == "python" else [name for name in needs(block) if not shutil.which(name)]


def needs(block: Block) -> list[str]:
    return (block.note("needs:") or "").split()


def run_steps(steps: list[Step], folder: pathlib.Path, environment: dict[str, str]) -> None:
    """Runs the commands in one shell, what they print on either stream together."""
    script = "exec 2>&1\n"
    for step in steps:
        script += "\n".join(step.command) + f"\nprintf '{MARK}%d{MARK}' $?\n"
    text = run(["sh", "-c", script], folder, environment).stdout
    parts = text.split(MARK)
    for step, printed, code in zip(steps, parts[0::2], parts[1::2]):
        step.printed = output.lines_of(printed.replace(str(folder), "FOLDER"))
        step.code = int(code)


def run(
    command: list[str], folder: pathlib.Path, environment: dict[str, str], together: bool = True
) -> subprocess.CompletedProcess[str]:
    """Runs a program, with both of its streams together or apart."""
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if together else subprocess.PIPE,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )


def script_of(blocks: list[Block], page: str, data: list[pathlib.Path]) -> str:
    """The commands of a page as a script for any sh, with its data: it needs nothing but what the commands need."""
    out = ["#!/bin/sh", f"# The commands of {page}, in their order.", "set -e", ""]
    for path in data:
        lines = path.read_text(encoding="utf-8").splitlines()
        out += [f"cat > {path.name} << 'END OF FILE'", *lines, "END OF FILE"]
    for block in blocks:
        if block.reason is not None:
            continue
        if block.file_name and not block.hidden:
            out += [f"cat > {block.file_name} << 'END OF FILE'", *block.lines, "END OF FILE"]
        elif block.language == "sh":
            out += block.lines
        elif block.language == "console":
            steps = [line for step in steps_of(block) for line in step_lines(step, block.note("fails") is not None)]
            there = " && ".join(f"command -v {name} > /dev/null" for name in needs(block))
            out += [f"if {there}; then", *steps, "fi"] if there else steps
    return "\n".join(out) + "\n"


def step_lines(step: Step, fails: bool) -> list[str]:
    """A command, told before it is run."""
    told = ["cat << 'END OF COMMAND'", *step.prompt, "END OF COMMAND"]
    if not fails:
        return [*told, *step.command]
    return [*told, "if", *step.command, "then", "    echo 'this was meant to fail' >&2", "    exit 1", "fi"]
