"""Run a command on a pseudo terminal and say what it does there: terminal.py COLUMNS COMMAND...

Colours, lines that are drawn over, lines that are wider than the terminal. What a person would have
before them at the end is in the file `screen`. Exits like the command.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path

TOKEN = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])|(.)", re.DOTALL)


def run(columns: int, command: list[str]) -> tuple[str, int]:
    """What the command has written to its terminal, and its exit code."""
    ready, begin = os.pipe()
    process, terminal = pty.fork()
    if process == 0:
        os.close(begin)
        os.read(ready, 1)  # until the terminal has its size
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.close(begin)
    written = b""
    while True:
        try:
            some = os.read(terminal, 65536)
        except OSError:  # Linux has no end of file here
            break
        if not some:
            break
        written += some
    return written.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def look(columns: int, written: str) -> tuple[dict[str, bool], str]:
    """What was done, and the lines that are left."""
    seen = dict.fromkeys(("colours", "drawn over", "too wide", "other controls"), False)
    lines: list[list[str]] = [[]]
    at = 0
    for code, command, character in TOKEN.findall(written):
        if command == "m":
            seen["colours"] |= code not in {"", "0"}
        elif command == "K":
            del lines[-1][at:]
        elif character == "\n":
            lines.append([])
            at = 0
        elif character == "\r":
            at = 0
        elif command or character < " ":
            seen["other controls"] = True
        else:
            seen["drawn over"] |= at < len(lines[-1])
            seen["too wide"] |= at >= columns
            lines[-1][at : at + 1] = [character]
            at += 1
    return seen, "\n".join("".join(line) for line in lines)


def main() -> None:
    columns = int(sys.argv[1])
    written, code = run(columns, sys.argv[2:])
    seen, screen = look(columns, written)
    Path("screen").write_text(screen)
    print(", ".join(name for name, is_seen in seen.items() if is_seen) or "plain")
    sys.exit(code)


if __name__ == "__main__":
    main()
