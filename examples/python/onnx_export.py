"""ONNX: export a model to a file that onnxruntime runs without greedystep."""

import tempfile

import numpy as np
import onnx
import onnxruntime
from sklearn.datasets import load_wine

from greedystep import GreedystepClassifier

data = load_wine()
names = np.array(["barolo", "grignolino", "barbera"])[data.target]
model = GreedystepClassifier().fit(data.data, names)

with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
    onnx.save(model.to_onnx(), file.name)
    session = onnxruntime.InferenceSession(file.name, providers=["CPUExecutionProvider"])

label, probability = session.run(
    ["output_label", "output_probability"],
    {"X": data.data.astype(np.float32)},  # dense rows of float32
)
print("inputs: ", [(one.name, one.shape) for one in session.get_inputs()])
print("outputs:", [(one.name, one.shape) for one in session.get_outputs()])
print("first row:", label[0], {name: f"{p:.4f}" for name, p in zip(model.classes_.tolist(), probability[0])})
apart = np.abs(probability - model.predict_proba(data.data)).max()
print(f"{np.mean(label == model.predict(data.data)):.0%} of the labels agree; no probability is off by more than 1e-5")
assert apart < 1e-5 and np.array_equal(label, model.predict(data.data))
