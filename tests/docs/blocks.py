"""The blocks of a Markdown page that this test cares for, with what the page says about them.

A block is what stands between fences. An HTML comment right before it is about it:

    <!-- not run: REASON -->     it is not run here
    <!-- fails -->               its commands are meant to fail
    <!-- needs: PROGRAM ... -->  it is run where these programs are, or of Python these modules
    <!-- output -->              it is what the program in the block before it prints

A comment that begins with a language and a line end holds a block that is run and not shown (what a snippet takes for
granted). `<!-- this page is not run: REASON -->` holds for a whole page. A block whose first line is a comment with the
name of a file and nothing else is written to that file, for the commands that follow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LANGUAGES = ("console", "sh", "python", "c", "json", "js")
PLAIN = ("", "text", "html")
COMMAND = re.compile(r"\$ |greedystep (train|predict|evaluate|inspect|merge|convert|export|generate|compare|bench)\b")
INSTALLS = re.compile(r"^(?:\$ )?(?:sudo |apt-get |(?:python3? -m )?pip install )")
FENCE = re.compile(r"^( *)(```+)([\w+-]*) *$")
FILE_NAME = re.compile(r"^(?:/\*|#|//) ([\w.-]+\.\w+)(?: \*/)?$")


@dataclass
class Block:
    """Lines of a page between fences, or in a comment."""

    language: str
    lines: list[str]
    start: int  # the number of its first line in the page, from 0
    indent: str = ""
    hidden: bool = False
    notes: list[str] = field(default_factory=list)

    def note(self, begin: str) -> str | None:
        """What follows these words in a comment about the block."""
        for note in self.notes:
            if note.startswith(begin):
                return note[len(begin) :].strip()
        return None

    @property
    def reason(self) -> str | None:
        return self.note("not run:")

    @property
    def installs(self) -> bool:
        return self.language in ("console", "sh") and any(INSTALLS.match(line) for line in self.lines)

    @property
    def file_name(self) -> str | None:
        found = FILE_NAME.match(self.lines[0]) if self.lines else None
        return found.group(1) if found else None

    @property
    def text(self) -> str:
        return "".join(line + "\n" for line in self.lines)


@dataclass
class Page:
    """The blocks of a page, in their order."""

    lines: list[str]
    blocks: list[Block]
    reason: str | None = None

    def mistakes(self) -> list[str]:
        """Blocks that are neither run nor excused."""
        found = []
        for block in self.blocks if self.reason is None else []:
            where = f"line {block.start + 1}"
            if block.language in PLAIN:
                if any(COMMAND.match(line) for line in block.lines):
                    found.append(f"{where}: commands in a block that does not say what it is: write ```console")
            elif block.language not in LANGUAGES and not block.file_name:
                found.append(f"{where}: blocks of {block.language} are not known here (tests/docs/blocks.py)")
            if block.installs and block.reason is None:
                found.append(f"{where}: it installs something, which no test does by the way: say why it is not run")
            if block.reason == "":
                found.append(f"{where}: it is not run, and there is no reason")
        return found


def parse(text: str) -> Page:
    """The blocks of a page."""
    lines = text.splitlines()
    page = Page(lines, [])
    notes: list[str] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        fence = FENCE.match(line)
        if fence:
            block = fenced(lines, number, fence)
            block.notes, notes = notes, []
            page.blocks.append(block)
            number = block.start + len(block.lines) + 1
        elif line.lstrip().startswith("<!--"):
            end = next((n for n in range(number, len(lines)) if "-->" in lines[n]), len(lines) - 1)
            take_comment(page, lines[number : end + 1], number, notes)
            number = end + 1
        else:
            notes = notes if not line.strip() else []
            number += 1
    return page


def fenced(lines: list[str], number: int, fence: re.Match[str]) -> Block:
    indent, ticks, language = fence.groups()
    end = number + 1
    while end < len(lines) and lines[end].strip() != ticks:
        end += 1
    if end == len(lines):
        raise ValueError(f"line {number + 1}: the block is never closed")
    inside = [line[len(indent) :] if line.startswith(indent) else line for line in lines[number + 1 : end]]
    return Block(language, inside, number + 1, indent)


def take_comment(page: Page, lines: list[str], number: int, notes: list[str]) -> None:
    """Either a hidden block, or a note about the block that follows or about the page."""
    text = "\n".join(lines).strip()
    text = text[len("<!--") : text.rindex("-->")] if "-->" in text else text[len("<!--") :]
    first, _, rest = text.partition("\n")
    if first.strip() in LANGUAGES and rest:
        page.blocks.append(Block(first.strip(), rest.rstrip().splitlines(), number + 1, hidden=True))
        return
    words = " ".join(text.split())
    if words.startswith("this page is not run:"):
        page.reason = words.partition(":")[2].strip()
    else:
        notes.append(words)
