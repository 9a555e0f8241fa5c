"""Reduced equations of motion: as many as there are independent velocities, without multipliers.

    v = Ψ u + ψ,    v̇ = Ψ u̇ + β                                             (reduced-1)
    (Ψᵀ M Ψ) u̇ = Ψᵀ (τ − h − M β)                                           (reduced-2)

Ψ spans the velocities that the closures allow, so that reactions do no work on it and drop out.
ψ is there for imposed motions, β = Ψ̇ u + ψ̇. Ψ comes from eliminating dependent velocities from the
closures, or is given as formulas.

Public names: Reduced, reduced, transformed.

Source: JB94 §5.3 (independent coordinates by projection); docs/theory/formalisms.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.equations.equations import Entries, Equations
from liaison.equations.statement import Line
from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, as_expr, directional, substitute, symbol, vanishes
from liaison.lazy import Shown
from liaison.units import Label

from .dependent import Elimination, eliminated, rates


@final
@dataclass(frozen=True, slots=True, repr=False)
class Reduced(Shown):
    """Equations of motion in independent velocities u, formulas of q, u and t.

    They hold near the position whose pivots were chosen: where one of `pivots` vanishes, the
    independent velocities cannot drive the mechanism, and others must be chosen.
    """

    name: str
    independent: tuple[Label, ...]
    t: Expr
    q: tuple[Expr, ...]
    u: tuple[Expr, ...]
    udot: tuple[Expr, ...]
    psi: Entries  # Ψ, shape (nv, mobility)
    velocity: tuple[Expr, ...]  # v = Ψ u + ψ
    bias: tuple[Expr, ...]  # β
    rates: tuple[Expr, ...]  # q̇
    M: Entries  # Ψᵀ M Ψ by its lower triangle
    force: tuple[Expr, ...]  # Ψᵀ (τ − h − M β)
    pivots: tuple[Expr, ...] = ()
    deflated: bool = False  # on a non-reduced component

    @property
    def mobility(self) -> int:
        """How many equations there are."""
        return len(self.u)

    def accelerations(self) -> list[Expr]:
        """u̇ as formulas, by Ψᵀ M Ψ = L D Lᵀ."""
        n = self.mobility
        L, D = [[ZERO] * n for _ in range(n)], [ZERO] * n
        y = list(self.force)
        for j in range(n):
            D[j] = self._left(L, D, j, j)
            for i in range(j + 1, n):
                L[i][j] = as_expr(self._left(L, D, i, j) / D[j])
                y[i] = as_expr(y[i] - L[i][j] * y[j])
        x = [as_expr(a / d) for a, d in zip(y, D, strict=True)]
        for j in reversed(range(n)):
            for i in range(j):
                x[i] = as_expr(x[i] - L[j][i] * x[j])
        return x

    def _left(self, L: list[list[Expr]], D: list[Expr], i: int, j: int) -> Expr:
        """What the columns before j leave of an entry of Ψᵀ M Ψ."""
        total = self.M.get((i, j), ZERO)
        for k in range(j):
            total = as_expr(total - L[i][k] * L[j][k] * D[k])
        return total

    def statement(self) -> tuple[Line, ...]:
        """One equation for each independent velocity, as one reads them."""
        left = [ZERO] * self.mobility
        for (i, j), entry in self.M.items():
            left[i] = as_expr(left[i] + entry * self.udot[j])
            if i != j:
                left[j] = as_expr(left[j] + entry * self.udot[i])
        return tuple(
            Line(label.name, a, b)
            for label, a, b in zip(self.independent, left, self.force, strict=True)
        )


def reduced(
    equations: Equations,
    values: Mapping[Expr, float],
    independent: Sequence[str] = (),
    freedom: int | None = None,
) -> Reduced:
    """Equations in independent velocities, by elimination of the others from the closures.

    Args:
        equations: in any formalism.
        values: of t, q and parameters, at a position that satisfies the closures.
        independent: labels of coordinates or of their velocities to keep, where possible.
        freedom: the finite mobility, where it is known; on non-reduced components less than the
            closures' first derivatives leave.

    Raises:
        DerivationError: an unknown label, or the closures leave another number of velocities, or
            there is a unilateral constraint.
    """
    _check_bilateral(equations)
    names = [label.name for label in equations.labels["v"]]
    places = [_place(name, names) for name in independent]
    elimination = eliminated(equations, values, places, freedom)
    labels = tuple(equations.labels["v"][j] for j in elimination.independent)
    u = tuple(equations.symbols.v[j] for j in elimination.independent)
    return _projected(equations, labels, u, elimination)


def transformed(
    equations: Equations,
    psi: Entries,
    independent: Sequence[Label],
    offset: Sequence[Expr] | None = None,
) -> Reduced:
    """Equations in any velocities u with v = Ψ u + ψ that satisfies the closures.

    Args:
        equations: in any formalism.
        psi: Ψ as formulas of q and t, (row of v, column of u) -> formula.
        independent: a name and a unit for each of u.
        offset: ψ as formulas of q and t; zero if not given.
    """
    _check_bilateral(equations)
    u = tuple(symbol(label.name) for label in independent)
    psi_0 = tuple(offset) if offset is not None else (ZERO,) * len(equations.symbols.v)
    flow: dict[Expr, Any] = {equations.symbols.t: as_expr(1)}
    flow |= dict(zip(equations.symbols.q, rates(equations), strict=True))
    bias = directional(list(_combined(psi, u, psi_0)), flow)
    elimination = Elimination((), psi, psi_0, tuple(as_expr(x) for x in bias), (), False)
    return _projected(equations, tuple(independent), u, elimination)


def _check_bilateral(equations: Equations) -> None:
    for side in equations.sides.blocks:
        raise DerivationError(
            f"{side.owner!r} is unilateral; equations in fewer velocities do not carry its forces.",
            hint="Keep the multipliers, or require its limit with '=' to fix one mode.",
        )


def _place(name: str, names: Sequence[str]) -> int:
    for wanted in (name, f"{name}'"):
        if wanted in names:
            return names.index(wanted)
    raise DerivationError(
        f"'{name}' names no velocity of the tree.", hint=f"There are: {', '.join(names)}."
    )


def _combined(psi: Entries, u: Sequence[Expr], offset: Sequence[Expr]) -> tuple[Expr, ...]:
    """Ψ u + ψ."""
    total = list(offset)
    for (j, k), entry in psi.items():
        total[j] = as_expr(total[j] + entry * u[k])
    return tuple(total)


def _projected(
    equations: Equations, labels: tuple[Label, ...], u: tuple[Expr, ...], elimination: Elimination
) -> Reduced:
    """Ψᵀ M Ψ and Ψᵀ (τ − h − M β), dependent velocities put in place."""
    symbols, psi = equations.symbols, elimination.psi
    velocity = _combined(psi, u, elimination.offset)
    put = {v: x for v, x in zip(symbols.v, velocity, strict=True) if v is not x}
    substituted = substitute([*equations.dynamics.f, *elimination.bias, *rates(equations)], put)
    n = len(symbols.v)
    force, bias, qdot = substituted[:n], substituted[n : 2 * n], substituted[2 * n :]
    for (i, j), entry in _symmetric(equations.dynamics.M):
        if not vanishes(bias[j]):
            force[i] = as_expr(force[i] - entry * bias[j])
    return Reduced(
        name=equations.name, independent=labels, t=symbols.t, q=symbols.q, u=u,
        udot=tuple(symbol(f"{label.name}'") for label in labels), psi=psi, velocity=velocity,
        bias=tuple(bias), rates=tuple(qdot), M=_mass(equations.dynamics.M, psi, len(u)),
        force=_project(psi, force, len(u)), pivots=elimination.pivots,
        deflated=elimination.deflated,
    )  # fmt: skip


def _symmetric(M: Entries) -> list[tuple[tuple[int, int], Expr]]:
    """All entries of a symmetric matrix given by its lower triangle."""
    entries = []
    for (i, j), entry in M.items():
        entries.append(((i, j), entry))
        if i != j:
            entries.append(((j, i), entry))
    return entries


def _project(psi: Entries, force: Sequence[Expr], count: int) -> tuple[Expr, ...]:
    total = [ZERO] * count
    for (j, k), entry in psi.items():
        total[k] = as_expr(total[k] + entry * force[j])
    return tuple(total)


def _mass(M: Entries, psi: Entries, count: int) -> Entries:
    """The lower triangle of Ψᵀ M Ψ."""
    columns: list[dict[int, Expr]] = [{} for _ in range(count)]
    for (j, k), entry in psi.items():
        columns[k][j] = entry
    mass: dict[tuple[int, int], Expr] = {}
    for k, column in enumerate(columns):
        moved: dict[int, Expr] = {}
        for (i, j), entry in _symmetric(M):
            if j in column:
                moved[i] = as_expr(moved.get(i, ZERO) + entry * column[j])
        for m in range(k, count):
            terms = [columns[m][i] * x for i, x in moved.items() if i in columns[m]]
            if terms:
                mass[m, k] = as_expr(sum(terms[1:], start=terms[0]))
    return mass
