"""The contribution of every column to the margin of a row.

The margin is the intercept plus one contribution per column: weight times value, or the value of its curve, summed over
the features that the column has. Numbers, their missing-value markers, categories and the parts of dates count for
their column. The library computes it (gsa_explain), for the command too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._arrow import arrow_table
from ._contents import ModelContents
from ._core import Cells, DoubleArray, Reader, reader_options
from ._data import open_data, paths_of
from ._given import Given
from ._rows import collected, sparse
from ._run import Run
from ._schema import Schema


class Explanation(NamedTuple):
    """Contributions of columns: ``base_values`` plus the sum of a row's ``values`` is its margin.

    The fields are named as those of ``shap.Explanation``.

    Attributes
    ----------
    values : array of shape (rows, columns), or (rows, columns, classes) for more than two classes
    base_values : array of shape (rows,), or (rows, classes)
        The same for all rows.
    feature_names : list of str
        The columns.
    """

    values: DoubleArray
    base_values: DoubleArray
    feature_names: list[str]


def _batches(opened: Reader | Given, schema: str | None) -> Iterator[tuple[c.Batch, Cells]]:
    """Yield the batches, each with the cells of its rows."""
    if isinstance(opened, Given):
        yield from ((opened.block(*bounds), (None, 0)) for bounds in opened.bounds())
        return
    opened.follow(schema)
    batch = c.Batch()
    while opened.next(batch):
        yield batch, opened.cells()
    opened.close()


def columns_of(model: ModelContents, width: int) -> list[str]:
    """Return the columns in the order of gsa_explain; those of a model without a schema are its first features."""
    if model.schema is None:
        return [model._model.name(i) or str(i + 1) for i in range(width)] + pairs_of(model)
    schema = Schema.of(model.schema)
    crosses = [", ".join(schema.crosses)] if schema.crosses else []
    return schema.numeric + schema.words + crosses + pairs_of(model)


def pairs_of(model: ModelContents) -> list[str]:
    """Return the names of the pairs, which come after the columns."""
    return [" & ".join(pair.names) for pair in model._pairs]


def _contributions(model: ModelContents, data: Any, ignore: Iterable[str]) -> tuple[DoubleArray, list[str]]:
    """Return the contributions, [rows x columns x outputs], and the names of the columns."""
    data = collected(data)
    if sparse.issparse(data):
        raise ValueError("explain takes dense rows: for a sparse matrix use X.multiply(model.coef)")
    schema = None if model.schema is None else Schema.of(model.schema)
    if schema is not None and not schema.features:
        raise ValueError("cannot explain a model of Vowpal Wabbit text: its rows have no columns")
    is_table = schema is not None and paths_of(data) is None and bool(schema.words or schema.dates)
    table = arrow_table(data).drop_columns(list(ignore)) if is_table else data
    options = reader_options(without_labels=True, ignore=() if is_table else ignore)
    options.keep_cells = True
    opened = open_data(table, options, Run(0), frozen=model._frozen)
    given = opened if isinstance(opened, Given) else None
    names = list(given.names) + pairs_of(model) if given is not None and given.names and schema is None else []
    names = names or columns_of(model, 0 if given is None else given.width)
    parts = [np.zeros((0, len(names), model._model.info.n_outputs))]
    for batch, cells in _batches(opened, model.schema):
        parts.append(np.zeros((batch.n_rows, *parts[0].shape[1:])))
        model._model.explain(batch, cells, parts[-1])
    values = np.concatenate(parts)
    if schema is None:
        return values, names
    # Numbers come first there; columns have the order of the table here, and crosses stay the last.
    order = [names.index(name) for name in schema.features] + list(range(len(schema.features), len(names)))
    return values[:, order], [names[place] for place in order]


def explain(model: ModelContents, data: Any, background: Any = None, ignore: Iterable[str] = ()) -> Explanation:
    """Return the contributions of all columns, as :meth:`greedystep.Model.explain` does."""
    values, names = _contributions(model, data, ignore)
    base: npt.NDArray[np.float64] = model.intercept
    if background is not None:
        means = _contributions(model, background, ignore)[0].mean(axis=0)
        values, base = values - means, base + means.sum(axis=0)
    bases = np.tile(base, (len(values), 1))
    return Explanation(*((values[:, :, 0], bases[:, 0]) if len(base) == 1 else (values, bases)), names)
