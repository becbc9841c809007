"""Rows in the library's blocks, from a reader that gives them in small batches.

A block ends after 65536 rows, or with the row that brings it to 2^24 entries: the same rows make
the same blocks, however many of them came in an Arrow batch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _library as c
from .._core import Reader
from .._rows import BLOCK_ROWS, Block

BLOCK_ENTRIES = 1 << 24


def _seen(address: int | None, kind: Any, n: int) -> npt.NDArray[Any]:
    """Return n numbers at an address, as they are."""
    return np.ctypeslib.as_array((kind * n).from_address(address or 0))


class _Gathered:
    """Rows that have come, in copies of ours."""

    def __init__(self) -> None:
        self.n_rows = self.n_entries = self.n_words = 0
        self.words: int | None = None
        self._parts: dict[str, list[npt.NDArray[Any]]] = {
            name: [] for name in ("lengths", "index", "value", "label", "word", "weight")
        }
        self._absent: set[str] = {"value", "word", "weight"}

    def take(self, batch: c.Batch, lo: int, hi: int) -> None:
        """Copy rows of a batch, which is sparse, as the library's readers have it."""
        starts = _seen(batch.row_start, ctypes.c_int64, batch.n_rows + 1)
        first, last = int(starts[lo]), int(starts[hi])
        self._add("lengths", np.diff(starts[lo : hi + 1]))
        self._add("index", _copied(batch.index, np.uint32, first, last))
        self._add("label", _copied(batch.label, np.float64, lo, hi))
        self._add_or("value", batch.value, np.float32, 1, first, last)
        self._add_or("word", batch.word, np.int32, -1, lo, hi)
        self._add_or("weight", batch.weight, np.float32, 1, lo, hi)
        self.words, self.n_words = batch.words, batch.n_words
        self.n_rows += hi - lo
        self.n_entries += last - first

    def _add(self, name: str, part: npt.NDArray[Any]) -> None:
        self._parts[name].append(part)

    def _add_or(self, name: str, address: int | None, dtype: Any, default: float, lo: int, hi: int) -> None:
        if address:
            self._absent.discard(name)
        self._add(name, _copied(address, dtype, lo, hi) if address else np.full(hi - lo, default, dtype))

    def block(self) -> Block:
        """Return the rows."""
        block = Block(self.n_rows)
        starts = np.zeros(self.n_rows + 1, np.int64)
        np.cumsum(np.concatenate(self._parts["lengths"]), out=starts[1:])
        block.lend("row_start", starts)
        for name in ("index", "value", "label", "word", "weight"):
            if name not in self._absent:
                block.lend(name, np.concatenate(self._parts[name]))
        block.words, block.n_words = self.words, self.n_words
        return block


def _copied(address: int | None, dtype: Any, lo: int, hi: int) -> npt.NDArray[Any]:
    size = np.dtype(dtype).itemsize
    found = np.empty(hi - lo, dtype)
    ctypes.memmove(found.ctypes.data, (address or 0) + lo * size, (hi - lo) * size)
    return found


def _room(batch: c.Batch, lo: int, gathered: _Gathered) -> int:
    """Return the end of the rows from `lo` on that still belong to a block."""
    hi = min(int(batch.n_rows), lo + BLOCK_ROWS - gathered.n_rows)
    starts = _seen(batch.row_start, ctypes.c_int64, batch.n_rows + 1)
    most = int(starts[lo]) + BLOCK_ENTRIES - gathered.n_entries
    return min(hi, lo + int(np.searchsorted(starts[lo + 1 : hi + 1], most)) + 1)


def blocks_of(reader: Reader) -> Iterator[Block]:
    """Yield the rows of a reader; words of labels are the reader's, which must stay open."""
    batch, gathered = c.Batch(), _Gathered()
    while reader.next(batch):
        lo = 0
        while lo < batch.n_rows:
            hi = _room(batch, lo, gathered)
            gathered.take(batch, lo, hi)
            lo = hi
            if gathered.n_rows == BLOCK_ROWS or gathered.n_entries >= BLOCK_ENTRIES:
                yield gathered.block()
                gathered = _Gathered()
    if gathered.n_rows > 0:
        yield gathered.block()


def order_of(seed: int, pass_number: int, block_number: int, n_rows: int) -> npt.NDArray[Any]:
    """Return the order in which the rows of a block are learned."""
    order = np.empty(n_rows, np.uint32)
    c.library().gsa_plan_order(seed, pass_number, block_number, n_rows, order.ctypes.data)
    return order
