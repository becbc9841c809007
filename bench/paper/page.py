"""docs/paper.md and docs/paper-tables.md, written from the tables of this folder. claims.py has the tables about claims.

Nothing here measures; running it twice gives the same pages.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import again
import claims
import forms
import hypotheses
import printed
from datasets import BY_NAME, GIVEN_TEST, PAPER_SPLIT, Dataset
from prose import CLAIMS, PAGE, TABLES_INTRO, THEORY
from shared import ROOT, markdown, read_table
from tables import GSA, WITHIN, Method, Published, Results, Value, present, true_pass

DOCS = ROOT / "docs"


def printed_value(data: str, method: str, at: int, column: str = "loss") -> float:
    """A score in the paper's own metric, where that is not the log loss; nan if there is none."""
    for line in read_table(printed.TABLE):
        if (line["data"], line["method"], int(line["pass"])) == (data, method, at):
            return float(line[column])
    return math.nan


def in_printed_metric(
    data: str, at: int, loss: Value | None, accuracy: Value | None
) -> tuple[Value | None, Value | None]:
    """cod-rna's loss in the metric that its table holds; the accuracy stays that of `compare`."""
    if data != "cod-rna" or math.isnan(printed_value(data, "paper", at)):
        return loss, accuracy
    return Value(*(printed_value(data, "paper", at, c) for c in ("loss", "loss_min", "loss_max"))), accuracy


def both(loss: Value | None, accuracy: Value | None) -> str:
    return "" if loss is None or accuracy is None else f"{loss.with_spread()}<br>{accuracy.with_spread()}"


def signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"  # no -0.000


def summary(results: Results, published: Published) -> tuple[str, list[str], list[str]]:
    """The first table; the sets within WITHIN of the published numbers, and the others."""
    rows, inside, outside = [], [], []
    for dataset in present(results):
        name, at = dataset.name, dataset.true_last_pass
        scores = [results.value(name, PAPER_SPLIT, GSA, at, metric) for metric in ("loss", "accuracy")]
        loss, accuracy = in_printed_metric(name, at, *scores)
        theirs = [published.value(name, GSA, dataset.passes, metric) for metric in ("loss", "accuracy")]
        assert loss and accuracy
        off = loss.mean - theirs[0], accuracy.mean - theirs[1]
        good = all(abs(round(each, 3)) <= WITHIN for each in off)
        (inside if good else outside).append(name)
        label = f"{dataset.passes}" if at == dataset.passes else f"{dataset.passes} (matches {at})"
        given = ""
        if results.has(name, GIVEN_TEST):
            pair = [results.value(name, GIVEN_TEST, GSA, at, metric) for metric in ("loss", "accuracy")]
            given = both(*pair)
        elif dataset.given_test:
            given = "the same"
        split = "given test set" if dataset.given_test else "80/20"
        row = [name, split, label, f"{theirs[0]:.3f}<br>{theirs[1]:.3f}", both(loss, accuracy)]
        rows.append([*row, f"{signed(off[0])}<br>{signed(off[1])}", "within" if good else "**not within**", given])
    header = ["data", "paper's split", "last pass", "published", "ours, paper's split", "difference", f"±{WITHIN}"]
    return markdown([*header, "ours, given test set"], rows), inside, outside


def hypothesis_table(published: Published) -> str:
    lines = read_table(hypotheses.TABLE)
    rows = []
    for name, text in dict.fromkeys((line["data"], line["method"]) for line in lines):
        dataset, labels = BY_NAME[name], published.passes(name)
        method = GSA if text == "paper" else ("sgd", f"r={text.split(':')[1]}")
        title = f"{name}, {'GSA' if method == GSA else 'SGD ' + method[1]}"
        theirs = [[published.value(name, method, at, metric) for metric in ("loss", "accuracy")] for at in labels]
        rows.append([f"**{title}**", "published", "", *(f"{loss:.3f} / {accuracy:.3f}" for loss, accuracy in theirs)])
        mine = [line for line in lines if (line["data"], line["method"]) == (name, text)]
        for label in dict.fromkeys(line["hypothesis"] for line in mine):
            cells = {int(line["pass"]): line for line in mine if line["hypothesis"] == label}
            row = [title, label, cells[1]["n_seeds"]]
            for at in labels:
                cell = cells[true_pass(dataset, at)]
                spread = (float(cell["loss_max"]) - float(cell["loss_min"])) / 2
                row.append(f"{float(cell['loss']):.3f} ±{spread:.3f} / {float(cell['accuracy']):.3f}")
            rows.append(row)
    return markdown(["data", "what was changed", "seeds", "first column", "second", "last"], rows)


def form_table(published: Published) -> tuple[str, dict[str, int], int]:
    """Adadelta's three forms beside the published losses; how many cells each has within 0.02 (or 5 %)."""
    lines = read_table(forms.TABLE)
    hits = dict.fromkeys(forms.FORMS, 0)
    rows, n = [], 0
    for name in dict.fromkeys(line["data"] for line in lines):
        dataset = BY_NAME[name]
        labels = published.passes(name)
        for eps in dict.fromkeys(line["eps"] for line in lines if line["data"] == name):
            method = ("adadelta", f"eps={eps}")
            theirs = [published.value(name, method, at, "loss") for at in labels]
            row = [name, eps, " ".join(f"{x:.3f}" for x in theirs)]
            n += sum(not math.isnan(x) for x in theirs)
            for form in forms.FORMS:
                cells = {int(x["pass"]): x for x in lines if (x["data"], x["form"], x["eps"]) == (name, form, eps)}
                ours = [float(cells[true_pass(dataset, at)]["loss"]) for at in labels]
                hits[form] += sum(abs(a - b) <= max(0.02, 0.05 * b) for a, b in zip(ours, theirs, strict=True))
                row.append(" ".join(f"{x:.3f}" for x in ours))
            rows.append(row)
    header = ["data", "eps", "published", "√(E[Δ²]+ε) / √(E[g²]+ε) (Zeiler)", "√(E[Δ²]+ε) / (√E[g²]+ε) (as printed)"]
    return markdown([*header, "(√E[Δ²]+ε) / (√E[g²]+ε)"], rows), hits, n


def loop_name(method: Method) -> str:
    values = [part.split("=")[1] for part in method[1].split(";")]
    if method == GSA:
        return "paper"
    return ":".join([method[0], *values]) + (":outside" if method[0] == "adadelta" else "")


def cell_rows(results: Results, published: Published, dataset: Dataset) -> Iterator[list[str]]:
    metrics = ("loss", "accuracy", "auc") if dataset.binary else ("loss", "accuracy")
    has_printed = any(line["data"] == dataset.name for line in read_table(printed.TABLE))
    for method in published.methods(dataset.name):
        row = ["GSA" if method == GSA else f"{method[0]} {method[1].replace(';', ', ')}"]
        for metric in metrics:
            theirs, ours, given, own = [], [], [], []
            for label in published.passes(dataset.name):
                at = true_pass(dataset, label)
                value = published.value(dataset.name, method, label, metric)
                theirs.append("nan" if math.isnan(value) else f"{value:.3f}")
                found = results.value(dataset.name, PAPER_SPLIT, method, at, metric)
                ours.append(str(found) if found else "–")
                other = results.value(dataset.name, GIVEN_TEST, method, at, metric)
                given.append(str(other) if other else "–")
                own.append(f"{printed_value(dataset.name, loop_name(method), at):.3f}")
            row += [" ".join(theirs), " ".join(ours)]
            if results.has(dataset.name, GIVEN_TEST):
                row.append(" ".join(given))
            if has_printed and metric == "loss":
                row.append(" ".join(own))
        yield row


def cell_tables(results: Results, published: Published) -> str:
    parts = []
    for dataset in present(results):
        metrics = ["loss", "accuracy", "AUC"] if dataset.binary else ["loss", "accuracy"]
        header = ["method"]
        for metric in metrics:
            header += [f"{metric}, published", "ours"]
            if results.has(dataset.name, GIVEN_TEST):
                header.append("ours, given test set")
            if metric == "loss" and any(line["data"] == dataset.name for line in read_table(printed.TABLE)):
                header.append("ours, the paper's metric (numpy)")
        labels = published.passes(dataset.name)
        shown = ", ".join(str(true_pass(dataset, at)) for at in labels)
        about = f"Split: {dataset.split}. Three numbers per cell: pass {shown}"
        if dataset.last_pass:
            about += f" (the last is labelled {dataset.passes} in the paper)"
        parts.append(f"### {dataset.name}\n\n{about}.\n\n{markdown(header, cell_rows(results, published, dataset))}")
    return "\n".join(parts)


def again_text(gsa: bool) -> str:
    """How many cells were run again, at which commit, and how many of them have the digits of results.csv."""
    lines = [line for line in read_table(again.TABLE) if (line["method"] == "paper") == gsa]
    if not lines:
        return ""
    cells, same = (sum(int(line[name]) for line in lines) for name in ("cells", "same"))
    apart = max(float(line["apart"]) for line in lines)
    text = f"{cells} cells at commit {lines[0]['commit']}, of which {same} have the same six digits as before"
    return text + (f" and the others differ by at most {apart:.0e} of their value" if apart else "")


def measured(about: dict) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in sorted(about["versions"].items()))
    return f"""Machine: {about["machine"]}; {versions}; {about["seeds"]} seeds. A cell is a method after a pass, over all seeds.

- The whole grid of the other methods: commit {about["commit"]}, {about["date"]}.
- GSA, all sets, passes and seeds, run again: {again_text(True)}.
- Other methods, a sample run again (every fourth, the small sets first): {again_text(False)}.
- FTRL, Schedule-Free, DoG and SPS: commit {about["peers"]["commit"]}, {about["peers"]["date"]}.
- Time and memory: commit {about["costs"]["commit"]}, {about["costs"]["date"]}; the loops of SGD and Adadelta have not changed since.
- Numpy loops, which do not use greedystep: Adadelta's forms, changes that were tried, the bound, the paper's metric."""


def write(results: Results, published: Published, about: dict) -> None:
    table, inside, outside = summary(results, published)
    against, close = claims.against_best(results)
    steps, agree, n_sets = claims.settling(results)
    merged, wins, all_of = claims.merging(results)
    form_lines, hits, n_forms = form_table(published)
    batch_wins, batch_pairs, beaten = claims.larger_batches(results)
    values = {
        "about": about,
        "missing": ", ".join(about["missing"]) or "none",
        "measured": measured(about),
        "summary": table,
        "within": WITHIN,
        "n_inside": len(inside),
        "n_sets": n_sets,
        "outside": ", ".join(outside) or "none",
        "clock": claims.clock(results, published),
        "forms": form_lines,
        "hits": hits,
        "n_forms": n_forms,
        "hypotheses": hypothesis_table(published),
        "errors": claims.error_table(results, published),
        "error_summary": claims.error_summary(results, published),
        "against": against,
        "today": claims.today(results),
        "dog_slow": " and ".join(claims.above(results, "dog", (claims.RADIUS,), 2)) or "none",
        "sps_high": ", ".join(claims.above(results, "polyak", (claims.BOUNDED,), 1.5)) or "none",
        "sps_before": claims.without_bound(results),
        "dog_larger": claims.larger_radii(results),
        "close": ", ".join(close),
        "n_close": len(close),
        "ahead": ", ".join(claims.ahead_of_sgd(results, published, False)) or "none",
        "ahead_published": ", ".join(claims.ahead_of_sgd(results, published, True)) or "none",
        "factors": claims.median_factors(results),
        "sensitivity": claims.sensitivity(results),
        "batch_wins": batch_wins,
        "batch_pairs": batch_pairs,
        "beaten": ", ".join(beaten) or "none",
        "n_beaten": len(beaten),
        "steps": steps,
        "agree": agree,
        "costs": claims.costs(),
        "cost_summary": claims.cost_summary(),
        "merged": merged,
        "wins": wins,
        "all_of": all_of,
        "bound": about["bound"],
        "cells": cell_tables(results, published),
    }
    appendix = "\n".join(part.format(**values) for part in (TABLES_INTRO, CLAIMS, THEORY))
    (DOCS / "paper.md").write_text(PAGE.format(**values), encoding="utf-8")
    (DOCS / "paper-tables.md").write_text(appendix + "\n## Every cell\n\n" + values["cells"], encoding="utf-8")
