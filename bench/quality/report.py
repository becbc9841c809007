"""docs/quality.md, written from the tables of this folder. A stage that has not been run is left out and named.

Nothing here measures; running it twice gives the same page. Every sentence of the summary is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import drift
import others
import wording
from context import METHOD
from judged import ONE_PASS_LIMIT, Judged, relative_loss
from pairs import LOSS, WIN
from peers import HEAVY_SEEDS
from sets import KNOWN, Suite
from shared import ROOT, markdown

PAGE = ROOT / "docs" / "quality.md"
AIM_WINS, AIM_ONE_PASS, AIM_VOWPAL = 10, 14, 14
STAGES = ("grid", "auto", "pairs", "peers", "regression", "scale", "ablation", "robust", "drift", "unseen")


def met(judged: Judged, is_met: bool) -> str:
    if len(judged.present) < len(judged.suite.sets):
        return f"cannot be judged yet, with {len(judged.present)} sets run"
    return "met" if is_met else "**not met**"


def behind(judged: Judged, column: str) -> str:
    """The stricter view: bare means, no interval, no margin."""
    off = judged.verdicts(column).behind
    if not off:
        return "By the bare means it is behind on none."
    unit = (lambda x: relative_loss(x, 1)) if column == "loss" else (lambda x: f"{100 * x:.2f} points")
    worst = sorted(off.items(), key=lambda pair: -pair[1])
    return f"By the bare means it is behind on {len(off)}: {', '.join(f'{name} {unit(x)}' for name, x in worst)}."


def findings_of(judged: Judged, aims: bool) -> Iterator[str]:
    """What came out on a suite; with the aims that were set for it beforehand."""
    loss, accuracy = judged.verdicts("loss"), judged.verdicts("accuracy")
    n = len(judged.present)
    aim = met(judged, len(loss.names(WIN)) >= AIM_WINS and not loss.names(LOSS) and not accuracy.names(LOSS))
    yield f"{loss.sentence('Log loss')} {behind(judged, 'loss')}"
    yield f"{accuracy.sentence('Accuracy')} {behind(judged, 'accuracy')}"
    if aims:
        yield f"The aim, no loss in either and at least {AIM_WINS} wins in log loss on 17 sets: {aim}."
    one_pass = judged.one_pass_ratios()
    good = sum(ratio <= ONE_PASS_LIMIT for ratio in one_pass.values())
    tail = f" (aim: {AIM_ONE_PASS} of 17, {met(judged, good >= AIM_ONE_PASS)})" if aims else ""
    beside = f"at most {ONE_PASS_LIMIT} x that of the grid's best first pass"
    yield f"After one pass the log loss is {beside} on {good} of {n} sets{tail}."
    yield from peer_findings(judged, aims)


def peer_findings(judged: Judged, aims: bool) -> Iterator[str]:
    ahead, of = judged.ahead_of(("vw",))
    if not of:
        return
    tail = f" (aim: {AIM_VOWPAL} of 17, {met(judged, len(ahead) >= AIM_VOWPAL)})" if aims else ""
    defaults = "Vowpal Wabbit's defaults, the better of two pass counts"
    yield f"Lower log loss than {defaults}, on {len(ahead)} of {len(of)}{tail}."
    coin, of_coin = judged.ahead_of(("vw --coin",))
    logistic, of_logistic = judged.ahead_of(("logistic", "logistic, scaled"))
    rest = ", ".join(name for name in of_logistic if name not in logistic) or "none"
    yield (
        f"Lower than `vw --coin` on {len(coin)} of {len(of_coin)}, and than cross-validated logistic regression, the"
        f" better of scaled and not, on {len(logistic)} of {len(of_logistic)} (not on {rest})."
    )


def summary(known: Judged, unseen: Judged | None) -> str:
    lines = list(findings_of(known, True)) if known.present else ["The grid has not been run."]
    tables = {
        others.regression_finding: others.REGRESSION,
        others.scale_finding: others.SCALE,
        others.robust_finding: others.ROBUST,
        others.drift_finding: drift.TABLE,
    }
    lines += [finding() for finding, table in tables.items() if table.exists()]
    if unseen:
        loss, accuracy = unseen.verdicts("loss"), unseen.verdicts("accuracy")
        lines.append(f"On sets that nobody had looked at: {loss.sentence('log loss')} {accuracy.sentence('Accuracy')}")
    return "\n".join(f"- {line}" for line in lines) + "\n"


def suite_part(judged: Judged, jobs: object) -> str:
    parts = ["### Log loss\n", judged.against_grid("loss"), "### Accuracy\n", judged.against_grid("accuracy")]
    parts += [wording.ONE_PASS, judged.one_pass()]
    if judged.peers:
        parts += [wording.PEERS.format(jobs=jobs, heavy_seeds=HEAVY_SEEDS), judged.peer_table()]
    parts += ["### What each method of the grid reaches (log loss)\n", judged.by_method()]
    parts += ["### Passes, seconds and calibration of auto\n", judged.cost()]
    return "\n".join(parts)


def ran(about: dict[str, Any]) -> str:
    """Which stage ran last when, for how long, with how many seeds at most, and on what."""
    rows = []
    for stage in STAGES:
        note = about["stages"].get(stage)
        if note is None:
            rows.append([stage, "not run", "", "", ""])
            continue
        only = ", ".join(note.get("only", ["all"]))
        rows.append([stage, note["date"], note["seeds"], f"{note['seconds'] / 60:.1f}", only])
    return markdown(["stage", "last run", "seeds", "minutes", "sets"], rows)


def other_parts() -> Iterator[str]:
    if others.REGRESSION.exists():
        yield wording.REGRESSION + "\n" + others.regression_table()
    if others.SCALE.exists():
        yield wording.SCALE + "\n" + others.scale_table()
    if others.ablation.TABLE.exists():
        yield wording.ABLATION + "\n" + others.ablation_table()
    if others.ROBUST.exists():
        yield wording.ROBUST + "\n" + others.robust_table()
    if drift.TABLE.exists():
        text = wording.DRIFT.format(rows=f"{drift.N_ROWS:,}", flip=drift.FLIP_DAY)
        yield f"{text}\n{others.drift_table(drift.FLIP)}\nWithout drift:\n\n{others.drift_table(drift.NONE)}"


def unseen_suite() -> Suite | None:
    """Only if it has been run, so that the page does not need the packages."""
    import unseen

    return unseen.SUITE if unseen.SUITE.table("pairs").exists() else None


def write(about: dict[str, Any]) -> None:
    known, suite = Judged(KNOWN), unseen_suite()
    unseen = Judged(suite) if suite else None
    options = f"`{' '.join(METHOD)}`" if METHOD else "no option"
    heavy = ", ".join(each.name for each in KNOWN.sets if each.heavy)
    jobs = about["stages"].get("peers", {}).get("jobs", 1)
    versions = ", ".join(f"{name} {number}" for name, number in sorted(about["versions"].items()))
    intro = {"machine": about["machine"], "versions": versions, "stages": ran(about), "summary": summary(known, unseen)}
    parts = [wording.INTRO.format(**intro), wording.METHODS.format(options=options, heavy=heavy)]
    if known.present:
        parts.append("## The 17 sets\n\n" + suite_part(known, jobs))
    if unseen:
        found = "\n".join(f"- {line}" for line in findings_of(unseen, False))
        parts.append(f"{wording.UNSEEN}\n{found}\n\n" + suite_part(unseen, jobs))
    parts += other_parts()
    PAGE.write_text("\n".join(parts), encoding="utf-8")
