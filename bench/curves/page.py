#!/usr/bin/env python3
"""Puts the results of this folder in docs/curves.md: every part between `<!-- measured: NAME -->` and `<!-- end -->`.

    python3 bench/curves/page.py

results.csv (run.py --rivals), ebm.csv (run.py --ebm), sets.csv (on_sets.py), streams.csv (streams.py), and the dates
and commits of all in measured.json. The function NAME below makes the text of a part. Standard library only.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).resolve().parent.parent))
from shared import ROOT, markdown, mean, read_table

HERE = Path(__file__).resolve().parent
PAGE = ROOT / "docs" / "curves.md"
OWN, LINES, BOOSTING = "auto", "off", "HistGradientBoosting"
STOPPED, STUMPS = "LightGBM, early stopping", "LightGBM, stumps"
BEHIND = 0.05
SAME = 0.01
LEAST_SECONDS, LEAST_LOSS = 1e-3, 1e-6  # below the clock; a loss of 0 has no ratio
NAMES = {OWN: "greedystep, curves", LINES: "greedystep, lines", "pairs": "greedystep, pairs"}
SIZES = ((0, 1000), (1000, 5000), (5000, 20_000), (20_000, 10**9))
Losses = dict[str, list[tuple[float, float]]]  # (loss, seconds) of every split, by tool


def geometric(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(mean(logs)) if logs else math.nan


def times_of(value: float) -> str:
    return f"{value:.2g} ×" if value < 100 else f"{value:,.0f} ×"


def measured(name: str) -> str:
    about = json.loads((HERE / "measured.json").read_text()).get(name)
    return f"*{about['date']}, commit {about['commit']}, {about['machine']}.*\n" if about else ""


def counts(ratios: Sequence[float]) -> list[int]:
    return [
        sum(x < 1 - SAME for x in ratios),
        sum(1 - SAME <= x <= 1 + SAME for x in ratios),
        sum(x > 1 + SAME for x in ratios),
    ]


# ---- tables ----------------------------------------------------------------------------------------------------------


class Tables:
    """Ratios of loss and seconds: medians over the splits, so every table has one vote."""

    def __init__(self) -> None:
        self.found: dict[str, Losses] = {}
        self.about: dict[str, tuple[int, int]] = {}
        self.bent: dict[str, list[int]] = {}  # columns, -1: nothing can bend
        self.numbers: set[str] = set()  # whose labels are numbers
        for row in read_table(HERE / "results.csv") + read_table(HERE / "ebm.csv"):
            name, tool = row["table"], row["tool"]
            loss, seconds = max(float(row["loss"]), LEAST_LOSS), max(float(row["seconds"]), LEAST_SECONDS)
            self.found.setdefault(name, {}).setdefault(tool, []).append((loss, seconds))
            self.about[name] = int(row["rows"]), int(row["columns"])
            if tool == OWN:
                self.bent.setdefault(name, []).append(int(row["curves"] or -1))
                self.numbers |= {name} if row["task"] == "number" else set()
        others = {tool for each in self.found.values() for tool in each} - {OWN, LINES, "EBM"}
        self.rivals = [*sorted(others), "EBM"]

    def names(self, *tools: str) -> list[str]:
        return sorted(name for name, each in self.found.items() if set(tools) <= set(each))

    def ratio(self, tool: str, other: str, name: str, what: int = 0) -> float:
        both = zip(self.found[name][tool], self.found[name][other], strict=False)
        return median(a[what] / b[what] for a, b in both)

    def ratios(self, tool: str, other: str, names: Iterable[str] | None = None, what: int = 0) -> list[float]:
        chosen = self.names(tool, other) if names is None else names
        return [self.ratio(tool, other, name, what) for name in chosen if name in self.names(tool, other)]

    def can_bend(self) -> list[str]:
        return [name for name, bent in self.bent.items() if max(bent) >= 0]


def tables() -> str:
    of = Tables()
    lines = []
    for tool in (OWN, *of.rivals):
        names = of.names(tool, LINES)
        if names:
            ratios = of.ratios(tool, LINES)
            own = counts(of.ratios(OWN, tool)) if tool != OWN else []
            costs = [of.ratios(tool, other, what=1) for other in (LINES, BOOSTING)]
            against = ["/".join(map(str, each)) for each in (counts(ratios), own)]
            times = [times_of(geometric(cost)) for cost in costs]
            lines.append([NAMES.get(tool, tool), len(names), f"{geometric(ratios):.3f}", *against, *times])
    bend, own = of.can_bend(), of.ratios(OWN, LINES)
    squared = geometric(of.ratio(OWN, LINES, name) ** (1 + (name in of.numbers)) for name in of.names(OWN, LINES))
    worse = sorted(((of.ratio(OWN, LINES, name), name) for name in of.names(OWN)), reverse=True)
    named = ", ".join(f"{name.split(' ', 1)[1]} {100 * (ratio - 1):+.1f} %" for ratio, name in worse if ratio > 1.01)
    text = [
        f"{len(own)} tables, {len(bend)} of them with columns that can bend. With curves the loss is "
        f"{geometric(own):.3f} times that of lines (geometric mean; {geometric(of.ratios(OWN, LINES, bend)):.3f} where "
        f"columns can bend; {squared:.3f} with squared error in place of its root), for {geometric(of.ratios(OWN, LINES, what=1)):.2g} times the processor time, choice "
        f"included ({geometric(of.ratios(OWN, LINES, bend, 1)):.2g} times; at most "
        f"{max(of.ratios(OWN, LINES, what=1)):.2g}).",
        f"Tables that are worse by more than 1 %: {named or 'none'}.\n",
        markdown(
            (
                "",
                "tables",
                "loss, lines = 1",
                "against lines",
                "curves against it",
                "time, lines = 1",
                "time, HistGradientBoosting = 1",
            ),
            lines,
        ),
        "Losses are geometric means over the tables. *Against lines* and *curves against it* count tables: less loss by "
        "more than 1 % / the same / more.\n",
    ]
    return "\n".join(text) + measured("results.csv")


def sizes() -> str:
    of, lines = Tables(), []
    tools = [tool for tool in (OWN, *of.rivals) if tool != "EBM"]
    for low, high in SIZES:
        names = [name for name in of.names(*tools) if low <= of.about[name][0] < high]
        if names:
            what = (
                f"below {high:,}"
                if low == 0
                else f"{low:,} or more"
                if high == SIZES[-1][1]
                else f"{low:,} to {high:,}"
            )
            lines.append([what, len(names), *(f"{geometric(of.ratios(tool, LINES, names)):.3f}" for tool in tools)])
    return markdown(("training rows", "tables", *(NAMES.get(tool, tool) for tool in tools)), lines)


def behind() -> str:
    """Tables where trees have less loss than curves, beside trees without interactions."""
    of = Tables()
    if not of.names(OWN, STUMPS):
        return ""
    behind = sorted(((of.ratio(OWN, STOPPED, name), name) for name in of.names(OWN, STUMPS)), reverse=True)
    lines = [
        [name, of.about[name][0], *(f"{of.ratio(tool, LINES, name):.3f}" for tool in (OWN, STUMPS, STOPPED))]
        for ratio, name in behind
        if ratio > 1 + BEHIND
    ]
    against, own = of.ratios(OWN, STUMPS), of.ratios(STUMPS, LINES)
    text = (
        f"Boosted stumps are sums of one contribution per column, as curves are. Their loss is {geometric(own):.3f} times "
        f"that of lines; curves have less than stumps on {counts(against)[0]} tables, the same on {counts(against)[1]}, "
        f"more on {counts(against)[2]}. Tables where trees with early stopping have less loss than curves by more than "
        f"{100 * BEHIND:g} %, compared with lines:\n\n"
    )
    return text + markdown(("table", "rows", NAMES[OWN], STUMPS, STOPPED), lines)


def every_table() -> str:
    of, lines = Tables(), []
    tools = [OWN, *of.rivals]
    for name in of.names(OWN, LINES):
        bent = ", ".join("-" if n < 0 else str(n) for n in sorted(set(of.bent[name])))
        cells = [f"{of.ratio(tool, LINES, name):.3f}" if name in of.names(tool) else "" for tool in tools]
        line = median(loss for loss, _ in of.found[name][LINES])
        cost = of.ratio(OWN, LINES, name, 1)
        lines.append([name, *of.about[name], f"{line:.4g}", *cells, bent, f"{cost:.2g} ×"])
    header = ("table", "rows", "columns", "lines", *(NAMES.get(tool, tool) for tool in tools), "columns that bend")
    return markdown((*header, "time of curves"), lines)


# ---- sets and streams ------------------------------------------------------------------------------------------------


def sets() -> str:
    found: dict[str, dict[str, list[Mapping[str, str]]]] = {}
    for row in read_table(HERE / "sets.csv"):
        found.setdefault(row["set"], {}).setdefault(row["form"], []).append(row)
    lines, ratios, flat = [], [], []
    for name, each in sorted(found.items()):
        losses = [mean([float(row["loss"]) for row in each[form]]) for form in (LINES, OWN)]
        seconds = [float(each[form][0]["seconds"]) for form in (LINES, OWN)]
        bent = {row["curves"] for row in each[OWN]}
        ratio, cost = losses[1] / losses[0], seconds[1] / seconds[0]
        ratios.append((ratio, name))
        what = "nothing can" if bent == {""} else ", ".join(sorted({n or "-" for n in bent}, key=len))
        flat += [(cost, name)] if bent == {""} else []
        figures = [f"{losses[0]:.4g}", f"{losses[1]:.4g}", f"{ratio:.3f}", f"{seconds[0]:.3g}", f"{cost:.2f} ×"]
        lines.append([name, each[OWN][0]["rows"], len(each[OWN]), *figures, what])
    worse = ", ".join(
        f"{name} {100 * (ratio - 1):+.1f} %" for ratio, name in sorted(ratios, reverse=True) if ratio > 1.01
    )
    header = (
        "set",
        "training rows",
        "splits",
        "lines",
        "curves",
        "ratio",
        "seconds of lines",
        "time",
        "columns that bend",
    )
    text = (
        f"On the {len(lines)} sets of the [race](quality.md) the loss is {geometric(r for r, _ in ratios):.3f} times that "
        f"of lines. Sets that are worse by more than 1 %: {worse or 'none'}. The {len(flat)} sets where nothing can bend "
        f"cost {min(flat)[0]:.2f} to {max(flat)[0]:.2f} times as much as without the question.\n\n"
    )
    return text + markdown(header, lines) + "\n" + measured("sets.csv")


def streams() -> str:
    found = read_table(HERE / "streams.csv")
    truth = {row["stream"]: float(row["loss"]) for row in found if row["tool"] == "truth"}
    trees = {row["rows"]: row for row in found if row["tool"] == "LightGBM"}
    lines = []
    for off in found:
        if off["form"] != LINES:
            continue
        key = "stream", "rows", "tool"
        own = next((row for row in found if row["form"] == OWN and all(row[k] == off[k] for k in key)), None)
        best = truth.get(off["stream"].split(",")[0])
        cells: list[object] = [off["stream"], f"{int(off['rows']):,}", "stream" if off["method"] == "gsa" else "solver"]
        cells += [f"{float(off['loss']):.4f}", f"{float(own['loss']):.4f}" if own else ""]
        cells += [f"{best:.4f}" if best else "", f"{float(off['seconds']):.3g}"]
        cells += [f"{float(own['seconds']) / float(off['seconds']):.2f} ×", own["curves"] or "-"] if own else ["", ""]
        tree = trees.get(off["rows"]) if off["stream"] == "rows" and off["tool"] == "default" else None
        cells += [f"{float(tree['loss']):.4f}", f"{float(tree['seconds']):.3g}"] if tree else ["", ""]
        lines.append(cells)
    header = ("rows of", "rows", "learned by", "lines", "curves", "truth", "seconds of lines", "time of curves")
    return markdown((*header, "columns that bend", "LightGBM", "its seconds"), lines) + "\n" + measured("streams.csv")


def main() -> None:
    def part(found: re.Match[str]) -> str:
        return f"<!-- measured: {found[1]} -->\n{globals()[found[1]]()}<!-- end -->"

    text = PAGE.read_text(encoding="utf-8")
    made = re.sub(r"<!-- measured: (\w+) -->\n.*?<!-- end -->", part, text, flags=re.DOTALL)
    PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
