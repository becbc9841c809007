"""Labels and first rows of shards, copied out of the batches of a reader so that they can be sent."""

from __future__ import annotations

import bisect
import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, Union

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._core import State
from ._given import Given, Labels
from ._rows import features_of, sparse
from ._run import Run

#: A label is a number or a word.
Label = Union[float, str]
#: Different labels that classes may have.
MAX_LABELS = 10_000
# Rows that identify a run.
_RUN_ID_ROWS = 1024


def copied(address: int, dtype: Any, n: int) -> npt.NDArray[Any]:
    """Return a copy of an array of the library's."""
    size = n * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype).copy() if size > 0 else np.zeros(0, dtype)


# ---- labels --------------------------------------------------------------------------------------


def labels_in(batch: c.Batch, n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], list[str]]:
    """Return the labels of the first n rows: numbers, the numbers of words (-1: no word), and all words."""
    if not batch.label:
        raise ValueError("the rows have no labels")
    numbers = copied(batch.label, np.float64, n)
    words = copied(batch.word, np.int32, n) if batch.word else np.full(n, -1, np.int32)
    texts = (ctypes.c_char_p * batch.n_words).from_address(batch.words) if batch.n_words else ()
    return numbers, words, [text.decode(errors="surrogateescape") for text in texts]


class SeenLabels:
    """Different labels, each with the number of its first row.

    Attributes
    ----------
    first_row : dict
    are_too_many : bool
        There were more than classes can have. Kept are one more than that and a fraction, which tell what they are.
    """

    def __init__(self) -> None:
        self.first_row: dict[Label, int] = {}
        self.are_too_many = False

    def add(self, batch: c.Batch, n_before: int) -> None:
        """Collect the labels of the next rows; n_before rows came before them."""
        numbers, words, texts = labels_in(batch, batch.n_rows)
        is_word = words >= 0
        is_fraction = ~is_word & (numbers != np.floor(numbers))
        if self.are_too_many:
            if not any(map(_is_fraction, self.first_row)) and is_fraction.any():
                at = int(is_fraction.argmax())
                self.first_row[float(numbers[at])] = n_before + at
            return
        self._add_new(words, is_word, n_before, texts.__getitem__)
        self._add_new(numbers, ~is_word, n_before, float)
        if len(self.first_row) > MAX_LABELS:
            self.are_too_many = True
            ordered = sorted(self.first_row.items(), key=lambda one: one[1])
            fractions = [one for one in ordered if _is_fraction(one[0])]
            self.first_row = dict(ordered[: MAX_LABELS + 1] + fractions[:1])

    def _add_new(self, values: Any, mask: Any, n_before: int, label_of: Callable[[Any], Label]) -> None:
        found, at = np.unique(values[mask], return_index=True)
        for value, row in zip(found.tolist(), np.flatnonzero(mask)[at].tolist()):
            self.first_row.setdefault(label_of(value), n_before + row)


def _is_fraction(label: Label) -> bool:
    return isinstance(label, float) and not label.is_integer()


# ---- first rows ----------------------------------------------------------------------------------


def features_in(batch: c.Batch, n: int) -> Any:
    """Return the features of the first n rows as a sparse matrix without zeros."""
    shape = (n, c.MAX_ID + 1)
    if not batch.index:
        dense = copied(batch.value, np.float32, n * batch.width).reshape(n, batch.width)
        return sparse.csr_matrix(sparse.coo_matrix(dense), shape=shape)
    starts = copied(batch.row_start, np.int64, n + 1)
    first, n_entries = int(starts[0]), int(starts[-1] - starts[0])
    ids = copied(batch.index + 4 * first, np.uint32, n_entries).astype(np.int64)
    values = copied(batch.value + 4 * first, np.float32, n_entries) if batch.value else np.ones(n_entries, np.float32)
    matrix = sparse.csr_matrix((values, ids, starts - first), shape=shape)
    matrix.eliminate_zeros()
    return matrix


class FirstRows:
    """The first rows of a shard, as many as fit into a number of rows and of entries."""

    def __init__(self, most_rows: int = 0, most_entries: int = 0) -> None:
        self._most_rows, self._most_entries = most_rows, most_entries
        self.n_rows = 0
        self.features: list[Any] = []
        self.labels: list[Label] = []
        self.weights: list[Any] = []
        self.has_weights = False
        self.width = 0  # of rows in an array; 0: they have feature ids

    def add(self, batch: c.Batch) -> None:
        """Copy the next rows while they fit; after the first that does not, none is taken."""
        n = min(self._most_rows - self.n_rows, batch.n_rows)
        if n <= 0:
            return
        self.width = 0 if batch.index else batch.width
        features = features_in(batch, n)
        fit = int(np.searchsorted(features.indptr[1:], self._most_entries, side="right"))
        if fit < n:
            n, self._most_rows = fit, 0
        self._most_entries -= int(features.indptr[n])
        self.n_rows += n
        self.features.append(features[:n])
        numbers, words, texts = labels_in(batch, n)
        self.labels += [texts[w] if w >= 0 else v for v, w in zip(numbers.tolist(), words.tolist())]
        self.weights.append(copied(batch.weight, np.float32, n) if batch.weight else np.ones(n, np.float32))
        self.has_weights = self.has_weights or bool(batch.weight)


# ---- both ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scan:
    """One read of a shard, before it is learned.

    Attributes
    ----------
    n_rows : int
    labels : SeenLabels
        Its different labels.
    first : FirstRows
        Its first rows.
    schema : str or None
        The meaning of a table's columns.
    is_file : bool
        It begins a file, which matters for the blocks in which rows are learned.
    n_unlabelled : int
        Rows beside these that have no label, and are left out.
    """

    n_rows: int = 0
    labels: SeenLabels = field(default_factory=SeenLabels)
    first: FirstRows = field(default_factory=FirstRows)
    schema: str | None = None
    is_file: bool = False
    n_unlabelled: int = 0


def _block_starts(scans: Sequence[Scan]) -> list[int]:
    """Return the first row of each block: files are divided into blocks, and a small remainder joins the next file."""
    starts, part, n_rows = [0], 0, 0
    for one in scans:
        if one.is_file and n_rows > starts[-1]:
            part = n_rows
            if n_rows - starts[-1] >= c.FIRST_ROWS:
                starts.append(n_rows)
        n_rows += one.n_rows
        while n_rows - part > c.BLOCK_ROWS:
            part += c.BLOCK_ROWS
            starts.append(part)
    return starts


def _new_labels(scans: Sequence[Scan]) -> list[list[Label]]:
    """Return, per block with new labels, the labels that occur there for the first time."""
    blocks: dict[int, list[Label]] = {}
    known: set[Label] = set()
    starts, n_before = _block_starts(scans), 0
    for one in scans:
        for label, row in sorted(one.labels.first_row.items(), key=lambda found: found[1]):
            if label not in known:
                known.add(label)
                blocks.setdefault(bisect.bisect(starts, n_before + row), []).append(label)
        n_before += one.n_rows
    return [blocks[number] for number in sorted(blocks)]


def _beginning(scans: Sequence[Scan]) -> list[int]:
    """Return how many rows of every shard belong to the first rows of the input, as far as they are known."""
    counts, left = [], _RUN_ID_ROWS
    for one in scans:
        counts.append(min(left, one.first.n_rows))
        left = left - counts[-1] if one.first.n_rows == one.n_rows else 0
    return counts


def _joined(
    scans: Sequence[Scan], counts: Sequence[int], labels: Sequence[Label] = (), *, is_dense: bool = False
) -> Given:
    """Return the first counts[i] rows of shard i, and rows without features for some more labels.

    If `is_dense`, rows of arrays are an array, which matters for the meaning of whole numbers as labels.
    """
    taken = [(one.first, n) for one, n in zip(scans, counts) if n > 0]
    features = [sparse.vstack(first.features, "csr")[:n] for first, n in taken]
    features.append(sparse.csr_matrix((len(labels), c.MAX_ID + 1), dtype=np.float32))
    all_labels = [label for first, n in taken for label in first.labels[:n]] + list(labels)
    weights = [np.concatenate(first.weights)[:n] for first, n in taken] + [np.ones(len(labels), np.float32)]
    has_weights = any(first.has_weights for first, _ in taken)
    matrix = sparse.vstack(features, "csr")
    width = scans[0].first.width if scans else 0
    rows = features_of(matrix[:, :width].toarray() if width and is_dense else matrix)
    return Given(rows, Labels(all_labels), np.concatenate(weights) if has_weights else None)


def learn_first(state: State, scans: Sequence[Scan], counts: Sequence[int]) -> None:
    """Let a state learn the first counts[i] rows of shard i.

    All labels are added before, in the order in which blocks of rows have them, so that all replicas number them
    alike; the first rows of the input identify the run.
    """
    begin = _beginning(scans)
    shown = {label for one, n in zip(scans, begin) for label in one.first.labels[:n]}
    first, *later = _new_labels(scans) or [[]]
    # How often labels come tells classes from numbers in tables.
    new = set(first)
    again = [x for one, lo, hi in zip(scans, begin, counts) for x in one.first.labels[lo:hi] if x in new]
    shown.update(again)
    rest = again + [label for label in first if label not in shown]
    told = [_joined(scans, begin, rest, is_dense=True)]
    for given in told + [_joined([], [], labels) for labels in later]:
        state.prepare(given.block(0, given.n_rows))
    if state.summary().n_classes > 0 and any(one.labels.are_too_many for one in scans):
        raise ValueError(f"there are more than {MAX_LABELS} different labels, too many for classes")
    run = Run(1)
    reader = _joined(scans, counts).open(run)
    state.train_shard(reader, c.FIRST_SHARD, run)
    reader.close()
