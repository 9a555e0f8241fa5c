"""Closures solved for dependent velocities: pivots chosen at a position, formulas valid around it.

    G v = ν,  G v̇ = γ   ->   v = Ψ u + ψ,  v̇ = Ψ u̇ + β                      (reduced-1)

u are the velocities of the independent coordinates. Where the closures are non-reduced their first
derivatives leave too many velocities; what is left of G after elimination then vanishes on the
whole variety, and its own gradient gives the rows that are missing.

Public names: Elimination, eliminated, missing.

Source: JB94 §5.3 (coordinate partitioning, the matrix R); docs/theory/mobility.md (mobility-7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.equations.equations import Entries, Equations, check_linear_rates
from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, as_expr, directional, evaluate, jacobian, vanishes
from liaison.lazy import Shown

Floats = NDArray[np.float64]

SMALL = 1e-6
"""A pivot below this, relative to the largest entry of G, is zero: where closures are non-reduced,
assembly to rounding leaves the square root of it."""

PREFERRED = 1e-3
"""A pivot this much smaller than the best one is taken to keep a wanted coordinate independent."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Elimination(Shown):
    """v = Ψ u + ψ and v̇ = Ψ u̇ + β, as formulas of q, u and t."""

    independent: tuple[int, ...]  # places of u in v
    psi: Entries  # Ψ, (velocity, independent) -> formula
    offset: tuple[Expr, ...]  # ψ
    bias: tuple[Expr, ...]  # β, of v too
    pivots: tuple[Expr, ...]  # none may vanish
    deflated: bool  # gradients of what is left of G were needed


@dataclass
class _Rows:
    """Rows [G | ν γ] under elimination, as formulas and as numbers at the position."""

    width: int
    values: Mapping[Expr, float]
    formulas: list[list[Expr]] = field(default_factory=list)
    used: list[tuple[int, int]] = field(default_factory=list)  # pivots, (row, column)

    def add(self, rows: Sequence[list[Expr]]) -> None:
        """More rows, already reduced by the pivots found."""
        for row in rows:
            self.formulas.append(list(row))
            for i, j in self.used:
                self._reduce(len(self.formulas) - 1, i, j)

    def _reduce(self, k: int, i: int, j: int) -> None:
        """Takes row i from row k so that column j vanishes."""
        row, pivot = self.formulas[k], self.formulas[i]
        if vanishes(row[j]):
            return
        ratio = row[j] / pivot[j]
        self.formulas[k] = [
            ZERO if m == j else a if vanishes(b) else as_expr(a - ratio * b)
            for m, (a, b) in enumerate(zip(row, pivot, strict=True))
        ]

    def numbers(self) -> Floats:
        """The part of G that is not used up, at the position."""
        taken = {i for i, _ in self.used}
        rows = [[ZERO] * self.width if i in taken else row[: self.width]
                for i, row in enumerate(self.formulas)]  # fmt: skip
        if not rows:
            return np.zeros((0, self.width))
        flat = evaluate([x for row in rows for x in row], dict(self.values))
        return np.array(flat, dtype=float).reshape(len(rows), self.width)

    def eliminate(self, kept: Sequence[int], rank: int) -> None:
        """Pivots until the rank is reached or the remainder vanishes; `kept` columns last."""
        scale = float(np.max(np.abs(self.numbers()), initial=0.0))
        while len(self.used) < rank:
            left = np.abs(self.numbers())
            wanted = left.copy()
            wanted[:, list(kept)] = 0.0
            best = float(np.max(left, initial=0.0))
            if best <= SMALL * max(scale, 1e-300):
                return
            choice = wanted if np.max(wanted, initial=0.0) > PREFERRED * best else left
            i, j = (int(k) for k in np.unravel_index(np.argmax(choice), choice.shape))
            self.used.append((i, j))
            taken = {row for row, _ in self.used}
            for k in range(len(self.formulas)):
                if k not in taken:
                    self._reduce(k, i, j)

    def remainder(self) -> list[Expr]:
        """Entries of G that elimination left: they vanish on the variety."""
        taken = {i for i, _ in self.used}
        entries = (x for i, row in enumerate(self.formulas) if i not in taken
                   for x in row[: self.width])  # fmt: skip
        return [x for x in entries if not vanishes(x)]


def eliminated(
    equations: Equations,
    values: Mapping[Expr, float],
    independent: Sequence[int] = (),
    freedom: int | None = None,
) -> Elimination:
    """Solves the closures for the velocities that depend on the others.

    Args:
        equations: with their closures.
        values: of t, q and parameters, at a position that satisfies the closures.
        independent: places in v of velocities to keep independent where that is possible.
        freedom: how many velocities are independent, where that is known (the finite mobility);
            otherwise as many as G leaves at the position.

    Raises:
        DerivationError: the closures leave another number of velocities.
    """
    check_linear_rates(
        equations,
        "dependent velocities cannot be solved for as v = Ψ u + ψ. Keep its multiplier: lagrange.",
    )
    n, closures = len(equations.symbols.v), equations.closures
    rows = _Rows(n, values)
    rows.add(_augmented(closures.G, closures.nu, closures.gamma, n))
    rank = n if freedom is None else n - freedom
    rows.eliminate(independent, rank)
    deflated = freedom is not None and len(rows.used) < rank
    if deflated:
        rows.add(_gradient_rows(equations, rows.remainder()))
        rows.eliminate(independent, rank)
    _check(rows, rank, freedom)
    return _solved(rows, n, deflated)


def missing(equations: Equations, values: Mapping[Expr, float], freedom: int) -> tuple[Expr, ...]:
    """Formulas of q that vanish wherever the closures hold, and whose gradients G lacks.

    Args:
        equations: with their closures.
        values: of t, q and parameters, at a position that satisfies the closures.
        freedom: the finite mobility.

    Raises:
        DerivationError: the closures and these gradients leave another number of velocities.
    """
    n, closures = len(equations.symbols.v), equations.closures
    rows = _Rows(n, values)
    rows.add(_augmented(closures.G, closures.nu, closures.gamma, n))
    rows.eliminate((), n - freedom)
    if len(rows.used) == n - freedom:
        return ()
    zeros, first = rows.remainder(), len(rows.formulas)
    rows.add(_gradient_rows(equations, zeros))
    rows.eliminate((), n - freedom)
    _check(rows, n - freedom, freedom)
    return tuple(zeros[i - first] for i, _ in rows.used if i >= first)


def _check(rows: _Rows, rank: int, freedom: int | None) -> None:
    left = rows.width - len(rows.used)
    if freedom is not None and len(rows.used) < rank:
        raise DerivationError(
            f"the closures and their gradients leave {left} velocities here, the finite mobility "
            f"is {freedom}.",
            hint="The position is singular: begin at another one of the branch.",
        )
    if freedom is not None and np.max(np.abs(rows.numbers()), initial=0.0) > 1e-6:
        raise DerivationError(f"the closures leave fewer than the {freedom} velocities asked for.")


def _augmented(G: Entries, nu: Sequence[Expr], gamma: Sequence[Expr], n: int) -> list[list[Expr]]:
    rows = [[ZERO] * n + [a, b] for a, b in zip(nu, gamma, strict=True)]
    for (k, j), entry in G.items():
        rows[k][j] = entry
    return rows


def _gradient_rows(equations: Equations, zeros: Sequence[Expr]) -> list[list[Expr]]:
    """Rows of d/dt z = 0 for formulas that vanish on the variety: gradient by v, ν, γ."""
    symbols, n = equations.symbols, len(equations.symbols.v)
    slopes = jacobian(list(zeros), list(symbols.q))
    change = directional(list(zeros), {symbols.t: as_expr(1)})
    N = equations.kinematics.N
    along: dict[tuple[int, int], Expr] = {}
    for (k, i), slope in slopes.items():
        for j in range(n):
            if (i, j) in N:
                along[k, j] = as_expr(along.get((k, j), ZERO) + slope * N[i, j])
    flow: dict[Expr, Any] = {symbols.t: as_expr(1)}
    flow |= dict(zip(symbols.q, rates(equations), strict=True))
    speed = [as_expr(x) for x in change]
    for (k, j), entry in along.items():
        speed[k] = as_expr(speed[k] + entry * symbols.v[j])
    second = directional(speed, flow)
    return _augmented(along, [as_expr(-x) for x in change], [as_expr(-x) for x in second], n)


def rates(equations: Equations) -> list[Expr]:
    """q̇ = N v."""
    qdot = [ZERO] * len(equations.symbols.q)
    for (i, j), entry in equations.kinematics.N.items():
        qdot[i] = as_expr(qdot[i] + entry * equations.symbols.v[j])
    return qdot


def _solved(rows: _Rows, n: int, deflated: bool) -> Elimination:
    """Back substitution: each dependent velocity from the independent ones."""
    dependent = {j for _, j in rows.used}
    free = [j for j in range(n) if j not in dependent]
    width = len(free) + 2
    known: dict[int, list[Expr]] = {
        j: [as_expr(int(k == m)) for m in range(len(free))] + [ZERO, ZERO]
        for k, j in enumerate(free)
    }
    for i, j in reversed(rows.used):
        row = rows.formulas[i]
        right = [ZERO] * len(free) + [row[n], row[n + 1]]
        for k in range(n):
            if k != j and not vanishes(row[k]):
                right = [as_expr(a - row[k] * b) for a, b in zip(right, known[k], strict=True)]
        known[j] = [as_expr(right[m] / row[j]) for m in range(width)]
    psi = {(j, m): known[j][m] for j in range(n) for m in range(len(free))}
    return Elimination(
        independent=tuple(free),
        psi={key: entry for key, entry in psi.items() if not vanishes(entry)},
        offset=tuple(known[j][-2] for j in range(n)),
        bias=tuple(known[j][-1] for j in range(n)),
        pivots=tuple(rows.formulas[i][j] for i, j in rows.used),
        deflated=deflated,
    )
