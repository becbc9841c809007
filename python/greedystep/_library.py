"""The C library as ctypes sees it: structs, prototypes and the one place where it is loaded.

Structs and functions are those of include/greedystep/*.h, in their order, and are described
there. Nothing else in the package names a C type.
"""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int64,
    c_size_t,
    c_uint,
    c_uint32,
    c_uint64,
    c_void_p,
)
from functools import lru_cache
from pathlib import Path
from typing import Any

OK, END, STOPPED, MEMORY, ARGUMENT, INPUT, IO = range(7)
FORMAT, LIMIT, LABEL, DIVERGED, UNSUPPORTED, CONFLICT = range(7, 13)
# Constants of the headers, each without its GSA_.
NO_ROW = 2**64 - 1
MAX_ID = 0xFFFFFFFD
BLOCK_ROWS = 65536
FIRST_ROWS = 8192
FIRST_ENTRIES = 1 << 22
FIRST_SHARD = 1 << 31


class Sized(Structure):
    """A struct that begins with its size."""

    def __init__(self, *arguments: Any, **members: Any) -> None:
        super().__init__(ctypes.sizeof(self), *arguments, **members)


class Error(Structure):
    """gsa_error."""

    _fields_ = [
        ("status", c_int),
        ("line", c_uint64),
        ("byte", c_uint64),
        ("row", c_uint64),
        ("message", c_char * 512),
        ("param", c_char * 32),
    ]


class Budget(Sized):
    """gsa_budget."""

    _fields_ = [("size", c_size_t), ("limit", c_uint64), ("used", c_size_t), ("refused", c_size_t)]


class Memory(Sized):
    """gsa_memory. Functions are addresses, so that C functions fit in too."""

    _fields_ = [
        ("size", c_size_t),
        ("alloc", c_void_p),
        ("alloc_zeroed", c_void_p),
        ("resize", c_void_p),
        ("release", c_void_p),
        ("ctx", c_void_p),
        ("budget", POINTER(Budget)),
    ]


class Call(Sized):
    """gsa_call."""

    _fields_ = [("size", c_size_t), ("should_stop", c_void_p), ("ctx", c_void_p), ("n_threads", c_uint)]


class Batch(Structure):
    """gsa_batch. Arrays are addresses; the caller keeps the arrays alive."""

    _fields_ = [
        ("n_rows", c_size_t),
        ("row_start", c_void_p),
        ("index", c_void_p),
        ("value", c_void_p),
        ("width", c_size_t),
        ("label", c_void_p),
        ("word", c_void_p),
        ("words", c_void_p),
        ("n_words", c_size_t),
        ("weight", c_void_p),
        ("place", c_void_p),
        ("kept", c_void_p),
        ("kept_start", c_void_p),
        ("bad", c_void_p),
        ("group", c_void_p),
        ("group_is_time", c_int),
    ]


class Param(Structure):
    """gsa_param."""

    _fields_ = [
        ("name", c_char_p),
        ("kind", c_int),
        ("choices", c_char_p),
        ("initial", c_char_p),
        ("least", c_uint64),
        ("most", c_uint64),
        ("help", c_char_p),
    ]


class Summary(Sized):
    """gsa_summary."""

    _fields_ = [
        ("size", c_size_t),
        ("loss", c_char_p),
        ("method", c_char_p),
        ("n_rows", c_uint64),
        ("n_rows_all", c_uint64),
        ("n_held_out", c_uint64),
        ("n_features", c_uint64),
        ("n_used", c_uint64),
        ("n_classes", c_uint64),
        ("pass_", c_uint64),
        ("pass_rows", c_uint64),
        ("step", c_double),
        ("loss_sum", c_double),
        ("loss_weight", c_double),
        ("last_pass_loss", c_double),
        ("n_merged", c_uint64),
        ("best_pass", c_uint64),
        ("best_loss", c_double),
        ("falling", c_double),
        ("n_features_full", c_uint64),
        ("n_features_kept", c_uint64),
        ("full_loss", c_double),
        ("compact_loss", c_double),
        ("compact_error", c_double),
        ("order_feature", c_uint64),
        ("latest_loss", c_double),
    ]


class ModelInfo(Sized):
    """gsa_model_info."""

    _fields_ = [
        ("size", c_size_t),
        ("loss", c_char_p),
        ("method", c_char_p),
        ("average", c_char_p),
        ("n_rows", c_uint64),
        ("n_passes", c_uint64),
        ("n_features", c_uint64),
        ("n_used", c_uint64),
        ("n_outputs", c_uint64),
        ("n_classes", c_uint64),
        ("has_intercept", c_int),
        ("has_probabilities", c_int),
        ("has_log_link", c_int),
    ]


OpenFile = CFUNCTYPE(c_int, c_void_p, c_char_p, POINTER(c_void_p), POINTER(c_uint64), POINTER(Error))
ReadFile = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, POINTER(c_size_t), POINTER(Error))
SeekFile = CFUNCTYPE(c_int, c_void_p, c_uint64, POINTER(Error))
CloseFile = CFUNCTYPE(None, c_void_p)


class FileSource(Sized):
    """gsa_file_source."""

    _fields_ = [
        ("size", c_size_t),
        ("ctx", c_void_p),
        ("open", OpenFile),
        ("read", ReadFile),
        ("seek", SeekFile),
        ("close", CloseFile),
    ]


class Cell(Structure):
    """gsa_cell."""

    _fields_ = [("text", c_char_p), ("text_size", c_size_t), ("number", c_double)]


class ReaderOptions(Sized):
    """gsa_reader_options."""

    _fields_ = [
        ("size", c_size_t),
        ("skip_bad_rows", c_int),
        ("without_labels", c_int),
        ("remember_names", c_int),
        ("label", c_char_p),
        ("weight", c_char_p),
        ("categorical", c_char_p),
        ("ignore", c_char_p),
        ("cross", c_char_p),
        ("bits", c_uint),
        ("keep_cells", c_int),
        ("decimal", c_char_p),
        ("dates", c_char_p),
        ("files", POINTER(FileSource)),
        ("keep", c_char_p),
        ("keep_tags", c_int),
        ("keep_bad_rows", c_int),
        ("exposure", c_char_p),
        ("labels", c_char_p),
        ("without_weights", c_int),
        ("without_offsets", c_int),
        ("missing", c_char_p),
        ("group", c_char_p),
        ("time", c_char_p),
        ("text", c_char_p),
        ("offset", c_char_p),
        ("increasing", c_char_p),
        ("decreasing", c_char_p),
        ("per", c_char_p),
    ]


class ReaderProgress(Sized):
    """gsa_reader_progress."""

    _fields_ = [
        ("size", c_size_t),
        ("n_rows", c_uint64),
        ("n_bad_rows", c_uint64),
        ("bytes_read", c_uint64),
        ("bytes_total", c_uint64),
        ("is_stream", c_int),
        ("bytes_kept", c_uint64),
        ("keep_failed", c_int),
        ("n_unlabelled", c_uint64),
        ("n_recoded", c_uint64),
    ]


class Metric(Structure):
    """gsa_metric."""

    _fields_ = [("name", c_char_p), ("value", c_double)]


class Curve(Sized):
    """gsa_curve."""

    _fields_ = (
        ("size", c_size_t),
        ("feature", c_uint64),
        ("first", c_uint64),
        ("n_knots", c_uint32),
        ("knot", POINTER(c_float)),
        ("share", POINTER(c_float)),
    )
    feature: int
    first: int
    n_knots: int
    knot: Any
    share: Any


class Pair(Sized):
    """gsa_pair."""

    _fields_ = (
        ("size", c_size_t),
        ("feature", c_uint64 * 2),
        ("first", c_uint64),
        ("n_knots", c_uint32 * 2),
        ("knot", POINTER(c_float) * 2),
        ("share", POINTER(c_float)),
    )
    feature: Any
    first: int
    n_knots: Any
    knot: Any
    share: Any


class StrongFeature(Structure):
    """gsa_strong_feature."""

    _fields_ = [("feature", c_uint64), ("output", c_size_t), ("weight", c_double), ("importance", c_double)]


class ClassMetrics(Structure):
    """gsa_class_metrics."""

    _fields_ = [
        ("size", c_size_t),
        *((name, c_double) for name in ("rows", "predicted", "correct", "precision", "recall", "f1")),
    ]


NextRows = CFUNCTYPE(c_int, c_void_p, POINTER(Batch), POINTER(Error))
RewindRows = CFUNCTYPE(c_int, c_void_p, POINTER(Error))
Progress = CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)
PassEnded = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(Error))
Notice = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
StrengthTried = CFUNCTYPE(None, c_void_p, c_uint64, c_uint64, c_char_p, c_double)
WriteBytes = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)
FeatureName = CFUNCTYPE(c_void_p, c_void_p, c_uint64)
OpenAgain = CFUNCTYPE(c_int, c_void_p, c_void_p)
GetSchema = GetNext = CFUNCTYPE(c_int, c_void_p, c_void_p)
StreamError = CFUNCTYPE(c_void_p, c_void_p)
Release = CFUNCTYPE(None, c_void_p)


class RowSource(Sized):
    """gsa_row_source."""

    _fields_ = [("size", c_size_t), ("ctx", c_void_p), ("next", NextRows), ("rewind", RewindRows)]


class ArrowAgain(Sized):
    """gsa_arrow_again."""

    _fields_ = [("size", c_size_t), ("open", OpenAgain), ("release", c_void_p), ("ctx", c_void_p)]


class ArrowSchema(Structure):
    """ArrowSchema of the Arrow C data interface."""

    _fields_ = [
        ("format", c_char_p),
        ("name", c_char_p),
        ("metadata", c_void_p),
        ("flags", c_int64),
        ("n_children", c_int64),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class ArrowArray(Structure):
    """ArrowArray of the Arrow C data interface."""

    _fields_ = [
        ("length", c_int64),
        ("null_count", c_int64),
        ("offset", c_int64),
        ("n_buffers", c_int64),
        ("n_children", c_int64),
        ("buffers", c_void_p),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class ArrowArrayStream(Structure):
    """ArrowArrayStream of the Arrow C stream interface, as a place for one."""

    _fields_ = [
        ("get_schema", c_void_p),
        ("get_next", c_void_p),
        ("get_last_error", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class TrainHooks(Sized):
    """gsa_train_hooks."""

    _fields_ = [
        ("size", c_size_t),
        ("ctx", c_void_p),
        ("progress", Progress),
        ("pass_ended", PassEnded),
        ("notice", Notice),
        ("state_is_whole", PassEnded),
        ("round_ended", c_void_p),
        ("comm", c_void_p),
        ("files_are_own", c_int),
        ("strength_tried", StrengthTried),
        ("is_live", c_int),
        ("starts_at_position", c_int),
    ]


_P = c_void_p
_OUT = POINTER(c_void_p)
_E = POINTER(Error)
_M = POINTER(Memory)
_C = POINTER(Call)
_B = POINTER(Batch)

# name: (result, arguments). A result of c_int is a status, which _errors.call looks at.
_PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "gsa_version": (c_char_p, []),
    "gsa_machine_processors": (c_size_t, []),
    "gsa_machine_memory": (c_uint64, []),
    "gsa_status_text": (c_char_p, [c_int]),
    "gsa_param_at": (POINTER(Param), [c_size_t]),
    "gsa_config_new": (c_int, [_M, _OUT, _E]),
    "gsa_config_free": (None, [_P]),
    "gsa_config_set": (c_int, [_P, c_char_p, c_char_p, _E]),
    "gsa_state_new": (c_int, [_P, _M, _OUT, _E]),
    "gsa_state_free": (None, [_P]),
    "gsa_state_prepare": (c_int, [_P, _B, _E]),
    "gsa_state_add_labels": (c_int, [_P, POINTER(c_double), POINTER(c_char_p), c_size_t, _E]),
    "gsa_state_update": (c_int, [_P, _B, _E]),
    "gsa_state_end_pass": (c_int, [_P, _E]),
    "gsa_state_checkpoint_best": (c_int, [_P, _C, _E]),
    "gsa_state_merge": (c_int, [POINTER(_P), c_size_t, _P, _C, _OUT, _E]),
    "gsa_state_write_delta_header": (c_int, [_P, _P, WriteBytes, _P, _E]),
    "gsa_state_write_delta": (
        c_int,
        [POINTER(_P), c_size_t, c_size_t, _P, c_uint64, c_uint64, WriteBytes, _P, _E],
    ),
    "gsa_deltas_reduce": (
        c_int,
        [POINTER(c_char_p), POINTER(c_size_t), c_size_t, _M, WriteBytes, _P, _E],
    ),
    "gsa_state_merge_deltas": (
        c_int,
        [
            POINTER(_P),
            c_size_t,
            _P,
            POINTER(c_char_p),
            POINTER(c_size_t),
            c_size_t,
            _C,
            _OUT,
            _E,
        ],
    ),
    "gsa_state_start_from": (c_int, [_P, _P, _OUT, _E]),
    "gsa_state_fork": (c_int, [_P, c_size_t, _OUT, _E]),
    "gsa_state_finish": (c_int, [_P, _C, _OUT, _E]),
    "gsa_state_get_summary": (c_int, [_P, POINTER(Summary)]),
    "gsa_state_held_out_loss": (c_double, [_P]),
    "gsa_state_get": (c_char_p, [_P, c_char_p]),
    "gsa_state_set_schema": (c_int, [_P, c_char_p, _E]),
    "gsa_state_schema": (c_char_p, [_P]),
    "gsa_state_set_names": (c_int, [_P, _P, _P, _E]),
    "gsa_state_save": (c_int, [_P, c_char_p, _E]),
    "gsa_state_load": (c_int, [c_char_p, _M, _C, _OUT, _E]),
    "gsa_state_write": (c_int, [_P, WriteBytes, _P, _E]),
    "gsa_state_read": (c_int, [c_char_p, c_size_t, _M, _OUT, _E]),
    "gsa_model_free": (None, [_P]),
    "gsa_model_save": (c_int, [_P, c_char_p, _E]),
    "gsa_model_load": (c_int, [c_char_p, _M, _C, _OUT, _E]),
    "gsa_model_write": (c_int, [_P, WriteBytes, _P, _E]),
    "gsa_model_read": (c_int, [c_char_p, c_size_t, _M, _OUT, _E]),
    "gsa_model_get_info": (c_int, [_P, POINTER(ModelInfo)]),
    "gsa_model_result_at": (c_int, [_P, c_size_t, POINTER(Metric)]),
    "gsa_model_label": (c_char_p, [_P, c_size_t]),
    "gsa_model_schema": (c_char_p, [_P]),
    "gsa_model_name": (c_char_p, [_P, c_uint64]),
    "gsa_model_intercept": (c_double, [_P, c_size_t]),
    "gsa_model_features": (POINTER(c_uint32), [_P, POINTER(c_uint64)]),
    "gsa_model_weights": (POINTER(c_float), [_P]),
    "gsa_model_intervals": (c_int, [_P, c_double, _P, c_size_t, _P, _E]),
    "gsa_model_margins": (c_int, [_P, _B, _P, _E]),
    "gsa_model_class": (c_int, [_P, _B, c_size_t, POINTER(c_size_t), _E]),
    "gsa_model_predict": (c_int, [_P, _B, _P, _E]),
    "gsa_model_curve": (c_int, [_P, c_size_t, POINTER(Curve)]),
    "gsa_model_pair": (c_int, [_P, c_size_t, POINTER(Pair)]),
    "gsa_model_strongest": (c_size_t, [_P, c_size_t, POINTER(StrongFeature), c_size_t]),
    "gsa_metrics_new": (c_int, [_P, _OUT, _E]),
    "gsa_metrics_free": (None, [_P]),
    "gsa_metrics_update": (c_int, [_P, _B, _E]),
    "gsa_metrics_finish": (c_int, [_P, _E]),
    "gsa_metrics_at": (c_int, [_P, c_size_t, POINTER(Metric)]),
    "gsa_metrics_unknown_label": (c_char_p, [_P, c_size_t]),
    "gsa_metrics_class_at": (c_int, [_P, c_size_t, POINTER(ClassMetrics)]),
    "gsa_reader_open": (
        c_int,
        [POINTER(c_char_p), c_size_t, POINTER(ReaderOptions), _M, _C, _OUT, _E],
    ),
    "gsa_reader_open_arrow": (
        c_int,
        [
            POINTER(ArrowArrayStream),
            POINTER(ArrowAgain),
            POINTER(ReaderOptions),
            _M,
            _C,
            _OUT,
            _E,
        ],
    ),
    "gsa_reader_open_rows": (c_int, [POINTER(RowSource), _M, _C, _OUT, _E]),
    "gsa_row_new": (c_int, [c_char_p, POINTER(c_char_p), c_size_t, _M, _OUT, _E]),
    "gsa_row_column": (c_char_p, [_P, c_size_t]),
    "gsa_row_set": (c_int, [_P, POINTER(Cell), _B, _E]),
    "gsa_row_free": (None, [_P]),
    "gsa_reader_begin": (c_int, [_P, _E]),
    "gsa_reader_next": (c_int, [_P, _B, _E]),
    "gsa_reader_set_schema": (c_int, [_P, c_char_p, _E]),
    "gsa_reader_schema": (c_char_p, [_P]),
    "gsa_reader_description": (c_char_p, [_P]),
    "gsa_reader_cells": (c_void_p, [_P, POINTER(c_size_t)]),
    "gsa_reader_name": (c_char_p, [_P, c_uint64]),
    "gsa_reader_spill": (c_int, [_P, c_char_p, _E]),
    "gsa_reader_get_progress": (c_int, [_P, POINTER(ReaderProgress)]),
    "gsa_reader_close": (None, [_P]),
    "gsa_half_read": (None, [c_int, _P, c_size_t, _P]),
    "gsa_writer_open": (c_int, [c_char_p, c_char_p, _M, _C, _OUT, _E]),
    "gsa_writer_write": (c_int, [_P, _B, _E]),
    "gsa_writer_close": (c_int, [_P, _E]),
    "gsa_writer_discard": (None, [_P]),
    "gsa_plan_first_rows": (c_uint64, [c_uint64, c_uint64]),
    "gsa_plan_replicas": (c_uint64, [c_uint64, c_uint64]),
    "gsa_plan_another_pass": (c_int, [_P, c_uint64]),
    "gsa_train": (c_int, [_P, _P, POINTER(TrainHooks), _C, _E]),
    "gsa_train_method": (c_char_p, [_P, POINTER(c_char_p)]),
    "gsa_train_fits": (c_int, [c_uint64, c_uint64, c_uint64]),
    "gsa_train_shard": (c_int, [_P, _P, c_uint64, c_uint64, _C, POINTER(c_uint64), _E]),
    "gsa_evaluate": (c_int, [_P, _P, _C, _E]),
    "gsa_explain": (c_int, [_P, _B, _P, c_size_t, _P, _E]),
}


# The number is that of the binary interface, src/CMakeLists.txt.
SYSTEM_NAME, _ENDING = {
    "win32": ("libgreedystep.dll", ".dll"),
    "darwin": ("libgreedystep.0.dylib", ".dylib"),
}.get(sys.platform, ("libgreedystep.so.0", ".so"))


def _name() -> str:
    """Return the library to load: $GREEDYSTEP_LIBRARY, the one beside this file (in a wheel), else the system's."""
    beside = Path(__file__).with_name("libgreedystep" + _ENDING)
    return os.environ.get("GREEDYSTEP_LIBRARY") or (str(beside) if beside.exists() else SYSTEM_NAME)


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """Return the library, loaded once; its calls release the GIL."""
    try:
        loaded = ctypes.CDLL(_name())
    except OSError as error:
        raise ImportError(
            f"libgreedystep is missing: {error}; install the package (pip install .), or let GREEDYSTEP_LIBRARY "
            "name the library of a build"
        ) from error
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = arguments
    return loaded


def version() -> str:
    """Return the version of the C library."""
    return text_of(library().gsa_version()) or ""


def text_of(text: bytes | None) -> str | None:
    """Return a C text as a Python one."""
    return None if text is None else text.decode("utf-8", "replace")
