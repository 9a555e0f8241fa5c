"""Formulas modulo a prime: equal formulas get equal residues, different ones almost never do.

Rational arithmetic is exact. An angle is a point of the circle c² + s² = 1 modulo p: angles are
split into rational multiples of what they are made of, so that sin(2x + y) and sin x cos(x + y) +
… agree, and multiples of π are roots of unity. Since p = 3 modulo 4, exactly one of x and −x is a
square: squares count as positive, the root taken is itself a square, and √x √y = √(xy). Functions
that have no such law are random residues of their arguments.

What is not kept: relations between angles that are products (sin(x (y + z)) and sin(x y + x z)),
exp(x + y) = exp x exp y, relations between Stumpff functions of different arguments, and order.

`Ordered` formulas are evaluated many times without being sorted again.

"Positive" is a law of the residues, not of the numbers: a formula with a choice (max, min, abs,
sign, if) takes at a random point one side or the other, and √(x²) is x or −x. How many points a law
of such formulas needs is in `choices`.

`LooseRoots` and `UnknownChoices` have unknown functions in the place of roots that do not exist and
of choices. What is equal so is equal with the functions themselves; what differs may still be
equal, since their laws are lost, but for |−x| = |x|, sign(−x) = −sign x, and `if` being linear in
what it chooses from.

Public names: residues, Residues, DEFAULT_PRIME, angles_of, Ordered, ordered, keeps_laws,
LooseRoots, UnknownChoices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NoReturn, final

import numpy as np

from liaison.errors import DerivationError
from liaison.expr.graph.evaluate import Domain, numbers_of
from liaison.expr.graph.node import ONE, Expr, Pi, Value
from liaison.expr.graph.ops import OPS
from liaison.expr.graph.walk import topological

from .linear import is_prime, rank


@final
class Ordered:
    """A list of formulas, and every node of theirs, arguments first."""

    def __init__(self, formulas: Sequence[Expr]) -> None:
        self.formulas = list(formulas)
        self.order = topological(self.formulas)

    def numbers(self, at: Mapping[Expr, Any], domain: Domain) -> list[Any]:
        """The formulas at a point, as `evaluate` has them."""
        with np.errstate(all="ignore"):
            number = numbers_of(self.order, at, domain)
        return [number[f] for f in self.formulas]


def ordered(formulas: Ordered | Sequence[Expr]) -> Ordered:
    """Formulas in order, where they are not yet."""
    return formulas if isinstance(formulas, Ordered) else Ordered(formulas)


# p + 1 is a multiple of 1, …, 16, 17, 19, 23, 29 and 31: these are squares, and π/n is a point
DEFAULT_PRIME = 2305840746056767919
Point = tuple[int, int]
Angle = dict[Expr, Fraction]


def _no_residue(what: str) -> NoReturn:
    raise DerivationError(
        what, hint="Evaluate again with another seed, other values, or the default prime."
    )


@lru_cache(maxsize=64)
def _check_prime(p: int) -> None:
    if p % 4 != 3 or p < 1000 or not is_prime(p):
        raise ValueError(f"residues need a prime p = 3 modulo 4 above 1000, not {p}")


@final
class Residues(Domain):
    """Integers modulo p; symbols without value get residues drawn from the seed."""

    individual = frozenset({"sin", "cos", "tan"})

    def __init__(self, p: int = DEFAULT_PRIME, seed: int = 0) -> None:
        _check_prime(p)
        self.p, self.seed = p, seed
        self._angles: dict[Expr, Angle] = {}
        self._parts: dict[Expr, int] = {}
        self._number: Mapping[Expr, int] = {}
        self._points: dict[Expr, Point] = {}

    def start(self, order: list[Expr], number: Mapping[Expr, Any]) -> Residues:
        """A domain for one evaluation, which knows the angles of the graph."""
        run = Residues(self.p, self.seed)
        run._angles = angles_of(order)
        run._number = number
        for angle in run._angles.values():
            for atom, factor in angle.items():
                run._parts[atom] = math.lcm(run._parts.get(atom, 1), factor.denominator)
        return run

    def drawn(self, *key: object) -> int:
        """A residue that depends on the key and the seed only."""
        text = repr((self.p, self.seed, *key))
        return int.from_bytes(blake2b(text.encode(), digest_size=16).digest(), "little") % self.p

    def constant(self, value: Value) -> int:
        """Exact; a float is the rational it stands for; π is drawn."""
        if isinstance(value, Pi):
            return self.drawn("pi")
        return self.from_value(value)

    def from_value(self, value: Any) -> int:
        """A whole or rational number modulo p."""
        exact = Fraction(value)
        return exact.numerator * self.inverse(exact.denominator) % self.p

    def missing(self, node: Expr, symbols: list[str]) -> int:
        """Drawn from the name."""
        return self.drawn("symbol", node.a)

    def inverse(self, x: int) -> int:
        """1/x modulo p."""
        if x % self.p == 0:
            _no_residue(f"a division by zero modulo {self.p}")
        return pow(x, -1, self.p)

    def is_positive(self, x: int) -> bool:
        """Whether x is a square other than zero."""
        return pow(x, (self.p - 1) // 2, self.p) == 1

    def root(self, x: int) -> int:
        """The square root that is a square."""
        root = pow(x, (self.p + 1) // 4, self.p)
        if root * root % self.p != x % self.p:
            _no_residue(f"{x} has no square root modulo {self.p}")
        return root

    def operation(self, node: Expr) -> Callable[..., int]:
        """Arithmetic, points of the circle, or a draw."""
        op = node.op
        if op in self.individual:
            return lambda x: self._circular(node)
        if op in _ARITHMETIC:
            function = _ARITHMETIC[op]
            return lambda *args: function(self, *args)
        if op == "stumpff":
            return lambda s: self._stumpff(node.a, s)
        token = OPS[op].token(node.data) if node.data is not None else ""
        return lambda *args: self.drawn(op, token, *args)

    def _circular(self, node: Expr) -> int:
        c, s = self._point(node.a)
        if node.op == "tan":
            return s * self.inverse(c) % self.p
        return c if node.op == "cos" else s

    def _point(self, angle: Expr) -> Point:
        if angle not in self._points:
            total: Point = (1, 0)
            for atom, factor in self._angles[angle].items():
                parts = self._parts[atom]
                point = self._part(atom, parts)
                total = self._turned(total, self._multiple(point, int(factor * parts)))
            self._points[angle] = total
        return self._points[angle]

    def _turned(self, a: Point, b: Point) -> Point:
        return (a[0] * b[0] - a[1] * b[1]) % self.p, (a[0] * b[1] + a[1] * b[0]) % self.p

    def _multiple(self, point: Point, n: int) -> Point:
        if n < 0:
            point, n = (point[0], -point[1] % self.p), -n
        total: Point = (1, 0)
        while n:
            if n & 1:
                total = self._turned(total, point)
            point, n = self._turned(point, point), n >> 1
        return total

    def _part(self, atom: Expr, parts: int) -> Point:
        """The point of the angle atom / parts."""
        if atom.op == "const" and type(atom.a) is Pi:
            order, unit = _unit_point(self.p)
            if order % (2 * parts):
                _no_residue(f"π/{parts} is no point of the circle modulo {self.p}")
            return self._multiple(unit, order // (2 * parts))
        if atom.op in _INVERSES and parts == 1:
            return _INVERSES[atom.op](self, *[self._number[arg] for arg in atom.args])
        # x and -x are mirrored points, whichever way they are written
        value = 1 if atom is ONE else self._number[atom]
        half = min(value, self.p - value)
        c, s = self.circle(self.drawn("angle", parts, half))
        return (c, s) if half == value else (c, -s % self.p)

    def circle(self, t: int) -> Point:
        """A point of the circle from its parameter t = tan(θ/2); 1 + t² is never 0."""
        scale = self.inverse(1 + t * t)
        return (1 - t * t) * scale % self.p, 2 * t * scale % self.p

    def _stumpff(self, k: int, s: int) -> int:
        """c_0² + s c_1² = 1 and c_k = 1/k! − s c_{k+2}."""
        t = self.drawn("stumpff", s)
        scale = self.inverse(1 + s * t * t)
        value = 2 * t * scale if k % 2 else (1 - s * t * t) * scale
        for j in range(k % 2, k, 2):
            value = (self.inverse(math.factorial(j)) - value) * self.inverse(s)
        return value % self.p


@lru_cache(maxsize=16)
def _unit_point(p: int) -> tuple[int, Point]:
    """The largest usable order n, and the point of angle 2π/n that fits the roots taken.

    Of the conjugate points of order n one is wanted for which cos(π/4) = ½ √2 and so on.
    """
    domain = Residues(p)
    order = math.gcd(p + 1, 720720)
    for trial in range(1000):
        point = domain._multiple(domain.circle(domain.drawn("unit", trial)), (p + 1) // order)
        if all(domain._multiple(point, order // q) != (1, 0) for q in _FACTORS if order % q == 0):
            break
    conjugates = (k for k in range(1, order) if math.gcd(k, order) == 1)
    for k in conjugates:
        turned = domain._multiple(point, k)
        if _fits(domain, turned, order):
            return order, turned
    _no_residue(f"no multiple of π is a point of the circle modulo {p}")


_FACTORS = (2, 3, 5, 7, 11, 13)
"""Primes that an order of points may have."""


def _fits(domain: Residues, point: Point, order: int) -> bool:
    p = domain.p
    if order % 4 == 0 and domain._multiple(point, order // 4) != (0, 1):
        return False
    for part, square, offset, scale in ((8, 2, 0, 2), (12, 3, 0, 2), (10, 5, 1, 4)):
        if order % part == 0 and domain.is_positive(square):
            cosine = (offset + domain.root(square)) * domain.inverse(scale) % p
            if domain._multiple(point, order // part)[0] != cosine:
                return False
    return all(_fits_sum(domain, point, order, n) for n in (7, 11, 13) if order % n == 0)


def _fits_sum(domain: Residues, point: Point, order: int, n: int) -> bool:
    """Gauss' sum Σ exp(2πi k²/n) over all k is √n for n = 1 modulo 4, i √n for n = 3 modulo 4."""
    if not domain.is_positive(n):
        return True
    parts = [domain._multiple(point, order // n * (k * k % n)) for k in range(n)]
    total = sum(x[0] if n % 4 == 1 else x[1] for x in parts)
    return (total - domain.root(n)) % domain.p == 0


# Tables -----------------------------------------------------------------------------------------


def _power(domain: Residues, x: int, n: int) -> int:
    # whole exponents up to 10⁶ of either sign, and halves of them
    p = domain.p
    for denominator in (1, 2):
        whole = n * denominator % p
        whole = whole - p if whole > p // 2 else whole
        if abs(whole) <= 1_000_000:
            base = x if denominator == 1 else domain.root(x)
            return pow(base if whole >= 0 else domain.inverse(base), abs(whole), p)
    return domain.drawn("pow", x, n)


def _absolute(domain: Residues, x: int) -> int:
    return x if domain.is_positive(x) or x == 0 else -x % domain.p


def _extreme(turn: int) -> Callable[[Residues, int, int], int]:
    def value(domain: Residues, x: int, y: int) -> int:
        total = x + y + turn * _absolute(domain, (x - y) % domain.p)
        return total * domain.inverse(2) % domain.p

    return value


_ARITHMETIC: dict[str, Callable[..., int]] = {
    "add": lambda d, x, y: (x + y) % d.p,
    "sub": lambda d, x, y: (x - y) % d.p,
    "mul": lambda d, x, y: x * y % d.p,
    "div": lambda d, x, y: x * d.inverse(y) % d.p,
    "neg": lambda d, x: -x % d.p,
    "pow": _power,
    "sqrt": lambda d, x: d.root(x),
    "abs": _absolute,
    "sign": lambda d, x: 0 if x == 0 else (1 if d.is_positive(x) else d.p - 1),
    "min": _extreme(-1),
    "max": _extreme(1),
    "select": lambda d, c, x, y: x if d.is_positive(c) else y,
}


def _scaled(domain: Residues, x: int, y: int) -> Point:
    scale = domain.inverse(domain.root((x * x + y * y) % domain.p))
    return x * scale % domain.p, y * scale % domain.p


_INVERSES: dict[str, Callable[..., Point]] = {
    "asin": lambda d, x: (d.root((1 - x * x) % d.p), x),
    "acos": lambda d, x: (x, d.root((1 - x * x) % d.p)),
    "atan": lambda d, x: _scaled(d, 1, x),
    "atan2": lambda d, y, x: _scaled(d, x, y),
}


def angles_of(order: list[Expr]) -> dict[Expr, Angle]:
    """The argument of every sin, cos and tan as Σ factor · atom, with rational factors."""
    angles = {node.a for node in order if node.op in ("sin", "cos", "tan")}
    for node in reversed(order):
        if node in angles and node.op in ("add", "sub", "neg", "mul"):
            angles.update(node.args)
    split: dict[Expr, Angle] = {}
    for node in order:
        if node in angles:
            split[node] = _split(node, split)
    return split


def _split(node: Expr, split: Mapping[Expr, Angle]) -> Angle:
    if node.op == "const" and type(node.a) is not Pi:
        return {ONE: Fraction(node.a)}
    if node.op == "mul" and node.a.op == "const" and type(node.a.a) is not Pi:
        factor = Fraction(node.a.a)
        return {atom: factor * value for atom, value in split[node.b].items()}
    if node.op == "neg":
        return {atom: -value for atom, value in split[node.a].items()}
    if node.op not in ("add", "sub"):
        return {node: Fraction(1)}
    total = dict(split[node.a])
    turn = 1 if node.op == "add" else -1
    for atom, value in split[node.b].items():
        total[atom] = total.get(atom, Fraction(0)) + turn * value
    return {atom: value for atom, value in total.items() if value}


def keeps_laws(formulas: Sequence[Expr], *, series: bool = False) -> bool:
    """Whether a residue other than zero proves that a formula is no zero, signs of roots apart.

    It does for arithmetic, square roots, sines of sums of angles that are independent of each other
    (Lindemann and Weierstraß for numbers, Ax for functions), and so for exp; log, other powers,
    inverse functions by themselves and choices are drawn, and may be equal where their residues
    differ: log(x y) and log x + log y.

    Args:
        formulas: whose residues are looked at.
        series: arc tangents of unknowns are power series, and not drawn.
    """
    order = topological(list(formulas))
    angles = angles_of(order)
    inner = {atom for angle in angles.values() for atom in angle}
    for angle in angles.values():
        if any(x.op in _INVERSES and f.denominator > 1 for x, f in angle.items()):
            return False
    outside = [a for node in order if node not in angles for a in node.args
               if node.op not in Residues.individual]  # fmt: skip
    drawn = [x for x in (*formulas, *outside) if x.op in _INVERSES]
    if any(not series or not any(y.op == "symbol" for y in topological([x])) for x in drawn):
        return False
    if not all(_is_lawful(node) for node in order):
        return False
    others = [x for x in inner if x.op != "symbol" and x.op not in _INVERSES and not _is_unit(x)]
    grown = list(dict.fromkeys(node.a for node in order if node.op == "exp"))
    return (not others or _are_independent([*inner])) and (
        len(grown) < 2 or _are_independent(grown)
    )


def _is_unit(x: Expr) -> bool:
    return x is ONE or (x.op == "const" and type(x.a) is Pi)


def _is_lawful(node: Expr) -> bool:
    if node.op == "pow":
        exponent = node.b.a if node.b.op == "const" and type(node.b.a) is not Pi else None
        return exponent is not None and Fraction(exponent).denominator <= 2
    return node.op in _LAWFUL


def _are_independent(atoms: Sequence[Expr]) -> bool:
    """No sum of angles with rational factors is constant: seen at random points modulo a prime."""
    moving = list(dict.fromkeys(x for x in atoms if x.op not in _INVERSES and not _is_unit(x)))
    rows = []
    for seed in range(len(moving) + 1):
        try:
            numbers = Ordered(moving).numbers({}, Residues(DEFAULT_PRIME, 500 + seed))
        except DerivationError:
            return False
        rows.append([1, *numbers])
    return rank(rows, DEFAULT_PRIME) == len(moving) + 1


_LAWFUL = frozenset({"const", "symbol", "add", "sub", "mul", "div", "neg", "sqrt", "sin", "cos",
                     "tan", "asin", "acos", "atan", "atan2", "exp"})  # fmt: skip


def residues(p: int = DEFAULT_PRIME, seed: int = 0) -> Domain:
    """The domain of integers modulo a prime p = 3 (mod 4); the seed fixes the random choices.

    Values may be given for symbols, and for nodes such as sin(x) and cos(x) too.
    """
    return Residues(p, seed)


# Unknown functions ----------------------------------------------------------------------------


class _Wrapped(Domain):
    """Residues, some operations of which are others."""

    individual = Residues.individual

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @property
    def residues(self) -> Residues:
        """Modulo which prime, and what is drawn."""
        inner: Any = self.inner
        own: Residues = inner if isinstance(inner, Residues) else inner.residues
        return own

    def start(self, order: list[Expr], number: Mapping[Expr, Any]) -> Domain:
        """For one evaluation."""
        return type(self)(self.inner.start(order, number))

    def constant(self, value: Any) -> Any:
        """As residues have it."""
        return self.inner.constant(value)

    def from_value(self, value: Any) -> Any:
        """As residues have it."""
        return self.inner.from_value(value)

    def missing(self, node: Expr, symbols: list[str]) -> Any:
        """Drawn from the name."""
        return self.inner.missing(node, symbols)


@final
class LooseRoots(_Wrapped):
    """Residues where a square root that does not exist is a residue drawn from its argument."""

    def operation(self, node: Expr) -> Callable[..., Any]:
        """Roots drawn where there are none."""
        plain: Callable[..., Any] = self.inner.operation(node)
        if node.op != "sqrt":
            return plain
        residues = self.residues

        def root(x: int) -> int:
            square = pow(x, (residues.p + 1) // 4, residues.p)
            exists = square * square % residues.p == x % residues.p
            return square if exists else residues.drawn("sqrt", x)

        return root


@final
class UnknownChoices(_Wrapped):
    """Residues where |x|, sign x and conditions are residues drawn from their arguments."""

    def operation(self, node: Expr) -> Callable[..., Any]:
        """Choices drawn, all else as it is."""
        if node.op in _UNKNOWN:
            function, residues = _UNKNOWN[node.op], self.residues
            return lambda *args: function(residues, *args)
        plain: Callable[..., Any] = self.inner.operation(node)
        return plain


def _unknown_even(d: Residues, x: int) -> int:
    return d.drawn("abs", min(x, -x % d.p))


def _unknown_odd(d: Residues, x: int) -> int:
    half = min(x, -x % d.p)
    value = d.drawn("sign", half) if x else 0
    return value if half == x else -value % d.p


def _unknown_choice(d: Residues, condition: int, x: int, y: int) -> int:
    return (y + d.drawn("select", condition) * (x - y)) % d.p


def _unknown_extreme(turn: int) -> Callable[[Residues, int, int], int]:
    def value(d: Residues, x: int, y: int) -> int:
        return (x + y + turn * _unknown_even(d, (x - y) % d.p)) * d.inverse(2) % d.p

    return value


_UNKNOWN: dict[str, Callable[..., int]] = {
    "abs": _unknown_even,
    "sign": _unknown_odd,
    "select": _unknown_choice,
    "min": _unknown_extreme(-1),
    "max": _unknown_extreme(1),
}
