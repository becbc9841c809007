"""Choose the reader of the data: files, tables, or arrays."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._arrow import Table, free_name, open_table, parquet_of, table_of, with_columns
from ._columns import Frozen, Texts, check_offset, check_same, open_rows
from ._core import Reader, reader_options, signs_of
from ._errors import GreedystepValueError
from ._given import Classes, ClassLabels, Given, Numbers, check_labelled, check_lengths
from ._held import Held, held_by
from ._keywords import meant
from ._rows import TEXT, collected, features_of, has_words, is_frame, sparse
from ._run import Run
from ._schema import Schema
from ._stores import is_elsewhere, names_of, open_files

# Columns behind those of a frame, which messages name as the caller does.
_LABEL, _WEIGHT = "y", "weight"


def paths_of(data: Any) -> list[str] | None:
    """Return the file names, with patterns expanded, if the data is file names; else None."""
    if isinstance(data, (str, bytes, os.PathLike)):
        data = [data]
    if not isinstance(data, (list, tuple)) or not data:
        return None
    if not all(isinstance(one, (str, bytes, os.PathLike)) for one in data):
        return None
    paths: list[str] = []
    for one in data:
        name = os.fsdecode(one)
        if is_elsewhere(name):
            paths.extend(names_of(name))
            continue
        if os.path.exists(name) or not glob.has_magic(name):
            paths.append(name)
            continue
        found = sorted(glob.glob(name))
        if not found:
            raise FileNotFoundError(f"no file matches {name}")
        paths.extend(found)
    return paths


def _is_parquet(path: str) -> bool:
    if os.path.isdir(path):
        return True
    return path.endswith((".parquet", ".pq"))


def _ignored(options: c.ReaderOptions) -> list[str]:
    """Return the columns to leave out, except the times of rows, which are read."""
    names = (c.text_of(options.ignore) or "").split(",")
    return [name for name in names if name not in ("", c.text_of(options.time))]


def open_paths(paths: Sequence[str], options: c.ReaderOptions, run: Run) -> Reader:
    """Return a reader of files: Parquet through pyarrow, all else through the library."""
    are_parquet = [_is_parquet(path) for path in paths]
    if not any(are_parquet) and any(map(is_elsewhere, paths)):
        return open_files(paths, options, run)
    if not any(are_parquet):
        return Reader.of_files(paths, options, run)
    if not all(are_parquet):
        raise ValueError("some files are Parquet and others are not: train reads files of one format")
    return open_table(parquet_of(paths, _ignored(options)), options, run)


def is_category(y: Any) -> bool:
    """Return whether the type of labels declares classes: a category of pandas, Categorical or Enum of Polars."""
    return str(getattr(y, "dtype", "")).partition("(")[0] in ("category", "Categorical", "Enum")


def labels_of(y: Any) -> Numbers | ClassLabels | Texts:
    """Return labels for the library: numbers as they are, texts as the cells of a table, declared classes as such."""
    if isinstance(y, str):
        raise GreedystepValueError(f"y holds the labels themselves: name their column by label={y!r}")
    values = np.asarray(y)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim != 1:
        raise ValueError(f"expected one label per row, found {values.ndim} dimension(s)")
    if values.dtype.kind in "biuf":
        return Numbers(values)
    if values.dtype.kind in "UO" and not is_category(y) and all(isinstance(one, str) for one in values):
        return Texts(values.astype(str))
    return Classes(np.unique(values)).of(values)


def frame_with(
    frame: Any,
    label: npt.NDArray[Any],
    weights: Any,
    held: Held | None,
    schema: Schema | None = None,
    weight: str | None = None,
) -> tuple[Table, dict[str, str]]:
    """Return a frame with labels, weights, and groups or times after its columns, and their names by option.

    Groups and times may be among the columns that the frame has.
    """
    weights = None if weights is None else np.asarray(weights)
    check_lengths(len(frame), label, weights)
    names = [str(name) for name in frame.columns]
    columns = {(schema and schema.label) or free_name(_LABEL, names): label}
    if weights is not None:
        columns[(schema and schema.weight) or weight or free_name(_WEIGHT, names)] = weights
    options = dict(zip(("label", "weight"), columns))
    if held is not None:
        held.check_length(len(frame))
        is_there = held.column is not None and held.column in names
        name = options[held.by] = str(held.column) if is_there else held.name_for(schema, [*names, *columns])
        if not is_there:
            columns[name] = held.cells()
    return with_columns(frame, columns), options


def without(frame: Any, names: Iterable[str]) -> Any:
    """Return a frame, or a table of pyarrow, without some of its columns."""
    left_out, columns = set(names), columns_of(frame)
    kept = [name for name in columns if str(name) not in left_out]
    if len(kept) == len(columns):
        return frame
    return frame.select(kept) if hasattr(frame, "column_names") else frame[kept]


def columns_of(data: Any) -> list[Any]:
    """Return the names of the columns of a frame or a table of pyarrow; none for all else."""
    return list(data.columns) if is_frame(data) else list(getattr(data, "column_names", ()))


def _emptied(frame: Any, names: Iterable[str]) -> Any:
    """Return a pandas frame in which ignored columns are empty, whatever they hold."""
    ignored = [name for name in frame.columns if str(name) in set(names)] if is_frame(frame) else []
    if ignored and hasattr(frame, "iloc"):
        frame = frame.copy(deep=False)
        frame[ignored] = None
    return frame


def _per_exposure(y: Any, weights: Any, exposure: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return counts per unit of exposure, and weights times exposure, as readers of tables do."""
    if y is None:
        raise ValueError("the labels are in a column, and so are exposures: name it by exposure=")
    found, counts = np.asarray(exposure, np.float64), np.asarray(y, np.float64)
    if found.shape != counts.shape:
        raise ValueError(f"expected an exposure per row: there are {len(counts)} labels, and exposure has {len(found)}")
    bad = np.flatnonzero(~((found > 0) & np.isfinite(found)))
    if bad.size:
        raise ValueError(f"row {bad[0]} has the exposure {found[bad[0]]:g}: expected a finite number above 0")
    plain = np.ones(len(found), np.float32) if weights is None else np.asarray(weights, np.float32)
    return counts / found, plain * found.astype(np.float32)


def with_offset(data: Any, offset: Any, frozen: Frozen | None = None) -> tuple[Any, str | None]:
    """Return rows with a column of offsets, where a model has it or as the last, and its name; None: in an array."""
    schema = None if frozen is None or frozen.schema is None else Schema.of(frozen.schema)
    if frozen is not None and (schema is None or schema.offset is None):
        raise ValueError("the model was trained without an offset: leave it out")
    if isinstance(offset, str):
        raise ValueError(f"offset={offset!r} names a column: the model knows its own; give an array, or leave it out")
    values, name = np.asarray(offset, np.float64), None if schema is None else schema.offset
    if paths_of(data) is not None or (table_of(data) is not None and not is_frame(data)):
        raise ValueError("files and tables have offsets in a column: name it in training (offset=...)")
    n_rows = len(data) if is_frame(data) else data.shape[0] if hasattr(data, "shape") else len(data)
    if values.shape != (n_rows,):
        raise ValueError(
            f"expected an offset per row: there are {n_rows} rows, and offset has the shape {values.shape}"
        )
    check_offset(values)
    if is_frame(data):
        name = name or free_name("offset", [str(one) for one in data.columns])
        return type(data)({**{one: data[one] for one in data.columns}, name: values}), name
    if sparse.issparse(data):
        raise ValueError("an offset is a column, and a sparse matrix has none: give dense rows or a table")
    numbers = np.asarray(data)
    at = numbers.shape[1] if schema is None or name is None else schema.numeric.index(name)
    return np.insert(numbers.astype(np.result_type(numbers, np.float32), copy=False), at, values, axis=1), None


def column_at(frame: Any, name: str, what: str) -> Any:
    """Return the column of a frame, or a table of pyarrow, that an argument names."""
    if name not in columns_of(frame):
        names = [str(one) for one in columns_of(frame)]
        near = meant(name, names)
        hint = f" ({near})" if near else ""
        raise ValueError(f"there is no column {name!r}{hint}; the columns are {', '.join(names)} ({what}=...)")
    return frame[name]


def _taken_out(frame: Any, name: str, what: str) -> tuple[Any, npt.NDArray[Any]]:
    """Return a frame without its column of weights or exposures, and that column."""
    column = np.asarray(column_at(frame, name, what))
    return without(frame, [name]), column


def _refuse_beside(who: str, y: Any, weights: Any, held: Held | None) -> None:
    """Raise ValueError for labels, weights, groups or times in arrays if they must be columns."""
    found = [name for name, values in (("label", y), ("weight", weights)) if values is not None]
    for name in [*found, *([] if held is None else [held.by])]:
        raise ValueError(f"{who} {name}s in a column: name it by {name}=")


def _refuse_of_tables(options: c.ReaderOptions) -> None:
    """Raise ValueError for options of tables and files if the rows are in an array."""
    for name in ("weight", "exposure", "offset", "group", "time"):
        if getattr(options, name):
            raise ValueError(f"{name}= names a column, and rows in an array have no names: give {name}s in an array")
    for name in (
        "categorical",
        "text",
        "per",
        "ignore",
        "cross",
        "bits",
        "decimal",
        "dates",
        "labels",
        "missing",
        "skip_bad_rows",
    ):
        if getattr(options, name):
            raise ValueError(f"{name}= is for tables and files, and the rows are in an array: leave it out")


@dataclass(frozen=True)
class Rows:
    """Rows, and the meaning of their columns: for engines, the rows of one shard.

    Parameters
    ----------
    data, y, label, weight, categorical, ignore, cross, bits, skip_bad_rows, decimal, dates, exposure, labels, \
missing, group, time, text, offset, monotone, per
        As in :func:`greedystep.train`.
    """

    data: Any
    y: Any = None
    label: str | None = None
    weight: Any = None
    categorical: Iterable[str] = ()
    ignore: Iterable[str] = ()
    cross: Iterable[str] = ()
    bits: int | None = None
    skip_bad_rows: bool = False
    decimal: str | None = None
    dates: str | None = None
    exposure: Any = None
    labels: Any = None
    missing: Any = None
    group: Any = None
    time: Any = None
    text: Iterable[str] = ()
    offset: Any = None
    monotone: Any = None
    per: str | None = None

    def _held(self, data: Any) -> Held | None:
        """Return the groups or times of rows, unless the reader of a table has them from a column."""
        found = held_by(self.group, self.time, ("group", "time"))
        if found is None:
            return None
        by, name, values = found
        if not isinstance(values, str):
            return Held(by, values, name)
        return Held(by, column_at(data, values, name), name, values) if self.y is not None and is_frame(data) else None

    def open(
        self,
        run: Run,
        frozen: Frozen | None = None,
        *,
        remember_names: bool = False,
        without_labels: bool = False,
        without_weights: bool = False,
        learns: bool = False,
        without_offsets: bool = False,
    ) -> Reader:
        """Return a reader of the rows, matched to a model's columns; None: the rows determine the schema."""
        if self.y is not None and self.label is not None:
            raise ValueError(f"there are labels in y and in the column label={self.label!r}: give one of them")
        if self.y is not None:
            check_labelled(self.y)
        has_column, data, y, exposure = isinstance(self.weight, str), self.data, self.y, self.exposure
        data = collected(data, lists=y is not None and isinstance(data, list) and len(data) == len(y) > 1)
        if isinstance(exposure, str) and y is not None and is_frame(data):
            data, exposure = _taken_out(data, exposure, "exposure")
        offset, has_offset = self.offset, False
        if offset is not None and not isinstance(offset, str):
            data, offset = with_offset(data, offset, frozen)
            has_offset = offset is None
        options = reader_options(
            label=self.label,
            offset=offset,
            per=self.per,
            weight=self.weight if has_column else None,
            exposure=exposure if isinstance(exposure, str) else None,
            group=self.group if isinstance(self.group, str) else None,
            time=self.time if isinstance(self.time, str) else None,
            categorical=self.categorical,
            text=self.text,
            ignore=self.ignore,
            cross=self.cross,
            bits=self.bits,
            decimal=self.decimal,
            dates=self.dates,
            missing=self.missing,
            labels=() if self.labels is None else paths_of(self.labels) or [str(self.labels)],
            skip_bad_rows=self.skip_bad_rows,
            remember_names=remember_names,
            without_labels=without_labels,
            without_weights=without_weights,
            without_offsets=without_offsets or frozen is not None,  # those of the model apply
        )
        weights = None if has_column else self.weight
        if has_column and y is not None and is_frame(data):
            data, weights = _taken_out(data, self.weight, "weight")
        if exposure is not None and not isinstance(exposure, str):
            y, weights = _per_exposure(y, weights, exposure)
        held = self._held(data)
        opened = open_data(
            data,
            options,
            run,
            y=y,
            weights=weights,
            frozen=frozen,
            learns=learns,
            held=held,
            has_offset=has_offset,
            monotone=self.monotone,
        )
        if isinstance(opened, Reader):
            opened.guesses_missing = self.missing is None
            opened.follow(None if frozen is None else frozen.schema)
            return opened
        if self.y is None:
            raise ValueError("rows in an array have no labels: give them as y")
        return opened.open(run)


def open_data(
    data: Any,
    options: c.ReaderOptions,
    run: Run,
    *,
    y: Any = None,
    weights: npt.NDArray[Any] | None = None,
    frozen: Frozen | None = None,
    learns: bool = False,
    held: Held | None = None,
    has_offset: bool = False,
    monotone: Any = None,
) -> Reader | Given:
    """Return a reader of data of any kind, for a model or for a new one.

    A frame is read as a table if it contains the labels or the model has a schema, and as numbers if the labels are
    given separately. Rows of numbers with gaps are a table of their own.
    """
    paths = paths_of(data)
    if paths is not None and len(paths) == 1 and paths[0].endswith(".npy") and y is not None:
        data, paths = np.load(paths[0], mmap_mode="r"), None
    if paths is not None:
        _refuse_beside("files have", y, weights, held)
        set_signs(options, signs_of(monotone, None))
        return open_paths(paths, options, run)
    schema = None if frozen is None or frozen.schema is None else Schema.of(frozen.schema)
    of_model = [] if schema is None else [name for name in schema.ignored if not (learns and name == schema.time)]
    data = _emptied(data, _ignored(options) + of_model)
    if is_frame(data) and (y is not None or options.without_labels):
        numbers = _numbers_of(data if held is None else without(data, held.no_features), frozen, schema, options)
        if numbers is None and y is not None:
            data = data if schema is None else without(data, _ignored(options))  # one may be called as labels are
            set_signs(options, signs_of(monotone, columns_of(data)))
            labels = labels_of(y)
            if schema is None and columns_of(data) == [TEXT]:
                options.text = TEXT.encode()
            if learns and schema is not None:
                check_same(held, schema)
            table, names = frame_with(data, labels.column(), weights, held, schema, c.text_of(options.weight))
            for option, name in names.items():
                setattr(options, option, name.encode())
            if held is not None and held.column != names[held.by]:
                held.tell(options, names[held.by])
            if schema is None and labels.as_words(names["label"]):
                options.categorical = b",".join(filter(None, [options.categorical, options.label]))
            return open_table(table, options, run)
        data = data if numbers is None else numbers
    else:
        numbers = None
    if numbers is None:
        found = table_of(data)
        if found is not None:
            _refuse_beside("a table has", y, weights, held)
            set_signs(options, signs_of(monotone, None))
            return open_table(found, options, run)
        _refuse_of_tables(options)
    found_labels, as_is = None if y is None else labels_of(y), bool(options.without_offsets)
    return open_rows(
        features_of(data),
        found_labels,
        weights,
        run,
        frozen,
        learns=learns,
        without_offsets=as_is,
        held=held,
        has_offset=has_offset,
        monotone=monotone,
    )


def set_signs(options: c.ReaderOptions, signs: dict[str, int]) -> None:
    """Set the signs of columns."""
    of_signs = reader_options(monotone=signs)
    options.increasing, options.decreasing = of_signs.increasing, of_signs.decreasing


def _numbers_of(frame: Any, frozen: Frozen | None, schema: Schema | None, options: c.ReaderOptions) -> Any:
    """Return the frame with its columns in the order of the features if all are numbers; None: it is a table."""
    are_named = all(isinstance(name, str) for name in frame.columns)
    ignored = _ignored(options)
    if frozen is not None and frozen.schema is None:  # the model has no table to leave columns out of
        frame, ignored = without(frame, ignored), []
    if frozen is not None and frozen.names is not None and are_named:
        columns = list(frame.columns)
        ordered = frozen.names.ordered(columns)
        frame = frame if ordered == columns else frame[ordered]
    is_table = ignored or options.categorical or options.cross or options.skip_bad_rows or options.missing
    is_table = is_table or options.offset or options.per
    if is_table or has_words(frame):
        return None
    if schema is None or not are_named:
        return frame
    are_all = not schema.others and sorted(frame.columns) == sorted(schema.numbers)
    return frame[schema.numbers] if are_all else None
