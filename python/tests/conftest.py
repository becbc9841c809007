"""What the tests share: data sets, and the command that was installed with the package."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from greedystep.comparison import command


def run_command(*words: object, stdin: Path | None = None) -> str:
    """Run the command and return what it printed."""
    feed = None if stdin is None else stdin.open("rb")
    done = subprocess.run([command(), *map(str, words)], stdin=feed, capture_output=True, text=True, check=False)
    if feed:
        feed.close()
    assert done.returncode == 0, done.stderr
    return done.stdout


def planted(n_rows: int, n_features: int, n_classes: int, seed: int = 0):
    """Return CSR of float32 and labels from a planted linear model; 1 class: numbers."""
    random = np.random.default_rng(seed)
    X = sparse.random(
        n_rows,
        n_features,
        0.2,
        "csr",
        dtype=np.float32,
        random_state=random,
        data_rvs=random.random,
    )
    X.data = np.round(X.data * 8 + 1).astype(np.float32) / 8
    margins = X @ random.normal(size=(n_features, n_classes))
    if n_classes == 1:
        return X, np.round(margins[:, 0] + random.normal(size=n_rows), 3)
    return X, (margins + random.gumbel(size=margins.shape)).argmax(axis=1)


def write_libsvm(path: Path, X, y) -> Path:
    """Write rows as text, so that what is read back is exactly what was given."""
    with path.open("w") as file:
        for row in range(X.shape[0]):
            part = slice(X.indptr[row], X.indptr[row + 1])
            entries = zip(X.indices[part], X.data[part])
            words = [repr(float(y[row])), *(f"{i + 1}:{float(v)!r}" for i, v in sorted(entries))]
            file.write(" ".join(words) + "\n")
    return path


def assert_same_model(one, other) -> None:
    """Compare all weights bit for bit: of straight lines, of curves at their knots, of pairs at their nodes."""
    one, other = (getattr(model, "model_", model) for model in (one, other))
    assert np.array_equal(one._model.weights(), other._model.weights())
    assert np.array_equal(one.intercept, other.intercept)
    assert [curve.knots.tolist() for curve in one.curves()] == [curve.knots.tolist() for curve in other.curves()]
    assert [[knots.tolist() for knots in pair.knots] for pair in one.pairs()] == [
        [knots.tolist() for knots in pair.knots] for pair in other.pairs()
    ]


@pytest.fixture(params=[1, 2, 5], ids=["numbers", "two classes", "five classes"])
def rows(request):
    """Rows with numbers, two classes or five."""
    return (*planted(1300, 40, request.param, seed=3), request.param)


@pytest.fixture(autouse=True)
def _ctrl_c():
    """A shell lets what it runs in the background ignore Ctrl-C, and Python then does too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
