"""Groups and times of rows, by which they are held out: whole groups, or the latest rows.

A batch has one number per row for either. The library makes the numbers, because its readers make them of columns too:
so rows in arrays are held out as the same rows of a table are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._arrow import free_name, open_table
from ._columns import Columns
from ._core import reader_options
from ._errors import GreedystepValueError
from ._first import copied
from ._given import is_missing
from ._rows import Block, Numeric, features_of
from ._run import Run
from ._schema import Schema

Column = npt.NDArray[Any]

_DAY = 86400


def _column_of(values: Any, name: str) -> Column:
    """Return values, one per row, as an array; timestamps with a time zone as instants."""
    is_zoned = str(getattr(values, "dtype", "")).startswith("datetime64[") and not isinstance(values, np.ndarray)
    found = np.asarray(values, "datetime64[ns]") if is_zoned else np.asarray(values)
    if found.ndim != 1:
        raise GreedystepValueError(f"expected one value per row in {name}, found {found.ndim} dimension(s)")
    return found


# ---- groups --------------------------------------------------------------------------------------


def _text_of(value: Any) -> str:
    """Return the text of a group, as a column of a table would have it; all that is missing is one group."""
    if isinstance(value, str):
        return value
    if is_missing(value):
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _distinct(values: Column) -> tuple[list[Any], npt.NDArray[np.intp]]:
    """Return the distinct values, and the number of that of each row."""
    if values.dtype.kind not in "OUS":  # a table of texts is faster than sorting them
        found, number = np.unique(values, return_inverse=True)
        return list(found), number.reshape(-1)
    known: dict[Any, int] = {}
    try:
        number = np.array([known.setdefault(one, len(known)) for one in values.tolist()], np.intp)
    except TypeError as failure:
        raise GreedystepValueError(f"groups must be numbers, texts or dates ({failure})") from failure
    return list(known), number


# ---- times ---------------------------------------------------------------------------------------


def _no_time(row: int, value: Any) -> GreedystepValueError:
    return GreedystepValueError(
        f"row {row} has the time {value!s}: a time must be a number, a date or a timestamp; convert text "
        "(pandas.to_datetime), and leave rows without a time out"
    )


def _days(seconds: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return seconds since 1970 as the days that the library has of a date in a table, which are to the second."""
    whole = np.floor(seconds).astype(np.int64)
    return np.asarray(whole // _DAY + (whole % _DAY) / _DAY, np.float64)


def _days_of(moment: Any) -> float:
    """Return a date or timestamp as days since 1970; one with a time zone is an instant."""
    if getattr(moment, "tzinfo", None) is not None:
        return float(_days(np.array([moment.timestamp()]))[0])
    return float(_days(np.array([moment], "datetime64[s]").astype(np.int64))[0])


def _time_of(row: int, value: Any) -> float:
    """Return a number, a date or a timestamp as a number."""
    try:
        if is_missing(value) or isinstance(value, (str, bytes)):
            raise ValueError
        return _days_of(value) if hasattr(value, "year") or isinstance(value, np.datetime64) else float(value)
    except (TypeError, ValueError) as failure:
        raise _no_time(row, value) from failure


def _times_of(values: Column) -> npt.NDArray[np.float64]:
    """Return times as numbers that ascend: numbers as they are, dates and timestamps as days since 1970."""
    if values.dtype.kind in "biuf":
        times = values.astype(np.float64)
    elif values.dtype.kind == "m":
        times = np.where(np.isnat(values), np.nan, values / np.timedelta64(1, "D"))
    elif values.dtype.kind == "M":
        times = np.where(np.isnat(values), np.nan, _days(values.astype("datetime64[s]").astype(np.int64)))
    else:
        times = np.array([_time_of(row, one) for row, one in enumerate(values)], np.float64)
    for row in np.flatnonzero(~np.isfinite(times))[:1]:
        raise _no_time(int(row), values[row : row + 1].tolist()[0])
    return times


# ---- both ----------------------------------------------------------------------------------------


class Held:
    """The groups or the times of rows, one per row.

    Parameters
    ----------
    by : {"group", "time"}
    values : array
    argument : str
        The name of the argument, for messages.
    column : str, optional
        The column of a frame that they are from.

    Attributes
    ----------
    by : str
    column : str or None
    """

    def __init__(self, by: str, values: Any, argument: str, column: str | None = None) -> None:
        self.by, self.column = by, column
        self._values, self._argument = _column_of(values, argument), argument
        self._numbers: npt.NDArray[np.uint64] | None = None

    @property
    def no_features(self) -> list[str]:
        """The column of a frame that is no feature: that of groups."""
        return [self.column] if self.by == "group" and self.column is not None else []

    def check_length(self, n_rows: int) -> None:
        """Raise ValueError unless there is one for each row."""
        if len(self._values) != n_rows:
            raise ValueError(
                f"expected a {self.by} per row: there are {n_rows} rows, and {self._argument} has {len(self._values)}"
            )

    def cells(self) -> Column:
        """Return them as a column of a table: texts of groups, or times as numbers."""
        if self.by == "time":
            return _times_of(self._values)
        distinct, number = _distinct(self._values)
        return np.array([_text_of(one) for one in distinct] or [""], object)[number]

    def _read(self, cells: Column) -> npt.NDArray[np.uint64]:
        """Return the numbers that the library has of cells."""
        run, batch = Run(1), c.Batch()
        rows = features_of(np.zeros((len(cells), 1), np.float32))
        assert isinstance(rows, Numeric)
        options = reader_options(label="y")
        self.tell(options, self.by)
        reader = open_table(Columns(rows, ["x"], {"y": np.zeros(len(cells)), self.by: cells}, run), options, run)
        parts = [np.zeros(0, np.uint64)]
        while reader.next(batch):
            parts.append(copied(batch.group, np.uint64, batch.n_rows))
        reader.close()
        return np.concatenate(parts)

    def numbers(self) -> npt.NDArray[np.uint64]:
        """Return the number of each row by which the library holds it out."""
        if self._numbers is None and self.by == "time":
            self._numbers = self._read(_times_of(self._values))
        elif self._numbers is None:
            distinct, number = _distinct(self._values)
            self._numbers = self._read(np.array([_text_of(one) for one in distinct], object))[number]
        return self._numbers

    def lend(self, block: Block, lo: int, hi: int) -> None:
        """Put those of rows into a block."""
        block.lend("group", self.numbers()[lo:hi])
        block.group_is_time = self.by == "time"

    def name_for(self, schema: Schema | None, taken: list[str]) -> str:
        """Return the name of their column beside others: that of a schema that rows must match, or a free one."""
        known = None if schema is None else schema.group if self.by == "group" else schema.time
        return known or free_name(self.column or self.by, taken)

    def tell(self, options: c.ReaderOptions, name: str, *, is_feature: bool = False) -> None:
        """Set the options of a reader for a table that has them in a column; times that are no feature are ignored."""
        setattr(options, self.by, name.encode())
        if self.by == "time" and not is_feature:
            options.ignore = b",".join(filter(None, [options.ignore, name.encode()]))


def held_by(groups: Any, time: Any, names: tuple[str, str]) -> tuple[str, str, Any] | None:
    """Return by what rows are held out, "group" or "time", and the name and value of the argument; None: neither."""
    if groups is not None and time is not None:
        raise GreedystepValueError(
            f"rows are held out by group or by time, and both {names[0]} and {names[1]} were given: leave one out"
        )
    if groups is not None:
        return "group", names[0], groups
    return None if time is None else ("time", names[1], time)
