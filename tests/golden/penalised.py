#!/usr/bin/env python3
"""Penalised optima of small data sets, dense and sparse: the oracle of the tests of src/solve.

    python3 tests/golden/penalised.py > tests/golden/penalised.csv

Needs numpy. Newton's method in double with plain loops over whole
matrices, until the gradient is below 1e-10 of its terms; nothing is shared with the C code.

Objective: sum_i c_i loss(m_i) + lambda/2 |v|^2 + (1e-6 lambda + 1e-9)/2 v_0^2, where m_i = v_0 + sum_j s_j v_j z_ij.
    z is x less its mean over all rows, in units of its deviation, or where less than nine rows in ten have it in units of
    the root of its mean square over those; all weighted. s_j is ((n_j + 1) / (n + 1))^-0.1875, n_j the rows with feature j.
    c has the mean 1. Numbers to predict are less their mean and in units of their deviation.
    Without an intercept nothing is centred, units are roots of mean squares, and v_0 is 0.

Lines (data are exact, multiples of 1/64):
    row,DATA,WEIGHT,CLASS_OF_2,CLASS_OF_3,NUMBER,ID:VALUE ID:VALUE ...
    objective,DATA,LOSS,LAMBDA,INTERCEPT,VALUE
    weight,DATA,LOSS,LAMBDA,INTERCEPT,OUTPUT,ID,VALUE       ID -1: the intercept
"""
import numpy as np

RARITY = 0.1875


class Lcg:
    def __init__(self, seed):
        self.x = seed

    def next(self):
        self.x = (1103515245 * self.x + 12345) % 2**31
        return self.x >> 15

    def grid(self, span=64):
        """A multiple of 1/64 in [-span/64, span/64), never 0."""
        value = self.next() % (2 * span) - span
        return (value if value != 0 else span) / 64


def make(seed, n, d, share, offset):
    rng = Lcg(seed)
    x = np.zeros((n, d))
    for i in range(n):
        for j in range(d):
            if rng.next() < share * 65536:
                x[i, j] = rng.grid() * (1 + j % 3) + offset * (j % 2)
        x[i, 0] = x[i, 0] if x[i].any() else rng.grid()
    assert len({tuple(row) for row in x}) == n  # equal rows would be joined
    score = x @ np.array([rng.grid() * 3 for _ in range(d)])
    score -= score.mean()
    other = x @ np.array([rng.grid() * 3 for _ in range(d)])
    other -= other.mean()
    noise = np.array([[rng.grid() for _ in range(3)] for _ in range(n)])
    two = (score + 2 * noise[:, 0] > 0).astype(int)
    three = np.argmax(np.stack([score, other, -score], axis=1) + 2 * noise, axis=1)
    number = np.round(64 * (5 + score + noise[:, 0])) / 64
    weight = np.array([(1 + rng.next() % 16) / 8 for _ in range(n)])
    return x, weight, two, three, number


# ---- standardised --------------------------------------------------------------------------------------------------
def standardise(x, c, intercept):
    n = len(x)
    z = np.zeros((n, x.shape[1] + 1))
    z[:, 0] = 1 if intercept else 0
    for j in range(x.shape[1]):
        present = x[:, j] != 0
        own, weight = x[present, j], c[present] / c[present].sum()
        mean = (weight * own).sum()
        dense = intercept and present.sum() >= 0.9 * n
        unit = np.sqrt((weight * (own - (mean if dense else 0))**2).sum())
        centre = (c * x[:, j]).sum() / c.sum() if intercept else 0
        z[:, j + 1] = (x[:, j] - centre) / unit * ((present.sum() + 1) / (n + 1))**-RARITY
    return z


# ---- losses: value, and by the margins gradient [n, K] and Hessian [n, K, K] -----------------------------------------
def squared(m, y):
    return (m[:, 0] - y)**2 / 2, (m[:, 0] - y)[:, None], np.ones((len(y), 1, 1))


def logistic(m, y):
    p = 1 / (1 + np.exp(-m[:, 0]))
    return np.logaddexp(0, m[:, 0]) - y * m[:, 0], (p - y)[:, None], (p * (1 - p))[:, None, None]


def squared_hinge(m, y):
    sign = 2 * y - 1
    h = np.maximum(0, 1 - sign * m[:, 0])
    return h * h / 2, (-sign * h)[:, None], (h > 0).astype(float)[:, None, None]


def softmax(m, y):
    top = m.max(axis=1)
    e = np.exp(m - top[:, None])
    p = e / e.sum(axis=1)[:, None]
    own = np.eye(m.shape[1])[y]
    return (top + np.log(e.sum(axis=1)) - m[np.arange(len(y)), y], p - own,
            np.einsum("nk,kl->nkl", p, np.eye(m.shape[1])) - np.einsum("nk,nl->nkl", p, p))


def newton(loss, z, c, y, n_outputs, penalty, start=None, close=1e-10):
    n, d = z.shape
    v = np.zeros((d, n_outputs)) if start is None else start

    def objective(v):
        return (c * loss(z @ v, y)[0]).sum() + (penalty[:, None] * v * v).sum() / 2

    for _ in range(1000):
        _, g, h = loss(z @ v, y)
        gradient = z.T @ (c[:, None] * g) + penalty[:, None] * v
        size = np.abs(z).T @ (c[:, None] * np.abs(g)) + penalty[:, None] * np.abs(v)
        if (np.abs(gradient) <= close * size.max()).all():
            return v, objective(v)
        hessian = np.einsum("n,na,nb,nkl->akbl", c, z, z, h)
        for a in range(d):
            for k in range(n_outputs):
                hessian[a, k, a, k] += penalty[a]
        step = np.linalg.lstsq(hessian.reshape(d * n_outputs, -1), gradient.reshape(-1), rcond=None)[0].reshape(d, -1)
        length = 1.0
        while objective(v - length * step) > objective(v) and length > 1e-10:
            length /= 2
        v = v - length * step
    raise ArithmeticError("Newton's method did not converge")


def soft_hinge(sharpness):
    """The squared hinge of several classes with a smooth maximum over the rivals, at most log(K) / sharpness too high."""
    def loss(m, y):
        n, n_outputs = m.shape
        rows = np.arange(n)
        others = sharpness * m
        others[rows, y] = -np.inf
        top = others.max(axis=1)
        e = np.exp(others - top[:, None])
        p = e / e.sum(axis=1)[:, None]
        h = np.maximum(0, 1 + (top + np.log(e.sum(axis=1))) / sharpness - m[rows, y])
        slope = p.copy()
        slope[rows, y] = -1
        bend = np.einsum("nk,kl->nkl", p, np.eye(n_outputs)) - np.einsum("nk,nl->nkl", p, p)
        hessian = np.einsum("nk,nl->nkl", slope, slope) + sharpness * h[:, None, None] * bend
        return h * h / 2, h[:, None] * slope, (h > 0)[:, None, None] * hessian
    return loss


def hinge_of_many(z, c, y, n_outputs, penalty):
    """The highest rival has a kink: ever sharper maxima, each from the last one's optimum."""
    v, sharpness = None, 1.0
    while sharpness < 1e7:
        v, _ = newton(soft_hinge(sharpness), z, c, y, n_outputs, penalty, v, 1e-8)
        sharpness *= 1.5
    value = soft_hinge(1e300)(z @ v, y)[0]
    return v, (c * value).sum() + (penalty[:, None] * v * v).sum() / 2


# ---- output ----------------------------------------------------------------------------------------------------------
LOSSES = {"squared": (squared, 1), "logistic": (logistic, 1), "squared_hinge": (squared_hinge, 1), "softmax": (softmax, 3)}


def emit(*fields):
    print(",".join(repr(float(f)) if isinstance(f, float) else str(f) for f in fields))


def solve_all(name, data):
    x, weight, two, three, number = data
    c = weight / weight.mean()
    for lam in (0.25, 10.0):
        for intercept in ("on", "off"):
            z = standardise(x, c, intercept == "on")
            penalty = np.full(z.shape[1], lam)
            penalty[0] = 1e-6 * lam + 1e-9
            centre = (c * number).sum() / c.sum() if intercept == "on" else 0
            y = (number - centre) / np.sqrt((c * (number - centre)**2).sum() / c.sum())
            targets = {"squared": y, "softmax": three}
            for loss, (function, n_outputs) in LOSSES.items():
                v, value = newton(function, z, c, targets.get(loss, two), n_outputs, penalty)
                finish(name, loss, lam, intercept, v, value)
            if intercept == "on":
                finish(name, "squared_hinge_many", lam, intercept, *hinge_of_many(z, c, three, 3, penalty))


def finish(name, loss, lam, intercept, v, value):
    emit("objective", name, loss, lam, intercept, float(value))
    for k in range(v.shape[1]):
        for j in range(v.shape[0]):
            emit("weight", name, loss, lam, intercept, k, j - 1, float(v[j, k]))


def main():
    print("# Written by penalised.py: python3 tests/golden/penalised.py > tests/golden/penalised.csv")
    for name, data in (("dense", make(1, 60, 4, 1.0, 3)), ("sparse", make(2, 80, 12, 0.2, 0))):
        x, weight, two, three, number = data
        for i in range(len(x)):
            pairs = " ".join(f"{j}:{float(x[i, j])!r}" for j in range(x.shape[1]) if x[i, j] != 0)
            emit("row", name, float(weight[i]), int(two[i]), int(three[i]), float(number[i]), pairs)
        solve_all(name, data)


main()
