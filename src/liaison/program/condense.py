"""Velocities without inertia that a row of their own defines, taken out before the elimination.

For a row k that ties the velocity j to the others, a v_j + g · v = γ_k, and no inertia at j,

    0 = f_j + a λ_k + Σ u_i λ_i                                              (condense-1)

gives λ_k, u_i being the entries of the other rows at j. Put into the rest, row i becomes
G_i − (u_i/a) g, its right-hand side γ_i − (u_i/a) γ_k, and f becomes f − (f_j/a) gᵀ: an effort
along v_j acts along the row. Nothing is divided by but a, which is −1 or near it.

Public names: Tie, Ties, ties_of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

from liaison.expr import ZERO, Expr

Rows = list[dict[int, Expr]]


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
    heavy, found = {*with_inertia}, []
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
        found.append(Tie(k, j, entry, others, touching))
    return Ties(tuple(found), rows)


def ratio(x: Expr, a: Expr) -> Expr:
    """x/a, as −x where a is −1."""
    return -x if a.op == "const" and a.value == -1 else x / a
