"""Ten odd tables, each with the decision that a person would make.

usage: odd_tables.py GREEDYSTEP

A table is written, `inspect --json` says what its columns are taken for, `train` what is learned. Where cells have two
readings, the command must refuse and name the column and the option, or say so.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

COMMAND = Path(sys.argv[1]).resolve()
ROWS = 400
TOWNS = ["oslo", "rome", "lima", "paris", "bern"]


def lines(header, row, separator=",", end="\n"):
    """Return a table; `row` gives the cells of row i."""
    return end.join([separator.join(header), *(separator.join(map(str, row(i))) for i in range(ROWS)), ""])


def european(number):
    """Return 1.234,50."""
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


# Name, text, label, what it is (squared: a number is predicted; else the classes), kinds and missing cells of columns.
# refusal: words of the message; said: words of what `train` says beside its result.
TABLES = [
    {
        "name": "European numbers: semicolons, points between thousands, decimal commas",
        "text": lines(
            ["area", "price", "town", "sold"],
            lambda i: [european(30 + i * 37 % 901 / 4), european(99000.5 + 1234.25 * i), TOWNS[i % 5], "yn"[i % 2]],
            ";",
        ),
        "label": "sold",
        "learned": "2 classes",
        "kinds": {"area": "number", "price": "number", "town": "words"},
    },
    {
        "name": "American prices: a dollar sign, commas between thousands, quoted",
        "text": lines(
            ["income", "town", "price"], lambda i: [f'"${1500.5 + 77 * i:,.2f}"', TOWNS[i % 5], 1000.25 + 3.5 * i]
        ),
        "label": "price",
        "learned": "linear regression",
        "kinds": {"income": "number", "town": "words"},
    },
    {
        "name": "shares in per cent",
        "text": lines(["share", "bought"], lambda i: [f"{i * 37 % 101 / 4} %", "yes" if i * 37 % 101 > 50 else "no"]),
        "label": "bought",
        "learned": "2 classes",
        "kinds": {"share": "number"},
    },
    {
        "name": "a dash, a question mark and N/A for numbers that are missing",
        "text": lines(
            ["age", "income", "bought"],
            lambda i: ["-" if i % 10 == 3 else i * 37 % 60, "?" if i % 20 == 1 else 5.5 * (i % 91), "yn"[i % 2]],
        ),
        "label": "bought",
        "learned": "2 classes",
        "kinds": {"age": "number", "income": "number"},
        "missing": {"age": 40, "income": 20},
    },
    {
        "name": "dates and times with the year first",
        "text": lines(
            ["at", "bought"],
            lambda i: [f"2026-{1 + i % 12:02}-{1 + i % 28:02}T{i % 24:02}:30:00Z", "yes" if i % 24 > 12 else "no"],
        ),
        "label": "bought",
        "learned": "2 classes",
        "kinds": {"at": "date"},
    },
    {
        "name": "dates with the day first, which only days above 12 show",
        "text": lines(["day", "amount"], lambda i: [f"{1 + i % 28:02}/{1 + i % 12:02}/2026", 100.5 + i * 37 % 901 / 8]),
        "label": "amount",
        "learned": "linear regression",
        "kinds": {"day": "date"},
    },
    {
        "name": "1,234 alone: a thousand or one and a bit",
        "text": lines(["area", "bought"], lambda i: [f'"{1 + i % 9},{100 + i}"', "yn"[i % 2]]),
        "label": "bought",
        "refusal": ["area", "--decimal"],
    },
    {
        "name": "01/02/2026 alone: the first of February or the second of January",
        "text": lines(["day", "bought"], lambda i: [f"{1 + i % 12:02}/{1 + i // 12 % 12:02}/2026", "yn"[i % 2]]),
        "label": "bought",
        "learned": "2 classes",
        "kinds": {"day": "words"},
        "said": ["day", "dates"],
    },
    {
        "name": "flights: tabs, line ends of Windows, a byte order mark, labels that are missing",
        "text": "\ufeff"
        + lines(
            ["carrier", "miles", "delay"],
            lambda i: [["UA", "AA", "DL"][i % 3], 100 + i * 37 % 2000, "" if i % 40 == 7 else i * 37 % 301 / 4 - 20],
            "\t",
            "\r\n",
        ),
        "label": "delay",
        "learned": "linear regression",
        "kinds": {"carrier": "words", "miles": "number"},
        "rows": ROWS - 10,
    },
    {
        "name": "reviews: stars from 1 to 5, commas and line ends inside of quotes",
        "text": lines(
            ["text", "length", "stars"],
            lambda i: [f'"{TOWNS[i % 5]}, nice\nvery ""nice"""', 5 + i * 37 % 400, 1 + i * 7 % 5],
        ),
        "label": "stars",
        "learned": "5 classes",
        "kinds": {"text": "words", "length": "number"},
    },
]


def run(words):
    return subprocess.run([str(COMMAND), *map(str, words)], capture_output=True, text=True, timeout=60)


def differences(table, path):
    """Return what is not as a person would have it."""
    label = ["--label", table["label"]]
    trained = run(["train", path, *label, "-o", path.with_suffix(".model")])
    if "refusal" in table:
        is_right = trained.returncode == 1 and all(word in trained.stderr for word in table["refusal"])
        return [] if is_right else [f"expected a refusal with {table['refusal']}: {trained.stdout}{trained.stderr}"]
    if trained.returncode != 0:
        return [trained.stderr.strip()]
    found = []
    learned = next(line for line in trained.stdout.splitlines() if line.startswith("model "))
    if table["learned"] not in learned:
        found.append(f"expected {table['learned']}: {learned}")
    said = trained.stdout + trained.stderr
    found += [f"train does not say {word}: {said}" for word in table.get("said", []) if word not in said]
    told = json.loads(run(["inspect", path, *label, "--json"]).stdout)
    columns = {column["name"]: column for column in told["columns"]}
    for name, kind in table["kinds"].items():
        if columns[name]["kind"] != kind:
            found.append(f"column {name}: expected {kind}, found {columns[name]['kind']}")
    for name, count in table.get("missing", {}).items():
        if columns[name]["missing"] != count:
            found.append(f"column {name}: expected {count} missing, found {columns[name]['missing']}")
    if told["rows"] != table.get("rows", ROWS):
        found.append(f"expected {table.get('rows', ROWS)} rows, found {told['rows']}")
    return found


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, table in enumerate(TABLES):
            path = Path(folder) / f"odd-{number + 1}.csv"
            path.write_bytes(table["text"].encode())
            found = differences(table, path)
            print(f"{'FAILED' if found else 'ok'}: {table['name']}")
            for text in found:
                print(f"    {text}")
            failed += bool(found)
    return 1 if failed else 0


sys.exit(main())
