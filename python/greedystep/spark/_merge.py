"""Merge the replicas of a pass into one state.

This is the only module that knows how replicas are sent. Each is written as deltas, one per range
of features. A task reduces the deltas of one range, and the driver merges the sums: no process
holds more than a few times the size of a model. The bits are those of a merge of whole states,
which is faster where all of them are small, and is used where there is one replica or the choice
of scaling is still open.
"""

from __future__ import annotations

import math
from typing import Any

from .. import _library as c
from .._core import State
from ._summary import Shard
from ._tasks import HEAD, LEARNED, ShardJob, Task, learn, reduce_task

#: Bytes of all copies up to which the driver merges them as they are.
WHOLE_BYTES = 256 << 20
#: Bytes of the deltas that a task adds up at a time, if every copy has met every feature.
SLICE_BYTES = 64 << 20
#: Tasks that add up deltas, at most.
TASKS_MOST = 200


def _whole_states(rows: list[Any]) -> dict[int, tuple[Shard, State]]:
    """Return states that travelled in parts, by shard and in their order."""
    parts: dict[int, list[Any]] = {}
    for row in rows:
        parts.setdefault(row.shard, []).append(row)
    found = {}
    for shard in sorted(parts):
        pieces = sorted(parts.pop(shard), key=lambda row: row.part)
        state = State.read(b"".join(bytes(row.bytes) for row in pieces))
        first = pieces[0]
        loss = first.loss_sum / first.loss_weight if first.loss_weight > 0 else math.nan
        found[shard] = (Shard(shard, first.n_rows, loss), state)
    return found


def collected(frame: Any, task: Task) -> dict[int, tuple[Shard, State]]:
    """Run a task that yields whole states, and return them."""
    return _whole_states(frame.mapInArrow(task, LEARNED).collect())


def range_features(n_shards: int, n_outputs: int) -> int:
    """Return how many features a delta has, so that those of all copies fit into a task."""
    record = 4 * (3 + 2 * n_outputs)
    return max(1024, SLICE_BYTES // (n_shards * record))


def _merge_whole(frame: Any, job: ShardJob, base: State, sent: Any) -> tuple[State, list[Shard]]:
    found = collected(frame, learn(job, sent)).values()
    merged = State.merge([state for _, state in found], base)
    return merged, [shard for shard, _ in found]


def _merge_deltas(frame: Any, job: ShardJob, base: State, sent: Any) -> tuple[State, list[Shard]]:
    shards = [number for number, n in enumerate(job.rows) if n > 0]
    summary = base.summary()
    n_outputs = summary.n_classes if summary.n_classes > 2 else 1
    width = range_features(len(shards), n_outputs)
    n_tasks = min(TASKS_MOST, 1 + math.ceil(summary.n_features / width))
    rows = (
        frame.mapInArrow(learn(job, sent, width), LEARNED)
        .repartition(n_tasks, "feature_range")
        .sortWithinPartitions("feature_range", "shard")
        .mapInArrow(reduce_task(shards), LEARNED)
        .toLocalIterator()  # a partition at a time: the driver's JVM need not have all of them at once
    )
    head_rows, reduced = [], {}
    for row in rows:
        if row.feature_range == HEAD:
            head_rows.append(row)
        else:
            reduced[row.feature_range] = bytes(row.bytes)
    heads = _whole_states(head_rows).values()
    merged = State.merge_deltas([state for _, state in heads], base, [reduced[number] for number in sorted(reduced)])
    return merged, [shard for shard, _ in heads]


def learn_and_merge(frame: Any, job: ShardJob, base: State) -> tuple[State, list[Shard]]:
    """Let all partitions learn from a base, and return what they come to in all.

    Parameters
    ----------
    frame : DataFrame
        The columns that are learned.
    job : ShardJob
    base : State
        Where all of them begin; it knows all labels.
    """
    n_shards = sum(n > 0 for n in job.rows)
    stored = base.write()
    # Deltas cannot carry an open choice of scaling.
    by_deltas = n_shards > 1 and n_shards * len(stored) > WHOLE_BYTES and base.summary().n_rows >= c.SCALING_ROWS
    sent = frame.sparkSession.sparkContext.broadcast(stored)
    del stored
    try:
        merge = _merge_deltas if by_deltas else _merge_whole
        return merge(frame, job, base, sent)
    finally:
        sent.destroy()
