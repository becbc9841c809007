"""The ratios by which greedystep is judged, from the table of results. Losses below .002 count as equal."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from results import Key, Result

EQUAL = 0.002
LIMITS = (1.01, 1.02, 1.03)
OWN, OLD = "greedystep", "version 1"
DEFAULTS = ("LR", "LR scaled")
TUNED = ("LR CV", "LR CV scaled")
RIDGES = ("RidgeCV", "RidgeCV scaled")
LOSS = "loss"
TIME, FIT = "cpu_seconds", "cpu_seconds_without_reading"
SCALER = ("set", "without", "with", "ratio", "of splits")
Table = dict[Key, Result]
Ratio = Callable[[Table, str, str, str], float]  # table, part, set, method judged


def sets_of(table: Table, part: str) -> list[str]:
    return list(dict.fromkeys(name for p, name, _, _ in table if p == part))


def values(table: Table, part: str, name: str, method: str, column: str) -> dict[int, float]:
    """The column by split."""
    return {
        split: getattr(found, column)
        for (p, n, split, m), found in table.items()
        if (p, n, m) == (part, name, method) and not math.isnan(getattr(found, column))
    }


def mean(table: Table, part: str, name: str, method: str, column: str) -> float:
    found = values(table, part, name, method, column)
    return statistics.fmean(found.values()) if found else math.nan


def ratio_of(table: Table, part: str, name: str, ours: str, theirs: Sequence[str], column: str) -> float:
    """Our mean over the least mean of theirs, each over the splits that both have."""
    mine = values(table, part, name, ours, column)
    found = []
    for method in theirs:
        other = values(table, part, name, method, column)
        common = mine.keys() & other.keys()
        if common:
            top, bottom = (statistics.fmean(each[split] for split in common) for each in (mine, other))
            if column == LOSS:
                top, bottom = max(top, EQUAL), max(bottom, EQUAL)
            found.append(top / bottom if bottom > 0 else math.inf)
    return max(found, default=math.nan)


@dataclass(frozen=True)
class Column:
    title: str
    theirs: tuple[str, ...]
    column: str


CLASSES = (
    Column("loss / v1", (OLD,), LOSS),
    Column("loss / LR CV", TUNED, LOSS),
    Column("loss / LR", DEFAULTS, LOSS),
    Column("time / LR", DEFAULTS, TIME),
    Column("fit / LR", DEFAULTS, FIT),
    Column("time / LR CV", TUNED, TIME),
    Column("time / v1", (OLD,), TIME),
)
ARRAYS = (
    Column("fit / LRCV", ("python LogisticRegressionCV",), FIT),
    Column("fit / LR", ("python LogisticRegression",), FIT),
    Column("fit / RidgeCV", ("python RidgeCV",), FIT),
    Column("loss / LRCV", ("python LogisticRegressionCV",), LOSS),
    Column("loss / RidgeCV", ("python RidgeCV",), LOSS),
)


def cell(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.3f}" if value < 100 else f"{value:.0f}"


def plain(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [list(header), *(list(line) for line in lines)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(header))]
    texts = []
    for row in rows:
        first, *rest = (
            word.ljust(width) if at == 0 else word.rjust(width)
            for at, (word, width) in enumerate(zip(row, widths, strict=True))
        )
        texts.append("  ".join([first, *rest]).rstrip())
    return "\n".join(texts) + "\n"


def medians(found: dict[str, list[float]], columns: Sequence[Column]) -> list[list[str]]:
    """Median, worst, and how many sets are within the limits."""
    by_column = [[row[at] for row in found.values() if not math.isnan(row[at])] for at in range(len(columns))]
    lines = [["median", *(cell(statistics.median(each)) if each else "–" for each in by_column)]]
    lines.append(["worst", *(cell(max(each)) if each else "–" for each in by_column)])
    for limit in LIMITS:
        counts = [f"{sum(value <= limit for value in each)} of {len(each)}" if each else "–" for each in by_column]
        lines.append([f"within {limit}", *counts])
    return lines


def ratios(table: Table, part: str, ours: str, columns: Sequence[Column]) -> dict[str, list[float]]:
    found = {}
    for name in sets_of(table, part):
        row = [ratio_of(table, part, name, ours, each.theirs, each.column) for each in columns]
        if not all(math.isnan(value) for value in row):
            found[name] = row
    return found


def judged(table: Table, part: str, ours: str, columns: Sequence[Column]) -> str:
    found = ratios(table, part, ours, columns)
    if not found:
        return ""
    lines = []
    for name, row in found.items():
        extra = f"{mean(table, part, name, ours, LOSS):.4f}", f"{mean(table, part, name, ours, TIME):.3f}"
        lines.append([name, *extra, *(cell(value) for value in row)])
    ends = [[line[0], "", "", *line[1:]] for line in medians(found, columns)]
    return plain(["set", "loss", "seconds", *(each.title for each in columns)], [*lines, *ends])


def scaler(table: Table, ours: str) -> list[list[str]]:
    """Loss with a StandardScaler in front over the loss without."""
    lines = []
    for name in sets_of(table, "d"):
        if name.endswith(" scaled"):
            continue
        before = values(table, "d", name, ours, LOSS)
        after = values(table, "d", f"{name} scaled", ours, LOSS)
        common = before.keys() & after.keys()
        if common:
            top, bottom = (max(statistics.fmean(each[s] for s in common), EQUAL) for each in (after, before))
            each = [max(after[s], EQUAL) / max(before[s], EQUAL) for s in sorted(common)]
            lines.append(
                [name, f"{bottom:.5g}", f"{top:.5g}", f"{top / bottom:.4f}", f"{min(each):.4f}..{max(each):.4f}"]
            )
    return lines


def regression(table: Table, ours: str) -> list[list[str]]:
    lines = []
    for name in sets_of(table, "e"):
        r2 = mean(table, "e", name, ours, "accuracy")
        best = max((mean(table, "e", name, each, "accuracy") for each in RIDGES), default=math.nan)
        if not math.isnan(r2):
            time = ratio_of(table, "e", name, ours, RIDGES, TIME)
            lines.append([name, f"{r2:.4f}", f"{best:.4f}", f"{r2 - best:+.4f}", cell(time)])
    return lines


def kinds(table: Table, ours: str) -> list[list[str]]:
    lines = []
    for name in sets_of(table, "f"):
        found = table.get(("f", name, 0, ours))
        best = table.get(("f", name, 0, "best possible"))
        if found:
            ratio = f"{found.loss / best.loss:.5f} x best" if best else found.note
            lines.append([name, f"{found.loss:.6f}", ratio])
    return lines


def rivals(table: Table, part: str) -> list[list[str]]:
    """Every method: medians of its loss over the better LR CV and of its time over the cheaper default LR."""
    lines = []
    for method in dict.fromkeys(method for p, _, _, method in table if p == part):
        names = sets_of(table, part)
        loss = [ratio_of(table, part, name, method, TUNED, LOSS) for name in names]
        time = [ratio_of(table, part, name, method, DEFAULTS, TIME) for name in names]
        accuracy = [mean(table, part, name, method, "accuracy") for name in names]
        known = [value for value in loss if not math.isnan(value)]
        if known:
            within = sum(value <= 1.02 for value in known)
            spent = [value for value in time if not math.isnan(value)]
            right = [value for value in accuracy if not math.isnan(value)]
            lines.append(
                [
                    *(method, f"{statistics.median(known):.3f}", f"{within} of {len(known)}"),
                    *(f"{statistics.median(spent):.2f}" if spent else "–", f"{statistics.fmean(right):.4f}"),
                ]
            )
    return lines


def text(table: Table) -> str:
    """The whole summary, for the methods that are in the table."""
    said = []
    for ours in (OWN, OLD):
        for part, title in (("a", "21 sets"), ("b", "dense"), ("u", "unseen")):
            found = judged(table, part, ours, CLASSES)
            if found:
                said.append(f"({part}) {title}: {ours}\n{found}")
    found = judged(table, "c", "python greedystep", ARRAYS)
    if found:
        said.append(f"(c) Python on arrays\n{found}")
    for ours in (OWN, OLD, "LR", "LR CV"):
        lines = scaler(table, ours)
        if lines:
            said.append(f"(d) loss with a scaler in front: {ours}\n{plain(SCALER, lines)}")
    for ours in (OWN, OLD):
        lines = regression(table, ours)
        if lines:
            header = ["set", "R2", "best RidgeCV", "difference", "time ratio"]
            said.append(f"(e) regression: {ours}\n{plain(header, lines)}")
        lines = kinds(table, ours)
        if lines:
            said.append(f"(f) copies and kinds of rows: {ours}\n{plain(['set', 'loss', 'found'], lines)}")
    for part in "abu":
        lines = rivals(table, part)
        if lines:
            header = ["method", "loss / best LR CV", "within 1.02", "time / cheaper LR", "mean accuracy"]
            said.append(f"({part}) methods, medians over the sets\n{plain(header, lines)}")
    return "\n".join(said)
