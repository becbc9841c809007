"""One rule for cells: a text means the same in a feature and in a label, through every kind of input."""

from __future__ import annotations

import csv
import importlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from greedystep import _library as c
from greedystep._core import State
from greedystep._data import Rows
from greedystep._errors import GreedystepError
from greedystep._first import labels_in
from greedystep._run import Run

N_ROWS = 24


@dataclass(frozen=True)
class Spelling:
    """Cells of a column, repeated to 24 rows, and what they are.

    `feature` is "number", "date" or "words", or a part of the message that refuses them. `values` are those of a
    number or date, None for a missing one. `label` is the loss that they have as labels, or a part of the message;
    labels of numbers have the same values, and rows without a label are left out.
    """

    cells: list[str]
    feature: str
    values: list[float | None] | None
    label: str


def number(cells: str, *values: float | None, label: str = "squared") -> Spelling:
    """Return cells, divided by bars, that are these numbers."""
    return Spelling(cells.split("|"), "number", list(values), label)


def words(cells: str, label: str) -> Spelling:
    """Return cells that are categories, and classes or, as labels, numbers."""
    return Spelling(cells.split("|"), "words", None, label)


def date(cells: str, *days: float) -> Spelling:
    """Return cells that are dates, in days since 1970; no date is a label."""
    return Spelling(cells.split("|"), "date", list(days), "holds dates")


def refused(cells: str, message: str, label: str | None = None) -> Spelling:
    """Return cells that are refused with a message that has a part."""
    return Spelling(cells.split("|"), message, None, message if label is None else label)


# The table: what is known about spellings stands here and nowhere else.
SPELLINGS = {
    "whole": number("1|2|3|4", 1, 2, 3, 4, label="softmax"),
    "two_whole": number("0|1", 0, 1, label="logistic"),
    "decimals": number("0.5|2.25|-3|4.0", 0.5, 2.25, -3, 4),
    "exponents": number("1e3|2.5E-1|+7", 1000, 0.25, 7),
    "no_leading_digit": number(".5|-.25|3.", 0.5, -0.25, 3),
    "far_from_zero": number("1700000030|1700000060.5", 1700000030, 1700000060.5),
    "decimal_comma": number("21,5|22,75|3", 21.5, 22.75, 3),
    "comma_and_points": number("1.234,5|12,25", 1234.5, 12.25),
    "commas_between_thousands": number("1,234.50|7", 1234.5, 7),
    "many_commas": number("1,234,567|2,345", 1234567, 2345, label="logistic"),
    "ambiguous_comma": refused("1,234|2,345", "is ambiguous"),
    "apostrophes": number("1'234.5|7", 1234.5, 7),
    "blanks": number("1 234,5|7", 1234.5, 7),
    "no_break_blanks": number("1\u00a0234,5|7\u202f000", 1234.5, 7000),
    "dollars": number("$1,200.50|-$7|$3", 1200.5, -7, 3),
    "euros": number("1.200,50 €|7 €", 1200.5, 7),
    "pounds": number("£5.25|£6", 5.25, 6),
    "yen_whole": number("¥500|¥600", 500, 600, label="logistic"),
    "percent": number("12 %|7.5%", 12, 7.5),
    "different_currencies": words("$5|7 €", "logistic"),
    "currency_code_before": number("USD 1,500.25|USD 7", 1500.25, 7),
    "currency_code_behind": number("1500.25 EUR|7 EUR", 1500.25, 7),
    "parentheses": number("(1,200.5)|300|($7.25)", -1200.5, 300, -7.25),
    "kilograms": number("3.2 kg|4 kg|5kg", 3.2, 4, 5),
    "speed": number("3.5 km/h|4 km/h", 3.5, 4),
    "different_units": words("3.2 kg|4 lb|5 kg", "softmax"),
    "a_unit_in_some_cells": words("12|14|12A", "softmax"),
    "thousands_and_millions": number("1.20k|3M|950|2.5K", 1200, 3e6, 950, 2500, label="softmax"),
    "codes": words("00501|10001|90210", "softmax"),
    "padded": words("01|7|12", "softmax"),
    "zero_and_decimals": number("0|0.5|00.25", 0, 0.5, 0.25),
    "blanks_around": number(" 1.5|2 | 3.5 ", 1.5, 2, 3.5),
    "empty": number("1.5|2|", 1.5, 2, None),
    "nan": number("1.5|NaN|nan|2", 1.5, None, None, 2),
    "null_and_na": number("1.5|null|NA|2", 1.5, None, None, 2),
    "none_and_n/a": number("1.5|None|N/A|2", 1.5, None, None, 2),
    "marks": number("1.5|-|?|.|2", 1.5, None, None, None, 2),
    "a_word_of_many": number("|".join([f"{i}.5" for i in range(N_ROWS - 1)] + ["gone"]), *np.arange(0.5, 23), None),
    "infinite": refused("1.5|inf|2", "must be finite"),
    "beyond_float": Spelling(["1.5", "1e39"], "does not fit a float", None, "squared"),
    "iso_dates": date("2026-11-17|1970-01-02", 20774, 1),
    "iso_times": date("2026-11-17T12:00:00Z|2026/11/17 06:00", 20774.5, 20774.25),
    "day_first": date("17.11.2026|02.01.1970", 20774, 1),
    "day_first_by_slashes": date("17/11/2026|02/01/1970", 20774, 1),
    "month_first": date("11/17/2026|01/02/1970", 20774, 1),
    "ambiguous_dates": words("03/04/2026|05/06/2026", "logistic"),
    "names_of_months": date("Nov 17, 2026|January 2, 1970", 20774, 1),
    "names_of_months_behind": date("17 Nov 2026|02-Jan-1970", 20774, 1),
    "true_and_false": words("true|false", "logistic"),
    "yes_and_no": words("yes|no", "logistic"),
    "cases": words("Yes|yes|YES", "softmax"),
    "names": words("A12|Q3|x", "softmax"),
}
DOORS = ["csv", "json", "pandas", "polars", "arrow", "parquet", "sql"]
_NEEDS = {"pandas": ["pandas", "pyarrow"], "polars": ["polars", "pyarrow"], "arrow": ["pyarrow"]}
_NEEDS |= {"parquet": ["pyarrow"], "sql": ["duckdb", "pyarrow"]}


def through(door: str, columns: dict[str, list[str]], folder: Path) -> Any:
    """Return columns of text as data of a kind; skip the test, with the package's name, if one is missing."""
    for package in _NEEDS.get(door, ()):
        pytest.importorskip(package, reason=f"the door {door} is not tested without {package}")
    rows = [dict(zip(columns, cells)) for cells in zip(*columns.values())]
    path = folder / f"t.{door}"
    if door == "csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(columns))
            writer.writeheader()
            writer.writerows(rows)
        return str(path)
    if door == "json":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return str(path)
    if door in ("pandas", "polars"):
        return importlib.import_module(door).DataFrame(columns)
    table = importlib.import_module("pyarrow").table(columns)
    if door == "parquet":
        importlib.import_module("pyarrow.parquet").write_table(table, path)
        return str(path)
    return importlib.import_module("duckdb").from_arrow(table).filter("true") if door == "sql" else table


def column_of(spelling: Spelling) -> list[str]:
    """Return 24 cells."""
    return (spelling.cells * N_ROWS)[:N_ROWS]


def read(data: Any, label: str) -> tuple[str, list[Any], dict[int, float], State]:
    """Return the schema, the labels, the features of all rows by row and id, and a state with the task."""
    reader = Rows(data, label=label).open(Run(1))
    schema, batch, state = reader.schema or "", c.Batch(), State.new({})
    state.set_schema(schema)
    labels: list[Any] = []
    features: dict[int, float] = {}
    while reader.next(batch):
        numbers, codes, texts = labels_in(batch, batch.n_rows)
        starts = np.ctypeslib.as_array((c.ctypes.c_int64 * (batch.n_rows + 1)).from_address(batch.row_start))
        ids = (c.ctypes.c_uint32 * int(starts[-1])).from_address(batch.index)
        values = (c.ctypes.c_float * int(starts[-1])).from_address(batch.value) if batch.value else None
        for row in range(batch.n_rows):
            for at in range(starts[row], starts[row + 1]):
                features[(len(labels) + row) << 32 | ids[at]] = values[at] if values else 1.0
        state.prepare(batch)
        labels += [texts[code] if code >= 0 else value for value, code in zip(numbers.tolist(), codes.tolist())]
    reader.close()
    return schema, labels, features, state


def line_of(schema: str, column: str) -> list[str]:
    """Return the kind of a column and its properties."""
    line = next(one for one in schema.split("\n") if one.split("\t")[0].partition(" ")[2] == column)
    return [line.partition(" ")[0], *line.split("\t")[1:]]


def feature_of(data: Any) -> tuple[str, list[float | None] | None, Any]:
    """Return the kind of the column `cell`, the values of a number or date, and what every kind of input must share."""
    schema, _, features, _ = read(data, "label")
    kind, *properties = line_of(schema, "cell")
    if kind == "words":
        return kind, None, (schema, features)
    found = dict(one.split("=", 1) for one in properties if "=" in one)
    offset = float(found.get("offset", 0))
    is_missing = [features.get(row << 32 | 1) is not None for row in range(N_ROWS)]
    values = [None if missing else features.get(row << 32, 0.0) + offset for row, missing in enumerate(is_missing)]
    return kind, values, (schema, features)


def expected(spelling: Spelling) -> list[float | None]:
    assert spelling.values is not None
    return (spelling.values * N_ROWS)[:N_ROWS]


def is_close(a: float | None, b: float | None) -> bool:
    return a is b is None or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6))


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("door", DOORS)
def test_a_feature_is_the_same_through_every_door(door: str, name: str, tmp_path: Path) -> None:
    spelling = SPELLINGS[name]
    columns = {"label": ["a", "b"] * (N_ROWS // 2), "cell": column_of(spelling)}
    data = through(door, columns, tmp_path)
    if spelling.feature not in ("number", "date", "words"):
        with pytest.raises(GreedystepError, match=spelling.feature):
            feature_of(data)
        return
    kind, values, all_of_it = feature_of(data)
    assert kind == spelling.feature
    if spelling.values is not None and values is not None:
        assert all(map(is_close, values, expected(spelling))), values
    assert all_of_it == feature_of(through("csv", columns, tmp_path))[2]


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("door", DOORS)
def test_a_label_is_read_as_a_feature_is(door: str, name: str, tmp_path: Path) -> None:
    spelling = SPELLINGS[name]
    columns = {"cell": column_of(spelling), "a": [f"{row}.25" for row in range(N_ROWS)]}
    data = through(door, columns, tmp_path)
    if spelling.label not in ("logistic", "softmax", "squared"):
        with pytest.raises(GreedystepError, match=spelling.label):
            read(data, "cell")
        return
    schema, labels, _, state = read(data, "cell")
    assert c.text_of(state.summary().loss) == spelling.label
    if spelling.feature == "number":
        assert labels == [value for value in expected(spelling) if value is not None]
    elif spelling.feature == "words":
        assert [label if isinstance(label, str) else f"{label:g}" for label in labels] == columns["cell"]
    assert (schema, labels) == read(through("csv", columns, tmp_path), "cell")[:2]
