"""Equations as formulas, on residues and on series: polynomial systems, and relations in τ.

In a polynomial system sines and cosines are unknowns of their own, with s² + c² = 1 among the
equations.

Relations between coordinates that are not linear are formulas of τ, to all orders where sines and
sums make them: an angle displaced from home by τ = tan(δ/2) has cos δ = (1 − τ²)/(1 + τ²),
sin δ = 2τ/(1 + τ²); by itself it is q + 2 atan τ, and a slider's coordinate q + 2 τ. So a relation
of coordinates and of sines and cosines of their whole sums is a formula that power series can be
put into.

Public names: FormulaSystem, taylor, degree, Curved, in_tau, tau.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import DerivationError
from liaison.exact.linear import Reals, Ring
from liaison.exact.multivariate import RationalSeries
from liaison.exact.residues import residues
from liaison.exact.series import RingDomain, constants_of
from liaison.expr import (
    FRACTION,
    Expr,
    as_expr,
    atan,
    cos,
    evaluate,
    gradient,
    jacobian,
    rewritten,
    sin,
    substitute,
    symbol,
    symbols_of,
    topological,
)
from liaison.expr.graph.walk import depends_on
from liaison.freedoms.motions import Motion
from liaison.freedoms.screws import System


@final
class FormulaSystem(System):
    """Formulas that vanish, near a point where they do.

    Attributes:
        formulas: polynomials in the unknowns.
        point: an exact value for each unknown, where all formulas vanish.
    """

    def __init__(self, p: int, formulas: Sequence[Expr], point: Mapping[Expr, Any]) -> None:
        self.p, self.formulas = p, [as_expr(f) for f in formulas]
        self.unknowns = list(point)
        self.n, self.size = len(self.unknowns), len(self.formulas)
        places = [as_expr(value) for value in point.values()]
        constants = constants_of(self.formulas)
        numbers = [int(x) for x in evaluate([*places, *constants], domain=residues(p))]
        self._point = numbers[: self.n]
        self._constants = dict(zip(constants, numbers[self.n :], strict=True))
        self._entries = jacobian(self.formulas, self.unknowns)

    def values(self, ring: Ring, x: Sequence[Any]) -> list[Any]:
        """The formulas at point + x."""
        return list(evaluate(self.formulas, self._shifted(x), RingDomain(ring, self._constants)))

    def jacobian(self, ring: Ring, x: Sequence[Any]) -> list[list[Any]]:
        """Their derivatives there."""
        rows = [[ring.zero] * self.n for _ in range(self.size)]
        values = evaluate(
            list(self._entries.values()), self._shifted(x), RingDomain(ring, self._constants)
        )
        for (i, j), value in zip(self._entries, values, strict=True):
            rows[i][j] = value
        return rows

    def _shifted(self, x: Sequence[Any]) -> dict[Expr, Any]:
        return {u: a + b for u, a, b in zip(self.unknowns, self._point, x, strict=True)}

    def bound(self, rows: Sequence[int], others: int = 0) -> int | None:
        """Bézout's: degrees of the equations that cut out the curve, and the highest other one."""
        degrees = [degree(f) for f in self.formulas]
        highest = max((d for i, d in enumerate(degrees) if i not in set(rows)), default=1)
        return prod(degrees[i] for i in rows) * int(highest ** (others + 1))


def taylor(
    formulas: Sequence[Expr], point: Mapping[Expr, Any]
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """First and second derivatives of formulas at a point, in floats."""
    unknowns, n = list(point), len(point)
    values = {x: float(evaluate(as_expr(value))) for x, value in point.items()}
    J = np.zeros((len(formulas), n))
    second = [np.zeros((n, n)) for _ in formulas]
    for (i, j), slope in jacobian(list(formulas), unknowns).items():
        J[i, j] = float(evaluate(slope, values))
        for (_, k), curve in jacobian([slope], unknowns).items():
            second[i][j, k] = float(evaluate(curve, values))
    return J, second


def degree(formula: Expr) -> int:
    """The total degree of a polynomial.

    Raises:
        DerivationError: the formula is no polynomial.
    """
    degrees: dict[Expr, int] = {}
    for node in topological([formula]):
        degrees[node] = _degree(node, [degrees[a] for a in node.args])
    return degrees[formula]


def _degree(node: Expr, parts: list[int]) -> int:
    if node.op in ("add", "sub", "neg"):
        return max(parts)
    if node.op == "mul":
        return sum(parts)
    if node.op == "pow" and node.args[1].op == "const" and isinstance(node.args[1].a, int):
        return parts[0] * max(node.args[1].a, 0)
    if node.op == "div" and parts[1] == 0:
        return parts[0]
    if node.op in ("const", "symbol"):
        return int(node.op == "symbol")
    if not any(parts):
        return 0
    raise DerivationError(
        f"{node.op} of an unknown is no polynomial.",
        hint="Write sines and cosines as unknowns with s² + c² = 1.",
    )


# Relations in τ ---------------------------------------------------------------------------------


def tau(column: int) -> Expr:
    """The unknown of a joint freedom."""
    return symbol(f"'tau {column}")


def in_tau(
    formula: Expr, place: Mapping[str, int], columns: Sequence[Motion], at: Mapping[str, Any]
) -> Expr | None:
    """A relation as a formula of τ; None where it has unknown quantities or fails at the position.

    Args:
        formula: what vanishes, of coordinates by label.
        place: the joint freedom of each label.
        columns: all joint coordinates.
        at: exact coordinates at home by label.
    """
    unknowns = [x for x in symbols_of([formula]) if str(x.a) in place]
    if any(str(x.a) not in at for x in unknowns):
        return None
    turns = {x: columns[place[str(x.a)]].is_angle for x in unknowns}
    home = {x: as_expr(at[str(x.a)]) for x in unknowns}
    taus = {x: tau(place[str(x.a)]) for x in unknowns}
    try:
        rational = rewritten([formula], lambda node: _circular(node, turns, home, taus))[0]
        moved = {x: home[x] + (2 * atan(taus[x]) if turns[x] else 2 * taus[x]) for x in unknowns}
        result = substitute([rational], moved)[0]
        at_home = substitute([result], dict.fromkeys(taus.values(), as_expr(0)))[0]
        holds = _is_zero(at_home, is_rounded=any(isinstance(x, float) for x in at.values()))
    except (DerivationError, ValueError):
        return None
    return result if holds and _is_analytic(result, set(taus.values())) else None


def _is_zero(constant: Expr, *, is_rounded: bool) -> bool:
    if is_rounded:
        return abs(float(evaluate(constant))) < ROUNDED
    return int(evaluate(constant, domain=residues())) == 0


ROUNDED = 1e-9
"""Residual of a relation that holds at a position in floats."""


def _circular(
    node: Expr, turns: Mapping[Expr, bool], home: Mapping[Expr, Expr], taus: Mapping[Expr, Expr]
) -> Expr | None:
    """sin, cos or tan of a sum of angles at home and displacements; None to leave a node as it is.

    Raises:
        DerivationError: of something else than a whole sum of angles.
    """
    if node.op not in ("sin", "cos", "tan"):
        return None
    parts = [x for x in symbols_of([node]) if x in turns]
    if not parts:
        return None
    (argument,) = node.args
    slopes = [_whole(slope) for slope in gradient(argument, parts)]
    if None in slopes or not all(turns[x] for x in parts):
        raise DerivationError("a sine of something else than a whole sum of angles.")
    c, s = (f(substitute([argument], {x: home[x] for x in parts})[0]) for f in (cos, sin))
    for x, count in zip(parts, slopes, strict=True):
        for _ in range(abs(int(count or 0))):
            c, s = _turned(c, s, taus[x] if (count or 0) > 0 else -taus[x])
    return as_expr({"sin": s, "cos": c, "tan": s / c}[node.op])


def _turned(c: Any, s: Any, t: Any) -> tuple[Any, Any]:
    scale = 1 + t * t
    dc, ds = (1 - t * t) / scale, 2 * t / scale
    return c * dc - s * ds, s * dc + c * ds


def _whole(slope: Expr) -> int | None:
    value = slope.a if slope.op == "const" else None
    return int(value) if isinstance(value, int) and abs(value) <= 12 else None


ANALYTIC = frozenset({"add", "sub", "neg", "mul", "div", "pow", "atan", "symbol", "const"})


def _is_analytic(formula: Expr, taus: set[Expr]) -> bool:
    """Every operation on τ can be done on power series."""
    moving = depends_on(topological([formula]), taus)
    whole = all(node.op != "pow" or isinstance(node.args[1].a, int) for node in moving)
    return whole and all(node.op in ANALYTIC for node in moving)


@final
class Curved:
    """Formulas of τ that vanish, on the elements of a ring.

    Attributes:
        constants: residues of functions of numbers alone; none are needed over the rational numbers
            and in floats.
    """

    def __init__(self, formulas: Sequence[Expr], n: int, constants: Mapping[Expr, int]) -> None:
        self.formulas, self.n, self.constants = list(formulas), n, constants
        self.slopes = jacobian(self.formulas, [tau(k) for k in range(n)]) if formulas else {}

    def __len__(self) -> int:
        return len(self.formulas)

    def values(self, ring: Ring, x: Sequence[Any]) -> list[Any]:
        """Half of each formula, as the rows of first order are."""
        half = ring.inverse(ring.one + ring.one)
        return [ring.mul(half, f) for f in self._on(ring, self.formulas, x)]

    def rows(self, ring: Ring, x: Sequence[Any]) -> list[list[Any]]:
        """Their derivatives."""
        half = ring.inverse(ring.one + ring.one)
        rows = [[ring.zero] * self.n for _ in self.formulas]
        values = self._on(ring, list(self.slopes.values()), x)
        for (i, j), value in zip(self.slopes, values, strict=True):
            rows[i][j] = ring.mul(half, value)
        return rows

    def _on(self, ring: Ring, formulas: list[Expr], x: Sequence[Any]) -> list[Any]:
        if not formulas:
            return []
        values = {tau(k): value for k, value in enumerate(x)}
        if isinstance(ring, Reals):
            return [float(value) for value in evaluate(formulas, values)]
        if isinstance(ring, RationalSeries):
            return list(evaluate(formulas, values, _RationalDomain(ring)))
        return list(evaluate(formulas, values, _SeriesDomain(ring, self.constants)))


@final
class _SeriesDomain(RingDomain):
    """Arithmetic of a ring, and its arc tangent."""

    def operation(self, node: Expr) -> Callable[..., Any]:
        """As formulas of polynomials, and atan of what moves."""
        if node.op == "atan" and any(str(x.a).startswith("'tau ") for x in symbols_of([node])):
            return self.ring.atan
        return super().operation(node)


@final
class _RationalDomain(RingDomain):
    """Power series over the rational numbers; other constants raise a DerivationError."""

    def __init__(self, ring: RationalSeries) -> None:
        self.ring: RationalSeries = ring

    def constant(self, value: Any) -> Any:
        """A fraction, as a series."""
        return self.ring.constant(Fraction(FRACTION.constant(value)))

    def from_value(self, value: Any) -> Any:
        """Already a series."""
        return value

    def operation(self, node: Expr) -> Callable[..., Any]:
        """Arithmetic and atan; functions of constants where they are rational."""
        if node.op in ("add", "sub", "neg", "mul", "div", "pow"):
            return super().operation(node)
        if node.op == "atan" and symbols_of([node]):
            return self.ring.atan
        value = self.ring.constant(Fraction(evaluate(node, domain=FRACTION)))
        return lambda *args: value
