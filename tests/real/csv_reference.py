#!/usr/bin/env python3
"""Compares how tables in text are taken apart with Python's csv module (strict), on generated nasty ones.

    csv_reference.py RECORDS_DUMP [--tables N] [--seed N]

Prints the first table that differs and ends with 1, or says how many agreed. Standard library only.
"""
import argparse
import csv
import io
import random
import subprocess
import sys

PIECES = ["", "a", "b c", " ", '"', '""', '"""', ",", ";", "\t", "\n", "\r", "\r\n", "1", "-2.5e3", "é", "日本", "'",
          "\\", "#", "|", "x" * 70, "," * 65, '"' * 66]
ENDS = ["\n", "\r\n", "\r"]


def make_table(rng, separator):
    """Mostly well-formed records, some cells as they are, now and then rubbish."""
    end = rng.choice(ENDS)
    lines = []
    for _ in range(rng.randrange(5)):
        cells = []
        for _ in range(rng.randrange(1, 6)):
            text = "".join(rng.choice(PIECES) for _ in range(rng.randrange(4)))
            style = rng.random()
            if style < 0.5:
                text = '"' + text.replace('"', '""') + '"'
            elif style < 0.9:
                text = "".join(c for c in text if c not in '"\n\r' + separator)
            cells.append(text)
        lines.append(separator.join(cells))
        if rng.random() < 0.1:
            lines.append("")
    text = end.join(lines) + (end if rng.random() < 0.7 else "")
    return ("\ufeff" if rng.random() < 0.1 else "") + text


def reference(text, separator):
    """Lines as the tool prints them; a table that is refused ends with "!"."""
    out = []
    if text.startswith("\ufeff"):
        text = text[1:]
    try:
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True):
            if record:
                out.append(" ".join(cell.encode().hex() or "-" for cell in record))
        out.append(".")
    except csv.Error:
        out.append("!")
    return out


def split_output(output):
    table = []
    for line in output.decode("ascii").splitlines():
        table.append(line)
        if line in (".", "!"):
            yield table
            table = []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--tables", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    csv.field_size_limit(1 << 30)
    n_refused = 0
    for start in range(0, options.tables, 5000):
        tables, sent = [], b""
        for _ in range(min(5000, options.tables - start)):
            separator = rng.choice(",;\t")
            text = make_table(rng, separator)
            data = text.encode()
            tables.append((separator, text))
            sent += separator.encode() + len(data).to_bytes(4, "little") + data
        output = subprocess.run([options.tool], input=sent, stdout=subprocess.PIPE, check=True).stdout
        found = list(split_output(output))
        if len(found) != len(tables):
            sys.exit(f"{len(tables)} tables were given, {len(found)} came back")
        for (separator, text), ours in zip(tables, found):
            theirs = reference(text, separator)
            n_refused += theirs[-1] == "!"
            if ours != theirs:
                sys.exit(f"separator {separator!r}, table {text!r}\nours:   {ours}\npython: {theirs}")
    print(f"{options.tables} tables agree with Python's csv module, {n_refused} of them refused by both")


if __name__ == "__main__":
    main()
