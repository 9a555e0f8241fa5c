"""Power series over the rational numbers in several unknowns, to a total degree, on FLINT.

Public names: RationalSeries, rational_near.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

from .linear import Ring

DENOMINATOR = 2**60
"""Largest denominator of a rational that is looked for near a ball."""


def rational_near(ball: Any) -> Fraction | None:
    """The simplest rational in a narrow ball; None if the ball holds none of a small denominator.

    That the number is this rational is not proved by it: the caller checks it.
    """
    from flint import arb, fmpq

    mantissa, exponent = ball.mid().man_exp()
    middle = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    guess = middle.limit_denominator(DENOMINATOR)
    return guess if (ball - arb(fmpq(guess.numerator, guess.denominator))).contains(0) else None


@final
class RationalSeries(Ring):
    """Polynomials over Q modulo terms above a total degree."""

    p = 0

    def __init__(self, unknowns: int, degree: int) -> None:
        from flint import fmpq_mpoly_ctx

        self.unknowns, self.degree = unknowns, degree
        self.context = fmpq_mpoly_ctx.get([("t", max(unknowns, 1))], "degrevlex")
        self.zero, self.one = self.context.constant(0), self.context.constant(1)
        self.gens = list(self.context.gens())[:unknowns]

    def constant(self, value: Fraction) -> Any:
        """A number, as a series."""
        from flint import fmpq

        return self.one * fmpq(value.numerator, value.denominator)

    def cut(self, a: Any) -> Any:
        """Without the terms above the degree."""
        if a.total_degree() <= self.degree:
            return a
        terms = {e: c for e, c in a.to_dict().items() if sum(e) <= self.degree}
        return self.context.from_dict(terms)

    def mul(self, a: Any, b: Any) -> Any:
        """The product, truncated."""
        return self.cut(a * b)

    def inverse(self, a: Any) -> Any:
        """The reciprocal, by the geometric series; the constant term must not be zero."""
        scale = 1 / a.to_dict()[(0,) * max(self.unknowns, 1)]
        small = self.one - a * scale
        total = power = self.one
        for _ in range(self.degree):
            power = self.mul(power, small)
            total = total + power
        return total * scale

    def atan(self, a: Any) -> Any:
        """a − a³/3 + …, of a series without constant term."""
        from flint import fmpq

        total, power, square = self.zero, a, self.mul(a, a)
        for k in range(1, self.degree + 1, 2):
            total = total + power * fmpq((-1) ** (k // 2), k)
            power = self.mul(power, square)
        return total

    def composed(self, a: Any, values: Sequence[Any]) -> Any:
        """a with series without constant terms in the place of its unknowns."""
        powers = [[self.one] for _ in values]
        total = self.zero
        for exponents, c in a.to_dict().items():
            term = self.one
            for k, e in enumerate(exponents):
                while len(powers[k]) <= e:
                    powers[k].append(self.mul(powers[k][-1], values[k]))
                term = self.mul(term, powers[k][e]) if e else term
            total = total + term * c
        return total
