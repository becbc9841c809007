#!/usr/bin/env python3
"""parts.py FOLDER: processor time of the parts of a pass on Spark, in one process and without Spark.

FOLDER is what click_rows.py wrote. One partition is read as Spark hands it over, learned by a replica of a state that
has learned it before, and written whole and as deltas; 8 such replicas are merged, 64 deltas reduced. Prints a line of
JSON; seconds are of one core.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from greedystep import _library as c
from greedystep._core import State, reduce_deltas
from greedystep._run import Run
from greedystep.spark._columns import Columns

COLUMNS = Columns("vector", ("features",), "label")
ARROW_ROWS = 10_000  # of a batch, as Spark has it by default


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    given = parser.parse_args()
    facts: dict[str, object] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        began = time.process_time()
        found = work()
        facts[name] = round(time.process_time() - began, 4)
        return found

    def reader() -> Any:
        return COLUMNS.given(pa.RecordBatchReader.from_batches(batches[0].schema, batches)).open(Run(1))

    def read_all() -> int:
        rows, batch, n = reader(), c.Batch(), 0
        while rows.next(batch):
            n += batch.n_rows
        rows.close()
        return n

    def learn(state: State, shard: int) -> State:
        rows = reader()
        state.train_shard(rows, shard, Run(1))
        rows.close()
        return state

    path = sorted(Path(given.folder, "train").glob("*.parquet"))[0]
    batches = [COLUMNS.converted(batch) for batch in pq.ParquetFile(path).iter_batches(ARROW_ROWS)]
    read_all()  # so that memory is there
    facts["rows"] = timed("read Arrow", read_all)
    base = learn(State.new({"loss": "logistic"}), c.FIRST_SHARD)
    base.end_pass()
    stored = timed("write a state", base.write)
    facts["bytes of a state"] = len(stored)
    facts["features"] = base.summary().n_features
    base = timed("read a state", lambda: State.read(stored))
    copy = timed("copy a state", lambda: base.fork(8))
    timed("learn, Arrow included", lambda: learn(copy, 1))
    facts["bytes of a head"] = len(copy.write_delta_header(base))
    n_features = int(base.summary().n_features)
    piece = timed("write deltas", lambda: copy.write_delta(0, base, 0, n_features))
    facts["bytes of a delta of everything"] = len(piece)
    copies = [learn(base.fork(8), number) for number in range(8)]
    merged = timed("merge 8 states", lambda: State.merge(copies, base))
    timed("judge by held-out rows", merged.keep_best)
    pieces = [copies[i % 8].write_delta(i, base, 0, n_features) for i in range(64)]
    timed("reduce 64 deltas", lambda: reduce_deltas(pieces))
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
