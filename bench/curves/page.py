#!/usr/bin/env python3
"""Puts the results of this folder in docs/curves.md: every part between `<!-- measured: NAME -->` and `<!-- end -->`.

    python3 bench/curves/page.py

results.csv (run.py --rivals), ebm.csv (run.py --ebm), sizes.csv (sizes.py), sets.csv (on_sets.py), streams.csv
(streams.py), and the dates and commits of all in measured.json. The function NAME below makes the text of a part. Standard library only.
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
OWN, CURVES, LINES = "pairs", "curves", "lines"
FORMS = {LINES: "greedystep, lines", CURVES: "greedystep, curves", OWN: "greedystep, pairs"}
BOOSTING, LIGHT, STOPPED, STUMPS = "HistGradientBoosting", "LightGBM", "LightGBM, early stopping", "LightGBM, stumps"
BEHIND = 0.05
SAME = 0.01
LEAST_SECONDS, LEAST_LOSS = 1e-3, 1e-6  # below the clock; a loss of 0 has no ratio
SIZES = ((0, 1000), (1000, 6000), (6000, 20_000), (20_000, 10**9))
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

    def __init__(self, rows: Iterable[Mapping[str, str]]) -> None:
        self.found: dict[str, Losses] = {}
        self.about: dict[str, tuple[int, int]] = {}
        self.bent: dict[str, list[int]] = {}  # columns, -1: nothing can bend
        self.paired: dict[str, list[int]] = {}
        self.numbers: set[str] = set()  # whose labels are numbers
        for row in rows:
            name, tool = row["table"], row["tool"]
            loss, seconds = max(float(row["loss"]), LEAST_LOSS), max(float(row["seconds"]), LEAST_SECONDS)
            self.found.setdefault(name, {}).setdefault(tool, []).append((loss, seconds))
            self.about[name] = int(row["rows"]), int(row["columns"])
            if tool == OWN:
                self.bent.setdefault(name, []).append(int(row["curves"] or -1))
                self.paired.setdefault(name, []).append(int(row["pairs"] or 0))
                self.numbers |= {name} if row["task"] == "number" else set()
        others = {tool for each in self.found.values() for tool in each} - {*FORMS, "EBM"}
        self.rivals = [*sorted(others), "EBM"]

    def names(self, *tools: str) -> list[str]:
        return sorted(name for name, each in self.found.items() if set(tools) <= set(each))

    def ratio(self, tool: str, other: str, name: str, what: int = 0) -> float:
        both = zip(self.found[name][tool], self.found[name][other], strict=False)
        return median(a[what] / b[what] for a, b in both)

    def ratios(self, tool: str, other: str, names: Iterable[str] | None = None, what: int = 0) -> list[float]:
        chosen = self.names(tool, other) if names is None else names
        return [self.ratio(tool, other, name, what) for name in chosen if name in self.names(tool, other)]

    def won(self, tool: str, other: str, names: Iterable[str] | None = None) -> str:
        return "/".join(map(str, counts(self.ratios(tool, other, names))))


def small_tables() -> Tables:
    return Tables(read_table(HERE / "results.csv") + read_table(HERE / "ebm.csv"))


def tables() -> str:
    of = small_tables()
    lines = []
    for tool in (OWN, CURVES, *of.rivals):
        names = of.names(tool, LINES)
        if names:
            costs = [of.ratios(tool, other, what=1) for other in (LINES, LIGHT)]
            times = [times_of(geometric(cost)) for cost in costs]
            own = of.won(OWN, tool) if tool != OWN else ""
            loss = f"{geometric(of.ratios(tool, LINES)):.3f}"
            lines.append([FORMS.get(tool, tool), len(names), loss, of.won(tool, LINES), own, *times])
    names = of.names(OWN, LINES)
    squared = geometric(of.ratio(OWN, LINES, name) ** (1 + (name in of.numbers)) for name in names)
    worse = sorted(((of.ratio(OWN, LINES, name), name) for name in names), reverse=True)
    named = ", ".join(f"{name.split(' ', 1)[1]} {100 * (ratio - 1):+.1f} %" for ratio, name in worse if ratio > 1.01)
    up_to = [name for name in names if of.about[name][0] < 6000]
    text = [
        f"{len(names)} tables; on {sum(max(of.paired[name]) > 0 for name in names)} pairs were taken in a split at "
        f"least, and on {sum(max(of.bent[name]) > 0 for name in names)} curves. As it comes the loss is "
        f"{geometric(of.ratios(OWN, LINES)):.3f} times that of lines ({squared:.3f} with squared error in place of its "
        f"root), for {geometric(of.ratios(OWN, LINES, what=1)):.2g} times the processor time, choice included (at most "
        f"{max(of.ratios(OWN, LINES, what=1)):.2g}). On the {len(up_to)} tables with fewer than 6000 training rows it is "
        f"{geometric(of.ratios(OWN, LIGHT, up_to)):.3f} times that of LightGBM, and "
        f"{geometric(of.ratios(OWN, STOPPED, up_to)):.3f} times that of LightGBM with early stopping.",
        f"Tables that are worse than lines by more than 1 %: {named or 'none'}.\n",
        markdown(
            (
                "",
                "tables",
                "loss, lines = 1",
                "against lines",
                "pairs against it",
                "time, lines = 1",
                "time, LightGBM = 1",
            ),
            lines,
        ),
        "Losses are geometric means over the tables. *Against lines* and *pairs against it* count tables: less loss by "
        "more than 1 % / the same / more.\n",
    ]
    return "\n".join(text) + measured("results.csv")


def sizes() -> str:
    of, lines = small_tables(), []
    tools = [tool for tool in (CURVES, OWN, *of.rivals) if tool != "EBM"]
    for low, high in SIZES:
        names = [name for name in of.names(*tools) if low <= of.about[name][0] < high]
        if names:
            what = f"{low:,} to {high:,}" if low else f"below {high:,}"
            what = f"{low:,} or more" if high == SIZES[-1][1] else what
            losses = [f"{geometric(of.ratios(tool, LINES, names)):.3f}" for tool in tools]
            lines.append([what, len(names), *losses, *(of.won(OWN, tool, names) for tool in (LIGHT, STOPPED))])
    header = ("training rows", "tables", *(FORMS.get(tool, tool) for tool in tools))
    return markdown((*header, "pairs against LightGBM", "with early stopping"), lines)


def growing() -> str:
    """The tables of sizes.py by the number of rows that are learned."""
    by_rows: dict[int, list[Mapping[str, str]]] = {}
    for row in read_table(HERE / "sizes.csv"):
        by_rows.setdefault(int(row["rows"]), []).append(row)
    parts = {n: Tables(rows) for n, rows in sorted(by_rows.items())}
    tools = [CURVES, OWN, BOOSTING, LIGHT, STOPPED]
    if any(part.names("EBM") for part in parts.values()):
        tools.append("EBM")
    summary, lines = [], []
    for n, of in parts.items():
        names = of.names(OWN, LINES)
        losses = [f"{geometric(of.ratios(OWN, tool)):.3f}" for tool in (LINES, LIGHT, STOPPED)]
        times = [times_of(geometric(of.ratios(OWN, tool, what=1))) for tool in (LINES, LIGHT, STOPPED)]
        summary.append([f"{n:,}", len(names), *losses, *(of.won(OWN, tool) for tool in (LIGHT, STOPPED)), *times])
    for name in sorted({name for of in parts.values() for name in of.found}):
        for n, of in parts.items():
            if name in of.found:
                cells = [f"{of.ratio(tool, LINES, name):.3f}" if name in of.names(tool) else "" for tool in tools]
                seconds = [f"{of.found[name][tool][0][1]:.2g}" for tool in (LINES, OWN, LIGHT, STOPPED)]
                line = f"{of.found[name][LINES][0][0]:.4g}"
                lines.append([name, f"{n:,}", line, *cells, of.paired[name][0], *seconds])
    head = ("training rows", "tables", *(f"pairs, {tool} = 1" for tool in ("lines", LIGHT, "early stopping")))
    head += ("against LightGBM", "against early stopping", "time, lines = 1", "time, LightGBM = 1")
    text = markdown((*head, "time, early stopping = 1"), summary) + "\n"
    short = {BOOSTING: "HistGB", STOPPED: "early stopping"}
    header = ("table", "rows", "lines", *(short.get(tool, tool) for tool in tools), "pairs taken")
    return (
        text
        + markdown((*header, *(f"s, {tool}" for tool in (LINES, OWN, LIGHT, "stopping"))), lines)
        + "\n"
        + measured("sizes.csv")
    )


def behind() -> str:
    """Tables where trees have less loss than pairs, beside trees without interactions."""
    of = small_tables()
    if not of.names(OWN, STUMPS):
        return ""
    behind = sorted(((of.ratio(OWN, STOPPED, name), name) for name in of.names(OWN, STUMPS)), reverse=True)
    tools = (CURVES, STUMPS, OWN, STOPPED)
    lines = [
        [name, of.about[name][0], *(f"{of.ratio(tool, LINES, name):.3f}" for tool in tools)]
        for ratio, name in behind
        if ratio > 1 + BEHIND
    ]
    against, own = of.ratios(CURVES, STUMPS), of.ratios(STUMPS, LINES)
    text = (
        f"Boosted stumps are sums of one contribution per column, as curves are. Their loss is {geometric(own):.3f} times "
        f"that of lines; curves have less than stumps on {counts(against)[0]} tables, the same on {counts(against)[1]}, "
        f"more on {counts(against)[2]}. Tables where trees with early stopping have less loss than pairs by more than "
        f"{100 * BEHIND:g} %, compared with lines:\n\n"
    )
    return text + markdown(("table", "rows", *(FORMS.get(tool, tool) for tool in tools)), lines)


def every_table() -> str:
    of, lines = small_tables(), []
    tools = [CURVES, OWN, *of.rivals]
    for name in of.names(OWN, LINES):
        bent = ", ".join("-" if n < 0 else str(n) for n in sorted(set(of.bent[name])))
        paired = ", ".join(str(n) for n in sorted(set(of.paired[name])))
        cells = [f"{of.ratio(tool, LINES, name):.3f}" if name in of.names(tool) else "" for tool in tools]
        line = median(loss for loss, _ in of.found[name][LINES])
        cost = of.ratio(OWN, LINES, name, 1)
        lines.append([name, *of.about[name], f"{line:.4g}", *cells, bent, paired, f"{cost:.2g} ×"])
    header = ("table", "rows", "columns", "lines", *(FORMS.get(tool, tool) for tool in tools), "columns that bend")
    return markdown((*header, "pairs", "time of pairs"), lines)


# ---- sets and streams ------------------------------------------------------------------------------------------------


def sets() -> str:
    found: dict[str, dict[str, list[Mapping[str, str]]]] = {}
    for row in read_table(HERE / "sets.csv"):
        found.setdefault(row["set"], {}).setdefault(row["form"], []).append(row)
    lines, ratios, flat = [], [], []
    for name, each in sorted(found.items()):
        losses = {form: mean([float(row["loss"]) for row in each[form]]) for form in FORMS}
        seconds = {form: float(each[form][0]["seconds"]) for form in FORMS}
        bent, paired = ({row[what] for row in each[OWN]} for what in ("curves", "pairs"))
        ratio, cost = losses[OWN] / losses[LINES], seconds[OWN] / seconds[LINES]
        ratios.append((ratio, name))
        what = "nothing can" if bent == {""} else ", ".join(sorted({n or "-" for n in bent}, key=len))
        taken = "" if bent == {""} else ", ".join(sorted({n or "0" for n in paired}, key=len))
        flat += [(cost, name)] if bent == {""} else []
        figures = [f"{losses[form]:.4g}" for form in FORMS]
        figures += [f"{ratio:.3f}", f"{seconds[LINES]:.3g}"]
        figures += [f"{seconds[form] / seconds[LINES]:.2f} ×" for form in (CURVES, OWN)]
        lines.append([name, each[OWN][0]["rows"], len(each[OWN]), *figures, what, taken])
    worse = ", ".join(
        f"{name} {100 * (ratio - 1):+.1f} %" for ratio, name in sorted(ratios, reverse=True) if ratio > 1.01
    )
    header = ("set", "training rows", "splits", *FORMS, "pairs, lines = 1", "seconds of lines", "time of curves")
    text = (
        f"On the {len(lines)} sets of the [race](quality.md) the loss is {geometric(r for r, _ in ratios):.3f} times that "
        f"of lines. Sets that are worse by more than 1 %: {worse or 'none'}. The {len(flat)} sets where nothing can bend "
        f"cost {min(flat)[0]:.2f} to {max(flat)[0]:.2f} times as much as without the question.\n\n"
    )
    return (
        text
        + markdown((*header, "time of pairs", "columns that bend", "pairs taken"), lines)
        + "\n"
        + measured("sets.csv")
    )


def streams() -> str:
    found = read_table(HERE / "streams.csv")
    truth = {row["stream"]: float(row["loss"]) for row in found if row["tool"] == "truth"}
    trees = {row["rows"]: row for row in found if row["tool"] == LIGHT}
    lines = []
    for line in found:
        if line["form"] != LINES:
            continue
        key = "stream", "rows", "tool"
        same = {row["form"]: row for row in found if all(row[k] == line[k] for k in key)}
        own = same.get(OWN)
        best = truth.get(line["stream"].split(",")[0])
        cells: list[object] = [line["stream"], f"{int(line['rows']):,}"]
        cells += ["stream" if line["method"] == "gsa" else "solver"]
        cells += [f"{float(same[form]['loss']):.4f}" if form in same else "" for form in FORMS]
        cells += [f"{best:.4f}" if best else "", f"{float(line['seconds']):.3g}"]
        for form in (CURVES, OWN):
            cells += [f"{float(same[form]['seconds']) / float(line['seconds']):.2f} ×" if form in same else ""]
        cells += [own["curves"] or "-", own["pairs"] or "0"] if own else ["", ""]
        tree = trees.get(line["rows"]) if line["stream"] == "rows" and line["tool"] == "default" else None
        cells += [f"{float(tree['loss']):.4f}", f"{float(tree['seconds']):.3g}"] if tree else ["", ""]
        lines.append(cells)
    header = ("rows of", "rows", "learned by", *FORMS, "truth", "seconds of lines", "time of curves", "time of pairs")
    return (
        markdown((*header, "columns that bend", "pairs taken", LIGHT, "its seconds"), lines)
        + "\n"
        + measured("streams.csv")
    )


def main() -> None:
    def part(found: re.Match[str]) -> str:
        return f"<!-- measured: {found[1]} -->\n{globals()[found[1]]()}<!-- end -->"

    text = PAGE.read_text(encoding="utf-8")
    made = re.sub(r"<!-- measured: (\w+) -->\n.*?<!-- end -->", part, text, flags=re.DOTALL)
    PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
