"""What a page shows, beside what a command printed: equal but for what differs from run to run."""

from __future__ import annotations

import re

# Times, speeds, sizes of processes, temporary folders: any number stands for any other.
NUMBER = r"\d[\d,]*(?:\.\d+)?"
VOLATILE = [
    (re.compile(rf"{NUMBER} ?(ns|us|µs|ms|s|min)\b"), r"N \1"),
    (re.compile(rf"{NUMBER} ?[kMG]? rows/s"), "N rows/s"),
    (re.compile(rf"{NUMBER} ?([kMG]i?)?B(/s)?\b"), "N bytes"),
    (re.compile(rf'("\w*seconds": ){NUMBER}(e-?\d+)?'), r"\1N"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ?"), "TIME"),
]
REST = "..."
# How often a run tells how far it is depends on how long it takes.
PROGRESS = re.compile(r"^pass \d+ .* rows/s ")


def plain(line: str) -> str:
    """A line without what differs from run to run."""
    for pattern, replacement in VOLATILE:
        line = pattern.sub(replacement, line)
    return re.sub(r" +", " ", line).rstrip()


def lines_of(text: str) -> list[str]:
    """What a command printed, without its lines of progress."""
    return [line.rstrip() for line in text.splitlines() if not PROGRESS.match(line)]


def agree(shown: list[str], printed: list[str]) -> bool:
    """Whether what was printed is what is shown; a line of three dots stands for any lines."""
    if not shown:
        return not printed
    if shown[0].strip() == REST:
        return any(agree(shown[1:], printed[n:]) for n in range(len(printed) + 1))
    return bool(printed) and plain(shown[0]) == plain(printed[0]) and agree(shown[1:], printed[1:])


def difference(shown: list[str], printed: list[str]) -> str:
    """Both, for people."""
    import difflib

    return "\n".join(difflib.unified_diff(shown, printed, "shown", "printed", lineterm="", n=1))
