"""The contribution of every column to the margin of a row.

The margin is the intercept plus one contribution per column: weight times value, summed over the features that the
column has. Numbers, their missing-value markers and the parts of dates count for their column, and so do categories,
whose features are found by reading every distinct cell of a column once more, alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._arrow import Table, arrow_table, open_table, pyarrow
from ._contents import ModelContents
from ._core import DoubleArray, Reader, reader_options
from ._data import open_data, paths_of
from ._first import features_in
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


def _batches(opened: Reader | Given, schema: str | None) -> Iterator[c.Batch]:
    if isinstance(opened, Given):
        yield from (opened.block(*bounds) for bounds in opened.bounds())
        return
    opened.follow(schema)
    batch = c.Batch()
    while opened.next(batch):
        yield batch
    opened.close()


class _Sums:
    """Weight times value of rows, summed per group of features.

    Parameters
    ----------
    model : greedystep.Model
    n_groups : int
    group_of : callable
        Returns the groups of feature ids.
    """

    def __init__(self, model: ModelContents, n_groups: int, group_of: Any) -> None:
        self._model, self._n_groups, self._group_of = model, n_groups, group_of
        self._schema = model.schema

    def of(self, opened: Reader | Given) -> DoubleArray:
        """Return the sums of all rows, [rows x groups x outputs]."""
        n_outputs = self._model._model.info.n_outputs
        parts = [np.zeros((0, self._n_groups, n_outputs))]
        for batch in _batches(opened, self._schema):
            entries = features_in(batch, batch.n_rows).tocoo()
            row, feature, value = entries.row, entries.col, entries.data.astype(np.float64)
            added = value[:, np.newaxis] * self._model._weights_of(feature)
            for one in self._model._model.curves():
                own = np.flatnonzero(feature == one.feature)
                knots = np.ctypeslib.as_array(one.knot, (one.n_knots,))
                values = self._model._weights_of(np.arange(one.first, one.first + one.n_knots))
                for k in range(n_outputs):
                    added[own, k] = np.interp(value[own], knots, values[:, k])
            parts.append(np.zeros((batch.n_rows, self._n_groups, n_outputs)))
            np.add.at(parts[-1], (row, self._group_of(feature)), added)
        return np.concatenate(parts)


def _of_categories(model: ModelContents, table: Any, schema: Schema, column: str) -> DoubleArray:
    """Return the contributions of the categories of a column, [rows x outputs]: read once per distinct cell."""
    pa, run = pyarrow(), Run(0)

    def plain(kind: Any) -> Any:
        return kind.value_type if pa.types.is_dictionary(kind) else kind

    cells = table.column(column)
    cells = cells.cast(pa.large_string() if "string" in str(plain(cells.type)) else plain(cells.type))
    coded = pa.chunked_array([cells.combine_chunks()]).chunk(0).dictionary_encode()
    n = len(coded.dictionary)
    alone = {one: pa.nulls(n, plain(table.schema.field(one).type)) for one in schema.features}
    probe = pa.table({**alone, column: coded.dictionary})
    first = 2 * len(schema.numeric)
    sums = _Sums(model, 2, lambda feature: (feature >= first).astype(np.intp))
    found = sums.of(open_table(Table(lambda: probe), reader_options(without_labels=True), run))[:, 1]
    codes = coded.indices.fill_null(n).to_numpy(zero_copy_only=False)
    contributions: DoubleArray = np.vstack([found, np.zeros((1, found.shape[1]))])[codes]
    return contributions


def _contributions(model: ModelContents, data: Any, ignore: Iterable[str]) -> tuple[DoubleArray, list[str]]:
    """Return the contributions, [rows x columns x outputs], and the names of the columns."""
    data = collected(data)
    if paths_of(data) is not None:
        raise ValueError("explain takes a frame or an array: read the file before, as by pandas.read_csv")
    if sparse.issparse(data):
        raise ValueError("explain takes dense rows: for a sparse matrix use X.multiply(model.coef)")
    schema = None if model.schema is None else Schema.of(model.schema)
    if schema is not None and not schema.features:
        raise ValueError("cannot explain a model of Vowpal Wabbit text: its rows have no columns")
    has_texts = schema is not None and bool(schema.words or schema.dates)
    table = arrow_table(data).drop_columns(list(ignore)) if has_texts else data
    opened = open_data(
        table, reader_options(without_labels=True, ignore=() if has_texts else ignore), Run(0), frozen=model._frozen
    )
    if schema is None:
        assert isinstance(opened, Given)
        width = opened.width
        names = [model._model.name(i) or str(i + 1) for i in range(width)]
        return _Sums(model, width, lambda feature: feature).of(opened), list(opened.names or names)
    # Groups: a number or date, with its marker, and all other features.
    n = len(schema.numeric)
    sums = _Sums(model, n + 1, lambda feature: np.where(feature < 2 * n, feature % max(n, 1), n)).of(opened)
    numeric = iter(range(n))
    columns = []
    for name in schema.features:
        part = np.zeros_like(sums[:, n]) if name in schema.words else sums[:, next(numeric)]
        if name in schema.words or name in schema.dates:
            of_categories = _of_categories(model, table, schema, name)
            sums[:, n] -= of_categories
            part = part + of_categories
        columns.append(part)
    if schema.crosses:
        columns.append(sums[:, n])
    return np.stack(columns, axis=1), schema.features + ([", ".join(schema.crosses)] if schema.crosses else [])


def explain(model: ModelContents, data: Any, background: Any = None, ignore: Iterable[str] = ()) -> Explanation:
    """Return the contributions of all columns, as :meth:`greedystep.Model.explain` does."""
    values, names = _contributions(model, data, ignore)
    base: npt.NDArray[np.float64] = model.intercept
    if background is not None:
        means = _contributions(model, background, ignore)[0].mean(axis=0)
        values, base = values - means, base + means.sum(axis=0)
    bases = np.tile(base, (len(values), 1))
    return Explanation(*((values[:, :, 0], bases[:, 0]) if len(base) == 1 else (values, bases)), names)
