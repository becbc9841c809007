"""The paper's methods as plain numpy loops, a second implementation beside `greedystep compare`.

It is for what `compare` does not print: the loss that the paper's tables really hold (printed.py), single iterates
(theory.py), and variants of the algorithm that might explain a number (hypotheses.py). Rows are sparse; two classes
have one output (logistic regression), more have one each (softmax).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from datasets import Files
from shared import unpack

P_HAT = 0.95


@dataclass(frozen=True)
class Rows:
    """Rows in compressed form; labels are class numbers from 0, in the order of the sorted labels of the file."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    labels: np.ndarray
    n_columns: int
    n_classes: int

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, which: np.ndarray) -> Rows:
        lengths = np.diff(self.starts)[which]
        starts = np.concatenate(([0], np.cumsum(lengths)))
        cells = np.repeat(self.starts[which] - starts[:-1], lengths) + np.arange(starts[-1])
        return Rows(starts, self.columns[cells], self.values[cells], self.labels[which], self.n_columns, self.n_classes)

    def with_intercept(self) -> Rows:
        ends = self.starts[1:]
        return Rows(
            self.starts + np.arange(len(self.starts)),
            np.insert(self.columns, ends, self.n_columns),
            np.insert(self.values, ends, 1.0),
            self.labels,
            self.n_columns + 1,
            self.n_classes,
        )

    def margins(self, weights: np.ndarray) -> np.ndarray:
        """[rows x outputs], in slices that keep the products small."""
        out = np.zeros((len(self), weights.shape[1]))
        step = max(1, 20_000_000 // (weights.shape[1] * max(1, int(np.diff(self.starts).max()))))
        for first in range(0, len(self), step):
            last = min(first + step, len(self))
            low, high = self.starts[first], self.starts[last]
            products = self.values[low:high, None] * weights[self.columns[low:high]]
            rows = np.repeat(np.arange(last - first), np.diff(self.starts[first : last + 1]))
            for k in range(weights.shape[1]):
                out[first:last, k] = np.bincount(rows, products[:, k], last - first)
        return out


def read_libsvm(paths: list[Path]) -> list[Rows]:
    """Several files with one set of labels and columns (a training and a test file)."""
    raw = []
    for path in paths:
        labels: list[float] = []
        lengths: list[int] = []
        cells: list[str] = []
        with open(path, encoding="ascii") as lines:
            for line in lines:
                words = line.replace(":", " ").split()
                labels.append(float(words[0]))
                lengths.append((len(words) - 1) // 2)
                cells.extend(words[1:])
        flat = np.array(cells, dtype=np.float64)
        raw.append((np.array(labels), np.array(lengths), flat[0::2].astype(np.int64) - 1, flat[1::2]))
    classes = np.unique(np.concatenate([labels for labels, _, _, _ in raw]))
    n_columns = 1 + max(int(columns.max()) for _, _, columns, _ in raw)
    return [
        Rows(
            np.concatenate(([0], np.cumsum(lengths))),
            columns,
            values,
            np.searchsorted(classes, labels),
            n_columns,
            len(classes),
        )
        for labels, lengths, columns, values in raw
    ]


def read_set(files: Files, with_test: bool, folder: Path) -> list[Rows]:
    """The rows of a set: all of its training file, which split() is for, or training and test file."""
    paths = [files.train, files.test] if with_test and files.test else [files.train]
    return read_libsvm([unpack(path, folder) for path in paths])


def sigmoid(m: np.ndarray | float) -> np.ndarray:
    return 0.5 * (1 + np.tanh(0.5 * np.asarray(m)))


def probabilities(margins: np.ndarray, n_classes: int) -> np.ndarray:
    """[rows x classes] from [rows x outputs]; one output fewer than classes (three or more): class 0 has margin 0."""
    if margins.shape[1] == 1 and n_classes == 2:
        p = sigmoid(margins)
        return np.hstack((1 - p, p))
    if margins.shape[1] == n_classes - 1:
        margins = np.hstack((np.zeros((len(margins), 1)), margins))
    shifted = np.exp(margins - margins.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def greedy_step(p: np.ndarray, label: int, p_hat: float = P_HAT) -> float:
    """The paper's approximate step times x.x, softmax form."""
    pk = float(p[label])
    if len(p) == 2:
        q = 1 - pk
        spread = pk * math.expm1(pk) + q * math.expm1(q)
        return (p_hat - pk) / (p_hat * spread + pk * math.expm1(q))
    return float((p_hat - pk) / (p_hat * np.dot(p, np.expm1(p)) + pk * np.expm1(1 - pk)))


@dataclass
class Variant:
    """What a hypothesis changes; the default is Algorithm 1 as the library has it."""

    p_hat: float = P_HAT
    reference_class: bool = False  # class 0 has no weights
    extra_length: float = 0.0  # added to x.x in the greedy step


class Learner:
    """Weights and one row's update. gradient() leaves probabilities in p and gradient scales in g."""

    def __init__(self, rows: Rows, variant: Variant) -> None:
        self.rows = rows
        self.variant = variant
        self.first_class = 1 if rows.n_classes == 2 or variant.reference_class else 0
        shape = (rows.n_columns, rows.n_classes - self.first_class)
        self.w = np.zeros(shape)
        self.t = 0
        self.step = float("nan")

    def gradient(self, w: np.ndarray, i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        rows = self.rows
        low, high = rows.starts[i], rows.starts[i + 1]
        columns, x = rows.columns[low:high], rows.values[low:high]
        if rows.n_classes == 2:
            p1 = 0.5 * (1 + math.tanh(0.5 * float(x @ w[columns, 0])))
            p = np.array((1 - p1, p1))
        else:
            p = probabilities((x @ w[columns])[None, :], rows.n_classes)[0]
        g = p.copy()
        g[rows.labels[i]] -= 1
        return columns, x, p, g[self.first_class :]

    def learn(self, i: int) -> None:
        raise NotImplementedError


class Gsa(Learner):
    total = 0.0

    def learn(self, i: int) -> None:
        columns, x, p, g = self.gradient(self.w, i)
        xx = float(x @ x)
        if xx == 0:
            return
        self.t += 1
        scale = 2.0 if self.rows.n_classes == 2 else 1.0
        self.total += scale * greedy_step(p, self.rows.labels[i], self.variant.p_hat) / (xx + self.variant.extra_length)
        self.step = self.total / self.t
        self.w[columns] -= self.step * x[:, None] * g


class Sgd(Learner):
    def __init__(self, rows: Rows, variant: Variant, rate: float) -> None:
        super().__init__(rows, variant)
        self.step = rate

    def learn(self, i: int) -> None:
        columns, x, _, g = self.gradient(self.w, i)
        self.w[columns] -= self.step * x[:, None] * g


class Adadelta(Learner):
    """gamma = (t-1)/t: plain means. The form is where eps stands:

    zeiler   sqrt(E[D^2] + eps) / sqrt(E[g^2] + eps)       the original, and `greedystep compare`
    printed  sqrt(E[D^2] + eps) / (sqrt(E[g^2]) + eps)     the paper's text
    outside  (sqrt(E[D^2]) + eps) / (sqrt(E[g^2]) + eps)
    """

    def __init__(self, rows: Rows, variant: Variant, eps: float, form: str) -> None:
        super().__init__(rows, variant)
        self.eps, self.form = eps, form
        self.squares, self.moves = np.zeros_like(self.w), np.zeros_like(self.w)

    def learn(self, i: int) -> None:
        columns, x, _, g = self.gradient(self.w, i)
        self.t += 1
        gradient = x[:, None] * g
        self.squares[columns] += gradient**2
        squares = self.squares[columns] / self.t
        moves = self.moves[columns] / max(1, self.t - 1)
        below = np.sqrt(squares + self.eps) if self.form == "zeiler" else np.sqrt(squares) + self.eps
        above = np.sqrt(moves) + self.eps if self.form == "outside" else np.sqrt(moves + self.eps)
        move = above / below * gradient
        self.moves[columns] += move**2
        self.w[columns] -= move


class Scsg(Learner):
    def __init__(self, rows: Rows, variant: Variant, rng: np.random.Generator, rate: float, batch: int) -> None:
        super().__init__(rows, variant)
        self.step, self.batch, self.rng, self.left = rate, min(batch, len(rows)), rng, 0

    def _snapshot(self) -> None:
        self.v, self.mu = self.w.copy(), np.zeros_like(self.w)
        for j in self.rng.choice(len(self.rows), self.batch, replace=False):
            columns, x, _, g = self.gradient(self.v, j)
            self.mu[columns] += x[:, None] * g / self.batch
        self.left = self.rng.geometric(1 / self.batch)

    def learn(self, i: int) -> None:
        if self.left == 0:
            self._snapshot()
        self.left -= 1
        columns, x, _, g = self.gradient(self.w, i)
        anchor = self.gradient(self.v, i)[3]
        self.w -= self.step * self.mu
        self.w[columns] -= self.step * x[:, None] * (g - anchor)


def make(method: str, rows: Rows, rng: np.random.Generator, variant: Variant | None = None) -> Learner:
    """A learner from the text that `greedystep compare --methods` takes, and adadelta:EPS:FORM."""
    variant = variant or Variant()
    name, *knobs = method.split(":")
    if name == "paper":
        return Gsa(rows, variant)
    if name == "sgd":
        return Sgd(rows, variant, float(knobs[0]))
    if name == "adadelta":
        return Adadelta(rows, variant, float(knobs[0]), knobs[1] if len(knobs) > 1 else "zeiler")
    if name == "scsg":
        return Scsg(rows, variant, rng, float(knobs[0]), int(knobs[1]))
    raise ValueError(f"no loop for {method}")


Order = Callable[[np.random.Generator, int], np.ndarray]


def shuffled(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.permutation(n)


def as_stored(rng: np.random.Generator, n: int) -> np.ndarray:  # noqa: ARG001 (one signature for all orders)
    return np.arange(n)


def drawn(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(0, n, n)


def run(learner: Learner, n_passes: int, rng: np.random.Generator, order: Order = shuffled) -> Iterator[np.ndarray]:
    """The weights after every pass."""
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(n_passes):
            for i in order(rng, len(learner.rows)):
                learner.learn(i)
            yield learner.w


def split(rows: Rows, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """80/20: a fifth of the rows, drawn, is the test part; the rest stays in the order of the file."""
    which = np.zeros(len(rows), dtype=bool)
    which[rng.permutation(len(rows))[: max(1, len(rows) // 5)]] = True
    return rows.take(np.flatnonzero(~which)), rows.take(np.flatnonzero(which))
