"""Suggestions for misspelt keywords."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Callable, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def meant(name: str, known: Iterable[str]) -> str:
    """Return a "did you mean" for the nearest name; "" if none is near."""
    near = get_close_matches(name, list(known), 1)
    return f"did you mean {near[0]!r}?" if near else ""


def check_keywords(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError, as Python does, for the first keyword that is not known."""
    names = list(known)
    for name in given:
        if name not in names:
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
