"""First derivatives of inverse and forward dynamics, from the same graph as the dynamics.

Positions change along velocities: column k of a derivative by q is what a small ξ_k of q ⊞ ξ does,
so a quaternion has three columns. Velocities keep their components meanwhile.

    r(z, v̇, λ) = (M v̇ + h − τ − Gᵀ λ,  G v̇ − γ) = 0                              (derivatives-1)
    K (∂v̇, −∂λ) = −∂r/∂z   at the solution, K the factored saddle of (solve-1)   (derivatives-2)

so the elimination is used once more for each column, and is never differentiated. Where rows of G
depend on each other, derivatives by q are those along positions that keep the closures.

Public names: derivative_makers, pattern, Derivatives.

Source: CM18, §III (derivatives of forward from those of inverse dynamics).
Differs: r is differentiated on the graph, by rows or by columns, whichever is shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from liaison.equations import Entries, Equations
from liaison.expr import ZERO, Expr, as_expr, count_operations, jacobian, substitute, vanishes

from .program import Entry
from .solve import Factor

Blocks: TypeAlias = list[tuple[str, Sequence[Expr]]]
Solution: TypeAlias = tuple[list[Expr], list[Expr], Expr]


def derivative_makers(
    equations: Equations, factored: Callable[[], Factor], solution: Callable[[], Solution]
) -> dict[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    d_inverse (x = v̇): tau_q, tau_v, tau_vdot, tau_u; d_inverse_p: tau_p;
    d_forward: vdot_q, vdot_v, vdot_tau, vdot_u, then lam_q, … of λ; d_forward_p: vdot_p, lam_p.
    Every block is a matrix row by row, nv (nc) rows; its structural zeros: `pattern`.

    Args:
        equations: of any formalism.
        factored: gives the eliminated saddle.
        solution: gives v̇, λ and the residual.
    """
    made = Derivatives(equations, factored, solution)
    return {
        "d_inverse": lambda: made.inverse(("q", "v", "vdot", "u")),
        "d_inverse_p": lambda: made.inverse(("p",)),
        "d_forward": lambda: made.forward(("q", "v", "tau", "u")),
        "d_forward_p": lambda: made.forward(("p",)),
    }


def pattern(entry: Entry, block: str, columns: int) -> NDArray[np.bool_]:
    """Where a block of an entry, a matrix row by row, is not zero in every state."""
    start = 0
    for label, size in entry.layout:
        if label == block:
            found = [not vanishes(x) for x in entry.outputs[start : start + size]]
            return np.array(found, dtype=bool).reshape(-1, columns)
        start += size
    raise KeyError(block)


class Derivatives:
    """The derivatives of one set of equations."""

    def __init__(
        self,
        equations: Equations,
        factored: Callable[[], Factor],
        solution: Callable[[], Solution],
    ) -> None:
        self.equations = equations
        self.symbols = equations.symbols
        self.nv, self.nc = len(self.symbols.v), len(self.symbols.lam)
        self.factored, self.solution = factored, solution

    def inverse(self, names: Sequence[str]) -> Blocks:
        """∂(M v̇ + h − τ) by each of the names."""
        found = self.by(self.equations.dynamics.inverse, names)
        return [(f"tau_{n}", dense(found[n], self.nv, self.width(n))) for n in names]

    def forward(self, names: Sequence[str]) -> Blocks:
        """∂v̇ and ∂λ by each of the names; `tau` is a generalized force added to the others."""
        slopes = self.at_solution([name for name in names if name != "tau"])
        vdot: Blocks = []
        lam: Blocks = []
        for name in names:
            columns = self.unit_forces() if name == "tau" else slopes[name]
            solved = [self.solved(column) for column in columns]
            if name == "tau":
                self.mirror([x for x, _ in solved])
            vdot.append((f"vdot_{name}", _rows([x for x, _ in solved], self.nv)))
            lam.append((f"lam_{name}", _rows([y for _, y in solved], self.nc)))
        return vdot + lam

    def solved(self, right: Mapping[int, Expr]) -> tuple[list[Expr], list[Expr]]:
        """One column of ∂v̇ and of ∂λ, from one of −∂r."""
        if not right:
            return [ZERO] * self.nv, [ZERO] * self.nc
        side = [right.get(i, ZERO) for i in range(self.nv + self.nc)]
        # what ρ takes away is 1e-12 of a column: not worth twice the code
        vdot, lam, _ = self.factored().solve(side[: self.nv], side[self.nv :], refinements=0)
        return vdot, lam

    def mirror(self, columns: list[list[Expr]]) -> None:
        """Takes each pair of equal entries of ∂v̇/∂τ from the column that is eliminated first.

        There the backward sweep reaches it sooner, and the other half is never computed.
        """
        place = {pivot: k for k, pivot in enumerate(self.factored().order)}
        known = [i for i in range(self.nv) if i in place]
        for i in known:
            for j in known:
                if place[i] < place[j]:
                    columns[j][i] = columns[i][j]

    def unit_forces(self) -> list[dict[int, Expr]]:
        """−∂r/∂τ, column by column."""
        return [{j: as_expr(1)} for j in range(self.nv)]

    def at_solution(self, names: Sequence[str]) -> dict[str, list[dict[int, Expr]]]:
        """−∂r column by column, v̇ and λ held, then given their values."""
        found = self.by(self.residual, names)
        vdot, lam, _ = self.solution()
        values = dict(zip((*self.symbols.vdot, *self.symbols.lam), [*vdot, *lam], strict=True))
        entries = [(name, key) for name in names for key in found[name]]
        formulas = substitute([found[name][key] for name, key in entries], values)
        columns: dict[str, list[dict[int, Expr]]] = {
            name: [{} for _ in range(self.width(name))] for name in names
        }
        for (name, (row, column)), formula in zip(entries, formulas, strict=True):
            if not vanishes(formula):
                columns[name][column][row] = -formula
        return columns

    @cached_property
    def residual(self) -> list[Expr]:
        """r of (derivatives-1)."""
        closures, symbols = self.equations.closures, self.symbols
        motion = list(self.equations.dynamics.inverse)
        rows = [-x for x in closures.gamma]
        for (k, j), entry in closures.G.items():
            motion[j] = motion[j] - entry * symbols.lam[k]
            rows[k] = rows[k] + entry * symbols.vdot[j]
        return [*motion, *rows]

    def width(self, name: str) -> int:
        """Columns of a derivative."""
        return self.nv if name in ("q", "v", "vdot", "tau") else len(getattr(self.symbols, name))

    def by(self, formulas: Sequence[Expr], names: Sequence[str]) -> dict[str, Entries]:
        """Derivatives by each of the names, q along velocities."""
        whole = [x for name in names for x in getattr(self.symbols, name)]
        entries = shortest_jacobian(formulas, whole)
        found: dict[str, Entries] = {}
        start = 0
        for name in names:
            end = start + len(getattr(self.symbols, name))
            part = {(i, j - start): x for (i, j), x in entries.items() if start <= j < end}
            found[name] = self.along(part) if name == "q" else part
            start = end
        return found

    def along(self, slopes: Entries) -> Entries:
        """∂f/∂q N."""
        found: dict[tuple[int, int], Expr] = {}
        by_row: dict[int, list[tuple[int, Expr]]] = {}
        for (i, k), entry in self.equations.kinematics.N.items():
            by_row.setdefault(i, []).append((k, entry))
        for (row, i), slope in slopes.items():
            for k, entry in by_row.get(i, ()):
                found[row, k] = found.get((row, k), ZERO) + slope * entry
        return {key: entry for key, entry in found.items() if not vanishes(entry)}


def shortest_jacobian(formulas: Sequence[Expr], xs: Sequence[Expr]) -> dict[tuple[int, int], Expr]:
    """∂f/∂x in one sweep for all columns, or row by row: the one of fewer operations."""
    if not xs:
        return {}
    ways = [jacobian(formulas, xs, by_rows=by_rows) for by_rows in (False, True)]
    return min(ways, key=lambda found: sum(count_operations(found.values()).values()))


def dense(entries: Entries, rows: int, columns: int) -> list[Expr]:
    """A matrix row by row, zeros included."""
    return [entries.get((i, j), ZERO) for i in range(rows) for j in range(columns)]


def _rows(columns: Sequence[Sequence[Any]], rows: int) -> list[Expr]:
    """A matrix row by row from its columns."""
    return [column[i] for i in range(rows) for column in columns]
