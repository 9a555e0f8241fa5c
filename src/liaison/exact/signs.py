"""Signs of forms and of power series over the rational numbers near their zero, decided exactly.

A form takes both signs, is definite, or is neither. Quadratic forms are decided by rational
congruence, binary forms by their real roots, others by rational points of opposite sign or by
bisection of the cube's faces in intervals. A power series has the sign of its lowest form where
that one takes both signs or is definite; a semidefinite quadratic form is split off:

    h = ± |ξ|² + g(y),   g = h where ∂h/∂x = 0

and in two unknowns the faces of Newton's polygon decide.

Public names: Sign, germ_sign, form_sign, form_at, inertia, initial_form, no_common_zero,
definite_combination.

Source: docs/theory/mobility.md (the real numbers).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any, TypeAlias, final

import numpy as np

from .multivariate import RationalSeries

Terms: TypeAlias = dict[tuple[int, ...], Any]

BOXES = 4000
"""Boxes of a bisection before it is given up."""


@final
@dataclass(frozen=True, slots=True)
class Sign:
    """How a function behaves near its zero at the origin.

    `word`: "both" (it takes both signs in every neighbourhood), "definite" (no other real zero
    near), "squares" (a sum of `rank` squares to the degree computed), "unknown". Where it is not
    `positive`, it takes negative values in every neighbourhood. In two unknowns it changes its sign
    across curves with at least so many different `tangents` at the origin, where it is known.
    """

    word: str
    reason: str
    positive: bool = True
    rank: int = 0
    tangents: int = 0


def initial_form(series: Any) -> Terms:
    """The terms of lowest degree."""
    terms = _terms(series)
    least = min((sum(e) for e in terms), default=0)
    return {e: c for e, c in terms.items() if sum(e) == least}


def _terms(series: Any) -> Terms:
    return {tuple(map(int, e)): c for e, c in series.to_dict().items()}


def _quadratic(form: Terms, n: int) -> list[list[Fraction]]:
    """The symmetric matrix of a quadratic form."""
    M = [[Fraction(0)] * n for _ in range(n)]
    for exponents, c in form.items():
        places = [k for k, e in enumerate(exponents) for _ in range(e)]
        value = Fraction(int(c.p), int(c.q)) / (1 if places[0] == places[1] else 2)
        M[places[0]][places[1]] = M[places[1]][places[0]] = value
    return M


def congruence(M: list[list[Fraction]]) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Columns T with Tᵀ M T diagonal, and the diagonal, the entries that are not zero first."""
    n = len(M)
    A = [row[:] for row in M]
    T = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]

    def add(target: int, source: int, factor: Fraction) -> None:
        for row in T:
            row[target] += factor * row[source]
        for row in A:
            row[target] += factor * row[source]
        A[target] = [a + factor * b for a, b in zip(A[target], A[source], strict=True)]

    done: list[int] = []
    while True:
        rest = [k for k in range(n) if k not in done]
        pivot = next((k for k in rest if A[k][k]), None)
        if pivot is None:
            pair = next(((i, j) for i in rest for j in rest if A[i][j]), None)
            if pair is None:
                break
            add(*pair, Fraction(1))
            continue
        for k in rest:
            if k != pivot and A[k][pivot]:
                add(k, pivot, -A[k][pivot] / A[pivot][pivot])
        done.append(pivot)
    order = done + [k for k in range(n) if k not in done]
    return [[row[k] for k in order] for row in T], [A[k][k] for k in order]


def inertia(M: list[list[Fraction]]) -> tuple[int, int]:
    """How many squares of each sign a quadratic form is made of."""
    diagonal = congruence(M)[1]
    return sum(x > 0 for x in diagonal), sum(x < 0 for x in diagonal)


def form_at(form: Terms, point: Sequence[Any]) -> Any:
    """The value at a point, of whole numbers or balls."""
    total: Any = 0
    for exponents, c in form.items():
        term = c
        for x, e in zip(point, exponents, strict=True):
            for _ in range(e):  # a power of a ball around zero has no logarithm
                term = term * x
        total = total + term
    return total


def form_sign(form: Terms, n: int) -> Sign:
    """The sign of a form in n unknowns."""
    degree = sum(next(iter(form)))
    if degree == 2:
        return _quadratic_sign(form, n)
    if degree % 2 and n != 2:
        return Sign("both", f"a form of odd degree {degree}")
    if n == 1:
        return Sign("definite", f"a form of degree {degree}", bool(next(iter(form.values())) > 0))
    if n == 2:
        return _binary_sign(form, degree)
    return _sampled_sign(form, n, degree)


def _quadratic_sign(form: Terms, n: int) -> Sign:
    plus, minus = inertia(_quadratic(form, n))
    if plus and minus:
        return Sign("both", "an indefinite second-order form", tangents=2 if n == 2 else 0)
    if plus + minus == n:
        return Sign("definite", "a definite second-order form", plus > 0)
    return Sign("squares", "a semidefinite second-order form", plus > 0, plus + minus)


def _binary_sign(form: Terms, degree: int) -> Sign:
    """By real roots with odd multiplicity: of f(z, 1), and at (1, 0)."""
    missing = degree - max(e[0] for e in form)
    odd, some = missing % 2, missing > 0
    coefficients = [form.get((k, degree - k), 0) for k in range(degree + 1)]
    for count, times in real_roots(coefficients):
        odd, some = odd + count * (times % 2), some or count > 0
    if odd:
        text = f"a form of odd degree {degree}" if degree % 2 else f"a form of degree {degree}"
        text = text if degree % 2 else f"{text} that changes its sign"
        return Sign("both", text, tangents=odd)
    value = sum(coefficients)
    if not some:
        return Sign("definite", f"a definite form of degree {degree}", bool(value > 0))
    points = (form_at(form, (k, 1)) for k in range(degree + 1))
    return Sign("unknown", f"a semidefinite form of degree {degree}", all(v >= 0 for v in points))


def real_roots(coefficients: Sequence[Any], *, positive: bool = False) -> list[tuple[int, int]]:
    """(number of real roots, multiplicity) for each squarefree factor of a polynomial.

    Args:
        coefficients: rational, lowest degree first.
        positive: counts positive roots only.
    """
    from flint import fmpq_poly

    poly = fmpq_poly(list(coefficients)).numer()
    counts = []
    for factor, times in poly.factor_squarefree()[1]:
        count = _positive_count(factor) if positive else _real_count(factor)
        counts.append((count, int(times)))
    return counts


def _real_count(poly: Any) -> int:
    """How many roots of a squarefree polynomial are real: their imaginary part is exactly zero."""
    return sum(z.imag == 0 for z, _ in poly.complex_roots())


def _positive_count(poly: Any) -> int:
    """Positive roots of a squarefree polynomial f: half the real roots of f(x²), without zero."""
    from flint import fmpz_poly

    numbers = [int(c) for c in poly.coeffs()]
    numbers = numbers[1:] if numbers[0] == 0 else numbers
    spread = [c for number in numbers for c in (number, 0)]
    return _real_count(fmpz_poly(spread)) // 2


def _sampled_sign(form: Terms, n: int, degree: int) -> Sign:
    draw = Random(n * 31 + degree)
    signs = set()
    for _ in range(400):
        value = form_at(form, [draw.randrange(-5, 6) for _ in range(n)])
        signs.add((value > 0) - (value < 0))
        if {1, -1} <= signs:
            return Sign("both", f"a form of degree {degree} that changes its sign")
    if no_common_zero([form], n):
        return Sign("definite", f"a definite form of degree {degree}", 1 in signs)
    text = f"a form of degree {degree} whose sign is not decided"
    return Sign("unknown", text, -1 not in signs)


def no_common_zero(forms: Sequence[Terms], n: int, boxes: int = BOXES) -> bool:
    """Forms have no common real zero but the origin: proved by bisection of the cube's faces.

    Each box of the faces x_j = 1 has a form that does not vanish on it, in balls; the opposite
    faces follow, since F(−u) = ±F(u).
    """
    from flint import arb

    waiting = [
        [(Fraction(1), Fraction(1)) if j == face else (Fraction(-1), Fraction(1)) for j in range(n)]
        for face in range(n)
    ]
    for _ in range(boxes):
        if not waiting:
            return True
        box = waiting.pop()
        middle = [arb(float(a + b) / 2, float(b - a) / 2) for a, b in box]
        values = (form_at({e: arb(c) for e, c in form.items()}, middle) for form in forms)
        if any(not value.contains(0) for value in values):
            continue
        widest = max(range(n), key=lambda j: box[j][1] - box[j][0])
        a, b = box[widest]
        if b - a < Fraction(1, 2**20):
            return False
        for part in ((a, (a + b) / 2), ((a + b) / 2, b)):
            waiting.append([part if j == widest else side for j, side in enumerate(box)])
    return not waiting


def germ_sign(ring: RationalSeries, h: Any) -> Sign:
    """The sign of a power series without constant term, near the origin."""
    n = ring.unknowns
    if h == 0:
        return Sign("squares", f"zero to degree {ring.degree}", rank=0)
    form = initial_form(h)
    sign = form_sign(form, n)
    if sign.word == "squares":
        return _split_sign(ring, h, form, sign)
    if sign.word == "unknown" and n == 2:
        return _polygon_sign(h) or sign
    return sign


def _split_sign(ring: RationalSeries, h: Any, form: Terms, sign: Sign) -> Sign:
    """A semidefinite second-order form: the rest in as many unknowns as it does not hold.

    Splitting lemma: h = |ξ|² + g(y) in analytic coordinates. A g that takes negative values gives h
    both signs; one that is positive off 0 leaves h the zero 0 alone. g is right to the degree of
    the ring: an error of x(y) of that order enters squared, since ∂h/∂x = 0.
    """
    inner, g = _rest(ring, h if sign.positive else -h, form)
    if g == 0:
        text = f"a sum of {sign.rank} squares to degree {ring.degree}"
        return Sign("squares", text, sign.positive, sign.rank)
    rest = germ_sign(inner, g)
    text = f"a sum of squares and {rest.reason} (splitting lemma)"
    if rest.word == "both" or not rest.positive:
        return Sign("both", text)
    return Sign(rest.word, text, sign.positive)


def _rest(ring: RationalSeries, h: Any, form: Terms) -> tuple[RationalSeries, Any]:
    """g(y) of the splitting lemma, to the degree of the ring."""
    from flint import fmpq

    n = ring.unknowns
    T, diagonal = congruence(_quadratic(form, n))
    rank = sum(x != 0 for x in diagonal)
    sums = []
    for row in T:
        terms = [g * fmpq(c.numerator, c.denominator) for g, c in zip(ring.gens, row, strict=True)]
        sums.append(sum(terms, ring.zero))
    turned = ring.composed(h, sums)
    slopes = [turned.derivative(k) for k in range(rank)]
    x = [ring.zero] * rank
    curvature = [initial_form(slopes[k])[tuple(int(j == k) for j in range(n))] for k in range(rank)]
    for _ in range(ring.degree):
        place = [*x, *ring.gens[rank:]]
        x = [a - ring.composed(f, place) / c for a, f, c in zip(x, slopes, curvature, strict=True)]
    g = ring.composed(turned, [*x, *ring.gens[rank:]])
    inner = RationalSeries(n - rank, ring.degree)
    return inner, inner.context.from_dict({e[rank:]: c for e, c in g.to_dict().items()})


def _polygon_sign(h: Any) -> Sign | None:
    """By the compact faces of Newton's polygon in two unknowns; None where one is degenerate.

    On an analytic arc x = a s^α + …, y = b s^β + … the lowest term of h is a face polynomial at
    (a, b). So an arc of zeros (curve selection) needs a zero of a face polynomial off the axes, and
    a zero at which one changes its sign gives h both signs. Both powers of one unknown must occur,
    so that no axis is an arc of zeros, and faces lie below every degree that is not computed.
    """
    terms = _terms(h)
    if not any(e[1] == 0 for e in terms) or not any(e[0] == 0 for e in terms):
        return None
    strict = True
    for face in _faces([(i, j) for i, j in terms]):
        for a, b in product((1, -1), repeat=2):
            coefficients: list[Any] = [0] * (max(j for _, j in face) + 1)
            for i, j in face:
                coefficients[j] = coefficients[j] + terms[i, j] * (a**i * b**j)
            for count, times in real_roots(coefficients, positive=True):
                if count and times % 2:
                    return Sign("both", "a face of Newton's polygon that changes its sign")
                strict = strict and not count
    if not strict:
        return None
    value = terms[min(e for e in terms if e[1] == 0)]
    return Sign("definite", "faces of Newton's polygon without real zeros", bool(value > 0))


def _faces(points: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Exponents on each compact face of the lower hull, from one axis to the other."""
    here = (0, min(j for i, j in points if i == 0))
    faces = []
    while here[1] > 0:
        right = [q for q in points if q[1] < here[1]]
        slope = min(Fraction(q[0] - here[0], here[1] - q[1]) for q in right)
        face = [q for q in right if Fraction(q[0] - here[0], here[1] - q[1]) == slope]
        faces.append([here, *face])
        here = min(face, key=lambda q: q[1])
    return faces


def definite_combination(forms: Sequence[Terms], n: int) -> bool:
    """A combination of quadratic forms is definite: proposed in floats, checked exactly."""
    exact = [_quadratic(form, n) for form in forms if sum(next(iter(form))) == 2]
    if not exact:
        return False
    stack = np.array([[[float(x) for x in row] for row in M] for M in exact])
    stack /= np.max(np.abs(stack), axis=(1, 2))[:, None, None]
    scales = [max(abs(x) for row in M for x in row) for M in exact]
    for start in (*np.eye(len(exact)), *(-np.eye(len(exact))), np.ones(len(exact))):
        weights = _ascended(stack, start)
        if weights is None:
            continue
        chosen = [Fraction(round(w * 1024), 1024) / s for w, s in zip(weights, scales, strict=True)]
        total = [[sum((w * M[i][j] for w, M in zip(chosen, exact, strict=True)), Fraction(0))
                  for j in range(n)] for i in range(n)]  # fmt: skip
        if inertia(total)[0] == n:
            return True
    return False


def _ascended(stack: Any, start: Any, steps: int = 200) -> Any:
    """Weights of a combination whose least eigenvalue is positive in floats; None if none."""
    weights = start / np.linalg.norm(start)
    for k in range(steps):
        values, vectors = np.linalg.eigh(np.tensordot(weights, stack, 1))
        if values[0] > 1e-3:
            return weights
        slope = np.einsum("kij,i,j->k", stack, vectors[:, 0], vectors[:, 0])
        weights = weights + slope / (k + 1)
        size = float(np.linalg.norm(weights))
        if size < 1e-9:
            return None
        weights = weights / size
    return weights if values[0] > 1e-6 else None
