"""Each tool beside greedystep, per data set: the numbers behind the figures and the headline table.

A ratio is a tool's mean over the splits that it shares with greedystep, over greedystep's mean on the same splits.
Losses below .002 count as equal. LogisticRegression is searched with and without a scaler in front, and the search that
had the lower held-out loss counts, with the time of both (on mnist only the one without was run). A searched tool is
calibrated by its held-out predictions if that makes its median loss lower.
"""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import dataclass, replace

from results import Key, Result

EQUAL = 0.002
SAME = 0.01  # losses within this share are the same
OWN = "greedystep"
FEW = 10  # a tool that ran on fewer sets is left out of the headline and the figure
LR_BOTH = "LR CV best"
CALIBRATED = " calibrated"
LOSS, TIME, FIT = "loss", "cpu_seconds", "cpu_seconds_without_reading"
Table = dict[Key, Result]

# Name and what it is, by set. The order is that of the pages: text and clicks, then measurements.
SETS = {
    "news20.scale": ("news20", "20 newsgroups, text"),
    "sector.scale": ("sector", "web pages of companies"),
    "w1a": ("w1a", "web pages, words"),
    "criteo_8k": ("criteo", "clicks on ads"),
    "ipinyou_sample": ("ipinyou", "clicks on ads, rare"),
    "a9a": ("a9a", "census: income above 50,000"),
    "mushrooms": ("mushrooms", "edible or not"),
    "mnist.scale": ("mnist", "handwritten digits, 784 pixels"),
    "usps": ("usps", "digits on envelopes"),
    "digits": ("digits", "handwritten, 64 pixels"),
    "letter.scale": ("letter", "26 letters of 20 fonts"),
    "dna.scale": ("dna", "splice sites in DNA"),
    "protein.val": ("protein", "structure of proteins"),
    "cod-rna": ("cod-rna", "non-coding RNA or not"),
    "susy_30k": ("susy", "particle collisions"),
    "ijcnn1.val": ("ijcnn1", "misfires of an engine"),
    "madelon": ("madelon", "artificial, mostly noise"),
    "breast_cancer": ("breast_cancer", "tumours, raw units"),
    "breast-cancer_scale": ("breast-cancer", "tumour cells, scaled"),
    "wine": ("wine", "vineyards, raw units"),
    "iris": ("iris", "flowers, raw units"),
}


@dataclass(frozen=True)
class Entry:
    """A tool in one state."""

    tool: str
    state: str
    method: str
    is_searched: bool = False
    in_headline: bool = True

    @property
    def title(self) -> str:
        return f"{self.tool}, {self.state}"


VW, LIBLINEAR, SGD, LR = "Vowpal Wabbit", "LIBLINEAR", "SGDClassifier", "LogisticRegression"
ENTRIES = (
    Entry(VW, "default", "VW"),
    Entry(VW, "`--freegrad`", "VW freegrad"),
    Entry(VW, "searched", "VW tuned", True),
    Entry(VW, "`--freegrad`, searched", "VW freegrad tuned", True, False),
    Entry(LIBLINEAR, "default", "LIBLINEAR -s 0"),
    Entry(LIBLINEAR, "searched", "LIBLINEAR tuned", True),
    Entry(SGD, "default", "SGD"),
    Entry(SGD, "searched", "SGD tuned", True),
    Entry(LR, "default", "LR"),
    Entry(LR, "with a scaler", "LR scaled"),
    Entry(LR, "cross-validated", LR_BOTH, True),
)


def held(result: Result) -> float:
    found = re.search(r"held=([0-9.e+-]+)", result.note)
    return float(found[1]) if found else math.nan


def with_lr_choice(table: Table) -> Table:
    """Adds the better of the two searches of LogisticRegression by their held-out losses, with the time of both."""
    made = dict(table)
    for (part, name, split, method), first in table.items():
        second = table.get((part, name, split, "LR CV scaled"))
        if method != "LR CV" or (second and math.isnan(held(first) + held(second))):
            continue
        best = second if second and held(second) < held(first) else first
        seconds = first.cpu_seconds + (second.cpu_seconds_without_reading if second else 0.0)
        for end in ("", CALIBRATED):
            chosen = table[part, name, split, best.method + end]
            new = replace(chosen, method=LR_BOTH + end, cpu_seconds=seconds, note=f"{best.method}: {best.note}")
            made[new.key] = new
    return made


class Standings:
    def __init__(self, table: Table, part: str = "a") -> None:
        self.table, self.part = with_lr_choice(table), part
        known = dict.fromkeys(name for p, name, _, m in table if (p, m) == (part, OWN))
        self.sets = [name for name in SETS if name in known] if part == "a" else list(known)
        self.entries = [self._calibrated(each) for each in ENTRIES]

    def _calibrated(self, entry: Entry) -> Entry:
        if not entry.is_searched:
            return entry
        other = replace(entry, method=entry.method + CALIBRATED)
        plain, changed = (list(self.ratios(each, LOSS).values()) for each in (entry, other))
        return other if changed and statistics.median(changed) < statistics.median(plain) else entry

    def values(self, name: str, method: str, column: str) -> dict[int, float]:
        """The column by split."""
        found = {}
        for split in range(5):
            result = self.table.get((self.part, name, split, method))
            if result is not None and not math.isnan(getattr(result, column)):
                found[split] = getattr(result, column)
        return found

    def mean(self, name: str, method: str, column: str) -> float:
        found = self.values(name, method, column)
        return statistics.fmean(found.values()) if found else math.nan

    def ratio(self, name: str, method: str, column: str, own: str = OWN) -> float:
        """The method's mean over greedystep's, on the splits that both have."""
        ours, theirs = self.values(name, own, column), self.values(name, method, column)
        common = ours.keys() & theirs.keys()
        if not common:
            return math.nan
        top, bottom = (statistics.fmean(each[split] for split in common) for each in (theirs, ours))
        return max(top, EQUAL) / max(bottom, EQUAL) if column == LOSS else top / bottom

    def ratios(self, entry: Entry, column: str) -> dict[str, float]:
        found = {name: self.ratio(name, entry.method, column) for name in self.sets}
        return {name: value for name, value in found.items() if not math.isnan(value)}

    def least(self, name: str) -> float:
        """The least loss of all tools in all states, greedystep among them, over greedystep's."""
        found = [self.ratio(name, each.method, LOSS) for each in self.entries]
        return min([1.0, *(value for value in found if not math.isnan(value))])

    def is_few(self, entry: Entry) -> bool:
        return len(self.ratios(entry, LOSS)) < FEW

    def outcomes(self, entry: Entry) -> tuple[int, int, int]:
        """On how many sets the tool has less loss than greedystep, the same, more."""
        values = self.ratios(entry, LOSS).values()
        less = sum(value < 1 - SAME for value in values)
        more = sum(value > 1 + SAME for value in values)
        return less, len(values) - less - more, more
