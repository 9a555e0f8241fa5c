"""The dimension of the real solution set near a position, from the complex one and from signs.

The complex dimension bounds the real one from above. Below it, on the equations that count:

- loops and relations that share no joint are independent: dimensions add up;
- a smooth germ (every first-order motion goes on) has its dimension over the reals, too;
- a loop that is isolated by itself holds its joints: they are left out, the rest is examined anew;
- one equation h beyond the pivots that takes both signs in every neighbourhood leaves one
  dimension less than W; one that has no other real zero near leaves none;
- several: lowest forms without common real zero leave none; a real direction in which they vanish
  and are independent leaves d − e;
- a rational direction in which some are independent, where the others are proved to vanish along
  the branch (curves.py), leaves the complex dimension.

What none of these decides is a pair of bounds.

Public names: Real, RealExamination, is_regular_zero.

Source: docs/theory/mobility.md (the real numbers); BCR98 theorem 4.5.1 (sign-changing criterion);
NEU90 §5.1 (Krawczyk's operator: K(X) inside X proves one zero in X).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import DerivationError
from liaison.exact.signs import (
    Terms,
    definite_combination,
    form_at,
    germ_sign,
    initial_form,
    no_common_zero,
)
from liaison.freedoms.clock import Exhausted
from liaison.freedoms.screws import LoopSystem

from .curves import rational_branch, value_and_slopes
from .rational import Leftover, RationalGerm, restricted, sign_in_balls
from .verdict import is_folding_smooth

Floats = NDArray[np.float64]

DEGREES = {1: (6, 12, 24), 2: (4, 8, 12, 24), 3: (3, 6), 4: (3, 4), 5: (3, 4), 6: (3,)}
"""Degrees to which h is computed, one after the other, by the dimension of W."""

RADIUS = 1e-9
"""Half the width of the box in which a zero of forms is certified."""


@final
@dataclass(frozen=True, slots=True)
class Real:
    """Bounds of the real dimension, whether both are proved, and how."""

    low: int
    high: int
    is_proved: bool
    reason: str
    branches: int = 0  # at least so many real branches meet; 0: not counted

    @property
    def is_isolated(self) -> bool:
        """No real motion leaves the position, and that is proved."""
        return self.high == 0 and self.is_proved


class Complex(Protocol):
    """The complex dimension of a system: bounds, status, and whether the lower one is proved."""

    @property
    def finite(self) -> tuple[int, int]:
        """Bounds."""

    @property
    def status(self) -> str:
        """How first-order motions go on."""

    @property
    def is_proved(self) -> bool:
        """Both bounds are."""


Examine: TypeAlias = Callable[[list[LoopSystem]], Complex]


@final
@dataclass(frozen=True, slots=True)
class _Part:
    """Unknowns with the loops, linear relations and formulas that hold them."""

    columns: tuple[int, ...]
    loops: tuple[int, ...]
    rows: tuple[int, ...]
    curved: tuple[int, ...]


SMOOTH = "the closure is smooth here, so real and complex dimension agree"
ISOLATED = "isolated over the complex numbers already"
FOLDING = "sides that fold without turning form a smooth real set of this dimension"
INDEFINITE = (
    "one equation beyond the pivots changes its sign (an indefinite second-order form, in balls)"
)
DEFINITE = (
    "isolated: one equation beyond the pivots has one sign (a definite second-order form, in balls)"
)
IRRATIONAL = "signs are not decided: some numbers of the position are not rational"


@final
class RealExamination:
    """A system over Q and modulo primes, examined over the real numbers."""

    def __init__(
        self,
        exact: LoopSystem | None,
        modular: Sequence[LoopSystem],
        examine: Examine,
        balls: LoopSystem | None = None,
    ) -> None:
        self.exact, self.modular, self.examine = exact, list(modular), examine
        self.balls = balls  # where no rational system is known

    def real(self, whole: Complex) -> Real:
        """The real dimension of the whole system, whose complex one is known."""
        if whole.finite[1] == 0 or whole.status == "regular":
            return self._smooth(whole)
        system = self.modular[0]
        everything = _Part(
            tuple(range(system.n)), tuple(range(len(system.loops))),
            tuple(range(len(system.relations))), tuple(range(len(system.curved or ()))),
        )  # fmt: skip
        parts = self._blocks(everything)
        try:
            if len(parts) == 1 and len(parts[0].columns) == system.n:
                return self._part(parts[0], whole)
            return self._sum(parts, len(everything.columns))
        except Exhausted as error:
            return Real(0, whole.finite[1], False, f"given up: {error.message.rstrip('.')}")

    def _smooth(self, verdict: Complex) -> Real:
        low, high = verdict.finite
        if high == 0:
            return Real(0, 0, True, ISOLATED)
        return Real(low, high, verdict.is_proved, SMOOTH)

    def _sum(self, parts: Sequence[_Part], unknowns: int) -> Real:
        """Of independent parts, and of the joints that stand in no equation."""
        free = unknowns - sum(len(part.columns) for part in parts)
        results = [self._part(part) for part in parts]
        reasons = list(dict.fromkeys(r.reason for r in results))
        if free:
            reasons.append(f"{free} joint motions stand in no equation")
        text = "; ".join(reasons)
        if len(parts) > 1:
            text = f"{len(parts)} independent sets of equations: {text}"
        low, high = (sum(getattr(r, end) for r in results) + free for end in ("low", "high"))
        branches = max((r.branches for r in results), default=0)
        return Real(low, high, all(r.is_proved for r in results), text, branches)

    def _blocks(self, part: _Part) -> list[_Part]:
        """Sets of equations that share no unknown."""
        groups: list[tuple[set[int], list[tuple[str, int]]]] = []
        for name, k, columns in self._equations(part):
            touching = [g for g in groups if g[0] & columns]
            joined = (set(columns).union(*(g[0] for g in touching)),
                      [x for g in touching for x in g[1]] + [(name, k)])  # fmt: skip
            groups = [g for g in groups if g not in touching] + ([joined] if columns else [])
        return [
            _Part(tuple(sorted(columns)), *(tuple(sorted(k for name, k in members if name == kind))
                                            for kind in ("loop", "row", "curved")))
            for columns, members in groups
        ]  # fmt: skip

    def _equations(self, part: _Part) -> list[tuple[str, int, set[int]]]:
        system, columns = self.modular[0], set(part.columns)
        equations = [("loop", i, {f.column for f in system.loops[i]} & columns) for i in part.loops]
        equations += [
            ("row", i, {k for k, _, _ in system.relations[i]} & columns) for i in part.rows
        ]
        slopes = getattr(system.curved, "slopes", {})
        equations += [
            ("curved", i, {k for j, k in slopes if j == i} & columns) for i in part.curved
        ]
        return equations

    def _restricted(self, system: LoopSystem, part: _Part) -> LoopSystem:
        return restricted(system, part.columns, part.loops, part.rows, part.curved)

    def _part(self, part: _Part, verdict: Complex | None = None) -> Real:
        if verdict is None:
            verdict = self.examine([self._restricted(system, part) for system in self.modular])
        high = verdict.finite[1]
        if high == 0 or verdict.status == "regular":
            return self._smooth(verdict)
        if verdict.status == "non-reduced" and self._folds(part, high):
            return Real(high, high, True, FOLDING)
        if self.exact is None:
            return self._in_balls(part, high)
        if self.exact.is_first_order:
            return Real(0, high, False, "some relations are known to first order only")
        frozen = self._frozen(part)
        if frozen is not None:
            return frozen
        exact = self._restricted(self.exact, part)
        try:
            germ = RationalGerm(exact)
            answer = _decided(germ, high)
        except DerivationError:
            return Real(0, high, False, IRRATIONAL)
        words = None if answer.is_proved else self._along(exact, germ, high)
        return answer if words is None else Real(high, high, True, words)

    def _in_balls(self, part: _Part, high: int) -> Real:
        """Where numbers are not rational: the sign of one second-order form."""
        if self.balls is not None:
            modular = self._restricted(self.modular[0], part)
            sign, d = sign_in_balls(self._restricted(self.balls, part), modular)
            if sign == "both":
                return Real(d - 1, d - 1, True, INDEFINITE)
            if sign == "definite":
                return Real(0, 0, True, DEFINITE)
        return Real(0, high, False, IRRATIONAL)

    def _along(self, exact: LoopSystem, germ: RationalGerm, high: int) -> str | None:
        """How a real branch along a rational direction is proved; None where none is."""
        if germ.dimension > max(DEGREES):
            return None
        forms = [initial_form(f) for f in _independent(germ.leftover(3))]
        lowest = min((sum(next(iter(form))) for form in forms), default=0)
        forms = [form for form in forms if sum(next(iter(form))) == lowest]
        return rational_branch(exact, forms, high, self.modular[0].p) if forms else None

    def _folds(self, part: _Part, high: int) -> bool:
        """Sides that fold without turning form a smooth set of the complex dimension."""
        return all(is_folding_smooth(self._restricted(system, part), high)
                   for system in self.modular[:2])  # fmt: skip

    def _frozen(self, part: _Part) -> Real | None:
        """What is left where a loop by itself is isolated; None if none of several is."""
        if len(part.loops) + len(part.rows) + len(part.curved) < 2:
            return None
        for i in part.loops:
            columns = tuple(sorted({f.column for f in self.modular[0].loops[i]}))
            columns = tuple(k for k in columns if k in set(part.columns))
            alone = _Part(columns, (i,), (), ())
            if len(columns) == len(part.columns) or not self._part(alone).is_isolated:
                continue
            left = tuple(k for k in part.columns if k not in set(columns))
            others = tuple(j for j in part.loops if j != i)
            rest = _Part(left, others, part.rows, part.curved)
            result = self._sum(self._blocks(rest), len(left))
            text = "a loop is isolated by itself and holds its joints; the others"
            return replace(result, reason=f"{text}: {result.reason}")
        return None


def _decided(germ: RationalGerm, high: int) -> Real:
    """By signs of the leftover equations over Q."""
    d = germ.dimension
    if germ.excess == 0:
        return Real(d, d, True, SMOOTH)
    degrees = DEGREES.get(d, ())
    answer = Real(0, high, False, f"signs are not computed in {d} unknowns")
    for degree in degrees:
        h = germ.leftover(degree)
        answer = _one(h, d, high) if germ.excess == 1 else _several(h, d, high)
        if answer.is_proved:
            return answer
    return answer


def _one(h: Leftover, d: int, high: int) -> Real:
    """One equation h beyond the pivots, which all others follow from (counted by groups).

    A semianalytic set of codimension two or more does not separate a ball: where h takes both signs
    in every neighbourhood its zeros have dimension d − 1. A definite h has the zero 0 alone.
    """
    sign = germ_sign(h.ring, h.series[0])
    if sign.word == "both":
        text = f"one equation beyond the pivots changes its sign ({sign.reason})"
        return Real(d - 1, d - 1, True, text, sign.tangents)
    if sign.word == "definite":
        text = f"isolated: one equation beyond the pivots has one sign ({sign.reason})"
        return Real(0, 0, True, text)
    if sign.word == "squares" and sign.rank:
        text = f"one equation beyond the pivots is {sign.reason}; no bound proves more"
        return Real(d - sign.rank, d - sign.rank, False, text)
    return Real(0, high, False, f"a real motion is not shown ({sign.reason})")


def _several(h: Leftover, d: int, high: int) -> Real:
    """Several equations beyond the pivots.

    Elements of the ideal whose lowest forms have no common real zero leave 0 isolated (curve
    selection). At a common zero u₀ of all e lowest forms with independent derivatives the equations
    h(s u)/s^k cut out a manifold of dimension d − e across s = 0: real motions of that dimension.
    """
    reduced = _independent(h)
    forms = [initial_form(f) for f in reduced]
    if forms and (definite_combination(forms, d) or (d <= 4 and no_common_zero(forms, d))):
        return Real(0, 0, True, "isolated: lowest forms without common real zero")
    if not forms:
        text = f"the other equations vanish to degree {h.ring.degree}; no bound proves it"
        return Real(d, d, False, text) if high == d else Real(0, high, False, text)
    c = d - high
    counted = len(forms) == c == len(h.series)
    if _direction(forms, d, c, is_certain=counted):
        text = f"a real direction in which the {len(forms)} lowest forms vanish"
        if counted:
            return Real(high, high, True, f"{text} and are independent (Krawczyk)")
        return Real(high, high, False, f"{text}; {len(h.series)} equations cut out {c} dimensions")
    return Real(0, high, False, "a real motion is not shown")


def _independent(h: Leftover) -> list[Any]:
    """Combinations of the leftover series with independent lowest forms."""
    order = sorted({tuple(map(int, e)) for f in h.series for e in f.to_dict()},
                   key=lambda e: (sum(e), e))  # fmt: skip
    rows = [f for f in h.series if f != 0]
    reduced: list[Any] = []
    for monomial in order:
        pivot = next((f for f in rows if f.to_dict().get(monomial)), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        c = pivot.to_dict()[monomial]
        rows = [f - pivot * (f.to_dict().get(monomial, 0 * c) / c) for f in rows]
        rows = [f for f in rows if f != 0]
        reduced.append(pivot)
    return reduced


def _direction(forms: Sequence[Terms], d: int, c: int, *, is_certain: bool) -> bool:
    """A real direction where the forms vanish and c of their derivatives are independent."""
    draw = np.random.default_rng(d)
    for _ in range(40):
        u = draw.normal(size=d)
        if is_regular_zero(forms, u / np.linalg.norm(u), c, is_certain=is_certain):
            return True
    return False


# Real zeros of forms ------------------------------------------------------------------------------


def is_regular_zero(forms: Sequence[Terms], u: Floats, c: int, *, is_certain: bool) -> bool:
    """From u Newton's steps lead to a zero at which c derivatives are independent.

    Args:
        forms: that vanish.
        u: where to begin, of length one.
        c: the rank of the derivatives that is asked for.
        is_certain: as many forms as that rank, and the zero is certified.
    """
    table = [[(np.array(e), float(v)) for e, v in ((e, float(x.p) / float(x.q))
              for e, x in form.items())] for form in forms]  # fmt: skip
    for _ in range(60):
        value, J = value_and_slopes(table, u)
        u = u - np.linalg.pinv(J, rcond=1e-8) @ value
        size = float(np.linalg.norm(u))
        if not 1e-3 < size < 1e3:
            return False
        u = u / size
    value, J = value_and_slopes(table, u)
    sizes = np.linalg.svd(J, compute_uv=False)
    if np.max(np.abs(value)) > 1e-12 * (1 + np.max(np.abs(J))) or len(sizes) < c:
        return False
    if int(np.sum(sizes > 1e-6 * max(1.0, sizes[0]))) != c:
        return False
    return _certified(forms, u, J) if is_certain else True


def _certified(forms: Sequence[Terms], u: Floats, J: Floats) -> bool:
    """Krawczyk's operator on as many entries of u as there are forms, the others held."""
    from flint import arb

    chosen: list[int] = []
    work = J.copy()
    for i in range(len(forms)):
        j = int(np.argmax(np.abs(work[i])))
        if abs(work[i, j]) < 1e-9:
            return False
        chosen.append(j)
        work = work - np.outer(work[:, j] / work[i, j], work[i])
    C = np.linalg.inv(J[:, chosen])
    middle = [arb(float(x)) for x in u]
    box = [arb(float(x), RADIUS if k in chosen else 0.0) for k, x in enumerate(u)]
    value = [_ball(form, middle) for form in forms]
    slopes = [[_ball(_derivative(form, j), box) for j in chosen] for form in forms]
    m = len(forms)
    for a in range(m):
        step = sum((arb(C[a, i]) * value[i] for i in range(m)), arb(0))
        spread = arb(0)
        for b in range(m):
            entry = arb(int(a == b)) - sum((arb(C[a, i]) * slopes[i][b] for i in range(m)), arb(0))
            spread = spread + entry * arb(0, RADIUS)
        if not (-step + spread).abs_upper() < arb(RADIUS):
            return False
    return True


def _ball(form: Terms, point: Sequence[Any]) -> Any:
    from flint import arb

    return arb(0) + form_at({e: arb(c) for e, c in form.items()}, point)


def _derivative(form: Terms, k: int) -> Terms:
    return {
        tuple(e - (j == k) for j, e in enumerate(exponents)): c * exponents[k]
        for exponents, c in form.items()
        if exponents[k]
    }
