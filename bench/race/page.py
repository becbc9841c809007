#!/usr/bin/env python3
"""Writes docs/quality.md, docs/quality-tables.md, their figures and the table of README.md and docs/index.md.

    python3 bench/race/page.py

Everything comes from results.csv here and from the tables of bench/quality; nothing is measured. In README.md and
docs/index.md only the lines between `<!-- race table: ... -->` and `<!-- end -->` are replaced.
"""

from __future__ import annotations

import json
import math
import re
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import paths  # isort: skip
import figure
import results
import tables  # bench/quality/tables.py
from shared import ROOT, markdown, read_table
from standings import CALIBRATED, FIT, LOSS, OWN, SAME, SETS, TIME, Entry, Standings, Table
from tuning import BUDGET
from wording import APPENDIX, PAGE

DOCS = ROOT / "docs"
MARKED = re.compile(r"(<!-- race table[^>]*-->\n).*?(<!-- end -->)", re.DOTALL)
AS_THEY_COME = (OWN, "LR", "LR scaled", "SGD", "LIBLINEAR -s 0", "VW", "VW freegrad")
SEARCHED = ("LR CV", "LR CV scaled", "SGD tuned", "LIBLINEAR tuned", "VW tuned", "VW freegrad tuned")
HEADER_NAMES = {
    "LR": "LogisticRegression",
    "LR scaled": "scaler + LogisticRegression",
    "SGD": "SGDClassifier",
    "LIBLINEAR -s 0": "LIBLINEAR",
    "VW": "Vowpal Wabbit",
    "VW freegrad": "VW `--freegrad`",
    "LR CV": "LogisticRegression",
    "LR CV scaled": "scaler + LogisticRegression",
    "SGD tuned": "SGDClassifier",
    "LIBLINEAR tuned": "LIBLINEAR",
    "VW tuned": "Vowpal Wabbit",
    "VW freegrad tuned": "VW `--freegrad`",
}


# ---- words -----------------------------------------------------------------------------------------------------------


def times(ratio: float) -> str:
    if ratio >= 9.95:
        return f"{ratio:.0f} ×"
    return f"{ratio:.1f} ×" if ratio >= 0.95 else f"{ratio:.2f} ×"


def more_or_less(ratio: float) -> str:
    """A ratio of losses in words that need no inverting."""
    percent = 100 * (ratio - 1)
    if abs(percent) < 0.5:
        return "the same loss"
    if ratio >= 3:
        return f"{times(ratio)} the loss"
    return f"{abs(percent):.0f} % {'more' if percent > 0 else 'less'} loss"


def share(ratio: float) -> str:
    percent = round(100 * (ratio - 1))
    return times(ratio) if ratio >= 3 else f"{percent:+d} %" if percent else "0 %"  # no -0 %


def listed(names: Iterable[str]) -> str:
    *first, last = list(names)
    return f"{', '.join(first)} and {last}" if first else last


def short(name: str) -> str:
    return SETS[name][0] if name in SETS else name


# ---- the headline ----------------------------------------------------------------------------------------------------


def headline(standings: Standings, is_short: bool) -> str:
    rows = []
    for entry in standings.entries:
        losses, seconds = (list(standings.ratios(entry, column).values()) for column in (LOSS, TIME))
        if not losses or (is_short and (not entry.in_headline or standings.is_few(entry))):
            continue
        less, same, more = standings.outcomes(entry)
        loss, time = more_or_less(statistics.median(losses)), f"{times(statistics.median(seconds))} the time"
        if not is_short:
            loss += f" ({share(min(losses))} to {share(max(losses))})"
            time += f" ({times(min(seconds))} to {times(max(seconds))})"
        n = "" if len(losses) == len(standings.sets) else f" ({len(losses)} sets)"
        rows.append([f"{entry.title}{n}", loss, time, f"{less} / {same} / {more}"])
    return markdown(
        ["median over the sets, compared with greedystep", "loss", "time", "sets: less / same / more loss"], rows
    )


def sentence(standings: Standings) -> str:
    defaults = [each for each in standings.entries if not each.is_searched]
    searched = [each for each in standings.entries if each.is_searched and not standings.is_few(each)]
    low, high = (f(statistics.median(standings.ratios(each, LOSS).values()) for each in defaults) for f in (min, max))
    best = min(searched, key=lambda each: statistics.median(standings.ratios(each, LOSS).values()))
    loss, time = (statistics.median(standings.ratios(best, column).values()) for column in (LOSS, TIME))
    least = sum(standings.least(name) >= 1 - SAME for name in standings.sets)
    return (
        f"With default settings the other tools have {100 * (low - 1):.0f} to {100 * (high - 1):.0f} % more log loss"
        f" (medians over {len(standings.sets)} data sets); after a search the nearest, {best.tool}, has"
        f" {more_or_less(loss)} and takes {times(time)} the time. On {least} of {len(standings.sets)} sets nothing in"
        f" this table beats greedystep's defaults by more than 1 %."
    )


def is_behind(standings: Standings) -> str:
    """Sets where some tool has over 1 % less loss, the tool with the least, and which tools are faster."""
    rows = []
    for name in standings.sets:
        found = {each: standings.ratio(name, each.method, LOSS) for each in standings.entries}
        best = min((each for each in found if not math.isnan(found[each])), key=found.__getitem__)
        if found[best] < 1 - SAME:
            ours = standings.mean(name, OWN, LOSS)
            time = times(standings.ratio(name, best.method, TIME))
            less = f"{100 * (1 - found[best]):.0f} % less"
            rows.append([label(name), shown(ours), f"{best.title}: {less} loss, {time} the time"])
    return markdown(["data", "log loss of greedystep", "least loss"], rows) if rows else "No set.\n"


def unlisted(standings: Standings) -> str:
    """Further sets where a search that the headline leaves out has over 1 % less loss."""
    found = []
    for name in standings.sets:
        ratios = (standings.ratio(name, each + end, LOSS) for each in SEARCHED for end in ("", CALIBRATED))
        known = [value for value in ratios if not math.isnan(value)]
        if standings.least(name) >= 1 - SAME and known and min(known) < 1 - SAME:
            found.append(f"{short(name)} ({100 * (1 - min(known)):.0f} % less)")
    link = "[appendix](quality-tables.md#log-loss-after-a-search)"
    return f"Single searches of the {link} that the table leaves out do so on {listed(found)}.\n" if found else ""


def faster(standings: Standings) -> str:
    found = []
    for entry in standings.entries:
        ratio = statistics.median(standings.ratios(entry, TIME).values())
        if ratio < 0.95:
            found.append(f"{entry.title} ({times(ratio)})")
    return listed(found)


def label(name: str) -> str:
    return f"{SETS[name][0]}: {SETS[name][1]}" if name in SETS else name


def shown(value: float) -> str:
    return tables.shown(value)


# ---- small tables ----------------------------------------------------------------------------------------------------


def seconds(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3g}"


def arrays_table(found: Table) -> str:
    """Part (c): loss and seconds of fit on arrays."""
    standings = Standings(found, "c")
    own, others = "python greedystep", ("LogisticRegression", "LogisticRegressionCV", "RidgeCV")
    rows = []
    for name in dict.fromkeys(n for p, n, _, m in found if (p, m) == ("c", own)):
        row = [name]
        for method in (own, *(f"python {each}" for each in others)):
            loss, time = (standings.mean(name, method, column) for column in (LOSS, FIT))
            row.append("–" if math.isnan(loss) else f"{shown(loss)} ({seconds(time)} s)")
        rows.append(row)
    return markdown(["data", "greedystep", *others], rows) if rows else ""


def scaler_table(found: Table) -> str:
    """Part (d): loss with a StandardScaler in front over the loss without."""
    standings = Standings(found, "d")
    methods = {OWN: "greedystep", "LR": "LogisticRegression", "LR CV": "LogisticRegression, cross-validated"}
    rows = []
    for name in standings.sets:
        if name.endswith(" scaled"):
            continue
        row = [name.replace("_", " ")]
        for method in methods:
            before, after = (standings.values(each, method, LOSS) for each in (name, f"{name} scaled"))
            common = before.keys() & after.keys()
            if common:
                top, bottom = (statistics.fmean(each[split] for split in common) for each in (after, before))
                row.append(f"{shown(bottom)} → {shown(top)}")
            else:
                row.append("–")
        rows.append(row)
    return markdown(["data", *methods.values()], rows)


def regression_table(found: Table) -> str:
    standings = Standings(found, "e")
    rows = []
    for name in standings.sets:
        row = [name.replace("_", " ")]
        for method in (OWN, "RidgeCV", "RidgeCV scaled"):
            row.append(f"{standings.mean(name, method, 'accuracy'):.4f}")
        rows.append([*row, seconds(standings.mean(name, OWN, TIME)), seconds(standings.mean(name, "RidgeCV", TIME))])
    return markdown(["data", "R²", "of RidgeCV", "scaler + RidgeCV", "seconds", "of RidgeCV"], rows)


def unseen_table(found: Table) -> str:
    standings = Standings(found, "u")
    rows = []
    for method, title in (("LR", "LogisticRegression"), ("LR scaled", "scaler + LogisticRegression")):
        entry = Entry("", title, method)
        losses, spent = (list(standings.ratios(entry, column).values()) for column in (LOSS, TIME))
        less, same, more = standings.outcomes(entry)
        row = [title, more_or_less(statistics.median(losses)), f"{times(statistics.median(spent))} the time"]
        rows.append([*row, f"{less} / {same} / {more}"])
    return markdown(["compared with greedystep, default", "loss", "time", "sets: less / same / more loss"], rows)


def bound_table() -> str:
    """Both methods on the same generated clicks, by number of rows; greedy step averaging beyond the bound."""
    found = read_table(ROOT / "bench" / "order" / "crossover.csv")
    lines = {(line["rows"], line["method"], line["door"]): line for line in found if line["program"] == "now"}
    rows = []
    for n in dict.fromkeys(rows for rows, _, _ in lines if int(rows) >= 100_000):
        row = [f"{int(n):,}"]
        for way in (("optimum", "file"), ("gsa", "file"), ("gsa", "pipe")):
            line = lines.get((n, *way))
            cells = [f"{float(line['loss']):.5f}", f"{float(line['seconds']):.2f}", line["megabytes"]] if line else []
            row += cells or ["–"] * 3
        rows.append(row)
    header = ["rows", "loss of the optimum", "seconds", "MB", "`--method gsa`, file", "seconds", "MB"]
    return markdown([*header, "from a pipe", "seconds", "MB"], rows)


def kinds_text(found: Table) -> str:
    equal = [name for p, name, _, _ in found if p == "f" and found[p, name, 0, OWN].note == "equal bytes"]
    copied = [name for p, name, _, m in found if p == "f" and " x " in name and m == OWN]
    return f"{len(set(equal))} of {len(set(copied))}"


# ---- per set ---------------------------------------------------------------------------------------------------------


def digits(column: str, value: float) -> str:
    if math.isnan(value):
        return "–"
    return shown(value) if column == LOSS else f"{value:.4f}" if column in ("accuracy", "auc") else f"{value:.3g}"


def on_common_splits(standings: Standings, name: str, methods: Sequence[str], column: str) -> list[float]:
    """The means of the methods over the splits that all of them have."""
    found = [standings.values(name, method, column) for method in methods]
    common = set.intersection(*(set(each) for each in found))
    return [statistics.fmean(each[split] for split in common) if common else math.nan for each in found]


def by_set(
    standings: Standings, methods: Sequence[str], column: str, is_least: bool = True, is_common: bool = False
) -> str:
    """Means over the splits (of each method, or those that all have), the best in bold."""
    rows = []
    for name in standings.sets:
        if is_common:
            means = on_common_splits(standings, name, methods, column)
        else:
            means = [standings.mean(name, method, column) for method in methods]
        known = [value for value in means if not math.isnan(value)]
        if known:
            best = (min if is_least else max)(known)
            cells = [f"**{digits(column, each)}**" if each == best else digits(column, each) for each in means]
            rows.append([short(name), *cells])
    header = [HEADER_NAMES.get(method.removesuffix(CALIBRATED), method) for method in methods]
    return markdown(["data", *header], rows) if rows else ""


def searched_by_set(standings: Standings) -> str:
    """Loss after the search, → after calibration too, both beside greedystep on the same splits, and seconds."""
    rows = []
    for name in standings.sets:
        row = [short(name)]
        for method in SEARCHED:
            values = standings.values(name, method, LOSS)
            if not values:
                row.append("–")
                continue
            notes = [standings.table[standings.part, name, split, method].note for split in values]
            cut = " *" if any("cut after" in note for note in notes) else ""
            changed = standings.mean(name, method + CALIBRATED, LOSS)
            beside = [standings.ratio(name, method + end, LOSS) for end in ("", CALIBRATED)]
            row.append(
                f"{shown(standings.mean(name, method, LOSS))} → {shown(changed)}"
                f" ({' → '.join(map(share, beside))}; {seconds(standings.mean(name, method, TIME))} s{cut})"
            )
        rows.append(row)
    return markdown(["data", *(HEADER_NAMES[method] for method in SEARCHED)], rows)


def sizes_table(standings: Standings) -> str:
    rows = []
    for line in read_table(paths.HERE / "sizes.csv"):
        if line["set"] in standings.sets:
            splits = len(standings.values(line["set"], OWN, LOSS))
            cells = [f"{int(line[name]):,}" for name in ("train_rows", "test_rows", "columns", "classes")]
            rows.append([label(line["set"]), *cells, splits])
    return markdown(["data", "rows to train", "to test", "columns", "classes", "splits"], rows) if rows else ""


def dates(found: Table) -> str:
    """When the cells of the race were measured."""
    rows = []
    groups: dict[tuple[str, str], dict[str, int]] = {}
    for (part, _, _, method), each in found.items():
        kind = "greedystep" if method == OWN or "greedystep" in method else "other tools"
        day = groups.setdefault((kind, part), {})
        day[f"{each.commit} {each.date[:10]}"] = day.get(f"{each.commit} {each.date[:10]}", 0) + 1
    names = {
        "a": "21 sets", "c": "Python on arrays", "d": "with a scaler", "e": "regression",
        "f": "copies", "u": "unseen sets",
    }  # fmt: skip
    for (kind, part), days in sorted(groups.items(), key=lambda each: (each[0][1], each[0][0])):
        rows.append([names[part], kind, ", ".join(f"{count} of {day}" for day, count in sorted(days.items()))])
    about = json.loads((tables.HERE / "about.json").read_text())["stages"]
    rows += [[f"bench/quality, {name}", "all", f"{x.get('commit', '')} {x['date']}"] for name, x in about.items()]
    return markdown(["figures", "of", "commit and date"], rows)


# ---- pages -----------------------------------------------------------------------------------------------------------


def write_marked(path: Path, text: str) -> None:
    old = path.read_text(encoding="utf-8")
    new = MARKED.sub(lambda found: f"{found[1]}\n{text}\n{found[2]}", old)
    if new != old:
        path.write_text(new, encoding="utf-8")


def main() -> int:
    found = results.read(paths.RESULTS)
    standings = Standings(found)
    figure.draw_clouds(standings)
    figure.draw_panels(standings)
    brief = headline(standings, True)
    for path in (ROOT / "README.md", DOCS / "index.md"):
        write_marked(path, brief)
    changes = tables.robust_changes()
    bad = [f"{what} ({-change:+.3f})" for change, what in changes if change > tables.ACCURACY_LIMIT]
    repeated, off = tables.grid_repeated()
    low, high = tables.calibration_range()
    commit = max(found.values(), key=lambda each: each.date).commit
    page = PAGE.format(
        sentence=sentence(standings),
        headline=headline(standings, False),
        behind=is_behind(standings),
        faster=faster(standings),
        unlisted=unlisted(standings),
        budget=f"{BUDGET:g}",
        arrays=arrays_table(found),
        scaler=scaler_table(found),
        regression=regression_table(found),
        unseen=unseen_table(found),
        n_unseen=len(Standings(found, "u").sets),
        copies=kinds_text(found),
        grid=tables.grid_counts(),
        repeated=repeated,
        off="have the same digits" if off < 1e-5 else f"differ by at most {100 * off:.1g} %",
        low=f"{low:.3f}",
        high=f"{high:.3f}",
        n_changes=len(changes),
        n_bad=len(bad),
        bad=f": {', '.join(bad)}" if bad else "",
        drift=tables.drift_table(tables.drift.FLIP),
        bound=bound_table(),
        commit=commit,
        date=max(each.date for each in found.values())[:10],
    )
    (DOCS / "quality.md").write_text(page, encoding="utf-8")
    unseen = Standings(found, "u")
    appendix = APPENDIX.format(
        sizes=sizes_table(standings),
        loss=by_set(standings, AS_THEY_COME, LOSS),
        searched=searched_by_set(standings),
        accuracy=by_set(standings, AS_THEY_COME, "accuracy", False),
        accuracy_searched=by_set(standings, (OWN, *SEARCHED), "accuracy", False),
        auc=by_set(standings, AS_THEY_COME, "auc", False),
        time=by_set(standings, AS_THEY_COME, TIME),
        fit=by_set(standings, AS_THEY_COME, FIT),
        unseen="\n".join(by_set(unseen, AS_THEY_COME[:3], column, is_common=True) for column in (LOSS, TIME)),
        grid_loss=tables.grid_table("loss"),
        grid_accuracy=tables.grid_table("accuracy"),
        calibration=tables.calibration_table(),
        robust=tables.robust_table(),
        still=tables.drift_table(tables.drift.NONE),
        dates=dates(found),
    )
    (DOCS / "quality-tables.md").write_text(appendix, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
