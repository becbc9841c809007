"""Rows of numbers as a table: arrays and numeric frames with gaps, or with columns far from 0. The library's reader of
Arrow streams replaces a missing number by the mean and measures columns from offsets, as in tables of every other kind.

Needs no pyarrow: the structs of the Arrow C stream interface are filled in here. A batch is a block of rows, copied to
columns of float64, and lives until the library releases it.
"""

from __future__ import annotations

import ctypes
import errno
import itertools
from collections.abc import Sequence
from ctypes import POINTER, pointer
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._arrow import Table, free_name, open_table
from ._core import FloatArray, Reader, reader_options, signs_of
from ._errors import GreedystepValueError
from ._first import labels_in
from ._given import ClassLabels, Given, Labels, Numbers, columns_beside
from ._rows import Block, Features, Numeric, features_of
from ._run import Run
from ._schema import Names, Schema

Column = npt.NDArray[Any]


def _release_schema(address: int) -> None:
    c.ArrowSchema.from_address(address).release = None


def _release_column(address: int) -> None:
    c.ArrowArray.from_address(address).release = None


def _release_stream(address: int) -> None:
    c.ArrowArrayStream.from_address(address).release = None


_NO_ERROR = c.StreamError(lambda _stream: None)
_RELEASE_SCHEMA, _RELEASE_STREAM = c.Release(_release_schema), c.Release(_release_stream)
_RELEASE_COLUMN = c.Release(_release_column)


def _address(function: Any) -> Any:
    return ctypes.cast(function, ctypes.c_void_p)


class Columns(Table):
    """Rows of numbers, and columns of labels and weights after them, as streams.

    Parameters
    ----------
    features : Numeric
    names : list of str
        The names of its columns.
    others : dict
        Further columns by name: numbers, or texts.
    run : Run
        Raises the exceptions of the stream's callbacks.
    far : array of bool, optional
        Columns whose digits all count; the others are rounded to float32.
    """

    def __init__(
        self,
        features: Numeric,
        names: Sequence[str],
        others: dict[str, Column],
        run: Run,
        far: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        super().__init__(lambda: None)
        self._features, self._others, self._run = features, list(others.values()), run
        self._far = np.zeros(features.width, np.bool_) if far is None else far
        self._texts = [name.encode() for name in [*names, *others]]
        self._formats = [b"g"] * len(names) + [b"u" if one.dtype.kind in "UO" else b"g" for one in self._others]
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
        children = (POINTER(c.ArrowSchema) * len(columns))(*map(pointer, columns))
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
        numbers = np.ascontiguousarray(self._features.doubles(lo, hi, self._far).T)
        batch = _Batch(numbers, [one[lo:hi] for one in self._others])
        batch.move(out)
        out.release, out.private_data = _address(self._functions[2]), next(self._numbers)
        self._held[out.private_data] = batch

    def _release(self, address: int) -> None:
        array = c.ArrowArray.from_address(address)
        array.release = None
        self._held.pop(array.private_data, None)


class _Batch:
    """A batch and all that it borrows: columns of numbers, and further ones of doubles or texts.

    Members of an ArrowArray have 8 bytes each, so that those of all columns are filled in at once.
    """

    def __init__(self, numbers: Column, others: Sequence[Column]) -> None:
        width, self._n_rows = numbers.shape
        n = width + len(others)
        self._kept: list[Any] = [numbers]
        self._buffers = np.zeros((n, 3), np.uint64)  # nulls, of which there are none, and two more at most
        self._buffers[:width, 1] = numbers.ctypes.data + np.arange(width, dtype=np.uint64) * numbers.strides[0]
        for i, one in enumerate(others, width):
            arrays = _texts(one) if one.dtype.kind in "UO" else [np.require(one, np.float64, ["C", "A"])]
            self._buffers[i, 1 : 1 + len(arrays)] = [array.ctypes.data for array in arrays]
            self._kept += arrays
        self._arrays = np.zeros((n, ctypes.sizeof(c.ArrowArray) // 8), np.uint64)
        self._set("length", self._n_rows)
        self._set("n_buffers", 2 + (self._buffers[:, 2] != 0))
        self._set("buffers", _places(self._buffers))
        self._set("release", _address(_RELEASE_COLUMN).value)
        self._children = _places(self._arrays)

    def _set(self, member: str, values: Any) -> None:
        self._arrays[:, getattr(c.ArrowArray, member).offset // 8] = values

    def move(self, out: c.ArrowArray) -> None:
        """Fill in the struct that has all columns."""
        out.length, out.n_buffers, out.n_children = self._n_rows, 1, len(self._children)
        out.buffers, out.children = self._nothing.ctypes.data, self._children.ctypes.data

    _nothing = np.zeros(1, np.uint64)


def _places(rows: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return the addresses of the rows of an array."""
    return rows.ctypes.data + np.arange(len(rows), dtype=np.uint64) * np.uint64(rows.strides[0])


def _texts(values: Column) -> list[Column]:
    """Return texts in Arrow's form: offsets, and all bytes."""
    encoded = [str(one).encode() for one in values]
    starts = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum([len(one) for one in encoded], out=starts[1:])
    return [starts, np.frombuffer(b"".join(encoded) or b"\0", np.uint8)]


class Texts:
    """Labels in texts, one per row, read as the cells of a table."""

    def __init__(self, values: Column) -> None:
        self._values = values
        self._read: Labels | None = None

    def __len__(self) -> int:
        return len(self._values)

    def column(self) -> Column:
        """Return the labels as a column of a table, in which missing ones would be left out."""
        self._labels()
        return self._values

    def as_words(self, _name: str) -> list[str]:
        """Return the columns to treat as categorical if the label has this name: none."""
        return []

    def lend(self, block: Block, lo: int, hi: int) -> None:
        """Put the labels of rows into a block."""
        self._labels().lend(block, lo, hi)

    def _labels(self) -> Labels:
        self._read = self._read or self._read_all()
        return self._read

    def _read_all(self) -> Labels:
        run = Run(1)
        rows = features_of(np.zeros((len(self), 1), np.float32))
        assert isinstance(rows, Numeric)
        reader = open_table(Columns(rows, ["x"], {"y": self._values}, run), reader_options(label="y"), run)
        batch, found = c.Batch(), list[Any]()
        while reader.next(batch):
            numbers, words, texts = labels_in(batch, batch.n_rows)
            found += [texts[word] if word >= 0 else number for number, word in zip(numbers.tolist(), words.tolist())]
        n_missing = reader.progress().n_unlabelled
        reader.close()
        if n_missing > 0:
            raise GreedystepValueError(f"{n_missing} of {len(self)} labels in y are missing: leave these rows out")
        return Labels(found)


class Frozen(NamedTuple):
    """The columns that a model expects: the schema or, for rows without gaps, the means and names, if known."""

    schema: str | None
    means: FloatArray | None = None
    names: Names | None = None


def open_rows(
    features: Features,
    labels: Numbers | ClassLabels | Texts | None,
    weights: Any,
    run: Run,
    frozen: Frozen | None,
    *,
    learns: bool = False,
    without_offsets: bool = False,
    held: Any = None,
    has_offset: bool = False,
    monotone: Any = None,
) -> Reader | Given:
    """Return the rows of an array or a numeric frame: as they are, or as a table if they have gaps or are far from 0.

    Parameters
    ----------
    features : Features
    labels, weights
        As :class:`Given` has them.
    frozen : Frozen, optional
        Those of the model that the rows are for; None: they decide what fills their gaps and what they are measured
        from, and are a table if they have gaps or need offsets.
    learns : bool
        The rows are for a run that compares their schema with that of the model.
    without_offsets : bool
        Values are rounded to float32 as they are.
    held : Held, optional
        The groups or times of the rows.
    has_offset : bool
        The last column is the offset: they are a table.
    monotone : dict or sequence, optional
        Signs of columns by name or, without names, by number from 0: they are a table.
    """
    given = Given(features, labels, None if weights is None else np.asarray(weights), held)
    schema = None if frozen is None or frozen.schema is None else Schema.of(frozen.schema)
    if schema is not None:
        schema.check_numbers()
    if not isinstance(features, Numeric):
        if monotone is not None:
            raise ValueError("monotone= is for columns, and a sparse matrix has none: give dense rows or a table")
        if schema is not None:
            schema.check_sparse()
        return given
    if schema is not None:
        schema.check_width(features.width)
        if schema.offset is not None:
            at = schema.numeric.index(schema.offset)
            for lo, hi in features.bounds():
                check_offset(features.numbers(lo, hi)[:, at], lo)
        if labels is None or not learns:
            return given.of(
                features.closed(schema.means, tells=True, offsets=schema.offsets, sentinels=schema.sentinels)
            )
    elif frozen is not None:
        return given.of(features.closed(frozen.means))
    if labels is None:
        return given
    far = np.zeros(features.width, np.bool_)
    if schema is not None:
        far = schema.offsets != 0
    elif not without_offsets:
        far = features.far(columns_beside(features.names, weights, held)) | features.suspects()
    if schema is None and not far.any() and not features.has_gaps() and not has_offset and monotone is None:
        return given
    return _open_columns(features, labels, weights, run, schema, far, held, has_offset=has_offset, monotone=monotone)


def check_offset(values: npt.NDArray[Any], first: int = 0) -> None:
    """Raise ValueError unless the offsets of rows from `first` on are finite."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ValueError(f"row {first + bad[0]} has the offset {values[bad[0]]:g}: expected a finite number")


def check_same(held: Any, schema: Schema) -> None:
    """Raise ValueError unless rows have groups or times if those of the model had, and are columns of both."""
    by, names = None if held is None else held.by, {"group": schema.group, "time": schema.time}
    if by is not None and names[by] is None:
        raise ValueError(f"the rows have {by}s, and the rows of the model had none: train a new model")
    for kind, name in names.items():
        if by != kind and name is not None and name not in schema.features:
            raise ValueError(f"the model was trained on rows with {kind}s: give them, or train a new model")
    if by == "time" and schema.time in schema.features and schema.time != held.column:
        raise ValueError(f"the model has the times of rows in column {schema.time!r}: name it (time={schema.time!r})")


def _open_columns(
    features: Numeric,
    labels: Numbers | ClassLabels | Texts,
    weights: Any,
    run: Run,
    schema: Schema | None,
    far: npt.NDArray[np.bool_],
    held: Any,
    *,
    has_offset: bool,
    monotone: Any,
) -> Reader:
    """Return a reader of rows of numbers as a table; columns without names are numbered from 1."""
    names, label_name, weight_name = features.names, None, None
    if schema is not None:
        names, label_name, weight_name = schema.numbers, schema.label, schema.weight
        if weights is not None and weight_name is None:
            raise ValueError("the rows have weights, and the rows of the model had none: train a new model")
        if weights is None and weight_name is not None:
            weights = np.ones(features.n_rows)
        check_same(held, schema)
    keys = [str(name) for name in names]
    if len(set(names)) < features.width or "" in names:
        keys = [str(number) for number in range(features.width)]
        names = [str(number + 1) for number in range(features.width)]
    if has_offset and schema is None and names[-1] == str(features.width):
        names = [*names[:-1], free_name("offset", names[:-1])]
    others = {label_name or free_name("label", names): labels.column()}
    if weights is not None:
        others[weight_name or free_name("weight", names)] = np.asarray(weights)
    signs = signs_of(monotone, keys[: features.width - has_offset])
    taken = [*others, None]
    as_words = labels.as_words(str(taken[0])) if schema is None else ()
    options = reader_options(
        label=taken[0],
        weight=taken[1],
        categorical=as_words,
        offset=names[-1] if has_offset and schema is None else None,
        monotone={name: signs[key] for name, key in zip(names, keys) if key in signs},
        remember_names=True,
        without_offsets=not far.any(),
    )
    if held is not None:
        is_feature = held.by == "time" and held.column in names
        name = str(held.column) if is_feature else held.name_for(schema, [*names, *others])
        if is_feature:
            far = far | (np.array(names) == name)  # all digits of the times count
        else:
            others[name] = held.cells()
        if schema is None:
            held.tell(options, name, is_feature=is_feature)
    return open_table(Columns(features, names, others, run, far), options, run)
