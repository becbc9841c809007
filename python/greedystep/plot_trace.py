"""Traces of runs, as ``greedystep train --trace run.jsonl`` writes them (docs/command.md).

A trace may be of a run that is still going on, or that was cut short: everything but its beginning may be missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Union

Event = dict[str, Any]
#: What functions of :mod:`greedystep.plot` take for a run: a file, its events, or the trace that was made of them.
Source = Union[str, "os.PathLike[str]", Iterable[Event], "Trace"]


class TraceError(ValueError):
    """A file that is no trace, with what is wrong in it."""


@dataclass
class Trace:
    """The events of a run, by kind."""

    start: Event = field(default_factory=dict)  #: of the last time that the run was begun or resumed
    progress: list[Event] = field(default_factory=list)
    passes: list[Event] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)  #: seconds, over all times that the run was resumed
    model: Event | None = None
    data: dict[str, Event] = field(default_factory=dict)  #: by rows: "test", "training"
    evaluations: dict[str, Event] = field(default_factory=dict)  #: by rows: "test", "training"
    end: Event | None = None
    n_starts: int = 0
    path: str | None = None  #: of the file, if it came from one

    @property
    def loss(self) -> str | None:
        """The name of the loss, once it is known."""
        for event in (self.end, self.model):
            if event is not None and event.get("loss") not in (None, "auto"):
                return str(event["loss"])
        chosen = self.start.get("parameters", {}).get("loss")
        return None if chosen in (None, "auto") else str(chosen)

    def evaluation(self, rows: str | None = None) -> Event:
        """Return the evaluation of these rows; None: those of the test file, else those that were learned."""
        wanted = (rows,) if rows is not None else ("test", "training")
        for name in wanted:
            if name in self.evaluations:
                return self.evaluations[name]
        raise TraceError(
            f"there is no evaluation of {rows or 'any'} rows: it needs the model of the run and its data, or its "
            "test file, as they were"
        )


def _drop_what_is_learned_again(trace: Trace, rows: int) -> None:
    """Drop lines after the last save of a run that was killed: the resumed run writes them again."""
    trace.progress = [event for event in trace.progress if event["rows"] <= rows]
    trace.passes = [event for event in trace.passes if event["rows"] <= rows]


def _enter(trace: Trace, event: Event) -> None:
    kind = event.get("event")
    if kind == "start":
        _drop_what_is_learned_again(trace, event.get("rows_before", 0))
        trace.start, trace.model, trace.end = event, None, None
        trace.data, trace.evaluations = {}, {}
        trace.n_starts += 1
    elif kind == "progress":
        trace.progress.append(event)
    elif kind == "pass":
        trace.passes.append(event)
    elif kind == "notice":
        trace.notices.append(str(event.get("text", "")))
    elif kind == "stage":
        name = str(event["stage"])
        trace.stages[name] = trace.stages.get(name, 0.0) + float(event["seconds"])
    elif kind == "model":
        trace.model = event
    elif kind == "data":
        trace.data[str(event["rows"])] = event
    elif kind == "evaluation":
        trace.evaluations[str(event["rows"])] = event
    elif kind == "end":
        trace.end = event


def _read_events(path: str | os.PathLike[str]) -> list[Event]:
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    events = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line.decode("utf-8"))
        except ValueError as error:
            if number == len(lines) or lines[number].startswith(b'{"event": "start"'):
                continue  # without its end: the run is writing it, or was killed meanwhile and resumed
            raise TraceError(f"{os.fspath(path)}, line {number}: {error}; expected what train --trace writes") from None
        if not isinstance(event, dict):
            raise TraceError(f"{os.fspath(path)}, line {number}: expected one object per line, as train --trace writes")
        events.append(event)
    return events


def read_trace(source: Source) -> Trace:
    """Return the trace of a file, or of events that were read from one. A trace is returned as it is."""
    if isinstance(source, Trace):
        return source
    if isinstance(source, (str, os.PathLike)):
        events, name = _read_events(source), os.fspath(source)
        hint = "; `greedystep train DATA -o MODEL --trace FILE` writes one"
    else:
        events, name, hint = list(source), "what was given", ""
    trace = Trace(path=os.fspath(source) if isinstance(source, (str, os.PathLike)) else None)
    try:
        for event in events:
            _enter(trace, event)
    except (KeyError, TypeError, AttributeError) as error:
        raise TraceError(f"an event of the trace lacks something: {error!r}") from error
    if trace.n_starts == 0:
        raise TraceError(f"{name} is no trace: it has no event `start`{hint}")
    return trace
