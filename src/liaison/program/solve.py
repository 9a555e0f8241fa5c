"""The constrained linear system as formulas: an elimination order found once, proximal rows.

    [ M  Gᵀ ] [ v̇ ]   [ f ]
    [ G  −ρ ] [ −λ ] = [ γ ]                                                    (solve-1)

is eliminated symbolically (L D Lᵀ): structural zeros never appear in the code. A row of G is
eliminated only after every velocity it touches, so its pivot is negative. A velocity without
inertia that a row defines is taken out before, with its row (condense.py). Where no row defines
it, the rows that touch it lend it inertia,

    (M + Gᵀ Λ G) v̇ = f + Gᵀ (λ + Λ γ),                                          (solve-2)

which has the same v̇ and λ; Λ is of the size of the masses that the row moves.

ρ_k = ε (G M⁻¹ Gᵀ)_kk + ε₀ r_k²/m is computed at run time from the velocities' part of the pivot, so
that masses × 10⁶ change nothing; what ρ took away is given back by refinement on the true residual
γ − G v̇, which the solution also returns. r is how large the row's entries can be and m an inertia
that it touches: a row of which the geometry leaves rounding only (moments across parallel hinges)
has ρ far over its noise, and asks nothing.

Velocities without inertia that a row of their own defines, taken out before the elimination.

For a row k that ties the velocity j to the others, a v_j + g · v = γ_k, and no inertia at j,

    0 = f_j + a λ_k + Σ u_i λ_i                                              (condense-1)

gives λ_k, u_i being the entries of the other rows at j. Put into the rest, row i becomes
G_i − (u_i/a) g, its right-hand side γ_i − (u_i/a) γ_k, and f becomes f − (f_j/a) gᵀ: an effort
along v_j acts along the row. Nothing is divided by but a, which is −1 or near it.

Public names: Saddle, factor, Factor, Tie, Ties, ties_of, dense,
solved.

Source: RBDA §6.5 (LTL); ProxDyn, the proximal view of (solve-1): docs/theory/closures.md.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import DerivationError
from liaison.expr import (
    ONE,
    ZERO,
    Expr,
    absolute,
    as_expr,
    evaluate,
    maximum,
    symbol,
    symbols_of,
    vanishes,
)

Rows = list[dict[int, Expr]]


def dense(entries: Mapping[tuple[int, int], Expr], rows: int, columns: int) -> list[Expr]:
    """A matrix row by row, zeros included."""
    return [entries.get((i, j), ZERO) for i in range(rows) for j in range(columns)]


@final
@dataclass(frozen=True, slots=True)
class Tie:
    """A row and the velocity it defines, as they were when taken out."""

    row: int
    velocity: int
    entry: Expr  # a
    others: Mapping[int, Expr]  # velocity -> entry of g
    touching: Mapping[int, Expr]  # row -> u


@final
@dataclass(frozen=True, slots=True)
class Ties:
    """All of them, in the order in which they were taken out, and the rows that are left."""

    ties: tuple[Tie, ...]
    rows: Rows  # of every index; those of ties are empty

    @property
    def velocities(self) -> set[int]:
        """Velocities that are out."""
        return {tie.velocity for tie in self.ties}

    def put_in(self, f: list[Expr], gamma: list[Expr]) -> tuple[list[Expr], list[Expr]]:
        """The right-hand sides of what is left."""
        f, gamma = list(f), list(gamma)
        for tie in self.ties:
            if f[tie.velocity] is not ZERO:
                effort = ratio(f[tie.velocity], tie.entry)
                for j, g in tie.others.items():
                    f[j] = f[j] - g * effort
            for i, u in tie.touching.items():
                gamma[i] = gamma[i] - ratio(u, tie.entry) * gamma[tie.row]
        return f, gamma

    def bring_back(
        self, f: list[Expr], gamma: list[Expr], vdot: list[Expr], lam: list[Expr]
    ) -> None:
        """Completes v̇ and λ; f and γ as `put_in` left them."""
        for tie in reversed(self.ties):
            value, effort = gamma[tie.row], f[tie.velocity]
            for j, g in tie.others.items():
                value = value - g * vdot[j]
            for i, u in tie.touching.items():
                effort = effort + u * lam[i]
            vdot[tie.velocity] = ratio(value, tie.entry)
            lam[tie.row] = -ratio(effort, tie.entry)


def ties_of(rows: Rows, defines: Mapping[int, int], with_inertia: Iterable[int]) -> Ties:
    """Takes out every velocity that a row defines and that has no inertia.

    Args:
        rows: of G; changed in place.
        defines: row -> velocity.
        with_inertia: velocities that have some.
    """
    heavy, ties = {*with_inertia}, []
    for k, j in sorted(defines.items()):
        if j in heavy or j not in rows[k]:
            continue
        others, rows[k] = rows[k], {}
        entry = others.pop(j)
        touching = {i: row.pop(j) for i, row in enumerate(rows) if j in row}
        for i, u in touching.items():
            share = ratio(u, entry)
            for n, g in others.items():
                rows[i][n] = rows[i].get(n, ZERO) - share * g
        ties.append(Tie(k, j, entry, others, touching))
    return Ties(tuple(ties), rows)


def solved(x: Expr) -> Expr:
    """The symbol of an acceleration or a multiplier that is known already."""
    return symbol(f"solved {x.name}")


def ratio(x: Expr, a: Expr) -> Expr:
    """x/a, as −x where a is −1."""
    return -x if a.op == "const" and a.value == -1 else x / a


Entries: TypeAlias = Mapping[tuple[int, int], Expr]

Attitudes: TypeAlias = Sequence[Sequence[Expr]]
"""Symbols that are no attitude but together: four of a unit quaternion, nine of a rotation."""

EPSILON = 1e-12
"""ρ relative to its row. Rounding (1e-16) over ε bounds the noise of undetermined multipliers
(1e-4); a singular value σ is resolved down to √ε of its regular size, where steps of a
mechanism seldom land."""

FLOOR = 1e-30
"""ρ of a row that touches no inertia at all [1/kg]: far under any real one, far over underflow."""

NOISE = 1e-18
"""ε₀: rows of which rounding is left (1e-17 of what their entries can be) have a ρ 1e16 times their
own size, and disturb nothing; a row that fades towards a singular position is heard until 1e-8
of it is left."""

SMALLEST = 1e-20
"""NOISE r² of a row of which r is not known: rounding (1e-17)² is far under it, a real row of a
mechanism of micrometres far over."""

REFINEMENTS = 1

PROBED = 60
"""Velocities up to which M is probed for those that share their inertia."""

SINGULAR = 1e-12
"""Eigenvalues of M, scaled to a diagonal of 1, below this are rounding."""


@final
@dataclass(frozen=True, slots=True)
class Saddle:
    """The matrices of (solve-1): M by its lower triangle, G by its nonzeros."""

    nv: int
    nc: int
    M: Entries
    G: Entries
    defines: Mapping[int, int] = field(default_factory=dict)  # row -> velocity without inertia
    reach: Sequence[float] = ()  # by row: how large its entries can be by rad/s; 0: not known
    slides: frozenset[int] = frozenset()  # velocities in m/s: an entry of a force is a cosine
    attitudes: Attitudes = ()

    def size(self, k: int, j: int) -> float:
        """How large the entry of row k at velocity j can be; 0 where it is not known."""
        reach = self.reach[k] if self.reach else 0.0
        return 1.0 if reach and j in self.slides else reach

    def rows(self) -> list[dict[int, Expr]]:
        """G row by row: column -> entry, zeros left out."""
        rows: list[dict[int, Expr]] = [{} for _ in range(self.nc)]
        for (k, j), entry in self.G.items():
            if not vanishes(entry):
                rows[k][j] = entry
        return rows


@final
@dataclass(frozen=True, slots=True)
class Factor:
    """L D Lᵀ of a saddle: `order` of elimination, columns of L by pivot, reciprocal pivots."""

    saddle: Saddle
    ties: Ties
    order: tuple[int, ...]
    columns: tuple[Mapping[int, Expr], ...]  # by position in order: row index -> l
    reciprocals: tuple[Expr, ...]
    lent: Mapping[int, Expr]  # row -> Λ, where it lends inertia

    def solve(
        self, f: Sequence[Any], gamma: Sequence[Any], *, refinements: int = REFINEMENTS
    ) -> tuple[list[Expr], list[Expr], Expr]:
        """v̇, λ and the largest |γ − G v̇|, after refinement."""
        nv, rows = self.saddle.nv, self.ties.rows
        f, gamma = self.ties.put_in([as_expr(x) for x in f], [as_expr(x) for x in gamma])
        x = self._back(f, gamma)
        for _ in range(refinements if any(rows) else 0):
            step = self._back([ZERO] * nv, residuals(rows, gamma, x))
            x = [a + b for a, b in zip(x, step, strict=True)]
        worst: Expr = ZERO
        for r in residuals(rows, gamma, x):
            worst = absolute(r) if worst is ZERO else maximum(worst, absolute(r))
        vdot, lam = x[:nv], [-y for y in x[nv:]]
        self.ties.bring_back(f, gamma, vdot, lam)
        return vdot, lam, worst

    def _back(self, f: list[Expr], gamma: list[Expr]) -> list[Expr]:
        """(L D Lᵀ)⁻¹ of a right-hand side; what is out stays as it is."""
        x = [*f, *gamma]
        for k, weight in self.lent.items():
            for j, entry in self.ties.rows[k].items():
                x[j] = x[j] + entry * (weight * gamma[k])
        for pivot, column in zip(self.order, self.columns, strict=True):
            if x[pivot] is not ZERO:
                for i, entry in column.items():
                    x[i] = x[i] - entry * x[pivot]
        for pivot, column, reciprocal in zip(
            reversed(self.order), reversed(self.columns), reversed(self.reciprocals), strict=True
        ):
            value = x[pivot] * reciprocal
            for i, entry in column.items():
                value = value - entry * x[i]
            x[pivot] = value
        return x


def residuals(rows: list[dict[int, Expr]], gamma: Sequence[Any], x: list[Expr]) -> list[Expr]:
    """γ − G v̇, row by row; zero of a row that is out."""
    rows_left: list[Expr] = []
    for row, right in zip(rows, gamma, strict=True):
        r = as_expr(right) if row else ZERO
        for j, entry in row.items():
            r = r - entry * x[j]
        rows_left.append(r)
    return rows_left


def factor(saddle: Saddle, names: Sequence[str] = ()) -> Factor:
    """Eliminates the saddle as formulas.

    Args:
        saddle: M and G.
        names: of the velocities, for the message when one of them has no inertia at all.

    Raises:
        DerivationError: a velocity has no inertia and no row that touches it.
    """
    heavy = {i for (i, j), entry in saddle.M.items() if i == j and not vanishes(entry)}
    ties = ties_of(saddle.rows(), saddle.defines, heavy)
    lent = lenders(saddle.M, ties, saddle.attitudes)
    work = _Elimination(saddle, with_lent(saddle.M, ties, lent), ties)
    order: list[int] = []
    columns: list[Mapping[int, Expr]] = []
    reciprocals: list[Expr] = []
    while work.left:
        pivot = work.next_pivot(names)
        column, reciprocal = work.eliminate(pivot)
        order.append(pivot)
        columns.append(column)
        reciprocals.append(reciprocal)
    return Factor(saddle, ties, tuple(order), tuple(columns), tuple(reciprocals), lent)


def lenders(M: Entries, ties: Ties, attitudes: Attitudes = ()) -> dict[int, Expr]:
    """Rows that touch a velocity without inertia of its own, and their Λ."""
    inertia = {i: entry for (i, j), entry in M.items() if i == j and not vanishes(entry)}
    shared = dependent(M, attitudes) if any(ties.rows) and len(inertia) <= PROBED else set()
    lent = {}
    for k, row in enumerate(ties.rows):
        if row.keys() - inertia.keys() or row.keys() & shared:
            moved = [inertia[j] for j in sorted(row) if j in inertia] or list(inertia.values())[:1]
            lent[k] = sum(moved, ZERO) if moved else ONE
    return lent


def with_metric(M: Entries, G: Entries, first: int, attitudes: Attitudes = ()) -> Entries:
    """M, to which rows of G from `first` on lend inertia where velocities share theirs.

    Corrections of positions leave these rows aside; without them nothing would say which of two
    slides along one axis is to move.
    """
    is_probed = any(k >= first for k, _ in G) and len(M) <= PROBED**2
    shared = dependent(M, attitudes) if is_probed else set()
    rows: dict[int, dict[int, Expr]] = {}
    for (k, j), entry in G.items():
        if k >= first and not vanishes(entry):
            rows.setdefault(k, {})[j] = entry
    lent = {k: row for k, row in rows.items() if row.keys() & shared}
    table = [lent.get(k, {}) for k in range(1 + max(lent, default=-1))]
    weights = {
        k: sum((M[j, j] for j in sorted(row) if (j, j) in M), ZERO) for k, row in lent.items()
    }
    return with_lent(M, Ties((), table), weights) if lent else M


def dependent(M: Entries, attitudes: Attitudes = ()) -> set[int]:
    """Velocities whose inertia is that of others, wherever the mechanism is: M is singular.

    Two slides along one axis move the same mass. M is probed at a random position, where its null
    space shows them. Attitudes are drawn as such: at a quaternion of another length M would be no
    mass matrix.
    """
    entries = {key: as_expr(entry) for key, entry in M.items()}
    chance = random.Random(1)
    values = {
        x: 0.2 + chance.random()
        for x in sorted(symbols_of(list(entries.values())), key=lambda x: x.name)
    }
    for group in attitudes:
        drawn = np.array([values.get(x, 1.0) for x in group])
        unit = drawn / np.linalg.norm(drawn) if len(group) == 4 else _rotation(drawn)
        values |= {x: float(y) for x, y in zip(group, unit, strict=True) if x in values}
    size = 1 + max((i for i, _ in entries), default=-1)
    A = np.zeros((size, size))
    for (i, j), value in zip(entries, evaluate(list(entries.values()), values), strict=True):
        A[i, j] = A[j, i] = value
    heavy = np.flatnonzero(np.diag(A) > 0)
    if not heavy.size or not np.all(np.isfinite(A)):
        return set()
    scale = np.sqrt(np.diag(A)[heavy])
    sizes, directions = np.linalg.eigh(A[np.ix_(heavy, heavy)] / np.outer(scale, scale))
    null = directions[:, sizes <= SINGULAR]
    return {int(i) for i, row in zip(heavy, null, strict=True) if np.any(np.abs(row) > 1e-6)}


def _rotation(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """A rotation matrix near nine numbers, row by row."""
    Q = np.linalg.qr(drawn.reshape(3, 3) + np.diag([1.0, 2.0, 3.0]))[0]
    return np.asarray(Q * np.linalg.det(Q)).ravel()


def with_lent(M: Entries, ties: Ties, lent: Mapping[int, Expr]) -> Entries:
    """M + Gᵀ Λ G."""
    total = dict(M)
    for k, weight in lent.items():
        row = ties.rows[k]
        for i, entry in row.items():
            for j in row:
                if j <= i:
                    total[i, j] = total.get((i, j), ZERO) + entry * weight * row[j]
    return total


class _Elimination:
    """The matrix while it is being eliminated; unknowns 0…nv−1 are velocities, then rows."""

    def __init__(self, saddle: Saddle, M: Entries, ties: Ties) -> None:
        self.saddle = saddle
        self.nv = nv = saddle.nv
        n = nv + len(ties.rows)
        self.off: list[dict[int, Expr]] = [{} for _ in range(n)]
        self.diagonal: list[Expr] = [ZERO] * n
        self.scale: list[Expr] = [ZERO] * n
        self.noise: dict[int, Expr] = {}  # row -> ε₀ r²/m
        for (i, j), entry in M.items():
            if vanishes(entry):
                continue
            if i == j:
                self.diagonal[i] = entry
            else:
                self.off[i][j] = self.off[j][i] = entry
        for k, row in enumerate(ties.rows):
            for j, entry in row.items():
                self.off[nv + k][j] = self.off[j][nv + k] = entry
        self.left = set(range(n)) - ties.velocities - {nv + tie.row for tie in ties.ties}
        self.waiting = {i: {j for j in self.off[i] if j < nv and i >= nv} for i in range(n)}

    def next_pivot(self, names: Sequence[str]) -> int:
        """The unknown of least degree among those that may go; leaves of the tree first."""
        able = [i for i in self.left if self._may_go(i)]
        if not able:
            stuck = min(self.left)
            name = names[stuck] if stuck < len(names) else f"velocity {stuck}"
            raise DerivationError(
                f"nothing gives {name!r} inertia, so its acceleration is not determined.",
                hint="Give the body it moves, or one it carries, a mass or an inertia about that "
                "motion, or impose the motion.",
            )
        return min(able, key=lambda i: (len(self.off[i]), i >= self.nv, -i))

    def _may_go(self, i: int) -> bool:
        """A velocity that has inertia; a row when the velocities it touches are gone."""
        return self.diagonal[i] is not ZERO if i < self.nv else not self.waiting[i]

    def eliminate(self, pivot: int) -> tuple[Mapping[int, Expr], Expr]:
        """Takes the pivot out; returns its column of L and the reciprocal of its pivot."""
        is_velocity = pivot < self.nv
        d = self.diagonal[pivot] if is_velocity else self._proximal(pivot)
        reciprocal = ONE / d
        row = self.off[pivot]
        column = {i: entry * reciprocal for i, entry in sorted(row.items())}
        for i, ratio in column.items():
            self._update_diagonal(i, ratio * row[i], is_velocity)
            if is_velocity and i >= self.nv and i not in self.noise:
                size = self.saddle.size(i - self.nv, pivot)
                self.noise[i] = reciprocal * (NOISE * size * size or SMALLEST)
            others = self.off[i]
            del others[pivot]
            for j in column:
                if j < i:
                    entry = others.get(j, ZERO) - ratio * row[j]
                    others[j] = self.off[j][i] = entry
        self.left.discard(pivot)
        for i in column:
            self.waiting[i].discard(pivot)
        return column, reciprocal

    def _update_diagonal(self, i: int, amount: Expr, by_velocity: bool) -> None:
        """A row keeps the part that velocities gave apart: it is the scale of its ρ."""
        if i >= self.nv and by_velocity:
            self.scale[i] = self.scale[i] + amount
        else:
            self.diagonal[i] = self.diagonal[i] - amount

    def _proximal(self, k: int) -> Expr:
        """−(1 + ε) s − ε₀ r²/m + what other rows took: negative, never zero."""
        s = self.scale[k] * (1.0 + EPSILON)
        return self.diagonal[k] - (s + self.noise.get(k, FLOOR))
