"""Tables and findings of the stages that have their own data: regression, scale, ablation, robustness, drift."""

from __future__ import annotations

import math

import ablation
import drift
from context import DEFAULT, HERE
from judged import ranged, shown
from shared import Line, markdown, mean, read_table

REGRESSION, SCALE, ROBUST = HERE / "regression.csv", HERE / "scale.csv", HERE / "robust.csv"
REGRESSION_LIMIT, ACCURACY_LIMIT, DRIFT_LIMIT = 1.02, 0.005, 1.05
UNTOUCHED, ANOTHER_PROBLEM = "untouched", ("20 % label noise", "99.9 % one class")


def geometric(values: list[float]) -> float:
    return math.exp(mean([math.log(value) for value in values])) if values else math.nan


def large(value: float) -> str:
    """A ratio; nobody needs the digits of a diverged one."""
    if math.isnan(value) or value > 1e4:
        return "> 10⁴"
    return f"{value:.3f}" if value < 100 else f"{value:.0f}"


# ---- regression ------------------------------------------------------------------------------------------------------


def ratios(lines: list[Line], data: str, method: str) -> list[float]:
    return [float(x["ratio"]) for x in lines if (x["data"], x["method"]) == (data, method)]


def regression_table() -> str:
    from targets import TARGETS

    lines = read_table(REGRESSION)
    methods = [method for method in dict.fromkeys(line["method"] for line in lines) if method != "least squares"]
    rows = []
    for target in TARGETS:
        if not ratios(lines, target.name, "auto"):
            continue
        optimum = mean([float(x["rmse"]) for x in lines if (x["data"], x["method"]) == (target.name, "least squares")])
        row = [target.name, target.about, f"{optimum:.4g}"]
        for method in methods:
            values = ratios(lines, target.name, method)
            row.append(ranged(values, 3) if max(values) < 100 else large(max(values)))
        rows.append(row)
    return markdown(["data", "what it is", "optimum's RMSE", *methods], rows)


def regression_finding() -> str:
    from targets import TARGETS

    lines = read_table(REGRESSION)
    found = {t.name: mean(ratios(lines, t.name, "auto")) for t in TARGETS if t.is_gaussian}
    found = {name: value for name, value in found.items() if not math.isnan(value)}
    over = [f"{name} {value:.3f}" for name, value in found.items() if not value <= REGRESSION_LIMIT]
    text = f"Regression: on {len(found) - len(over)} of {len(found)} sets with Gaussian noise the error is at most "
    text += f"{REGRESSION_LIMIT} x the least-squares optimum" + (f"; not on {', '.join(over)}." if over else ".")
    rest = {t.name: mean(ratios(lines, t.name, "auto")) for t in TARGETS if not t.is_gaussian}
    return text + f" The others: {', '.join(f'{name} {large(x)}' for name, x in rest.items() if not math.isnan(x))}."


# ---- scale -----------------------------------------------------------------------------------------------------------


def scale_sizes() -> dict[int, dict[str, list[Line]]]:
    sizes: dict[int, dict[str, list[Line]]] = {}
    for line in read_table(SCALE):
        sizes.setdefault(int(line["rows"]), {}).setdefault(line["method"], []).append(line)
    return sizes


def excess(lines: list[Line]) -> float:
    return mean([float(line["excess"]) for line in lines])


def split_methods(by_method: dict[str, list[Line]]) -> tuple[str, str]:
    """auto, and the best Adagrad."""
    ours = next(method for method in by_method if method.startswith("auto"))
    rivals = [
        method for method in by_method if method.startswith("adagrad") and not math.isnan(excess(by_method[method]))
    ]
    return ours, min(rivals, key=lambda method: excess(by_method[method]))


def scale_table() -> str:
    rows = []
    for n, by_method in scale_sizes().items():
        ours, best = split_methods(by_method)
        planted = mean([float(line["planted"]) for line in by_method[ours]])
        others = [
            f"{m.removeprefix('adagrad ')} {excess(x):.4f}" for m, x in by_method.items() if m not in (ours, best)
        ]
        seeds = len(by_method[ours])
        row = [f"{n:,}", seeds, f"{planted:.4f}", f"{ours} {excess(by_method[ours]):.4f}"]
        rows.append([*row, f"{best} {excess(by_method[best]):.4f}", ", ".join(others)])
    header = ["rows", "seeds", "planted loss", "excess of auto", "of the best Adagrad", "of the others"]
    return markdown(header, rows)


def scale_finding() -> str:
    parts = []
    for n, by_method in scale_sizes().items():
        ours, best = (excess(by_method[method]) for method in split_methods(by_method))
        parts.append(f"{ours:.4f} against {best:.4f} at {n:,} rows ({'met' if ours <= best else 'not met'})")
    return f"At scale, excess over the planted loss against Adagrad at its best rate: {'; '.join(parts)}."


# ---- ablation --------------------------------------------------------------------------------------------------------


def ablation_table() -> str:
    lines = read_table(ablation.TABLE)
    cells = {(x["data"], x["choice"]): float(x["loss"]) for x in lines}
    choices = [choice for choice in dict.fromkeys(x["choice"] for x in lines) if choice != DEFAULT]
    names = list(dict.fromkeys(x["data"] for x in lines))
    rows = []
    for name in names:
        base = cells[name, DEFAULT]
        rows.append([name, f"{base:.4f}", *(f"{cells.get((name, c), math.nan) / base:.3f}" for c in choices)])
    means = []
    for choice in choices:
        known = [cells[name, choice] / cells[name, DEFAULT] for name in names if (name, choice) in cells]
        means.append(f"**{geometric(known):.3f}**")
    return markdown(["data", DEFAULT, *choices], [*rows, ["**geometric mean**", "", *means]])


# ---- robustness ------------------------------------------------------------------------------------------------------


def robust_cells() -> dict[str, dict[str, Line]]:
    found: dict[str, dict[str, Line]] = {}
    for line in read_table(ROBUST):
        found.setdefault(line["data"], {})[line["way"]] = line
    return found


def robust_table() -> str:
    cells = robust_cells()
    ways = list(dict.fromkeys(way for by_way in cells.values() for way in by_way))
    ways.sort(key=lambda way: way in ANOTHER_PROBLEM)
    rows = []
    for way in ways:
        row = [way]
        for by_way in cells.values():
            line = by_way.get(way)
            text = f"{float(line['loss']):.4f} / {float(line['accuracy']):.4f}" if line else "–"
            if line and way in ANOTHER_PROBLEM:
                text += f" (constant {float(line['constant_loss']):.4f})"
            row.append(text)
        rows.append(row)
    return markdown(["way", *cells], rows)


def robust_finding() -> str:
    changes: list[tuple[float, str]] = []
    for name, by_way in robust_cells().items():
        base = float(by_way[UNTOUCHED]["accuracy"])
        for way, line in by_way.items():
            if way not in (UNTOUCHED, *ANOTHER_PROBLEM):
                changes.append((base - float(line["accuracy"]), f"{way} on {name}"))
    over = [f"{what} ({-change:+.4f})" for change, what in sorted(changes, reverse=True) if change > ACCURACY_LIMIT]
    text = (
        f"Robustness: of {len(changes)} harmless ways to spoil a set, {len(over)} cost more than {ACCURACY_LIMIT} of "
    )
    return text + "accuracy" + (f": {', '.join(over)}." if over else ".")


# ---- drift -----------------------------------------------------------------------------------------------------------


def drift_loss(lines: list[Line], kind: str, day: int, way: str) -> float:
    return mean([float(x["loss"]) for x in lines if (x["drift"], int(x["day"]), x["way"]) == (kind, day, way)])


def drift_table(kind: str) -> str:
    lines = read_table(drift.TABLE)
    ways = (drift.PLANTED, drift.CHAIN, drift.ALONE, drift.LONG)
    days = range(1, drift.N_DAYS + 1)
    return markdown(["day", *ways], [[day, *(shown(drift_loss(lines, kind, day, w)) for w in ways)] for day in days])


def drift_finding() -> str:
    lines = read_table(drift.TABLE)

    def ratio(kind: str, day: int, way: str) -> float:
        return drift_loss(lines, kind, day, drift.CHAIN) / drift_loss(lines, kind, day, way)

    flipped, still = ratio(drift.FLIP, drift.FLIP_DAY, drift.ALONE), ratio(drift.NONE, drift.N_DAYS, drift.LONG)
    return (
        f"Day after day: on the day after half of the weights flipped, starting from yesterday gives {flipped:.3f} x"
        f" the loss of that day alone (aim: at most {DRIFT_LIMIT}); without drift, after {drift.N_DAYS} days,"
        f" {still:.3f} x that of one long run (aim: at most 1)."
    )
