"""Failures of the library, as exceptions."""

from __future__ import annotations

from ctypes import byref
from typing import Any

from . import _library as c


class GreedystepError(RuntimeError):
    """A call of the library failed.

    Attributes
    ----------
    status : int
        The number of the status, as in ``greedystep.h``.
    line, byte : int or None
        Where in the input, if it is text.
    row : int or None
        Row of the data handed in, from 0.
    param : str or None
        The keyword that it concerns, such as ``"loss"``.
    """

    status = c.UNSUPPORTED
    line: int | None = None
    byte: int | None = None
    row: int | None = None
    param: str | None = None


class GreedystepValueError(GreedystepError, ValueError):
    """Arguments or data that cannot be learned from."""


class GreedystepMemoryError(GreedystepError, MemoryError):
    """There is not enough memory."""


class GreedystepIOError(GreedystepError, OSError):
    """Reading or writing failed."""


_CLASSES: dict[int, type[GreedystepError]] = {
    c.MEMORY: GreedystepMemoryError,
    c.ARGUMENT: GreedystepValueError,
    c.INPUT: GreedystepValueError,
    c.FORMAT: GreedystepValueError,
    c.LABEL: GreedystepValueError,
    c.CONFLICT: GreedystepValueError,
    c.IO: GreedystepIOError,
}


def _exception_of(status: int, error: c.Error) -> BaseException:
    """Return the exception for a failed call."""
    message = error.message.decode("utf-8", "replace")
    if not message:
        message = c.text_of(c.library().gsa_status_text(status)) or "unknown error"
    if status == c.STOPPED:
        return KeyboardInterrupt(message)
    param = error.param.decode()
    hint = f" ({param}=...)" if param not in ("", "memory_limit") else ""
    made = _CLASSES.get(status, GreedystepError)(message + hint)
    made.status = status
    made.param = param or None
    if error.line:
        made.line, made.byte = error.line, error.byte
    if error.row != c.NO_ROW:
        made.row = error.row
    return made


def call(name: str, *arguments: Any, may_end: bool = False) -> int:
    """Call a function of the library whose last parameter is an error; return OK or, with `may_end`, END."""
    error = c.Error()
    error.row = c.NO_ROW
    status: int = getattr(c.library(), name)(*arguments, byref(error))
    if status != c.OK and not (may_end and status == c.END):
        raise _exception_of(status, error)
    return status


def fill(error: Any, status: int, message: str) -> int:
    """Fill in the error of a callback and return its status."""
    if error:
        error.contents.status = status
        error.contents.row = c.NO_ROW
        error.contents.param = b""
        error.contents.message = message.encode("utf-8", "replace")[:511]
    return status
