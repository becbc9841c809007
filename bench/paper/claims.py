"""The paper's claims, one by one, with what was measured: tables and numbers of docs/paper.md and its appendix."""

from __future__ import annotations

import math
from collections.abc import Sequence

from datasets import DATASETS, PAPER_SPLIT, Dataset
from shared import Line, markdown, read_table
from tables import (
    GSA,
    METRICS,
    SUFFIX,
    Published,
    Results,
    best_rate,
    column_scores,
    errors,
    present,
    true_pass,
)
from theory import COSTS


def spread_sign(value: float) -> str:
    return "" if math.isnan(value) else f"{value:+.3f}"


def error_rows(results: Results, published: Published, sets: Sequence[Dataset], ours: bool) -> list[str]:
    """mean(Err) and #best for loss, accuracy and AUC, in the paper's three columns each."""
    cells = []
    for metric in METRICS:
        for which in range(3):
            mean, firsts, n = errors(column_scores(results, published, sets, which, metric, ours), metric)
            cells.append(f"{spread_sign(mean)}, {firsts}/{n}" if n else "")
    return cells


def error_table(results: Results, published: Published) -> str:
    here = present(results)
    header = ["over", *(f"{metric} {column}" for metric in METRICS for column in ("1", "2", "last"))]
    rows = []
    for label, kind in (("two classes", True), ("more classes", False)):
        everything = [d for d in DATASETS if d.binary == kind]
        ours = [d for d in here if d.binary == kind]
        names = f"{label}, {{}} sets"
        rows.append([names.format(len(everything)) + ", published", *error_rows(results, published, everything, False)])
        rows.append([names.format(len(ours)) + " here, published", *error_rows(results, published, ours, False)])
        rows.append([names.format(len(ours)) + " here, ours", *error_rows(results, published, ours, True)])
    return markdown(header, rows)


def error_summary(results: Results, published: Published) -> str:
    """mean(Err) of the loss in the last column, published and ours, on the sets that are here."""
    parts = []
    for label, kind in (("two classes", True), ("more classes", False)):
        sets = [d for d in present(results) if d.binary == kind]
        theirs, ours = (
            errors(column_scores(results, published, sets, 2, "loss", mine), "loss") for mine in (False, True)
        )
        parts.append(f"on {theirs[2]} sets of {label}: published {theirs[0]:+.3f}, ours {ours[0]:+.3f}")
    return f"Mean difference, {'; '.join(parts)}."


def best_of(
    results: Results, data: str, name: str, at: int, metric: str, settings: Sequence[str] = ()
) -> tuple[float, str]:
    """The best mean of a method over its settings (or those given), and which setting."""
    found = []
    for method in results.methods(data, PAPER_SPLIT, name):
        if settings and method[1] not in settings:
            continue
        value = results.value(data, PAPER_SPLIT, method, at, metric)
        if value and not math.isnan(value.mean):
            found.append((value.mean, method[1]))
    if not found:
        return math.nan, ""
    return min(found) if metric == "loss" else max(found)


def mean_of(results: Results, data: str, method: tuple[str, str], at: int, metric: str) -> float:
    value = results.value(data, PAPER_SPLIT, method, at, metric)
    return value.mean if value else math.nan


def ahead_of_sgd(results: Results, published: Published, only_published: bool) -> list[str]:
    """Sets where GSA's loss is not above that of any constant rate."""
    ahead = []
    for dataset in present(results):
        at = dataset.run_passes
        methods = results.methods(dataset.name, PAPER_SPLIT, "sgd")
        if only_published:
            methods = [method for method in methods if method in published.methods(dataset.name)]
        losses = [mean_of(results, dataset.name, method, at, "loss") for method in methods]
        if mean_of(results, dataset.name, GSA, at, "loss") <= min(x for x in losses if not math.isnan(x)):
            ahead.append(dataset.name)
    return ahead


def against_best(results: Results) -> tuple[str, list[str]]:
    """GSA beside each method's best setting after the last pass, and the sets within 1 % of the best accuracy."""
    rows, close = [], []
    for dataset in present(results):
        at = dataset.run_passes
        cells: list[str] = [dataset.name]
        gsa = mean_of(results, dataset.name, GSA, at, "loss"), mean_of(results, dataset.name, GSA, at, "accuracy")
        suffix = (
            mean_of(results, dataset.name, SUFFIX, at, "loss"),
            mean_of(results, dataset.name, SUFFIX, at, "accuracy"),
        )
        cells += [f"{gsa[0]:.3f} / {gsa[1]:.3f}", f"{suffix[0]:.3f} / {suffix[1]:.3f}"]
        accuracies = []
        for name in ("sgd", "adadelta", "scsg"):
            loss, setting = best_of(results, dataset.name, name, at, "loss")
            accuracy, _ = best_of(results, dataset.name, name, at, "accuracy")
            accuracies.append(accuracy)
            cells.append(f"{loss:.3f} / {accuracy:.3f} ({setting.replace(';', ', ')})")
        if gsa[1] >= max(accuracies) - 0.01:
            close.append(dataset.name)
        rows.append(cells)
    header = ["data", "GSA", "GSA, suffix average", "SGD, best", "Adadelta, best", "SCSG, best"]
    return markdown(header, rows), close


BOUNDED, UNBOUNDED = "c=0.5", "c=0.5;bound=1e+06;tau=0"
RADIUS, LARGER_RADII = "radius=1e-06", ("radius=0.0001", "radius=0.01")
# Title of the column, method, its settings (none: all of them), and whether to say which was best.
TODAY = (
    ("SGD, best rate", "sgd", (), True),
    ("Adagrad, r = 0.1", "adagrad", (), False),
    ("FTRL, best alpha", "ftrl", (), True),
    ("Schedule-Free, best r", "schedule-free", (), True),
    ("coin betting", "coin", (), False),
    ("DoG", "dog", (RADIUS,), False),
    ("SPS", "polyak", (BOUNDED,), False),
)


def today(results: Results) -> str:
    """GSA's log loss beside that of methods of today, after the last pass."""
    rows = []
    for dataset in present(results):
        at = dataset.run_passes
        row = [dataset.name, *(f"{mean_of(results, dataset.name, m, at, 'loss'):.3f}" for m in (GSA, SUFFIX))]
        for _, name, settings, says in TODAY:
            loss, setting = best_of(results, dataset.name, name, at, "loss", settings)
            text = f"{loss:.3f}" if loss < 100 else f"{loss:.0f}"
            if math.isnan(loss):
                text = "diverges" if results.methods(dataset.name, PAPER_SPLIT, name) else "–"
            row.append(f"{text} ({setting.split('=')[1]})" if says and setting else text)
        rows.append(row)
    return markdown(["data", "GSA", "GSA, suffix average", *(title for title, *_ in TODAY)], rows)


def above(results: Results, name: str, settings: Sequence[str], times: float) -> list[str]:
    """Sets where a method's loss is so many times GSA's."""
    return [
        d.name
        for d in present(results)
        if best_of(results, d.name, name, d.run_passes, "loss", settings)[0]
        > times * mean_of(results, d.name, GSA, d.run_passes, "loss")
    ]


def larger_radii(results: Results) -> str:
    """DoG's losses where its initial radius was made larger."""
    parts = []
    for dataset in present(results):
        losses = [best_of(results, dataset.name, "dog", dataset.run_passes, "loss", (x,))[0] for x in LARGER_RADII]
        if not math.isnan(losses[0]):
            parts.append(f"{losses[0]:.3f} and {losses[1]:.3f} on {dataset.name}")
    return "; ".join(parts)


def without_bound(results: Results) -> str:
    """The loss of SPS without its bound, where that was run."""
    losses = [
        (best_of(results, d.name, "polyak", d.run_passes, "loss", (UNBOUNDED,))[0], d.name) for d in present(results)
    ]
    return ", ".join(f"{loss:.3f} on {name}" for loss, name in losses if not math.isnan(loss))


def factor(results: Results, data: str, name: str, at: int) -> tuple[float, int]:
    """How many times the worst setting's loss is the best's, and how many settings diverge."""
    losses, gone = [], 0
    for method in results.methods(data, PAPER_SPLIT, name):
        value = results.value(data, PAPER_SPLIT, method, at, "loss")
        if value is None or math.isnan(value.mean):
            gone += 1
        else:
            losses.append(value.mean)
    return (max(losses) / min(losses) if losses else math.nan), gone


def median_factors(results: Results) -> str:
    """The middle of the sets' factors, for each of the three methods."""
    parts = []
    for name, title in (("adadelta", "Adadelta"), ("scsg", "SCSG"), ("sgd", "SGD")):
        found = sorted(factor(results, d.name, name, d.run_passes)[0] for d in present(results))
        parts.append(f"{found[len(found) // 2]:.1f} ({title})")
    return f"{parts[0]}, {parts[1]} and {parts[2]}"


def sensitivity(results: Results) -> str:
    rows = []
    for dataset in present(results):
        cells = [dataset.name]
        for name in ("sgd", "adadelta", "scsg"):
            times, gone = factor(results, dataset.name, name, dataset.run_passes)
            cells.append((f"{times:.1f}" if times < 100 else f"{times:.0f}") + (f", {gone} diverge" if gone else ""))
        rows.append(cells)
    return markdown(["data", "SGD", "Adadelta", "SCSG"], rows)


def larger_batches(results: Results) -> tuple[int, int, list[str]]:
    """Pairs of SCSG settings with one rate and two B: how often the larger B has the smaller loss; where GSA loses."""
    wins = pairs = 0
    beaten = []
    for dataset in present(results):
        by_rate: dict[str, list[tuple[float, float]]] = {}
        for method in results.methods(dataset.name, PAPER_SPLIT, "scsg"):
            r, b = method[1].split(";")
            value = results.value(dataset.name, PAPER_SPLIT, method, dataset.run_passes, "loss")
            loss = value.mean if value and not math.isnan(value.mean) else math.inf
            by_rate.setdefault(r, []).append((float(b[2:]), loss))
        for settings in by_rate.values():
            settings.sort()
            if len(settings) > 1 and settings[0][1] != settings[-1][1]:
                pairs += 1
                wins += settings[-1][1] < settings[0][1]
        if best_of(results, dataset.name, "scsg", dataset.run_passes, "loss")[0] < mean_of(
            results, dataset.name, GSA, dataset.run_passes, "loss"
        ):
            beaten.append(dataset.name)
    return wins, pairs, beaten


def settling(results: Results) -> tuple[str, int, int]:
    """Where the running mean stands beside the best constant rate; how many agree within a factor of three."""
    rows, agree = [], 0
    sets = present(results)
    for dataset in sets:
        first = results.value(dataset.name, PAPER_SPLIT, GSA, 1, "mean_step")
        last = results.value(dataset.name, PAPER_SPLIT, GSA, dataset.run_passes, "mean_step")
        best, loss, close = best_rate(results, dataset.name, dataset.run_passes)
        if first is None or last is None:
            continue
        ratio = last.mean / best
        agree += 1 / 3 <= ratio <= 3
        gsa = mean_of(results, dataset.name, GSA, dataset.run_passes, "loss")
        row = [dataset.name, f"{first.mean:.3g}", f"{last.mean:.3g}", f"{best:g}", " ".join(f"{r:g}" for r in close)]
        rows.append([*row, f"{ratio:.2g}", f"{gsa:.3f}", f"{loss:.3f}"])
    header = ["data", "mean step, pass 1", "last pass", "best constant rate", "rates as good"]
    return markdown([*header, "step / best rate", "loss, GSA", "loss, best rate"], rows), agree, len(sets)


def merging(results: Results) -> tuple[str, int, int]:
    """Loss / accuracy after the first and the last pass; how often merging by squares beats uniform averaging."""
    rows, wins, all_of = [], 0, 0
    for dataset in present(results):
        cells = [dataset.name]
        methods = [GSA]
        for count in (8, 32):
            methods += [("paper-shards", f"shards={count}"), ("fregata", f"partitions={count}")]
        for method in methods:
            parts = []
            for at in (1, dataset.run_passes):
                loss = mean_of(results, dataset.name, method, at, "loss")
                accuracy = mean_of(results, dataset.name, method, at, "accuracy")
                parts.append("diverges" if math.isnan(loss) else f"{loss:.3f} / {accuracy:.3f}")
            cells.append("; ".join(parts))
        for count in (8, 32):
            for at in (1, dataset.run_passes):
                ours = mean_of(results, dataset.name, ("paper-shards", f"shards={count}"), at, "loss")
                theirs = mean_of(results, dataset.name, ("fregata", f"partitions={count}"), at, "loss")
                all_of += 1
                wins += ours < theirs or math.isnan(theirs)
        rows.append(cells)
    header = ["data", "one learner", "8 by squares", "8 uniform (Fregata)", "32 by squares", "32 uniform (Fregata)"]
    return markdown(header, rows), wins, all_of


def cost_lines() -> dict[str, dict[str, Line]]:
    by_data: dict[str, dict[str, Line]] = {}
    for line in read_table(COSTS):
        by_data.setdefault(line["data"], {})[line["method"].split(":")[0]] = line
    return by_data


def cost_summary() -> str:
    """Adadelta's time and memory beside SGD's, the least and the greatest ratio."""
    ratios = []
    for column in ("seconds_a_pass", "peak_kib"):
        found = [float(m["adadelta"][column]) / float(m["sgd"][column]) for m in cost_lines().values()]
        ratios.append(f"{min(found):.1f} to {max(found):.1f} times")
    return f"{ratios[0]} the time per pass, {ratios[1]} the memory, on {len(cost_lines())} sets"


def costs() -> str:
    rows = []
    for data, methods in cost_lines().items():
        sgd = methods["sgd"]
        cells = [data]
        for name in ("paper", "sgd", "adadelta"):
            seconds = float(methods[name]["seconds_a_pass"])
            cells.append(f"{1000 * seconds:.0f} ms ({seconds / float(sgd['seconds_a_pass']):.2f})")
        for name in ("paper", "sgd", "adadelta"):
            cells.append(f"{int(methods[name]['peak_kib']) / 1024:.0f} MiB")
        rows.append(cells)
    header = ["data", "GSA, per pass (SGD = 1)", "SGD", "Adadelta", "GSA, peak memory", "SGD", "Adadelta"]
    return markdown(header, rows)


def clock(results: Results, published: Published) -> str:
    """SGD with a small rate hardly depends on the order of rows, so its loss tells how many rows were learned."""
    rows = []
    for dataset in present(results):
        if dataset.name in ("cod-rna", "madelon"):
            continue
        methods = [m for m in published.methods(dataset.name) if m[0] == "sgd"]
        method = min(methods, key=lambda m: float(m[1][2:]))
        labels = published.passes(dataset.name)
        theirs = " ".join(f"{published.value(dataset.name, method, at, 'loss'):.3f}" for at in labels)
        ours = []
        for at in dict.fromkeys([*labels[:2], true_pass(dataset, labels[-1]), labels[-1]]):
            loss = mean_of(results, dataset.name, method, at, "loss")
            if not math.isnan(loss):
                ours.append(f"{at}: {loss:.3f}")
        rows.append([dataset.name, method[1], f"{theirs} (as {', '.join(map(str, labels))})", "; ".join(ours)])
    return markdown(["data", "SGD", "published", "ours, pass: loss"], rows)
