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
import pickle
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from .. import _library as c
from .._core import State, may_fit, plan_first_rows
from .._rows import deciding_rows
from ..distributed import HEADER, Part, Scan, Training, begin, merge, schema_of
from ._columns import Columns
from ._session import described, sent
from ._summary import Pass, Shard, TrainingSummary
from ._tasks import (
    ENTRIES,
    LEARNED,
    SCANNED,
    Task,
    count_entries,
    count_labels,
    count_rows,
    first_rows,
    first_tables,
    learn,
    parts_of,
    reduce_ranges,
    train_all,
)

log = logging.getLogger("greedystep")

#: Tasks that reduce deltas, at most.
MAX_REDUCERS = 200


@dataclass(frozen=True)
class Wanted:
    """The user's parameters.

    Parameters
    ----------
    columns : Columns
    has_classes : bool
        Labels are names of classes, not numbers.
    parameters : dict
        The library's, as text.
    passes : int
        0: until the held-out loss stops falling.
    least_shard : int
        Partitions with fewer rows are combined.
    may_solve : bool
        Rows that fit in memory are solved by one task.
    """

    columns: Columns
    has_classes: bool
    parameters: dict[str, str]
    passes: int
    least_shard: int = c.BLOCK_ROWS
    may_solve: bool = True


# ---- before the first pass -----------------------------------------------------------------------


def _by_partition(frame: Any, task: Task, text: str) -> dict[int, Any]:
    """Return the results of a task by partition."""
    with described(frame, text):
        return {row.shard: pickle.loads(row.scan) for row in frame.mapInArrow(task, SCANNED).collect()}


def _scanned(frame: Any, task: Task, text: str) -> list[Scan]:
    """Return the scans of all partitions."""
    found = _by_partition(frame, task, text)
    return [found.get(shard, Scan()) for shard in range(1 + max(found, default=0))]


def _counted(frame: Any, wanted: Wanted, n_shards: int | None = None) -> list[Scan]:
    """Count the rows of partitions, and collect their labels."""
    narrow = frame.select(wanted.columns.label_and_weight(frame)[:1])
    if n_shards is not None:
        narrow = narrow.coalesce(n_shards)
    return _scanned(narrow, count_labels if wanted.has_classes else count_rows, "counting rows")


def _n_rows(scans: list[Scan]) -> int:
    return sum(one.n_rows for one in scans)


def _n_classes(scans: list[Scan], wanted: Wanted) -> int:
    """Return the number of classes; raise ValueError if there is nothing to learn."""
    if _n_rows(scans) == 0:
        raise ValueError("the frame has no rows: nothing to learn")
    if not wanted.has_classes:
        return 0
    name, n = wanted.columns.label, len({label for one in scans for label in one.labels.first_row})
    if any(one.labels.are_too_many for one in scans):
        raise ValueError(f"column {name!r} has too many different labels: use GreedystepRegressor to predict numbers")
    if n < 2:
        raise ValueError(f"column {name!r} has {n} class(es): there is nothing to tell apart")
    return n


def _count_entries(chosen: Any, wanted: Wanted) -> int:
    """Return the number of entries of all rows."""
    with described(chosen, "counting entries"):
        return sum(row.n_entries for row in chosen.mapInArrow(count_entries(wanted.columns), ENTRIES).collect())


def _fits_one_task(chosen: Any, wanted: Wanted, n_rows: int, n_classes: int) -> bool:
    """Return whether one task should get all rows: they are few, or they can be solved."""
    if n_rows <= wanted.least_shard or wanted.parameters["method"] == "optimum":
        return True
    n_outputs = n_classes if n_classes > 2 else 1
    if not wanted.may_solve or not may_fit(n_rows, n_rows, n_outputs):
        return False
    return may_fit(n_rows, _count_entries(chosen, wanted), n_outputs)


def n_shards_of(rows: Sequence[int], least_shard: int) -> int:
    """Return the number of shards; a partition that is too small for one counts as a fraction."""
    return max(1, sum(min(n, least_shard) for n in rows) // max(1, least_shard))


def _schema_of(chosen: Any, columns: Columns, scans: Sequence[Scan]) -> str | None:
    """Return the schema of all partitions, from the first rows of all, with a label or without."""
    rows = [one.n_rows + one.n_unlabelled for one in scans]
    if columns.kind != "table":
        return None
    left, takes = deciding_rows(len(chosen.columns)), []
    for n in rows:
        takes.append(min(left, n))
        left -= takes[-1]
    found = _by_partition(chosen, first_tables(columns, takes, rows), "the rows that decide the schema")
    return schema_of(columns.given(pa.concat_tables(found[shard] for shard in sorted(found))))


def _begun(chosen: Any, wanted: Wanted, scans: list[Scan]) -> Training:
    """Return a run that has learned the first rows of all partitions."""
    rows = [one.n_rows for one in scans]
    schema = _schema_of(chosen, wanted.columns, scans)
    task = first_rows(wanted.columns, plan_first_rows(sum(rows), sum(n > 0 for n in rows)), rows, schema)
    firsts = _scanned(chosen, task, "the first rows")
    firsts += [Scan()] * (len(scans) - len(firsts))
    whole = [replace(first, n_rows=one.n_rows, labels=one.labels) for one, first in zip(scans, firsts)]
    parameters = {name: value for name, value in wanted.parameters.items() if name != "passes"}
    return begin(whole, passes=wanted.passes or "auto", **parameters)


# ---- passes --------------------------------------------------------------------------------------


def _learned(frame: Any, columns: Columns, training: Training, base: Any) -> Iterator[Part]:
    """Yield what all partitions learned; tasks reduce ranges of features if replicas are large."""
    learned = frame.mapInArrow(learn(columns, base), LEARNED)
    if training.range_features == 0:
        return parts_of(learned.collect())
    n_tasks = min(MAX_REDUCERS, 1 + math.ceil(training.state.summary().n_features / training.range_features))
    reduced = (
        learned.repartition(n_tasks, "feature_range")
        .sortWithinPartitions("feature_range", "shard", "piece")
        .mapInArrow(reduce_ranges(training.shards), LEARNED)
    )
    return parts_of(reduced.toLocalIterator())  # a partition at a time: the driver's JVM need not have all of them


def _run_pass(frame: Any, columns: Columns, training: Training) -> tuple[Training, Pass]:
    began, shards = time.monotonic(), []

    def noted(parts: Iterator[Part]) -> Iterator[Part]:
        for part in parts:
            if part.feature_range == HEADER:
                shards.append(Shard(part.shard, part.n_rows, part.loss))
            yield part

    number = int(training.state.summary().pass_)
    with described(frame, f"pass {number}, {len(training.rows)} shards"), sent(frame, training) as base:
        merged = merge(training, [noted(_learned(frame, columns, training, base))])
    shards.sort(key=lambda shard: shard.partition)
    summary = merged.state.summary()
    held_out_loss = merged.state.held_out_loss() if summary.n_held_out > 0 else math.nan
    done = Pass(float(summary.last_pass_loss), held_out_loss, time.monotonic() - began, tuple(shards))
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


def _train_in_one_task(frame: Any, wanted: Wanted, scans: list[Scan]) -> tuple[State, TrainingSummary]:
    """Learn all rows in one task, as on one machine."""
    began, n_rows = time.monotonic(), _n_rows(scans)
    with described(frame, f"{n_rows} rows in one task"):
        task = train_all(wanted.columns, wanted.parameters)
        (part,) = parts_of(frame.coalesce(1).mapInArrow(task, LEARNED).collect())
    state = State.read(part.content)
    log.info(
        "%d rows of %d partitions learned by one task (%s), as on one machine: loss %.6g, %.1f s",
        n_rows,
        len(scans),
        c.text_of(state.summary().method),
        part.loss,
        time.monotonic() - began,
    )
    return state, TrainingSummary(n_rows, len(scans), 1)


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
    scans = _counted(frame, wanted)
    n_classes, n_rows = _n_classes(scans, wanted), _n_rows(scans)
    n_unlabelled = sum(one.n_unlabelled for one in scans)
    if n_unlabelled > 0:
        log.info("%d rows without a label are left out", n_unlabelled)
    if wanted.has_classes:
        loss = "logistic" if n_classes == 2 else "softmax"
        wanted = replace(wanted, parameters={**wanted.parameters, "loss": loss})
    chosen = frame.select(columns.label_and_weight(frame) + columns.chosen_features(frame))
    if _fits_one_task(chosen, wanted, n_rows, n_classes):
        return _train_in_one_task(chosen, wanted, scans)
    n_partitions, n_shards = len(scans), n_shards_of([one.n_rows for one in scans], wanted.least_shard)
    if n_shards < sum(one.n_rows > 0 for one in scans):
        log.info(
            "%d rows in %d partitions, some below %d rows: coalesced to %d",
            n_rows,
            n_partitions,
            wanted.least_shard,
            n_shards,
        )
        chosen = chosen.coalesce(n_shards)
        scans = _counted(frame, wanted, n_shards)
    training = _begun(chosen, wanted, scans)
    summary = TrainingSummary(n_rows, n_partitions, len(training.shards), sum(training.first))
    log.info("%d first rows of %d shards learned by the driver", summary.first_rows, summary.n_shards)
    while training.wants_pass:
        training, done = _run_pass(chosen, columns, training)
        summary.passes.append(done)
    return training.state, summary
