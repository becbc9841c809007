"""Linear models with nothing to tune.

>>> import greedystep
>>> model = greedystep.train("clicks.csv", label="clicked")  # doctest: +SKIP
>>> greedystep.GreedystepClassifier().fit(X, y).score(X, y)  # doctest: +SKIP
"""

from __future__ import annotations

import importlib as _importlib
import typing as _typing

from ._errors import (
    GreedystepError,
    GreedystepIOError,
    GreedystepMemoryError,
    GreedystepValueError,
)
from ._library import version as _version
from .callbacks import Event, NoticeWarning, ProgressBar
from .comparison import compare
from .model import Model
from .training import load, train

if _typing.TYPE_CHECKING:
    from .estimators import GreedystepClassifier, GreedystepLinearSVC, GreedystepRegressor

__version__ = _version()

_ESTIMATORS = ("GreedystepClassifier", "GreedystepLinearSVC", "GreedystepRegressor")
_MODULES = ("callbacks", "distributed", "plot", "report", "spark")

__all__ = [
    "Event",
    "GreedystepClassifier",
    "GreedystepError",
    "GreedystepIOError",
    "GreedystepLinearSVC",
    "GreedystepMemoryError",
    "GreedystepRegressor",
    "GreedystepValueError",
    "Model",
    "NoticeWarning",
    "ProgressBar",
    "compare",
    "load",
    "train",
]


def __getattr__(name: str) -> _typing.Any:
    """Import a name on first use: estimators need scikit-learn, figures need matplotlib."""
    if name in _MODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'greedystep' has no attribute {name!r}")
    try:
        from . import estimators
    except ImportError as failure:
        raise ImportError(f"greedystep.{name} needs scikit-learn: pip install scikit-learn") from failure
    return getattr(estimators, name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__doc__", "__version__"])
