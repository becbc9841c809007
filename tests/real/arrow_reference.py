#!/usr/bin/env python3
"""Compares the rows that the reader makes of Arrow streams with what pyarrow says is in them.

    arrow_reference.py LIBGREEDYSTEP [--tables N] [--seed N]

Generated tables have columns of every type that is read, with nulls, in slices and chunks, and dictionaries; or lists.
What pyarrow says of their cells (to_pylist) is written as text, read by the same library as text, and both are written
as libsvm text, which must be the same. Needs pyarrow; without it the exit code is 77.
"""
import argparse
import csv
import ctypes
import io
import math
import os
import random
import sys
import tempfile

try:
    import pyarrow as pa
except ImportError:
    print("SKIPPED: pyarrow cannot be imported (pip install pyarrow): Arrow streams are NOT compared with it")
    sys.exit(77)


class Options(ctypes.Structure):
    _fields_ = ([("size", ctypes.c_size_t)] +
                [(name, ctypes.c_int) for name in ("skip_bad_rows", "without_labels", "remember_names")] +
                [(name, ctypes.c_char_p) for name in ("label", "weight", "categorical", "ignore", "cross")] +
                [("bits", ctypes.c_uint), ("keep_cells", ctypes.c_int)])

    def __init__(self, **options):
        super().__init__(ctypes.sizeof(type(self)), **options)


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("line", ctypes.c_uint64), ("byte", ctypes.c_uint64),
                ("row", ctypes.c_uint64), ("message", ctypes.c_char * 512), ("rest", ctypes.c_char * 128)]


class Library:
    def __init__(self, path, folder):
        self.lib = ctypes.CDLL(path)
        self.path = os.path.join(folder, "rows.svm").encode()
        self.lib.gsa_reader_close.argtypes = [ctypes.c_void_p]

    def rows_of_stream(self, reader, options):
        stream = (ctypes.c_void_p * 5)()
        reader._export_to_c(ctypes.addressof(stream))
        return self._rows(options, lambda *rest: self.lib.gsa_reader_open_arrow(stream, None, *rest))

    def rows_of_text(self, text, options):
        data = text.encode()
        return self._rows(options, lambda *rest: self.lib.gsa_reader_open_memory(
            data, ctypes.c_size_t(len(data)), b"text", *rest))

    def _rows(self, options, opened):
        reader, writer, error = ctypes.c_void_p(), ctypes.c_void_p(), Error()
        batch = (ctypes.c_uint64 * 64)()

        def check(status, *allowed):
            if status != 0 and status not in allowed:
                raise RuntimeError(error.message.decode())
            return status

        check(opened(ctypes.byref(options), None, None, ctypes.byref(reader), ctypes.byref(error)))
        try:
            check(self.lib.gsa_writer_open(self.path, None, None, None, ctypes.byref(writer), ctypes.byref(error)))
            while check(self.lib.gsa_reader_next(reader, batch, ctypes.byref(error)), 1) == 0:
                check(self.lib.gsa_writer_write(writer, batch, ctypes.byref(error)))
            check(self.lib.gsa_writer_close(writer, ctypes.byref(error)))
        finally:
            self.lib.gsa_reader_close(reader)
        with open(self.path, encoding="utf-8") as file:
            return file.read()


WORDS = ["oslo", "rome", "", "NaN", "null", " blank ", "a,b", 'quote "x"', "é", "日本語の長い名前の町", "x" * 100, "12"]
INTEGERS = [(pa.int8(), 8, True), (pa.int16(), 16, True), (pa.int32(), 32, True), (pa.int64(), 64, True),
            (pa.uint8(), 8, False), (pa.uint16(), 16, False), (pa.uint32(), 32, False), (pa.uint64(), 64, False)]
TEXTS = [pa.string(), pa.large_string()] + ([pa.string_view()] if hasattr(pa, "string_view") else [])


def make_cells(rng, kind, n):
    """A type and n cells of it."""
    if kind == "integer":
        of, bits, signed = rng.choice(INTEGERS)
        low = -(1 << (bits - 1)) if signed else 0
        cells = [rng.randrange(low, low + (1 << bits)) if rng.random() < 0.5 else rng.randrange(0, 5) for _ in range(n)]
    elif kind == "float":
        of = rng.choice([pa.float32(), pa.float64()])
        cells = [rng.choice([rng.gauss(0, 1), 0.0, math.nan, 1e30, 1e-30]) for _ in range(n)]
    elif kind == "bool":
        of, cells = pa.bool_(), [rng.random() < 0.5 for _ in range(n)]
    elif kind == "null":
        return pa.null(), [None] * n
    else:
        of, cells = rng.choice(TEXTS), [rng.choice(WORDS) for _ in range(n)]
    share = rng.choice([0, 0.1, 0.9])
    return of, [None if rng.random() < share else cell for cell in cells]


def make_array(rng, of, cells, encoded):
    """An array of these cells that may be a slice of a longer one, and have a dictionary."""
    before, after = rng.choice([0, 1, 3, 8, 13]), rng.choice([0, 2])
    long = cells[:1] * before + cells + cells[:1] * after
    array = pa.array(long, of)
    if encoded and of != TEXTS[-1]:
        array = array.dictionary_encode()
        array = pa.DictionaryArray.from_arrays(array.indices.cast(encoded), array.dictionary)
    return array.slice(before, len(cells))


def make_column(rng, of, cells, encoded):
    """In chunks, some of them empty."""
    chunks, at = [], 0
    while at < len(cells) or not chunks:
        n = min(rng.choice([0, 1, 7, 30, 1000]), len(cells) - at)
        chunks.append(make_array(rng, of, cells[at:at + n], encoded))
        at += n
    return pa.chunked_array(chunks, chunks[0].type)


def stream_of(rng, names, columns):
    table = pa.table(dict(zip(names, columns)))
    return table, table.to_reader(max_chunksize=rng.choice([1, 5, 64, 10000]))


def cell_text(cell):
    if cell is None or cell != cell:
        return ""
    return int(cell) if isinstance(cell, bool) else cell


def compare_columns(rng, library):
    n = rng.choice([1, 9, 64, 300])
    names, columns, texts = ["y"], [make_column(rng, pa.int32(), [rng.randrange(2) for _ in range(n)], None)], []
    for i in range(rng.randrange(1, 8)):
        kind = rng.choice(["integer", "float", "bool", "text", "null"])
        of, cells = make_cells(rng, kind, n)
        encoded = rng.choice([None, pa.int16(), pa.uint32()]) if kind in ("text", "float", "integer") else None
        names.append(f"c{i}")
        columns.append(make_column(rng, of, cells, encoded))
        if kind == "text" or (kind == "integer" and rng.random() < 0.3):
            texts.append(names[-1])
    table, reader = stream_of(rng, names, columns)
    options = Options(categorical=",".join(texts).encode() or None, bits=12)
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(names)
    writer.writerows([cell_text(row[name]) for name in names] for row in table.to_pylist())
    return library.rows_of_stream(reader, options), library.rows_of_text(out.getvalue(), options), table.schema


def compare_lists(rng, library):
    n = rng.choice([1, 9, 300])
    labels = make_column(rng, pa.int8(), [rng.randrange(2) for _ in range(n)], None)
    value_type = rng.choice([pa.float32(), pa.float64()])
    width = rng.choice([None, None, 1, 5])
    value = lambda: rng.choice([None, math.nan, 0.0, 1.0, rng.gauss(0, 1)])
    if width is None:
        of = rng.choice([pa.list_, pa.large_list])
        ids = [rng.sample(range(100), rng.randrange(6)) if rng.random() < 0.9 else None for _ in range(n)]
        values = [None if row is None else [value() for _ in row] for row in ids]
        columns = [make_column(rng, of(rng.choice(INTEGERS)[0]), ids, None),
                   make_column(rng, of(value_type), values, None)]
        names = rng.choice([["indices", "values"], ["a", "b"]])
    else:
        names = ["v"]
        values = [[value() for _ in range(width)] if rng.random() < 0.9 else None for _ in range(n)]
        columns = [make_column(rng, pa.list_(value_type, width), values, None)]
    table, reader = stream_of(rng, ["y"] + names, [labels] + columns)
    lines = []
    for row in table.to_pylist():
        found = row[names[-1]] or []
        pairs = sorted(zip(row[names[0]] if width is None and found else range(len(found)), found))
        lines.append(" ".join([str(row["y"])] + [f"{i + 1}:{x!r}" for i, x in pairs if x is not None and x == x]))
    options = Options()
    return library.rows_of_stream(reader, options), library.rows_of_text("\n".join(lines) + "\n", options), table.schema


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    n_rows = 0
    with tempfile.TemporaryDirectory() as folder:
        library = Library(arguments.library, folder)
        for number in range(arguments.tables):
            rng = random.Random(arguments.seed * 1000003 + number)
            compare = compare_lists if number % 4 == 0 else compare_columns
            ours, expected, schema = compare(rng, library)
            if ours != expected:
                print(f"table {number} of seed {arguments.seed} differs:\n{schema}")
                for a, b in zip(ours.splitlines(), expected.splitlines()):
                    if a != b:
                        print(f"stream: {a}\ntext:   {b}")
                        break
                sys.exit(1)
            n_rows += ours.count("\n")
    print(f"{arguments.tables} tables ({n_rows} rows) are what pyarrow {pa.__version__} says they are")


if __name__ == "__main__":
    main()
