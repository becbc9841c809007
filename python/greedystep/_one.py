"""One row at a time, for servers: its cells go to the library as they are, without a frame or an array of rows.

A thread keeps what it needs for a model and its columns, so that rows take no lock. It is freed with the model.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Mapping, Sequence
from ctypes import byref, c_char_p, c_double
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from . import _library as c
from ._columns import Frozen
from ._core import CModel, Handle, new_object
from ._errors import call
from ._run import counted_memory

_EXACT = 2**53  # whole numbers up to here are doubles
_KEPT = 16  # lists of columns per model and thread
_MISSING_TYPES = ("NoneType", "NAType", "NaTType")  # pandas need not be there


def _text_of(value: Any, column: str | None) -> str | float:
    """Return a cell that is neither a text nor a number as one of the two, as frames have it."""
    if type(value).__name__ in _MISSING_TYPES:
        return float("nan")
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    if isinstance(value, datetime.date):  # of which a datetime is one
        return value.isoformat()
    if isinstance(value, np.datetime64):
        return float("nan") if np.isnat(value) else str(value)
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        day = datetime.timedelta(days=1) if isinstance(value, datetime.timedelta) else np.timedelta64(1, "D")
        return float(value / day)
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    raise TypeError(f"column {column!r} holds a {type(value).__name__}: a cell is a number, a text, a date or None")


def _is_odd(value: Any) -> bool:
    """Return whether a cell is not simply a number: a double would round it, or take it for one."""
    if isinstance(value, (int, np.integer)):
        return not -_EXACT <= value <= _EXACT
    return isinstance(value, (np.datetime64, np.timedelta64))


class _Cells(Handle):
    """A row of cells by the names of their columns (gsa_row), of one thread."""

    def __init__(self, schema: str, columns: Sequence[str] | None) -> None:
        names = None if columns is None else (c_char_p * len(columns))(*(name.encode() for name in columns))
        arguments = (schema.encode(), names, len(columns or ()), byref(counted_memory()))
        super().__init__(new_object("gsa_row_new", *arguments), "gsa_row_free")
        name_of = c.library().gsa_row_column
        n = 0
        while columns is None and name_of(self.pointer, n) is not None:
            n += 1
        self.n = n if columns is None else len(columns)
        self.names = [c.text_of(name_of(self.pointer, i)) for i in range(self.n)]
        self.cells = (c.Cell * max(self.n, 1))()
        # A cell that is ignored stays as it is.
        self.used = [(self.cells[i], i) for i, name in enumerate(self.names) if name is not None]
        self.batch = c.Batch()

    def set(self, values: Sequence[Any]) -> c.Batch:
        """Return a batch of the row, valid until the next."""
        for cell, i in self.used:
            value = values[i]
            if not isinstance(value, (str, float)):
                try:
                    if _is_odd(value):
                        raise TypeError
                    value = float(value)
                except (TypeError, ValueError):
                    value = _text_of(value, self.names[i])
            if isinstance(value, str):
                text = value.encode()
                cell.text = text
                cell.text_size = len(text)
            else:
                cell.text = None
                cell.number = value
        call("gsa_row_set", self.pointer, self.cells, byref(self.batch))
        return self.batch


class _Numbers:
    """A row of numbers by their positions, for a model without a schema."""

    def __init__(self, frozen: Frozen, columns: Sequence[str] | None) -> None:
        order = None
        if columns is not None:
            if frozen.names is None:
                raise ValueError("the model knows no names of columns: give the numbers of a row in their order")
            ordered = frozen.names.ordered(list(columns))
            order = [list(columns).index(name) for name in ordered]
        self.order = order
        self.means = frozen.means
        self.n = None if columns is None else len(columns)
        self.batch = c.Batch(n_rows=1)

    def set(self, values: Sequence[Any]) -> c.Batch:
        """Return a batch of the row, valid until the next."""
        row = np.array([np.nan if value is None else value for value in values], np.float64)
        if self.order is not None:
            row = row[self.order]
        if np.isnan(row).any():
            if self.means is None or len(self.means) != len(row):
                raise ValueError(
                    "a number is missing (NaN), and the model was trained on rows without gaps: fill it in"
                )
            row = np.where(np.isnan(row), self.means, row)
        self.numbers = np.ascontiguousarray(row, np.float32)  # kept: the batch points to it
        self.batch.width = len(self.numbers)
        self.batch.value = self.numbers.ctypes.data
        return self.batch


_rows = threading.local()


def predicted_one(
    owner: Any, model: CModel, frozen: Frozen, row: Mapping[str, Any] | Sequence[Any], name: str, width: int
) -> list[float]:
    """Return the numbers that gsa_model_margins or gsa_model_predict has for one row; `owner` has model and columns."""
    columns = tuple(row) if isinstance(row, Mapping) else None
    values = list(row.values() if isinstance(row, Mapping) else row)
    of_thread = _rows.__dict__.setdefault("by_model", WeakKeyDictionary())
    of_model = of_thread.setdefault(owner, {})
    maker = of_model.get(columns)
    if maker is None:
        if len(of_model) >= _KEPT:
            of_model.clear()
        schema = frozen.schema
        maker = _Numbers(frozen, columns) if schema is None else _Cells(schema, columns)
        of_model[columns] = maker
    if maker.n is not None and len(values) != maker.n:
        raise ValueError(f"the row has {len(values)} cells, and the model has {maker.n} columns: {maker.names}")
    out = (c_double * width)()
    call(name, model.pointer, byref(maker.set(values)), out)
    return list(out)
