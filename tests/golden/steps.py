#!/usr/bin/env python3
"""Losses, gradients and greedy steps to 50 digits: the oracle of the unit tests.

    python3 tests/golden/steps.py > tests/golden/steps.csv

Independent of the C code: every quantity comes from its definition, not from the formula that the library uses.
The paper's step is the root of the paper's linear equation (its values at 0 and 1 are enough), the number of
steps of a heavy row the root of the equation of its implicit step, found numerically, a search result the root of the derivative.

Lines (inputs are hexadecimal floats, results decimals of 25 digits):
    real,FUNCTION,X,VALUE
    logistic,M,Y,LOSS,G,LAMBDA,E,C,REPEATS
    softmax,K,k,SHAPE,SEED,M_k,LOSS,REST,LAMBDA,E,C,REPEATS
    search,LOSS,M,Y,G,LAMBDA
    hinge,POWER,M,Y,LOSS,G,LAMBDA
    hinge_many,POWER,K,k,SHAPE,SEED,M_k,LOSS,G,LAMBDA

A hinge loss has the power 1 or 2 (half the square); G of many classes is the slope in the margin of the first of the
highest rivals.
The margins of the other classes of a softmax or hinge_many line follow a rule (others(), and its twin in golden.h) over the integers
x' = (1103515245 x + 12345) mod 2^31, r = x' >> 15 (16 bits), one draw a class, the own class included:
    uniform   0
    dominant  0 for class k+1 (mod K), else -8 - r / 2^15
    random    (r - 2^15) / 2^13, between -4 and 4
    steep     -j / 2 for class j
"""
from mpmath import mp, mpf

mp.dps = 50
P_HAT = mpf(19) / 20


def hexa(x):
    return float(x).hex()


def digits(x):
    return mp.nstr(mpf(x), 25, strip_zeros=False)


def emit(*fields):
    print(",".join(str(f) for f in fields))


class Lcg:
    def __init__(self, seed):
        self.x = seed

    def next(self):
        self.x = (1103515245 * self.x + 12345) % 2**31
        return self.x >> 15


# ---- roots ----------------------------------------------------------------------------------------------------------
def root(f, a, b):
    """The sign change of f between a and b: secants inside a bracket, to 40 digits of the larger end."""
    fa, fb = f(a), f(b)
    assert fa * fb <= 0
    side = 0
    for _ in range(400):
        if fa == 0 or fb == 0 or abs(b - a) <= mpf(10)**-40 * max(abs(a), abs(b)):
            break
        c = (a * fb - b * fa) / (fb - fa)
        if not min(a, b) < c < max(a, b):
            c = (a + b) / 2
        fc = f(c)
        if fc * fb < 0:
            a, fa, fb = b, fb, fb
            b, fb, side = c, fc, 0
        else:
            m = 1 - fc / fb if fb != 0 else mpf(1) / 2
            fa *= m if m > 0 else mpf(1) / 2
            b, fb, side = c, fc, side + 1
        if abs(fb) < mpf(10)**-45:
            return b
    return a if abs(fa) < abs(fb) else b


def outward(f, start):
    """A bracket of the sign change of f on the side of 0 where start lies."""
    a, b = mpf(0), mpf(start)
    while f(a) * f(b) > 0:
        a, b = b, 2 * b
    return a, b


# ---- definitions ----------------------------------------------------------------------------------------------------
def shares(m, k):
    """(p, 1 - p_k): the sum of the others, not a difference, so that no digits are lost near 1."""
    top = max(m)
    e = [mp.exp(v - top) for v in m]
    total = mp.fsum(e)
    return [v / total for v in e], mp.fsum(v for j, v in enumerate(e) if j != k) / total


def paper_lambda(m, k):
    """The paper's linear equation for lambda: P_HAT sum e_j (1 + l - b_j l) = e_k (1 - l + e l / b_k)."""
    p, _ = shares(m, k)
    b = [mp.exp(v) for v in p]

    def equation(l):
        return P_HAT * mp.fsum(p[j] * (1 + l - b[j] * l) for j in range(len(m))) - p[k] * (1 - l + mp.e * l / b[k])

    at0, at1 = equation(mpf(0)), equation(mpf(1))
    return -at0 / (at1 - at0)


def repeats(m, k, e, c, outputs):
    """The plain steps of length e that a row of weight c is worth: after one of them it moves on along the same line until
    it has gone (c - 1) e times the gradient where it ends. Of one output only the own margin moves."""
    p, rest = shares(m, k)

    def rest_after(length):
        moved = [m[j] + length * (1 if j == k else -p[j] / rest if outputs > 1 else 0) for j in range(len(m))]
        return shares(moved, k)[1]

    plain, more = e * rest, (c - 1) * e
    first = more * rest_after(plain)
    return 1 + root(lambda u: u - more * rest_after(plain + u), mpf(0), first) / plain


WEIGHTS = [(mpf(1) / 8, mpf(3) / 2), (mpf(2), mpf(50)), (mpf(1) / 8, mpf(10)**6), (mpf(1) / 64, mpf(7))]


# ---- lines ----------------------------------------------------------------------------------------------------------
def real_lines():
    rng = Lcg(2016)

    def unit():
        return (rng.next() * 65536 + rng.next() + 0.5) / 2**32

    def spread(lo, hi, n):
        return [lo + (hi - lo) * unit() for _ in range(n)]

    def both(xs):
        return [s * x for x in xs for s in (1.0, -1.0)]

    small = both([2.0**-e * (1 + unit()) for e in (1, 2, 3, 5, 8, 13, 21, 27, 34, 53, 54, 55, 100, 300, 1000, 1070)])
    half = 0.34657359027997264
    steps = [half * (1 + d) for d in (-1e-3, -1e-9, 0.0, 1e-9, 1e-3)]
    sigmoid = lambda x: 1 / (1 + mp.exp(-x))
    softplus = lambda x: mp.log1p(mp.exp(x))
    functions = {
        "exp": (mp.exp, small + both(steps + spread(0, 2, 20)) + spread(-745, 709.7, 40) + spread(-745.1, -708.3, 15) +
                [709.78, 709.782712893384, -708.4, -745.13]),
        "expm1": (mp.expm1, small + both(steps + spread(0, 2, 40) + spread(2, 40, 20)) + spread(40, 709.7, 10)),
        "log": (mp.log, [1 + x for x in small if 1 + x > 0] + spread(0.5, 2, 50) +
                [2.0**(2000 * unit() - 1000) for _ in range(30)] +
                [5e-324, 1e-320, 1e-310, 2.2250738585072014e-308, 1.7976931348623157e308]),
        "log1p": (mp.log1p, [x for x in small if x > -1] + spread(-0.999, 3, 50) + [-1 + 2.0**-e for e in (2, 10, 53)] +
                  [2.0**(300 * unit()) for _ in range(15)] + [1e300]),
        "sigmoid": (sigmoid, both(spread(0, 2, 20) + spread(2, 45, 20) + spread(45, 740, 10)) + steps +
                    [0.0, 36.7, 36.8, 37.4, 37.5, -708.4, -744.0, -745.1, -1e4, 1e4]),
        "softplus": (softplus, both(spread(0, 2, 20) + spread(2, 45, 20) + spread(45, 740, 10)) + steps +
                     [0.0, 40.5, -708.4, -744.0, -745.1, -1e4, 1e4]),
    }
    for name, (f, xs) in functions.items():
        for x in xs:
            emit("real", name, hexa(x), digits(f(mpf(float(x)))))


def logit(p):
    return mp.log(p) - mp.log1p(-p)


def targets():
    """Probabilities of the own class from 1e-12 to 1 - 1e-12, both sides of P_HAT and near it."""
    tail = [mpf(10)**-e for e in (12, 9, 6, 4, 3, 2)]
    middle = [mpf(c) / 100 for c in (5, 10, 20, 35, 50, 65, 80, 90, 94, 96)]
    near = [P_HAT - mpf(10)**-e for e in (3, 6, 9)] + [P_HAT + mpf(10)**-e for e in (9, 6, 3)]
    return tail + middle + near + [1 - t for t in reversed(tail)]


def logistic_lines():
    vs = [logit(p) for p in targets()] + [-10000, -700, -300, -100, -40, 40, 100, 300, 700, 10000, 0]
    for number, v in enumerate(vs):
        for y in ((0, 1) if number % 4 == 0 else (number % 2,)):
            m = float(v) if y else -float(v)
            pair = [mpf(0), mpf(m)]
            p, rest = shares(pair, y)
            loss = mp.log1p(rest / p[y])
            e, c = WEIGHTS[number % len(WEIGHTS)]
            # Two margins +-u apart move twice as fast as one: the step of one margin is twice that of two.
            emit("logistic", hexa(m), y, digits(loss), digits(rest if y == 0 else -rest),
                 digits(2 * paper_lambda(pair, y)), hexa(e), hexa(c), digits(repeats(pair, y, e, c, 1)))


def others(shape, n_classes, k, seed):
    rng = Lcg(seed)
    m = []
    for j in range(n_classes):
        r = rng.next()
        m.append({
            "uniform": mpf(0),
            "dominant": mpf(0) if j == (k + 1) % n_classes else -8 - mpf(r) / 2**15,
            "random": mpf(r - 2**15) / 2**13,
            "steep": -mpf(j) / 2,
        }[shape])
    return m


def softmax_lines():
    every = targets()
    for n_classes in (2, 3, 5, 10, 26, 105, 1000):
        for s, shape in enumerate(("uniform", "dominant", "random", "steep")):
            stride = {105: 3, 1000: 6}.get(n_classes, 1)
            for number, p in enumerate(every[s % stride::stride]):
                seed = 1000 * n_classes + 10 * number + s
                k = seed % n_classes
                m = others(shape, n_classes, k, seed)
                rest_sum = mp.fsum(mp.exp(m[j]) for j in range(n_classes) if j != k)
                m[k] = mpf(float(logit(p) + mp.log(rest_sum)))
                probability, rest = shares(m, k)
                loss = mp.log1p(rest / probability[k])
                e, c = WEIGHTS[number % len(WEIGHTS)]
                emit("softmax", n_classes, k, shape, seed, hexa(m[k]), digits(loss), digits(rest),
                     digits(paper_lambda(m, k)), hexa(e), hexa(c), digits(repeats(m, k, e, c, n_classes)))


def search_lines():
    derivative = {
        "squared": lambda m, y: m - y,
        "logistic": lambda m, y: -y / (1 + mp.exp(y * m)),
        "pseudo_huber": lambda m, y: (m - y) / mp.sqrt(1 + (m - y)**2),
        "squared_hinge": lambda m, y: -2 * y * max(mpf(0), 1 - y * m),
        "quartic": lambda m, y: (m - y)**3,
    }
    points = {
        "squared": [(0, 1), (3, -2), (-1000, 7), (0.125, 0.1250001), (1e6, -1e6)],
        "logistic": [(0, 1), (0, -1), (-5, 1), (12, -1), (2, 1), (30, 1), (-400, 1), (1000, -1)],
        "pseudo_huber": [(0, 1), (0, 100), (-20, 20), (1e-3, 0), (5000, 3)],
        "squared_hinge": [(0, 1), (0, -1), (-7, 1), (0.875, 1), (50, -1), (2, 1), (-1, -1)],
        "quartic": [(0, 1), (5, -3), (0.5, 0.25), (-100, 100)],
    }
    for name, pairs in points.items():
        slope = derivative[name]
        for m, y in pairs:
            m, y = mpf(float(m)), mpf(float(y))
            g = mpf(float(slope(m, y)))  # the caller hands over a double
            level = 1 - P_HAT if name == "logistic" else mpf(0)
            if g == 0:
                answer = mpf(0)
            elif name in ("squared_hinge", "quartic"):
                answer = (m - (y if name == "quartic" else 1 / y)) / g  # a corner or a triple root: by inspection
            else:
                left_over = lambda l: slope(m - l * g, y) / g - level
                answer = root(left_over, *outward(left_over, 1 / (1 + abs(g))))
            emit("search", name, hexa(m), hexa(y), hexa(g), digits(answer))


def hinge_loss(m, k, power):
    """Crammer and Singer's definition: the highest of m_j + [j != k], minus m_k."""
    h = max(m[j] + (0 if j == k else 1) for j in range(len(m))) - m[k]
    return h**power / power


def slope(f, x):
    """Central difference of a function that is a polynomial of degree 2 at most near x."""
    d = mpf(10)**-20
    return (f(x + d) - f(x - d)) / (2 * d)


def hinge_many(m, k, power):
    """Loss, slope at the rival, and the step along the gradient after which the rival is 1 behind class k."""
    loss = hinge_loss(m, k, power)
    if loss == 0:
        return loss, mpf(0), mpf(0)
    highest = max(m[j] for j in range(len(m)) if j != k)
    rival = next(j for j in range(len(m)) if j != k and m[j] == highest)
    # A tie is broken towards the first: raised by next to nothing, so that slopes see it as the only one.
    raised = [v + (mpf(10)**-15 if j == rival else 0) for j, v in enumerate(m)]
    at = lambda j: slope(lambda v: hinge_loss(raised[:j] + [v] + raised[j + 1:], k, power), raised[j])
    g, own = at(rival), at(k)
    g, own = (mpf(round(g)), mpf(round(own))) if power == 1 else (g - mpf(10)**-15, own + mpf(10)**-15)
    behind = lambda l: 1 + (m[rival] - l * g) - (m[k] - l * own)
    return loss, g, root(behind, *outward(behind, mpf(1)))


def hinge_lines():
    for power in (1, 2):
        for z in (-10000, -700, -17, -3, -1, -0.5, -1e-9, 0, 1e-9, 0.25, 0.875, 1 - 2**-40, 1, 1 + 2**-40, 2, 30, 10000):
            for y in (0, 1):
                m = mpf(z) if y else -mpf(z)
                loss = max(mpf(0), 1 - mpf(z))**power / power
                f = lambda v: max(mpf(0), 1 - (v if y else -v))**power / power
                g = slope(f, m) if z < 1 else mpf(0)
                behind = lambda l: 1 - (1 if y else -1) * (m - l * g)
                step = root(behind, *outward(behind, mpf(1))) if z < 1 else mpf(0)
                emit("hinge", power, hexa(m), y, digits(loss), digits(g), digits(step))
        for n_classes in (2, 3, 5, 26, 105):
            for s, shape in enumerate(("uniform", "dominant", "random", "steep")):
                for number, lead in enumerate((-1000, -20, -1.5, -0.125, 0, 0.5, 0.9375, 1, 1.125, 40)):
                    seed = 1000 * n_classes + 10 * number + s
                    k = seed % n_classes
                    m = others(shape, n_classes, k, seed)
                    m[k] = mpf(float(lead) + float(max(m[j] for j in range(n_classes) if j != k)))
                    loss, g, step = hinge_many(m, k, power)
                    emit("hinge_many", power, n_classes, k, shape, seed, hexa(m[k]), digits(loss), digits(g), digits(step))


if __name__ == "__main__":
    print("# Written by steps.py: python3 tests/golden/steps.py > tests/golden/steps.csv")
    real_lines()
    logistic_lines()
    softmax_lines()
    search_lines()
    hinge_lines()
