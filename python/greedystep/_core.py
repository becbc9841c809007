"""States, models and readers of the library, each freed with the object that owns it."""

from __future__ import annotations

import ctypes
import io
import itertools
import os
import struct
import weakref
from collections.abc import Iterable, Mapping, Sequence
from ctypes import byref, c_char_p, c_double, c_int32, c_size_t, c_void_p
from typing import Any, Callable, Optional

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._errors import call
from ._run import Run, counted_memory

FloatArray = npt.NDArray[np.float32]
DoubleArray = npt.NDArray[np.float64]
#: Address and number per row of the cells of a batch.
Cells = tuple[Optional[int], int]


class Handle:
    """An object of the library."""

    def __init__(self, pointer: int | None, free: str) -> None:
        if pointer is None:
            raise MemoryError("the library gave no object")
        self.pointer = pointer
        self._finalizer = weakref.finalize(self, getattr(c.library(), free), pointer)

    def close(self) -> None:
        """Free the object now; later calls do nothing."""
        self._finalizer()


def path_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return a path as the library takes it; raise ValueError for one with a NUL."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError(f"embedded null byte in the path {os.fspath(path)!r}")
    return name


def new_object(name: str, *arguments: Any) -> int | None:
    """Call a function that fills in a handle as its last argument but one; return the handle."""
    out = c_void_p()
    call(name, *arguments, byref(out))
    return out.value


def _bytes_of(name: str, *arguments: Any) -> bytes:
    """Call a function that writes bytes through a callback; return the bytes."""
    written = io.BytesIO()

    def write(_ctx: Any, address: int, size: int) -> int:
        written.write((ctypes.c_char * size).from_address(address))
        return 0

    call(name, *arguments, c.WriteBytes(write), None)
    return written.getvalue()


def _delta_arrays(deltas: Sequence[bytes]) -> tuple[Any, Any, int]:
    n = len(deltas)
    return (c_char_p * n)(*deltas), (c_size_t * n)(*map(len, deltas)), n


def reduce_deltas(deltas: Sequence[bytes | None]) -> bytes:
    """Return the sum of the deltas of all replicas for a range of features, in the order of the replicas.

    None is a replica that has touched none of the features.
    """
    some = next(delta for delta in deltas if delta is not None)
    # In the format of deltas: the range, the first replica and how many they are, no chunks.
    found = [delta or some[:32] + struct.pack("<3Q", number, 1, 0) for number, delta in enumerate(deltas)]
    return _bytes_of("gsa_deltas_reduce", *_delta_arrays(found), byref(counted_memory()))


def plan_first_rows(n_rows: int, n_shards: int) -> int:
    """Return how many rows of each shard are learned before the first pass."""
    return int(c.library().gsa_plan_first_rows(n_rows, n_shards))


def plan_replicas(n_rows: int, shard_rows: int) -> int:
    """Return the number of replicas (``n_copies``) for a shard of this size."""
    return int(c.library().gsa_plan_replicas(n_rows, shard_rows))


def may_fit(n_rows: int, n_entries: int, n_outputs: int) -> bool:
    """Return whether the rows may be few enough for the optimum; the features, which count too, are not known yet."""
    return bool(c.library().gsa_train_fits(n_rows, n_entries, n_outputs))


def parameters() -> list[c.Param]:
    """Return the table of parameters that flags and keywords are made from."""
    library = c.library()
    return [at.contents for at in itertools.takewhile(bool, map(library.gsa_param_at, itertools.count()))]


class Config(Handle):
    """Parameters by name, as text."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(new_object("gsa_config_new", None), "gsa_config_free")
        for name, value in values.items():
            call("gsa_config_set", self.pointer, name.encode(), value.encode())


class State(Handle):
    """The state of a run (gsa_state)."""

    def __init__(self, pointer: int | None) -> None:
        super().__init__(pointer, "gsa_state_free")

    @classmethod
    def new(cls, values: Mapping[str, str]) -> State:
        """Return a state that has learned nothing."""
        config = Config(values)
        return cls(new_object("gsa_state_new", config.pointer, byref(counted_memory())))

    @classmethod
    def start_from(cls, other: State, values: Mapping[str, str]) -> State:
        """Return a new run that starts from another state."""
        config = Config(values)
        return cls(new_object("gsa_state_start_from", other.pointer, config.pointer))

    @classmethod
    def read(cls, stored: bytes) -> State:
        """Return a state from its bytes."""
        return cls(new_object("gsa_state_read", stored, len(stored), byref(counted_memory())))

    @classmethod
    def load(cls, path: str) -> State:
        """Return a state from its file."""
        return cls(new_object("gsa_state_load", path_bytes(path), byref(counted_memory()), None))

    @classmethod
    def merge(cls, states: Sequence[State], base: State | None = None) -> State:
        """Return the merge of several states."""
        pointers = (c_void_p * len(states))(*(state.pointer for state in states))
        start = None if base is None else base.pointer
        return cls(new_object("gsa_state_merge", pointers, len(states), start, None))

    @classmethod
    def merge_deltas(cls, heads: Sequence[State], base: State, reduced: Sequence[bytes]) -> State:
        """Return the merge of replicas of a base, from their headers and their reduced deltas."""
        pointers = (c_void_p * len(heads))(*(head.pointer for head in heads))
        deltas = _delta_arrays(reduced)
        return cls(new_object("gsa_state_merge_deltas", pointers, len(heads), base.pointer, *deltas, None))

    def write_delta_header(self, base: State) -> bytes:
        """Return the header of a replica: its bytes without the features."""
        return _bytes_of("gsa_state_write_delta_header", self.pointer, base.pointer)

    def write_delta(self, number: int, base: State, first: int, n_features: int) -> bytes:
        """Return the delta of this replica, by its number among all, for a range of features."""
        copies = (c_void_p * 1)(self.pointer)
        return _bytes_of("gsa_state_write_delta", copies, 1, number, base.pointer, first, n_features)

    def fork(self, n_copies: int) -> State:
        """Return one of several replicas that learn different rows in parallel."""
        return State(new_object("gsa_state_fork", self.pointer, n_copies))

    def write(self) -> bytes:
        """Return the state as bytes; equal states give equal bytes."""
        return _bytes_of("gsa_state_write", self.pointer)

    def __reduce__(self) -> Any:
        return State.read, (self.write(),)

    def save(self, path: str) -> None:
        """Write the state to a file."""
        call("gsa_state_save", self.pointer, path_bytes(path))

    def prepare(self, batch: c.Batch) -> None:
        """Take the labels of rows without learning the rows; those of the first call must be the first of the run."""
        call("gsa_state_prepare", self.pointer, byref(batch))

    def add_labels(self, batch: c.Batch) -> None:
        """Add the labels of rows, numbers first and then words, without learning the rows."""
        word = (c_int32 * batch.n_rows).from_address(batch.word) if batch.word else [-1] * batch.n_rows
        numbers = [(c_double * batch.n_rows).from_address(batch.label)[i] for i, at in enumerate(word) if at < 0]
        words = [(c_char_p * batch.n_words).from_address(batch.words)[at] for at in word if at >= 0]
        if numbers:
            call("gsa_state_add_labels", self.pointer, (c_double * len(numbers))(*numbers), None, len(numbers))
        if words:
            call("gsa_state_add_labels", self.pointer, None, (c_char_p * len(words))(*words), len(words))

    def update(self, batch: c.Batch) -> None:
        """Learn rows in their order."""
        call("gsa_state_update", self.pointer, byref(batch))

    def keep_best(self) -> None:
        """Keep the weights as the best checkpoint if their held-out loss is the lowest so far."""
        call("gsa_state_checkpoint_best", self.pointer, None)

    def end_pass(self) -> None:
        """Begin the next pass with the next row."""
        call("gsa_state_end_pass", self.pointer)

    def held_out_loss(self) -> float:
        """Return the loss of the held-out rows; NaN if there are none."""
        return float(c.library().gsa_state_held_out_loss(self.pointer))

    @property
    def schema(self) -> str | None:
        """The schema of the rows; None: rows with feature numbers."""
        return c.text_of(c.library().gsa_state_schema(self.pointer))

    def set_schema(self, schema: str | None) -> None:
        """Set the schema of the rows."""
        text = None if schema is None else schema.encode()
        call("gsa_state_set_schema", self.pointer, text)

    def take_names(self, reader: Reader) -> None:
        """Keep the names of features that a reader remembers."""
        name = ctypes.cast(c.library().gsa_reader_name, c_void_p)
        call("gsa_state_set_names", self.pointer, name, reader.pointer)

    def set_names(self, names: Sequence[str]) -> None:
        """Keep names of the features 0, 1, 2 ..., except names that are not plain text."""
        texts = [name.encode() if name and "\0" not in name else None for name in names]
        array = (c_char_p * len(texts))(*texts)
        addresses = ctypes.cast(array, ctypes.POINTER(c_void_p))
        name = c.FeatureName(lambda _ctx, feature: addresses[feature] if feature < len(texts) else None)
        call("gsa_state_set_names", self.pointer, ctypes.cast(name, c_void_p), None)

    def train(self, reader: Reader, hooks: c.TrainHooks, run: Run) -> None:
        """Learn all passes over a reader."""
        run.call("gsa_train", self.pointer, reader.pointer, byref(hooks), byref(run.struct))

    def train_shard(self, reader: Reader, shard: int, run: Run, n_skipped: int = 0) -> int:
        """Learn all rows of a reader but the first as one shard of a pass; return how many there were."""
        n_rows = ctypes.c_uint64()
        run.call("gsa_train_shard", self.pointer, reader.pointer, shard, n_skipped, byref(run.struct), byref(n_rows))
        return int(n_rows.value)

    @property
    def chosen_method(self) -> str:
        """Return the method that training tries first."""
        return c.text_of(c.library().gsa_train_method(self.pointer, byref(c_char_p()))) or ""

    def wants_another_pass(self, asked: int) -> bool:
        """Return whether shards should learn another pass."""
        return bool(c.library().gsa_plan_another_pass(self.pointer, asked))

    def finish(self) -> CModel:
        """Return the model of the state."""
        return CModel(new_object("gsa_state_finish", self.pointer, None))

    def summary(self) -> c.Summary:
        """Return the summary of the run."""
        return summary_at(self.pointer)

    def get(self, name: str) -> str | None:
        """Return a parameter as text."""
        return c.text_of(c.library().gsa_state_get(self.pointer, name.encode()))


def summary_at(pointer: int) -> c.Summary:
    """Return the summary of a state that is given by its address."""
    summary = c.Summary()
    c.library().gsa_state_get_summary(pointer, byref(summary))
    return summary


class _Lent:
    """Numbers inside an object of the library; arrays made from them keep the object alive."""

    def __init__(self, owner: Handle, address: int | None, shape: tuple[int, ...]) -> None:
        self._owner = owner
        self.__array_interface__ = {
            "data": (address, True),
            "shape": shape,
            "typestr": np.dtype(np.float32).str,
            "version": 3,
        }


class CModel(Handle):
    """A read-only model (gsa_model), safe to share between threads."""

    def __init__(self, pointer: int | None) -> None:
        super().__init__(pointer, "gsa_model_free")
        self.info = c.ModelInfo()
        c.library().gsa_model_get_info(self.pointer, byref(self.info))

    @classmethod
    def load(cls, path: str) -> CModel:
        """Return a model from its file, whose weights are mapped into memory."""
        return cls(new_object("gsa_model_load", path_bytes(path), byref(counted_memory()), None))

    @classmethod
    def read(cls, stored: bytes) -> CModel:
        """Return a model from its bytes."""
        return cls(new_object("gsa_model_read", stored, len(stored), byref(counted_memory())))

    def write(self) -> bytes:
        """Return the model as bytes."""
        return _bytes_of("gsa_model_write", self.pointer)

    def __reduce__(self) -> Any:
        return CModel.read, (self.write(),)

    def save(self, path: str) -> None:
        """Write the model to a file."""
        call("gsa_model_save", self.pointer, path_bytes(path))

    @property
    def loss(self) -> str:
        """The loss by name."""
        return c.text_of(self.info.loss) or ""

    @property
    def schema(self) -> str | None:
        """The schema that tables must match; None: rows with feature numbers."""
        return c.text_of(c.library().gsa_model_schema(self.pointer))

    def results(self) -> dict[str, float]:
        """Return what training chose and measured, by name."""
        found: dict[str, float] = {}
        one = c.Metric()
        while c.library().gsa_model_result_at(self.pointer, len(found), byref(one)) == c.OK:
            found[c.text_of(one.name) or ""] = float(one.value)
        return found

    def labels(self) -> list[str]:
        """Return the labels in sorted order."""
        label = c.library().gsa_model_label
        n = self.info.n_classes
        return [c.text_of(label(self.pointer, i)) or "" for i in range(n)]

    def name(self, feature: int) -> str | None:
        """Return the name of a feature, if one is kept."""
        return c.text_of(c.library().gsa_model_name(self.pointer, feature))

    def strongest(self, n: int, output: int | None = None) -> list[c.StrongFeature]:
        """Return the most important features; output None: each with the largest of its weights."""
        found = (c.StrongFeature * max(n, 1))()
        any_output = 2 ** (8 * ctypes.sizeof(ctypes.c_size_t)) - 1
        count = c.library().gsa_model_strongest(self.pointer, any_output if output is None else output, found, n)
        return list(found[:count])

    def curves(self) -> list[c.Curve]:
        """Return the features with a curve; their arrays are the model's."""
        found: list[c.Curve] = []
        one = c.Curve()
        while c.library().gsa_model_curve(self.pointer, len(found), byref(one)) == c.OK:
            found.append(one)
            one = c.Curve()
        return found

    def pairs(self) -> list[c.Pair]:
        """Return the pairs of features with a surface; their arrays are the model's."""
        found: list[c.Pair] = []
        one = c.Pair()
        while c.library().gsa_model_pair(self.pointer, len(found), byref(one)) == c.OK:
            found.append(one)
            one = c.Pair()
        return found

    @property
    def knots(self) -> tuple[int, int]:
        """The ids that knots and nodes have: the first, and that behind the last."""
        curves, pairs = self.curves(), self.pairs()
        first = min((one.first for one in curves), default=0)
        n = sum(one.n_knots for one in curves) + sum(one.n_knots[0] * one.n_knots[1] for one in pairs)
        return first, first + n

    def lines(self) -> tuple[npt.NDArray[np.uint32] | None, FloatArray]:
        """Return the features that have weights, None: all, and their weights, [features x outputs], read-only."""
        n = ctypes.c_uint64()
        ids = c.library().gsa_model_features(self.pointer, byref(n))
        shape = (n.value, self.info.n_outputs)
        if 0 in shape:
            return (np.zeros(0, np.uint32) if ids else None), np.zeros(shape, np.float32)
        first = ctypes.cast(c.library().gsa_model_weights(self.pointer), c_void_p).value
        return (np.ctypeslib.as_array(ids, (n.value,)).copy() if ids else None), np.asarray(_Lent(self, first, shape))

    def weights(self) -> FloatArray:
        """Return the weights of all features, [features x outputs], read-only and, unless few are used, borrowed."""
        ids, lines = self.lines()
        if ids is None:
            return lines
        weights = np.zeros((self.info.n_features, self.info.n_outputs), np.float32)
        weights[ids] = lines
        weights.flags.writeable = False
        return weights

    def intercepts(self) -> DoubleArray:
        """Return one constant term per output."""
        intercept = c.library().gsa_model_intercept
        return np.array([intercept(self.pointer, k) for k in range(self.info.n_outputs)])

    @property
    def width(self) -> int:
        """The number of values per predicted row."""
        return int(max(1, self.info.n_classes))

    def margins(self, batch: c.Batch, out: DoubleArray) -> None:
        """Fill in one number per row and output."""
        call("gsa_model_margins", self.pointer, byref(batch), out.ctypes.data)

    def predict(self, batch: c.Batch, out: DoubleArray) -> None:
        """Fill in the probabilities of the classes, or the values."""
        call("gsa_model_predict", self.pointer, byref(batch), out.ctypes.data)

    def intervals(self, coverage: float, predictions: DoubleArray) -> DoubleArray:
        """Return the lower and the upper end of the interval of each prediction."""
        found = np.empty((len(predictions), 2))
        of = predictions.ctypes.data
        call("gsa_model_intervals", self.pointer, coverage, of, len(predictions), found.ctypes.data)
        return found

    def explain(self, batch: c.Batch, cells: Cells, out: DoubleArray) -> None:
        """Fill in one number per row, column and output; the cells are those of the rows (Reader.cells)."""
        call("gsa_explain", self.pointer, byref(batch), *cells, out.ctypes.data)


class Reader(Handle):
    """Rows of files, streams or arrays. The Run it was opened for must outlive it."""

    def __init__(self, pointer: int | None, keep: Any = None, *, is_dear: bool = False) -> None:
        super().__init__(pointer, "gsa_reader_close")
        self._keep = keep
        self.names: Sequence[str] = ()  # of features, where rows of a caller have some
        self.means: Callable[[], FloatArray | None] = lambda: None  # of their numbers, where none is missing
        self.is_dear = is_dear  # several passes should keep the rows of the first
        self.guesses_missing = True  # the caller has not said which numbers mean a missing value

    @classmethod
    def of_files(cls, paths: Iterable[str], options: c.ReaderOptions, run: Run) -> Reader:
        """Return a reader of text files and caches."""
        names = [path_bytes(path) for path in paths]
        array = (c_char_p * len(names))(*names)
        pointer = new_object(
            "gsa_reader_open", array, len(names), byref(options), byref(counted_memory()), byref(run.struct)
        )
        return cls(pointer, run)

    def follow(self, schema: str | None) -> None:
        """Set the schema that the columns must match, before anything is read."""
        text = None if schema is None else schema.encode()
        call("gsa_reader_set_schema", self.pointer, text)
        call("gsa_reader_begin", self.pointer)

    @property
    def schema(self) -> str | None:
        """The schema; None: rows with feature numbers."""
        return c.text_of(c.library().gsa_reader_schema(self.pointer))

    @property
    def description(self) -> str | None:
        """A line that describes how the columns of a table were read and how many numbers are missing."""
        return c.text_of(c.library().gsa_reader_description(self.pointer))

    def notices(self) -> list[str]:
        """Return the parts of the description that may be wrong guesses, or lose what the rows hold."""
        marks = ["is text that holds numbers", "if that means missing", "lose their digits"]
        if self.guesses_missing:
            marks.append(" means missing in '")
        return [part for part in (self.description or "").split("; ") if any(mark in part for mark in marks)]

    def progress(self) -> c.ReaderProgress:
        """Return the progress of the reader."""
        progress = c.ReaderProgress()
        c.library().gsa_reader_get_progress(self.pointer, byref(progress))
        return progress

    def next(self, batch: c.Batch) -> bool:
        """Fill in the next rows, borrowed until the next call; return False after the last."""
        return call("gsa_reader_next", self.pointer, byref(batch), may_end=True) == c.OK

    def cells(self) -> Cells:
        """Return the cells of the last batch, if they are kept."""
        number = c_size_t()
        return c.library().gsa_reader_cells(self.pointer, byref(number)), number.value

    def keep(self, folder: str) -> None:
        """Spill rows that are expensive to read to a temporary file, for later passes."""
        call("gsa_reader_spill", self.pointer, path_bytes(folder))


def _missing_text(missing: Any) -> bytes | None:
    """Return numbers that mean a missing value in the library's form."""
    if missing is None or isinstance(missing, str):
        return None if missing is None else missing.encode()
    values = missing if isinstance(missing, Iterable) else [missing]
    return ",".join(repr(float(value)) for value in values).encode() or b"none"


def reader_options(
    *,
    label: str | None = None,
    weight: str | None = None,
    exposure: str | None = None,
    offset: str | None = None,
    per: str | None = None,
    group: str | None = None,
    time: str | None = None,
    categorical: Iterable[str] = (),
    text: Iterable[str] = (),
    ignore: Iterable[str] = (),
    cross: Iterable[str] = (),
    bits: int | None = None,
    decimal: str | None = None,
    dates: str | None = None,
    labels: Iterable[str] = (),
    missing: Any = None,
    monotone: dict[str, int] | None = None,
    skip_bad_rows: bool = False,
    without_labels: bool = False,
    without_weights: bool = False,
    remember_names: bool = False,
    without_offsets: bool = False,
) -> c.ReaderOptions:
    """Return options in the library's form: lists of columns are separated by commas."""

    def listed(value: str | Iterable[str] | None) -> bytes | None:
        if value is None:
            return None
        joined = value if isinstance(value, str) else ",".join(value)
        return joined.encode() or None

    return c.ReaderOptions(
        skip_bad_rows=skip_bad_rows,
        without_labels=without_labels,
        remember_names=remember_names,
        without_offsets=without_offsets,
        label=listed(label),
        weight=listed(weight),
        exposure=listed(exposure),
        offset=listed(offset),
        per=listed(per),
        group=listed(group),
        time=listed(time),
        categorical=listed(categorical),
        text=listed(text),
        ignore=listed(ignore),
        cross=listed(cross),
        bits=bits or 0,
        decimal=listed(decimal),
        dates=listed(dates),
        labels=listed(labels),
        without_weights=without_weights,
        missing=_missing_text(missing),
        increasing=listed(name for name, sign in (monotone or {}).items() if sign > 0),
        decreasing=listed(name for name, sign in (monotone or {}).items() if sign < 0),
    )


def signs_of(monotone: Any, names: Iterable[Any] | None) -> dict[str, int]:
    """Return the signs of columns by name.

    Parameters
    ----------
    monotone : dict or sequence, optional
        Signs by column, or one for each column: 1, 0 or -1.
    names : iterable, optional
        The columns; None: the reader will find them.
    """
    if monotone is None:
        return {}
    columns = None if names is None else [str(name) for name in names]
    if isinstance(monotone, Mapping):
        signs = {str(name): sign for name, sign in monotone.items()}
    elif isinstance(monotone, str) or columns is None:
        raise ValueError(f'monotone= is {monotone!r}: expected signs by column, such as {{"age": 1, "price": -1}}')
    elif len(monotone) != len(columns):
        raise ValueError(f"there are {len(columns)} columns, and monotone= has {len(monotone)} signs: one for each")
    else:
        signs = dict(zip(columns, monotone))
    for name, sign in signs.items():
        if sign not in (-1, 0, 1):
            raise ValueError(f"column {name!r} has the sign {sign!r} (monotone=): expected 1, -1 or 0")
        if columns is not None and name not in columns:
            raise ValueError(f"there is no column {name!r}; the columns are {', '.join(columns)} (monotone=)")
    return {name: int(sign) for name, sign in signs.items() if sign != 0}
