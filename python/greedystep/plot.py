"""Figures of runs and models.

Every function draws into the given axes, or into a new figure, and returns the axes. A run is the file that
``greedystep train --trace run.jsonl`` writes, finished or not; figures of predictions also take arrays:

>>> from greedystep import plot
>>> plot.loss("run.jsonl")                                     # doctest: +SKIP
>>> plot.roc(y_test, model.predict_proba(X_test)[:, 1])        # doctest: +SKIP

Needs matplotlib; nothing here needs the compiled library.
"""

from __future__ import annotations

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError("figures need matplotlib: `pip install matplotlib`") from error

from .plot_classes import classes, confusion
from .plot_columns import curves
from .plot_comparison import comparison
from .plot_curves import calibration, precision_recall, roc
from .plot_numbers import predictions, residuals
from .plot_pairs import pairs
from .plot_run import loss, passes, step
from .plot_trace import Trace, TraceError, read_trace
from .plot_weights import weights

__all__ = [
    "Trace",
    "TraceError",
    "calibration",
    "classes",
    "comparison",
    "confusion",
    "curves",
    "loss",
    "pairs",
    "passes",
    "precision_recall",
    "predictions",
    "read_trace",
    "residuals",
    "roc",
    "step",
    "weights",
]
