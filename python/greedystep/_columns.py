"""Rows of numbers as a table: arrays and numeric frames with gaps, in which the library's reader of Arrow streams puts
the mean in place of a missing number, as it does in tables of every other kind.

Needs no pyarrow: the structs of the Arrow C stream interface are filled in here. A batch is a block of rows, copied to
columns of float32, and lives until the library releases it.
"""

from __future__ import annotations

import ctypes
import errno
import itertools
from collections.abc import Sequence
from ctypes import POINTER, addressof, pointer
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._arrow import Table, free_name, open_table
from ._core import FloatArray, Reader, reader_options
from ._given import ClassLabels, Given, Numbers
from ._rows import Features, Numeric
from ._run import Run
from ._schema import Schema

Column = npt.NDArray[Any]


def _release_schema(address: int) -> None:
    c.ArrowSchema.from_address(address).release = None


def _release_stream(address: int) -> None:
    c.ArrowArrayStream.from_address(address).release = None


_NO_ERROR = c.StreamError(lambda _stream: None)
_RELEASE_SCHEMA, _RELEASE_STREAM = c.Release(_release_schema), c.Release(_release_stream)


def _pointers(structs: Sequence[Any], kind: Any) -> Any:
    return (POINTER(kind) * len(structs))(*map(pointer, structs))


def _address(function: Any) -> Any:
    return ctypes.cast(function, ctypes.c_void_p)


class Columns(Table):
    """Rows of numbers, and columns of labels and weights behind them, as streams.

    Parameters
    ----------
    features : Numeric
    names : list of str
        Of its columns.
    others : dict
        Further columns by name: numbers, or texts.
    run : Run
        What fails in a stream is its to raise.
    """

    def __init__(self, features: Numeric, names: Sequence[str], others: dict[str, Column], run: Run) -> None:
        super().__init__(lambda: None)
        self._features, self._others, self._run = features, list(others.values()), run
        self._texts = [name.encode() for name in [*names, *others]]
        self._formats = [b"f"] * len(names) + [b"u" if one.dtype.kind in "UO" else b"g" for one in self._others]
        self._bounds = features.bounds()
        self._held: dict[int, Any] = {}  # what batches borrow, until they are released
        self._numbers = itertools.count(1)
        self._functions = (c.GetSchema(self._get_schema), c.GetNext(self._get_next), c.Release(self._release))

    def move_stream(self, place: int) -> None:
        """Make a stream of all rows at an address."""
        self._bounds = self._features.bounds()
        stream = c.ArrowArrayStream.from_address(place)
        stream.get_schema, stream.get_next = map(_address, self._functions[:2])
        stream.get_last_error, stream.release = _address(_NO_ERROR), _address(_RELEASE_STREAM)

    def _get_schema(self, _stream: int, place: int) -> int:
        release = _address(_RELEASE_SCHEMA)
        columns = [
            c.ArrowSchema(format=kind, name=name, flags=2, release=release)  # 2: may have nulls
            for kind, name in zip(self._formats, self._texts)
        ]
        children = _pointers(columns, c.ArrowSchema)
        out = c.ArrowSchema.from_address(place)
        out.format, out.name, out.n_children, out.release = b"+s", b"", len(columns), release
        out.children = ctypes.cast(children, ctypes.c_void_p)
        self._held[0] = (columns, children)  # as long as the table
        return 0

    def _get_next(self, _stream: int, place: int) -> int:
        try:
            out = c.ArrowArray.from_address(place)
            bounds = next(self._bounds, None)
            ctypes.memset(place, 0, ctypes.sizeof(c.ArrowArray))
            if bounds is not None:
                self._fill(out, *bounds)
        except BaseException as failure:
            self._run.fail(failure)
            return errno.EIO
        return 0

    def _fill(self, out: c.ArrowArray, lo: int, hi: int) -> None:
        kept = _Kept(hi - lo, _address(self._functions[2]))
        by_column = np.ascontiguousarray(self._features.numbers(lo, hi).T)
        columns = [kept.array(column) for column in by_column]
        for other in self._others:
            columns.append(kept.texts(other[lo:hi]) if other.dtype.kind in "UO" else kept.array(_doubles(other[lo:hi])))
        kept.array_of(out, [], columns)
        out.private_data = next(self._numbers)
        self._held[out.private_data] = kept

    def _release(self, address: int) -> None:
        array = c.ArrowArray.from_address(address)
        array.release = None
        self._held.pop(array.private_data, None)


def _doubles(values: Column) -> Column:
    return np.require(values, np.float64, ["C", "A"])


class _Kept:
    """The arrays of a batch, and all that they borrow."""

    def __init__(self, n_rows: int, release: Any) -> None:
        self._n_rows, self._release = n_rows, release
        self._all: list[Any] = []

    def array_of(self, out: c.ArrowArray, buffers: Sequence[int], columns: Sequence[c.ArrowArray] = ()) -> c.ArrowArray:
        """Fill in an array that has no nulls."""
        places = (ctypes.c_void_p * (1 + len(buffers)))(None, *buffers)
        children = _pointers(columns, c.ArrowArray)
        self._all += [places, children, columns]
        out.length, out.n_buffers, out.n_children = self._n_rows, len(places), len(columns)
        out.buffers, out.children = addressof(places), ctypes.cast(children, ctypes.c_void_p)
        out.release = self._release
        return out

    def array(self, values: Column) -> c.ArrowArray:
        """Return a column of numbers."""
        self._all.append(values)
        return self.array_of(c.ArrowArray(), [values.ctypes.data])

    def texts(self, values: Column) -> c.ArrowArray:
        """Return a column of texts."""
        encoded = [str(one).encode() for one in values]
        starts = np.zeros(len(encoded) + 1, np.int32)
        np.cumsum([len(one) for one in encoded], out=starts[1:])
        joined = ctypes.create_string_buffer(b"".join(encoded))
        self._all += [starts, joined]
        return self.array_of(c.ArrowArray(), [starts.ctypes.data, addressof(joined)])


class Frozen(NamedTuple):
    """What a model says of rows to come: the schema, or of arrays that had no gaps the means, if they are known."""

    schema: str | None
    means: FloatArray | None = None


def open_rows(
    features: Features,
    labels: Numbers | ClassLabels | None,
    weights: Any,
    run: Run,
    frozen: Frozen | None,
) -> Reader | Given:
    """Return the rows of an array or a numeric frame: as they are if they have no gaps, else as a table.

    Parameters
    ----------
    features : Features
    labels, weights
        As :class:`Given` has them.
    frozen : Frozen, optional
        Of the model that the rows are for; None: they decide what fills their gaps.
    """
    weights = None if weights is None else np.asarray(weights)
    given = Given(features, labels, weights)
    if frozen is not None and frozen.schema is not None:
        schema = Schema.of(frozen.schema)
        schema.check_numbers()
        if isinstance(features, Numeric) and (labels is not None or features.has_gaps()):
            schema.check_width(features.width)
            return _open_columns(features, labels, weights, run, schema)
    elif isinstance(features, Numeric):
        if frozen is not None:
            return Given(features.closed(frozen.means), labels, weights)
        if features.has_gaps():
            return _open_columns(features, labels, weights, run, None)
    return given


def _open_columns(
    features: Numeric, labels: Numbers | ClassLabels | None, weights: Any, run: Run, schema: Schema | None
) -> Reader:
    """Return a reader of rows of numbers as a table; columns without names are numbered from 1."""
    names = features.names if schema is None else schema.numbers
    if len(set(names)) < features.width or "" in names:
        names = [str(number + 1) for number in range(features.width)]
    wanted = [(None if labels is None else labels.column(), "label", schema and schema.label)]
    wanted.append((weights, "weight", schema and schema.weight))
    others = {named or free_name(name, names): values for values, name, named in wanted if values is not None}
    options = reader_options(
        label=next(iter(others)) if labels is not None else None,
        weight=list(others)[-1] if weights is not None else None,
        without_labels=labels is None,
        remember_names=True,
    )
    return open_table(Columns(features, names, others, run), options, run)
