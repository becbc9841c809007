#!/usr/bin/env python3
"""Two small strongly convex problems and their optima: the oracle of the convergence tests of compare/baseline.

    python3 tests/golden/optimum.py > tests/golden/optimum.csv

Needs Python 3 alone, no package. Least squares is solved by its normal equations in fractions, logistic regression by
Newton's method in decimals of 60 digits; both optima are checked by their gradient before anything is printed.

Objective: the mean over rows of 1/2 (w.x - y)^2, or of log(1 + e^m) - y m with m = w.x. Slot 0 is the intercept, x = 1.

Lines (data are exact, multiples of 1/64; results decimals of 25 digits):
    row,PROBLEM,Y,X1,X2,X3,X4
    weight,PROBLEM,SLOT,VALUE
    loss,PROBLEM,VALUE
"""
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60
N_ROWS, N_FEATURES = 60, 4


class Lcg:
    def __init__(self, seed):
        self.x = seed

    def next(self):
        self.x = (1103515245 * self.x + 12345) % 2**31
        return self.x >> 15

    def grid(self):
        """A multiple of 1/64 in [-1, 1)."""
        return Fraction(self.next() % 128 - 64, 64)


def decimal(x):
    return Decimal(x.numerator) / Decimal(x.denominator)


def solve(a, b):
    """a x = b by elimination with pivots, for fractions and decimals alike."""
    n = len(b)
    m = [row[:] + [b[i]] for i, row in enumerate(a)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[pivot] = m[pivot], m[i]
        for r in range(n):
            if r != i:
                factor = m[r][i] / m[i][i]
                m[r] = [p - factor * q for p, q in zip(m[r], m[i])]
    return [m[i][n] / m[i][i] for i in range(n)]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


# ---- least squares --------------------------------------------------------------------------------------------------
def least_squares_data(rng):
    planted = [Fraction(1, 2), Fraction(2), Fraction(-1), Fraction(3, 4), Fraction(-3, 2)]
    xs = [[Fraction(1)] + [rng.grid() for _ in range(N_FEATURES)] for _ in range(N_ROWS)]
    ys = [Fraction(round(64 * (dot(planted, x) + rng.grid() / 2)), 64) for x in xs]
    return xs, ys


def least_squares(xs, ys):
    size = range(len(xs[0]))
    a = [[sum(x[i] * x[j] for x in xs) for j in size] for i in size]
    w = solve(a, [sum(x[i] * y for x, y in zip(xs, ys)) for i in size])
    assert all(sum((dot(w, x) - y) * x[i] for x, y in zip(xs, ys)) == 0 for i in size)
    return w, sum((dot(w, x) - y)**2 for x, y in zip(xs, ys)) / 2 / len(xs)


# ---- logistic regression --------------------------------------------------------------------------------------------
def logistic_data(rng):
    """A planted rule, and every fifth label at random: no plane separates the classes."""
    planted = [Fraction(1, 4), Fraction(2), Fraction(-2), Fraction(1), Fraction(0)]
    xs = [[Fraction(1)] + [rng.grid() for _ in range(N_FEATURES)] for _ in range(N_ROWS)]
    ys = [Fraction(rng.next() % 2 if i % 5 == 0 else int(dot(planted, x) + rng.grid() > 0)) for i, x in enumerate(xs)]
    return xs, ys


def logistic(xs, ys):
    xs = [[decimal(v) for v in x] for x in xs]
    ys = [decimal(y) for y in ys]
    size, w = range(len(xs[0])), [Decimal(0)] * len(xs[0])
    for _ in range(100):
        p = [1 / (1 + (-dot(w, x)).exp()) for x in xs]
        gradient = [sum((q - y) * x[i] for q, y, x in zip(p, ys, xs)) for i in size]
        if max(abs(g) for g in gradient) < Decimal(10)**-45:
            break
        hessian = [[sum(q * (1 - q) * x[i] * x[j] for q, x in zip(p, xs)) for j in size] for i in size]
        w = [v - s for v, s in zip(w, solve(hessian, gradient))]
    else:
        raise ArithmeticError("Newton's method did not converge: the classes can be separated")
    assert max(abs(v) for v in w) < 20
    return w, sum((1 + dot(w, x).exp()).ln() - y * dot(w, x) for x, y in zip(xs, ys)) / len(xs)


# ---- output ---------------------------------------------------------------------------------------------------------
def digits(x):
    return format(x if isinstance(x, Decimal) else decimal(x), ".25g")


def exact(x):
    text = str(decimal(x))
    assert Fraction(text) == x
    return text


def emit(name, xs, ys, w, loss):
    for x, y in zip(xs, ys):
        print(",".join(["row", name, exact(y)] + [exact(v) for v in x[1:]]))
    for slot, v in enumerate(w):
        print(f"weight,{name},{slot},{digits(v)}")
    print(f"loss,{name},{digits(loss)}")


def main():
    print("# Written by optimum.py: python3 tests/golden/optimum.py > tests/golden/optimum.csv")
    xs, ys = least_squares_data(Lcg(1))
    emit("squared", xs, ys, *least_squares(xs, ys))
    xs, ys = logistic_data(Lcg(2))
    emit("logistic", xs, ys, *logistic(xs, ys))


main()
