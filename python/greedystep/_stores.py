"""Files in object stores, such as s3://bucket/name: opened by pyarrow.fs or fsspec, read by the library."""

from __future__ import annotations

import contextlib
import ctypes
import fnmatch
import itertools
from collections.abc import Iterator, Sequence
from ctypes import byref
from typing import Any

from . import _library as c
from ._core import Reader, new_object, path_bytes
from ._errors import fill
from ._run import Run, counted_memory

_MAGIC = "*?["


def is_elsewhere(path: str) -> bool:
    """Return whether a path names a file in an object store."""
    return "://" in path


def _arrow_system(path: str) -> tuple[Any, str] | None:
    """Return pyarrow's file system for an address and the path in it; None if pyarrow has none."""
    try:
        from pyarrow import fs
    except ImportError:
        return None
    try:
        found: tuple[Any, str] = fs.FileSystem.from_uri(path)
    except (ValueError, NotImplementedError):  # an address that it does not know, https:// for instance
        return None
    return found


def _other_system(path: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise ImportError(f"cannot open {path}: install pyarrow for s3:// and gs://, fsspec for others") from None
    found: tuple[Any, str] = fsspec.core.url_to_fs(path)
    return found


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Make errors name the file, if it is in an object store; those of the system do so already."""
    try:
        yield
    except OSError as failure:
        if not is_elsewhere(path) or path in str(failure):
            raise
        raise OSError(f"cannot read {path}: {failure}") from failure


def open_file(path: str) -> Any:
    """Return a file object at the first byte, with read, seek, size and close."""
    found = _arrow_system(path)
    if found is not None:
        return found[0].open_input_file(found[1])
    system, name = _other_system(path)
    return system.open(name, "rb")


def names_of(path: str) -> list[str]:
    """Return the files that a pattern names, in the order of their names."""
    if path.startswith("http") or not any(sign in path for sign in _MAGIC):
        return [path]
    begin = path[: min(path.index(sign) for sign in _MAGIC if sign in path)].rpartition("/")[0]
    found = _arrow_system(begin)
    if found is None:
        system, name = _other_system(path)
        names = sorted(system.unstrip_protocol(one) for one in system.glob(name))
    else:
        from pyarrow import fs

        place = begin[: len(begin) - len(found[1])]
        infos = found[0].get_file_info(fs.FileSelector(found[1], recursive=True))
        names = sorted(place + one.path for one in infos if one.is_file)
        names = [one for one in names if fnmatch.fnmatchcase(one, path) and one.count("/") == path.count("/")]
    if not names:
        raise FileNotFoundError(f"no object matches {path}")
    return names


def _size_of(file: Any) -> int:
    size = file.size
    return int(size() if callable(size) else size)


class _Files:
    """The library's callbacks; open files are identified by numbers."""

    def __init__(self) -> None:
        self._files: dict[int, tuple[Any, str]] = {}
        self._numbers = itertools.count(1)
        self.struct = c.FileSource(
            open=c.OpenFile(self._open),
            read=c.ReadFile(self._read),
            seek=c.SeekFile(self._seek),
            close=c.CloseFile(self._close),
        )

    def _open(self, _ctx: Any, path: bytes, out: Any, n_bytes: Any, error: Any) -> int:
        name = path.decode()
        try:
            file = open_file(name)
            n_bytes[0] = _size_of(file)
        except Exception as failure:
            return _fail(error, "open", name, failure)
        number = out[0] = next(self._numbers)
        self._files[number] = (file, name)
        return c.OK

    def _read(self, number: int, place: int, size: int, got: Any, error: Any) -> int:
        file, name = self._files[number]
        try:
            data = file.read(size)
        except Exception as failure:
            return _fail(error, "read", name, failure)
        ctypes.memmove(place, data, len(data))
        got[0] = len(data)
        return c.OK

    def _seek(self, number: int, at: int, error: Any) -> int:
        file, name = self._files[number]
        try:
            file.seek(at)
        except Exception as failure:
            return _fail(error, "seek in", name, failure)
        return c.OK

    def _close(self, number: int) -> None:
        self._files.pop(number)[0].close()


def _fail(error: Any, what: str, name: str, failure: Exception) -> int:
    return fill(error, c.IO, f"cannot {what} {name}: {' '.join(str(failure).split())}")


def open_files(paths: Sequence[str], options: c.ReaderOptions, run: Run) -> Reader:
    """Return a reader of text files and caches in object stores, which spills their rows for later passes."""
    files = _Files()
    options.files = ctypes.pointer(files.struct)
    array = (ctypes.c_char_p * len(paths))(*map(path_bytes, paths))
    pointer = new_object(
        "gsa_reader_open", array, len(paths), byref(options), byref(counted_memory()), byref(run.struct)
    )
    return Reader(pointer, (run, files), is_dear=True)
