"""Suggestions for misspelt keywords, and an answer to those that other packages have."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Callable, TypeVar, cast

# Hyperparameters that the field's linear models have, and what happens here instead.
_PENALTY = "the strength of the penalty is chosen by cross-validation"
_KIND = "the penalty is L2, and its strength is chosen by cross-validation"
_STOP = "training stops by itself, once it has converged or the held-out loss stops falling"
_STEP = "there is no learning rate to set"
_NOT_NEEDED = {
    **dict.fromkeys(("C", "Cs", "alpha", "alphas", "reg", "reg_alpha", "reg_lambda", "regParam", "lambda_"), _PENALTY),
    **dict.fromkeys(("l1", "l2", "weight_decay"), _PENALTY),
    **dict.fromkeys(("penalty", "l1_ratio", "elasticNetParam"), _KIND),
    **dict.fromkeys(("max_iter", "maxIter", "n_iter", "n_iter_no_change", "tol", "early_stopping", "epochs"), _STOP),
    **dict.fromkeys(("n_epochs", "num_passes", "validation_fraction"), _STOP),
    **dict.fromkeys(("learning_rate", "lr", "eta", "eta0", "power_t", "momentum", "batch_size", "optimizer"), _STEP),
    **dict.fromkeys(("solver", "dual", "multi_class"), "the solver is chosen by the size of the data"),
    **dict.fromkeys(("normalize", "standardize", "scaler"), "features are scaled as they need it"),
}

Function = TypeVar("Function", bound=Callable[..., Any])


def meant(name: str, known: Iterable[str]) -> str:
    """Return a "did you mean" for the nearest name; "" if none is near."""
    near = get_close_matches(name, list(known), 1)
    return f"did you mean {near[0]!r}?" if near else ""


def not_needed(name: str) -> str:
    """Return why a hyperparameter of other packages is not a parameter here; "" for all other names."""
    reason = _NOT_NEEDED.get(name, "")
    return reason and f"greedystep has no parameter {name}: {reason}; leave it out"


def check_keywords(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError, as Python does, for the first keyword that is not known."""
    names = list(known)
    for name in given:
        if name not in names:
            if not_needed(name):
                raise TypeError(not_needed(name))
            near = meant(name, names)
            hint = f"; {near}" if near else ""
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


def suggests_keywords(method: Function) -> Function:
    """Make a method suggest keywords; Python does so by itself from 3.13 on."""
    known = list(inspect.signature(method).parameters)[1:]

    @functools.wraps(method)
    def checked(self: Any, *arguments: Any, **given: Any) -> Any:
        name = "" if method.__name__ == "__init__" else f".{method.__name__}"
        check_keywords(type(self).__name__ + name, given, known)
        return method(self, *arguments, **given)

    return cast(Function, checked)
