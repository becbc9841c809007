"""Keywords that no function has, and which of those there are was perhaps meant."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Callable


def check_keywords(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError, as Python does, for the first keyword that is not known."""
    names = list(known)
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


def suggests_keywords(init: Callable[..., None]) -> Callable[..., None]:
    """Let an ``__init__`` suggest keywords; Python does so by itself from 3.13 on."""
    known = list(inspect.signature(init).parameters)[1:]

    @functools.wraps(init)
    def checked(self: Any, *arguments: Any, **given: Any) -> None:
        check_keywords(type(self).__name__, given, known)
        init(self, *arguments, **given)

    return checked
