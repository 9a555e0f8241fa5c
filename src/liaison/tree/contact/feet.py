"""Feet: the parameters of a curve or surface where something is least, as formulas of a pose.

What is least, E(x; R, p) (half a squared distance, or a height over a rim), has no closed form of
its minimum x*. Newton's steps towards it are written out as formulas, so that a kernel takes them
like any others; what depends on x* is differentiated by the implicit function theorem instead:

    x ← x − H⁻¹ E_x,      ẋ* = −H⁻¹ d(E_x)/dt,      H = E_xx                        (foot-1)

A step that does not lower E is taken again, four times shorter; where H has no minimum nearby a
given metric stands in for it, so that no step is without value.

Public names: Foot, foot_of, STEPS.

Source: docs/theory/contacts.md (foot-1).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from liaison.expr import Expr, absolute, as_expr, directional, gradient, minimum, select, substitute
from liaison.tree.closure import FLOW

STEPS = 10
"""Newton's steps: from a tenth of the radius of curvature six reach rounding."""
LEAST = Fraction(1, 10**9)
"""Part of the metric's curvature below which a minimum is none."""

PART = Fraction(1, 10**12)
"""Part of itself that what is least is known to, besides its noise."""

Matrix: TypeAlias = list[list[Expr]]


class Foot(NamedTuple):
    """Parameters as symbols, what vanishes there, their values and their rates."""

    parameters: tuple[Expr, ...]
    conditions: tuple[Expr, ...]  # E_x, of the parameters and (R, p)
    values: tuple[Expr, ...]  # of (R, p) alone
    rates: tuple[Expr, ...]  # of the parameters, (R, p) and (ω, ṗ)

    @property
    def flow(self) -> dict[Expr, Expr]:
        """How all that a formula may depend on changes."""
        return FLOW | dict(zip(self.parameters, self.rates, strict=True))

    def put(self, formulas: Sequence[Any]) -> list[Expr]:
        """Formulas with the values of the parameters in their place."""
        values = dict(zip(self.parameters, self.values, strict=True))
        return substitute([as_expr(x) for x in formulas], values)


def foot_of(
    parameters: Sequence[Expr], least: Any, start: Sequence[Any], metric: Matrix, noise: Any
) -> Foot:
    """Where `least` is least, near a start.

    Args:
        parameters: one or two symbols.
        least: E, a formula of them and of (R, p).
        start: formulas of (R, p).
        metric: stands in for the second derivatives where they have no minimum; positive.
        noise: what E is known to: more is no rise.
    """
    E = as_expr(least)
    slope = gradient(E, list(parameters))
    H = _sound([gradient(x, list(parameters)) for x in slope], metric)
    step = _solved(H, slope)
    x = [as_expr(value) for value in start]
    (value,) = _at([E], parameters, x)
    part: Any = 1
    for _ in range(STEPS):
        tried = [as_expr(a - part * b) for a, b in zip(x, _at(step, parameters, x), strict=True)]
        (least_value,) = _at([E], parameters, tried)
        lower = as_expr(value + PART * absolute(value) + noise - least_value)
        x = [_chosen(lower, a, b) for a, b in zip(tried, x, strict=True)]
        value, part = _chosen(lower, least_value, value), select(lower, 1, part / 4)
    drift = directional(slope, FLOW)
    rates = [as_expr(-a) for a in _solved(H, drift)]
    return Foot(tuple(parameters), tuple(slope), tuple(x), tuple(rates))


def _at(formulas: Sequence[Expr], parameters: Sequence[Expr], values: Sequence[Expr]) -> list[Expr]:
    return substitute(list(formulas), dict(zip(parameters, values, strict=True)))


def _sound(H: Matrix, metric: Matrix) -> Matrix:
    """H where it is positive definite, else the metric."""
    good = as_expr(H[0][0] - LEAST * metric[0][0])
    if len(H) > 1:
        good = as_expr(minimum(good, _determinant(H) - LEAST * _determinant(metric)))
    return [[_chosen(good, a, b) for a, b in zip(*rows, strict=True)]
            for rows in zip(H, metric, strict=True)]  # fmt: skip


def _solved(H: Matrix, b: Sequence[Expr]) -> list[Expr]:
    """H⁻¹ b of one or two rows."""
    if len(H) == 1:
        return [b[0] / H[0][0]]
    det = _determinant(H)
    return [
        (H[1][1] * b[0] - H[0][1] * b[1]) / det,
        (H[0][0] * b[1] - H[1][0] * b[0]) / det,
    ]


def _determinant(H: Matrix) -> Expr:
    return H[0][0] * H[1][1] - H[0][1] * H[1][0]


def _chosen(condition: Expr, x: Expr, y: Any) -> Expr:
    """x where the condition is positive, else y."""
    return x if x is y else as_expr(select(condition, x, y))
