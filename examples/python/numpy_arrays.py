"""numpy: columns in different units, without a scaler and without tuning."""

import numpy as np

from greedystep import GreedystepClassifier

random = np.random.default_rng(0)
age = random.uniform(18, 90, 20_000)  # years
income = random.lognormal(10.5, 0.5, 20_000)  # euros
rate = random.uniform(0, 0.08, 20_000)  # a share
log_odds = (age - 50) / 10 - (income - 40_000) / 10_000 + (rate - 0.04) / 0.01
y = np.where(random.random(20_000) < 1 / (1 + np.exp(-log_odds)), "default", "paid")
X = np.column_stack([age, income, rate])

model = GreedystepClassifier().fit(X[:15_000], y[:15_000])
accuracy = model.score(X[15_000:], y[15_000:])
best = np.mean((log_odds[15_000:] < 0) == (y[15_000:] == "paid"))
print(f"accuracy {accuracy:.3f}; the rule that made the rows comes to {best:.3f}")

planted = [-1 / 10, 1 / 10_000, -1 / 0.01]  # log odds of "paid", the second class, per unit
for name, found, true in zip(["a year", "a euro", "a rate of 1"], model.coef_[0], planted):
    print(f"{name:>12}: {found:12.6f} found, {true:12.6f} planted")
assert accuracy > best - 0.01
assert np.allclose(model.coef_[0], planted, rtol=0.15)
