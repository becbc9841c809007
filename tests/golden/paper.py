#!/usr/bin/env python3
"""Algorithm 1 of arXiv 1611.03608 on small tables, in plain Python: the oracle of `--method paper`.

    python3 tests/golden/paper.py > tests/golden/paper.csv

Needs Python 3 alone, no package, and has nothing in common with the C code. Two classes are a softmax with two outputs,
as in the paper; the library's one output is their difference. Rows are learned in the order of the lines, twice, from
weights of 0, and the weights after the last row are returned.

Lines (values are exact, multiples of 1/64; weights have 17 digits):
    row,TABLE,LABEL,X1,X2,X3,X4
    weight,TABLE,CLASS,SLOT,VALUE

Slot 0 is the intercept, x = 1.
"""
from math import exp, expm1

P_HAT = 0.95
N_ROWS, N_FEATURES, PASSES = 240, 4, 2


def draws(seed):
    while True:
        seed = (1103515245 * seed + 12345) % 2**31
        yield seed >> 15


def table(n_classes, seed):
    """Labels follow a planted model with much noise, so that the last weights are not their mean."""
    draw = draws(seed)
    planted = [[next(draw) / 2**14 - 2 for _ in range(N_FEATURES)] for _ in range(n_classes)]
    for _ in range(N_ROWS):
        x = [(next(draw) // 256 - 128) / 64 for _ in range(N_FEATURES)]
        noise = [next(draw) / 2**14 for _ in range(n_classes)]
        margin = [sum(a * b for a, b in zip(w, x)) + e for w, e in zip(planted, noise)]
        yield margin.index(max(margin)), x


def algorithm_1(rows, n_classes):
    w = [[0.0] * (N_FEATURES + 1) for _ in range(n_classes)]
    sum_eta, t = 0.0, 0
    for _ in range(PASSES):
        for k, features in rows:
            x = [1.0, *features]
            m = [sum(a * b for a, b in zip(of_class, x)) for of_class in w]
            e = [exp(each - max(m)) for each in m]
            p = [each / sum(e) for each in e]
            eta = (P_HAT - p[k]) / (P_HAT * sum(q * expm1(q) for q in p) + p[k] * expm1(1 - p[k])) / sum(a * a for a in x)
            sum_eta, t = sum_eta + eta, t + 1
            for j in range(n_classes):
                step = -sum_eta / t * (p[j] - (j == k))
                w[j] = [a + step * b for a, b in zip(w[j], x)]
    return w


print("# Written by paper.py: python3 tests/golden/paper.py > tests/golden/paper.csv")
for name, n_classes, seed in (("two", 2, 7), ("five", 5, 11)):
    rows = list(table(n_classes, seed))
    for k, x in rows:
        print("row", name, k, *x, sep=",")
    for k, of_class in enumerate(algorithm_1(rows, n_classes)):
        for slot, value in enumerate(of_class):
            print("weight", name, k, slot, f"{value:.17g}", sep=",")
