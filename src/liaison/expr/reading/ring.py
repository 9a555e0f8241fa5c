"""Formulas as polynomials: over symbols, sines and cosines of angles, and parts that stay closed.

Angles are split into whole multiples of base angles, sin(2x + y) into products of sin x, cos x,
sin y, cos y; s² is 1 − c², the square of a root is what stands under it, and other squares are what
the caller says (a unit quaternion's, say). The normal form is unique for the polynomials in these
generators: equal formulas become equal.

Public names: Ring, Generator, Polynomial, TooLarge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias, final

from liaison.exact.residues import angles_of
from liaison.expr.graph.node import ONE, Expr, Pi, as_expr, constant, unary
from liaison.expr.graph.walk import topological

Exponents: TypeAlias = tuple[int, ...]
Polynomial: TypeAlias = dict[Exponents, Fraction]
LIMIT = 1500
"""Most terms that a polynomial may have on the way."""

WORK = 1_000_000
"""Most products of terms that are formed on the way."""


class TooLarge(Exception):
    """A polynomial would have more terms than allowed."""


@final
@dataclass(frozen=True, slots=True)
class Generator:
    """A generator of the polynomial ring: a symbol, a sine, a cosine or a closed part.

    Attributes:
        kind: "symbol", "sin", "cos", "inverse" (one over `node`) or "closed" (`node` itself).
        node: the symbol, the base angle, the denominator, or the closed part.
    """

    kind: str
    node: Expr

    @property
    def expr(self) -> Expr:
        """Its formula."""
        if self.kind == "inverse":
            return as_expr(1 / self.node)
        return unary(self.kind, self.node) if self.kind in ("sin", "cos") else self.node


def _of_node(node: Expr) -> Generator:
    """The generator whose formula is this one, if it is any's."""
    if node.op in ("sin", "cos"):
        return Generator(node.op, node.a)
    return Generator("symbol" if node.op == "symbol" else "closed", node)


ARITHMETIC = frozenset({"add", "sub", "neg", "mul", "div", "pow", "const"})


@final
class Ring:
    """The generators of some formulas, and the arithmetic of polynomials over them.

    Args:
        fs: the formulas.
        squares: what the square of a symbol is.
        limit: most terms of a polynomial on the way.
    """

    def __init__(
        self, fs: Sequence[Expr], squares: Mapping[Expr, Expr] | None = None, limit: int = LIMIT
    ) -> None:
        from flint import fmpq_mpoly_ctx

        self.limit, self._work = limit, 0
        squares = squares or {}
        order = topological([*fs, *squares.values()])
        self._angles, self._parts = _base_angles(order)
        self._nodes: dict[Expr, Any] = {}
        self.generators = _generators(order, self._angles, self._parts)
        self.index = {g: k for k, g in enumerate(self.generators)}
        names = [f"x{k}" for k in range(len(self.generators))] or ["x0"]
        self._context = fmpq_mpoly_ctx.get(names, "lex")
        self._gens = self._context.gens()
        self._one = self._context.constant(1)
        self._opposites = self._inverse_pairs()
        self._squares: dict[int, Any] = {}
        for k, g in enumerate(self.generators):
            if g.kind == "sin":
                c = self._gens[self.index[Generator("cos", g.node)]]
                self._squares[k] = 1 - c * c
        for node in order:
            if node.op == "sqrt":
                self._squares[self.index[Generator("closed", node)]] = self._poly(node.a)
        for node, value in squares.items():
            if Generator("symbol", node) in self.index:
                self._squares[self.index[Generator("symbol", node)]] = self._poly(as_expr(value))

    def _inverse_pairs(self) -> list[tuple[int, int]]:
        """Places of 1/x and x, where both are generators."""
        pairs = []
        for k, g in enumerate(self.generators):
            place = self.index.get(_of_node(g.node)) if g.kind == "inverse" else None
            pairs += [(k, place)] if place is not None else []
        return pairs

    @property
    def has_sums_below(self) -> bool:
        """Whether something is divided by a sum."""
        inverses = [g.node for g in self.generators if g.kind == "inverse"]
        return any(_of_node(node) not in self.index for node in inverses)

    def fraction(self, f: Expr) -> tuple[Polynomial, Polynomial]:
        """Numerator and denominator without common factors.

        Raises:
            TooLarge: on the way a polynomial had too many terms.
        """
        fractions: dict[Expr, tuple[Any, Any]] = {}
        for node in topological([f]):
            fractions[node] = self._as_fraction(node, fractions)
        above, below = fractions[f]
        return self._plain(above), self._plain(below)

    def _as_fraction(
        self, node: Expr, fractions: Mapping[Expr, tuple[Any, Any]]
    ) -> tuple[Any, Any]:
        n = _whole_power(node)
        if node.op not in ("add", "sub", "neg", "mul", "div") and n is None:
            return self._converted(node), self._one
        (a, b), *rest = [fractions[x] for x in node.args]
        if n is not None:
            a, b = (a, b) if n > 0 else (b, a)
            return reduce(self._times, [a] * abs(n)), reduce(self._times, [b] * abs(n))
        if node.op == "neg":
            return -a, b
        c, d = rest[0]
        if node.op in ("mul", "div"):
            c, d = (c, d) if node.op == "mul" else (d, c)
            return self._cancelled_fraction(self._times(a, c), self._times(b, d))
        c = c if node.op == "add" else -c
        if b == d:
            return self._cancelled_fraction(a + c, b)
        return self._cancelled_fraction(
            self._checked(self._times(a, d) + self._times(c, b)), self._times(b, d)
        )

    def _cancelled_fraction(self, above: Any, below: Any) -> tuple[Any, Any]:
        """Without what both share; a denominator that is a number is 1."""
        if below.is_zero():
            raise TooLarge("a division by zero")
        if not below.is_constant():
            shared = above.gcd(below)
            above, below = divmod(above, shared)[0], divmod(below, shared)[0]
        lead = below.coeffs()[0]
        return above / lead, below / lead

    def _plain(self, p: Any) -> Polynomial:
        return {
            tuple(int(e) for e in m): Fraction(int(c.p), int(c.q)) for m, c in p.to_dict().items()
        }

    def polynomial(self, f: Expr) -> Polynomial:
        """The normal form of a formula.

        Raises:
            TooLarge: on the way a polynomial had too many terms.
        """
        return self._plain(self._poly(f))

    def _poly(self, f: Expr) -> Any:
        polynomials = self._nodes
        for node in topological([f]):
            if node not in polynomials:
                polynomials[node] = self._converted(node)
        return polynomials[f]

    def _converted(self, node: Expr) -> Any:
        op = node.op
        if op == "const" and not isinstance(node.a, Pi):
            return self._constant(Fraction(node.a))
        if op == "symbol":
            return self._gens[self.index[Generator("symbol", node)]]
        if op in ("sin", "cos"):
            c, s = self._point(node.a)
            return s if op == "sin" else c
        if op in ("add", "sub"):
            a, b = self._nodes[node.a], self._nodes[node.b]
            return self._checked(a + b if op == "add" else a - b)
        if op == "neg":
            return -self._nodes[node.a]
        if op == "mul":
            return self._times(self._nodes[node.a], self._nodes[node.b])
        if op == "div":
            return self._times(self._nodes[node.a], self._inverse(node.b))
        n = _whole_power(node)
        if n is not None:
            base = self._nodes[node.a] if n > 0 else self._inverse(node.a)
            return reduce(self._times, [base] * abs(n))
        return self._gens[self.index[Generator("closed", node)]]

    def _constant(self, value: Fraction) -> Any:
        from flint import fmpq

        return self._context.constant(1) * fmpq(value.numerator, value.denominator)

    def _inverse(self, node: Expr) -> Any:
        value = self._nodes[node]
        if value.is_constant() and not value.is_zero():
            c = value.coeffs()[0]
            return self._constant(Fraction(int(c.q), int(c.p)))
        if len(value) != 1:
            return self._gens[self.index[Generator("inverse", node)]]
        ((m, c),) = value.to_dict().items()
        inverse = self._constant(Fraction(int(c.q), int(c.p)))
        for k, e in enumerate(m):
            if int(e):
                inverse = reduce(self._times, [self._opposite(k)] * int(e), inverse)
        return inverse

    def _opposite(self, k: int) -> Any:
        """The inverse of a generator: of 1/x that is x, which may be a sum."""
        g = self.generators[k]
        opposite = _of_node(g.node) if g.kind == "inverse" else Generator("inverse", g.expr)
        place = self.index.get(opposite)
        return self._poly(g.node) if place is None else self._gens[place]

    def _checked(self, p: Any) -> Any:
        if len(p) > self.limit:
            raise TooLarge(f"more than {self.limit} terms")
        return p

    def _times(self, a: Any, b: Any) -> Any:
        self._work += len(a) * len(b)
        if len(a) * len(b) > 20 * self.limit or self._work > WORK:
            raise TooLarge(f"more than {self.limit} terms, or too many products")
        return self._checked(self._reduced(a * b))

    def _reduced(self, p: Any) -> Any:
        """No generator with a known square to a higher power than one, and no x/x."""
        for k, j in self._opposites:
            degrees = p.degrees()
            if degrees[k] and degrees[j]:
                p = self._cancelled(p, k, j)
        while True:
            degrees = p.degrees()
            high = [k for k in self._squares if degrees[k] > 1]
            if not high:
                return p
            k = high[0]
            p = self._lowered(p, k)

    def _cancelled(self, p: Any, k: int, j: int) -> Any:
        terms: dict[Any, Any] = {}
        for m, c in p.to_dict().items():
            powers = list(m)
            both = min(powers[k], powers[j])
            powers[k], powers[j] = powers[k] - both, powers[j] - both
            terms[tuple(powers)] = terms.get(tuple(powers), 0) + c
        return self._context.from_dict(terms)

    def _lowered(self, p: Any, k: int) -> Any:
        parts: dict[int, dict[Any, Any]] = {}
        for m, c in p.to_dict().items():
            e = int(m[k])
            parts.setdefault(e // 2, {})[(*m[:k], e % 2, *m[k + 1 :])] = c
        total = self._context.constant(0)
        for half, terms in parts.items():
            total = total + self._context.from_dict(terms) * self._squares[k] ** half
        return total

    def _point(self, angle: Expr) -> tuple[Any, Any]:
        """(cos, sin) of an angle as polynomials."""
        total = (self._one, self._context.constant(0))
        for atom, factor in self._angles[angle].items():
            base = _base(atom, self._parts[atom])
            n = int(factor * self._parts[atom])
            c = self._gens[self.index[Generator("cos", base)]]
            s = self._gens[self.index[Generator("sin", base)]]
            for _ in range(abs(n)):
                total = self._turned(total, (c, s if n > 0 else -s))
        return total

    def _turned(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        return (
            self._reduced(a[0] * b[0] - a[1] * b[1]),
            self._reduced(a[1] * b[0] + a[0] * b[1]),
        )


def _whole_power(node: Expr) -> int | None:
    is_whole = node.op == "pow" and node.b.op == "const" and type(node.b.a) is int
    return node.b.a if is_whole and 0 < abs(node.b.a) <= 64 else None


def _base(atom: Expr, parts: int) -> Expr:
    return atom if parts == 1 else as_expr(atom / parts)


def _base_angles(order: list[Expr]) -> tuple[dict[Expr, dict[Expr, Fraction]], dict[Expr, int]]:
    """Angles as whole multiples of parts of atoms; the constant part of an angle stays one atom."""
    angles: dict[Expr, dict[Expr, Fraction]] = {}
    parts: dict[Expr, int] = {}
    for angle, split in angles_of(order).items():
        fixed = {atom: factor for atom, factor in split.items() if atom.op == "const"}
        angle_atoms = {atom: factor for atom, factor in split.items() if atom.op != "const"}
        if fixed:
            angle_atoms[_total(fixed)] = Fraction(1)
        angles[angle] = angle_atoms
        for atom, factor in angle_atoms.items():
            parts[atom] = math.lcm(parts.get(atom, 1), factor.denominator)
    return angles, parts


def _total(fixed: Mapping[Expr, Fraction]) -> Expr:
    total = constant(0)
    for atom, factor in fixed.items():
        total = as_expr(total + (constant(factor) if atom is ONE else constant(factor) * atom))
    return total


def _generators(
    order: list[Expr], angles: Mapping[Expr, Mapping[Expr, Fraction]], parts: Mapping[Expr, int]
) -> list[Generator]:
    """Each generator once, in an order that depends on structure only."""
    generators: dict[Generator, None] = {}
    for node in order:
        if node.op in ("sin", "cos"):
            for atom in angles[node.a]:
                base = _base(atom, parts[atom])
                generators |= {Generator("sin", base): None, Generator("cos", base): None}
        elif node.op == "symbol":
            generators[Generator("symbol", node)] = None
        elif node.op == "div" or (_whole_power(node) or 0) < 0:
            divisor = node.b if node.op == "div" else node.a
            below = _generators(topological([divisor]), angles, parts)
            generators |= dict.fromkeys(below)
            generators |= {Generator("inverse", g.expr): None for g in below if g.kind != "inverse"}
            if divisor.op != "const":
                generators[Generator("inverse", divisor)] = None
        elif node.op not in ARITHMETIC or _is_closed(node):
            generators[Generator("closed", node)] = None
    return list(generators)


def _is_closed(node: Expr) -> bool:
    if node.op == "const":
        return isinstance(node.a, Pi)
    return node.op == "pow" and _whole_power(node) is None
