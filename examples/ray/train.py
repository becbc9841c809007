"""Ray: every file is a shard, and tasks learn the shards in parallel.

    pip install . ray                                           # from the root of a clone
    python examples/ray/train.py my.model came part-*.csv       # the model, the label column, one file per shard
    RAY_ADDRESS=host:6379 python examples/ray/train.py ...      # a cluster whose machines all see the files

The model has the same bytes as that of `greedystep train part-*.csv --label came --shards N`, if the N files have the
same number of rows, with any number of workers. Ray runs a task again if its worker dies, with the same result.
"""

import sys

import ray

from greedystep.distributed import Rows, begin, learn, merge, scan, schema_of


def train(shards, **parameters):
    """Return the model of some shards, each of which is read by the task that learns it."""
    scan_shard, learn_shard = ray.remote(scan), ray.remote(learn)
    schema = schema_of(shards[0])
    scans = ray.get([scan_shard.remote(rows, len(shards), schema=schema) for rows in shards])
    training = begin(scans, **parameters)
    while training.wants_pass:
        sent = ray.put(training)  # once per machine, not once per task
        learned = ray.get([learn_shard.remote(sent, rows, shard) for shard, rows in enumerate(shards)])
        training = merge(training, learned)
    return training.model()


if __name__ == "__main__":
    path, label, *files = sys.argv[1:]
    ray.init()
    model = train([Rows(file, label=label) for file in files])
    model.save(path)
    print(model)
