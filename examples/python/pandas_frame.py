"""pandas: numbers, text and categories in one frame; text needs no encoder."""

import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_score

from greedystep import GreedystepClassifier

random = np.random.default_rng(0)
n = 10_000
frame = pd.DataFrame(
    {
        "city": random.choice(["oslo", "rome", "lima"], n),
        "plan": pd.Categorical(random.choice(["free", "paid"], n)),
        "visits": random.poisson(20, n),
    }
)
frame.loc[random.random(n) < 0.05, "city"] = None  # missing: no feature, no error
log_odds = (frame.city == "rome") * 3 - (frame.plan == "free") * 2 + (frame.visits - 20) / 5
left = np.where(random.random(n) < 1 / (1 + np.exp(-log_odds)), "left", "stayed")

scores = cross_val_score(GreedystepClassifier(), frame, left, cv=5)
print(f"accuracy over five folds: {scores.mean():.3f} ± {scores.std():.3f}")

model = GreedystepClassifier().fit(frame, left)
for name, weight, _importance in model.model_.strongest(6):  # of "stayed", the second class
    print(f"{name:>12} {weight:+.2f}")
assert scores.mean() > 0.75
assert model.model_.strongest(1)[0].name in ("visits", "city=rome")
