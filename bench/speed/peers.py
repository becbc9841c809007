"""Stage peers: from a text file to a model, one pass over the same rows, and the log loss on others.

The others get their favours: Vowpal Wabbit its own text (the conversion is not counted), a table that holds every
weight, and the better of text and cache; scikit-learn's fit is shown apart from its reading. LIBLINEAR and
LogisticRegression run to convergence, which is what one would use them for.
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

import vowpal
from shared import VOWPAL, log_loss, run, say, timed

if TYPE_CHECKING:
    from run import Bench

FEATURES = 100000


def labels_of(path: Path) -> list[int]:
    with open(path, encoding="ascii") as lines:
        return [int(line.split(" ", 1)[0]) for line in lines]


def of_greedystep(bench: Bench, train: Path, test: Path, threads: int) -> tuple[float, float]:
    seconds = bench.train(train, "--threads", threads, "--passes", 1)
    said = json.loads(run([bench.greedystep, "evaluate", bench.folder / "model", test, "--json"]))
    return seconds, said["log_loss"]


def of_vowpal(bench: Bench, train: Path, test: Path, cached: bool) -> tuple[float, float]:
    model, cache, out = (bench.folder / name for name in ("vw.model", "vw.cache", "vw.p"))
    learn = [*VOWPAL, "--loss_function", "logistic", "--link", "logistic", "-b", 18, "-f", model, "--quiet"]
    if cached and not cache.exists():
        run([*VOWPAL, "-d", train.with_suffix(".vw"), "-k", "--cache_file", cache, "--noop", "-b", 18, "--quiet"])
    _, seconds = timed([*learn, "-d", train.with_suffix(".vw"), *(["--cache_file", cache] if cached else [])])
    run([*VOWPAL, "-d", test.with_suffix(".vw"), "-t", "-i", model, "-p", out, "--quiet"])
    return seconds, log_loss([float(line.split()[0]) for line in out.read_text().splitlines()], labels_of(test))


def of_liblinear(bench: Bench, train: Path, test: Path, kind: int) -> tuple[float, float | None]:
    model, out = bench.folder / "ll.model", bench.folder / "ll.p"
    _, seconds = timed(["liblinear-train", "-s", kind, "-q", train, model])
    if kind != 0:
        return seconds, None
    run(["liblinear-predict", "-b", 1, "-q", test, model, out])
    lines = out.read_text().splitlines()
    column = lines[0].split().index("1")
    return seconds, log_loss([float(line.split()[column]) for line in lines[1:]], labels_of(test))


def narrow(x: object) -> object:
    """LogisticRegression takes 32-bit ids only, and what load_svmlight_file gives has 64."""
    x.indices, x.indptr = x.indices.astype("int32"), x.indptr.astype("int32")
    return x


def of_sklearn(train: Path, test: Path) -> dict[str, tuple[float, float]]:
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import LogisticRegression, SGDClassifier

    begun = time.monotonic()
    x, y = load_svmlight_file(str(train), n_features=FEATURES)
    reading = time.monotonic() - begun
    x_test, y_test = load_svmlight_file(str(test), n_features=FEATURES)
    labels, found = [int(label) for label in y_test], {}
    for name, model in (
        ("scikit-learn SGDClassifier", SGDClassifier(loss="log_loss", max_iter=1, tol=None)),
        ("scikit-learn LogisticRegression", LogisticRegression(max_iter=1000)),
    ):
        begun = time.monotonic()
        model.fit(narrow(x), y)
        fit, loss = time.monotonic() - begun, log_loss(list(model.predict_proba(narrow(x_test))[:, 1]), labels)
        found[f"{name}, fit alone"] = (fit, loss)
        found[f"{name}, reading included"] = (fit + reading, loss)
    return found


def peers(bench: Bench) -> dict[str, object]:
    train = bench.generate("train.svm", bench.rows, FEATURES, 20)
    whole = bench.generate("whole.svm", bench.rows + 100000, FEATURES, 20)
    test = bench.folder / "test.svm"  # the rows behind those for training: the same planted weights
    rows = whole.read_text(encoding="ascii").splitlines(keepends=True)
    test.write_text("".join(rows[bench.rows :]), encoding="ascii")
    whole.unlink()
    for path in (train, test):
        vowpal.write(path, path.with_suffix(".vw"), {0: "-1", 1: "1"}, None)
    taken: dict[str, list[tuple[float, float | None]]] = {}
    for again in range(bench.repeats):
        ways = {f"greedystep, {n} thread{'s' * (n > 1)}": of_greedystep(bench, train, test, n) for n in (1, 2)}
        ways |= {f"vw, {kind}": of_vowpal(bench, train, test, kind == "cache") for kind in ("text", "cache")}
        if again == 0:
            ways |= {f"LIBLINEAR -s {kind}": of_liblinear(bench, train, test, kind) for kind in (0, 2)}
            ways |= of_sklearn(train, test)
        for name, way in ways.items():
            taken.setdefault(name, []).append(way)
        say(f"peers    round {again + 1} of {bench.repeats}")
    return {
        name: {"seconds": statistics.median(s for s, _ in found), "loss": found[0][1], "runs": len(found)}
        for name, found in taken.items()
    }
