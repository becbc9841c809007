"""Figures of a model and of a run, and a report of the run as one HTML file.

pictures.py [FOLDER]: write them to FOLDER; without it, to a temporary folder.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from greedystep import GreedystepClassifier, plot, report
from greedystep.comparison import command, write_rows

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
folder.mkdir(exist_ok=True)
X, y = load_breast_cancer(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
scores = GreedystepClassifier().fit(X, y).predict_proba(X_test)[:, 1]

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for draw, ax in zip([plot.roc, plot.precision_recall, plot.calibration], axes):
    draw(y_test, scores, ax=ax)
figure.savefig(folder / "curves.png")

write_rows(str(folder / "rows.gsac"), X, y)
words = ["train", folder / "rows.gsac", "--method", "gsa", "-o", folder / "run.model", "--trace", folder / "run.jsonl"]
subprocess.run([command(), *words, "--quiet"], check=True, stdout=subprocess.DEVNULL)
plot.loss(folder / "run.jsonl").figure.savefig(folder / "loss.png")
report.write_report(folder / "run.jsonl", folder / "run.html")

for name in ("curves.png", "loss.png", "run.html"):
    print(f"{name}: {(folder / name).stat().st_size // 1024} kB")
page = (folder / "run.html").read_text()
assert "<svg" in page and "<script" not in page and "http://" not in page.replace("http://www.w3.org", "")
