"""Model files and caches taken apart and put together again, with right hashes, so that a test can lie in one place.

Formats: docs/formats/model.md, docs/formats/cache.md. The hash comes from the helper xxh3 (xxh3.c)."""
import json
import struct
import subprocess

SIZES = {"U8": 1, "I32": 4, "U32": 4, "I64": 8, "U64": 8, "F32": 4, "F64": 8}
CODES = {"U32": "I", "U64": "Q", "F32": "f", "F64": "d", "U8": "B"}


class Hash:
    """XXH3 of bytes, by the helper."""

    def __init__(self, helper):
        self.helper = helper

    def __call__(self, data):
        done = subprocess.run([self.helper], input=bytes(data), stdout=subprocess.PIPE, check=True)
        return struct.pack("<Q", int(done.stdout, 16))


# ---- containers ---------------------------------------------------------------------------------------------------

class Tensor:
    def __init__(self, name, dtype, shape, data):
        self.name, self.dtype, self.shape, self.data = name, dtype, list(shape), bytes(data)

    @staticmethod
    def of(name, dtype, values, shape=None):
        data = struct.pack("<%d%s" % (len(values), CODES[dtype]), *values)
        return Tensor(name, dtype, shape or [len(values)], data)

    def values(self):
        return list(struct.unpack("<%d%s" % (len(self.data) // SIZES[self.dtype], CODES[self.dtype]), self.data))


class Container:
    """notes: the metadata; tensors: by name, in the order of the file."""

    def __init__(self, notes, tensors):
        self.notes, self.tensors = dict(notes), {t.name: t for t in tensors}

    @staticmethod
    def read(path):
        with open(path, "rb") as f:
            whole = f.read()
        (size,) = struct.unpack("<Q", whole[:8])
        header, data = json.loads(whole[8:8 + size]), whole[8 + size:]
        notes = header.pop("__metadata__", {})
        header.pop("checksum")
        return Container(notes, [Tensor(name, e["dtype"], e["shape"], data[slice(*e["data_offsets"])])
                                 for name, e in header.items()])

    def set(self, name, dtype, values, shape=None):
        self.tensors[name] = Tensor.of(name, dtype, values, shape)

    def change(self, name, at, value):
        """One element."""
        tensor = self.tensors[name]
        values = tensor.values()
        values[at] = value
        self.set(name, tensor.dtype, values, tensor.shape)

    def members(self):
        """The header's entries as [key, value] pairs, which a test may change before it is written."""
        out, end = [["__metadata__", self.notes]], 0
        ordered = sorted(self.tensors.values(), key=lambda t: -SIZES[t.dtype])
        for t in ordered:
            entry = {"dtype": t.dtype, "shape": t.shape, "data_offsets": [end, end + len(t.data)]}
            out.append([t.name, entry])
            end += len(t.data)
        out.append(["checksum", {"dtype": "U8", "shape": [8], "data_offsets": [end, end + 8]}])
        return out, b"".join(t.data for t in ordered)

    def write(self, path, seal, edit=None):
        """edit(pairs) changes the entries of the header in place."""
        pairs, data = self.members()
        if edit:
            edit(pairs)
        text = "{" + ",".join(json.dumps(k) + ":" + json.dumps(v, separators=(",", ":")) for k, v in pairs) + "}"
        write_raw(path, text.encode(), data, seal)


def write_raw(path, header, data, seal, size=None):
    header += b" " * (-len(header) % 8)
    body = struct.pack("<Q", len(header) if size is None else size) + header + data
    with open(path, "wb") as f:
        f.write(body + seal(body))


# ---- caches ---------------------------------------------------------------------------------------------------------

MAGIC, END = b"\x89GSAC\0\r\n" + struct.pack("<Q", 3), b"\x89CASG\0\r\n"


def cache_part(seal, marker, payload, fields, claimed_size=None):
    """fields: the six numbers from offset 24 on."""
    size = len(payload) if claimed_size is None else claimed_size
    head = struct.pack("<8sQ", marker, size) + seal(payload) + struct.pack("<6Q", *fields)
    return head + seal(head) + payload + bytes(-len(payload) % 8)


def cache_block(seal, lengths, ids, values=None, labels=(0.0, 1.0), codes=None, words=b"", n_words=0, fields=None,
                claimed_size=None):
    """A block of len(lengths) rows. fields replaces members of the header by number."""
    codes = [i % len(labels) for i in range(len(lengths))] if codes is None else codes
    payload = b"".join(l if isinstance(l, bytes) else struct.pack("<d", l) for l in labels)
    payload += struct.pack("<%dI" % len(lengths), *lengths) + struct.pack("<%dI" % len(ids), *ids)
    if values is not None:
        payload += struct.pack("<%df" % len(values), *values)
    payload += bytes(codes) + words
    numbers = [0, len(lengths), len(ids), len(labels), n_words, 0 if values is None else 1]
    for at, number in (fields or {}).items():
        numbers[at] = number
    return cache_part(seal, b"BLOCK\0\0\0", payload, numbers, claimed_size), len(lengths), len(ids)


def cache_file(seal, blocks, schema=None, n_features=10, index_fields=None, index_size=None, index_offset=None):
    """Blocks as cache_block gives them, with the index and the end."""
    out = MAGIC
    if schema is not None:
        out += cache_part(seal, b"SCHEMA\0\0", schema + b"\0", [0] * 6)
    entries, rows, total = b"", 0, 0
    for block, n_rows, n_entries in blocks:
        entries += struct.pack("<3Q", len(out), rows, n_rows)
        out, rows, total = out + block, rows + n_rows, total + n_entries
    at = len(out) if index_offset is None else index_offset
    numbers = [rows, len(blocks), total, n_features, 0, 1]
    for place, number in (index_fields or {}).items():
        numbers[place] = number
    out += cache_part(seal, b"INDEX\0\0\0", entries, numbers, index_size)
    return out + struct.pack("<Q", at) + END
