"""The text and tables of the page. Everything that comes from a trace is escaped here."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from .plot_trace import Event, Trace, TraceError

# Lines of classes, as plot.curves draws them.
_COLOURS = ("blue", "orange", "green", "black or white")
# Columns whose shares are listed.
_MAX_COLUMNS = 100


def text(value: object) -> str:
    """Return a value as escaped text."""
    return escape(str(value), quote=True)


def number(value: Any, digits: int = 4) -> str:
    """Return a number for people: 12,345 or 0.1234."""
    if value is None or value != value:
        return "undefined"
    if float(value) == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.{digits}g}" if abs(value) < 1000 else f"{value:,.0f}"


def seconds(value: float) -> str:
    """Return a time as text: 0.12 s, 3 min 20 s, 2 h 5 min."""
    if value < 60:
        return f"{value:.3g} s" if value >= 0.0995 else f"{1000 * value:.2g} ms"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def size(n_bytes: float) -> str:
    """Return a size as text: 1.2 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} TB"


def table(rows: Iterable[Sequence[str]], head: Sequence[str] = (), numbers_from: int = 99) -> str:
    """Return a table; cells are HTML, and the columns from ``numbers_from`` on are numbers."""

    def cells(row: Sequence[str], tag: str) -> str:
        out = ""
        for i, cell in enumerate(row):
            kind = "th" if tag == "th" or i == 0 else "td"
            name = "number" if i >= numbers_from else "wide" if cell.startswith('<span class="bar"') else ""
            out += f"<{kind}{f' class={chr(34)}{name}{chr(34)}' if name else ''}>{cell}</{kind}>"
        return f"<tr>{out}</tr>"

    lines = ([cells(head, "th")] if head else []) + [cells(row, "td") for row in rows]
    return f'<div class="table"><table>{"".join(lines)}</table></div>'


def bar(share: float) -> str:
    """Return a bar that fills this share of its cell."""
    return f'<span class="bar" style="width:{100 * min(max(share, 0.0), 1.0):.1f}%"></span>'


def card(value: str, name: str) -> str:
    """Return one of the headline numbers."""
    return f'<div class="card"><b>{text(value)}</b><span>{text(name)}</span></div>'


# ---- the head -------------------------------------------------------------------------------------------------------


def status(trace: Trace) -> str:
    """Return how the run ended, if it did."""
    if trace.end is None:
        return '<span class="status warn">no end: still running, or killed</span>'
    name = trace.end.get("status")
    if name == "done":
        return '<span class="status">done</span>'
    if name == "stopped":
        return '<span class="status warn">stopped on request; can be resumed</span>'
    return '<span class="status bad">failed</span>'


def _seconds_of_run(trace: Trace) -> float | None:
    if trace.n_starts > 1:
        return sum(trace.stages.values())
    for events in ([trace.end] if trace.end else [], trace.passes[-1:], trace.progress[-1:]):
        for event in events:
            if event.get("seconds") is not None:
                return float(event["seconds"])
    return None


def head(trace: Trace) -> str:
    """Return the head of the page: the run, its date, and how it ended."""
    date = str(trace.start.get("date", "")).replace("T", " ").replace("Z", " UTC")
    took = _seconds_of_run(trace)
    facts = [status(trace), text(date)]
    if took is not None:
        facts.append(text(seconds(took)))
    if trace.n_starts > 1:
        facts.append(f"resumed {trace.n_starts - 1} times" if trace.n_starts > 2 else "resumed once")
    out = f"<h1>Training of {text(trace.start.get('model', 'a model'))}</h1>"
    out += '<p class="muted">' + " \N{MIDDLE DOT} ".join(fact for fact in facts if fact) + "</p>"
    if trace.end is not None and trace.end.get("message"):
        out += f"<p><b>{text(trace.end['message'])}</b></p>"
    command = [shlex.quote(str(word)) for word in trace.start.get("command", [])]
    out += "<pre>" + " ".join(f"<span>{text(word)}</span>" for word in command) + "</pre>"
    if trace.start.get("understood"):
        out += f'<p class="note">{text(trace.start["understood"])}</p>'
    for notice in trace.notices:
        out += f"<p><b>Note:</b> {text(notice)}</p>"
    return out


_LOSSES = ("log_loss", "hinge", "squared_hinge", "poisson_deviance", "pinball_loss")
_HEADLINES = (*_LOSSES, "rmse", "loss", "accuracy", "auc", "r2", "mae")
_NAMES = {
    "rows": "rows",
    "unknown_labels": "labels the model does not know",
    "log_loss": "log loss",
    "squared_hinge": "squared hinge loss",
    "hinge": "hinge loss",
    "poisson_deviance": "Poisson deviance",
    "pinball_loss": "pinball loss",
    "below": "labels below the prediction",
    "auc": "AUC",
    "average_precision": "average precision",
    "brier": "Brier score",
    "calibration_error": "calibration error",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
    "r2": "R²",
}


def _metric_of_loss(trace: Trace, loss: float) -> tuple[str, float]:
    """Return the metric that a training loss stands for, and its value."""
    if trace.loss == "squared":
        return "rmse", math.sqrt(2 * loss)  # the loss is half the squared error
    if trace.loss == "poisson":
        return "poisson_deviance", 2 * loss
    names = {"logistic": "log_loss", "softmax": "log_loss", "quantile": "pinball_loss"}
    name = names.get(trace.loss or "", trace.loss or "")
    return (name if name in _NAMES else "loss"), loss


_HELD_OUT = ("held-out rows", "cross-validated")


def _metrics(trace: Trace) -> dict[str, Event]:
    """Return metrics by the rows that they are of; those of rows that the model was not trained on come first."""
    end = trace.end or {}
    found: dict[str, Event] = {}
    if "test" in trace.evaluations:
        found["test rows"] = trace.evaluations["test"].get("metrics", {})
    if end.get("held_out_loss") is not None:
        is_crossed = (trace.model or {}).get("method") == "optimum" or end.get("held_out", 0) == end.get("rows")
        name, value = _metric_of_loss(trace, end["held_out_loss"])
        known = {key: end[key] for key in _HEADLINES if end.get(key) is not None and key != "loss"}
        found[_HELD_OUT[is_crossed]] = {name: value, **known}
    if "training" in trace.evaluations:
        found["training rows"] = trace.evaluations["training"].get("metrics", {})
    return found


def _penalty(trace: Trace) -> tuple[str, float] | None:
    """Return the penalty that was chosen, as scikit-learn names it."""
    chosen = (trace.end or {}).get("chosen") or {}
    return next(((name, chosen[name]) for name in ("C", "alpha") if chosen.get(name) is not None), None)


def cards(trace: Trace) -> str:
    """Return the headline numbers: the quality on rows that the model was not trained on, then the size."""
    out, end, known = [], trace.end or {}, _metrics(trace)
    unseen = {rows: found for rows, found in known.items() if rows != "training rows"}
    for rows, found in (unseen or known).items():
        for i, key in enumerate(one for one in _HEADLINES if found.get(one) is not None):
            base = end.get("baseline_loss") if i == 0 and rows in _HELD_OUT else None
            beside = "" if base is None else f" (baseline {number(_metric_of_loss(trace, base)[1])})"
            out.append(card(number(found[key]), f"{_NAMES.get(key, key)}, {rows}{beside}"))
    n_rows = end.get("rows", (trace.progress[-1:] or [{}])[0].get("rows"))
    if n_rows is not None:
        out.append(card(number(n_rows), "rows" + (", over all passes" if end.get("passes", 2) > 1 else "")))
    if end.get("passes", 0) > 1:
        out.append(card(number(end["passes"]), "passes"))
    penalty = _penalty(trace)
    if penalty is not None:
        out.append(card(f"{penalty[1]:.3g}", f"penalty ({penalty[0]} of scikit-learn)"))
    if trace.model is not None:
        out.append(card(number(trace.model["features_used"]), "features that the model uses"))
    if trace.model is not None and trace.model.get("classes"):
        out.append(card(number(trace.model["classes"]), "classes"))
    if end.get("peak_memory"):
        out.append(card(size(end["peak_memory"]), "peak memory"))
    return f'<div class="cards">{"".join(out)}</div>' if out else ""


# ---- tables ---------------------------------------------------------------------------------------------------------


def metrics(trace: Trace) -> str:
    """Return all metrics, one column per kind of rows."""
    columns = _metrics(trace)
    names = dict.fromkeys(name for found in columns.values() for name in found)
    lines = []
    for name in names:
        values = [number(found[name], 5) if name in found else "" for found in columns.values()]
        lines.append([text(_NAMES.get(name, name.replace("_", " "))), *values])
    return table(lines, ["", *columns], numbers_from=1) if lines else ""


_CHOSEN = {
    "C": "penalty (C of scikit-learn)",
    "alpha": "penalty (alpha of scikit-learn)",
    "lambda": "penalty on the scaled features",
    "standardised": "features standardised",
    "inverse_frequency": "exponent of inverse frequency",
    "calibration_scale": "calibration: margins multiplied by",
    "calibration_shift": "calibration: added to margins",
}


def chosen(trace: Trace) -> str:
    """Return what training chose on held-out rows."""
    found = (trace.end or {}).get("chosen") or {}
    lines = []
    for name, value in found.items():
        shown = ("yes" if value else "no") if isinstance(value, bool) else value
        cell = text(shown) if isinstance(shown, str) else number(shown)
        lines.append([text(_CHOSEN.get(name, name.replace("_", " "))), cell])
    return table(lines) if lines else ""


def _files(entries: Sequence[Event]) -> str:
    out = []
    for entry in entries:
        name = "standard input" if entry["path"] == "-" else entry["path"]
        out.append(text(name) + (f" ({size(entry['bytes'])})" if entry.get("bytes") is not None else ""))
    return "<br>".join(out)


def data(trace: Trace) -> str:
    """Return a description of the rows."""
    start, model = trace.start, trace.model
    lines = [["training data", _files(start.get("data", [])) or text(start.get("sql", ""))]]
    if start.get("test"):
        lines.append(["test data", _files([start["test"]])])
    looked = trace.data.get("training")
    if looked is not None:
        count = number(looked["n_rows"]) + ("" if looked.get("complete") else " (the first; there are more)")
        lines.append(["rows", count])
        mean = looked["values"] / max(looked["n_rows"], 1)
        spread = f"{number(looked['values_least'])} to {number(looked['values_most'])}"
        lines.append(["non-zeros per row", f"{number(mean)} ({spread})"])
        if "label_mean" in looked:
            span = f"{number(looked['label_least'])} to {number(looked['label_most'])}"
            lines.append(["labels", f"mean {number(looked['label_mean'])} ({span})"])
    if model is not None:
        lines.append(["features that the model uses", number(model["features_used"])])
    if trace.end is not None and trace.end.get("bad_rows") is not None:
        lines.append(["bad rows, skipped", number(trace.end["bad_rows"])])
    return table(lines)


def class_balance(trace: Trace, most: int = 20) -> str:
    """Return how many rows each class has, the largest first."""
    looked = trace.data.get("training") or trace.data.get("test")
    entries = sorted((looked or {}).get("classes", []), key=lambda entry: -entry["weight"])
    if looked is None or not entries:
        return ""
    total, largest = sum(entry["weight"] for entry in entries), entries[0]["weight"]
    lines = [
        [
            text(entry["label"]),
            bar(entry["weight"] / max(largest, 1e-300)),
            number(entry["weight"]),
            f"{100 * entry['weight'] / max(total, 1e-300):.3g} %",
        ]
        for entry in entries[:most]
    ]
    more = f'<p class="note">and {len(entries) - most} smaller classes</p>' if len(entries) > most else ""
    return table(lines, ["class", "", "rows", "share"], numbers_from=2) + more


_STAGES = {
    "begin": "opening the data",
    "first_rows": "reading the first rows",
    "learn": "reading and training",
    "test": "evaluating the test file",
    "save": "saving model and state",
    "evaluate": "evaluating for this page",
}


def stages(trace: Trace) -> str:
    """Return the time per stage."""
    known = {name: value for name, value in trace.stages.items() if value is not None}
    if not known:
        return ""
    longest = max(known.values())
    lines = [
        [text(_STAGES.get(name, name)), bar(value / max(longest, 1e-300)), seconds(value)]
        for name, value in known.items()
    ]
    return table(lines, numbers_from=2)


def strongest(trace: Trace) -> str:
    """Return all features that the trace has, for reference."""
    entries = (trace.model or {}).get("strongest", [])
    if not entries:
        return ""
    has_names, has_labels = any("name" in e for e in entries), any("label" in e for e in entries)
    heads = ["feature", *(["name"] if has_names else []), *(["class"] if has_labels else []), "importance", "weight"]
    lines = []
    for entry in entries:
        line = [str(entry["index"])]
        line += [text(entry.get("name", ""))] if has_names else []
        line += [text(entry.get("label", ""))] if has_labels else []
        weight = "curve" if entry["weight"] != entry["weight"] else f"{entry['weight']:.6g}"
        lines.append([*line, number(entry.get("importance")), weight])
    rows = table(lines, heads, numbers_from=len(heads) - 2)
    return f"<details><summary>the {len(entries)} strongest, as a table</summary>{rows}</details>"


def _rows_of_columns(trace: Trace) -> tuple[list[Any], str]:
    """Return the columns with their shares, and whose rows these are."""
    try:
        evaluation = trace.evaluation()
    except TraceError:
        return [], "training"
    return evaluation.get("columns") or [], str(evaluation.get("rows"))


def about_columns(trace: Trace, n_curves: int, n_shown: int, classes: Sequence[str]) -> str:
    """Return how to read pictures and shares of columns."""
    found, rows = _rows_of_columns(trace)
    about = []
    if n_curves > 0:
        margin = "the margin (the logarithm of the odds, the score of a class, or the number)"
        about += [f"A line shows what a column adds to {margin}.", f"The bars are the {rows} rows."]
        if classes:
            about.append("Classes: " + ", ".join(f"{name} {color}" for color, name in zip(_COLOURS, classes)) + ".")
    if found:
        about.append(f"Percentages are shares in the variance of the margins of the {rows} rows; they add up to 100 %.")
    if n_curves > n_shown:
        about.append(f"{n_shown} of {n_curves} columns that bend are shown.")
    return f'<p class="note">{text(" ".join(about))}</p>'


def about_pairs(trace: Trace, n_shown: int) -> str:
    """Return how to read the maps of pairs, if there are some."""
    n_pairs = len((trace.model or {}).get("pairs") or [])
    if n_pairs == 0:
        return ""
    about = "A map shows what two columns add together, beside their own lines: orange is higher, blue lower."
    if n_pairs > n_shown:
        about += f" {n_shown} of {n_pairs} pairs are shown."
    return f'<p class="note">{text(about)}</p>'


def columns(trace: Trace) -> str:
    """Return the share of every column in the variance of the margins."""
    found, _rows = _rows_of_columns(trace)
    if not found:
        return ""
    bend = {one["name"] for one in (trace.model or {}).get("curves") or []}
    lines = [
        [
            text(one["column"]),
            "curve" if one["column"] in bend else "",
            bar(one["share"]),
            f"{100 * one['share']:.2f} %",
        ]
        for one in found[:_MAX_COLUMNS]
    ]
    shown = table(lines, ["column", "", "", "share"], numbers_from=3)
    return f"<details><summary>the shares of {len(lines)} columns, as a table</summary>{shown}</details>"


def intercepts(trace: Trace) -> str:
    """Return the constant terms, if they are few."""
    values = (trace.model or {}).get("intercept")
    if not values:
        return ""
    shown = ", ".join(number(value) for value in values[:10]) + (" ..." if len(values) > 10 else "")
    return f'<p class="note">Intercept{"s" if len(values) > 1 else ""}: {text(shown)}</p>'


def how(trace: Trace) -> str:
    """Return parameters, versions and machine."""
    start = trace.start
    lines = [[text(name.replace("_", " ")), text(value)] for name, value in start.get("parameters", {}).items()]
    versions = ", ".join(f"{name} {version or 'none'}" for name, version in start.get("versions", {}).items())
    threads = start.get("threads")
    lines.append(["versions", text(versions)])
    lines.append(["processors", number(start.get("processors"))])
    lines.append(["threads", "one per processor" if threads == "auto" else text(threads)])
    return table(lines)
