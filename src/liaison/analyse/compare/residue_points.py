"""Equations at random points modulo random primes, where every square root in them exists.

Public names: LooseRoots, formulas_of, evaluated_somewhere, all_exist, primes, TRIES, SMALLEST.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any, final

from liaison.equations import Equations
from liaison.errors import DerivationError
from liaison.exact.ordered import Ordered
from liaison.exact.residues import Residues
from liaison.exact.rings import primes_from
from liaison.expr import Domain, Expr, evaluate, symbols_of

from .points import random_point

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
