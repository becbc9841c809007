"""Polars: name the label column; all other columns are features."""

import numpy as np
import polars as pl

import greedystep

random = np.random.default_rng(0)
n = 20_000
frame = pl.DataFrame(
    {
        "room": random.choice(["one", "two", "three"], n),
        "area": random.uniform(20, 120, n),
        "year": random.integers(1900, 2025, n),
    }
)
level = pl.col("room").replace_strict({"one": 0.0, "two": 150.0, "three": 300.0})
frame = frame.with_columns(rent=level + 12 * pl.col("area") + pl.Series(random.normal(0, 50, n)))

model = greedystep.train(frame[:15_000], label="rent")
test = frame[15_000:]
metrics = model.evaluate(test, label="rent")
found = model.predict(test.drop("rent"))
error = float(np.sqrt(np.mean((found - test["rent"].to_numpy()) ** 2)))
print(model)
print({name: round(value, 3) for name, value in metrics.items()})
print(f"root mean squared error {error:.1f}; the noise that was put in is 50.0")
print("strongest:", [f"{one.name} {one.weight:+.1f}" for one in model.strongest(4)])
assert error < 53
assert abs({one.name: one.weight for one in model.strongest(6)}["area"] - 12) < 0.5
