"""Our results beside the published ones: the indexes that the page and the figures read, and the tables' contents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from datasets import DATASETS, PAPER_SPLIT, Dataset
from grid import PUBLISHED, RESULTS, published_parameters
from shared import Line, read_table

METRICS = ("loss", "accuracy", "auc")
PUBLISHED_COLUMN = {"loss": "loss", "accuracy": "precision", "auc": "auc"}
WITHIN = 0.02
GSA = ("paper", "average=last")
SUFFIX = ("paper", "average=suffix")
Method = tuple[str, str]


@dataclass(frozen=True)
class Value:
    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.mean):
            return "diverges"
        return f"{self.mean:.3f}" if self.mean < 100 else f"{self.mean:.0f}"

    def with_spread(self) -> str:
        return str(self) if math.isnan(self.mean) else f"{self.mean:.3f} ({self.low:.3f}..{self.high:.3f})"


def as_float(text: str) -> float:
    return float(text) if text else math.nan


class Results:
    """Lookup by (data, protocol, (method, parameters), pass)."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.cells: dict[tuple[str, str, Method, int], Line] = {}
        for line in lines:
            key = (line["data"], line["protocol"], (line["method"], line["parameters"]), int(line["pass"]))
            self.cells[key] = line

    def value(self, data: str, protocol: str, method: Method, at: int, metric: str) -> Value | None:
        line = self.cells.get((data, protocol, method, at))
        if line is None or (not line[metric] and metric != "loss"):
            return None
        return Value(*(as_float(line[metric + end]) for end in ("", "_min", "_max")))

    def methods(self, data: str, protocol: str, name: str) -> list[Method]:
        """In the order of the file, which is the paper's."""
        found = (method for d, p, method, _ in self.cells if (d, p, method[0]) == (data, protocol, name))
        return list(dict.fromkeys(found))

    def curve(self, data: str, protocol: str, method: Method, metric: str) -> list[tuple[int, Value]]:
        found = []
        for d, p, m, at in self.cells:
            if (d, p, m) == (data, protocol, method):
                value = self.value(data, protocol, method, at, metric)
                if value is not None:
                    found.append((at, value))
        return sorted(found, key=lambda pair: pair[0])

    def has(self, data: str, protocol: str) -> bool:
        return any((d, p) == (data, protocol) for d, p, _, _ in self.cells)


class Published:
    """Lookup by (data, (method, parameters), pass label)."""

    def __init__(self) -> None:
        self.cells: dict[tuple[str, Method, int], Line] = {}
        for row in read_table(PUBLISHED):
            method = GSA if row["method"] == "GSA" else (row["method"].lower(), published_parameters(row["parameters"]))
            self.cells[(row["dataset"], method, int(row["pass"]))] = row

    def value(self, data: str, method: Method, at: int, metric: str) -> float:
        row = self.cells.get((data, method, at))
        return math.nan if row is None else as_float(row[PUBLISHED_COLUMN[metric]])

    def methods(self, data: str) -> list[Method]:
        return list(dict.fromkeys(m for d, m, _ in self.cells if d == data and m[0] != "best-printed"))

    def passes(self, data: str) -> list[int]:
        return sorted({at for d, _, at in self.cells if d == data})


def true_pass(dataset: Dataset, label: int) -> int:
    """The pass that a column of the paper shows; the last of three sets is labelled 10 and is 5."""
    return dataset.true_last_pass if label == dataset.passes else label


def load() -> tuple[Results, Published]:
    return Results(read_table(RESULTS)), Published()


def present(results: Results) -> list[Dataset]:
    return [dataset for dataset in DATASETS if results.has(dataset.name, PAPER_SPLIT)]


def better(metric: str, a: float, b: float) -> bool:
    return a < b if metric == "loss" else a > b


def errors(scores: Sequence[tuple[float, Sequence[float]]], metric: str) -> tuple[float, int, int]:
    """The paper's mean(Err) and #best over (GSA, the others) pairs: Err = GSA - best of the others."""
    differences, firsts = [], 0
    for gsa, others in scores:
        finite = [value for value in others if not math.isnan(value)]
        if math.isnan(gsa) or not finite:
            continue
        best = min(finite) if metric == "loss" else max(finite)
        differences.append(gsa - best)
        firsts += not better(metric, round(best, 3), round(gsa, 3))
    return (math.fsum(differences) / len(differences) if differences else math.nan), firsts, len(differences)


def column_scores(
    results: Results, published: Published, datasets: Sequence[Dataset], which: int, metric: str, ours: bool
) -> list[tuple[float, list[float]]]:
    """(GSA, others) for the which-th column (0, 1, 2) of the paper's tables; ours on the paper's grid only."""
    scores = []
    for dataset in datasets:
        label = published.passes(dataset.name)[which]
        values = []
        for method in published.methods(dataset.name):
            if ours:
                value = results.value(dataset.name, PAPER_SPLIT, method, true_pass(dataset, label), metric)
                values.append((method, value.mean if value else math.nan))
            else:
                values.append((method, published.value(dataset.name, method, label, metric)))
        gsa = next(value for method, value in values if method == GSA)
        scores.append((gsa, [value for method, value in values if method != GSA]))
    return scores


def rate(method: Method) -> float:
    return float(method[1].removeprefix("r="))


def best_rate(results: Results, data: str, at: int) -> tuple[float, float, list[float]]:
    """The constant rate with the least test loss, that loss, and all rates within 2 % of it."""
    tried = []
    for method in results.methods(data, PAPER_SPLIT, "sgd"):
        value = results.value(data, PAPER_SPLIT, method, at, "loss")
        if value and not math.isnan(value.mean):
            tried.append((value.mean, rate(method)))
    loss, best = min(tried)
    close = [r for mean, r in tried if mean <= 1.02 * loss]
    return best, loss, sorted(close)
