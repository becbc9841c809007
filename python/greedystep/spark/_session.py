"""The differences between a classic session and one of Spark Connect: how values reach tasks, and names of jobs.

A classic session has a SparkContext, which broadcasts values. In Spark Connect a value is part of a task's function and
so of the query that the client sends; Spark broadcasts the function to the executors.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pyspark.errors import PySparkException

# The value of the Carried that was asked for last; a Python worker of Spark's runs many tasks.
_values: dict[str, Any] = {}
_PLAN_CACHE = "spark.connect.session.planCache.enabled"
# What Spark Connect says of a query that is too large: gRPC of client or server, and the server of its plan.
_TOO_LARGE = ("larger than max", "exceeds maximum size", "PLAN_SIZE_LARGER_THAN_MAX")


class Carried:
    """A value inside a task's function, with the interface of a broadcast. A Python worker unpickles it once."""

    def __init__(self, value: Any) -> None:
        self.stored = pickle.dumps(value, protocol=5)
        self._key = hashlib.sha256(self.stored).hexdigest()

    @property
    def value(self) -> Any:
        """The value, in a task."""
        if self._key not in _values:
            _values.clear()
            _values[self._key] = pickle.loads(self.stored)
        return _values[self._key]


def _context_of(frame: Any) -> Any:
    """Return the SparkContext of a frame; None: Spark Connect has none."""
    return getattr(frame.sparkSession, "sparkContext", None)


def send(frame: Any, value: Any) -> Any:
    """Return an object by which tasks on a frame get a value: a broadcast, if the session has them."""
    context = _context_of(frame)
    return Carried(value) if context is None else context.broadcast(value)


@contextmanager
def _without_plan_cache(session: Any) -> Iterator[None]:
    """Keep a Spark Connect server from caching the plans inside: it would keep the last 16, with all their values."""
    before = session.conf.get(_PLAN_CACHE, "true")
    with suppress(PySparkException):  # some servers let clients set nothing
        session.conf.set(_PLAN_CACHE, "false")
    try:
        yield
    finally:
        with suppress(PySparkException):
            session.conf.set(_PLAN_CACHE, before)


@contextmanager
def sent(frame: Any, value: Any) -> Iterator[Any]:
    """Yield an object by which tasks get a value, and release it; raise an error if it is too large to send."""
    found = send(frame, value)
    if not isinstance(found, Carried):
        try:
            yield found
        finally:
            found.destroy()
        return
    try:
        with _without_plan_cache(frame.sparkSession):
            yield found
    except Exception as failure:
        if any(text in str(failure) for text in _TOO_LARGE):
            raise ValueError(
                f"cannot send a state of {len(found.stored) >> 20} MiB to Spark Connect: unless set otherwise messages "
                "have at most 128 MiB and plans 512 MiB; raise spark.connect.grpc.maxInboundMessageSize and "
                "spark.connect.maxPlanSize of the server and grpc.max_send_message_length of the client "
                "(docs/spark.md), or hash to fewer features (bits=...)"
            ) from failure
        raise


@contextmanager
def described(frame: Any, text: str) -> Iterator[None]:
    """Describe the jobs inside in Spark's UI; in Spark Connect the server names them."""
    context = _context_of(frame)
    if context is None:
        yield
        return
    before = context.getLocalProperty("spark.job.description")
    context.setJobDescription(f"greedystep: {text}")
    try:
        yield
    finally:
        context.setLocalProperty("spark.job.description", before)
