"""Text from a pipe: rows are learned while another program prints them, in one pass and with constant memory."""

import os
import subprocess
import sys

import greedystep

PRINTS = """
import random
draw = random.Random(0)
for _ in range(100_000):
    speed, load = draw.uniform(0, 100), draw.uniform(0, 1)
    print(f"{2 * speed - 30 * load + draw.gauss(0, 5):.3f} 1:{speed:.3f} 2:{load:.4f}")
"""

with subprocess.Popen([sys.executable, "-c", PRINTS], stdout=subprocess.PIPE) as program:
    seen = []
    model = greedystep.train(f"/dev/fd/{program.stdout.fileno()}", callback=seen.append)
assert program.returncode == os.EX_OK

print(
    f"{model.n_rows} rows in {model.n_passes} pass; squared error of each before it was learned, in the mean ", end=""
)
print(f"{2 * seen[-1].loss:.0f}; the noise alone has 25")
print("value =", f"{model.coef[0][0]:.2f} speed {model.coef[0][1]:+.2f} load {model.intercept[0]:+.2f}")
assert model.n_rows == 100_000 and model.n_passes == 1
assert abs(model.coef[0][0] - 2) < 0.05 and abs(model.coef[0][1] + 30) < 2
