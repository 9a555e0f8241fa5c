"""Points modulo a prime: positions with unit quaternions and true rotations, any speeds.

Angles need nothing: their sines and cosines are points of the circle c² + s² = 1 (expr.residues).
Quaternions and rotation matrices are drawn from four residues by the rational map of the sphere,
so that every coordinate is a rational function of what is drawn.

Equations at random points modulo random primes, where every square root in them exists.

Public names: random_point, LooseRoots, formulas_of, evaluated_somewhere, all_exist, primes, TRIES,
SMALLEST.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any, final

from liaison.equations import Equations
from liaison.errors import DerivationError
from liaison.exact.linear import primes_from
from liaison.exact.residues import Ordered, Residues
from liaison.expr import Domain, Expr, evaluate, symbols_of


def random_point(equations: Equations, domain: Residues) -> dict[Expr, int]:
    """A residue for every position, speed, acceleration, input, parameter and time."""
    symbols = equations.symbols
    named = (symbols.t, *symbols.q, *symbols.v, *symbols.vdot, *symbols.u, *symbols.p)
    values = {x: domain.drawn("point", x.name) for x in named}
    for chart in equations.kinematics.charts:
        if chart.kind != "plain":
            q = symbols.q[chart.q]
            count = 4 if "matrix" not in chart.kind else 9
            attitude = q[len(q) - count :]
            drawn = [domain.drawn("attitude", x.name) for x in attitude[:4]]
            quaternion_or_matrix = (
                _unit(drawn, domain) if count == 4 else _rotation(drawn, domain.p)
            )
            values |= dict(zip(attitude, quaternion_or_matrix, strict=True))
    return values


def _unit(drawn: Sequence[int], domain: Residues) -> list[int]:
    """A unit quaternion: the sphere from its pole, (1 − t², 2 t)/(1 + t²)."""
    t = [x % domain.p for x in drawn[:3]]
    square = sum(x * x for x in t) % domain.p
    scale = domain.inverse(1 + square)
    return [(1 - square) * scale % domain.p, *(2 * x * scale % domain.p for x in t)]


def _rotation(drawn: Sequence[int], p: int) -> list[int]:
    """The nine entries of a rotation, from four residues that need not be of unit length."""
    w, x, y, z = drawn
    scale = pow(w * w + x * x + y * y + z * z, -1, p)
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return [entry * scale % p for row in rows for entry in row]


TRIES = 24
"""Points tried for one prime until every square root in the formulas exists."""

SMALLEST = 2**60
"""Below every prime that is used."""


@final
class LooseRoots(Domain):
    """Residues where a square root that does not exist is a residue drawn from its argument.

    Equality found so is equality of formulas with √ an unknown function, which implies the other.
    """

    individual = Residues.individual

    def __init__(self, inner: Residues) -> None:
        self.inner = inner

    def start(self, order: list[Expr], number: Mapping[Expr, Any]) -> Domain:
        """For one evaluation."""
        return LooseRoots(self.inner.start(order, number))

    def constant(self, value: Any) -> Any:
        """As residues have it."""
        return self.inner.constant(value)

    def from_value(self, value: Any) -> Any:
        """As residues have it."""
        return self.inner.from_value(value)

    def missing(self, node: Expr, known: list[str]) -> Any:
        """Drawn from the name."""
        return self.inner.missing(node, known)

    def operation(self, node: Expr) -> Callable[..., Any]:
        """Roots drawn where there are none."""
        plain = self.inner.operation(node)
        if node.op != "sqrt":
            return plain

        def root(x: int) -> int:
            square = pow(x, (self.inner.p + 1) // 4, self.inner.p)
            exists = square * square % self.inner.p == x % self.inner.p
            return square if exists else self.inner.drawn("sqrt", x)

        return root


def formulas_of(equations: Equations) -> list[Expr]:
    """M, τ − h, G, γ and ν, in this order."""
    dynamics, closures = equations.dynamics, equations.closures
    return [
        *(dynamics.M[key] for key in dynamics.M),
        *dynamics.f,
        *closures.G.values(),
        *closures.gamma,
        *closures.nu,
    ]


def evaluated_somewhere(
    equations: Equations, formulas: list[Expr], seed: int
) -> Iterator[tuple[list[int], dict[Expr, int], int, bool]]:
    """The formulas at a random point for each of many primes, where all their roots exist.

    Where no such point is found soon, roots that do not exist are drawn; the last of what is
    yielded says whether none was: a difference that is found with drawn roots may not be one.
    """
    ordered = Ordered(formulas)
    roots = [node.a for node in ordered.order if node.op == "sqrt"]
    firm = [x for x in roots if not symbols_of([x])]
    for p in primes(seed, firm):
        for attempt in range(TRIES):
            domain = Residues(p, seed * TRIES + attempt)
            at = random_point(equations, domain)
            last = attempt == TRIES - 1
            try:
                if last or all_exist(roots, at, domain):
                    used = LooseRoots(domain) if last else domain
                    yield [int(x) for x in ordered.numbers(at, used)], at, p, not last
                    break
            except DerivationError:
                continue


def all_exist(roots: Sequence[Expr], at: Mapping[Expr, int], domain: Residues) -> bool:
    """Whether the arguments of all roots are squares at a point, before all else is evaluated."""
    try:
        arguments = evaluate(list(roots), at, domain) if roots else []
    except DerivationError:
        return False
    return all(x == 0 or domain.is_positive(x) for x in arguments)


def primes(seed: int, firm: Sequence[Expr]) -> Iterator[int]:
    """Primes modulo which these constants are squares; any, where that takes too long."""
    squares = [Fraction(x.a) for x in firm if x.op == "const" and isinstance(x.a, int | Fraction)]
    wanted = tuple(sorted({abs(x.numerator * x.denominator) for x in squares} - {0, 1}))
    wanted = wanted if len(wanted) <= MANY else ()
    for k in range(PRIMES):
        p = _prime(seed, wanted, k)
        if k > PRIMES // 2 or all_exist(firm, {}, Residues(p)):
            yield p


MANY = 14
"""Beyond so many independent roots no prime is waited for."""

PRIMES = 200


@lru_cache(maxsize=512)
def _prime(seed: int, squares: tuple[int, ...], k: int) -> int:
    return next(islice(primes_from(seed + 1009 * k, squares), 1))
