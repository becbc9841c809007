"""Dask: every file is a shard, and tasks learn the shards in parallel.

    pip install . 'dask[distributed]'                           # from the root of a clone
    python examples/dask/train.py my.model came part-*.csv      # the model, the label column, one file per shard
    DASK_SCHEDULER_ADDRESS=tcp://host:8786 python ...           # a cluster whose machines all see the files

The model has the same bytes as that of `greedystep train part-*.csv --label came --shards N`, if the N files have the
same number of rows, with any number of workers. Dask runs a task again if its worker dies, with the same result.
"""

import sys

from dask.distributed import Client

from greedystep.distributed import Rows, begin, learn, merge, scan, schema_of


def same(training):
    """Return the argument. Dask makes a lost task's result again, but not scattered data."""
    return training


def train(client, shards, **parameters):
    """Return the model of some shards, each of which is read by the task that learns it."""
    schema = schema_of(shards[0])
    scans = client.map(scan, shards, n_shards=len(shards), schema=schema, pure=False)
    training = begin(client.gather(scans), **parameters)
    while training.wants_pass:
        sent = client.submit(same, training, pure=False)  # once per worker, not once per task
        learned = [client.submit(learn, sent, rows, shard, pure=False) for shard, rows in enumerate(shards)]
        training = merge(training, client.gather(learned))
    return training.model()


if __name__ == "__main__":
    path, label, *files = sys.argv[1:]
    with Client(threads_per_worker=1) as client:
        model = train(client, [Rows(file, label=label) for file in files])
    model.save(path)
    print(model)
