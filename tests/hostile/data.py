"""Hostile rows: text, caches and compressed streams.

A case is (name, {verb: what it must say, None if it may succeed}, source). The key "" stands for all other verbs. A source is
the bytes of a file, a function that writes a file (given its path), or Stream(function), which is given a function that
writes to the command's standard input."""
import bz2
import gzip
import lzma
import struct
import zlib

from files import END, MAGIC, cache_block, cache_file, cache_part

GiB = 1 << 30
SKIP = object()


class Stream:
    def __init__(self, produce):
        self.produce = produce


def repeated(piece, size, begin=b""):
    """A stream of `begin` and then the piece again and again, up to about that size; nobody holds all of it."""
    def produce(write):
        chunk = piece * max(1, (1 << 16) // len(piece))
        write(begin)
        for _ in range(size // len(chunk)):
            write(chunk)
    return Stream(produce)


def hole(size):
    def write(path):
        with open(path, "wb") as f:
            f.truncate(size)
    return write


def lines(make, n):
    def produce(write):
        for first in range(0, n, 4096):
            write(b"".join(make(i) for i in range(first, min(n, first + 4096))))
    return Stream(produce)


TOO_LONG = "longer than|more than [0-9]+ cells|is a table"


def text_cases(slow):
    n_labels, lines_size = (10**7, GiB) if slow else (500000, GiB // 32)
    return [
        ("index_4294967294_in_a_short_file", {"train": "above the memory limit", "": None}, b"1 4294967294:1"),
        ("index_4294967295", {"": "index"}, b"1 4294967295:1"),
        ("an_index_of_fifty_digits", {"": "index"}, b"1 " + b"9" * 50 + b":1\n"),
        ("a_line_of_ten_gigabytes_of_nothing", {"": TOO_LONG}, hole(10 * GiB)),
        ("a_line_of_ten_gigabytes_in_a_pipe", {"": TOO_LONG}, repeated(b"1 ", 10 * GiB)),
        ("a_row_of_a_billion_features", {"": TOO_LONG}, repeated(b" 7:1", 10 * GiB, b"1")),
        ("a_row_of_a_billion_cells", {"": TOO_LONG}, repeated(b",", 10 * GiB, b"label,a\n1,")),
        ("a_header_of_a_billion_cells", {"": TOO_LONG}, repeated(b",c", 10 * GiB, b"label")),
        ("a_million_columns", {"": None}, lambda path: wide(path, 1000000)),
        ("two_million_columns", {"": "columns|cells|longer|255 bytes"}, lambda path: wide(path, 2000000)),
        ("a_quoted_cell_that_never_ends", {"": TOO_LONG}, repeated(b"x\n", 10 * GiB, b'label,a\n1,"')),
        ("a_quoted_cell_that_the_file_ends", {"predict": "is a table", "": "quot"}, b'label,a\n1,2\n0,"never'),
        ("a_vw_name_of_ten_gigabytes", {"": TOO_LONG}, repeated(b"x", 10 * GiB, b"1 |n ")),
        ("a_vw_namespace_of_ten_gigabytes", {"": TOO_LONG}, repeated(b"x", 10 * GiB, b"1 |")),
        ("a_label_of_ten_gigabytes", {"": TOO_LONG}, repeated(b"x", 10 * GiB)),
        # Not for train, which takes as long as that many classes take before it comes to the limit.
        ("words_as_labels_without_end", {"train": SKIP, "predict": None, "": "different words"},
         lines(lambda i: b"w%d 1:1\n" % i, n_labels)),
        ("numbers_as_labels_without_end", {"train": None, "": None}, lines(lambda i: b"%d 1:1\n" % i, n_labels)),
        ("empty_lines_without_end", {"train": "no rows", "inspect": "no rows", "": None}, repeated(b"\n", lines_size)),
        ("comments_without_end", {"train": "no rows", "inspect": "no rows", "": None}, repeated(b"#\n", lines_size)),
        ("a_value_that_is_nan", {"": "finite"}, b"1 1:nan\n"),
        ("a_value_beyond_floats", {"": "does not fit a float"}, b"1 1:1e999\n"),
        ("a_number_of_a_megabyte", {"": None}, b"1 1:1." + b"0" * 1000000 + b"1\n0 1:2\n"),
        ("a_label_of_bad_utf8", {"predict": None, "": "UTF-8"}, b"\xff\xfe 1:1\n"),
        ("nul_bytes", {"": "NUL"}, b"1 1:1\0\n"),
        ("utf16", {"": "NUL|UTF-16|UTF-8"}, "1 1:1\n".encode("utf-16")),
        ("an_arrow_file", {"": "Arrow|NUL|UTF-8|label"}, b"ARROW1\0\0" + b"\xff\xff\xff\xff" + b"\xff" * 64),
        ("an_arrow_stream_of_2_to_60_bytes", {"": "Arrow|NUL|UTF-8"},
         b"\xff\xff\xff\xff" + struct.pack("<i", 2**31 - 1) + struct.pack("<Q", 1 << 60) * 8),
        ("crosses_of_many_words", {"": None}, b"1 |a " + b" ".join(b"w%d" % i for i in range(20000)) + b"\n"),
    ]


def features(n_lines, n):
    """Lines of Vowpal Wabbit text, of n features of the namespace a each."""
    return b"".join(b"%d |a " % (i % 2) + b" ".join(b"f%d" % f for f in range(n)) + b"\n" for i in range(n_lines))


def line_cases():
    """(name, what it must say, arguments, bytes): little text that becomes much."""
    cross, table = ["bad", "--cross", "a:a"], ["bad.csv"]
    return [
        ("crosses_of_8000_features", "features of this line", cross, features(2, 8000)),
        ("crosses_of_20000_features", "features of this line", cross, features(4, 20000)),
        ("crosses_of_2500_features", "memory limit", cross, features(2, 2500)),
        ("a_line_of_2_to_20_cells", "more than 6554 cells", table, b"1" + b",w" * (2**20 - 10) + b"\n"),
        ("a_header_of_2_to_20_cells", "more than 6554 cells", table, b"label" + b",w" * (2**20 - 10) + b"\n1,2\n"),
    ]


def wide(path, n):
    with open(path, "wb") as f:
        f.write(b"label," + b",".join(b"c%d" % i for i in range(n)) + b"\n")
        for row in range(3):
            f.write(b"%d" % (row % 2) + b",1" * n + b"\n")


def cache_cases(seal):
    def one(*arguments, **options):
        return cache_file(seal, [cache_block(seal, *arguments, **options)])

    def whole(**options):
        return cache_file(seal, [cache_block(seal, [1, 1], [0, 1])], **options)

    def headed(part):
        return MAGIC + part + struct.pack("<Q", 16) + END

    nan, inf = float("nan"), float("inf")
    limit = "quarter of the memory limit|ends in the middle"
    return [
        ("a_block_of_2_to_60_bytes", {"": limit},
         headed(cache_block(seal, [1], [0], claimed_size=(1 << 60) + 21, fields={2: 1 << 58})[0])),
        ("a_block_of_2_to_64_less_1_bytes", {"": limit + "|does not fit"},
         headed(cache_block(seal, [1], [0], claimed_size=(1 << 64) - 1)[0])),
        ("a_schema_of_2_to_60_bytes", {"": limit}, headed(cache_part(seal, b"SCHEMA\0\0", b"x", [0] * 6, 1 << 60))),
        ("an_index_of_2_to_60_bytes", {"": "ends in the middle"}, whole(index_size=1 << 60, index_fields={1: (1 << 60) // 24})),
        ("a_block_of_2_to_31_entries", {"": "makes no sense"}, one([1], [0], fields={2: 1 << 31})),
        ("a_block_of_2_to_31_rows", {"": "makes no sense|does not"}, one([1], [0], fields={1: 1 << 31})),
        ("a_block_of_2_to_63_words", {"": "makes no sense"}, one([1], [0], fields={4: 1 << 63})),
        ("a_block_of_2_to_63_labels", {"": "makes no sense"}, one([1], [0], fields={3: 1 << 63})),
        ("more_entries_in_rows_than_in_the_block", {"": "damaged cache"}, one([3, 4], [0, 1])),
        ("a_row_of_2_to_32_less_1_entries", {"": "damaged cache"}, one([0xFFFFFFFF, 1], [0, 1])),
        ("ids_that_descend", {"": "damaged cache"}, one([2], [7, 6])),
        ("an_id_twice", {"": "damaged cache"}, one([1, 2], [7, 7, 7])),
        ("the_id_2_to_32_less_1", {"": "damaged cache"}, one([1], [0xFFFFFFFF])),
        ("the_id_2_to_32_less_3", {"train": "above the memory limit", "": None},
         cache_file(seal, [cache_block(seal, [1], [0xFFFFFFFD])], n_features=0xFFFFFFFE)),
        ("values_that_are_nan", {"": "damaged cache"}, one([1, 1], [0, 1], values=[nan, 1.0])),
        ("values_that_are_zero", {"": "damaged cache"}, one([1, 1], [0, 1], values=[1.0, -0.0])),
        ("values_that_are_infinite", {"": "damaged cache"}, one([1, 1], [0, 1], values=[1.0, -inf])),
        ("labels_that_are_nan", {"": "damaged cache"}, one([1, 1], [0, 1], labels=(0.0, nan))),
        ("a_label_out_of_the_table", {"": "damaged cache"}, one([1, 1], [0, 1], codes=[0, 200])),
        ("a_word_out_of_the_list", {"": "damaged cache"}, one([1], [0], labels=(b"\7\0\0\0\xff\xff\xff\xff",))),
        ("a_word_of_bad_utf8", {"": "damaged cache"},
         one([1], [0], labels=(b"\0\0\0\0\xff\xff\xff\xff",), words=b"\2\xff\xfe", n_words=1)),
        ("a_word_beyond_the_block", {"": "damaged cache"},
         one([1], [0], labels=(b"\0\0\0\0\xff\xff\xff\xff",), words=b"\xffx", n_words=1)),
        ("unknown_flags", {"": "makes no sense"}, one([1], [0], fields={5: 64})),
        ("groups_that_are_not_there", {"": "does not fit its columns"}, one([1], [0], fields={5: 16})),
        ("times_without_groups", {"": "makes no sense"}, one([1], [0], fields={5: 32})),
        ("missing_numbers", {"": "may be missing, which this release does not read yet"}, one([1], [0], fields={5: 4})),
        ("a_dense_block_without_columns", {"": "makes no sense"}, one([1], [0], fields={5: 3 << 8})),
        ("a_dense_block_of_an_unknown_form", {"": "makes no sense"}, one([1], [0], fields={5: 4 << 8 | 1 << 32})),
        ("a_dense_block_of_2_to_31_columns", {"": "does not fit its columns"}, one([1], [0], fields={5: 1 << 8 | 1 << 63})),
        ("a_dense_block_of_too_few_bytes", {"": "does not fit its columns"}, one([1], [0], fields={5: 2 << 8 | 100 << 32})),
        ("a_section_of_2_to_60_bytes", {"": "ends in the middle"},
         headed(cache_part(seal, b"later\0\0\0", b"x", [0] * 6, 1 << 60))),
        ("rows_that_do_not_continue", {"": "continue"}, one([1], [0], fields={0: 77})),
        ("an_index_that_is_elsewhere", {"": "index|end of a cache"}, whole(index_offset=(1 << 63) + 5)),
        ("an_index_that_points_at_the_head", {"": "index|end of a cache"}, whole(index_offset=0)),
        ("a_cache_of_the_past", {"": "version 1.*convert the rows again"}, MAGIC[:8] + struct.pack("<Q", 1)),
        ("a_cache_of_the_future", {"": "version"}, MAGIC[:8] + struct.pack("<Q", 1 << 60)),
        ("a_schema_with_a_nul", {"": "schema|meaning"}, cache_file(seal, [], schema=b"greedystep\0")),
        ("a_schema_that_is_none", {"": "schema|meaning"}, cache_file(seal, [], schema=b"#!/bin/sh\n")),
        ("a_schema_of_a_million_columns", {"convert": None, "": "columns|no rows|is a table"}, cache_file(
            seal, [], schema=b"greedystep schema 2\ncolumns named\nbits 24\n" +
            b"".join(b"number c%d\n" % i for i in range(1000000)))),
        ("only_a_head", {"": "ends in the middle|index"}, MAGIC),
        ("only_an_end", {"": "."}, END * 3),
    ]


def npy_cases():
    def npy(shape, size=0, descr="<f4", claimed=None):
        head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
        return b"\x93NUMPY\2\0" + struct.pack("<I", claimed or len(head)) + head + b"\0" * size

    return [
        ("an_array_of_2_to_60_columns", {"": "columns: expected"}, npy(f"(2, {1 << 60})")),
        ("an_array_of_2_to_70_rows", {"": "makes no sense"}, npy(f"({1 << 70}, 2)", 16)),
        ("an_array_of_2_to_31_columns", {"": "columns: expected"}, npy(f"(1, {1 << 31})", 16)),
        ("an_array_with_a_header_of_2_to_32_bytes", {"": "cut off or too long"}, npy("(2, 2)", 16, claimed=0xFFFFFFFF)),
        ("an_array_of_objects", {"": "holds Python objects"}, npy("(2, 2)", 16, "|O")),
        ("an_array_of_37_dimensions", {"": "37 dimensions"}, npy("(" + "1, " * 37 + ")", 16)),
    ]


def patched_xz():
    """A tiny file that asks for a dictionary of 4 GiB: the size is one byte of the block's header."""
    small = bytearray(lzma.compress(b"1 1:1\n0 2:1\n"))
    size = (small[12] + 1) * 4
    block = small[12:12 + size - 4]
    at = block.index(b"\x21\x01") + 2
    block[at] = 40
    small[12:12 + size] = block + struct.pack("<I", zlib.crc32(bytes(block)))
    return bytes(small)


def zstd_frame(window_log, content):
    """A frame with one raw block, for what a window of that size says."""
    header = struct.pack("<I", len(content) << 3 | 1)[:3]
    return b"\x28\xb5\x2f\xfd" + bytes([0, (window_log - 10) << 3]) + header + content


def zstd_zeros(n_blocks):
    """Blocks of 128 KiB of one byte, repeated: four bytes each."""
    block = struct.pack("<I", (128 << 10) << 3 | 1 << 1)[:3] + b"\0"
    return b"\x28\xb5\x2f\xfd" + bytes([0, 10 << 3]) + block * n_blocks


def compressed_cases(slow):
    zeros = bytes(1 << (26 if slow else 24))
    rows = b"1 1:1 3:1\n0 2:1\n" * (1 << 16)
    members = 1000000 if slow else 200000
    empty = gzip.compress(b"")
    return [
        ("a_gzip_bomb", {"": TOO_LONG + "|NUL"}, gzip.compress(zeros) * 160),
        ("a_bzip2_bomb", {"": TOO_LONG + "|NUL"}, bz2.compress(zeros) * 160),
        ("an_xz_bomb", {"": TOO_LONG + "|NUL"}, lzma.compress(zeros, preset=0) * 160),
        ("a_zstd_bomb", {"": TOO_LONG + "|NUL"}, zstd_zeros(80000)),
        ("a_gzip_bomb_of_rows", {"": None}, gzip.compress(rows) * (64 if slow else 8)),
        ("a_gzip_of_empty_members", {"train": "no rows", "inspect": "no rows", "": None}, empty * members),
        ("an_xz_dictionary_of_4_gib", {"": "more memory than allowed"}, patched_xz()),
        ("a_zstd_window_of_2_gib", {"": "more memory than allowed"}, zstd_frame(31, b"1 1:1\n")),
        ("a_zstd_window_of_2_tib", {"": "more memory than allowed|damaged"}, zstd_frame(41, b"1 1:1\n")),
        ("gzip_in_gzip", {"": "."}, gzip.compress(gzip.compress(b"1 1:1\n"))),
        ("gzip_cut_in_the_middle", {"": "end in the middle"}, gzip.compress(rows)[:1000]),
        ("gzip_of_a_cache_cut_in_the_middle", {"": "damaged cache|end in the middle|ends in the middle"},
         gzip.compress(MAGIC)),
        ("gzip_with_a_name_of_a_megabyte", {"": None},
         b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * 1000000 + b"\0" + gzip.compress(b"1 1:1\n0 2:1\n", mtime=0)[10:]),
    ]
