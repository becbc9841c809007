"""Tables and findings for a suite of sets: auto beside the grid and the peers, from the committed tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from auto import Auto
from cells import FIRST, overall, read_grid
from context import DEFAULT, ONE_PASS
from pairs import GIVEN, LOSS, TIE, WIN
from peers import LOGISTIC, VOWPAL
from sets import Suite
from shared import Line, markdown, mean, read_table

ONE_PASS_LIMIT = 1.05
PEER_COLUMNS = (*LOGISTIC, *VOWPAL)


def shown(value: float, digits: int = 4) -> str:
    """Fixed digits; small losses, which those would hide, by their leading ones."""
    if math.isnan(value):
        return "–"
    return f"{value:.2g}" if 0 < abs(value) < 0.001 else f"{value:.{digits}f}"


def ranged(values: list[float], digits: int = 4) -> str:
    if not values:
        return "–"
    return f"{shown(mean(values), digits)} ({shown(min(values), digits)}..{shown(max(values), digits)})"


def relative_loss(off: float, grid: float) -> str:
    """In percent; of a loss of nearly nothing that says no more."""
    percent = 100 * off / grid
    return f"{percent:+.1f} %" if abs(percent) < 1000 else "> 1000 %"


def cell_name(line: Line) -> str:
    parameters = line["parameters"].removesuffix(";gamma=0").removesuffix(";eps=1e-08").replace(";", " ")
    return f"{line['method']} {parameters}, pass {line['pass']}"


@dataclass(frozen=True)
class Verdicts:
    by_set: dict[str, str]
    behind: dict[str, float]  # the sets whose mean is worse, and by how much (log loss: relative)

    def names(self, verdict: str) -> list[str]:
        return [name for name, each in self.by_set.items() if each == verdict]

    def sentence(self, what: str) -> str:
        lost = self.names(LOSS)
        counts = f"won {len(self.names(WIN))}, tied {len(self.names(TIE))}, lost {len(lost)}"
        text = f"{what} against the grid's best cell: {counts} of {len(self.by_set)} sets"
        return text + (f" (lost: {', '.join(lost)})." if lost else ".")


class Judged:
    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.auto = Auto(suite)
        self.grid = read_grid(suite)
        self.pairs = read_table(suite.table("pairs"))
        self.peers = read_table(suite.table("peers"))
        self.present = [name for name in suite.names if any(line["data"] == name for line in self.pairs)]
        self.origins = {each.name: each.origin for each in suite.sets}

    # ---- against the grid --------------------------------------------------------------------------------------------

    def verdicts(self, column: str) -> Verdicts:
        by_set, behind = {}, {}
        for line in self.pairs:
            if line["column"] != column:
                continue
            by_set[line["data"]] = line["verdict"]
            off = float(line["difference"])
            if column == "loss" and off > 0:
                behind[line["data"]] = off / float(line["grid"])
            elif column == "accuracy" and off < 0:
                behind[line["data"]] = -off
        return Verdicts(by_set, behind)

    def against_grid(self, column: str) -> str:
        rows = []
        for line in (each for each in self.pairs if each["column"] == column):
            values = self.auto.values(line["data"], DEFAULT, column)
            off, low, high = (float(line[name]) for name in ("difference", "low", "high"))
            relative = relative_loss(off, float(line["grid"])) if column == "loss" else f"{100 * off:+.2f} points"
            verdict = line["verdict"] if line["verdict"] == TIE else f"**{line['verdict']}**"
            row = [line["data"], self.origins[line["data"]], line["split"], line["rows"], ranged(values)]
            row += [shown(float(line["grid"])), cell_name(line)]
            rows.append([*row, f"{off:+.4f} [{low:+.4f}, {high:+.4f}]", relative, verdict])
        header = ["data", "files", "judged on", "rows", "auto (seeds)", "grid's best", "its cell"]
        header += ["difference [95 %]", "relative", "verdict"]
        return markdown(header, rows)

    def by_method(self) -> str:
        """The best of each method of the grid: how much of it is needed."""
        methods = list(dict.fromkeys(line["method"] for line in self.grid))
        rows = []
        for name in self.present:
            own = {x["method"]: x for x in self.grid if (x["data"], x["column"], x["scope"]) == (name, "loss", "any")}
            cells = [f"{shown(float(own[m]['mean']))}<br>{cell_name(own[m])}" if m in own else "–" for m in methods]
            rows.append([name, shown(self.auto.mean(name, DEFAULT, "loss")), *cells])
        return markdown(["data", "auto", *methods], rows)

    def cost(self) -> str:
        rows = []
        for name in self.present:
            passes = self.auto.values(name, DEFAULT, "passes")
            seconds = self.auto.mean(name, DEFAULT, "seconds")
            error = self.auto.mean(name, DEFAULT, "calibration_error")
            rows.append([name, f"{min(passes):.0f}..{max(passes):.0f}", f"{seconds:.2f}", shown(error)])
        return markdown(["data", "passes taken", "seconds", "expected calibration error"], rows)

    # ---- one pass ----------------------------------------------------------------------------------------------------

    def one_pass_ratios(self) -> dict[str, float]:
        ratios = {}
        for name in self.present:
            best = overall(self.grid, name, "loss", FIRST)
            if best:
                ratios[name] = self.auto.mean(name, ONE_PASS, "loss") / float(best["mean"])
        return ratios

    def one_pass(self) -> str:
        rows = []
        for name, ratio in self.one_pass_ratios().items():
            best = overall(self.grid, name, "loss", FIRST)
            assert best
            grid = f"{shown(float(best['mean']))} ({shown(float(best['low']))}..{shown(float(best['high']))})"
            good = "yes" if ratio <= ONE_PASS_LIMIT else "**no**"
            ours = ranged(self.auto.values(name, ONE_PASS, "loss"))
            rows.append([name, ours, grid, cell_name(best).removesuffix(", pass 1"), f"{ratio:.3f}", good])
        return markdown(["data", "auto", "grid's best", "its cell", "ratio", f"at most {ONE_PASS_LIMIT}"], rows)

    # ---- peers -------------------------------------------------------------------------------------------------------

    def of_peer(self, data: str, method: str) -> dict[int, list[Line]]:
        """The lines of a peer by its number of passes: one, and what auto took (which may differ by seed)."""
        found: dict[int, list[Line]] = {}
        for line in self.peers:
            if (line["data"], line["method"]) == (data, method):
                found.setdefault(min(int(line["passes"]), 2), []).append(line)
        return found

    def seeds_beside(self, data: str, lines: list[Line]) -> set[str] | None:
        """Seeds of auto to set beside these lines: theirs, since a split is another problem; all where a method that
        does not depend on the order of rows was run once on a given test set."""
        is_given = any((x["data"], x["split"]) == (data, GIVEN) for x in self.pairs)
        return None if is_given and lines[0]["method"] in LOGISTIC else {line["seed"] for line in lines}

    def ratios(self, data: str, methods: Sequence[str]) -> list[float]:
        """auto's log loss over that of each method and number of passes, on the same splits."""
        found = []
        for method in methods:
            for lines in self.of_peer(data, method).values():
                ours = self.auto.mean(data, DEFAULT, "loss", self.seeds_beside(data, lines))
                found.append(ours / mean([float(line["loss"]) for line in lines]))
        return found

    def ahead_of(self, methods: Sequence[str]) -> tuple[list[str], list[str]]:
        """Sets where auto's mean log loss is lower than the best of these methods, and the sets that were compared."""
        compared = {name: self.ratios(name, methods) for name in self.present}
        compared = {name: ratios for name, ratios in compared.items() if ratios}
        return [name for name, ratios in compared.items() if max(ratios) < 1], list(compared)

    def peer_cell(self, lines: list[Line]) -> str:
        loss, accuracy, seconds = (mean([float(x[name]) for x in lines]) for name in ("loss", "accuracy", "seconds"))
        mark = " *" if any("limited" in line["chosen"] for line in lines) else ""
        return f"{shown(loss)} / {accuracy:.4f} / {seconds:.1f}{mark}"

    def peer_table(self) -> str:
        rows = []
        for name in self.present:
            seeds = {line["seed"] for line in self.peers if line["data"] == name}
            if not seeds:
                continue
            columns = ("loss", "accuracy", "seconds")
            loss, accuracy, seconds = (self.auto.mean(name, DEFAULT, column, seeds) for column in columns)
            row = [name, f"{shown(loss)} / {accuracy:.4f} / {seconds:.1f}"]
            for method in PEER_COLUMNS:
                groups = self.of_peer(name, method)
                row.append("<br>".join(self.peer_cell(groups[passes]) for passes in sorted(groups)) or "–")
            rows.append(row)
        header = ["data", "auto", "logistic regression", "the same, scaled", "vw, one pass<br>auto's passes"]
        return markdown([*header, "vw --coin, one pass<br>auto's passes"], rows)
