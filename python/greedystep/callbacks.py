"""Callbacks during training: the protocol ``callback(event)``, and a progress bar.

A callback is called a few times per second while rows are learned and after every pass, in the thread that called
``fit`` or ``train``. An exception in it ends the training and is raised by that function.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Callable

from . import _library as c
from ._core import summary_at
from ._errors import fill
from ._run import Run

#: Seconds between two events of kind "rows".
INTERVAL = 0.1
#: Seconds between two lines of the progress.
LINE_INTERVAL = 1.0


@dataclass(frozen=True)
class Event:
    """The progress of a run.

    Attributes
    ----------
    kind : {"rows", "pass", "penalty"}
        Rows were learned, a pass has ended, or a penalty was tried on rows in memory.
    rows : int
        Rows learned so far, over all passes.
    loss : float
        Mean progressive loss (of each row before it was learned) of the current pass, or of the
        pass that has ended. NaN if no row was predicted: the first ones wait to be solved.
    step : float
        Mean of the greedy steps.
    passes : int
        Passes completed.
    held_out_loss : float
        After a pass: mean loss of the held-out rows, NaN if there are none.
    seconds : float
        Since the run began.
    penalties, of_about : int
        Penalties that were tried on rows in memory, and about how many there will be. ``held_out_loss`` is then the
        lowest so far; figures about rows are 0 or NaN.
    """

    kind: str
    rows: int
    loss: float
    step: float
    passes: int
    held_out_loss: float
    seconds: float
    penalties: int = 0
    of_about: int = 0


Callback = Callable[[Event], Any]


# What to do about a notice: GSA_NOTICE_CLASSES, GSA_NOTICE_NUMBER and GSA_NOTICE_ORDER.
_REMEDIES = {
    3: "; loss='squared' predicts a number",
    4: "; loss='softmax' makes them classes",
    5: "; time= with that column measures that",
}


class NoticeWarning(UserWarning):
    """A notice about the data, such as labels in sorted order."""


def _event(kind: str, state: int, seconds: float) -> Event:
    summary = summary_at(state)
    under_way = summary.loss_weight > 0 and kind == "rows"
    loss = summary.loss_sum / summary.loss_weight if under_way else summary.last_pass_loss
    held_out = c.library().gsa_state_held_out_loss(state) if kind == "pass" else math.nan
    return Event(kind, summary.n_rows, loss, summary.step, summary.pass_, held_out, seconds)


class Hooks:
    """Connects a callback, which may be None, to the library; notices become warnings."""

    def __init__(self, callback: Callback | None, run: Run) -> None:
        self._run = run
        self._callback = callback
        self._began = time.monotonic()
        self._told = 0.0
        self._notices: list[str] = []
        told = callback is not None
        self.struct = c.TrainHooks(
            None,
            c.Progress(self._progress) if told else c.Progress(),
            c.PassEnded(self._pass_ended) if told else c.PassEnded(),
            c.Notice(self._notice),
            strength_tried=c.StrengthTried(self._tried) if told else c.StrengthTried(),
        )

    def _tell(self, kind: str, state: int) -> None:
        assert self._callback is not None
        event, callback = _event(kind, state, time.monotonic() - self._began), self._callback
        self._run.in_caller(lambda: callback(event))

    def _progress(self, _ctx: Any, state: int, _reader: int) -> None:
        try:
            now = time.monotonic()
            if now - self._told >= INTERVAL:
                self._told = now
                self._tell("rows", state)
        except BaseException as failure:
            self._run.fail(failure)

    def _tried(self, _ctx: Any, n_tried: int, n_about: int, _loss: bytes, best: float) -> None:
        try:
            assert self._callback is not None
            seconds, callback = time.monotonic() - self._began, self._callback
            event = Event("penalty", 0, math.nan, math.nan, 0, best, seconds, n_tried, n_about)
            self._run.in_caller(lambda: callback(event))
        except BaseException as failure:
            self._run.fail(failure)

    def _pass_ended(self, _ctx: Any, state: int, error: Any) -> int:
        try:
            self._tell("pass", state)
        except BaseException as failure:
            self._run.fail(failure)
            return fill(error, c.STOPPED, "a callback failed")
        return c.OK

    def _notice(self, _ctx: Any, what: int, text: bytes) -> None:
        self.note((c.text_of(text) or "") + _REMEDIES.get(what, ""))

    def note(self, text: str) -> None:
        """Keep a notice for the user."""
        self._notices.append(text)

    def warn(self, stacklevel: int) -> None:
        """Issue the kept notices as warnings, in the calling thread."""
        for text in self._notices:
            warnings.warn(text, NoticeWarning, stacklevel=stacklevel + 1)
        self._notices.clear()


def _penalty(event: Event) -> str:
    return f"penalty {event.penalties} of about {event.of_about}, best held-out loss {event.held_out_loss:.4g}"


class ProgressBar:
    """A callback that shows a tqdm progress bar with loss, step and passes.

    Parameters
    ----------
    **options
        The options of tqdm: ``desc``, ``disable``, ``file`` ...
    """

    def __init__(self, **options: Any) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(**{"unit": " rows", "unit_scale": True, **options})

    def __call__(self, event: Event) -> None:
        """Show an event."""
        if event.kind == "penalty":
            self._bar.set_postfix_str(_penalty(event))
            return
        self._bar.update(max(0, event.rows - self._bar.n))
        self._bar.set_postfix(
            loss="-" if math.isnan(event.loss) else f"{event.loss:.5g}", step=f"{event.step:.3g}", passes=event.passes
        )

    def close(self) -> None:
        """Close the bar and leave it visible."""
        self._bar.close()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()


class _Lines:
    """A callback that prints a line after every pass, and one per second before its end."""

    def __init__(self) -> None:
        self._told = 0.0

    def __call__(self, event: Event) -> None:
        if event.kind != "pass" and event.seconds - self._told < LINE_INTERVAL:
            return
        self._told = event.seconds
        loss = "" if math.isnan(event.loss) else f", loss {event.loss:.5g}"
        line = f"{event.rows} rows{loss}, passes {event.passes}, {event.seconds:.1f} s"
        line = _penalty(event) if event.kind == "penalty" else line
        print(f"greedystep: {line}", file=sys.stderr, flush=True)


@contextmanager
def shown(verbose: bool | int, callback: Callback | None) -> Iterator[Callback | None]:
    """Yield the callback, preceded by one that shows progress if `verbose` is set."""
    if not verbose:
        yield callback
    elif importlib.util.find_spec("tqdm") is not None:
        with ProgressBar() as bar:
            yield _both(bar, callback)
    else:
        yield _both(_Lines(), callback)


def _both(first: Callback, second: Callback | None) -> Callback:
    def told(event: Event) -> None:
        first(event)
        if second is not None:
            second(event)

    return told
