"""Rows of the caller, with labels and weights: as a reader for training, or block by block."""

from __future__ import annotations

import ctypes
import unicodedata
from collections.abc import Iterator, Sequence, Sized
from ctypes import byref, c_char_p
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._core import Reader, new_object
from ._errors import GreedystepValueError, fill
from ._rows import Block, Features, Numeric
from ._run import Run, counted_memory


def check_labelled(y: Any) -> None:
    """Raise an error if labels are missing: None, NaN, NaT or pandas.NA."""
    values = np.asarray(y).ravel()
    kind = values.dtype.kind
    missing = (
        np.array([is_missing(one) for one in values], bool)
        if kind == "O"
        else np.isnan(values)
        if kind in "fc"
        else np.isnat(values)
        if kind in "mM"
        else np.zeros(0, bool)
    )
    rows = np.flatnonzero(missing)
    if len(rows) > 0:
        is_polars = type(y).__module__.partition(".")[0] == "polars"
        keep = "y.is_not_null(), X.filter(keep)" if is_polars else "~pandas.isna(y), X[keep]"
        raise GreedystepValueError(
            f"{len(rows)} of {len(values)} labels in y are missing (NaN or None), the first in row {rows[0]}: "
            f"leave these rows out (keep = {keep})"
        )


def is_missing(label: Any) -> bool:
    """Return whether a value stands for none: None, NaN, NaT or pandas.NA."""
    if isinstance(label, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(label))
    is_nan = isinstance(label, (float, np.floating)) and bool(np.isnan(label))
    return label is None or is_nan or type(label).__name__ in ("NAType", "NaTType")


class Numbers:
    """Labels that are numbers, as they are."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def lend(self, block: Block, lo: int, hi: int) -> None:
        """Put the labels of rows into a block."""
        block.lend("label", np.require(self._values[lo:hi], np.float64, ["C", "A"]))

    def column(self) -> npt.NDArray[Any]:
        """Return the labels as a column of a table, in which one that is not finite would count as missing."""
        numbers = self._values.astype(np.float64)
        if not np.isfinite(numbers).all():
            raise ValueError(f"row {int(np.flatnonzero(~np.isfinite(numbers))[0])}: the label is not a finite number")
        return numbers

    def as_words(self, _name: str) -> list[str]:
        """Return the columns to treat as categorical if the label has this name: none."""
        return []


def _lend_words(block: Block, codes: npt.NDArray[np.int32], words: Any) -> None:
    block.lend("word", codes)
    block.words = ctypes.addressof(words)
    block.n_words = len(words)
    block.keep(words)


class Labels:
    """Labels that are numbers or words, as readers deliver them."""

    def __init__(self, labels: Sequence[float | str]) -> None:
        words = sorted({one for one in labels if isinstance(one, str)})
        number = {word: i for i, word in enumerate(words)}
        self._words = (c_char_p * len(words))(*(word.encode(errors="surrogateescape") for word in words))
        self._codes = np.array([number.get(one, -1) if isinstance(one, str) else -1 for one in labels], np.int32)
        self._numbers = np.array([0.0 if isinstance(one, str) else one for one in labels], np.float64)

    def __len__(self) -> int:
        return len(self._numbers)

    def lend(self, block: Block, lo: int, hi: int) -> None:
        """Put the labels of rows into a block."""
        block.lend("label", self._numbers[lo:hi])
        if len(self._words) > 0:
            _lend_words(block, self._codes[lo:hi], self._words)


class Classes:
    """Names of classes in the library's form: numbers, words, or else their positions.

    Parameters
    ----------
    classes : array
        All of them, sorted and distinct.
    """

    def __init__(self, classes: npt.NDArray[Any]) -> None:
        self.classes = classes
        self._words: Any = None
        self._are_numbers = classes.dtype.kind in "biuf" and _fit_doubles(classes)
        if classes.dtype.kind in "UO" and all(_is_word(one) for one in classes):
            encoded = [one.encode() for one in classes]
            self._words = (c_char_p * len(encoded))(*encoded)

    def codes(self, labels: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Return the number of each label's class."""
        if len(labels) == 0:
            return np.zeros(0, np.intp)
        codes = np.searchsorted(self.classes, labels)
        codes[codes == len(self.classes)] = 0
        unknown = np.flatnonzero(self.classes[codes] != labels)
        if len(unknown):
            label = labels[unknown[:1]].tolist()[0]
            raise ValueError(f"label {label!r} is not among the classes {self.classes.tolist()!r}")
        return codes

    def lend(self, block: Block, labels: npt.NDArray[Any]) -> None:
        """Put labels into a block."""
        codes = self.codes(labels)
        if self._words is not None:
            _lend_words(block, codes.astype(np.int32), self._words)
        values = labels if self._are_numbers else codes
        block.lend("label", values.astype(np.float64))

    def of(self, labels: npt.NDArray[Any]) -> ClassLabels:
        """Return the labels of rows."""
        return ClassLabels(self, labels)

    def column(self, labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return labels as a column of a table, in which texts that look like numbers would be read as numbers."""
        if self._words is not None and not any(_is_no_word(one) for one in self.classes):
            return labels.astype(str)
        return labels.astype(np.float64) if self._are_numbers else self.codes(labels)

    def told(self) -> Block:
        """Return one row per class that has only its label."""
        block = Block(len(self.classes))
        self.lend(block, self.classes)
        return block


class ClassLabels:
    """One class name per row."""

    def __init__(self, classes: Classes, labels: npt.NDArray[Any]) -> None:
        self._classes, self._labels = classes, labels

    def __len__(self) -> int:
        return len(self._labels)

    def lend(self, block: Block, lo: int, hi: int) -> None:
        """Put the labels of rows into a block."""
        self._classes.lend(block, self._labels[lo:hi])

    def column(self) -> npt.NDArray[Any]:
        """Return the labels as a column of a table."""
        return self._classes.column(self._labels)

    def as_words(self, name: str) -> list[str]:
        """Return the columns to treat as categorical if the label has this name: itself, if its classes are texts."""
        return [name] if self.column().dtype.kind in "UO" else []


def _is_word(name: Any) -> bool:
    return isinstance(name, str) and name != "" and "\0" not in name


def _is_no_word(name: str) -> bool:
    """Return whether a table would not read a text as this word: a number, missing, with blanks around it, refused."""
    if name != name.strip(" "):
        return True
    try:
        float(name)
    except ValueError:
        is_control = any(unicodedata.category(one) == "Cc" for one in name)
        return is_control or name.lower() in ("null", "na") or len(name.encode()) > 255
    return True


def _fit_doubles(classes: npt.NDArray[Any]) -> bool:
    values = classes.astype(np.float64)
    are_exact = values.dtype == classes.dtype or bool(np.all(np.abs(values) <= 2**53))
    return are_exact and bool(np.isfinite(values).all())


def check_lengths(n_rows: int, labels: Sized | None, weights: npt.NDArray[Any] | None) -> None:
    """Raise ValueError unless labels and weights, if given, have one item per row."""
    if labels is not None and len(labels) != n_rows:
        raise ValueError(f"expected a label per row: there are {n_rows} rows, and {len(labels)} labels in y")
    if weights is not None and weights.shape != (n_rows,):
        found = str(len(weights)) if weights.ndim == 1 else f"{weights.ndim} dimensions"
        raise ValueError(f"expected a weight per row: there are {n_rows} rows, and weight has {found}")


def columns_beside(names: Sequence[str], weights: Any, held: Any) -> int:
    """Return the columns that a table of the same rows would have beside its features."""
    return 1 + (weights is not None) + (held is not None and held.column not in names)


class Given:
    """Features of rows, with labels, weights, and groups or times (`_held.Held`), of which each may be missing."""

    def __init__(
        self,
        features: Features,
        labels: Any = None,
        weights: npt.NDArray[Any] | None = None,
        held: Any = None,
    ) -> None:
        self._features, self._labels, self._weights, self._held = features, labels, weights, held
        self.n_rows = features.n_rows
        check_lengths(self.n_rows, labels, weights)
        if held is not None:
            held.check_length(self.n_rows)

    def of(self, features: Features) -> Given:
        """Return other features of the same rows, with all that belongs to them."""
        return Given(features, self._labels, self._weights, self._held)

    @property
    def names(self) -> Sequence[str]:
        """Names of the features, if they have some."""
        return self._features.names

    @property
    def width(self) -> int:
        """The number of values per row; 0 for sparse rows."""
        return self._features.width if isinstance(self._features, Numeric) else 0

    def bounds(self) -> Iterator[tuple[int, int]]:
        """Yield first and last row of the blocks, the last exclusive."""
        return self._features.bounds()

    def block(self, lo: int, hi: int) -> Block:
        """Return some rows."""
        block = Block(hi - lo)
        self._features.lend(block, lo, hi)
        if self._labels is not None:
            self._labels.lend(block, lo, hi)
        if self._weights is not None:
            block.lend("weight", np.require(self._weights[lo:hi], np.float32, ["C", "A"]))
        if self._held is not None:
            self._held.lend(block, lo, hi)
        return block

    def _blocks(self) -> Iterator[Block]:
        return (self.block(*bounds) for bounds in self.bounds())

    def open(self, run: Run) -> Reader:
        """Return a reader of the rows."""
        reader = open_blocks(self._blocks, run)
        reader.names, reader.means = self._features.names, self.means
        return reader

    def means(self) -> npt.NDArray[np.float32] | None:
        """Return the values that missing numbers would count as; None for sparse rows, in which none can be missing."""
        if not isinstance(self._features, Numeric):
            return None
        return self._features.means(self._weights, columns_beside(self._features.names, self._weights, self._held))


def open_blocks(blocks: Callable[[], Iterator[c.Batch]], run: Run) -> Reader:
    """Return a reader of blocks, each valid until the next; another pass calls the function again."""
    source = _Source(blocks, run)
    pointer = new_object("gsa_reader_open_rows", byref(source.struct), byref(counted_memory()), byref(run.struct))
    return Reader(pointer, (source, run))


class _Source:
    """The library's callbacks for rows; the run raises their exceptions."""

    def __init__(self, blocks: Callable[[], Iterator[c.Batch]], run: Run) -> None:
        self._open, self._run = blocks, run
        self._blocks = blocks()
        self._current: c.Batch | None = None  # lent until the next call
        self.struct = c.RowSource(None, c.NextRows(self._next), c.RewindRows(self._rewind))

    def _next(self, _ctx: Any, out: Any, error: Any) -> int:
        try:
            self._current = next(self._blocks, None)
            if self._current is None:
                return c.END
            out[0] = self._current
        except BaseException as failure:
            self._run.fail(failure)
            return fill(error, c.STOPPED, "the rows could not be had")
        return c.OK

    def _rewind(self, _ctx: Any, _error: Any) -> int:
        self._blocks = self._open()
        return c.OK
