"""Formulas on power series modulo a prime, and linear systems of such series.

`RingDomain` evaluates polynomials and roots of constants on any ring of linear.py: residues,
series, floats. Along a path of which the beginning is exact (multiples of π are roots of unity)
`PathDomain` has sines, roots and arc tangents as well: they begin at their exact value and follow
their series.

Public names: RingDomain, constants_of, Truncated, PathDomain, Lifted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import factorial
from random import Random
from typing import Any, final

from liaison.errors import DerivationError
from liaison.expr import (
    OPS,
    Domain,
    Expr,
    as_expr,
    cos,
    evaluate,
    sin,
    substitute,
    symbols_of,
    topological,
)
from liaison.expr.graph.walk import depends_on

from .arithmetic import Arithmetic, Rows
from .linear import Ring, Series, inverse, pivots, rank
from .residues import Ordered, Residues, ordered, residues


def constants_of(formulas: Sequence[Expr]) -> list[Expr]:
    """Functions of numbers alone (roots, sines) that a `RingDomain` needs the residues of.

    They are evaluated together: an angle such as 0.3 rad is a point of the circle that depends on
    the parts which all angles of one evaluation are divided into.
    """
    order = topological(list(formulas))
    moving = depends_on(order, set(symbols_of(list(formulas))))
    plain = {"add", "sub", "neg", "mul", "div", "const", "symbol"}
    functions = [x for x in order if x.op not in plain and not _is_whole_power(x)]
    return [x for x in functions if x not in moving]


def _is_whole_power(node: Expr) -> bool:
    return node.op == "pow" and isinstance(node.args[1].a, int)


class RingDomain(Domain):
    """Formulas on the elements of a ring; functions of numbers alone have residues beforehand."""

    individual = frozenset(OPS) - {"add", "sub", "neg", "mul", "div"}

    def __init__(self, ring: Ring, constants: Mapping[Expr, int]) -> None:
        self.ring, self._exact, self._constants = ring, residues(ring.p), constants

    def constant(self, value: Any) -> Any:
        """A residue, as an element."""
        return self.ring.one * int(self._exact.constant(value))

    def from_value(self, value: Any) -> Any:
        """Already an element."""
        return self.ring.one * value if isinstance(value, int) else value

    def operation(self, node: Expr) -> Callable[..., Any]:
        """Arithmetic; roots of constants as residues."""
        ring = self.ring
        table: dict[str, Callable[..., Any]] = {
            "add": lambda a, b: a + b,
            "sub": lambda a, b: a - b,
            "neg": lambda a: -a,
            "mul": ring.mul,
            "div": lambda a, b: ring.mul(a, ring.inverse(b)),
        }
        if _is_whole_power(node):
            return lambda a, b: self._power(a, int(node.args[1].a))
        if node.op in table:
            return table[node.op]
        value = self._constants[node]
        return lambda *args: ring.one * value

    def _power(self, a: Any, n: int) -> Any:
        base = self.ring.inverse(a) if n < 0 else a
        power = self.ring.one
        for _ in range(abs(n)):
            power = self.ring.mul(power, base)
        return power


# Along a path -----------------------------------------------------------------------------------


@final
class Truncated:
    """A power series in s over residues, known modulo s^order."""

    __slots__ = ("poly", "ring")

    def __init__(self, ring: Series, poly: Any) -> None:
        self.ring, self.poly = ring, poly

    def _other(self, x: Any) -> Any:
        return x.poly if isinstance(x, Truncated) else self.ring.one * (int(x) % self.ring.p)

    def __add__(self, x: Any) -> Truncated:
        return Truncated(self.ring, self.poly + self._other(x))

    __radd__ = __add__

    def __sub__(self, x: Any) -> Truncated:
        return Truncated(self.ring, self.poly - self._other(x))

    def __rsub__(self, x: Any) -> Truncated:
        return Truncated(self.ring, self._other(x) - self.poly)

    def __mul__(self, x: Any) -> Truncated:
        return Truncated(self.ring, self.ring.mul(self.poly, self._other(x)))

    __rmul__ = __mul__

    def __neg__(self) -> Truncated:
        return Truncated(self.ring, -self.poly)

    def __truediv__(self, x: Truncated) -> Truncated:
        if x.first == 0:
            raise DerivationError("a division by zero where the path begins")
        return Truncated(self.ring, self.ring.mul(self.poly, self.ring.inverse(x.poly)))

    @property
    def first(self) -> int:
        """The constant term."""
        return int(self.poly[0])

    @property
    def rest(self) -> Truncated:
        """The series less its constant term."""
        return self - self.first

    def coefficients(self) -> list[int]:
        """All of them, lowest first."""
        coefficients = [int(c) for c in self.poly.coeffs()]
        return coefficients + [0] * (self.ring.order - len(coefficients))

    def composed(self, terms: Sequence[Any]) -> Truncated:
        """Σ terms_j xʲ of a series x without constant term."""
        total = Truncated(self.ring, self.ring.zero)
        for term in reversed(terms):
            total = total * self + term
        return total


@final
class PathDomain(Domain):
    """Formulas on a path; functions begin at their exact value and follow their series."""

    individual = frozenset({"sin", "cos", "sqrt", "atan", "atan2", "exp"})

    def __init__(
        self, residues: Residues, order: int, home: Mapping[Expr, Expr], firm: Mapping[Expr, int]
    ) -> None:
        self.residues, self.home, self.firm = residues, home, firm
        self.ring = Series(residues.p, order)
        self._begin: dict[Expr, int] = {}

    def start(self, order: list[Expr], number: Mapping[Expr, Any]) -> Domain:
        """For one evaluation: what functions are worth where the path begins."""
        run = PathDomain(self.residues, self.ring.order, self.home, self.firm)
        selected = [node for node in order if node.op in self.individual]
        both = [*selected, *(_partner(node) for node in selected)]
        begins = substitute(both, dict(self.home))
        values = evaluate(begins, dict(self.firm), self.residues) if begins else []
        run._begin = dict(zip(both, map(int, values), strict=True))
        return run

    def constant(self, value: Any) -> Truncated:
        """A residue."""
        return self.from_value(self.residues.constant(value))

    def from_value(self, value: Any) -> Truncated:
        """A series, or a residue."""
        if isinstance(value, Truncated):
            return value
        return Truncated(self.ring, self.ring.one * (int(value) % self.ring.p))

    def operation(self, node: Expr) -> Callable[..., Truncated]:
        """Arithmetic; functions by their series around the beginning."""
        if node.op in ARITHMETIC:
            return ARITHMETIC[node.op]
        if node.op == "pow" and node.args[1].op == "const" and isinstance(node.args[1].a, int):
            n = node.args[1].a
            return lambda x, _: _power(x, n)
        if node.op == "stumpff":
            return lambda x: self._stumpff(node.a, x)
        if node.op in self.individual:
            return lambda *args: self._function(node, args)
        raise DerivationError(f"{node.op} has no series here")

    def _stumpff(self, k: int, x: Truncated) -> Truncated:
        """Σ (−x)^j / (2j + k)!, of a series without constant term."""
        if x.first:
            raise DerivationError("a Stumpff function of what is not zero where the path begins")
        p, order = self.ring.p, self.ring.order
        return x.composed([(-1) ** j * pow(factorial(2 * j + k), -1, p) for j in range(order)])

    def _function(self, node: Expr, args: Sequence[Truncated]) -> Truncated:
        begin, x = self._begin[node], args[0]
        if node.op in ("sin", "cos"):
            return self._circular(node, x.rest)
        if node.op == "sqrt":
            return self._root(x, begin)
        if node.op == "exp":
            p, order = self.ring.p, self.ring.order
            return x.rest.composed([pow(factorial(j), -1, p) for j in range(order)]) * begin
        y, x = (args[0], args[1]) if node.op == "atan2" else (args[0], self.from_value(1))
        slope = (self._rate(y) * x - y * self._rate(x)) / (x * x + y * y)
        return Truncated(self.ring, slope.poly.integral().truncate(self.ring.order)) + begin

    def _rate(self, x: Truncated) -> Truncated:
        return Truncated(self.ring, x.poly.derivative())

    def _circular(self, node: Expr, turn: Truncated) -> Truncated:
        p, order = self.ring.p, self.ring.order
        parts = [pow(factorial(j), -1, p) for j in range(order)]
        c = turn.composed([0 if j % 2 else (-1) ** (j // 2) * parts[j] for j in range(order)])
        s = turn.composed([(-1) ** (j // 2) * parts[j] if j % 2 else 0 for j in range(order)])
        here, other = self._begin[node], self._begin[_partner(node)]
        # the partner of sin is cos, that of cos is sin
        return c * here + s * other if node.op == "sin" else c * here - s * other

    def _root(self, x: Truncated, begin: int) -> Truncated:
        if begin == 0:
            raise DerivationError("a root of zero where the path begins")
        half = pow(2, -1, self.ring.p)
        root = self.from_value(begin)
        for _ in range(self.ring.order.bit_length() + 1):
            root = (root + x / root) * half
        return root


def _partner(node: Expr) -> Expr:
    """cos of what sin is of, and the other way round; the node itself for other functions."""
    other = {"sin": cos, "cos": sin}.get(node.op)
    return node if other is None else as_expr(other(node.a))


def _power(x: Truncated, n: int) -> Truncated:
    power = Truncated(x.ring, x.poly.pow_trunc(abs(n), x.ring.order))
    return power if n >= 0 else Truncated(x.ring, x.ring.one) / power


ARITHMETIC: dict[str, Callable[..., Truncated]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x: -x,
}


@final
class Lifted(Arithmetic):
    """Series along a path; linear systems are solved with the pivots of its beginning."""

    def __init__(self, domain: PathDomain, seed: int = 0) -> None:
        self.domain, self.ring, self._draw = domain, domain.ring, Random(seed)

    def numbers(self, formulas: Ordered | Sequence[Expr], at: Mapping[Expr, Any]) -> list[Any]:
        """Exact to the order."""
        return ordered(formulas).numbers(at, self.domain)

    def rank(self, rows: Rows) -> int:
        """Where the path begins."""
        return rank(self._first(rows), self.ring.p) if rows else 0

    def _first(self, rows: Rows) -> list[list[int]]:
        return [[x.first if isinstance(x, Truncated) else int(x) for x in row] for row in rows]

    def solved(self, rows: Rows, right: Sequence[Any], width: int) -> list[Any] | None:
        """Newton's steps with the matrix of the beginning, a term of the series each."""
        x = [self.drawn() for _ in range(width)]
        return self.corrected(
            x,
            self._first(rows),
            lambda x: [_dot(r, x) - b for r, b in zip(rows, right, strict=True)],
        )

    def corrected(
        self,
        x: list[Any],
        first: list[list[int]],
        residual: Callable[[list[Any]], list[Any]],
    ) -> list[Any] | None:
        """x with its pivot entries changed until the residual vanishes to the order."""
        if not first:
            return x
        chosen, columns = pivots(first, self.ring.p)
        solve = inverse([[first[i][j] for j in columns] for i in chosen], self.ring.p)
        size = len(chosen)
        for _ in range(self.ring.order + 1):
            left = [self.domain.from_value(r) for r in residual(x)]
            if self.vanish(left):
                return x
            for i, j in enumerate(columns):
                step = self.domain.from_value(0)
                for k in range(size):
                    step = step + left[chosen[k]] * int(solve[i, k])
                x[j] = x[j] - step
        return None

    def drawn(self, least: int = 0) -> Truncated:
        """A random series, zero below an order."""
        p, order = self.ring.p, self.ring.order
        terms = [0] * least + [self._draw.randrange(p) for _ in range(order - least)]
        return Truncated(self.ring, self.ring.of(terms))

    def vanish(self, series: Sequence[Any], scale: Sequence[Any] = ()) -> bool:
        """Every term of every series."""
        return all(
            x.poly.is_zero() if isinstance(x, Truncated) else int(x) % self.ring.p == 0
            for x in series
        )


def _dot(row: Sequence[Any], x: Sequence[Any]) -> Any:
    total: Any = x[0] * 0
    for a, b in zip(row, x, strict=True):
        if isinstance(a, Truncated) or a:
            total = total + b * a
    return total
