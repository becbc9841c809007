"""MLflow: a callback logs loss and step of every pass. Needs mlflow; exits without it."""

import sys
import tempfile

import numpy as np

from greedystep import GreedystepClassifier

try:
    import mlflow
    import mlflow.store.tracking.sqlalchemy_store  # the file store of runs, which mlflow-skinny lacks
except ImportError:
    print("SKIPPED: mlflow is not installed; pip install mlflow")
    sys.exit(0)


def to_mlflow(event):
    """Log a pass; events of kind "rows" come a few times a second."""
    if event.kind == "pass":
        values = {"loss": event.loss, "held_out_loss": event.held_out_loss, "step": event.step}
        mlflow.log_metrics(values, step=event.passes)


random = np.random.default_rng(0)
X = random.normal(size=(20_000, 30))
y = (random.random(len(X)) < 1 / (1 + np.exp(-X @ random.normal(size=30)))).astype(int)

with tempfile.TemporaryDirectory() as folder:
    mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
    with mlflow.start_run() as run:
        model = GreedystepClassifier(method="gsa", callback=to_mlflow).fit(X, y)
        mlflow.log_params(model.get_params(deep=False))
    logged = mlflow.MlflowClient().get_metric_history(run.info.run_id, "held_out_loss")
first, last = logged[0].value, logged[-1].value
print(f"{len(logged)} passes logged; held-out loss {first:.4f} after the first, {last:.4f} after the last")
assert len(logged) == model.n_iter_
