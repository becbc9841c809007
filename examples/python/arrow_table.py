"""pyarrow: a table, a reader of batches, or a dataset's scanner; columns are read without a copy."""

import numpy as np
import pyarrow as pa

import greedystep

random = np.random.default_rng(0)
n = 50_000
number = random.integers(0, 3, n)
price = random.uniform(1, 500, n)
log_odds = np.array([2.5, 0.5, 1.5])[number] - price / 100
bought = random.random(n) < 1 / (1 + np.exp(-log_odds))
channel = pa.DictionaryArray.from_arrays(number, ["web", "mail", "shop"])
table = pa.table({"channel": channel, "price": price, "id": np.arange(n), "bought": bought})
test = table[40_000:]

model = greedystep.train(table[:40_000], label="bought", ignore=["id"])
metrics = model.evaluate(test, label="bought")
print({name: round(value, 4) for name, value in metrics.items()})

# Batches that can be read only once are learned in one pass.
reader = pa.RecordBatchReader.from_batches(table.schema, table[:40_000].to_batches(max_chunksize=1000))
once = greedystep.train(reader, label="bought", ignore=["id"]).evaluate(test, label="bought")
print(f"log loss: of the table {metrics['log_loss']:.4f}, of a reader of the same rows {once['log_loss']:.4f}")
best = np.log1p(np.exp(np.where(bought, -log_odds, log_odds)))[40_000:].mean()
print(f"          of the rule that made the rows {best:.4f}")
assert metrics["log_loss"] < best + 0.005
assert once["log_loss"] < best + 0.01
