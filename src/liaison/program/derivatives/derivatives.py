"""First derivatives of inverse and forward dynamics, from the same graph as the dynamics.

Positions change along velocities: column k of a derivative by q is what a small ξ_k of q ⊞ ξ does,
so a quaternion has three columns. Velocities keep their components meanwhile.

    r(z, v̇, λ) = (M v̇ + h − τ − Gᵀ λ,  G v̇ − γ) = 0                              (derivatives-1)
    K (∂v̇, −∂λ) = −∂r/∂z   at the solution, K the factored saddle of (solve-1)   (derivatives-2)

so the elimination is used once more for each column, and is never differentiated. Where rows of G
depend on each other, derivatives by q are those along positions that keep the closures.

Derivatives of what holds at a state, before anything is solved: for analyses in dense algebra.

    r(q, v, v̇, λ) = (M v̇ + h − τ − Gᵀ λ,  G v̇ − γ)                              (derivatives-1)

Positions change along velocities, q ⊞ ξ. Along a motion ξ̇ = δv + C ξ where

    N C = ∂(N v)/∂q N − Ṅ                                                        (tangent-1)

so C vanishes where velocities are rates, and is −ω × for a body's own angular velocity.

Second derivatives of inverse dynamics, as products of a Hessian and a direction.

    g(z) = w · τ(q ⊞ ξ, v, v̇),  z = (ξ, v, v̇) at ξ = 0;   out = ∇²g d            (curvature-1)

One sweep forward along d, one backward: a few times the cost of τ, and no third-order array.

Public names: derivative_makers, pattern, Derivatives, tangent_makers, curvature_makers.

Source: CM18, §III (derivatives of forward from those of inverse dynamics); GW08, chapter 5
(products of Hessians and vectors).
Differs: r is differentiated on the graph: four columns at once on vectors (columns.py), or where
they are few or sparse by rows or by columns, whichever is shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from liaison.equations import Entries, Equations
from liaison.expr import (
    ZERO,
    Expr,
    as_expr,
    count_operations,
    directional,
    gradient,
    jacobian,
    substitute,
    symbol,
    vanishes,
)
from liaison.program.program import Entry
from liaison.program.solve import Factor, dense

from .columns import (
    LANES,
    Block,
    Columns,
    Group,
    directional_cost,
    elimination_cost,
    substituted,
)
from .stages import Stages
from .tree_columns import tree_columns


def curvature_makers(
    equations: Equations, places: Sequence[Expr]
) -> dict[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    h_inverse (x = v̇, λ unread, w, d along q, v, v̇): q, v, vdot, the parts of ∇²g d.

    Args:
        equations: of a mechanism.
        places: symbols of w, then of d along q, v and v̇, nv each.
    """
    return {"h_inverse": lambda: _inverse(equations, places)}


def _inverse(equations: Equations, places: Sequence[Expr]) -> Blocks:
    symbols, nv = equations.symbols, len(equations.symbols.v)
    weights, directions = places[:nv], places[nv:]
    variables = [*symbols.xi, *symbols.v, *symbols.vdot]
    moved = dict(zip(symbols.q, equations.kinematics.retract, strict=True))
    tau = substitute(equations.dynamics.inverse, moved)
    total: Expr = ZERO
    for weight, force in zip(weights, tau, strict=True):
        total = total + weight * force
    along = directional([total], dict(zip(variables, directions, strict=True)))
    product = gradient(along[0], variables)
    columns = substitute(product, {x: as_expr(0) for x in symbols.xi})
    return [(name, columns[k * nv : (k + 1) * nv]) for k, name in enumerate(("q", "v", "vdot"))]


FEWEST = 5
"""Unknowns from which columns are computed as vectors: fewer are quicker one by one."""

SPARSE = 5
"""Entries of M, of so many places, from which columns of inverse dynamics are: short branches
beside each other have more zeros than vectors can skip."""

STAGED_WEIGHT = 1.5
"""Operations of columns that take as long as one of stages, which are fewer, and wait more for
what is stored and loaded between them: measured on trees of 5 to 38 velocities."""

LEAST_STAGED = 260
"""Operations of stages for each velocity, at least."""

SHARED = 2.5
"""Operations that all columns share, of those of inverse dynamics: v̇ and the elimination."""

Blocks: TypeAlias = list[tuple[str, Sequence[Expr]]]
Solution: TypeAlias = tuple[list[Expr], list[Expr], Expr]


def derivative_makers(
    equations: Equations, factored: Callable[[], Factor], solution: Callable[[], Solution]
) -> dict[str, Callable[[], Blocks | Columns | Stages]]:
    """Name -> what makes the entry.

    d_inverse (x = v̇): tau_q, tau_v, tau_vdot, tau_u; d_inverse_p: tau_p;
    d_forward: vdot_q, vdot_v, vdot_tau, vdot_u, then lam_q, … of λ; d_forward_p: vdot_p, lam_p;
    d_rate: the first two of d_forward, and of λ.
    Every block is a matrix row by row, nv (nc) rows; its structural zeros: `pattern`.

    Args:
        equations: of any formalism.
        factored: gives the eliminated saddle.
        solution: gives v̇, λ and the residual.
    """
    derivatives = Derivatives(equations, factored, solution)
    return {
        "d_inverse": lambda: derivatives.inverse_columns(("q", "v", "vdot", "u")),
        "d_inverse_p": lambda: derivatives.inverse_columns(("p",)),
        "d_forward": lambda: derivatives.solved_columns(("q", "v", "tau", "u")),
        "d_forward_p": lambda: derivatives.solved_columns(("p",)),
        "d_rate": lambda: derivatives.solved_columns(("q", "v")),
    }


def pattern(entry: Entry, block: str, columns: int) -> NDArray[np.bool_]:
    """Where a block of an entry, a matrix row by row, is not zero in every state."""
    start = 0
    for label, size in entry.layout:
        if label == block:
            nonzero = [not vanishes(x) for x in entry.outputs[start : start + size]]
            return np.array(nonzero, dtype=bool).reshape(-1, columns)
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
        slopes = self.by(self.equations.dynamics.inverse, names)
        return [(f"tau_{n}", dense(slopes[n], self.nv, self.width(n))) for n in names]

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

    def solved_columns(self, names: Sequence[str]) -> Blocks | Columns | Stages:
        """The same with the elimination kept once for all columns, where there are enough."""
        size = self.nv + self.nc
        if size < FEWEST:
            return self.forward(names)
        swept = self.by_sweeps(names)
        if swept is not None:
            return swept
        values = dict(zip((*self.symbols.vdot, *self.symbols.lam), self.at(), strict=True))
        groups = []
        for name in names:
            blocks = [self.block(name, self.residual, k) for k in self.firsts(name)]
            blocks = substituted(blocks, lambda rows: substitute([-x for x in rows], values))
            groups.append(Group(name, self.width(name), tuple(blocks)))
        right = [symbol(f"right-hand side {i}") for i in range(size)]
        vdot, lam, _ = self.factored().solve(right[: self.nv], right[self.nv :], refinements=0)
        parts = (("vdot", tuple(vdot)), ("lam", tuple(lam)))
        return Columns(tuple(right), parts, tuple(groups), lambda: self.forward(names))

    def by_sweeps(self, names: Sequence[str]) -> Stages | None:
        """The columns of a tree by sweeps over its bodies; None where these would take longer."""
        dynamics, widths = self.equations.dynamics, {name: self.width(name) for name in names}
        swept = dynamics.swept
        if swept is None or self.nc or "p" in names:
            return None
        limit = self.columns_cost(names) / STAGED_WEIGHT
        is_singular = any(vanishes(dynamics.M[i, i]) for i in range(self.nv))  # an error, by words
        has_bare = any(node.v.start == node.v.stop for node in swept.kinematics.tree.nodes)
        if is_singular or has_bare or limit < LEAST_STAGED * self.nv:
            return None
        slopes = self.by(dynamics.tau, [name for name in names if name != "tau"])
        stages = tree_columns(swept, dynamics.tau, slopes, widths, lambda: self.forward(names))
        return stages if len(stages.operations()) < limit else None

    def columns_cost(self, names: Sequence[str]) -> float:
        """About how many operations columns take: shared ones, right-hand sides, solutions."""
        dynamics, symbols, blocks = self.equations.dynamics, self.symbols, dict[Expr, int]()
        count = 0
        for name in names:
            bits = {k: 1 << (count + k // LANES) for k in range(self.width(name))}
            count += len(self.firsts(name))
            if name == "q":
                for (i, k), _ in self.equations.kinematics.N.items():
                    blocks[symbols.q[i]] = blocks.get(symbols.q[i], 0) | bits[k]
            elif name != "tau":
                blocks |= {x: bits[k] for k, x in enumerate(getattr(symbols, name))}
        shared = SHARED * sum(count_operations(dynamics.inverse).values())
        solved = count * elimination_cost(dynamics.M, self.nv)
        return shared + directional_cost(dynamics.inverse, blocks) + solved

    def inverse_columns(self, names: Sequence[str]) -> Blocks | Columns:
        """∂(M v̇ + h − τ) by each of the names, for several columns at once."""
        if self.nv < FEWEST or len(self.equations.dynamics.M) * SPARSE < self.nv**2:
            return self.inverse(names)
        formulas = self.equations.dynamics.inverse
        groups = [
            Group(n, self.width(n), tuple(self.block(n, formulas, k) for k in self.firsts(n)))
            for n in names
        ]
        right = tuple(symbol(f"right-hand side {i}") for i in range(self.nv))
        return Columns(right, (("tau", right),), tuple(groups), lambda: self.inverse(names))

    def firsts(self, name: str) -> range:
        """The first column of each block."""
        return range(0, self.width(name), LANES)

    def at(self) -> list[Expr]:
        """v̇ and λ at the solution."""
        vdot, lam, _ = self.solution()
        return [*vdot, *lam]

    def block(self, name: str, formulas: Sequence[Expr], first: int) -> Block:
        """What the seeds of some columns do to formulas; a force is taken off."""
        columns = range(first, min(self.width(name), first + LANES))
        seeds = {k: symbol(f"seed {k - first}") for k in columns}
        if name == "tau":
            rows = [-seeds[i] if i in seeds else ZERO for i in range(len(formulas))]
        elif name == "vdot":
            rows = [self.along_mass(i, seeds) for i in range(self.nv)]
        else:
            rows = directional(formulas, self.direction(name, seeds))
        return Block(tuple(seeds.values()), tuple(rows))

    def along_mass(self, i: int, seeds: Mapping[int, Expr]) -> Expr:
        """A row of M times the seeds."""
        M, total = self.equations.dynamics.M, ZERO
        for k, seed in seeds.items():
            total = total + M.get((max(i, k), min(i, k)), ZERO) * seed
        return total

    def direction(self, name: str, seeds: Mapping[int, Expr]) -> dict[Expr, Expr]:
        """What seeds of columns do to the symbols."""
        if name != "q":
            return {getattr(self.symbols, name)[k]: seed for k, seed in seeds.items()}
        direction: dict[Expr, Expr] = {}
        for (i, k), entry in self.equations.kinematics.N.items():
            if k in seeds:
                x = self.symbols.q[i]
                direction[x] = direction.get(x, ZERO) + entry * seeds[k]
        return direction

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
        slopes = self.by(self.residual, names)
        vdot, lam, _ = self.solution()
        values = dict(zip((*self.symbols.vdot, *self.symbols.lam), [*vdot, *lam], strict=True))
        entries = [(name, key) for name in names for key in slopes[name]]
        formulas = substitute([slopes[name][key] for name, key in entries], values)
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
        slopes: dict[str, Entries] = {}
        start = 0
        for name in names:
            end = start + len(getattr(self.symbols, name))
            part = {(i, j - start): x for (i, j), x in entries.items() if start <= j < end}
            slopes[name] = self.along(part) if name == "q" else part
            start = end
        return slopes

    def along(self, slopes: Entries) -> Entries:
        """∂f/∂q N."""
        entries: dict[tuple[int, int], Expr] = {}
        by_row: dict[int, list[tuple[int, Expr]]] = {}
        for (i, k), entry in self.equations.kinematics.N.items():
            by_row.setdefault(i, []).append((k, entry))
        for (row, i), slope in slopes.items():
            for k, entry in by_row.get(i, ()):
                entries[row, k] = entries.get((row, k), ZERO) + slope * entry
        return {key: entry for key, entry in entries.items() if not vanishes(entry)}


def shortest_jacobian(formulas: Sequence[Expr], xs: Sequence[Expr]) -> dict[tuple[int, int], Expr]:
    """∂f/∂x in one sweep for all columns, or row by row: the one of fewer operations."""
    if not xs:
        return {}
    ways = [jacobian(formulas, xs, by_rows=by_rows) for by_rows in (False, True)]
    return min(ways, key=lambda entries: sum(count_operations(entries.values()).values()))


def _rows(columns: Sequence[Sequence[Any]], rows: int) -> list[Expr]:
    """A matrix row by row from its columns."""
    return [column[i] for i in range(rows) for column in columns]


def tangent_makers(
    equations: Equations, derivatives: Derivatives
) -> Mapping[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    d_residual (x = v̇, λ): r_q, r_v, r_u, r_p, nv + nc rows each; d_motion: r_q, r_v, nv rows;
    tangent: N and its change by (tangent-1), nq rows; rate_q, rate_p of G v − ν; phi_p of Φ;
    out_q, out_v, out_u, out_p of the outputs. Every block is a matrix row by row.
    """
    return {
        "d_residual": lambda: _slopes(derivatives, "r", derivatives.residual, ("q", "v", "u", "p")),
        "d_motion": lambda: _slopes(
            derivatives, "r", derivatives.residual[: derivatives.nv], ("q", "v")
        ),
        "tangent": lambda: _tangent(equations, derivatives),
    }


def _tangent(equations: Equations, derivatives: Derivatives) -> Blocks:
    closures, nq = equations.closures, len(equations.symbols.q)
    outputs = list(equations.outputs.values())
    return [
        ("N", dense(equations.kinematics.N, nq, derivatives.nv)),
        ("drift", dense(_drift(equations), nq, derivatives.nv)),
        *_slopes(derivatives, "rate", closures.rate, ("q", "p")),
        *_slopes(derivatives, "phi", closures.phi, ("p",)),
        *_slopes(derivatives, "out", outputs, ("q", "v", "u", "p")),
    ]


def _slopes(
    derivatives: Derivatives, word: str, formulas: Sequence[Expr], names: Sequence[str]
) -> Blocks:
    """Derivatives of formulas by each of the names, as whole matrices."""
    slopes = derivatives.by(formulas, names)
    return [(f"{word}_{n}", dense(slopes[n], len(formulas), derivatives.width(n))) for n in names]


def _drift(equations: Equations) -> Entries:
    """∂(N v)/∂q N − Ṅ by its nonzeros."""
    symbols, N = equations.symbols, equations.kinematics.N
    qdot: list[Expr] = [ZERO] * len(symbols.q)
    for (i, k), entry in N.items():
        qdot[i] = qdot[i] + entry * symbols.v[k]
    slopes = jacobian(qdot, list(symbols.q))
    entries: dict[tuple[int, int], Expr] = {}
    for (i, j), slope in slopes.items():
        for k in range(len(symbols.v)):
            if (j, k) in N:
                entries[i, k] = entries.get((i, k), ZERO) + slope * N[j, k]
    along = dict(zip(symbols.q, qdot, strict=True))
    for key, change in zip(N, directional(list(N.values()), along), strict=True):
        entries[key] = entries.get(key, ZERO) - change
    return {key: entry for key, entry in entries.items() if not vanishes(entry)}
