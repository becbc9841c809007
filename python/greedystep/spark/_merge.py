"""The copies of a pass into one state.

This is the one place that knows how copies travel from the tasks to the driver.
"""

from __future__ import annotations

from typing import Any

from .._core import State
from ._summary import Shard
from ._tasks import LEARNED, Lesson, Task, learn


def collected(frame: Any, task: Task) -> dict[int, tuple[Shard, float, State]]:
    """Run a task that yields states, and return them by partition, with what their rows weigh."""
    parts: dict[int, dict[int, Any]] = {}
    facts: dict[int, tuple[int, float, float]] = {}
    for row in frame.mapInArrow(task, LEARNED).collect():
        parts.setdefault(row.shard, {})[row.part] = row.bytes
        facts[row.shard] = (row.n_rows, row.loss_sum, row.loss_weight)
    found = {}
    for shard in sorted(parts):
        n_rows, loss_sum, weight = facts[shard]
        pieces = parts.pop(shard)
        state = State.read(b"".join(bytes(pieces[i]) for i in range(len(pieces))))
        told = Shard(shard, n_rows, loss_sum / weight if weight > 0 else float("nan"))
        found[shard] = (told, weight, state)
    return found


def learn_and_merge(frame: Any, lesson: Lesson, base: State) -> tuple[State, list[Shard]]:
    """Let all partitions learn from a base, and return what they come to in all.

    Parameters
    ----------
    frame : DataFrame
        The columns that are learned.
    lesson : Lesson
    base : State
        Where all of them begin.
    """
    sent = frame.sparkSession.sparkContext.broadcast(base.write())
    try:
        found = collected(frame, learn(lesson, sent))
    finally:
        sent.destroy()
    if not found:
        return base, []
    merged = State.merge([state for _, _, state in found.values()], base)
    return merged, [shard for shard, _, _ in found.values()]
