"""Hostile model and state files: each is a good one with one lie, sealed with a right checksum.

A case is (name, what the message must say, write(path)). `says` None: the file may be taken, as long as it does no harm."""
import os
import struct

from files import Container, Tensor, write_raw

SUM = '"checksum":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}'


def entry(pairs, name):
    return next(value for key, value in pairs if key == name)


def headers(good, seal):
    """Lies of the header; they are the same for models and states."""
    def edited(change):
        return lambda path: good.write(path, seal, change)

    def text(header, size=None):
        return lambda path: write_raw(path, header, b"", seal, size)

    def claim(shape, size, begin=None):
        def change(pairs):
            weight = entry(pairs, "weight")
            start = weight["data_offsets"][0] if begin is None else begin
            weight.update(shape=shape, data_offsets=[start, start + size])
        return edited(change)

    def overlap(pairs):
        entry(pairs, "weight")["data_offsets"] = entry(pairs, "n_rows")["data_offsets"]

    def twice(pairs):
        pairs.insert(2, ["weight", dict(entry(pairs, "weight"))])

    def cut(path):
        good.write(path, seal)
        os.truncate(path, os.path.getsize(path) - 9)

    def sparse_tail(path):
        good.write(path, seal)
        os.truncate(path, 10 << 30)

    deep = b'{"a":' + b"[" * 1000000
    return [
        ("header_of_2_to_60_bytes", "header does not fit", text(b"{}", 1 << 60)),
        ("header_of_2_to_64_less_1_bytes", "header does not fit", text(b"{}", (1 << 64) - 1)),
        ("weights_of_2_to_60_bytes", "cut short", claim([1 << 58, 1], 1 << 60)),
        ("shape_whose_product_overflows", "disagree", claim([1 << 33, 1 << 33], 80)),
        ("shape_beyond_64_bits", "not JSON|no counts", claim([1 << 64], 80)),
        ("offsets_that_overflow", "starts at byte|not JSON", claim([20, 1], 80, (1 << 63) - 40)),
        ("negative_offsets", "no counts", claim([20, 1], 80, -8)),
        ("negative_shape", "no counts", claim([-20, -1], 80)),
        ("fractional_shape", "no counts", claim([2.5e1, 1], 80)),
        ("overlapping_tensors", "starts at byte", edited(overlap)),
        ("a_tensor_twice", "not JSON", edited(twice)),
        ("a_gap_between_tensors", "starts at byte|disagree", edited(lambda p: p.pop(2))),
        ("brackets_a_million_deep", "not JSON", text(deep)),
        ("objects_a_million_deep", "no header of ours|not JSON", text(b'{"a":' * 800000)),
        ("a_number_of_a_million_digits", "not JSON", text(b'{"a":' + b"9" * 1000000 + b"," + SUM.encode() + b"}")),
        ("a_number_of_1e999999", "not JSON", text(b'{"a":1e999999,' + SUM.encode() + b"}")),
        ("nul_in_a_name", "not JSON", text(b'{"a\\u0000b":{},' + SUM.encode() + b"}")),
        ("nul_in_the_header", "not JSON", text(b'{"a\0b":{},' + SUM.encode() + b"}")),
        ("bad_utf8_in_a_name", "not JSON", text(b'{"\xff\xfe":{},' + SUM.encode() + b"}")),
        ("an_overlong_utf8_name", "not JSON", text(b'{"\xc0\xaf":{},' + SUM.encode() + b"}")),
        ("half_a_surrogate", "not JSON", text(b'{"\\ud800":{},' + SUM.encode() + b"}")),
        ("a_name_that_is_a_path", "damaged|not ours|needs", edited(lambda p: p.insert(1, ["../../etc/passwd", {}]))),
        ("a_name_that_clears_the_screen", "not 1 to", edited(lambda p: p.insert(1, ["\x1b[2J", {}]))),
        ("a_hundred_thousand_tensors", "tensors",
         edited(lambda p: p.extend(["t%05d" % i, 0] for i in range(100000)))),
        ("a_hundred_thousand_notes", "metadata has",
         edited(lambda p: p[0].__setitem__(1, {"n%d" % i: "" for i in range(100000)}))),
        ("metadata_that_is_a_number", "metadata is no object", edited(lambda p: p[0].__setitem__(1, 7))),
        ("cut_before_the_end", "cut short", cut),
        ("ten_gigabytes_of_nothing_behind_it", "follow its last tensor|memory limit", sparse_tail),
        ("an_empty_file", "empty", lambda path: open(path, "wb").close()),
        ("a_pickle", "not a greedystep model", lambda path: plain(path, b"\x80\x04cos\nsystem\n(S'touch pwned'\ntR.")),
        ("a_script", "text, perhaps the data", lambda path: plain(path, b"#!/bin/sh\ntouch pwned\n")),
        ("a_device", "pipe or device", lambda path: os.symlink("/dev/zero", path)),
        ("a_pipe_without_a_writer", "pipe or device", os.mkfifo),
        ("a_link_to_itself", "cannot open|symbolic links", lambda path: os.symlink(path, path)),
    ]


def plain(path, data):
    with open(path, "wb") as f:
        f.write(data)


def altered(good, seal, change):
    def write(path):
        one = Container(good.notes, good.tensors.values())
        change(one)
        one.write(path, seal)
    return write


def labels(one, texts, is_number=None, numbers=None):
    data = b"".join(t + b"\0" for t in texts)
    one.tensors["labels.text"] = Tensor("labels.text", "U8", [len(data)], data)
    one.set("labels.is_number", "U8", is_number or [0] * len(texts))
    one.set("labels.number", "F64", numbers or [0.0] * len(texts))


def label_lies(good, seal):
    def case(*arguments):
        return altered(good, seal, lambda one: labels(one, *arguments))

    def claims_a_billion(path):
        """Only the header says so."""
        def edit(pairs):
            at = next(i for i, p in enumerate(pairs) if p[0] == "labels.is_number")
            begin = pairs[at][1]["data_offsets"][0]
            pairs[at][1].update(shape=[10**9], data_offsets=[begin, begin + 10**9])
        good.write(path, seal, edit)

    return [
        ("a_billion_labels_claimed", "cut short", claims_a_billion),
        ("labels_twice", "occurs twice", case([b"a", b"a"])),
        ("a_label_that_is_nan", "not finite", case([b"0", b"nan"], [1, 1], [0.0, float("nan")])),
        ("a_label_that_is_infinite", "not finite", case([b"0", b"inf"], [1, 1], [0.0, float("inf")])),
        ("a_label_with_another_number", "not its number", case([b"0", b"5"], [1, 1], [0.0, 1.0])),
        ("a_label_of_bad_utf8", "not a text", case([b"a", b"\xff\xfe"])),
        ("a_label_that_clears_the_screen", "not a text", case([b"a", b"\x1b[2J"])),
        ("a_label_without_its_end", "not a text", altered(good, seal, lambda one: one.tensors.update(
            {"labels.text": Tensor("labels.text", "U8", [3], b"0\x001")}))),
        ("text_after_the_last_label", "after the last label", altered(good, seal, lambda one: one.tensors.update(
            {"labels.text": Tensor("labels.text", "U8", [6], b"0\x001\x00x\x00")}))),
        ("labels_of_a_megabyte", None, case([b"a" * 1000000, b"x" * 1000000])),
        ("no_labels", "cannot (be|have)" if "decided_loss" not in good.notes else None, case([])),
        ("three_labels_for_two_classes", "cannot (be|have)|do not fit", case([b"a", b"b", b"c"])),
    ]


def a_billion_labels(good, seal):
    """A file that really has them, most of it holes: 10^9 empty labels. The first two are equal."""
    def write(path):
        n = 10**9
        head = Container(good.notes, [t for t in good.tensors.values() if not t.name.startswith("labels")])
        pairs, data = head.members()
        end = len(data)
        for name, dtype, size in (("labels.number", "F64", 8), ("labels.text", "U8", 1), ("labels.is_number", "U8", 1)):
            pairs.insert(-1, [name, {"dtype": dtype, "shape": [n], "data_offsets": [end, end + size * n]}])
            end += size * n
        pairs[-1][1]["data_offsets"] = [end, end + 8]
        import json
        header = json.dumps(dict(pairs), separators=(",", ":")).encode()
        header += b" " * (-len(header) % 8)
        with open(path, "wb") as f:
            f.write(struct.pack("<Q", len(header)) + header + data)
            f.truncate(8 + len(header) + end + 8)
    return [("a_billion_labels", "checksum|memory limit", write)]


def high_feature(good, seal, count):
    """A small model of this many features, the last of which has a weight."""
    def change(one):
        one.change("n_features", 0, count)
        one.set("feature", "U32", [5, count - 1])
        one.set("weight", "F32", [0.5] * 2, [2, 1])
    return altered(good, seal, change)


def high_slot(good, seal, slot, held_out):
    """A small state with this slot in use; held_out: only by a row that was not learned."""
    def change(one):
        if held_out:
            for name, dtype, values in (("hash", "U64", [1]), ("number", "F64", [0.0]), ("row_start", "U64", [0, 1]),
                                        ("class", "U32", [0]), ("weight", "F64", [1.0]), ("seen", "F64", [1.0]),
                                        ("index", "U32", [slot - 1]), ("value", "F32", [1.0])):
                one.set("sample." + name, dtype, values)
            return
        one.set("slot", "U32", [0, slot])
        for name, dtype, value in (("mean_square", "F32", 1.0), ("n_seen", "U32", 1)):
            one.set(name, dtype, [value] * 2)
        for name in ("weight", "average_term"):
            one.set(name, "F32", [0.1] * 2, [2, 1])
    return altered(good, seal, change)


def models(good, seal):
    def case(change):
        return altered(good, seal, change)

    def features(ids, count):
        def change(one):
            one.change("n_features", 0, count)
            one.set("feature", "U32", ids)
            one.set("weight", "F32", [0.5] * len(ids), [len(ids), 1])
        return case(change)

    nan, inf = float("nan"), float("inf")
    return [
        ("a_weight_that_is_nan", "not finite", case(lambda one: one.change("weight", 3, nan))),
        ("a_weight_that_is_infinite", "not finite", case(lambda one: one.change("weight", 3, -inf))),
        ("an_intercept_that_is_nan", "not finite", case(lambda one: one.change("intercept", 0, nan))),
        ("weights_at_the_largest_float", None, case(lambda one: one.set("weight", "F32", [3.4e38] * 20, [20, 1]))),
        ("features_beyond_all_ids", "has a value above", case(lambda one: one.change("n_features", 0, 1 << 60))),
        ("more_features_than_weights", "weight", case(lambda one: one.change("n_features", 0, 1 << 31))),
        ("one_feature_of_four_billion", None, features([0xFFFFFFFD], 0xFFFFFFFE)),
        ("no_feature_of_four_billion", None, features([], 0xFFFFFFFE)),
        ("a_feature_out_of_range", "out of order or range", features([5, 25], 20)),
        ("features_out_of_order", "out of order or range", features([5, 4], 20)),
        ("a_feature_twice", "out of order or range", features([5, 5], 20)),
        ("weights_of_another_type", "weight", case(lambda one: one.set("weight", "U32", [1] * 20, [20, 1]))),
        ("an_unknown_loss", "unknown loss", case(lambda one: one.notes.update(loss="__import__('os')"))),
        ("a_note_of_a_megabyte", "cannot be", case(lambda one: one.notes.update(method="x" * 1000000))),
        ("a_version_of_the_past", "version 1, which was never published", case(lambda one: one.notes.update(version="1"))),
        ("a_version_of_the_future", "version", case(lambda one: one.notes.update(version="99999999999999999999"))),
        ("a_model_without_weights", "weight", case(lambda one: one.tensors.pop("weight"))),
        ("names_without_an_end", "names of features", case(lambda one: (one.set("feature_names.feature", "U32", [1]), one.set(
            "feature_names.text", "U8", [65, 66])))),
        ("names_out_of_order", "names of features", case(lambda one: (one.set("feature_names.feature", "U32", [2, 1]), one.set(
            "feature_names.text", "U8", list(b"a\0b\0"))))),
        ("a_name_that_clears_the_screen_", None, case(lambda one: (one.set("feature_names.feature", "U32", [1]), one.set(
            "feature_names.text", "U8", list(b"\x1b[2J\xff\0"))))),
        ("a_schema_that_is_none", "meaning of the columns", case(lambda one: one.set("schema", "U8", list(b"rm -rf /\n")))),
        ("a_schema_with_a_nul", "schema", case(lambda one: one.set("schema", "U8", list(b"greedystep\0schema 1\n")))),
    ]


def states(good, seal):
    def case(change):
        return altered(good, seal, change)

    nan, inf = float("nan"), float("inf")
    huge = 0xFFFFFFFD

    def sparse(slots):
        def change(one):
            n = len(slots)
            one.set("slot", "U32", slots)
            one.set("weight", "F32", [0.1] * n, [n, 1])
            one.set("average_term", "F32", [0.1] * n, [n, 1])
            one.set("mean_square", "F32", [1.0] * n)
            one.set("n_seen", "U32", [1] * n)
        return case(change)

    def sample(**parts):
        def change(one):
            tensors = {"hash": ("U64", [1, 2]), "number": ("F64", [0.0, 0.0]), "row_start": ("U64", [0, 1, 2]),
                       "class": ("U32", [0, 1]), "weight": ("F64", [1.0, 1.0]), "seen": ("F64", [1.0, 1.0]),
                       "index": ("U32", [0, 1]), "value": ("F32", [1.0, 1.0])}
            for name, values in parts.items():
                tensors[name] = (tensors[name][0], values)
            for name, (dtype, values) in tensors.items():
                one.set("sample." + name, dtype, values)
        return case(change)

    def group(classes=(0,), weight=(1.0,), row_start=(0, 1), index=(0,), value=(1.0,)):
        def change(one):
            one.set("group.row_start", "U64", list(row_start))
            one.set("group.number", "F64", [0.0] * len(classes))
            one.set("group.weight", "F64", list(weight))
            one.set("group.class", "U32", list(classes))
            one.set("group.index", "U32", list(index))
            one.set("group.value", "F32", list(value))
        return case(change)

    def numbers(dtype, value, but="nothing"):
        """All scalars of the type, but those of a name that begins so."""
        def change(one):
            for name, tensor in list(one.tensors.items()):
                if tensor.dtype == dtype and tensor.shape == [1] and not name.startswith(but):
                    one.set(name, dtype, [value])
        return case(change)

    return [
        ("a_state_weight_that_is_nan", "not finite", case(lambda one: one.change("weight", 0, nan))),
        ("an_average_that_is_infinite", "not finite", case(lambda one: one.change("average_term", 1, inf))),
        ("a_mean_square_below_zero", "mean_square", case(lambda one: one.change("mean_square", 1, -1.0))),
        ("a_feature_in_more_rows_than_there_are", "n_seen", case(lambda one: one.change("n_seen", 1, huge))),
        ("a_sum_that_is_nan", "not finite", case(lambda one: one.change("step.sum", 0, nan))),
        ("sums_at_the_largest_double", None, numbers("F64", 1.7e308, but="label_offset")),
        ("sums_below_zero", "negative", numbers("F64", -1.0)),
        ("a_weight_of_no_rows", "weight 0", case(lambda one: one.change("row_weights.sum", 0, 0.0))),
        ("a_label_offset_of_classes", "no label offset", case(lambda one: one.change("label_offset.at", 0, 1e300))),
        ("counts_that_are_all_2_to_64_less_1", "has a value above", numbers("U64", (1 << 64) - 1)),
        ("rows_2_to_64_less_1", "has a value above", case(lambda one: one.change("n_rows", 0, (1 << 64) - 1))),
        ("passes_2_to_64_less_1", "has a value above", case(lambda one: one.change("position.pass", 0, (1 << 64) - 1))),
        ("rows_taken_2_to_64_less_1", "has a value above",
         case(lambda one: one.change("position.pass_rows", 0, (1 << 64) - 1))),
        ("merged_2_to_64_less_1", "has a value above", case(lambda one: one.change("n_merged", 0, (1 << 64) - 1))),
        ("one_slot_of_four_billion", "memory limit", sparse([0, huge + 1])),
        ("slots_out_of_order", "out of order", sparse([0, 7, 6])),
        ("slots_beyond_all_ids", "slot", sparse([0, 0xFFFFFFFF])),
        ("a_sample_row_that_goes_back", "held-out sample", sample(row_start=[0, 2, 1])),
        ("a_sample_row_beyond_the_end", "held-out sample", sample(row_start=[0, 1, 1 << 60])),
        ("a_sample_of_unknown_class", "held-out sample", sample(**{"class": [0, 9]})),
        ("a_sample_value_that_is_nan", "sample.value", sample(value=[nan, 1.0])),
        ("a_sample_of_id_2_to_32_less_1", "sample.index", sample(index=[0, 0xFFFFFFFF])),
        ("a_sample_of_id_2_to_32_less_3", None, sample(index=[0, huge])),
        ("a_sample_with_a_row_twice", "held-out sample", sample(**{"hash": [1, 1], "class": [0, 0]})),
        ("an_unknown_parameter", "cannot be", case(lambda one: one.notes.update(average="`id`"))),
        ("a_seed_beyond_64_bits", "the seed of a state cannot be", case(lambda one: one.notes.update(seed="9" * 40))),
        ("a_lineage_out_of_order", "lineage", case(lambda one: one.set("lineage", "U64", [5, 4]))),
        ("best_weights_that_do_not_fit", "best_checkpoint.weight|best checkpoint", case(lambda one: (
            one.set("best_checkpoint.pass", "U64", [1]), one.set("best_checkpoint.loss", "F64", [0.1]),
            one.set("best_checkpoint.scale", "F64", [1.0]), one.set("best_checkpoint.offset", "F64", [0.0]),
            one.set("best_checkpoint.weight", "F32", [0.0], [1, 1])))),
        ("a_waiting_row_of_a_class_that_is_not_there", "group", group(classes=[9])),
        ("a_waiting_row_whose_weight_is_nan", "group", group(weight=[nan])),
        ("a_waiting_row_of_more_entries_than_there_are", "group", group(row_start=[0, 1 << 60])),
        ("a_waiting_row_of_a_feature_that_is_not_there", "group", group(index=[huge])),
        ("a_waiting_row_whose_value_is_nan", "group", group(value=[nan])),
        ("a_hundred_waiting_rows", "group", group([0] * 100, [1.0] * 100, [0] * 101, [], [])),
        ("a_column_beyond_the_last", "centre", case(lambda one: (
            one.set("centre.slot", "U32", [70000]), one.set("centre", "F64", [1.0, 0.0, 0.0], [1, 3])))),
        ("more_prior_totals_than_features", "prior.sum_sq", case(lambda one: (
            one.set("prior.sum_sq", "F64", [0.0] * 99), one.set("prior.n_seen", "U64", [0] * 99)))),
    ]
