"""Keywords: constructors made from lists of parameters, suggestions for misspelt names, and an answer to those that
other packages have."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        """Return a decorator that does nothing: it is for type checkers."""
        return lambda decorator: decorator


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
T = TypeVar("T")


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
        check_keywords(f"{type(self).__name__}.{method.__name__}", given, known)
        return method(self, *arguments, **given)

    return cast(Function, checked)


@dataclass_transform(kw_only_default=True, eq_default=False)
def has_parameters(cls: type[T]) -> type[T]:
    """Make the ``__init__`` of a class from its annotated attributes with a value, those of its parents included.

    Each is a keyword, whose argument is stored as it is. So a parameter is listed once, and ``inspect.signature``,
    scikit-learn and type checkers find it.
    """
    known: dict[str, inspect.Parameter] = {}
    for one in reversed(cls.__mro__):
        for name, kind in vars(one).get("__annotations__", {}).items():
            if name in vars(one):
                known[name] = inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=vars(one)[name], annotation=kind
                )

    def __init__(self: Any, **given: Any) -> None:
        check_keywords(type(self).__name__, given, known)
        for name, parameter in known.items():
            setattr(self, name, given.get(name, parameter.default))

    myself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    __init__.__signature__ = inspect.Signature([myself, *known.values()])  # type: ignore[attr-defined]
    cls.__init__ = __init__  # type: ignore[method-assign]
    return cls


def adds_keywords(parent: type[Any]) -> Callable[[Function], Function]:
    """Give an ``__init__`` that hands ``**others`` to its parent's the signature of both."""

    def joined(init: Function) -> Function:
        inherited, own = (dict(inspect.signature(one).parameters) for one in (parent.__init__, init))
        named = {name: one for name, one in own.items() if one.kind is not inspect.Parameter.VAR_KEYWORD}
        init.__signature__ = inspect.Signature(list({**inherited, **named}.values()))  # type: ignore[attr-defined]
        return init

    return joined
