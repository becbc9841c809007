"""Figures of a run: losses and step over rows and passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .plot_style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    axes_of,
    axis_of_passes,
    axis_of_powers,
    axis_of_rows,
    legend_below,
    numbers,
    say,
    tidy,
)
from .plot_trace import Event, Source, Trace, read_trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _test_loss(trace: Trace, metrics: Event | None) -> float | None:
    """Return the training loss on the test rows: for numbers half the squared error, for counts half the deviance. A
    Huber loss is not among the metrics."""
    if not metrics or trace.loss == "huber":
        return None
    if metrics.get("poisson_deviance") is not None:
        return float(metrics["poisson_deviance"]) / 2
    if metrics.get("pinball_loss") is not None:
        return float(metrics["pinball_loss"])
    if metrics.get("rmse") is not None:
        return float(metrics["rmse"]) ** 2 / 2
    for name in ("log_loss", "hinge", "squared_hinge"):
        if metrics.get(name) is not None:
            return float(metrics[name])
    return None


def _step_of_model(trace: Trace) -> float | None:
    """Return the step at the end, or the last known one."""
    for event in (trace.end, trace.passes[-1] if trace.passes else None):
        if event is not None and event.get("step"):
            return float(event["step"])
    return None


def _ways(trace: Trace) -> tuple[list[Event], list[Event]]:
    """Return the lines of progress of scalings that were given up, recognised by their steps, and those of the scaling
    that the model came from: at first a run learns in several ways, and each line is of one of them."""
    step_of_model = _step_of_model(trace)
    if step_of_model is None:
        return [], trace.progress
    parts: list[list[Event]] = []
    for event in trace.progress:
        now = event["step"] or 0.0
        before = (parts[-1][-1]["step"] or 0.0) if parts else 0.0
        if not parts or not before / 3 <= now <= 3 * before:
            parts.append([])
        parts[-1].append(event)
    kept = next((part for part in reversed(parts)), [])
    if kept and not step_of_model / 3 <= (kept[-1]["step"] or 0.0) <= 3 * step_of_model:
        return trace.progress, []
    return [event for part in parts[:-1] for event in part], kept


def _mark_passes(ax: Axes, trace: Trace) -> None:
    for event in trace.passes[:-1] if len(trace.passes) <= 5 else []:
        ax.axvline(event["rows"], color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)


def _loss_name(trace: Trace) -> str:
    names = {"logistic": "log loss", "softmax": "log loss", "squared": "half squared error", "hinge": "hinge loss"}
    name = trace.loss
    return names.get(name, f"{name.replace('_', ' ')} loss") if name is not None else "loss"


def _dots(ax: Axes, trace: Trace, values: Sequence[Any], color: str, marker: str, label: str) -> None:
    x = [event["rows"] for event in trace.passes]
    y = numbers(values)
    if np.isfinite(y).any():
        size = 5 if len(x) <= 12 else 3
        ax.plot(x, y, color=color, marker=marker, markersize=size, linewidth=1, label=label, zorder=4)


def _recent_means(progress: Sequence[Event], begin: int, share: float = 1 / 3) -> list[float]:
    """Return the mean loss of the last third of all rows so far, at every line: smooth if there are many."""
    rows = [event["rows"] for event in progress]
    before = [begin, *rows[:-1]]
    losses = numbers(event["recent_loss"] for event in progress)
    means = []
    for i, now in enumerate(rows):
        window = [j for j in range(i + 1) if j == i or rows[j] > now * (1 - share)]
        weight = [max(rows[j] - before[j], 1) for j in window]
        means.append(float(np.average([losses[j] for j in window], weights=weight)))
    return means


def _limit(ax: Axes, values: Sequence[float]) -> None:
    """Set the limits of the loss axis; logarithmic if the first losses are so high that they would flatten the rest."""
    finite = [value for value in values if np.isfinite(value)]
    if not finite or max(finite) <= min(finite):
        return
    low, high = min(finite), max(finite)
    if low > 0 and high > 4 * low:
        axis_of_powers(ax)
        ax.set_ylim(low / 1.1, high * 1.1)
    else:
        room = 0.08 * (high - low)
        ax.set_ylim(max(low - room, 0.0) if low >= 0 else low - room, high + room)


def loss(run: Source, ax: Axes | None = None) -> Axes:
    """Plot the loss over the rows learned: of rows before they are learned, of held-out rows, and of the test
    file."""
    trace, ax = read_trace(run), axes_of(ax)
    given_up, kept = _ways(trace)
    begin = given_up[-1]["rows"] if given_up and kept else 0
    smooth: list[float] = []
    for part, start, color, label in (
        (given_up, 0, GREY, "an abandoned variant"),
        (kept, begin, BLUE, "next rows (weights in motion)"),
    ):
        rows, means = [event["rows"] for event in part], _recent_means(part, start)
        recent = numbers(event["recent_loss"] for event in part)
        if part:
            alone = "o" if len(part) < 3 else ""
            ax.plot(rows, recent, color=color, linewidth=0.7, alpha=0.3)
            ax.plot(rows, means, color=color, linewidth=1.7, marker=alone, markersize=4, label=label)
        if part is kept or not kept:  # an abandoned variant does not set the scale
            smooth += means
    held_out = [e.get("held_out_loss") for e in trace.passes]
    test = [_test_loss(trace, e.get("test")) for e in trace.passes]
    _dots(ax, trace, held_out, ORANGE, "o", "held-out rows (model)")
    _dots(ax, trace, test, GREEN, "s", "test file (model)")
    _mark_passes(ax, trace)
    tidy(ax, "Loss", "rows, over all passes", _loss_name(trace))
    _finish_rows(ax, trace)
    _limit(ax, numbers(held_out) + numbers(test) + smooth)
    if trace.progress or trace.passes:
        legend_below(ax)
    return ax


def _finish_rows(ax: Axes, trace: Trace) -> None:
    rows = [event["rows"] for event in trace.progress + trace.passes]
    if rows:
        axis_of_rows(ax, min(rows), max(rows))
    else:
        say(ax, "no rows have been read yet")


def step(run: Source, ax: Axes | None = None) -> Axes:
    """Plot the step, the mean of the greedy steps of the rows, over the rows learned."""
    trace, ax = read_trace(run), axes_of(ax)
    _given_up, kept = _ways(trace)
    rows, found = [e["rows"] for e in kept], numbers(e["step"] for e in kept)
    ax.plot(rows, found, color=BLUE, linewidth=1.7, marker="o" if len(rows) < 3 else "")
    shown = found
    if not kept:
        shown = numbers(e.get("step") for e in trace.passes)
        _dots(ax, trace, shown, BLUE, "o", "")
    _mark_passes(ax, trace)
    tidy(ax, "Step size found", "rows, over all passes", "mean step")
    _finish_rows(ax, trace)
    finite = [value for value in shown if value > 0]
    if finite and max(finite) > 30 * min(finite):
        ax.set_yscale("log")
    elif finite:
        ax.set_ylim(0, 1.1 * max(finite))
    return ax


def passes(run: Source, ax: Axes | None = None) -> Axes:
    """Plot the loss after every pass."""
    trace, ax = read_trace(run), axes_of(ax)
    number = [event["pass"] for event in trace.passes]
    series = [
        ("next rows (weights in motion)", [e.get("progressive_loss") for e in trace.passes], BLUE, "^"),
        ("held-out rows (model)", [e.get("held_out_loss") for e in trace.passes], ORANGE, "o"),
        ("test file (model)", [_test_loss(trace, e.get("test")) for e in trace.passes], GREEN, "s"),
    ]
    for label, values, color, marker in series:
        y = numbers(values)
        if np.isfinite(y).any():
            ax.plot(number, y, color=color, marker=marker, markersize=4, linewidth=1.2, label=label)
    judged = [value for value in numbers(series[1][1] + series[2][1]) if np.isfinite(value)]
    moving = numbers(series[0][1])
    # What the weights in motion cost in the first passes may be far above everything that the model ever costs.
    _limit(ax, judged + [value for value in moving if not judged or value <= 1.6 * max(judged)])
    tidy(ax, "Loss after each pass", "pass", _loss_name(trace))
    axis_of_passes(ax)
    if number:
        ax.set_xlim(min(number) - 0.5, max(number) + 0.5)
        legend_below(ax)
    else:
        say(ax, "no pass has ended")
    return ax
