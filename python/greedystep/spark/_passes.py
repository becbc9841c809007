"""The driver: counts rows, assigns them to tasks, and decides on further passes.

Rows that fit in memory are solved by one task, as on one machine. All others are learned by greedy
step averaging. The first rows of every partition are learned by the driver, one after the other: they
decide the schema and the scaling, and a tenth of them is held out, to evaluate all later passes. In
each pass every partition is a shard: a replica of the state learns its rows, and the replicas are
merged in the order of their numbers. The timing of tasks has no effect.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from .. import _library as c
from .._core import State, may_fit
from .._run import Run
from ._columns import INDICES, VALUES, Columns
from ._merge import collected, learn_and_merge
from ._summary import Pass, TrainingSummary
from ._tasks import ENTRIES, FIRST, LABELS_MOST, LOOK, ShardJob, count_entries, first_rows, look, train_all

log = logging.getLogger("greedystep")


@dataclass(frozen=True)
class Wanted:
    """What the user asks for.

    Parameters
    ----------
    columns : Columns
    has_classes : bool
        Labels are names of classes, not numbers.
    parameters : dict
        The library's, as text.
    passes : int
        0: as many as held-out rows gain by.
    least_shard : int
        Partitions of fewer rows are put together.
    may_solve : bool
        Rows that fit in memory are solved by one task.
    """

    columns: Columns
    has_classes: bool
    parameters: dict[str, str]
    passes: int
    least_shard: int = c.BLOCK_ROWS
    may_solve: bool = True


@dataclass(frozen=True)
class _Looked:
    rows: tuple[int, ...]  # of every partition
    labels: list[Any]

    @property
    def n_rows(self) -> int:
        return sum(self.rows)


@contextmanager
def _described(frame: Any, text: str) -> Iterator[None]:
    """Show in Spark's pages what the jobs inside are for."""
    context = frame.sparkSession.sparkContext
    before = context.getLocalProperty("spark.job.description")
    context.setJobDescription(f"greedystep: {text}")
    try:
        yield
    finally:
        context.setLocalProperty("spark.job.description", before)


# ---- looking -------------------------------------------------------------------------------------


def _look(frame: Any, wanted: Wanted, n_shards: int | None = None) -> _Looked:
    """Count the rows of partitions, and find their labels."""
    columns = wanted.columns
    narrow = frame.select(columns.label_and_weight(frame)[:1])
    kind = narrow.schema[columns.label_name].dataType.simpleString()
    if n_shards is not None:
        narrow = narrow.coalesce(n_shards)
    wants_labels = wanted.has_classes and n_shards is None
    with _described(frame, "counting rows"):
        found = narrow.mapInArrow(look(columns, wants_labels), LOOK.format(label=f"array<{kind}>")).collect()
    rows = [0] * (1 + max((row.shard for row in found), default=0))
    for row in found:
        rows[row.shard] = row.n_rows
    labels = sorted({label for row in found for label in row.labels})
    return _Looked(tuple(rows), labels)


def _check_looked(looked: _Looked, wanted: Wanted) -> None:
    if looked.n_rows == 0:
        raise ValueError("the frame has no rows: nothing to learn")
    if not wanted.has_classes:
        return
    name = wanted.columns.label
    if len(looked.labels) > LABELS_MOST:
        raise ValueError(
            f"column {name!r} has more than {LABELS_MOST} different labels: use GreedystepRegressor to predict numbers"
        )
    if len(looked.labels) < 2:
        raise ValueError(f"column {name!r} has {len(looked.labels)} class(es): there is nothing to tell apart")


def _count_entries(chosen: Any, wanted: Wanted) -> int:
    """Return how many entries all rows have."""
    with _described(chosen, "counting entries"):
        return sum(row.n_entries for row in chosen.mapInArrow(count_entries(wanted.columns), ENTRIES).collect())


def _fits_one_task(chosen: Any, wanted: Wanted, looked: _Looked) -> bool:
    """Return whether one task is to have all rows: there are few, or they can be solved."""
    if looked.n_rows <= wanted.least_shard or wanted.parameters["method"] == "optimum":
        return True
    n_outputs = len(looked.labels) if len(looked.labels) > 2 else 1
    if not wanted.may_solve or not may_fit(looked.n_rows, looked.n_rows, n_outputs):
        return False
    return may_fit(looked.n_rows, _count_entries(chosen, wanted), n_outputs)


def n_shards_of(rows: tuple[int, ...], least_shard: int) -> int:
    """Return how many shards there should be; a partition too small for one counts by its part."""
    return max(1, sum(min(n, least_shard) for n in rows) // max(1, least_shard))


# ---- the first rows ------------------------------------------------------------------------------


def _tell_labels(state: State, labels: list[Any]) -> None:
    """Let the state know all labels before any row, so that all copies number them alike."""
    kind = pa.string() if isinstance(labels[0], str) else pa.float64()
    empty = pa.array([[]] * len(labels), pa.list_(pa.int32()))
    values = pa.array([[]] * len(labels), pa.list_(pa.float64()))
    table = pa.RecordBatch.from_pydict({"label": pa.array(labels, kind), INDICES: empty, VALUES: values})
    plain = Columns("pairs", (INDICES, VALUES), "label")
    reader = plain.reader(iter([table]), None, Run(1))
    assert reader is not None  # there is a batch
    batch = c.Batch()
    while reader.next(batch):
        state.add_labels(batch)
    reader.close()


def _learn_first(frame: Any, wanted: Wanted, looked: _Looked) -> tuple[State, str | None, tuple[int, ...]]:
    """Return a state that has learned the first rows, the schema, and how many of each shard."""
    columns = wanted.columns
    n_filled = sum(n > 0 for n in looked.rows)
    most_rows = c.library().gsa_plan_first_rows(looked.n_rows, n_filled)
    task = first_rows(columns, most_rows, c.FIRST_ENTRIES // n_filled, looked.rows)
    with _described(frame, "the first rows"):
        found = sorted(frame.mapInArrow(task, FIRST).collect(), key=lambda row: row.shard)
    state = State.new(wanted.parameters)
    if wanted.has_classes:
        _tell_labels(state, looked.labels)

    def batches() -> Iterator[Any]:
        for row in found:
            yield from pa.ipc.open_stream(bytes(row.rows))

    run = Run(1)
    reader = columns.reader(batches(), None, run, remember_names=True)
    if reader is None:
        raise ValueError(
            f"rows have more than {c.FIRST_ENTRIES // n_filled} entries, which is more than a first look takes"
        )
    schema = reader.schema
    state.set_schema(schema)
    state.train_shard(reader, c.FIRST_SHARD, run)
    if schema is not None:
        state.take_names(reader)
    reader.close()
    learned = [0] * len(looked.rows)
    for row in found:
        learned[row.shard] = row.n_rows
    return state, schema, tuple(learned)


# ---- passes --------------------------------------------------------------------------------------


def _run_pass(frame: Any, job: ShardJob, state: State, wanted: Wanted) -> tuple[State, Pass]:
    began = time.monotonic()
    number = int(state.summary().pass_)
    with _described(frame, f"pass {number}, {len(job.rows)} shards"):
        merged, shards = learn_and_merge(frame, job, state)
    if wanted.passes == 0:
        merged.keep_best()
    merged.end_pass()
    summary = merged.summary()
    held_out = summary.n_held_out
    done = Pass(
        float(summary.last_pass_loss),
        merged.held_out_loss() if held_out > 0 else math.nan,
        time.monotonic() - began,
        tuple(shards),
    )
    log.info(
        "pass %d: %d rows in %d shards, loss %.6g, held-out loss %.6g, %.1f s",
        number,
        sum(shard.rows for shard in shards),
        len(shards),
        done.loss,
        done.held_out_loss,
        done.seconds,
    )
    return merged, done


def _train_in_one_task(frame: Any, wanted: Wanted, looked: _Looked) -> tuple[State, TrainingSummary]:
    """Rows are learned as on one machine, by the task that has them all."""
    began = time.monotonic()
    with _described(frame, f"{looked.n_rows} rows in one task"):
        found = collected(frame.coalesce(1), train_all(wanted.columns, wanted.parameters))
    (shard, state), *_ = found.values()
    log.info(
        "%d rows of %d partitions learned by one task (%s), as on one machine: loss %.6g, %.1f s",
        looked.n_rows,
        len(looked.rows),
        c.text_of(state.summary().method),
        shard.loss,
        time.monotonic() - began,
    )
    return state, TrainingSummary(looked.n_rows, len(looked.rows), 1)


def train(frame: Any, wanted: Wanted) -> tuple[State, TrainingSummary]:
    """Learn a frame.

    Parameters
    ----------
    frame : DataFrame
    wanted : Wanted

    Returns
    -------
    State, TrainingSummary
    """
    columns = wanted.columns
    looked = _look(frame, wanted)
    _check_looked(looked, wanted)
    if wanted.has_classes:
        loss = "logistic" if len(looked.labels) == 2 else "softmax"
        wanted = replace(wanted, parameters={**wanted.parameters, "loss": loss})
    chosen = frame.select(columns.label_and_weight(frame) + columns.chosen_features(frame))
    if _fits_one_task(chosen, wanted, looked):
        return _train_in_one_task(chosen, wanted, looked)
    n_partitions, n_shards = len(looked.rows), n_shards_of(looked.rows, wanted.least_shard)
    if n_shards < sum(n > 0 for n in looked.rows):
        log.info(
            "%d rows in %d partitions, some below %d rows: coalesced to %d",
            looked.n_rows,
            n_partitions,
            wanted.least_shard,
            n_shards,
        )
        chosen = chosen.coalesce(n_shards)
        looked = replace(looked, rows=_look(frame, wanted, n_shards).rows)
    state, schema, learned = _learn_first(chosen, wanted, looked)
    state.end_pass()
    n_filled = sum(n > 0 for n in looked.rows)
    summary = TrainingSummary(looked.n_rows, n_partitions, n_filled, sum(learned))
    log.info("%d first rows of %d shards learned by the driver", sum(learned), n_filled)
    while state.wants_another_pass(wanted.passes):
        done = len(summary.passes)
        job = ShardJob(
            columns,
            schema,
            looked.rows,
            learned if done == 0 else (0,) * len(learned),
            remembers_names=done == 0 and schema is not None,
        )
        state, told = _run_pass(chosen, job, state, wanted)
        summary.passes.append(told)
    return state, summary
