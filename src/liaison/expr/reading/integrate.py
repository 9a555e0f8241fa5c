"""Antiderivatives and potentials of formulas, in the usual cases; every result is differentiated.

Known are sums of products of powers of x, sines and cosines of angles linear in x, and factors
without x; and 1/x. What is not known gives None, never a guess.

Public names: antiderivative, potential.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from liaison.expr.functions import cos, log, sin
from liaison.expr.graph.diff import gradient
from liaison.expr.graph.node import ZERO, Expr, as_expr, constant
from liaison.expr.graph.walk import symbols_of

from .ring import Generator, Ring, TooLarge
from .simplify import vanishes_exactly
from .trigonometry import Angle, TrigPolynomial, fourier

LIMIT = 400
"""Most terms of a formula that is integrated."""


def antiderivative(f: Expr, x: Expr) -> Expr | None:
    """F with ∂F/∂x = f and no other constant than 0; None where it is not of the usual kind."""
    if x not in symbols_of([f]):
        return as_expr(f * x)
    try:
        ring = Ring([f], limit=LIMIT)
        terms = ring.polynomial(f)
    except TooLarge:
        return None
    total: Any = ZERO
    for powers, c in terms.items():
        primitive = _term(ring, powers, c, x)
        if primitive is None:
            return None
        total = total + primitive
    F = as_expr(total)
    return F if vanishes_exactly(as_expr(gradient(F, [x])[0] - f)) else None


def _term(ring: Ring, powers: tuple[int, ...], c: Fraction, x: Expr) -> Any:
    """The integral of one product."""
    outside: Any = constant(c)
    degree, circle = 0, []
    for g, e in zip(ring.generators, powers, strict=False):
        if e == 0:
            continue
        if x not in symbols_of([g.expr]):
            outside = outside * g.expr**e
        elif g.kind == "symbol":
            degree += e
        elif g == Generator("inverse", x):
            degree -= e
        elif g.kind in ("sin", "cos") and x not in symbols_of([gradient(g.node, [x])[0]]):
            circle.append((g, e))
        else:
            return None
    if not circle:
        return outside * _power(x, degree)
    return None if degree < 0 else outside * _circular(circle, degree, x)


def _power(x: Expr, n: int) -> Any:
    # ∫ 1/x is log |x|, on both sides of zero; written without an order
    return log(x * x) / 2 if n == -1 else x ** (n + 1) / (n + 1)


def _circular(circle: list[tuple[Generator, int]], degree: int, x: Expr) -> Any:
    """∫ xⁿ Π sines and cosines, as a sum of sines and cosines of sums."""
    bases = list(dict.fromkeys(g.node for g, _ in circle))
    unit = {b: tuple(int(b is other) for other in bases) for b in bases}
    monomial = tuple(sorted(((g.kind, unit[g.node]), e) for g, e in circle))
    product: TrigPolynomial = {monomial: Fraction(1)}
    total: Any = ZERO
    for m, c in fourier(product).items():
        if not m:
            total = total + constant(c) * _power(x, degree)
            continue
        (kind, angle), _ = m[0]
        total = total + constant(c) * _by_parts(kind, _angle(angle, bases), degree, x)
    return total


def _angle(angle: Angle, bases: list[Expr]) -> Expr:
    total: Any = ZERO
    for n, base in zip(angle, bases, strict=True):
        total = total + n * base
    return as_expr(total)


def _by_parts(kind: str, angle: Expr, n: int, x: Expr) -> Any:
    """∫ xⁿ sin(angle) or cos(angle) with an angle linear in x."""
    slope = gradient(angle, [x])[0]
    if vanishes_exactly(slope):
        return (sin(angle) if kind == "sin" else cos(angle)) * _power(x, n)
    outer = -cos(angle) / slope if kind == "sin" else sin(angle) / slope
    if n == 0:
        return outer
    inner = _by_parts("cos" if kind == "sin" else "sin", angle, n - 1, x)
    return x**n * outer + (n / slope) * (inner if kind == "sin" else -inner)


def potential(slopes: Mapping[Expr, Expr]) -> Expr | None:
    """F with ∂F/∂x = slopes[x] for every symbol x; None where there is none of the usual kind."""
    F: Any = ZERO
    for x, slope in slopes.items():
        rest = as_expr(slope - gradient(as_expr(F), [x])[0])
        if vanishes_exactly(rest):
            continue
        primitive = antiderivative(rest, x)
        if primitive is None:
            return None
        F = F + primitive
    F = as_expr(F)
    partials = gradient(F, list(slopes))
    fits = all(
        vanishes_exactly(as_expr(a - b)) for a, b in zip(partials, slopes.values(), strict=True)
    )
    return F if fits else None
