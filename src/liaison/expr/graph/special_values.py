"""Exact values: square roots of rationals, sine and cosine of multiples of π/12.

Public names: exact_sqrt, exact_sine, exact_cosine, turns.
"""

from __future__ import annotations

import math
from fractions import Fraction

from .node import ONE, ZERO, Expr, Pi, constant, make

_SMALL_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)


def exact_sqrt(value: int | Fraction) -> Expr | None:
    """√(n/d) as (s/d) √r with squares of small primes taken out of r; None where it is so already.

    √4 = 2, √8 = 2 √2, √(1/2) = ½ √2; the root of a negative number is left as it stands.
    """
    if value < 0:
        return None
    numerator, denominator = value.numerator, value.denominator
    outside, inside = _square_part(numerator * denominator)
    if inside == 1:
        return constant(Fraction(outside, denominator))
    if outside == denominator == 1:
        return None
    return constant(Fraction(outside, denominator)) * make("sqrt", constant(inside))


def _square_part(n: int) -> tuple[int, int]:
    """s and r with n = s² r; r has no square of a small prime and is no square itself."""
    root = math.isqrt(n)
    if root * root == n:
        return root, 1
    outside = 1
    for prime in _SMALL_PRIMES:
        while n % (prime * prime) == 0:
            n //= prime * prime
            outside *= prime
    root = math.isqrt(n)
    return (outside * root, 1) if root * root == n else (outside, n)


def turns(x: Expr) -> Fraction | None:
    """c where x is c π with a rational c."""
    if x.op == "const":
        return Fraction(1) if type(x.a) is Pi else None
    if x.op == "mul" and type(x.b.a) is Pi and type(x.a.a) in (int, Fraction):
        return Fraction(x.a.a)
    return None


def exact_sine(angle: Fraction) -> Expr | None:
    """sin(angle π) where angle is a multiple of 1/12."""
    twelfths = angle % 2 * 12
    if twelfths.denominator != 1:
        return None
    k = int(twelfths)
    if k > 12:
        value = exact_sine(Fraction(k - 12, 12))
        return None if value is None else -value
    return _SINES[min(k, 12 - k)]()


def exact_cosine(angle: Fraction) -> Expr | None:
    """cos(angle π) where angle is a multiple of 1/12."""
    return exact_sine(angle + Fraction(1, 2))


def _root(n: int) -> Expr:
    return make("sqrt", constant(n))


_QUARTER = Fraction(1, 4)
_SINES = (
    lambda: ZERO,
    lambda: constant(_QUARTER) * (_root(6) - _root(2)),
    lambda: constant(Fraction(1, 2)),
    lambda: constant(Fraction(1, 2)) * _root(2),
    lambda: constant(Fraction(1, 2)) * _root(3),
    lambda: constant(_QUARTER) * (_root(6) + _root(2)),
    lambda: ONE,
)
