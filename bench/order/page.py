#!/usr/bin/env python3
"""Writes docs/order.md from the result files of this folder; nothing is measured.

python3 bench/order/page.py
"""

from __future__ import annotations

import sys

import crossover
import held
import order
import partial
from runs import FILE, GSA, HERE, LEARNED, NOW, PIPE, Table, ratio, shown, value
from shared import ROOT, markdown

LIMIT = 60  # of partial.py, as it was run
PAGE = ROOT / "docs" / "order.md"
TEXT = """# The order of the rows

The rows of a table are often sorted: by label, by time, by customer. They may come from a file, through a pipe or in batches. This page measures what that costs.
The short answer: nothing, if the rows fit in memory ([the rule](method.md#two-methods-and-the-rule)); little beyond that, as long as greedystep can mix them; and live streams learn rows as they come.

## Rows that fit in memory

Six public sets, as distributed, shuffled, sorted by label, by the most frequent feature and by time, and in blocks of 500 rows of one label ({n_orders} orders in all). Loss on fixed test rows: log loss, or root mean squared error
(flights). A pipe of a table decides the columns from its first 4096 rows, a file from rows of all its parts, so the flights differ a little.

{real}

## Longer pipes

1.6 times as many generated rows as are solved in memory, through a pipe, which goes through a buffer that is a uniform sample of all rows so far ([how](algorithms.md#held-out-rows)). Test loss, and its ratio to
that of the same rows shuffled. The last line is tested on the newest rows of a process that drifts: there old rows help less.

{large}

{large_seconds}

## A column of seconds since 1970

Eight other columns, and the time of the row. The scaling is chosen on rows of all times if they are shuffled; in order of time, a pipe with `--method gsa` sees the first ones only.

{clock}

## Streams that are learned as they come

`--method gsa` through a pipe, as live streams do it: the first 8192 rows are solved, whatever their order; the others are learned as they come. Test loss, and its ratio to that of shuffled rows. A stream sorted by
label ends with rows of one label, and nothing short of keeping rows can mend that. Do not use `--method gsa` for such a pipe; without it the buffer above mixes the rows.

{stream}

## On both sides of the bound

Five generated problems with 2 % fewer and 2 % more rows than are solved in memory. Log loss (numbers: RMSE) on 200,000 other rows, and processor seconds of the whole run on one thread.

{sides}

## Rows in batches

`GreedystepClassifier`: `partial_fit` on the rows of a set in 1, 2, 10 and 100 batches, and in calls of 1, 10 and 100 rows. Rows are shuffled. Test loss as a ratio to that of `fit` on all rows; a dash: it was given up after
{limit} seconds.

{fit}

{fit_seconds}

A model of the first half of the rows, from it one of the other half (`--start-from`), and a model of all rows:

{start}

A model of 600,000 generated rows, and from it one of 60,000 more of the same kind. The test loss should not become worse by .0005 or more:

{stationary}

{held}

## Run it again

<!-- not run: an hour -->
```sh
python3 bench/order/order.py --command build/release/greedystep --small-buffer
python3 bench/order/crossover.py --command build/release/greedystep
python3 bench/order/held.py --command build/release/greedystep
python3 bench/order/partial.py --command build/release/greedystep --limit 60      # and the Python package
python3 bench/order/page.py      # this page, from bench/order/*.csv
```
"""


def real(table: Table) -> str:
    rows = []
    for name in table.values("data", part=order.REAL, program=NOW, options=""):
        key = {"part": order.REAL, "data": name, "program": NOW, "options": ""}
        base = value(table.one(**key, order=order.SHUFFLED, door=FILE), "loss")
        cells = [name, shown(base)]
        for door in (FILE, PIPE):
            found = [value(line, "loss") for line in table.chosen(**key, door=door)]
            cells.append(" to ".join(dict.fromkeys((ratio(min(found), base, 4), ratio(max(found), base, 4)))))
        rows.append(cells)
    return markdown(["set", "file, shuffled", "file in any order, ratio", "pipe in any order, ratio"], rows)


def main() -> int:
    table = Table(HERE / "order.csv", order.KEY, LEARNED)
    sides = Table(HERE / "sides.csv", crossover.SIDES_KEY, crossover.SIDES_VALUES)
    batches = Table(HERE / "partial.csv", partial.KEY, LEARNED)
    gsa = " ".join(GSA)
    parts = {
        "n_orders": str(sum(1 for _ in table.chosen(part=order.REAL, program=NOW, options="", door=FILE))),
        "real": real(table),
        "large": order.by_order(table, order.LARGE, NOW, "", ("", order.NEWEST)),
        "large_seconds": order.large_seconds(table, NOW),
        "clock": order.clock_table(table, NOW),
        "stream": order.by_order(table, order.REAL, NOW, gsa),
        "sides": crossover.sides_table(sides, NOW),
        "limit": str(LIMIT),
        "fit": partial.ratios(batches, partial.FIT, NOW, partial.WHOLE),
        "fit_seconds": partial.all_seconds(batches, partial.FIT, NOW),
        "start": partial.ratios(batches, partial.START, NOW, partial.ALL),
        "stationary": partial.stationary_table(batches, NOW),
        "held": held.section(Table(HERE / "held.csv", held.KEY, held.VALUES)),
    }
    PAGE.write_text(TEXT.format(**{name: text.strip() for name, text in parts.items()}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
