"""`train` and `load`."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _library as c
from ._core import CModel, Reader, State, parameters
from ._data import Rows, is_category
from ._errors import GreedystepError
from ._given import Given
from ._keywords import check_keywords
from ._run import Run
from ._schema import Names
from .callbacks import Callback, Hooks, NoticeWarning, shown
from .model import Model, _threads

# Compressed bytes from which rows are kept for further passes, as the command has it.
_KEEP_BYTES = 4_000_000


def parameter_texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return parameters in the library's form; None means the default."""

    def text(value: Any) -> str:
        return ("on" if value else "off") if isinstance(value, bool) else str(value)

    return {name: text(value) for name, value in values.items() if value is not None}


def parameter_names() -> list[str]:
    """Return the names of the library's parameters."""
    return [c.text_of(one.name) or "" for one in parameters()]


def checked_parameters(function: str, values: Mapping[str, Any], others: Iterable[str]) -> dict[str, str]:
    """Return parameters in the library's form; raise TypeError for a name that the function does not know."""
    check_keywords(function, values, [*parameter_names(), *others])
    return parameter_texts(values)


def inherited(state: State) -> dict[str, str]:
    """Return the parameters of a state."""
    return parameter_texts({name: state.get(name) for name in parameter_names()})


def _loss_of(y: Any) -> dict[str, str]:
    """Return the loss for labels whose type declares classes; all others follow the rule of the library."""
    n = len(np.unique(np.asarray(y))) if is_category(y) else 0
    return {"loss": "logistic" if n == 2 else "softmax"} if n >= 2 else {}


def _keep_rows(state: State, reader: Reader) -> None:
    """Keep rows that are expensive to read, if there may be several passes."""
    at = reader.progress()
    large = at.bytes_total >= _KEEP_BYTES or reader.is_dear
    if not at.is_stream and large and state.get("passes") != "1":
        with contextlib.suppress(GreedystepError):  # without room for them every pass reads the input
            reader.keep(tempfile.gettempdir())


def train_on(state: State, opened: Reader | Given, callback: Callback | None, run: Run, stacklevel: int) -> None:
    """Train on all rows of a source."""
    reader = opened.open(run) if isinstance(opened, Given) else opened
    hooks = Hooks(callback, run)
    try:
        state.train(reader, hooks.struct, run)
        at = reader.progress()
        if at.n_unlabelled > 0:
            hooks.note(f"{at.n_unlabelled} row(s) without a label were left out")
        if at.n_recoded > 0:
            hooks.note(f"{at.n_recoded} cell(s) are not UTF-8, read as Windows-1252")
        for notice in reader.notices():
            hooks.note(notice)
    finally:
        reader.close()
    if reader.names:
        state.set_names(reader.names)
    hooks.warn(stacklevel + 1)


def warn_of_few(model: Model, state: State, stacklevel: int) -> None:
    """Warn if rows had groups or times that are too few to hold some out."""
    for name, values in (("groups", "groups"), ("latest", "times")):
        if model.summary.get(name) == 0 and state.get("holdout") != "none":
            message = f"rows were not held out by their {values}, which are too few"
            warnings.warn(message, NoticeWarning, stacklevel=stacklevel + 1)


def train(
    data: Any,
    y: Any = None,
    *,
    label: str | None = None,
    weight: Any = None,
    categorical: Iterable[str] = (),
    ignore: Iterable[str] = (),
    cross: Iterable[str] = (),
    bits: int | None = None,
    skip_bad_rows: bool = False,
    decimal: str | None = None,
    dates: str | None = None,
    exposure: Any = None,
    labels: Any = None,
    missing: Any = None,
    group: Any = None,
    time: Any = None,
    text: Iterable[str] = (),
    offset: Any = None,
    monotone: Any = None,
    per: str | None = None,
    start_from: Model | None = None,
    n_jobs: int | None = None,
    verbose: bool | int = False,
    callback: Callback | None = None,
    **parameters: Any,
) -> Model:
    """Train a model on data, with nothing to tune.

    Parameters
    ----------
    data
        File names or patterns (CSV, TSV, JSON lines, libsvm, Vowpal Wabbit text, caches, arrays as ``.npy`` with
        `labels`, compressed or not; Parquet through pyarrow), a pandas or polars frame, anything with
        ``__arrow_c_stream__``, or, with `y`, an array (of NumPy or PyTorch) or sparse matrix of features, or texts: a
        list, series or array of one text per row.
    y : array, optional
        Labels of rows in arrays: numbers, or texts for classes.
    label, weight : str
        Columns of a table: the label and the row weight. With `y` there is no `label`, and `weight` is an array, or a
        column of the frame that is then not a feature.
    categorical, ignore, cross : lists of str
        Columns to treat as categories even if they look like numbers, columns to leave out, and products
        ("A:B") to add as features.
    bits : int, optional
        Categories are hashed to 2^bits features; None: 24.
    skip_bad_rows : bool
        Skip rows that cannot be read instead of stopping.
    decimal : {"point", "comma"}, optional
        The decimal mark in text, if the cells are ambiguous ("1,234").
    dates : {"day-first", "month-first"}, optional
        The order of dates in text, if the cells are ambiguous ("03/04/2024").
    exposure : str or array, optional
        For counts (``loss="poisson"``): the exposure of each row, such as time, area or volume. A column of a table, or
        with `y` an array or a column of the frame. Predictions of tables that have the column are expected counts;
        all others are counts per unit of exposure.
    labels : file names, optional
        Labels for ``.npy`` files of rows, one ``.npy`` file for each, in the same order.
    missing : float, list of float or "none", optional
        Numbers that mean a missing value in tables, such as -999. By default those that are far from all others in
        their column, if they are one of -9, -99, -999 ... or 99, 999 ...; "none": no number does.
    group : str or array, optional
        Hold rows of one group, such as a person or a document, out together. As `weight`: a column of a table or, with
        `y`, an array or a column of the frame. It is no feature. Groups are numbers, texts or dates; rows without one
        are one group.
    time : str or array, optional
        Hold the latest rows out: numbers, dates or timestamps, a column or an array likewise. A column stays a feature
        unless `ignore` names it too; an array is none. ``summary`` says what was held out, as ``groups`` or ``latest``.
    text : list of str
        Columns to treat as texts of words, however few their words are.
    offset : str or array, optional
        A margin of another model for each row, to which the learned one is added: a prediction of numbers, log-odds of
        the second class, the logarithm of a rate. A column of a table, or with `y` an array or a column of the frame.
        Predictions need it: in the column, or of rows in arrays as ``offset=``.
    monotone : dict or sequence, optional
        Columns of numbers with which the prediction never falls (1), or never rises (-1), when the number rises and all
        else stays: ``{"age": 1, "price": -1}``; of two classes the probability of the second. With `y` and an array the
        columns are numbers from 0 on, or there is one sign for each, 0 for none.
    per : str, optional
        The column whose values, such as customers, have an intercept and slopes of their own, shrunk towards those of
        all. Rows of new customers are predicted by what all have in common.
    start_from : Model, optional
        Start from the weights of another model.
    n_jobs : int, optional
        Threads; None: all processors. The result does not depend on it.
    verbose : bool
        Show the progress: a progress bar if tqdm is installed, otherwise periodic log lines.
    callback : callable, optional
        Called with the progress of the run (:mod:`greedystep.callbacks`).
    **parameters
        The command's parameters by name: ``loss``, ``passes``, ``seed``, ``class_weight``,
        ``intercept`` and so on. All are optional.

    Returns
    -------
    Model
    """
    values = checked_parameters("train", parameters, train.__kwdefaults__ or ())
    if exposure is not None and start_from is None and values.get("loss") != "poisson":
        raise ValueError('exposure= is for counts: give loss="poisson" with it')
    run = Run(_threads(n_jobs))
    rows = Rows(
        data,
        y,
        label,
        weight,
        categorical,
        ignore,
        cross,
        bits,
        skip_bad_rows,
        decimal,
        dates,
        exposure,
        labels,
        missing,
        group,
        time,
        text,
        offset,
        monotone,
        per,
    )
    frozen, is_paper = None if start_from is None else start_from._frozen, values.get("method") == "paper"
    reader = rows.open(run, frozen, remember_names=True, learns=True, without_offsets=is_paper)
    if start_from is None:
        if y is not None and values.get("loss", "auto") == "auto":
            values |= _loss_of(y)
        state = State.new(values)
    else:
        before = start_from._need_state()
        state = State.start_from(before, {**inherited(before), **values})
    _keep_rows(state, reader)
    if verbose and reader.description is not None:
        print(f"greedystep: {reader.description}", file=sys.stderr)
    with shown(verbose, callback) as told:
        train_on(state, reader, told, run, 2)
    if start_from is None:
        model = Model(state.finish(), state, reader.means(), Names.of_columns(reader.names))
    else:
        model = Model(state.finish(), state, start_from._frozen.means, start_from._frozen.names)
    warn_of_few(model, state, 2)
    return model


def load(path: str | os.PathLike[str]) -> Model:
    """Load a model from a file, with the state beside it if there is one.

    Parameters
    ----------
    path : path
        A file written by :meth:`Model.save` or by the command.
    """
    name = os.fspath(path)
    state = State.load(name + ".state") if os.path.exists(name + ".state") else None
    return Model(CModel.load(name), state)
