"""Training on shards, for engines: Ray, Dask, Spark, or a pool of processes.

An engine makes four calls. ``scan`` and ``learn`` run where the rows of a shard are, ``begin`` and ``merge`` where the
results arrive:

    scans = [scan(rows, n_shards) for rows in shards]                                    # in parallel
    training = begin(scans)
    while training.wants_pass:
        learned = [learn(training, rows, shard) for shard, rows in enumerate(shards)]    # in parallel
        training = merge(training, learned)
    training.model().save("my.model")

All arguments and results can be pickled. The result depends on the shards and their order, not on the workers, the
timing or tasks that run twice. If the shards are as even as possible, it is the same, bit for
bit, as that of ``greedystep train --shards N`` on the same rows.

This module is for engines, as greedystep/distributed.h is in C: it may change between versions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from . import _library as c
from ._columns import Frozen
from ._core import Reader, State, plan_first_rows, plan_replicas, reduce_deltas
from ._data import Rows, paths_of
from ._first import FirstRows, Scan, SeenLabels, learn_first
from ._run import Run
from .model import Model
from .training import checked_parameters

#: Bytes of all replicas up to which they are sent and merged as they are.
WHOLE_BYTES = 256 << 20
#: Bytes of the deltas of one range of features, if every replica has touched every feature.
RANGE_BYTES = 64 << 20
#: Passes that can be asked for.
MAX_PASSES = 1_000_000
#: The number of the part that is no range of features: a header, or a whole state.
HEADER = -1
#: The shard number of a delta that is the sum over all shards.
ALL_SHARDS = -1


def _rows_of(rows: Any) -> Rows:
    """Return rows; raise ValueError for groups and times, which shards do not take."""
    given = rows if isinstance(rows, Rows) else Rows(rows)
    if given.group is not None or given.time is not None:
        raise ValueError("rows of shards are not held out by group or time: leave both out, or use greedystep.train")
    return given


def _open(rows: Any, run: Run, schema: str | None, *, remember_names: bool = False) -> Reader:
    return _rows_of(rows).open(run, _following(schema), remember_names=remember_names, learns=True)


def _following(schema: str | None) -> Frozen | None:
    return None if schema is None else Frozen(schema)


# ---- before the first pass -----------------------------------------------------------------------


def schema_of(rows: Any) -> str | None:
    """Return the schema of a table, from its first rows; None for rows with feature numbers."""
    reader = _open(rows, Run(1), None)
    schema = reader.schema
    reader.close()
    return schema


def scan(rows: Any, n_shards: int, *, schema: str | None = None) -> Scan:
    """Read a shard once: count its rows, collect its labels and keep its first rows.

    Parameters
    ----------
    rows : Rows, or its data
    n_shards : int
        The number of shards that have rows.
    schema : str, optional
        That of the first shard (:func:`schema_of`). Required for tables, and for arrays with NaN, because it
        has the columns and the means of missing numbers.

    Returns
    -------
    Scan
    """
    if n_shards < 1:
        raise ValueError(f"n_shards is {n_shards}: expected how many shards have rows, at least 1")
    return _scan(rows, n_shards, schema)


def scan_labels(rows: Any) -> Scan:
    """Read a shard once: count its rows and collect its labels, but keep no rows."""
    return _scan(rows, 0, None)


def _scan(rows: Any, n_shards: int, schema: str | None) -> Scan:
    """Read a shard once; 0 shards: without its first rows."""
    given = _rows_of(rows)
    reader = given.open(Run(1), _following(schema), learns=True)
    labels = SeenLabels()
    first = FirstRows(plan_first_rows(c.NO_ROW, n_shards), c.FIRST_ENTRIES // max(1, n_shards))
    n_rows, batch = 0, c.Batch()
    while reader.next(batch):
        labels.add(batch, n_rows)
        first.add(batch)
        n_rows += batch.n_rows
    found = Scan(n_rows, labels, first, reader.schema, paths_of(given.data) is not None)
    reader.close()
    return found


@dataclass(frozen=True, eq=False)
class Training:
    """A run between two passes, as it is sent to workers.

    Attributes
    ----------
    state : State
        Everything learned so far.
    rows, first : tuple of int
        Rows per shard, and how many of them were learned before the first pass.
    schema : str or None
        The schema of a table.
    passes : int
        Number of passes; 0: until the held-out loss stops falling.
    range_features : int
        Features per delta; 0: replicas are sent whole.
    """

    state: State
    rows: tuple[int, ...]
    first: tuple[int, ...]
    schema: str | None
    passes: int
    range_features: int = 0

    @property
    def shards(self) -> list[int]:
        """The numbers of the shards that have rows."""
        return [shard for shard, n in enumerate(self.rows) if n > 0]

    @property
    def wants_pass(self) -> bool:
        """Whether another pass is needed."""
        return self.state.wants_another_pass(self.passes)

    def model(self) -> Model:
        """Return the model, with the state from which training continues."""
        return Model(self.state.finish(), self.state)


def _between_passes(training: Training) -> Training:
    """Return the run with a decision on how its replicas are sent in the next pass."""
    summary, n_shards = training.state.summary(), len(training.shards)
    n_outputs = summary.n_classes if summary.n_classes > 2 else 1
    size = summary.n_features * 4 * (2 + 2 * n_outputs)
    if n_shards < 2 or n_shards * size <= WHOLE_BYTES:
        return replace(training, range_features=0)
    return replace(training, range_features=features_per_range(n_shards, n_outputs))


def features_per_range(n_shards: int, n_outputs: int) -> int:
    """Return the number of features per delta; the deltas of all shards must fit into one task."""
    return max(1024, RANGE_BYTES // (n_shards * 4 * (3 + 2 * n_outputs)))


def begin(scans: Sequence[Scan], *, passes: int | str = "auto", **parameters: Any) -> Training:
    """Return a run that has learned the first rows of all shards.

    Parameters
    ----------
    scans : list of Scan
        Those of all shards, in their order.
    passes : int or "auto"
        Number of passes; "auto": until the held-out loss stops falling.
    **parameters
        The command's parameters by name, as in :func:`greedystep.train`.
    """
    if passes != "auto" and not (isinstance(passes, int) and 1 <= passes <= MAX_PASSES):
        raise ValueError(f"passes is {passes!r}, expected auto or a whole number from 1 to {MAX_PASSES} (passes=...)")
    if parameters.get("method") == "optimum":
        raise ValueError(
            "an optimum needs all rows in one place (greedystep.train): shards are learned by gsa (method=...)"
        )
    filled = [one for one in scans if one.n_rows > 0]
    if not filled:
        raise ValueError("the shards have no rows: nothing to learn")
    schema = filled[0].schema
    if any(one.schema != schema for one in filled):
        raise ValueError(
            "the columns of the shards differ, or the means of their numbers: give scan the schema of the first "
            "(schema_of)"
        )
    state = State.new(checked_parameters("begin", {"order": "shuffled", **parameters}, ["passes"]))
    state.set_schema(schema)
    rows = tuple(one.n_rows for one in scans)
    most = plan_first_rows(sum(rows), len(filled))
    first = tuple(min(one.first.n_rows, most) for one in scans)
    learn_first(state, scans, first)
    state.end_pass()
    return _between_passes(Training(state, rows, first, schema, 0 if passes == "auto" else int(passes)))


# ---- passes --------------------------------------------------------------------------------------


class Part(NamedTuple):
    """A part of what a shard has learned in a pass.

    The header of a replica, or all of it, has the rows and the loss; the others are deltas of ranges of features.
    """

    feature_range: int
    shard: int
    n_rows: int
    loss_sum: float
    loss_weight: float
    content: bytes

    @property
    def loss(self) -> float:
        """Mean progressive loss of the rows (each before it was learned)."""
        return self.loss_sum / self.loss_weight if self.loss_weight > 0 else math.nan


def _learn_rows(training: Training, replica: State, rows: Any, shard: int, n_skipped: int) -> int:
    """Let a replica learn a shard, except its first rows; return how many rows it learned."""
    run = Run(1)
    # Names of features are kept by the state from the first pass on.
    remembers = training.schema is not None and training.state.summary().pass_ == 1
    reader = _open(rows, run, training.schema, remember_names=remembers)
    n_rows = replica.train_shard(reader, shard, run, n_skipped)
    if remembers:
        replica.take_names(reader)
    reader.close()
    return n_rows


def learn_parts(training: Training, rows: Any, shard: int) -> Iterator[Part]:
    """Yield what :func:`learn` returns, one part at a time, for engines that stream."""
    base, width = training.state, training.range_features
    before = base.summary()
    if shard < 0:
        raise ValueError(f"there is no shard {shard}: shards are numbered from 0")
    n_rows = training.rows[shard] if shard < len(training.rows) else 0
    n_skipped = training.first[shard] if n_rows > 0 and before.pass_ == 1 else 0
    replica = base.fork(plan_replicas(sum(training.rows), n_rows))
    learned = 0 if rows is None else _learn_rows(training, replica, rows, shard, n_skipped)
    if n_skipped + learned != n_rows:
        raise ValueError(
            f"shard {shard} had {n_rows} rows when they were counted and has {n_skipped + learned} now: it must have "
            "the same rows in every pass; train on a copy"
        )
    if n_rows == 0:
        return
    after = replica.summary()
    loss = (after.loss_sum - before.loss_sum, after.loss_weight - before.loss_weight)
    content = replica.write_delta_header(base) if width > 0 else replica.write()
    yield Part(HEADER, shard, learned, *loss, content)
    if width > 0:
        number = training.shards.index(shard)
        for part in range(-(-after.n_features // width)):
            yield Part(part, shard, 0, 0.0, 0.0, replica.write_delta(number, base, part * width, width))


def learn(training: Training, rows: Any, shard: int) -> list[Part]:
    """Learn the rows of a shard with a replica of the state.

    Parameters
    ----------
    training : Training
    rows : Rows, or its data
        The scanned rows, in the same order; None if there are none.
    shard : int
        Its number, from 0.

    Returns
    -------
    list of Part
        For :func:`merge`. The same arguments give the same bytes.
    """
    return list(learn_parts(training, rows, shard))


def reduce_range(parts: Iterable[Part], shards: Sequence[int]) -> Part:
    """Return the deltas of one range of features as one, for engines that reduce ranges in parallel.

    Parameters
    ----------
    parts : iterable of Part
        Those of one range, of all shards, in any order.
    shards : list of int
        ``training.shards``.
    """
    found = {part.shard: part for part in parts}
    if not found:
        raise ValueError("there are no parts to reduce: expected those of one range of features")
    number = next(iter(found.values())).feature_range
    deltas = [found[shard].content if shard in found else None for shard in shards]
    return Part(number, ALL_SHARDS, 0, 0.0, 0.0, reduce_deltas(deltas))


def _reduced(deltas: dict[int, list[Part]], shards: Sequence[int]) -> Iterator[bytes]:
    for number in sorted(deltas):
        parts = deltas.pop(number)
        whole = parts[0] if parts[0].shard == ALL_SHARDS else reduce_range(parts, shards)
        yield whole.content


def _parts_of(learned: Iterable[Iterable[Part]]) -> Iterator[Part]:
    for parts in learned:
        if isinstance(parts, Part) or not isinstance(parts, Iterable):
            raise TypeError(
                "merge expects a list with the results of learn of all shards, [learn(...), learn(...)], and has "
                f"{'the result of one' if isinstance(parts, Part) else repr(parts)}"
            )
        yield from parts


def merge(training: Training, learned: Iterable[Iterable[Part]]) -> Training:
    """Return the run after a pass.

    Parameters
    ----------
    training : Training
        The run before the pass.
    learned : iterable of lists of Part
        The results of :func:`learn` of all shards, in any order; deltas may be reduced already.
    """
    replicas: dict[int, State] = {}
    deltas: dict[int, list[Part]] = {}
    for part in _parts_of(learned):
        if part.feature_range == HEADER:
            replicas[part.shard] = State.read(part.content)
        else:
            deltas.setdefault(part.feature_range, []).append(part)
    if sorted(replicas) != training.shards:
        raise ValueError(f"a pass needs the results of shards {training.shards}, and has those of {sorted(replicas)}")
    states = [replicas[shard] for shard in training.shards]
    if training.range_features > 0:
        merged = State.merge_deltas(states, training.state, list(_reduced(deltas, training.shards)))
    else:
        merged = State.merge(states, training.state)
    if training.passes == 0:
        merged.keep_best()
    merged.end_pass()
    return _between_passes(replace(training, state=merged))


__all__ = [
    "Part",
    "Rows",
    "Scan",
    "Training",
    "begin",
    "learn",
    "learn_parts",
    "merge",
    "reduce_range",
    "scan",
    "schema_of",
]
