"""Every JSON that the command writes is parsed strictly: no NaN, no infinity, no number beyond a double, no key twice.

For every loss: rows as usual, rows that overflow, one row, no row, unknown labels, and names that need escapes. Runs
that fail must say why on standard error, and print nothing or JSON."""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

LOSSES = ("squared", "huber", "quantile", "poisson", "logistic", "softmax", "hinge", "squared_hinge")
failures, n_parsed = [], 0


def refuse(text):
    raise ValueError("%s is no JSON number" % text)


def finite(text):
    return float(text) if math.isfinite(float(text)) else refuse(text)


def unique(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError("a key twice among %s" % names)
    return dict(pairs)


def check(name, data):
    """data: bytes of one JSON text."""
    global n_parsed
    n_parsed += 1
    try:
        json.loads(data.decode("utf-8"), parse_constant=refuse, parse_float=finite, object_pairs_hook=unique)
    except ValueError as why:
        failures.append(name)
        print("FAILED %s: %s in %r" % (name, why, data[:300]))


def check_lines(name, data):
    for line in data.splitlines():
        check(name, line)


def check_header(name, path):
    """The notes in a model or state, a safetensors file."""
    with open(path, "rb") as f:
        (size,) = struct.unpack("<Q", f.read(8))
        check(name, f.read(size))


class Tried:
    def __init__(self, command):
        self.command = command

    def __call__(self, *arguments):
        done = subprocess.run([self.command, *arguments], capture_output=True, check=False)
        if done.returncode not in (0, 1) or (done.returncode == 1 and not done.stderr):
            failures.append(" ".join(arguments))
            print("FAILED %s: exit %d, %r" % (" ".join(arguments), done.returncode, done.stderr[-300:]))
        self.code = done.returncode
        return done.stdout

    def json(self, *arguments):
        out = self(*arguments)
        if out or self.code == 0:
            check(" ".join(arguments), out)


# A quote, a backslash, letters that are not ASCII, and a name that members of JSON outputs have too.
NAMES = [b'a "quoted" one', b"back\\slash", "\u00e9t\u00e9".encode(), b"rows"]


def cells(rng, loss, row, size):
    x = [rng.gauss(0, 1) * size for _ in NAMES]
    margin = x[0] / size - x[1] / size
    if loss in ("squared", "huber", "quantile"):
        label = b"%.6g" % ((margin + rng.gauss(0, 0.1)) * size)
    elif loss == "poisson":
        label = b"%d" % min(int(rng.expovariate(1) * math.exp(margin)), 1000)
    else:
        names = [b'"no ""way"""', b"back\\slash", "\u00fcber".encode()]
        label = names[(margin > 0) + (loss == "softmax" and x[2] > 0)]
    return b",".join([label] + [b"%.6g" % v for v in x] + [[b"u\\", b"v\x01", b"\xe9"][row % 3]])


def table(path, loss, n_rows, size=1.0, lines=()):
    rng = random.Random(n_rows)
    names = [b'"%s"' % name.replace(b'"', b'""') for name in NAMES]
    rows = [cells(rng, loss, row, size) for row in range(n_rows)]
    with open(path, "wb") as f:
        f.write(b"\n".join([b",".join([b"y"] + names + [b"word"])] + rows + list(lines)) + b"\n")


def outputs_of(run, loss, folder):
    labels = (b"1", b"0") if loss in LOSSES[:3] else (b"new", b"other")
    far = [b",".join([label, *[b"3e38"] * len(NAMES), b"u"]) for label in labels]
    near = os.path.join(folder, "near.csv")
    inputs = {"near": (200, 1.0, ()), "huge": (200, 1e37, ()), "tiny": (200, 1e-30, ()), "far": (0, 1.0, far),
              "mixed": (50, 1.0, far), "one": (1, 1.0, ()), "none": (0, 1.0, ())}
    for name, (n_rows, size, lines) in inputs.items():
        data, model = os.path.join(folder, name + ".csv"), os.path.join(folder, name + ".model")
        table(data, loss, n_rows, size, lines)
        trace = os.path.join(folder, name + ".jsonl")
        for method in ("auto", "gsa") if name in ("near", "far") else ("auto",):
            run.json("train", data, "--label", "y", "--loss", loss, "--method", method, "-o", model, "--json",
                     "--trace", trace, "--bits", "10")
            if os.path.exists(trace):
                with open(trace, "rb") as f:
                    check_lines(trace, f.read())
        run.json("inspect", data, "--label", "y", "--json")
        for written in (model, model + ".state"):
            if os.path.exists(written):
                check_header(written, written)
                run.json("inspect", written, "--json")
    model = os.path.join(folder, "near.model")
    for name in inputs:
        data = os.path.join(folder, name + ".csv")
        run.json("evaluate", model, data, "--json")
        check_lines("predict " + data, run("predict", model, data, "--format", "jsonl", "--proba", "--keep", "y,word"))
    merged, cache = os.path.join(folder, "merged.model"), os.path.join(folder, "near.gsac")
    run("merge", model, os.path.join(folder, "near.model"), "-o", merged)
    run("convert", near, "--label", "y", "-o", cache)
    run.json("inspect", cache, "--json")
    run.json("evaluate", model, cache, "--json")
    run("export", model, "-o", os.path.join(folder, "model.c"))


def weights_beyond_a_count(run, folder):
    data, model = os.path.join(folder, "weights.csv"), os.path.join(folder, "weights.model")
    with open(data, "w") as f:
        f.write("y,x,w\n" + "".join("%s,%d,1e30\n" % ("no" if i % 4 else "yes", i % 4) for i in range(40)))
    run.json("train", data, "--label", "y", "--weight", "w", "-o", model, "--json")
    run.json("evaluate", model, data, "--json")
    run.json("inspect", data, "--label", "y", "--weight", "w", "--json")


def main():
    run = Tried(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        weights_beyond_a_count(run, folder)
        for loss in LOSSES:
            os.mkdir(os.path.join(folder, loss))
            outputs_of(run, loss, os.path.join(folder, loss))
    print("%d JSON texts parsed, %d failures" % (n_parsed, len(failures)))
    return 1 if failures or n_parsed < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
