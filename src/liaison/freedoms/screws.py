"""The closure of loops as products of dual quaternions 1 + τ s: multilinear, no trigonometry.

A joint is its screw in an assembled home position: s = d + ε (q × d) for a hinge about d through
q, s = ε d for a slider. Displaced from home it is 1 + τ s, with τ |d| = tan(θ/2) for a hinge and
2 τ |d| the way of a slider. A loop closes where the product of its displacements is a real number:
six equations, each of degree at most one in every τ, and τ = 0 is a solution.

    Π (1 + τ_j s_j)^±1  =  real                                              (mobility-1)

Public names: System, Rows, Factor, LoopSystem, screw_of_hinge, screw_of_slider, bracket,
group_dimension, algebra.

Source: SEL05 ch. 9 (dual quaternions), ch. 4 (Lie algebra of rigid motions).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import Any, Protocol, TypeAlias, final

from liaison.exact.linear import Field, Ring, rank

Screw: TypeAlias = tuple[int, ...]
"""Six residues: direction, then moment."""


class System(ABC):
    """Equations f(x) = 0 modulo a prime with the known solution x = 0."""

    p: int
    n: int  # unknowns
    size: int  # equations
    is_first_order: bool = False  # some equations are known to first order only

    @abstractmethod
    def values(self, ring: Ring, x: Sequence[Any]) -> list[Any]:
        """f(x)."""

    @abstractmethod
    def jacobian(self, ring: Ring, x: Sequence[Any]) -> list[list[Any]]:
        """∂f/∂x, by rows."""

    @abstractmethod
    def bound(self, rows: Sequence[int], others: int = 0) -> int | None:
        """Most times that an equation can touch a curve without containing it; None if unbounded.

        Args:
            rows: equations that cut out the curve.
            others: how many combinations of the other equations cut it out besides.
        """

    def least_dimension(self) -> int:
        """Each component through the point has at least this dimension."""
        return self.n - self.size

    def jacobian_home(self) -> list[list[int]]:
        """∂f/∂x at the known point."""
        return [[x % self.p for x in row] for row in self.jacobian(Field(self.p), [0] * self.n)]


class Rows(Protocol):
    """Further equations of the τ."""

    def __len__(self) -> int: ...

    def values(self, ring: Ring, x: Sequence[Any]) -> list[Any]:
        """What vanishes."""

    def rows(self, ring: Ring, x: Sequence[Any]) -> list[list[Any]]:
        """Its derivatives."""


@final
@dataclass(frozen=True, slots=True)
class Factor:
    """One displacement in a loop: 1 ± τ s, or 1 ± pitch·atan(τ) s for the advance of a screw."""

    column: int
    sign: int
    screw: Screw
    pitch: int | None = None  # of a screw joint's advance [m/rad]; None: plain τ


@final
class LoopSystem(System):
    """Loops of screws modulo p, and linear relations between joint positions.

    Attributes:
        loops: the factors of each, in order around it.
        relations: Σ c g(τ) = 0 for each, as (column, c, is_angle); g is atan for angles.
        curved: other relations, to all orders.
        ends: a constant displacement after each loop, as a dual quaternion; None where there is
            none.
    """

    def __init__(
        self,
        p: int,
        n: int,
        loops: Sequence[Sequence[Factor]],
        relations: Sequence[Sequence[tuple[int, int, bool]]] = (),
        curved: Rows | None = None,
        *,
        is_first_order: bool = False,
        ends: Sequence[Sequence[Any]] | None = None,
    ) -> None:
        self.is_first_order = is_first_order
        self.ends = ends
        self.curved = curved
        self.p, self.n = p, n
        self.loops = [list(loop) for loop in loops]
        self.relations = [list(relation) for relation in relations]
        self.size = 6 * len(self.loops) + len(self.relations) + len(curved or ())
        self._tables = [[_right_table(f.screw, p) for f in loop] for loop in self.loops]

    def values(self, ring: Ring, x: Sequence[Any]) -> list[Any]:
        """Vector parts of each loop's product, then the relations."""
        values: list[Any] = []
        for k, (loop, tables) in enumerate(zip(self.loops, self._tables, strict=True)):
            product = _unit(ring)
            for factor, table in zip(loop, tables, strict=True):
                product = _displaced(ring, product, table, _amount(ring, factor, x))
            if self.ends is not None:
                product = _product(ring, product, list(self.ends[k]))
            values += product[1:4] + product[5:8]
        values += [self._relation(ring, relation, x) for relation in self.relations]
        return values + (self.curved.values(ring, x) if self.curved else [])

    def jacobian(self, ring: Ring, x: Sequence[Any]) -> list[list[Any]]:
        """Before · s · after, for each displacement of each loop."""
        rows: list[list[Any]] = []
        for k, (loop, tables) in enumerate(zip(self.loops, self._tables, strict=True)):
            end = _unit(ring) if self.ends is None else list(self.ends[k])
            rows += self._loop_jacobian(ring, list(zip(loop, tables, strict=True)), x, end)
        rows += [self._relation_row(ring, relation, x) for relation in self.relations]
        return rows + (self.curved.rows(ring, x) if self.curved else [])

    def _loop_jacobian(
        self, ring: Ring, factors: list[tuple[Factor, Any]], x: Sequence[Any], after: list[Any]
    ) -> list[list[Any]]:
        amounts = [_amount(ring, factor, x) for factor, _ in factors]
        before = [_unit(ring)]
        for (_, table), amount in zip(factors, amounts, strict=True):
            before.append(_displaced(ring, before[-1], table, amount))
        rows = [[ring.zero] * self.n for _ in range(6)]
        for k in reversed(range(len(factors))):
            factor, table = factors[k]
            moved = _product(ring, _times(ring, before[k], table), after)
            slope = _slope(ring, factor, x)
            for i, part in enumerate(moved[1:4] + moved[5:8]):
                entry = part * factor.sign if slope is None else ring.mul(part, slope)
                rows[i][factor.column] = rows[i][factor.column] + entry
            after = _displaced_left(ring, after, factor.screw, amounts[k])
        return rows

    def _relation(self, ring: Ring, relation: Sequence[tuple[int, int, bool]], x: Any) -> Any:
        total = ring.zero
        for column, c, is_angle in relation:
            total = total + (ring.atan(x[column]) if is_angle else x[column]) * c
        return total

    def _relation_row(self, ring: Ring, relation: Sequence[tuple[int, int, bool]], x: Any) -> Any:
        row = [ring.zero] * self.n
        for column, c, is_angle in relation:
            tau = x[column]
            slope = ring.inverse(ring.one + ring.mul(tau, tau)) if is_angle else ring.one
            row[column] = row[column] + slope * c
        return row

    def bound(self, rows: Sequence[int], others: int = 0) -> int | None:
        """n!: the intersection number of n hypersurfaces of degree one in each unknown."""
        turns = any(angle for relation in self.relations for _, _, angle in relation)
        advances = any(f.pitch is not None for loop in self.loops for f in loop)
        return None if turns or advances or self.curved else factorial(self.n)

    def groups_of_columns(self) -> list[list[int]]:
        """Unknowns of each loop and each linear relation."""
        groups = [[f.column for f in loop] for loop in self.loops]
        return groups + [[column for column, _, _ in relation] for relation in self.relations]

    def least_dimension(self) -> int:
        """A loop within a group of rigid motions has one equation a dimension of the group."""
        rows = [[0] * self.n for _ in self.relations]
        for row, relation in zip(rows, self.relations, strict=True):
            for column, c, _ in relation:
                row[column] += c
        count = len(rows) if self.is_first_order else rank(rows, self.p)
        return self.n - sum(self.group_dimensions()) - count - len(self.curved or ())

    def parts(self) -> list[LoopSystem]:
        """Each loop by itself, its joints numbered anew; none where relations tie joints."""
        if self.relations or self.curved:
            return []
        systems = []
        for loop in self.loops:
            place = {column: k for k, column in enumerate(dict.fromkeys(f.column for f in loop))}
            moved = [replace(f, column=place[f.column]) for f in loop]
            systems.append(LoopSystem(self.p, len(place), [moved]))
        return systems

    def group_dimensions(self) -> list[int]:
        """For each loop, the dimension of the group of motions that its joints generate."""
        return [group_dimension(_twists(loop), self.p) for loop in self.loops]


def _twists(loop: Sequence[Factor]) -> list[Screw]:
    """Velocities of a loop's joints; a screw joint's two factors are one."""
    twists: dict[int, Screw] = {}
    for factor in loop:
        scale = 1 if factor.pitch is None else factor.pitch
        old = twists.get(factor.column, (0,) * 6)
        twists[factor.column] = tuple(a + scale * b for a, b in zip(old, factor.screw, strict=True))
    return list(twists.values())


def group_dimension(screws: Sequence[Screw], p: int) -> int:
    """The dimension of the Lie algebra that screws generate: 3 for a planar or spherical loop."""
    return len(algebra(screws, p))


def algebra(screws: Sequence[Screw], p: int) -> list[Screw]:
    """A basis of the Lie algebra that screws generate."""
    basis: list[Screw] = []
    waiting = list(screws)
    while waiting and len(basis) < 6:
        screw = waiting.pop()
        if rank([*basis, screw], p) > len(basis):
            waiting += [bracket(screw, other, p) for other in basis]
            basis.append(screw)
    return basis


def bracket(a: Screw, b: Screw, p: int) -> Screw:
    """The Lie bracket of two screws: (ω × ω′, ω × v′ + v × ω′)."""
    turn = _cross(a[:3], b[:3])
    slide = [x + y for x, y in zip(_cross(a[:3], b[3:]), _cross(a[3:], b[:3]), strict=True)]
    return tuple(x % p for x in (*turn, *slide))


def screw_of_hinge(direction: Sequence[Any], point: Sequence[Any]) -> tuple[Any, ...]:
    """s = d + ε (q × d)."""
    return (*direction, *_cross(point, direction))


def screw_of_slider(direction: Sequence[Any]) -> tuple[Any, ...]:
    """s = ε d."""
    return (0, 0, 0, *direction)


def _cross(a: Sequence[Any], b: Sequence[Any]) -> tuple[Any, Any, Any]:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


# Dual quaternions: eight entries, w x y z of the real part, then of the dual part -----------------


def _unit(ring: Ring) -> list[Any]:
    return [ring.one] + [ring.zero] * 7


def _amount(ring: Ring, factor: Factor, x: Sequence[Any]) -> Any:
    tau = x[factor.column]
    if factor.pitch is not None:
        tau = ring.atan(tau) * factor.pitch
    return tau if factor.sign > 0 else -tau


def _slope(ring: Ring, factor: Factor, x: Sequence[Any]) -> Any:
    """d amount / dτ; None where it is the sign."""
    if factor.pitch is None:
        return None
    tau = x[factor.column]
    return ring.inverse(ring.one + ring.mul(tau, tau)) * (factor.pitch * factor.sign)


def _quaternion_terms(left: int, right: int) -> list[list[tuple[int, int, int]]]:
    """Entries of the product of two quaternions that begin at these places, as (i, j, sign)."""
    signs = ((1, -1, -1, -1), (1, 1, 1, -1), (1, -1, 1, 1), (1, 1, -1, 1))
    pairs = (((0, 0), (1, 1), (2, 2), (3, 3)), ((0, 1), (1, 0), (2, 3), (3, 2)),
             ((0, 2), (1, 3), (2, 0), (3, 1)), ((0, 3), (1, 2), (2, 1), (3, 0)))  # fmt: skip
    return [
        [(left + i, right + j, sign) for (i, j), sign in zip(row, signs[k], strict=True)]
        for k, row in enumerate(pairs)
    ]


_TERMS = _quaternion_terms(0, 0) + [
    a + b for a, b in zip(_quaternion_terms(0, 4), _quaternion_terms(4, 0), strict=True)
]
_PLACE = {1: 0, 2: 1, 3: 2, 5: 3, 6: 4, 7: 5}  # of a screw's entries in a dual quaternion


def _right_table(screw: Screw, p: int) -> list[list[tuple[int, int]]]:
    """P s as, for each entry, the (place in P, constant) it sums."""
    entries = {j: screw[k] for j, k in _PLACE.items() if screw[k]}
    table = [[(i, sign * entries[j]) for i, j, sign in row if j in entries] for row in _TERMS]
    return [[(i, c % p) for i, c in row] for row in table] if p else table


def _times(ring: Ring, P: list[Any], table: list[list[tuple[int, int]]]) -> list[Any]:
    product = []
    for row in table:
        total = ring.zero
        for i, c in row:
            total = total + P[i] * c
        product.append(total)
    return product


def _displaced(ring: Ring, P: list[Any], table: Any, amount: Any) -> list[Any]:
    """P (1 + amount s)."""
    moved = _times(ring, P, table)
    return [a + ring.mul(amount, b) for a, b in zip(P, moved, strict=True)]


def _displaced_left(ring: Ring, P: list[Any], screw: Screw, amount: Any) -> list[Any]:
    """(1 + amount s) P."""
    displaced = []
    for k, row in enumerate(_TERMS):
        total = ring.zero
        for i, j, sign in row:
            if i in _PLACE and screw[_PLACE[i]]:
                total = total + P[j] * (sign * screw[_PLACE[i]])
        displaced.append(P[k] + ring.mul(amount, total))
    return displaced


def _product(ring: Ring, P: list[Any], Q: list[Any]) -> list[Any]:
    """P Q, without its two scalar parts."""
    vector_parts = [ring.zero]
    for k in (1, 2, 3, 4, 5, 6, 7):
        total = ring.zero
        if k != 4:
            for i, j, sign in _TERMS[k]:
                term = ring.mul(P[i], Q[j])
                total = total + term if sign > 0 else total - term
        vector_parts.append(total)
    return vector_parts
