"""TensorBoard: a callback writes loss and step by number of rows. Needs tensorboard; exits without it."""

import sys
import tempfile

import numpy as np

from greedystep import GreedystepClassifier

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.summary import Writer
except ImportError:
    print("SKIPPED: tensorboard is not installed; pip install tensorboard")
    sys.exit(0)

random = np.random.default_rng(0)
X = random.normal(size=(20_000, 30))
y = (random.random(len(X)) < 1 / (1 + np.exp(-X @ random.normal(size=30)))).astype(int)

with tempfile.TemporaryDirectory() as folder:
    writer = Writer(folder)

    def to_tensorboard(event):
        writer.add_scalar(f"{event.kind}/loss", event.loss, event.rows)
        writer.add_scalar(f"{event.kind}/step", event.step, event.rows)

    model = GreedystepClassifier(method="gsa", callback=to_tensorboard).fit(X, y)
    writer.close()
    read = EventAccumulator(folder).Reload()
    passes = read.Tensors("pass/loss")
print("written:", sorted(tag for tag in read.Tags()["tensors"] if tag.startswith("pass")))
print(f"{len(passes)} passes, up to row {passes[-1].step}")
assert len(passes) == model.n_iter_
