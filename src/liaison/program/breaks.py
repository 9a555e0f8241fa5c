"""Breaks: instants at which time alone makes formulas jump or bend, as 1 + sign(t − 0.1) does.

A step that ends there needs not be cut down until its error is small. Found are switches that are
affine in time and read nothing else.

Public names: breaks, breaks_of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from liaison.expr import Expr, evaluate, gradient, switches, topological
from liaison.expr.graph.walk import depends_on

from .extend import resolve
from .program import Program


def breaks_of(program: Program, formulas: Sequence[Expr]) -> tuple[float, ...]:
    """Instants at which formulas over the symbols or labels of a program jump or bend."""
    times = [x for x, place in resolve(program, formulas).items() if place == ("t", 0)]
    return breaks(times[0], switches(formulas)) if times else ()


def breaks(t: Expr, switching: Sequence[Expr]) -> tuple[float, ...]:
    """Instants, in order, at which one of these formulas passes zero because of the time alone."""
    order = topological(switching)
    others = depends_on(order, [x for x in order if x.op == "symbol" and x is not t])
    found = {_zero(t, f) for f in switching if f not in others}
    return tuple(sorted(filter(math.isfinite, found)))


def _zero(t: Expr, f: Expr) -> float:
    """Where a formula of time is zero; infinite if it is not affine."""
    (slope,) = gradient(f, [t])
    if slope.op != "const":
        return math.inf
    value, rate = (float(x) for x in evaluate([f, slope], {t: 0.0}))
    return -value / rate if rate else math.inf
