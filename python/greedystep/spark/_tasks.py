"""What runs on executors: functions for ``mapInArrow``, one call a partition.

What a task yields depends on the rows of its partition, the partition's number and what the driver
sent, on nothing else: a task that is run again, after an executor was lost or by speculation,
yields the same bytes.
"""

from __future__ import annotations

import itertools
import os
import struct
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Callable

import pyarrow as pa
import pyarrow.compute as pc

from .. import _library as c
from .._arrow import Table, open_table
from .._core import State, reduce_deltas
from .._run import Run
from ..callbacks import Hooks
from ._columns import Columns

Batches = Iterator[Any]
Task = Callable[[Batches], Batches]

#: Different labels of a partition that are told to the driver; more are no classes.
LABELS_MOST = 10_000
#: Rows that are read and dropped rather than left: Spark ends a Python worker whose task did not read all of its rows,
#: and in the second that the next one takes to begin so many can be read.
READ_ON = 1 << 17
#: Bytes of a state that travel in one row.
CHUNK = 8 << 20

LOOK = "shard int, n_rows long, labels {label}"
ENTRIES = "n_entries long"
FIRST = "shard int, n_rows long, rows binary"
LEARNED = "feature_range int, shard int, part int, n_rows long, loss_sum double, loss_weight double, bytes binary"
_LEARNED_ARROW = pa.schema(
    [
        ("feature_range", pa.int32()),
        ("shard", pa.int32()),
        ("part", pa.int32()),
        ("n_rows", pa.int64()),
        ("loss_sum", pa.float64()),
        ("loss_weight", pa.float64()),
        ("bytes", pa.binary()),
    ]
)


def partition_number() -> int:
    """Return the number of the partition that this task has."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is None:
        raise RuntimeError("this runs in a task of Spark")
    return int(context.partitionId())


# ---- looking -------------------------------------------------------------------------------------


def look(columns: Columns, wants_labels: bool) -> Task:
    """Return a task that counts rows and tells labels."""

    def looking(batches: Batches) -> Batches:
        n_rows = 0
        labels: set[Any] = set()
        for batch in batches:
            n_rows += batch.num_rows
            if wants_labels and len(labels) <= LABELS_MOST:
                labels.update(pc.unique(batch.column(columns.label_name)).to_pylist())
        labels.discard(None)
        told = sorted(labels)[: LABELS_MOST + 1]
        kind = pa.string() if told and isinstance(told[0], str) else pa.float64()
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([partition_number()], pa.int32()),
                pa.array([n_rows], pa.int64()),
                pa.array([told], pa.list_(kind)),
            ],
            names=["shard", "n_rows", "labels"],
        )

    return looking


def count_entries(columns: Columns) -> Task:
    """Return a task that counts the entries of its rows."""

    def counting(batches: Batches) -> Batches:
        n = sum(int(columns.entries(columns.converted(batch)).sum()) for batch in batches)
        yield pa.RecordBatch.from_arrays([pa.array([n], pa.int64())], names=["n_entries"])

    return counting


# ---- the first rows ------------------------------------------------------------------------------


def first_rows(columns: Columns, most_rows: int, most_entries: int, rows: tuple[int, ...]) -> Task:
    """Return a task that gives the first rows of its partition, as an Arrow stream in bytes.

    Parameters
    ----------
    rows : tuple of int
        How many rows each partition has.
    """

    def giving(batches: Batches) -> Batches:
        taken: list[Any] = []
        n_rows = n_entries = 0
        for batch in map(columns.converted, batches):
            lengths = columns.entries(batch)[: most_rows - n_rows].cumsum()
            n = int((n_entries + lengths <= most_entries).sum())
            taken.append(batch.slice(0, n))
            n_rows += n
            n_entries += int(lengths[n - 1]) if n > 0 else 0
            if n < batch.num_rows or n_rows == most_rows:
                break
        number = partition_number()
        if sum(rows[number : number + 1]) - n_rows <= READ_ON:
            for _ in batches:
                pass
        if n_rows > 0:
            yield _first_of(taken, n_rows)

    return giving


def _first_of(batches: list[Any], n_rows: int) -> Any:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
    return pa.RecordBatch.from_arrays(
        [
            pa.array([partition_number()], pa.int32()),
            pa.array([n_rows], pa.int64()),
            pa.array([sink.getvalue().to_pybytes()], pa.binary()),
        ],
        names=["shard", "n_rows", "rows"],
    )


# ---- learning ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ShardJob:
    """One pass, as every task of it is told.

    Parameters
    ----------
    columns : Columns
    schema : str or None
        What plain columns mean.
    rows : tuple of int
        Rows of every shard.
    passed_over : tuple of int
        How many of them, from the first on, are learned already.
    remembers_names : bool
        Names of features come with what was learned.
    """

    columns: Columns
    schema: str | None
    rows: tuple[int, ...]
    passed_over: tuple[int, ...]
    remembers_names: bool

    def copies(self, shard: int) -> int:
        """Return how many shards of this size the data would be: what a row counts for."""
        return int(c.library().gsa_plan_replicas(sum(self.rows), self.rows[shard]))


def _without_first(batches: Batches, n: int) -> Batches:
    for batch in batches:
        if n >= batch.num_rows:
            n -= batch.num_rows
            continue
        yield batch.slice(n)
        n = 0


def _learn_rows(copy: State, job: ShardJob, shard: int, batches: Batches) -> int:
    """Let a copy learn a partition as it comes in; return how many rows there were."""
    columns = job.columns
    batches = map(columns.converted, _without_first(batches, job.passed_over[shard]))
    run = Run(1)
    reader = columns.reader(batches, job.schema, run, remember_names=job.remembers_names)
    if reader is None:
        return 0
    n_rows = copy.train_shard(reader, shard, run)
    if job.remembers_names and job.schema is not None:
        copy.take_names(reader)
    reader.close()
    return n_rows


def _check_rows(job: ShardJob, shard: int, n_rows: int) -> None:
    expected = job.rows[shard] - job.passed_over[shard]
    if n_rows != expected:
        raise ValueError(
            f"partition {shard} had {expected} rows when they were counted and {n_rows} when they "
            "were learned: the frame must give the same rows every time; write it to a file, or "
            "checkpoint it, before it is learned"
        )


def learn(job: ShardJob, base: Any, range_features: int = 0) -> Task:
    """Return a task that learns its partition with a copy of the base, which is broadcast.

    Parameters
    ----------
    range_features : int
        The copy comes in deltas of so many features; 0: as a whole.
    """

    def learning(batches: Batches) -> Batches:
        shard = partition_number()
        if shard >= len(job.rows) or job.rows[shard] == 0:
            _check_none(shard, sum(batch.num_rows for batch in batches))
            return
        start = State.read(base.value)
        before = start.summary()
        copy = start.fork(job.copies(shard))
        if range_features == 0:
            start.close()
        n_rows = _learn_rows(copy, job, shard, batches)
        _check_rows(job, shard, n_rows)
        after = copy.summary()
        loss = (after.loss_sum - before.loss_sum, after.loss_weight - before.loss_weight)
        if range_features == 0:
            yield from _whole(shard, n_rows, loss, copy)
        else:
            number = sum(n > 0 for n in job.rows[:shard])
            yield from _packed(_sliced(shard, number, n_rows, loss, copy, start, range_features))

    return learning


def _check_none(shard: int, n_rows: int) -> None:
    if n_rows > 0:
        raise ValueError(
            f"partition {shard} has {n_rows} rows and had none when they were counted: the frame "
            "must give the same rows every time"
        )


Row = Any  # a tuple as _LEARNED_ARROW has it
#: The number of a delta that is a copy's head.
HEAD = -1


def _sliced(
    shard: int, number: int, n_rows: int, loss: tuple[float, float], copy: State, base: State, width: int
) -> Iterator[Row]:
    """Yield the head of a copy, and the deltas of which it has learned something.

    Its number is that among the shards that have rows.
    """
    yield HEAD, shard, 0, n_rows, *loss, copy.write_delta_header(base)
    for part in range(-(-copy.summary().n_features // width)):
        yield part, shard, 0, 0, 0.0, 0.0, copy.write_delta(number, base, part * width, width)


def _whole(shard: int, n_rows: int, loss: tuple[float, float], state: State) -> Batches:
    """Yield a state in rows of at most CHUNK bytes."""
    stored = state.write()
    return _packed(
        (HEAD, shard, part, n_rows, *loss, stored[at : at + CHUNK])
        for part, at in enumerate(range(0, len(stored), CHUNK))
    )


def _packed(rows: Iterable[Row]) -> Batches:
    """Yield rows in batches of not much more than CHUNK bytes."""
    waiting: list[Row] = []
    size = 0
    for row in rows:
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


def reduce_task(shards: Sequence[int]) -> Task:
    """Return a task that makes one delta of those of all copies, and hands heads on.

    Its rows come sorted by delta and shard. A copy that has no delta where others have one has
    learned nothing of its features.
    """

    def uniting(batches: Batches) -> Batches:
        return _packed(_united(_rows_of(batches), shards))

    return uniting


def _rows_of(batches: Batches) -> Iterator[Row]:
    for batch in batches:
        columns = [batch.column(field.name).to_pylist() for field in _LEARNED_ARROW]
        yield from zip(*columns)


def _united(rows: Iterator[Row], shards: Sequence[int]) -> Iterator[Row]:
    for number, group in itertools.groupby(rows, key=lambda row: row[0]):
        if number == HEAD:
            yield from group
            continue
        deltas = {row[1]: row[-1] for row in group}
        some = next(iter(deltas.values()))
        found = [deltas.get(shard) or _nothing_like(some, place) for place, shard in enumerate(shards)]
        yield number, 0, 0, 0, 0.0, 0.0, reduce_deltas(found)


def _nothing_like(some: bytes, number: int) -> bytes:
    """Return a delta of the same features, of one copy that has met none of them."""
    return some[:32] + struct.pack("<3Q", number, 1, 0)  # the copy, how many, chunks


# ---- few rows ------------------------------------------------------------------------------------


def train_all(columns: Columns, parameters: dict[str, str]) -> Task:
    """Return a task that trains on the one partition there is as ``greedystep.train`` does.

    Rows wait in a temporary file of the executor's, since several passes read them.
    """

    def training(batches: Batches) -> Batches:
        with tempfile.TemporaryDirectory(prefix="greedystep-") as folder:
            path = os.path.join(folder, "rows.arrow")
            n_rows = _spill(map(columns.converted, batches), path)
            if n_rows == 0:
                return
            state = State.new(parameters)
            run = Run(1)

            def stream() -> Any:
                source = pa.memory_map(path)
                file = pa.ipc.open_file(source)
                batches = (file.get_batch(i) for i in range(file.num_record_batches))
                return pa.RecordBatchReader.from_batches(file.schema, batches)

            reader = open_table(Table(stream), columns.options(remember_names=True), run)
            state.train(reader, Hooks(None, run).struct, run)
            reader.close()
            summary = state.summary()
            loss = summary.last_pass_loss
            yield from _whole(partition_number(), n_rows, (loss, 1.0), state)

    return training


def _spill(batches: Batches, path: str) -> int:
    first = next(batches, None)
    if first is None:
        return 0
    n_rows = int(first.num_rows)
    with pa.ipc.new_file(path, first.schema) as file:
        file.write_batch(first)
        for batch in batches:
            file.write_batch(batch)
            n_rows += batch.num_rows
    return n_rows
