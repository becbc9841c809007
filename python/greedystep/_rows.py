"""Features in arrays, as blocks of rows that the library borrows.

Dense float32 in C order and CSR of float32 in canonical form are lent as they are. Everything else
is converted in blocks: the rows of a block become arrays of at most 16 MB, which live until the
next block. The library converts half floats (float16, and bfloat16 of ml_dtypes or PyTorch).
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from . import _library as c
from ._errors import GreedystepValueError

sparse: Any = scipy.sparse  # whether or not stubs of it are installed

#: Bytes of what is converted at a time.
BUFFER = 16 * 2**20
# Entries looked at in one go where a matrix has to be searched.
_CHUNK = 1 << 20
# Columns are measured from an offset if their magnitude is above _FAR times their range. Below _FINEST times the
# magnitude a range is that of rounding errors.
_FAR, _FINEST = 1024, 2.0**-40
# Columns of an array that may have offsets.
_MAX_MEASURED = 65536
# The rows that decide the schema of a table, as many as have so many cells together, and how many they are at least.
_DECIDING_CELLS, _DECIDING_ROWS = 1 << 22, 4096

FloatArray = npt.NDArray[np.float32]


class Block(c.Batch):
    """A batch that keeps alive the arrays it borrows."""

    def __init__(self, n_rows: int) -> None:
        super().__init__(n_rows=n_rows)
        self._kept: list[Any] = []

    def lend(self, field: str, array: npt.NDArray[Any], offset: int = 0) -> None:
        """Point the batch to an array, beginning at an item."""
        setattr(self, field, array.ctypes.data + offset * array.itemsize)
        self._kept.append(array)

    def keep(self, thing: Any) -> None:
        """Keep something alive as long as the block."""
        self._kept.append(thing)


def _plain(array: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    """Return the array itself if it can be lent, else a copy."""
    with np.errstate(over="ignore"):  # what is infinite then, the library refuses by its row
        return np.require(array, dtype, ["C", "A"])


class Features:
    """Rows of features, in blocks."""

    n_rows: int
    names: Sequence[str] = ()  # of the features, where they have some

    def bounds(self) -> Iterator[tuple[int, int]]:
        """Yield first and last row of the blocks, the last exclusive."""
        raise NotImplementedError

    def lend(self, block: Block, lo: int, hi: int) -> None:
        """Put rows into a block."""
        raise NotImplementedError

    def has_gaps(self) -> bool:
        """Return whether numbers are missing; in a sparse matrix that is an error, which the library reports."""
        return False


def _even_bounds(n_rows: int, most: int) -> Iterator[tuple[int, int]]:
    step = max(1, min(most, c.BLOCK_ROWS))
    for lo in range(0, n_rows, step):
        yield lo, min(n_rows, lo + step)


def deciding_rows(n_columns: int) -> int:
    """Return from how many first rows the schema of a table with so many columns is made."""
    return max(_DECIDING_ROWS, _DECIDING_CELLS // max(1, n_columns))


class Numeric(Features):
    """Rows with the same number of values, of which some may be missing (NaN).

    Attributes
    ----------
    width : int
    """

    width: int
    _close: Callable[[FloatArray, int], FloatArray] | None = None
    _offsets: npt.NDArray[np.float64] | None = None
    _sentinels: FloatArray | None = None

    def numbers(self, lo: int, hi: int) -> FloatArray:
        """Return some rows."""
        raise NotImplementedError

    def exact(self, lo: int, hi: int) -> npt.NDArray[Any]:
        """Return some rows with all digits."""
        raise NotImplementedError

    def doubles(self, lo: int, hi: int, far: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """Return some rows as float64: some columns with all digits, the others rounded to float32."""
        numbers = self.numbers(lo, hi).astype(np.float64)
        numbers[:, far] = self.exact(lo, hi)[:, far]
        return numbers

    def lend(self, block: Block, lo: int, hi: int) -> None:
        if self._offsets is None:
            numbers = self.numbers(lo, hi)
        else:
            numbers = _plain(self.doubles(lo, hi, self._offsets != 0) - self._offsets, np.float32)
        if self._sentinels is not None:
            raw = self.numbers(lo, hi)
            for values in self._sentinels:
                numbers = np.where(raw == values, np.float32(np.nan), numbers)
        if self._close is not None and _has_nan(numbers):
            numbers = self._close(numbers, lo)
        block.width = numbers.shape[1]
        block.lend("value", numbers)

    def has_gaps(self) -> bool:
        return any(_has_nan(self.numbers(*bounds)) for bounds in self.bounds())

    def suspects(self) -> npt.NDArray[np.bool_]:
        """Return which columns of a frame end with a number that often means a missing one: a table decides.

        Numbers in arrays are what they are.
        """
        return np.zeros(self.width, np.bool_)

    def far(self, n_beside: int = 1) -> npt.NDArray[np.bool_]:
        """Return which columns are so far from 0, compared to their range, that a table measures them from an offset.

        The rule is that of gsai_seen_offset, on the rows from which the schema of a table is made that has `n_beside`
        columns beside these.
        """
        if self.width > _MAX_MEASURED:
            return np.zeros(self.width, np.bool_)
        n = deciding_rows(self.width + n_beside)
        low, high = np.full(self.width, np.inf), np.full(self.width, -np.inf)
        for lo, hi in _even_bounds(min(n, self.n_rows), max(1, _CHUNK // max(1, self.width))):
            numbers = self.exact(lo, hi)
            low = np.fmin(low, _extremes(np.fmin, numbers).astype(np.float64))
            high = np.fmax(high, _extremes(np.fmax, numbers).astype(np.float64))
        with np.errstate(invalid="ignore", over="ignore"):
            least, most = low.astype(np.float32).astype(np.float64), high.astype(np.float32).astype(np.float64)
            size = np.maximum(np.abs(least), np.abs(most))
            found: npt.NDArray[np.bool_] = (size > _FAR * (most - least)) & (high - low > _FINEST * size)
        return found & np.isfinite(size)

    def means(self, weights: npt.NDArray[Any] | None = None, n_beside: int = 1) -> FloatArray:
        """Return what missing numbers would count as: means of the rows from which a table's schema is made."""
        n = deciding_rows(self.width + n_beside)
        sums, totals = np.zeros(self.width), np.zeros(self.width)
        for lo, hi in _even_bounds(min(n, self.n_rows), max(1, _CHUNK // max(1, self.width))):
            numbers = self.numbers(lo, hi)
            weight = (
                None if weights is None else np.asarray(weights[lo:hi], np.float32).astype(np.float64)[:, np.newaxis]
            )
            if weight is None and not _has_nan(numbers):
                sums, totals = _added(sums, numbers), totals + (hi - lo)
                continue
            is_there = ~np.isnan(numbers)
            sums = _added(sums, np.where(is_there, numbers if weight is None else numbers * weight, 0.0))
            totals = _added(totals, is_there * (1.0 if weight is None else weight))
        with np.errstate(invalid="ignore", over="ignore"):
            found = (sums / totals).astype(np.float32)
        return np.where(np.isfinite(found), found, np.float32(0))

    def closed(
        self,
        means: FloatArray | None,
        *,
        tells: bool = False,
        offsets: npt.NDArray[np.float64] | None = None,
        sentinels: npt.NDArray[np.float64] | None = None,
    ) -> Numeric:
        """Return the rows with means in place of missing numbers; without means raise ValueError with the place.

        If `tells`, features that mark missing numbers follow those of the columns, as in rows of tables. Offsets are
        subtracted before. The numbers of `sentinels`, [values x columns], are missing, too.
        """

        def close(numbers: FloatArray, lo: int) -> FloatArray:
            if means is not None:
                is_missing = np.isnan(numbers)
                filled = np.where(is_missing, means, numbers)
                return np.hstack([filled, is_missing.astype(np.float32)]) if tells else filled
            row, column = (int(at[0]) for at in np.nonzero(np.isnan(numbers)))
            raise ValueError(
                f"row {lo + row}, column {column}: the number is missing (NaN), and the model was trained on rows "
                "without gaps: fill it in, or train on rows with gaps"
            )

        made = copy.copy(self)
        made._close = close
        made._offsets = offsets if offsets is not None and offsets.any() else None
        made._sentinels = sentinels.astype(np.float32) if sentinels is not None and len(sentinels) else None
        return made


def _extremes(fmin: np.ufunc, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the lowest or highest number of every column: of several rows side by side first, if columns are few."""
    width = rows.shape[1]
    k = 1024 // max(1, width)
    n = len(rows) // max(1, k) * k
    if k > 1 and n > k and rows.flags.c_contiguous:
        found = fmin.reduce(rows[:n].reshape(-1, k * width), axis=0).reshape(k, width)
        rows = np.concatenate([found, rows[n:]])
    extremes: npt.NDArray[Any] = fmin.reduce(rows, axis=0)
    return extremes


def _added(total: npt.NDArray[np.float64], rows: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    """Return a total with rows added in sequence, as tables do it; numpy would add a single column pairwise."""
    all_rows = np.vstack([total, rows])
    added: npt.NDArray[np.float64] = (
        np.cumsum(all_rows, axis=0)[-1] if rows.shape[1] == 1 else np.add.reduce(all_rows, axis=0)
    )
    return added


def _has_nan(numbers: npt.NDArray[Any]) -> bool:
    """Return whether a number is missing; the sum, which is faster, is enough if none is."""
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isnan(np.sum(numbers))) and bool(np.isnan(numbers).any())


# Numbers that often mean a missing one (src/data/format/seen.c).
_SENTINELS = [-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999, 999999]

# The floats of two bytes that the library converts, as it numbers them.
_HALVES = {"float16": 0, "bfloat16": 1}


class Dense(Numeric):
    """A two-dimensional array."""

    def __init__(self, array: npt.NDArray[Any], dtype: str | None = None) -> None:
        self._array = array
        self._half = _HALVES.get(dtype or array.dtype.name) if array.dtype.isnative else None
        self._floats: FloatArray | None = None  # all of them, if they are one block
        self.n_rows, self.width = array.shape

    def bounds(self) -> Iterator[tuple[int, int]]:
        return _even_bounds(self.n_rows, BUFFER // (4 * max(1, self.width)))

    def numbers(self, lo: int, hi: int) -> FloatArray:
        if self._half is None and 4 * self._array.size <= BUFFER:
            self._floats = _plain(self._array, np.float32) if self._floats is None else self._floats
            return self._floats[lo:hi]
        if self._half is None:
            return _plain(self._array[lo:hi], np.float32)
        halves = np.require(self._array[lo:hi].view(np.uint16), None, ["C", "A"])
        numbers = np.empty(halves.shape, np.float32)
        c.library().gsa_half_read(self._half, halves.ctypes.data, halves.size, numbers.ctypes.data)
        return numbers

    def exact(self, lo: int, hi: int) -> npt.NDArray[Any]:
        if self._half is not None:
            return self.numbers(lo, hi)
        rows = self._array[lo:hi]
        return rows if rows.dtype.kind in "biuf" else np.asarray(rows, np.float64)

    def has_gaps(self) -> bool:
        kind = self._array.dtype.kind
        if kind != "f" or self._half is not None:
            return (kind not in "biu" or self._half is not None) and super().has_gaps()
        return any(_has_nan(self._array[lo:hi]) for lo, hi in self.bounds())


class Frame(Numeric):
    """A pandas or polars frame of numbers."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.n_rows, self.width = frame.shape
        if all(isinstance(name, str) for name in frame.columns):
            self.names = list(frame.columns)

    def bounds(self) -> Iterator[tuple[int, int]]:
        return _even_bounds(self.n_rows, BUFFER // (16 * max(1, self.width)))

    def numbers(self, lo: int, hi: int) -> FloatArray:
        return _plain(self.exact(lo, hi), np.float32)

    def exact(self, lo: int, hi: int) -> npt.NDArray[Any]:
        if hasattr(self._frame, "iloc"):
            return np.asarray(self._frame.iloc[lo:hi].to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(self._frame[lo:hi].to_numpy(), np.float64)

    def suspects(self) -> npt.NDArray[np.bool_]:
        low, high = np.full(self.width, np.inf), np.full(self.width, -np.inf)
        n = min(self.n_rows, deciding_rows(self.width + 1))
        for lo, hi in _even_bounds(n, BUFFER // (16 * max(1, self.width))):
            numbers = self.exact(lo, hi)
            low = np.fmin(low, np.fmin.reduce(numbers, axis=0))
            high = np.fmax(high, np.fmax.reduce(numbers, axis=0))
        return np.isin(low, _SENTINELS) | np.isin(high, _SENTINELS)


class _Sparse(Features):
    """The base of sparse matrices: blocks by the number of entries."""

    most_entries = BUFFER // 8
    _starts: npt.NDArray[Any]  # of the rows, as of CSR

    def bounds(self) -> Iterator[tuple[int, int]]:
        lo = 0
        while lo < self.n_rows:
            most = self._starts[lo] + self.most_entries
            hi = int(np.searchsorted(self._starts, most, side="right")) - 1
            hi = min(max(hi, lo + 1), lo + c.BLOCK_ROWS, self.n_rows)
            yield lo, hi
            lo = hi


def _first_where(array: npt.NDArray[Any], is_wrong: Callable[[npt.NDArray[Any]], Any]) -> int:
    """Return the place of the first item that is wrong; there is one."""
    return next(
        at + int(wrong[0])
        for at in range(0, len(array), _CHUNK)
        if len(wrong := np.flatnonzero(is_wrong(array[at : at + _CHUNK])))
    )


def _check_numbers(numbers: npt.NDArray[Any], n: int, tell: Callable[[int], str]) -> None:
    """Raise ValueError with the message of `tell` if a number is negative or not below n."""
    if numbers.dtype.kind not in "iu":
        raise ValueError(f"the ids of a sparse matrix are {numbers.dtype}: expected integers")
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= n):
        raise ValueError(tell(_first_where(numbers, lambda part: (part < 0) | (part >= n))))


def _check_starts(starts: npt.NDArray[Any], n: int, n_entries: int, what: str) -> None:
    """Raise ValueError if offsets of n rows or columns descend, or lead beyond the entries."""
    if len(starts) != n + 1 or starts.dtype.kind not in "iu":
        raise ValueError(f"indptr has {len(starts)} items of {starts.dtype}: expected {n + 1} integers")
    if not (np.all(starts[1:] >= starts[:-1]) and starts[0] >= 0 and starts[-1] <= n_entries):
        wrong = (starts[:-1] < 0) | (starts[1:] < starts[:-1]) | (starts[1:] > n_entries)
        at = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"{what} {at} is from {starts[at]} to {starts[at + 1]} of {n_entries} entries: "
            "indptr must ascend from 0 to at most their number"
        )


def _n_ids(matrix: Any) -> int:
    """Return the number of ids that the features of the matrix may have."""
    return int(min(matrix.shape[1], c.MAX_ID + 1))


def _tell_id(matrix: Any, row: int, found: Any) -> str:
    return f"row {row} has feature id {found}: expected one from 0 to {_n_ids(matrix) - 1}"


def _lend_csr(
    block: Block,
    starts: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    data: npt.NDArray[Any],
) -> None:
    """Put rows into a block; offsets of rows are into `indices` and `data`."""
    first, last = int(starts[0]), int(starts[-1])
    lent = indices.dtype == np.int32 and indices.flags.c_contiguous
    ids = indices if lent else _plain(indices[first:last], np.uint32)
    block.lend("index", ids, first if lent else 0)
    block.lend("value", _plain(data[first:last], np.float32))
    starts = starts.astype(np.int64)
    starts -= first
    block.lend("row_start", starts)


class Csr(_Sparse):
    """A matrix in compressed sparse rows."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix
        self.n_rows = matrix.shape[0]
        self._starts = starts = matrix.indptr
        _check_starts(starts, self.n_rows, min(len(matrix.indices), len(matrix.data)), "row")
        first = int(starts[0])
        ids = matrix.indices[first : int(starts[-1])]
        _check_numbers(
            ids,
            _n_ids(matrix),
            lambda at: _tell_id(matrix, int(np.searchsorted(starts, first + at, side="right")) - 1, ids[at]),
        )
        self._is_canonical = bool(matrix.has_canonical_format)
        if not self._is_canonical:
            self.most_entries = BUFFER // 16

    def lend(self, block: Block, lo: int, hi: int) -> None:
        matrix = self._matrix
        if self._is_canonical:
            _lend_csr(block, matrix.indptr[lo : hi + 1], matrix.indices, matrix.data)
            return
        rows = matrix[lo:hi].copy()
        rows.sum_duplicates()
        _lend_csr(block, rows.indptr, rows.indices, rows.data)


def _starts_of(row_numbers: npt.NDArray[Any], n_rows: int) -> npt.NDArray[np.int64]:
    """Return where rows would start if entries were sorted by row."""
    starts = np.zeros(n_rows + 1, np.int64)
    for at in range(0, len(row_numbers), _CHUNK):
        starts[1:] += np.bincount(row_numbers[at : at + _CHUNK], minlength=n_rows)
    return np.cumsum(starts, out=starts)


def _check_rows(rows: npt.NDArray[Any], n_rows: int) -> None:
    _check_numbers(rows, n_rows, lambda at: f"entry {at} is of row {rows[at]}: the matrix has {n_rows}")


class Csc(_Sparse):
    """A matrix in compressed sparse columns; every block is a search through all of it."""

    most_entries = BUFFER // 48

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix
        self.n_rows, n_columns = matrix.shape
        _check_starts(matrix.indptr, n_columns, min(len(matrix.indices), len(matrix.data)), "column")
        _check_rows(matrix.indices, self.n_rows)
        self._starts = _starts_of(matrix.indices, self.n_rows)

    def lend(self, block: Block, lo: int, hi: int) -> None:
        rows = self._matrix[lo:hi].tocsr()
        rows.sum_duplicates()
        _lend_csr(block, rows.indptr, rows.indices, rows.data)


class Coo(_Sparse):
    """Entries in any order; every block is a search through all of them."""

    most_entries = BUFFER // 48

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix
        self.n_rows = matrix.shape[0]
        _check_rows(matrix.row, self.n_rows)
        _check_numbers(matrix.col, _n_ids(matrix), lambda at: _tell_id(matrix, matrix.row[at], matrix.col[at]))
        self._starts = _starts_of(matrix.row, self.n_rows)

    def lend(self, block: Block, lo: int, hi: int) -> None:
        matrix = self._matrix
        parts = []
        for at in range(0, len(matrix.row), _CHUNK):
            row = matrix.row[at : at + _CHUNK]
            here = at + np.flatnonzero((row >= lo) & (row < hi))
            parts.append((matrix.data[here], matrix.row[here] - lo, matrix.col[here]))
        data, row, col = (np.concatenate(part) for part in zip(*parts)) if parts else ([], [], [])
        rows = sparse.csr_matrix((data, (row, col)), shape=(hi - lo, matrix.shape[1]))
        _lend_csr(block, rows.indptr, rows.indices, rows.data)


def is_frame(data: Any) -> bool:
    """Return whether this is a pandas or polars frame."""
    module = type(data).__module__.partition(".")[0]
    return module in ("pandas", "polars") and hasattr(data, "columns") and hasattr(data, "shape")


#: The column of a frame that is made of texts.
TEXT = "text"


def _texts_in(data: Any, *, lists: bool) -> list[Any] | None:
    """Return the texts of a series, an array or, if asked for, a list of one text per row; None: they are no texts."""
    kind = str(getattr(data, "dtype", "")).lower().lstrip("<>|")
    is_list = lists and isinstance(data, (list, tuple))
    if not is_list and not (kind.startswith(("object", "str", "large_str", "u")) and len(data.shape) == 1):
        return None
    values = list(data)
    are_texts = any(isinstance(one, str) for one in values) and all(
        isinstance(one, str) or one is None or one != one for one in values
    )
    return [one if isinstance(one, str) else None for one in values] if are_texts else None


def _frame_of(texts: list[Any]) -> Any:
    """Return a frame of pandas or polars with one column of texts."""
    try:
        from pandas import DataFrame
    except ImportError:
        try:
            from polars import DataFrame
        except ImportError as failure:
            raise ImportError("texts are read through a frame: pip install pandas, or polars") from failure
    return DataFrame({TEXT: texts})


def collected(data: Any, *, lists: bool = False) -> Any:
    """Return the data; of a lazy frame of polars its rows, and of texts a frame with the column ``text``.

    Texts are a series or an array of one dimension; with `lists` a list too, which else has the names of files. Raise
    an error for a frame with two columns of one name.
    """
    texts = _texts_in(data, lists=lists)
    if texts is not None:
        return _frame_of(texts)
    kind = type(data)
    if kind.__name__ == "LazyFrame" and kind.__module__.partition(".")[0] == "polars":
        return data.collect()
    if is_frame(data) and len(set(data.columns)) < len(data.columns):
        names = list(data.columns)
        name = next(one for i, one in enumerate(names) if one in names[:i])
        raise GreedystepValueError(f"two columns have the name {name!r}: rename one of them")
    return data


def no_numbers(reason: Any) -> GreedystepValueError:
    """Return the error for an array that holds something else than numbers."""
    return GreedystepValueError(f"an array must hold numbers ({reason}): give a frame if columns hold text or dates")


def columns_of_words(frame: Any) -> list[Any]:
    """Return the names of the columns of a frame that are not numbers."""
    return [name for name, kind in zip(frame.columns, frame.dtypes) if not _is_number(kind)]


def has_words(data: Any) -> bool:
    """Return whether this is a frame with columns that are not numbers."""
    return is_frame(data) and bool(columns_of_words(data))


def _is_number(kind: Any) -> bool:
    if hasattr(kind, "is_numeric"):  # polars
        return bool(kind.is_numeric()) or str(kind) == "Boolean"
    return bool(getattr(kind, "kind", "O") in "biuf")


def features_of(data: Any) -> Features:
    """Return the reader of an array, a sparse matrix or a frame of numbers."""
    if sparse.issparse(data):
        doors = {"csr": Csr, "csc": Csc, "coo": Coo}
        if data.format in doors:
            return doors[data.format](data)
        return Csr(data.tocsr())
    if is_frame(data):
        return Frame(data)
    array, dtype = _array_of(data)
    if array.ndim == 0:
        raise GreedystepValueError(
            f"cannot read {type(data).__name__} as rows: give file names, a frame, an array or a sparse matrix"
        )
    if array.ndim != 2:
        raise ValueError(
            f"expected a table of rows and features, found {array.ndim} dimension(s)"
            + ("; X.reshape(-1, 1) is one feature" if array.ndim == 1 else "")
        )
    if array.dtype.kind in "OUS":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as failure:
            raise no_numbers(failure) from failure
    if array.dtype.kind in "cmM":
        raise no_numbers(array.dtype)
    return Dense(array, dtype)


def _array_of(data: Any) -> tuple[npt.NDArray[Any], str | None]:
    """Return the array of anything that has one, without a copy, and the name of its type if NumPy has none for it."""
    if type(data).__module__.partition(".")[0] != "torch":
        return np.asarray(data), None
    data = data.detach()
    is_bf16 = str(data.dtype) == "torch.bfloat16"
    return np.asarray(data.view(sys.modules["torch"].int16) if is_bf16 else data), "bfloat16" if is_bf16 else None
