"""A free body that rolls, for reading: Maggi's equations in its angular velocity and the vertical.

    V = Ψ ω,      n + Ψᵀ f = 0,      u̇ = u × ω                                  (reading-4)

V is the velocity of the body's origin, n and f the moment and the force that its motion takes, all
in its own axes, and u the vertical of the ground there. Where it rolls on a plane without direction
nothing depends on its heading: Ψ is derived for the heading at which one axis e of the body leans
in the plane y-z of the ground, and is compared in numbers with the closures at others.

Public names: Rolling, rolling_of.

Source: JB94 §5.3 (Maggi); docs/theory/reading.md (reading-4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from liaison.equations.equations import Equations
from liaison.equations.reading_order import order_of
from liaison.expr import Expr, as_expr, evaluate, sqrt, substitute, symbol, symbols_of, vanishes
from liaison.expr.reading.reading import to_expr
from liaison.expr.reading.simplify import Reader
from liaison.spatial import array, cross3, dot, identity, rotation_quaternion
from liaison.tree import unguarded

STATES = 6
"""Attitudes at which Ψ is compared with the closures."""

SAME = 1e-10
"""How far it may be off there [m]."""


@final
@dataclass(frozen=True, slots=True)
class Rolling:
    """A page of three equations.

    Attributes:
        titles: of the equations: the angular velocities.
        names: name and formula of each quantity, in the order in which they can be computed.
        rows: what vanishes.
        notes: what the names stand for.
    """

    titles: tuple[str, ...]
    names: tuple[tuple[str, Expr], ...]
    rows: tuple[Expr, ...]
    notes: tuple[str, ...]


def rolling_of(
    equations: Equations, quantities: Sequence[tuple[str, Expr]], rows: Sequence[Expr]
) -> Rolling | None:
    """The page of equations without multipliers; None for any other mechanism.

    Args:
        equations: whose closures are eliminated.
        quantities: of the named recursion of its tree.
        rows: M v̇ + h for every velocity, in terms of them.
    """
    if not _is_free_body(equations):
        return None
    for k in (1, 2, 0):
        vertical = _Vertical(equations, k)
        psi = vertical.psi()
        if psi is not None and vertical.holds(psi):
            return _page(equations, vertical, psi, quantities, rows)
    return None


def _is_free_body(equations: Equations) -> bool:
    """One free body with a quaternion, three rows that leave it ω, and no load but its weight."""
    whole, closures = equations.dynamics.whole, equations.closures
    kinds = [chart.kind for chart in equations.kinematics.charts]
    if whole is None or kinds != ["free"] or len(closures.gamma) != 3 or equations.sides.blocks:
        return False
    return all(map(vanishes, (*whole.tau, *closures.nu)))


class _Vertical:
    """Formulas of a body's attitude as formulas of the vertical in its axes."""

    def __init__(self, equations: Equations, k: int) -> None:
        self.equations, self.k = equations, k
        in_use = {x.name for x in (*equations.symbols.q, *equations.symbols.p)}
        up, lean = (next(x for x in letters if x not in in_use) for letters in (UP, LEAN))
        self.u = [symbol(f"{up}.{x}") for x in "xyz"]
        self.s = symbol(lean)
        across = [as_expr(x) / self.s for x in cross3(list(identity(3)[k]), self.u)]
        third = [as_expr(x) for x in cross3(self.u, across)]
        third[k] = self.s
        self.rows = (across, third, self.u)

    @property
    def sine(self) -> Expr:
        """s = √(1 − u_k²), which the axis k makes with the vertical."""
        return as_expr(sqrt(1 - self.u[self.k] * self.u[self.k]))

    def seen(self, formulas: Sequence[Expr]) -> list[Expr]:
        """Formulas of the quaternion at the chosen heading."""
        R = rotation_quaternion(array(list(self.equations.symbols.q[3:])))
        names = {as_expr(R[i, j]): self.rows[i][j] for i in range(3) for j in range(3)}
        plain, _ = unguarded(list(formulas))
        roots = {as_expr(sqrt(self.s * self.s)): self.s}
        return substitute(substitute(plain, names), roots)

    def psi(self) -> list[list[Expr]] | None:
        """Ψ = −Rᵀ G_ω, row by row; None where something else than the vertical is in it."""
        G = self.equations.closures.G
        seen = self.seen([G.get((i, j), as_expr(0)) for i in range(3) for j in range(6)])
        if not {*symbols_of(seen)} <= {*self.u, self.s, *self.equations.symbols.p}:
            return None
        rows = [seen[6 * i : 6 * i + 6] for i in range(3)]
        entries = [
            as_expr(-dot([row[3 + d] for row in rows], [row[j] for row in rows]))
            for d in range(3)
            for j in range(3)
        ]
        squares = {self.u[self.k]: as_expr(1 - self.s * self.s)}
        reader = Reader(entries, order_of(self.equations), squares)
        short = [to_expr(reader.read(x)) for x in entries]
        return [short[3 * d : 3 * d + 3] for d in range(3)]

    def holds(self, psi: Sequence[Sequence[Expr]]) -> bool:
        """Whether G (ω, Ψ ω) = 0 at attitudes of any heading."""
        symbols, draw = self.equations.symbols, np.random.default_rng(0)
        values = dict(zip(symbols.p, self.equations.defaults["p"], strict=True))
        values |= {symbols.t: 0.0}
        places = [(i, j) for i in range(3) for j in range(6)]
        entries = [self.equations.closures.G.get(place, as_expr(0)) for place in places]
        for _ in range(STATES):
            e = draw.normal(size=4)
            q = [*draw.uniform(-1, 1, 3), *(e / np.linalg.norm(e))]
            here = values | dict(zip(symbols.q, q, strict=True))
            G = np.array(evaluate(entries, here), dtype=float).reshape(3, 6)
            up = np.array(rotation_quaternion(array(q[3:]))[2], dtype=float)
            here |= dict(zip(self.u, up, strict=True))
            here[self.s] = float(np.sqrt(1 - up[self.k] ** 2))
            P = np.array(evaluate([x for row in psi for x in row], here), dtype=float)
            if not np.max(np.abs(G[:, :3] + G[:, 3:] @ P.reshape(3, 3))) < SAME:
                return False
        return True


UP, LEAN = ("u", "up", "vertical"), ("s", "sine", "lean")
"""Names of the vertical, and of the sine that an axis makes with it."""


def _page(
    equations: Equations,
    vertical: _Vertical,
    psi: Sequence[Sequence[Expr]],
    quantities: Sequence[tuple[str, Expr]],
    rows: Sequence[Expr],
) -> Rolling:
    symbols, labels = equations.symbols, equations.labels["v"]
    omega, slide = symbols.v[:3], [x.name for x in labels[3:]]
    own = dict(zip([name for name, _ in quantities], vertical.seen([f for _, f in quantities])))
    inner: Mapping[Expr, Expr] = {symbol(n): f for n, f in own.items() if not n.startswith("a1.")}
    flat = substitute(list(rows), inner)
    left = [as_expr(flat[i] + dot([psi[d][i] for d in range(3)], flat[3:])) for i in range(3)]
    names = [(vertical.s.name, vertical.sine)]
    names += [(name, as_expr(dot(psi[d], list(omega)))) for d, name in enumerate(slide)]
    names += [(n, f) for n, f in own.items() if n.startswith("a1.")]
    up, letter = vertical.u[0].name.partition(".")[0], vertical.s.name
    notes = (
        f"{up} is the vertical (z of the ground) in the axes of the body, {up}.z = 1 − 2 qx² − 2 "
        f"qy² and so on, with the rate {up} × ω; {letter} is the sine of the angle between it and "
        f"the axis {'xyz'[vertical.k]} of the body.",
        f"The rates of {', '.join(slide)} are those of the lines above; a₁ is the acceleration of "
        "the origin, gravity taken off. Reactions do no work and drop out (Maggi).",
    )
    return Rolling(tuple(x.name for x in labels[:3]), tuple(names), tuple(left), notes)
