"""From race.csv: the figure, docs/no-tuning.md, and the part of README.md between its marks. Nothing here measures."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence

from common import ABOUT, DEFAULT, GREEDYSTEP, TABLE, TUNED, Rival
from figure import draw
from sets import KNOWN
from shared import ROOT, markdown, mean, read_table

PAGE, README = ROOT / "docs" / "no-tuning.md", ROOT / "README.md"
BEGIN, END = "<!-- bench/race/run.py writes from here -->\n", "<!-- to here -->\n"
TIE = 0.01  # losses within one percent are called the same
LEAST = 1e-9  # some are nothing

INTRO = """# What a model costs, the search included

A learning rate, a penalty and a number of passes are settings that somebody has to find, and the search takes time
too. This page sets `greedystep train` with no option beside four rivals, each as it comes and after a search over its
settings. It is written by `bench/race/run.py`; do not edit it.

<!-- not run: an hour or two; bench/race/run.py -->
```sh
pip install -r bench/race/requirements.txt
apt-get install liblinear-tools
python3 bench/race/run.py --greedystep build/release/greedystep
python3 bench/race/run.py --page-only            # this page from the committed table
```

![Log loss on test rows against processor seconds, a panel a data set](figures/race.svg)

A hollow mark is a tool as it comes, the filled one that it is joined to is the same tool after its search. Lower is
better, and so is further left. greedystep has one mark. A mark on the upper edge is worse than the panel shows.

Machine: {machine}; {versions}; {date}.

## How it was measured

- **Seconds** are processor seconds, user and system, of one thread, since other work ran on the machine. greedystep and LIBLINEAR:
  the whole command. Vowpal Wabbit: the command less what Python needs to start it; the making of its text is not counted.
  scikit-learn: reading the text once, scaling and fitting; imports are not counted. Nobody's predictions are.
- **A search** holds out a fifth of the training rows, learns every setting on the others, judges it by log loss on those held out,
  and learns the best once more on all rows. After {budget:.0f} processor seconds no further setting is begun. Settings come in
  the order of their distance from the default.
- **Sets, splits and rows** are those of [quality.md](quality.md); all tools get the same files with the rows shuffled. {seeds} seeds;
  rivals one seed on {heavy}, where they take long. Figures are means over the seeds that a rival was run with.
- Vowpal Wabbit has a table with a place for every weight (`-b`). All but greedystep and LogisticRegression learn
  several classes one against the rest.

| rival | what its search tries |
|---|---|
{grids}

## Summary

{summary}

Losses within {tie:.0f} % are called the same. Seconds are the rival's over those of greedystep on the same set: the median over
sets, and the range.

## Log loss and seconds, set by set

As it comes → after its search; in brackets the processor seconds of each.

{sets}
"""


class Race:
    def __init__(self) -> None:
        self.lines = read_table(TABLE)
        self.sets = [name for name in KNOWN.names if any(line["data"] == name for line in self.lines)]

    def values(self, data: str, tool: str, state: str, column: str, beside: str | None = None) -> float:
        """The mean over the seeds that `beside` (else the tool itself) was run with."""
        seeds = {line["seed"] for line in self.lines if (line["data"], line["tool"]) == (data, beside or tool)}
        found = [
            float(line[column])
            for line in self.lines
            if (line["data"], line["tool"], line["state"]) == (data, tool, state) and line["seed"] in seeds
        ]
        return mean(found)

    def ours(self, data: str, column: str, beside: str) -> float:
        return self.values(data, GREEDYSTEP, DEFAULT, column, beside)

    def verdicts(self, tool: str, state: str) -> tuple[list[str], list[str], list[str]]:
        """Sets where greedystep has less loss, about the same, more."""
        less, same, more = [], [], []
        for data in self.sets:
            ratio = self.ours(data, "loss", tool) / max(self.values(data, tool, state, "loss"), LEAST)
            (less if ratio < 1 - TIE else more if ratio > 1 + TIE else same).append(data)
        return less, same, more

    def costs(self, tool: str, state: str) -> list[float]:
        return [self.values(data, tool, state, "seconds") / self.ours(data, "seconds", tool) for data in self.sets]


def times(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def summary(race: Race, rivals: Sequence[Rival]) -> str:
    rows = []
    for rival in rivals:
        for state, name in ((DEFAULT, "as it comes"), (TUNED, f"best of up to {rival.cells} settings")):
            less, same, more = (len(each) for each in race.verdicts(rival.name, state))
            costs = race.costs(rival.name, state)
            cost = f"{times(statistics.median(costs))} ({times(min(costs))} to {times(max(costs))})"
            rows.append([f"{rival.name}, {name}", less, same, more, cost])
    head = ["greedystep, no option, against", "less loss", "same", "more loss", "its seconds / ours"]
    return markdown(head, rows).rstrip()


def shown(loss: float) -> str:
    return f"{loss:.2g}" if loss < 0.001 else f"{loss:.4f}"


def set_table(race: Race, rivals: Sequence[Rival]) -> str:
    rows = []
    for data in race.sets:
        own = race.values(data, GREEDYSTEP, DEFAULT, "loss"), race.values(data, GREEDYSTEP, DEFAULT, "seconds")
        cells = [data, f"{shown(own[0])} ({own[1]:.2f})"]
        for rival in rivals:
            pair = [
                (race.values(data, rival.name, state, "loss"), race.values(data, rival.name, state, "seconds"))
                for state in (DEFAULT, TUNED)
            ]
            cells.append(" → ".join(f"{shown(loss)} ({seconds:.2f})" for loss, seconds in pair))
        rows.append(cells)
    return markdown(["data", GREEDYSTEP, *(rival.name for rival in rivals)], rows).rstrip()


def readme_part(race: Race, rivals: Sequence[Rival], about: dict) -> str:
    return f"""{summary(race, rivals)}

{len(race.sets)} data sets, log loss on test rows, the same within {100 * TIE:.0f} %; processor seconds of one thread, median over the sets
and range; a search ends after {about["budget"]:.0f} of them. greedystep {about["versions"]["greedystep"]}; {about["machine"]}, {about["date"]}.
`bench/race/run.py` makes table and figure; settings, seeds and every set are in [docs/no-tuning.md](docs/no-tuning.md).
"""


def write(rivals: Sequence[Rival]) -> None:
    race, about = Race(), json.loads(ABOUT.read_text())
    draw(race, rivals)
    versions = ", ".join(f"{name} {version}" for name, version in sorted(about["versions"].items()))
    fill = {
        "machine": about["machine"],
        "versions": versions,
        "date": about["date"],
        "budget": about["budget"],
        "seeds": about["seeds"],
        "heavy": ", ".join(each.name for each in KNOWN.sets if each.heavy),
        "grids": "\n".join(f"| {rival.name} | {rival.grid} |" for rival in rivals),
        "summary": summary(race, rivals),
        "tie": 100 * TIE,
        "sets": set_table(race, rivals),
    }
    PAGE.write_text(INTRO.format(**fill), encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    if BEGIN in text:
        before, rest = text.split(BEGIN)
        README.write_text(
            before + BEGIN + readme_part(race, rivals, about) + END + rest.split(END)[1], encoding="utf-8"
        )
