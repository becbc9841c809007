"""The summary of a run on Spark: its passes, and the shards of each."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Shard:
    """One partition in one pass.

    Attributes
    ----------
    partition : int
        Its number.
    rows : int
        Rows that it learned or held out.
    loss : float
        Mean loss of its rows, each before it was learned.
    """

    partition: int
    rows: int
    loss: float


@dataclass(frozen=True)
class Pass:
    """One pass over all partitions.

    Attributes
    ----------
    loss : float
        Mean loss of all rows, each before it was learned.
    held_out_loss : float
        Mean loss of the held-out rows after the pass; NaN if there are none.
    seconds : float
        How long it took.
    shards : tuple of Shard
        In the order of their numbers.
    """

    loss: float
    held_out_loss: float
    seconds: float
    shards: tuple[Shard, ...]


@dataclass
class TrainingSummary:
    """How a model was trained.

    Attributes
    ----------
    rows : int
        Rows of the data.
    n_partitions, n_shards : int
        Partitions of the data, and shards that were learned in parallel: small partitions are
        combined.
    first_rows : int
        Rows that the driver learned before the first pass.
    passes : list of Pass
        Empty if all rows were learned by one task, as on one machine.
    """

    rows: int
    n_partitions: int
    n_shards: int
    first_rows: int = 0
    passes: list[Pass] = field(default_factory=list)
