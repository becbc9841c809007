"""Tables as Arrow C streams: frames, Parquet files, and all objects with ``__arrow_c_stream__``.

Python touches no row: pyarrow, Polars or DuckDB pass batches to the library, which reads them in
a thread of its own.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from ctypes import byref
from typing import Any, Callable

import numpy.typing as npt

from . import _library as c
from ._core import Reader, new_object
from ._errors import GreedystepValueError
from ._run import Run, counted_memory
from ._stores import is_elsewhere, naming, open_file

# Rows of a batch that a Parquet file is read in: as many as the library learns as a block.
_BATCH_ROWS = 65536
# Bytes of a column that are read from it in one go.
_BUFFER = 1 << 20

_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def pyarrow() -> Any:
    """Return the module; raise ImportError with how to install it if it is missing."""
    try:
        import pyarrow as found
    except ImportError as failure:
        raise ImportError("tables of this kind are read by pyarrow: pip install pyarrow") from failure
    return found


class Table:
    """A source of streams of the same rows.

    Parameters
    ----------
    open_stream : callable
        Returns an object with ``__arrow_c_stream__``.
    is_once : bool
        Its rows can be read once only.
    is_dear : bool
        Rows are expensive to make: several passes should spill them.
    """

    def __init__(self, open_stream: Callable[[], Any], *, is_once: bool = False, is_dear: bool = False) -> None:
        self.open_stream, self.is_once, self.is_dear = open_stream, is_once, is_dear

    def move_stream(self, place: int) -> None:
        """Move a stream to an address; its capsule is left without one."""
        capsule = self.open_stream().__arrow_c_stream__()
        source = c.ArrowArrayStream.from_address(_get_pointer(capsule, b"arrow_array_stream"))
        ctypes.memmove(place, byref(source), ctypes.sizeof(c.ArrowArrayStream))
        source.release = None


def _dictionaries_of_words(table: Any) -> Any:
    """Return a table in which categories that are numbers have become texts."""
    pa = pyarrow()
    for i, field in enumerate(table.schema):
        kind = field.type
        if not pa.types.is_dictionary(kind) or pa.types.is_string(kind.value_type):
            continue
        wanted = pa.dictionary(kind.index_type, pa.string(), kind.ordered)
        chunks = [
            pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(pa.string()))
            for chunk in table.column(i).chunks
        ]
        table = table.set_column(i, field.name, pa.chunked_array(chunks, wanted))
    return table


def _with_texts_of_intervals(frame: Any) -> Any:
    """Return a pandas frame in which intervals, such as those of pandas.cut, have become texts."""
    kinds = [getattr(getattr(kind, "categories", None), "dtype", kind) for kind in frame.dtypes]
    names = [name for name, kind in zip(frame.columns, kinds) if str(kind).startswith("interval")]
    return frame.astype(dict.fromkeys(names, str)) if names else frame


def _tell_unreadable(frame: Any, failure: Exception) -> str:
    """Return which column of a pandas frame Arrow cannot hold, and what to do."""
    pa = pyarrow()
    for name in frame.columns:
        try:
            pa.array(frame[name], from_pandas=True)
        except pa.ArrowException:
            kinds = sorted({type(one).__name__ for one in frame[name].dropna()})
            if len(kinds) < 2:
                return f"cannot read column {name!r}: it holds {kinds[0]}; convert it to numbers or text"
            return (
                f"cannot read column {name!r}: it mixes {' and '.join(kinds)}; make it text by "
                f"frame[{name!r}].astype(str), or numbers by pandas.to_numeric(frame[{name!r}], errors='coerce')"
            )
    return f"cannot read the frame: {failure}"


def arrow_table(frame: Any) -> Any:
    """Return a frame as a pyarrow table; columns of numbers are mostly not copied."""
    pa = pyarrow()
    if hasattr(frame, "to_arrow"):  # polars
        return frame.to_arrow()
    if type(frame).__module__.partition(".")[0] == "pandas":
        frame = _with_texts_of_intervals(frame)
        try:
            return _dictionaries_of_words(pa.Table.from_pandas(frame, preserve_index=False))
        except pa.ArrowException as failure:
            raise GreedystepValueError(_tell_unreadable(frame, failure)) from failure
    return pa.table(frame)


def with_columns(frame: Any, columns: dict[str, npt.NDArray[Any]]) -> Table:
    """Return a frame with more columns after its own."""
    pa = pyarrow()
    table = arrow_table(frame)
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    return Table(lambda: table)


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """Return a name for a column that no other has."""
    others = set(taken)
    while wanted in others:
        wanted += "_"
    return wanted


def table_of(data: Any) -> Table | None:
    """Return the streams of an object that has streams, else None."""
    module = type(data).__module__.partition(".")[0]
    if module in ("pandas", "polars") and not hasattr(data, "columns"):
        return None  # one column
    if module == "pandas":
        table = arrow_table(data)
        return Table(lambda: table)
    if module == "pyarrow" and hasattr(data, "scanner"):  # a dataset
        return Table(lambda: _scan(data), is_dear=True)
    if module == "pyarrow" and hasattr(data, "to_reader") and hasattr(data, "dataset_schema"):
        return Table(data.to_reader, is_once=True)  # a scanner
    if hasattr(data, "read_next_batch"):
        return Table(lambda: data, is_once=True)
    if module in ("duckdb", "_duckdb") and hasattr(data, "__arrow_c_stream__"):
        return Table(lambda: data, is_dear=True)
    if hasattr(data, "__arrow_c_stream__"):
        return Table(lambda: data)
    return None


def _scan(dataset: Any) -> Any:
    """Return a reader of a dataset that reads only a few batches ahead."""
    return dataset.scanner(batch_size=_BATCH_ROWS, batch_readahead=2, fragment_readahead=1).to_reader()


class _Parquet:
    """Parquet files one after the other, each a few columns' pages at a time.

    A dataset's scanner holds several row groups in memory; this holds a batch. Texts stay
    dictionaries where the file has them, which takes half of the time to read.
    """

    def __init__(self, paths: Sequence[str], leave_out: Sequence[str]) -> None:
        pa = pyarrow()
        self._paths, self._leave_out = paths, leave_out
        self._texts = [
            field.name
            for field in self._open(paths[0]).schema_arrow
            if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]
        self._schema = self._schema_of(self._open(paths[0], self._texts))

    def _open(self, path: str, texts: Sequence[str] = ()) -> Any:
        from pyarrow import parquet

        with naming(path):
            file = open_file(path) if is_elsewhere(path) else path
            return parquet.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER, read_dictionary=list(texts))

    def _schema_of(self, file: Any) -> Any:
        """Return the columns; those that are left out have the type null and are not read."""
        pa = pyarrow()
        return pa.schema(
            pa.field(field.name, pa.null())
            if field.name in self._leave_out
            # Tells the library that the dictionary is an encoding of texts, and no type that was declared.
            else field.with_metadata({"greedystep": "text"} if field.name in self._texts else None)
            for field in file.schema_arrow
        )

    def _batches(self) -> Iterator[Any]:
        pa = pyarrow()
        names = self._schema.names
        for path in self._paths:
            file = self._open(path, self._texts)
            if not self._schema_of(file).equals(self._schema):
                raise ValueError(f"{path} has other columns than {self._paths[0]}")
            read = [name for name in names if name not in self._leave_out]
            with naming(path):
                for batch in file.iter_batches(_BATCH_ROWS, columns=read):
                    columns = [
                        pa.nulls(batch.num_rows) if name in self._leave_out else batch.column(name) for name in names
                    ]
                    yield pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def stream(self) -> Any:
        """Return a reader of all rows."""
        return pyarrow().RecordBatchReader.from_batches(self._schema, self._batches())


def parquet_of(paths: Sequence[str], leave_out: Sequence[str] = ()) -> Table:
    """Return the streams of Parquet files, without ignored columns."""
    pyarrow()
    if any(os.path.isdir(path) for path in paths):
        from pyarrow import dataset

        found = dataset.dataset(list(paths) if len(paths) > 1 else paths[0], format="parquet")
        return Table(lambda: _scan(found), is_dear=True)
    return Table(_Parquet(paths, leave_out).stream, is_dear=True)


class _Again:
    """The library's callback for another pass."""

    def __init__(self, table: Table, run: Run) -> None:
        self._table, self._run = table, run
        self.struct = c.ArrowAgain(c.OpenAgain(self._open), None, None)

    def _open(self, _ctx: Any, place: int) -> int:
        try:
            self._table.move_stream(place)
        except BaseException as failure:
            self._run.fail(failure)
            return errno.EIO
        return 0


def open_table(table: Table, options: c.ReaderOptions, run: Run) -> Reader:
    """Return a reader of a table."""
    stream = c.ArrowArrayStream()
    table.move_stream(ctypes.addressof(stream))
    again = None if table.is_once else _Again(table, run)
    pointer = new_object(
        "gsa_reader_open_arrow",
        byref(stream),
        byref(again.struct) if again else None,
        byref(options),
        byref(counted_memory()),
        byref(run.struct),
    )
    return Reader(pointer, (table, again, run), is_dear=table.is_dear)
