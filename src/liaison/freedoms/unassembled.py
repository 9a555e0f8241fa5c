"""Rings of hinges from Denavit–Hartenberg data alone: a position modulo p, or that there is none.

    Π R_z(θ_i) T_z(d_i) T_x(a_i) R_x(α_i) = 1                              (mobility-6)

Some joint values τ = tan(θ/2) are fixed at random, from many to none; a standard basis of the
others is solved for its points modulo p; the ring is taken there and examined like any other. A
ring of four is solved over the rationals by FLINT's plain algorithm, a larger one modulo primes by
msolve. Past the limits, or without msolve, the answer is "not computed", with the reason.

Modulo a prime each hinge is read off from a drawn direction, so that half turns are nothing
special; points with some 1 + τ² = 0, which are no rotations, are taken away by z Π (1 + τ²) = 1.

Public names: Link, RingVerdict, ring_mobility, Slice, slice_of, points_modulo.

Source: CLO15 §3.1 (elimination); docs/theory/mobility.md (mobility-6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any, TypeAlias, final

from liaison.errors import ArgumentError
from liaison.exact.balls import ball_of, precision
from liaison.exact.linear import is_prime, primes_from
from liaison.exact.rigid import Motion3
from liaison.expr import Expr, as_expr, constant, symbol
from liaison.freedoms.engines.engines import EngineError, NotThere
from liaison.freedoms.engines.ideal import Basis, Limits, dimension_by, groebner
from liaison.freedoms.engines.msolve import basis_modulo
from liaison.freedoms.engines.quotient import Residues, leading, points_of
from liaison.freedoms.global_.six_hinges import PRECISION, hinge_positions
from liaison.freedoms.local.verdict import Verdict, verdict

from .clock import Exhausted
from .screws import Factor, LoopSystem

Dual: TypeAlias = list[int]


@final
@dataclass(frozen=True, slots=True)
class Slice:
    """What is left of a ring where some joint values are fixed, modulo p."""

    p: int
    dimension: int  # −1: nothing; 0: points; 1: more
    points: tuple[tuple[int, ...], ...]  # all joint values τ, over F_p


def small_prime(draw: Random) -> int:
    """A prime of 31 bits, 3 modulo 4."""
    while True:
        p = 4 * draw.randrange(2**28, 2**29 - 1) + 3
        if is_prime(p):
            return p


def slice_of(behind: Sequence[Any], fixed: int, seed: int) -> Slice:
    """The ring with its first joint values drawn, modulo a drawn prime.

    Args:
        behind: for a prime, the dual quaternion from each hinge to the next.
        fixed: how many joint values are drawn.
        seed: of prime, values and directions.

    Raises:
        NotThere: msolve is not there.
        Exhausted: out of time or memory.
    """
    draw = Random(seed)
    p = small_prime(draw)
    links = [link(p) for link in behind]
    starts = [draw.randrange(1, p) for _ in links]
    values = [draw.randrange(1, p) for _ in range(fixed)]
    count = len(links) - fixed
    equations = _closure_of_slice(links, starts, values, p)
    basis = basis_modulo([f for f in equations if f], count + 1, p)
    dimension = min(1, dimension_by([leading(f) for f in basis], count + 1))
    slice_points = points_of(basis, count + 1, p, seed) if dimension == 0 else []
    points = []
    for point in slice_points:
        taus = [_turned(x, s, p) for x, s in zip([*values, *point[:count]], starts, strict=True)]
        if all(tau is not None for tau in taus):
            points.append(tuple(int(tau) for tau in taus if tau is not None))
    return Slice(p, dimension, tuple(points))


def _turned(x: int, start: int, p: int) -> int | None:
    """tan of the sum of two half angles; None for half a turn."""
    below = (1 - x * start) % p
    return (x + start) * pow(below, -1, p) % p if below else None


def _closure_of_slice(
    links: Sequence[Dual], starts: Sequence[int], values: Sequence[int], p: int
) -> list[Residues]:
    """Six equations, and that every hinge turns by a rotation."""
    from flint import nmod_mpoly_ctx

    count = len(links) - len(values)
    ring = nmod_mpoly_ctx.get((("x", count + 1),), modulus=p, ordering="degrevlex")
    *unknowns, z = ring.gens()
    total: list[Any] = [ring.constant(int(k == 0)) for k in range(8)]
    for link, start, x in zip(links, starts, [*values, *unknowns], strict=True):
        for tau in (start, x):
            total = multiplied(total, [1, 0, 0, tau, 0, 0, 0, 0])
        total = multiplied(total, link)
    rotations = ring.constant(1)
    for x in unknowns:
        rotations = rotations * (1 + x * x)
    closure = [*(total[k] for k in (1, 2, 3, 5, 6, 7)), z * rotations - 1]
    return [{tuple(map(int, m)): int(c) for m, c in f.to_dict().items()} for f in closure]


PRIMES = 12
"""Primes tried for a rational point of one slice."""

SMALL = 4
"""Hinges up to which standard bases over the rationals are quick."""

AGREEING, TRIALS = 2, 10
"""Primes that must agree that a slice is empty, and that are tried for a point of another."""


@final
@dataclass(frozen=True, slots=True)
class Link:
    """One link of a ring: length a and offset d [m], twist α by its cosine and sine, exact."""

    a: Any
    cosine: Any
    sine: Any
    d: Any = 0

    def behind(self, p: int) -> list[int]:
        """The dual quaternion from this hinge to the next, modulo p."""
        displacement = [1, 0, 0, 0, 0, 0, 0, 0]
        for factor in self.factors(0):
            displacement = [
                x % p for x in multiplied(displacement, [_residue(x, p) for x in factor])
            ]
        return displacement

    def factors(self, tau: Any) -> list[list[Any]]:
        """Dual quaternions of the hinge, the offset, the length and the twist."""
        t = Fraction(self.sine) / (1 + Fraction(self.cosine))
        d, a = Fraction(self.d) / 2, Fraction(self.a) / 2
        return [
            [1, 0, 0, tau, 0, 0, 0, 0],
            [1, 0, 0, 0, 0, 0, 0, d],
            [1, 0, 0, 0, 0, a, 0, 0],
            [1, t, 0, 0, 0, 0, 0, 0],
        ]


@final
@dataclass(frozen=True, slots=True)
class RingVerdict:
    """Whether the ring can be assembled, and its mobility at a position."""

    is_assembled: bool | None  # over the complex numbers; None: not computed, for the reason `why`
    verdict: Verdict | None  # at a position modulo p, where one was found
    dimension: int | None = None  # of the set of all positions, if it can be assembled
    how: str = "over the rationals"
    real: int | None = None  # positions over the reals, of a rigid ring of six
    why: str = ""  # what was not computed, and why


def ring_mobility(
    links: Sequence[Link], *, seed: int = 0, limits: Limits | None = None
) -> RingVerdict:
    """The mobility of a ring of hinges, wherever it can be assembled.

    Args:
        links: exact Denavit–Hartenberg data, in order around the ring.
        seed: of the values fixed and of the primes.
        limits: of the standard bases over the rationals, for rings of four.

    Returns:
        At a position of the largest component that a slice meets; where that is not computed,
        `is_assembled` is None and `why` says why. Bounds of `clock.bounded` hold.

    Raises:
        ArgumentError: a number of the links is not rational.
    """
    _check_rational(links)
    if len(links) > SMALL:
        try:
            answer = _by_slices(links, seed)
        except (NotThere, EngineError, Exhausted) as error:
            answer = _not_computed(f"a ring of {len(links)} hinges is solved by msolve: {error}")
        is_rigid = answer.is_assembled is None or answer.dimension == 0
        return _with_real(links, answer) if len(links) == 6 and is_rigid else answer
    return _over_the_rationals(links, seed, limits)


def _not_computed(why: str) -> RingVerdict:
    return RingVerdict(None, None, None, "not computed", why=why)


PAST_LIMITS = "a standard basis over the rationals passes the limits; give wider `limits`"


def _check_rational(links: Sequence[Link]) -> None:
    """Every number of the links is a fraction."""
    for k, link in enumerate(links):
        for name in ("cosine", "sine", "a", "d"):
            value = getattr(link, name)
            try:
                Fraction(value)
            except (TypeError, ValueError):
                raise ArgumentError(
                    f"link {k} of the ring has {name} = {value}, which is not rational.",
                    hint="Rings are computed over the rationals: give fractions, such as 3/5 and "
                    "4/5 for cosine and sine.",
                ) from None


def _by_slices(links: Sequence[Link], seed: int) -> RingVerdict:
    """Slices modulo primes, from many values fixed to none; the first that is not empty counts."""
    behind = [link.behind for link in links]
    for fixed in range(len(links) - 1, -1, -1):
        slices = [slice_of(behind, fixed, seed + 1000 * fixed + k) for k in range(AGREEING)]
        if max(s.dimension for s in slices) < 0:
            continue
        for k in range(AGREEING, TRIALS):
            if any(s.points for s in slices):
                break
            slices.append(slice_of(behind, fixed, seed + 1000 * fixed + k))
        at = next((s for s in slices if s.points), None)
        local = None if at is None else verdict(_ring(links, at.points[0], at.p))
        how = f"modulo {len(slices)} primes, {fixed} values fixed"
        why = "" if at else "no position was found modulo these primes: its rank is not computed"
        return RingVerdict(True, local, fixed, how, why=why)
    return RingVerdict(False, None, None, f"modulo {AGREEING} primes each")


def _with_real(links: Sequence[Link], answer: RingVerdict) -> RingVerdict:
    """How many positions of a rigid ring of six are real, where the elimination decides it."""
    with precision(PRECISION):
        loop = hinge_positions([_motion(link) for link in links])
    if loop is None or not loop.is_complete:
        return answer
    if answer.is_assembled is None:
        how = "by elimination in balls"
        answer = RingVerdict(bool(loop.positions), None, 0, how, why=answer.why)
    return replace(answer, real=len(loop.real))


def _motion(link: Link) -> Motion3:
    """From one hinge to the next, in balls."""
    c, s, a, d = (ball_of(Fraction(x)) for x in (link.cosine, link.sine, link.a, link.d))
    zero, one = ball_of(0), ball_of(1)
    return [[one, zero, zero], [zero, c, -s], [zero, s, c]], [a, zero, d]


def _over_the_rationals(links: Sequence[Link], seed: int, limits: Limits | None) -> RingVerdict:
    draw = Random(seed)
    for fixed in range(len(links) - 1, -1, -1):
        basis = _slice(links, [draw.randrange(2, 50) for _ in range(fixed)], limits)
        if basis is None:
            return _not_computed(PAST_LIMITS)
        if basis[0].dimension() > 0:
            return _not_computed(f"with {fixed} joint values fixed it still moves; another `seed`")
        answer = _at_a_point(links, *basis, seed) if basis[0].dimension() == 0 else None
        if answer is not None:
            return replace(answer, dimension=fixed)
        is_empty = basis[0].dimension() < 0 or _is_spurious(*basis, limits)
        if is_empty is None:
            return _not_computed(PAST_LIMITS)
        if not is_empty:
            why = f"no position was found modulo {PRIMES} primes, so that its rank is not computed"
            return RingVerdict(is_assembled=True, verdict=None, dimension=fixed, why=why)
    return RingVerdict(is_assembled=False, verdict=None)


def _is_spurious(basis: Basis, tau: list[Any], limits: Limits | None) -> bool | None:
    """All points of a slice have some 1 + τ² = 0; None where it is not computed."""
    z, rotations = symbol("saturation"), constant(1)
    for x in tau:
        rotations = as_expr(rotations * (1 + x * x))
    equations = [*basis.formulas(), as_expr(z * rotations - 1)]
    ideal = groebner(equations, [z, *basis.unknowns], limits=limits)
    return None if ideal is None else ideal.dimension() < 0


def _slice(
    links: Sequence[Link], values: Sequence[int], limits: Limits | None
) -> tuple[Basis, list[Any]] | None:
    """A basis of the closure with the first joint values fixed, and all joint values."""
    free = [symbol(f"tau{k}") for k in range(len(values), len(links))]
    tau: list[Any] = [constant(v) for v in values] + free
    basis = groebner(_closure(links, tau), free, limits=limits)
    return None if basis is None else (basis, tau)


def _closure(links: Sequence[Link], tau: Sequence[Any]) -> list[Expr]:
    total: list[Any] = [1, 0, 0, 0, 0, 0, 0, 0]
    for link, x in zip(links, tau, strict=True):
        for factor in link.factors(x):
            total = multiplied(total, factor)
    return [as_expr(total[k]) for k in (1, 2, 3, 5, 6, 7)]


def multiplied(A: Sequence[Any], B: Sequence[Any]) -> list[Any]:
    """The product of two dual quaternions, real part first, each w x y z."""
    crossed = zip(_hamilton(A[:4], B[4:]), _hamilton(A[4:], B[:4]), strict=True)
    return [*_hamilton(A[:4], B[:4]), *(a + b for a, b in crossed)]


def _hamilton(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]


def _at_a_point(
    links: Sequence[Link], basis: Basis, tau: list[Any], seed: int
) -> RingVerdict | None:
    """The verdict at a point of a slice; None where no prime tried has one."""
    for p in islice(primes_from(seed), PRIMES):
        for point in points_modulo(basis, p):
            coordinates = iter(point)
            at = [next(coordinates) if x in basis.unknowns else int(x.a) for x in tau]
            return RingVerdict(True, verdict(_ring(links, at, p)))
    return None


def points_modulo(basis: Basis, p: int) -> list[list[int]]:
    """The points over F_p of a finite variety, from its basis over the rationals."""
    reduced = [
        {tuple(map(int, m)): int(c.p) * pow(int(c.q), -1, p) % p for m, c in f.to_dict().items()}
        for f in basis.polynomials
    ]
    terms = [{m: c for m, c in f.items() if c} for f in reduced]
    return points_of(terms, len(basis.unknowns), p)


def _ring(links: Sequence[Link], tau: Sequence[int], p: int) -> LoopSystem:
    """The screws of the hinges where the ring is assembled, modulo p."""
    before = [1, 0, 0, 0, 0, 0, 0, 0]
    factors = []
    for k, (link, x) in enumerate(zip(links, tau, strict=True)):
        back = [before[0], *(-b for b in before[1:4]), before[4], *(-b for b in before[5:])]
        axis = multiplied(multiplied(before, [0, 0, 0, 1, 0, 0, 0, 0]), back)
        factors.append(Factor(k, 1, tuple(axis[i] % p for i in (1, 2, 3, 5, 6, 7))))
        for factor in link.factors(x):
            whole = [_residue(value, p) for value in factor]
            before = [value % p for value in multiplied(before, whole)]
    return LoopSystem(p, len(links), [factors])


def _residue(x: Any, p: int) -> int:
    exact = Fraction(x)
    return exact.numerator * pow(exact.denominator, -1, p) % p
