"""The columns of a frame that are learned, and how they reach the library.

The driver selects them; a task turns each Arrow batch of them into columns that the library's
Arrow reader takes: a label, a weight, and either lists of ids and values or plain columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..distributed import Rows

LABEL, WEIGHT, FEATURES = "label", "weight", "features"
INDICES, VALUES = "indices", "values"
_DENSE = 1  # the type of a dense vector in Spark's own form of it


@dataclass(frozen=True)
class Columns:
    """Where label, weight and features are.

    Parameters
    ----------
    kind : {"vector", "array", "pairs", "table"}
        The features: a column of vectors, one of arrays, two of ids and values, or plain
        columns of numbers and words.
    features : tuple of str
        Their columns.
    label, weight : str or None
        None: not there.
    categorical, cross : tuple of str
        The schema of plain columns, as the command has it.
    bits : int
        Words are hashed to 2^bits features; 0: the command's default.
    """

    kind: str
    features: tuple[str, ...]
    label: str | None = None
    weight: str | None = None
    categorical: tuple[str, ...] = ()
    cross: tuple[str, ...] = ()
    bits: int = 0

    # ---- on the driver --------------------------------------------------------------------------

    def label_and_weight(self, frame: Any) -> list[Any]:
        """Return both as columns of a query: numbers as doubles."""
        from pyspark.sql import functions as F
        from pyspark.sql.types import StringType

        chosen = []
        if self.label is not None:
            label = F.col(_quoted(self.label))
            is_text = isinstance(frame.schema[self.label].dataType, StringType)
            chosen.append((label if is_text else label.cast("double")).alias(self.label_name))
        if self.weight is not None:
            chosen.append(F.col(_quoted(self.weight)).cast("double").alias(self.weight_name))
        return chosen

    def chosen_features(self, frame: Any) -> list[Any]:
        """Return the features as columns of a query, without label and weight."""
        from pyspark.sql import functions as F
        from pyspark.sql.types import DecimalType

        chosen = []
        for name, as_name in zip(self.features, self.feature_names):
            column = F.col(_quoted(name))
            if isinstance(frame.schema[name].dataType, DecimalType):
                column = column.cast("double")
            chosen.append(column.alias(as_name))
        return chosen

    @property
    def label_name(self) -> str:
        """The label's name in batches: its own, if the model has columns by name."""
        return (self.label if self.kind == "table" else LABEL) or LABEL

    @property
    def weight_name(self) -> str:
        """The weight's name in batches."""
        return (self.weight if self.kind == "table" else WEIGHT) or WEIGHT

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of features in batches."""
        if self.kind == "table":
            return self.features
        return (INDICES, VALUES) if self.kind == "pairs" else (FEATURES,)

    # ---- in a task ------------------------------------------------------------------------------

    def converted(self, batch: Any) -> Any:
        """Return a batch of the query as one that the library reads."""
        if self.kind == "table":
            return batch
        taken = dict(zip(batch.schema.names, batch.columns))
        if self.label is None:  # lists come with a label, even if it is not used
            taken[LABEL] = pa.nulls(batch.num_rows)
        if self.kind != "pairs":
            taken[INDICES], taken[VALUES] = _pairs_of(taken.pop(FEATURES))
        return pa.RecordBatch.from_pydict(taken)

    def entries(self, batch: Any) -> Any:
        """Return how many entries rows of a converted batch have, row by row."""
        if self.kind == "table":
            return np.full(batch.num_rows, len(self.features), np.int64)
        lists = batch.column(batch.schema.get_field_index(VALUES))
        return pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)

    def given(self, data: Any) -> Rows:
        """Return converted rows in the library's form."""
        return Rows(
            data,
            label=None if self.label is None else self.label_name,
            weight=None if self.weight is None else self.weight_name,
            categorical=self.categorical,
            cross=self.cross,
            bits=self.bits,
        )

    def rows(self, batches: Iterator[Any]) -> Rows | None:
        """Return the rows of the query's batches, which are read one at a time; None: no batches."""
        converted = map(self.converted, batches)
        first = next(converted, None)
        if first is None:
            return None
        return self.given(pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], converted)))


def _quoted(name: str) -> str:
    """Return a column's name quoted for a query."""
    return "`" + name.replace("`", "``") + "`"


def _numbered(values: Any, lengths: Any) -> Any:
    """Return ids 0, 1, 2 ... for the items of every list."""
    starts = np.cumsum(lengths) - lengths
    return np.arange(len(values), dtype=np.int32) - np.repeat(starts, lengths).astype(np.int32)


def _pairs_of(column: Any) -> tuple[Any, Any]:
    """Return ids and values of a column of vectors or arrays; null is a row without features."""
    if not pa.types.is_struct(column.type):
        return _pairs_of_lists(column)
    kinds, _size, indices, values = column.flatten()
    is_dense = pc.fill_null(pc.equal(kinds, _DENSE), False).to_numpy(zero_copy_only=False)
    if not is_dense.any():
        return indices, values
    lengths = pc.fill_null(pc.list_value_length(values), 0).to_numpy(zero_copy_only=False)
    items = values.flatten()
    ids = _numbered(items, lengths)
    given = np.repeat(~is_dense, lengths)
    ids[given] = indices.flatten().to_numpy(zero_copy_only=False)
    return _lists(ids, items, lengths)


def _pairs_of_lists(column: Any) -> tuple[Any, Any]:
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    items = column.flatten()
    return _lists(_numbered(items, lengths), items, lengths)


def _lists(ids: Any, items: Any, lengths: Any) -> tuple[Any, Any]:
    starts = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=starts[1:])
    offsets = pa.array(starts)
    made = pa.ListArray.from_arrays(offsets, pa.array(ids))
    return made, pa.ListArray.from_arrays(offsets, items)
