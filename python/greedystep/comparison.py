"""`compare`: compare optimisers on the same rows, with the command in the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterable
from ctypes import byref
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from ._core import new_object, path_bytes
from ._data import labels_of, paths_of
from ._errors import GreedystepError, call
from ._given import Given
from ._library import library
from ._rows import features_of
from ._run import counted_memory


def command() -> str:
    """Return the path of the command `greedystep` that was installed with the package."""
    given = os.environ.get("GREEDYSTEP_COMMAND")
    if given:
        return given
    try:
        files = metadata.files("greedystep") or []
    except metadata.PackageNotFoundError:
        files = []
    name = "greedystep.exe" if os.name == "nt" else "greedystep"
    candidates = [str(one.locate()) for one in files if one.name == name]
    candidates.append(os.path.join(sysconfig.get_path("scripts"), name))
    for candidate in candidates:
        if os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    found = shutil.which("greedystep")
    if found is None:
        raise FileNotFoundError("the command greedystep is not installed with the package")
    return found


def write_rows(path: str, X: Any, y: Any, sample_weight: Any = None) -> None:
    """Write rows in arrays as a file: a cache of parsed rows (.gsac), or libsvm text."""
    weights = None if sample_weight is None else np.asarray(sample_weight)
    given = Given(features_of(X), labels_of(y), weights)
    out = new_object("gsa_writer_open", path_bytes(path), None, byref(counted_memory()), None)
    try:
        for bounds in given.bounds():
            call("gsa_writer_write", out, byref(given.block(*bounds)))
    except BaseException:
        library().gsa_writer_discard(out)
        raise
    call("gsa_writer_close", out)


def compare(
    data: Any,
    y: Any = None,
    *,
    methods: str | Iterable[str] = ("gsa", "paper", "sgd:0.1", "adagrad:0.1"),
    test: str | None = None,
    passes: int = 5,
    seeds: int = 5,
    label: str | None = None,
    loss: str = "auto",
) -> Any:
    """Train several methods on the same rows and return their results.

    Parameters
    ----------
    data
        Files that the command reads, or an array or sparse matrix with `y` beside it.
    y : array, optional
        Labels of rows in arrays.
    methods : list of str
        As ``greedystep help compare`` lists them, such as "sgd:0.1".
    test : str, optional
        File of test rows; None: a fifth of the rows, a different one for every seed.
    passes, seeds : int
        Passes over the rows, and runs per method.
    label : str, optional
        The label column of a table.
    loss : {"auto", "squared", "logistic", "softmax"}
        The loss to minimise; "auto": by the labels.

    Returns
    -------
    pandas.DataFrame
        One row per method, seed, pass and split, with loss, accuracy, auc, mean_step and
        seconds.
    """
    import pandas

    names = methods if isinstance(methods, str) else ",".join(methods)
    with tempfile.TemporaryDirectory() as folder:
        paths = paths_of(data)
        if paths is None:
            paths = [os.path.join(folder, "rows.gsac")]
            write_rows(paths[0], data, y)
        result = os.path.join(folder, "result.csv")
        words = [command(), "compare", *paths, "--methods", names, "-o", result, "--quiet"]
        words += ["--passes", str(passes), "--seeds", str(seeds), "--loss", loss]
        words += ["--test", os.fspath(test)] if test is not None else []
        words += ["--label", label] if label is not None else []
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise GreedystepError(done.stderr.strip() or f"greedystep compare failed: {words}")
        frame = pandas.read_csv(result, keep_default_na=True)
    if y is not None:
        frame["data"] = "array"
    else:
        frame["data"] = frame["data"].map(lambda name: Path(str(name)).name)
    return frame
