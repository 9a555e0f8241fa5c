"""Simplification for reading: normal form, shortest trigonometry, factors, order.

    reading = simplified(f)                  # one formula
    reader = Reader(fs, order); reader.read(f), reader.terms(f, by=velocities)

What comes out has the value of what went in: `to_expr` gives the formula back and `proved_equal`
compares them modulo a large prime.

Public names: Reader, simplified, proved_equal, vanishes_exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import count, islice
from typing import final

from liaison.errors import DerivationError
from liaison.exact.choices import points_for_choices
from liaison.exact.residues import DEFAULT_PRIME, residues
from liaison.expr.graph.evaluate import evaluate
from liaison.expr.graph.node import Expr, Pi, as_expr

from .arrange import Form, Monomial, Order, arranged, factored, product_of, sum_of
from .reading import Call, Name, Number, Power, Reading, to_expr
from .ring import LIMIT, Generator, Polynomial, Ring
from .trigonometry import Angle, TrigPolynomial, shortest


@final
class Reader:
    """Formulas of one system, read with one order of names.

    Args:
        fs: every formula that will be read.
        order: of names.
        squares: what the square of a symbol is, as for unit quaternions.
        limit: most terms on the way; beyond, `TooLarge` is raised.
    """

    def __init__(
        self,
        fs: Sequence[Expr],
        order: Order | None = None,
        squares: Mapping[Expr, Expr] | None = None,
        limit: int = LIMIT,
    ) -> None:
        self.order = order or Order()
        self.squares = squares or {}
        self.ring = Ring(fs, self.squares, limit)
        angles = [g.node for g in self.ring.generators if g.kind == "sin"]
        self._bases = sorted(angles, key=lambda base: self.order.key(self._inner(base)))
        self._atoms: dict[Generator | tuple[str, Angle], Reading] = {}
        self._short: dict[frozenset[tuple[object, Fraction]], TrigPolynomial] = {}

    def read(self, f: Expr) -> Reading:
        """The formula, short."""
        return arranged(self.form(f), self.order)

    def form(self, f: Expr) -> Form:
        """The formula as a short sum of products, not arranged yet."""
        above, below = self._fraction(f)
        return self._over(self._shortened(above), below)

    def _fraction(self, f: Expr) -> tuple[Polynomial, Polynomial]:
        """Numerator and denominator; the second is 1 where only single things divide."""
        if self.ring.has_sums_below:
            return self.ring.fraction(f)
        return self.ring.polynomial(f), {}

    def _over(self, form: Form, below: Polynomial) -> Form:
        """A form divided by a polynomial, whose factors become atoms."""
        if not form or not any(any(m) for m in below):
            return form
        number, factors = factored(self._shortened(below), self.order)
        atoms: dict[Reading, int] = {}
        for factor, e in factors:
            atom = Power(arranged(factor, self.order), -1)
            atoms[atom] = atoms.get(atom, 0) + e
        return {self.order.sorted(dict(m) | atoms): c / number for m, c in form.items()}

    def collected(self, f: Expr, by: Iterable[Expr]) -> dict[Monomial, Form]:
        """Coefficients of the products of some symbols, each short; the rest is under ()."""
        places = [self.ring.index.get(Generator("symbol", x)) for x in by]
        columns = [k for k in places if k is not None]
        groups: dict[tuple[int, ...], Polynomial] = {}
        above, below = self._fraction(f)
        if any(m[k] for m in below for k in columns):
            above, below = self.ring.polynomial(f), {}
        for m, c in above.items():
            key = tuple(m[k] for k in columns)
            rest = tuple(0 if k in columns else e for k, e in enumerate(m))
            groups.setdefault(key, {})[rest] = c
        coefficients = {}
        for key, p in groups.items():
            powers = {self._atom(self.ring.generators[k]): e for k, e in zip(columns, key)}
            coefficients[self.order.sorted(powers)] = self._over(self._shortened(p), below)
        return {m: coefficients[m] for m in sorted(coefficients, key=self.order.monomial_key)}

    def _shortened(self, p: Polynomial) -> Form:
        """Each coefficient of the other generators in its shortest trigonometric form."""
        generators = self.ring.generators
        circular = [k for k, g in enumerate(generators) if g.kind in ("sin", "cos")]
        groups: dict[tuple[int, ...], TrigPolynomial] = {}
        for m, c in p.items():
            rest = tuple(0 if k in circular else e for k, e in enumerate(m))
            factors = [((generators[k].kind, self._unit(k)), m[k]) for k in circular if m[k]]
            groups.setdefault(rest, {})[tuple(sorted(factors))] = c
        form: Form = {}
        for rest, part in groups.items():
            outer = {self._atom(generators[k]): e for k, e in enumerate(rest) if e}
            for circle, c in self._shortest(part).items():
                inner = {self._atom(factor): e for factor, e in circle}
                key = self.order.sorted(outer | inner)
                form[key] = form.get(key, Fraction(0)) + c
        return {m: c for m, c in form.items() if c}

    def _shortest(self, p: TrigPolynomial) -> TrigPolynomial:
        if len(p) == 1:
            return p
        key = frozenset(p.items())
        if key not in self._short:
            self._short[key] = shortest(p)
        return self._short[key]

    def _unit(self, k: int) -> Angle:
        place = self._bases.index(self.ring.generators[k].node)
        return tuple(int(i == place) for i in range(len(self._bases)))

    def _atom(self, key: Generator | tuple[str, Angle]) -> Reading:
        if key not in self._atoms:
            self._atoms[key] = self._reading(key)
        return self._atoms[key]

    def _reading(self, key: Generator | tuple[str, Angle]) -> Reading:
        if isinstance(key, tuple):
            kind, angle = key
            terms = [(n, self._inner(b)) for n, b in zip(angle, self._bases, strict=True) if n]
            parts = [product_of(Fraction(n), [base]) for n, base in terms]
            return Call(kind, (sum_of(parts),))
        node = key.node
        if key.kind == "symbol":
            return Name(str(node.a))
        if key.kind == "inverse":
            return Power(self._inner(node), -1)
        if node.op == "const" and isinstance(node.a, Pi):
            return Name("π")
        whole = node if node.data is not None else None
        arguments = tuple(self._inner(x) for x in node.args)
        if node.op == "sqrt" and isinstance(arguments[0], Power) and arguments[0].exponent == 2:
            return Call("abs", (arguments[0].base,))
        return Call(node.op, arguments, whole)

    def _inner(self, node: Expr) -> Reading:
        """What stands inside a function or below a fraction."""
        if node.op == "symbol":
            return Name(str(node.a))
        if node.op == "const" and not isinstance(node.a, Pi):
            return Number(Fraction(node.a))
        return Reader([node], self.order, self.squares, self.ring.limit).read(node)


def simplified(
    f: Expr, order: Order | None = None, squares: Mapping[Expr, Expr] | None = None
) -> Reading:
    """One formula, short.

    Raises:
        TooLarge: its normal form has too many terms to be read.
    """
    return Reader([f], order, squares).read(as_expr(f))


def vanishes_exactly(f: Expr, points: int = 2) -> bool:
    """Whether a formula is zero, at random points modulo primes of 61 bits.

    A formula that is not zero is taken for zero with a probability of about degree / 2⁶¹ a point.
    One with choices (max, min, abs, sign, if, roots of squares) must be zero on all sides; with too
    many of them it is not called zero.

    Raises:
        DerivationError: it has roots of which no point was found where all exist.
    """
    if f.op == "const":
        return bool(f.a == 0)
    enough = points_for_choices([f], points)
    if enough is None:
        return False
    points, seen = enough, 0
    attempts = ATTEMPTS + 4 * points
    for p, seed in islice(_drawn(), attempts):
        try:
            if evaluate(f, domain=residues(p, seed)) != 0:
                return False
        except DerivationError:
            continue
        seen += 1
        if seen == points:
            return True
    raise DerivationError(
        "no point was found where all square roots of a formula exist modulo a prime.",
        hint="Write it with fewer roots of different numbers.",
    )


ATTEMPTS = 400
"""Points tried until the square roots of a formula exist at some of them."""


def _drawn() -> Iterator[tuple[int, int]]:
    """Primes and seeds, two primes in turn: a number in a formula may be a multiple of one."""
    source = _primes()
    while True:
        pair = (next(source), next(source))
        yield from ((p, seed) for seed in range(1, 5) for p in pair)


def _primes() -> Iterator[int]:
    """Primes p = −1 modulo what the default prime is −1 of, downwards from it."""
    for k in count():
        p = DEFAULT_PRIME - k * STEP
        if all(pow(a, p - 1, p) == 1 for a in (2, 3, 5, 7)):
            yield p


STEP = math.lcm(*range(1, 18), 19, 23, 29, 31)
"""Modulo p = −1 of it the roots of small numbers and the points π/n of the circle exist."""


def proved_equal(reading: Reading, f: Expr, points: int = 2) -> bool:
    """Whether a reading and a formula are equal, modulo a prime."""
    return vanishes_exactly(as_expr(to_expr(reading) - f), points)
