"""Code that runs on executors: functions for ``mapInArrow``, one call per partition.

The result of a task depends on the rows of its partition, the partition's number and what the driver
sent, on nothing else: a task that is run again, after an executor was lost or by speculation,
yields the same bytes.
"""

from __future__ import annotations

import itertools
import os
import pickle
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..distributed import HEADER, Part, Scan, learn_parts, reduce_range, scan, scan_labels
from ..training import train
from ._columns import INDICES, LABEL, VALUES, Columns

Batches = Iterator[Any]
Task = Callable[[Batches], Batches]

#: Rows that are read and dropped rather than left: Spark ends a Python worker whose task did not read all of its rows,
#: and in the second that the next one takes to begin so many can be read.
READ_ON = 1 << 17
#: Bytes of a state that travel in one row.
CHUNK = 8 << 20

ENTRIES = "n_entries long"
SCANNED = "shard int, scan binary"
LEARNED = "feature_range int, shard int, piece int, n_rows long, loss_sum double, loss_weight double, content binary"
_LEARNED_ARROW = pa.schema(
    [
        ("feature_range", pa.int32()),
        ("shard", pa.int32()),
        ("piece", pa.int32()),
        ("n_rows", pa.int64()),
        ("loss_sum", pa.float64()),
        ("loss_weight", pa.float64()),
        ("content", pa.binary()),
    ]
)


def partition_number() -> int:
    """Return the number of this task's partition."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is None:
        raise RuntimeError("this runs in a task of Spark")
    return int(context.partitionId())


# ---- before the first pass -----------------------------------------------------------------------


def _scanned(found: Any) -> Any:
    shard, stored = pa.array([partition_number()], pa.int32()), pa.array([pickle.dumps(found)], pa.binary())
    return pa.RecordBatch.from_arrays([shard, stored], names=["shard", "scan"])


def _without_features(batch: Any) -> Any:
    """Return the labels of a batch, which are its only column, as rows without features."""
    starts = pa.array(np.zeros(batch.num_rows + 1, np.int32))
    nothing = {INDICES: pa.array([], pa.int32()), VALUES: pa.array([], pa.float64())}
    lists = {name: pa.ListArray.from_arrays(starts, items) for name, items in nothing.items()}
    return pa.RecordBatch.from_pydict({LABEL: batch.column(0), **lists})


def _has_label(batch: Any) -> Any:
    """Return which rows have a label, which is their first column."""
    labels = batch.column(0)
    if pa.types.is_floating(labels.type):
        is_absent = pc.is_nan(labels)
    else:
        is_absent = pc.match_substring_regex(labels, "^([+-]?nan|null|na|)$", ignore_case=True)
    return pc.invert(pc.fill_null(is_absent, True))


def count_rows(batches: Batches) -> Batches:
    """Yield how many rows have a label, and how many have none."""
    masks = list(map(_has_label, batches))
    n_rows = sum(mask.true_count for mask in masks)
    yield _scanned(Scan(n_rows, n_unlabelled=sum(map(len, masks)) - n_rows))


def count_labels(batches: Batches) -> Batches:
    """Yield how many rows have a label, how many have none, and the labels."""
    n_all = 0

    def counted() -> Batches:
        nonlocal n_all
        for batch in batches:
            n_all += batch.num_rows
            yield _without_features(batch)

    rows = Columns("pairs", (INDICES, VALUES), LABEL).rows(counted())
    found = Scan() if rows is None else scan_labels(rows)
    yield _scanned(replace(found, n_unlabelled=n_all - found.n_rows))


def count_entries(columns: Columns) -> Task:
    """Return a task that counts the entries of its rows."""

    def counting(batches: Batches) -> Batches:
        n = sum(int(columns.entries(columns.converted(batch)).sum()) for batch in batches)
        yield pa.RecordBatch.from_arrays([pa.array([n], pa.int64())], names=["n_entries"])

    return counting


def _first_of(batches: Batches, n_rows: int) -> Batches:
    while n_rows > 0 and (batch := next(batches, None)) is not None:
        yield batch.slice(0, n_rows)
        n_rows -= batch.num_rows


def _read_on(batches: Batches, n_rows: int) -> None:
    """Read the rest of a partition, if it is small."""
    if n_rows <= READ_ON:
        for _ in batches:
            pass


def _number_here(numbers: Sequence[int]) -> int:
    """Return the number for this partition; 0 if there is none."""
    return sum(numbers[partition_number() :][:1])


def first_tables(columns: Columns, takes: Sequence[int], rows: Sequence[int]) -> Task:
    """Return a task that yields so many first rows of its partition unchanged, for the schema."""

    def giving(batches: Batches) -> Batches:
        n = _number_here(takes)
        found = list(map(columns.converted, _first_of(batches, n)))
        if found:
            yield _scanned(pa.Table.from_batches(found))
        _read_on(batches, _number_here(rows) - n)

    return giving


def first_rows(columns: Columns, most_rows: int, rows: Sequence[int], schema: str | None) -> Task:
    """Return a task that yields the first rows of its partition.

    Parameters
    ----------
    rows : list of int
        How many rows each partition has.
    schema : str or None
        The schema of their columns.
    """
    n_shards = sum(n > 0 for n in rows)

    def giving(batches: Batches) -> Batches:
        labelled = (batch.filter(_has_label(batch)) for batch in batches)
        given = columns.rows(_first_of(labelled, most_rows))
        if given is not None:
            yield _scanned(scan(given, n_shards, schema=schema))
        _read_on(batches, _number_here(rows) - most_rows)

    return giving


# ---- passes --------------------------------------------------------------------------------------


Row = Any  # a tuple as _LEARNED_ARROW has it


def learn(columns: Columns, sent: Any) -> Task:
    """Return a task that learns its partition, starting from the run that was sent."""

    def learning(batches: Batches) -> Batches:
        return _packed(learn_parts(sent.value, columns.rows(batches), partition_number()))

    return learning


def _rows_of(part: Part) -> Iterator[Row]:
    """Yield a part as rows; a whole state in pieces of at most CHUNK bytes."""
    size = CHUNK if part.feature_range == HEADER else len(part.content)
    for piece, at in enumerate(range(0, len(part.content), size)):
        yield part.feature_range, part.shard, piece, *part[2:-1], part.content[at : at + size]


def parts_of(rows: Iterable[Row]) -> Iterator[Part]:
    """Yield the parts of such rows; the pieces of a part follow one another."""
    for (number, shard), group in itertools.groupby(rows, key=lambda row: (row[0], row[1])):
        pieces = list(group)
        _, _, _, n_rows, loss_sum, loss_weight, _ = pieces[0]
        yield Part(number, shard, n_rows, loss_sum, loss_weight, b"".join(bytes(row[-1]) for row in pieces))


def _packed(parts: Iterable[Part]) -> Batches:
    """Yield parts in batches of not much more than CHUNK bytes."""
    waiting: list[Row] = []
    size = 0
    for row in itertools.chain.from_iterable(map(_rows_of, parts)):
        waiting.append(row)
        size += len(row[-1])
        if size >= CHUNK:
            yield _batch_of(waiting)
            waiting, size = [], 0
    if waiting:
        yield _batch_of(waiting)


def _batch_of(rows: list[Row]) -> Any:
    columns = [pa.array(values, field.type) for values, field in zip(zip(*rows), _LEARNED_ARROW)]
    return pa.RecordBatch.from_arrays(columns, schema=_LEARNED_ARROW)


def reduce_ranges(shards: Sequence[int]) -> Task:
    """Return a task that reduces the deltas of each range of features, which come sorted, and passes headers on."""

    def reducing(batches: Batches) -> Batches:
        rows = (row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns)))
        return _packed(reduced(parts_of(rows)))

    def reduced(parts: Iterator[Part]) -> Iterator[Part]:
        for number, group in itertools.groupby(parts, key=lambda part: part.feature_range):
            some = list(group)
            yield from some if number == HEADER else [reduce_range(some, shards)]

    return reducing


# ---- few rows ------------------------------------------------------------------------------------


def train_all(columns: Columns, parameters: dict[str, Any]) -> Task:
    """Return a task that trains on the only partition as ``greedystep.train`` does.

    Rows are spilled to a temporary file of the executor, because several passes read them.
    """

    def training(batches: Batches) -> Batches:
        with tempfile.TemporaryDirectory(prefix="greedystep-") as folder:
            path = os.path.join(folder, "rows.arrow")
            if not _spill(map(columns.converted, batches), path):
                return
            table = pa.ipc.open_file(pa.memory_map(path)).read_all()
            state = train(n_jobs=1, **vars(columns.given(table)), **parameters)._need_state()
            loss = float(state.summary().last_pass_loss)
            yield from _packed([Part(HEADER, partition_number(), table.num_rows, loss, 1.0, state.write())])

    return training


def _spill(batches: Batches, path: str) -> bool:
    """Write all rows to a file; return whether there are any."""
    first = next(batches, None)
    if first is not None:
        with pa.ipc.new_file(path, first.schema) as file:
            for batch in itertools.chain([first], batches):
                file.write_batch(batch)
    return first is not None
