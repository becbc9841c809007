"""Traces to draw, as `greedystep train --trace` writes them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

Event = dict[str, Any]
WICKED = "<script>alert('x')</script>"


def start(**more: Any) -> Event:
    event: Event = {
        "event": "start",
        "trace": 1,
        "date": "2026-11-15T12:00:00Z",
        "command": ["greedystep", "train", "a file.csv", "-o", "m", "--trace", "run.jsonl"],
        "versions": {"greedystep": "0.1.0", "zstd": None, "jansson": "2.14"},
        "processors": 2,
        "threads": "auto",
        "data": [{"path": "a file.csv", "bytes": 1234}],
        "test": None,
        "understood": "a file.csv: comma-separated, with a header",
        "model": "m",
        "resumed": False,
        "rows_before": 0,
        "parameters": {"loss": "auto", "passes": "0"},
    }
    event.update(more)
    return event


def progress(rows: int, number: int = 1, loss: float = 0.5, step: float = 0.01) -> Event:
    return {
        "event": "progress",
        "rows": rows,
        "pass": number,
        "progressive_loss": loss,
        "recent_loss": loss,
        "step": step,
        "seconds": rows / 1000,
    }


def passed(rows: int, number: int, loss: float = 0.5, step: float = 0.01, test: Event | None = None) -> Event:
    return {
        "event": "pass",
        "pass": number,
        "rows": rows,
        "rows_learned": rows,
        "progressive_loss": loss,
        "held_out_loss": 0.9 * loss,
        "step": step,
        "test": test,
        "seconds": rows / 1000,
    }


def end(**more: Any) -> Event:
    event: Event = {
        "event": "end",
        "status": "done",
        "loss": "logistic",
        "rows": 4096,
        "held_out": 0,
        "passes": 2,
        "progressive_loss": 0.5,
        "held_out_loss": 0.45,
        "step": 0.01,
        "bad_rows": 0,
        "peak_memory": 20_000_000,
        "seconds": 4.1,
    }
    event.update(more)
    return event


def model(labels: list[str], outputs: int = 1, names: bool = True) -> Event:
    strongest = []
    for i in range(30):
        entry: Event = {"index": i + 1, "importance": (30 - i) / 7, "weight": (30 - i) * (-1) ** i / 10}
        if names:
            entry["name"] = "town=" + (WICKED if i == 0 else f"$place_{i}$")
        if outputs > 1:
            entry["label"] = labels[i % outputs]
        strongest.append(entry)
    return {
        "event": "model",
        "loss": "logistic",
        "method": "auto",
        "average": "recent",
        "features": 100,
        "features_used": 30,
        "outputs": outputs,
        "classes": len(labels),
        "labels": labels,
        "nonzero_weights": 30,
        "intercept": [0.5] * outputs,
        "strongest": strongest,
    }


def learning() -> list[Event]:
    rows = [256 * i for i in range(1, 17)]
    events = [progress(r, 1 if r <= 2048 else 2, 1.2 / math.log(r)) for r in rows]
    events.insert(8, passed(2048, 1, 0.3))
    events.append(passed(4096, 2, 0.25))
    stages = [{"event": "stage", "stage": name, "seconds": 0.1} for name in ("begin", "learn", "save", "evaluate")]
    return [start(), *events, *stages]


def two_classes(
    labels: tuple[str, str] = ("no", WICKED), rows: str = "test", probabilities: bool = True
) -> list[Event]:
    scores: Event = {"score": [-2.0, -1.0, 0.5, 2.0], "positive": [1, 2, 3, 10], "negative": [10, 5, 4, 1]}
    metrics: Event = {"rows": 36, "log_loss": 0.4, "accuracy": 28 / 36, "auc": 0.84, "average_precision": 0.8}
    if probabilities:
        scores["probability"] = [0.12, 0.27, 0.62, 0.88]
    evaluation = {
        "event": "evaluation",
        "rows": rows,
        "file": "t.csv",
        "n_rows": 36,
        "complete": True,
        "metrics": metrics,
        "classes": [
            {"label": labels[0], "actual": 20, "predicted": 18, "correct": 15},
            {"label": labels[1], "actual": 16, "predicted": 18, "correct": 13},
        ],
        "confusion": [[15, 5], [3, 13]],
        "scores": scores,
    }
    data = {
        "event": "data",
        "rows": "training",
        "file": "a file.csv",
        "n_rows": 2048,
        "complete": True,
        "values": 8192,
        "values_least": 3,
        "values_most": 5,
        "weight": 2048,
        "classes": [{"label": labels[0], "weight": 1500}, {"label": labels[1], "weight": 548}],
    }
    return [*learning(), model(list(labels)), data, evaluation, end()]


def many_classes(n: int) -> list[Event]:
    labels = [f"class {i}" for i in range(n)]
    classes = [{"label": label, "actual": 10 + i, "predicted": 10, "correct": 9} for i, label in enumerate(labels)]
    evaluation: Event = {
        "event": "evaluation",
        "rows": "training",
        "file": "a",
        "n_rows": 100,
        "complete": False,
        "metrics": {"rows": 100, "log_loss": 0.4, "accuracy": 0.9, "f1_macro": None},
        "classes": classes,
        "confidence": {"confidence": [0.4, 0.9], "accuracy": [0.5, 0.92], "weight": [40, 60]},
    }
    if n <= 20:
        evaluation["confusion"] = [[9 if i == j else i % 2 for j in range(n)] for i in range(n)]
    return [*learning(), model(labels, outputs=n, names=False), evaluation, end(loss="softmax")]


def regression() -> list[Event]:
    evaluation = {
        "event": "evaluation",
        "rows": "training",
        "file": "a",
        "n_rows": 100,
        "complete": True,
        "metrics": {"rows": 100, "rmse": 0.3, "mae": 0.2, "r2": 0.9},
        "predictions": {
            "prediction": [-1.0, 0.0, 1.0],
            "weight": [30, 40, 30],
            "residual": [0.1, 0.0, -0.1],
            "deviation": [0.3, 0.2, 0.3],
        },
        "residuals": {"edges": [-1, 0, 1], "weight": [50, 48], "below": 1, "above": 1},
    }
    return [*learning(), model([], names=False), evaluation, end(loss="squared")]


def write(path: Path, events: list[Event], rest: str = "") -> Path:
    path.write_text("".join(json.dumps(event) + "\n" for event in events) + rest, encoding="utf-8")
    return path
