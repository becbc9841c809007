"""The page about raw units: one table of all cells, and what it says in words, losses of ours first."""

from __future__ import annotations

from typing import Any

import numpy as np

HEAD = """# Raw units: what a user has to write, and what it comes to

Data in the units it came in: `GreedystepClassifier().fit(X, y)` beside what else a user could write with scikit-learn.
Written by `bench/python/raw_units.py`; do not edit it.

<!-- not run: half an hour, and it installs packages -->
```sh
pip install '.[sklearn,arrow]'
GREEDYSTEP_DATA_DIR=FOLDER python bench/python/raw_units.py     # without it: ../shared/data beside the source tree
python bench/python/raw_units.py --page-only                    # this page from bench/python/raw_units.json
```
"""

METHOD = """## How it was measured

- A contestant is the code in `raw_units.py` that stands under its name; *lines* are those of it, imports included.
- *Seconds* are of processor time, all threads together, for one fit, a search included, imports not. The machine had
  other work, which clocks would have counted. BLAS has one thread; ours takes both cores (`n_jobs` unset).
- wine, breast_cancer, digits and diabetes come with scikit-learn, in their own units. The others are the training files
  of the data folder, most of them scaled by their authors; they are sparse, and the scaler does not center them.
- All contestants have the same splits: a quarter of the rows to judge by, drawn anew by every seed, in the proportions
  of the classes. What has no seed of its own (SGD) has numpy's set to that of the split.
"""


def mean(cell: dict[str, Any], column: int, n: int | None = None) -> float:
    return float(np.mean([seed[column] for seed in cell["seeds"][:n]]))


def number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.1e}"


def table(results: dict[str, Any]) -> list[str]:
    lines = [
        "| data (rows x features) | what | log loss (diabetes: RMSE) | accuracy (R²) | seconds | lines |",
        "|---|---|--:|--:|--:|--:|",
    ]
    n_seeds = results["about"]["seeds"]
    for rows in results["sets"]:
        done = [cell for cell in rows["cells"] if cell["seeds"]]
        best = min(mean(cell, 0) for cell in done if len(cell["seeds"]) == n_seeds)
        name = f"{rows['name']} ({rows['rows']} x {rows['features']})"
        for cell in rows["cells"]:
            if not cell["seeds"]:
                lines.append(f"| {name} | {cell['who']} | cut | | | {cell['lines']} |")
                continue
            loss = number(mean(cell, 0))
            loss = f"**{loss}**" if mean(cell, 0) <= best else loss
            n = len(cell["seeds"])
            who = cell["who"] + ("" if n == n_seeds else f" ({n} of {n_seeds} seeds)")
            accuracy = mean(cell, 1)
            shown = f"{accuracy:.3f}" if abs(accuracy) < 10 else number(accuracy)
            lines.append(f"| {name} | {who} | {loss} | {shown} | {mean(cell, 2):.2f} | {cell['lines']} |")
            name = ""
    return lines


def rank_of(cell: dict[str, Any]) -> str:
    """Return what contestants on numbers and on classes have in common."""
    for word in ("scaler", "12 settings", "CV", "SGD"):
        if word in cell["who"]:
            return word
    return "ours"


NAMES = {
    "scaler": "a scaler with LogisticRegression (LinearRegression)",
    "SGD": "SGDClassifier (SGDRegressor) with its defaults",
    "12 settings": "the search over 12 settings",
    "CV": "LogisticRegressionCV (RidgeCV)",
}


def listed(found: list[tuple[float, str]], sign: str) -> str:
    texts = [
        f"{name} {sign}{100 * abs(part):.3g} %" if abs(part) < 10 else f"{name} x {1 + abs(part):.3g}"
        for part, name in found
    ]
    return f" ({', '.join(texts)})" if texts else ""


def against(results: dict[str, Any], rival: str) -> str:
    """Say how often ours has more loss than a rival, the same within 1 %, or less, over the seeds that both have."""
    more: list[tuple[float, str]] = []
    less: list[tuple[float, str]] = []
    same, faster, n = [], 0, 0
    for rows in results["sets"]:
        ours = rows["cells"][0]
        other = next(cell for cell in rows["cells"] if rank_of(cell) == rival)
        if not other["seeds"]:
            continue
        n += 1
        both = len(other["seeds"])
        mine, its = mean(ours, 0, both), mean(other, 0, both)
        faster += mean(ours, 2) < mean(other, 2)
        if mine > 1.01 * its:
            more.append((mine / its - 1, rows["name"]))
        elif its > 1.01 * mine:
            less.append((its / mine - 1, rows["name"]))
        else:
            same.append(rows["name"])
    more.sort(reverse=True)
    ties = f" ({', '.join(same)})" if same else ""
    behind = listed(more, "+")
    return (
        f"- Against **{NAMES[rival]}** ours has more loss on {len(more)} of {n}{behind}, the same within 1 % on "
        f"{len(same)}{ties}, less on {len(less)} ({', '.join(name for _, name in less) or 'none'}). It takes less "
        f"time on {faster} of {n}."
    )


def behind_in_accuracy(results: dict[str, Any]) -> str:
    found = []
    for rows in results["sets"]:
        if rows["name"] == "diabetes":
            continue
        full = [cell for cell in rows["cells"] if len(cell["seeds"]) == results["about"]["seeds"]]
        best = max(full, key=lambda cell: mean(cell, 1))
        gap = mean(best, 1) - mean(rows["cells"][0], 1)
        if gap > 0.005:
            found.append(f"{rows['name']} ({100 * gap:.1f} points behind {best['who']})")
    names = ", ".join(found) or "none"
    return f"- Accuracy is more than half a point behind the best of its set on {len(found)}: {names}."


def unsteady(results: dict[str, Any]) -> str:
    found = []
    for rows in results["sets"]:
        losses = [seed[0] for seed in rows["cells"][0]["seeds"]]
        if max(losses) > 3 * min(losses):
            found.append(f"{rows['name']} ({number(min(losses))} to {number(max(losses))})")
    return f"- From seed to seed the loss of ours differs by more than a factor of 3 on {', '.join(found) or 'none'}."


def summary(results: dict[str, Any]) -> list[str]:
    first, far = [], []
    for rows in results["sets"]:
        cells = [cell for cell in rows["cells"] if len(cell["seeds"]) == results["about"]["seeds"]]
        best = min(mean(cell, 0) for cell in cells)
        over = mean(rows["cells"][0], 0) / best - 1
        if over <= 0:
            first.append(rows["name"])
        elif over > 0.1:
            far.append((over, rows["name"]))
    far.sort(reverse=True)
    n = len(results["sets"])
    return [
        "- **Where ours is clearly behind**, by more than a tenth of the least loss: "
        f"{len(far)} of {n} sets{listed(far, '+')}.",
        *(against(results, rival) for rival in NAMES),
        behind_in_accuracy(results),
        unsteady(results),
        f"- Ours has the least loss of all that did all seeds on {len(first)} of {n} ({', '.join(first) or 'none'}).",
    ]


def cut(results: dict[str, Any]) -> list[str]:
    about, n_seeds = results["about"], results["about"]["seeds"]
    cells = [(rows["name"], cell) for rows in results["sets"] for cell in rows["cells"] if len(cell["seeds"]) < n_seeds]
    texts = [f"{cell['who']} on {name} ({len(cell['seeds'])} of {n_seeds} seeds)" for name, cell in cells]
    left = ", ".join(f"{name} ({size / 1e6:.0f} million)" for name, size in results["left_out"])
    return [
        f"- A cell has {about['limit']} s for its {n_seeds} seeds, and is judged by those it came to. Cut: "
        f"{', '.join(texts) or 'none'}.",
        f"- Not tried, to keep the whole short, are sets of more than {about['most'] / 1e6:.0f} million entries x "
        f"outputs: {left or 'none'}.",
    ]


def page(results: dict[str, Any]) -> str:
    about = results["about"]
    machine = (
        f"Machine: {about['machine']}, shared with other work (load {min(about['load'])} to {max(about['load'])}). "
        f"{about['date']}; {about['versions']}; {about['minutes']} minutes in all.{about.get('note', '')}"
    )
    parts = [
        HEAD,
        machine,
        "\n## What the table says\n",
        *summary(results),
        "\n## The table\n",
        f"Means over {about['seeds']} seeds; the least loss of a set is bold.\n",
        *table(results),
        "",
        METHOD.rstrip(),
        *cut(results),
    ]
    return "\n".join(parts) + "\n"
