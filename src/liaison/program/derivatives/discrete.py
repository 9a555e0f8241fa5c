"""The discrete Lagrangian of a time step: what a structure-preserving integrator asks of a graph.

A step from q over h to q₁ = q ⊞ ξ moves steadily, with v = ξ/h at its beginning and the same motion
given by v₁ at its end (velocities in turning axes have turned). With p = M v and s = τ − h + Ṁ v,

    L_d = h/2 (L(q, v) + L(q₁, v₁)),   F = s + ω × p  where axes turn with ω, else s  (discrete-1)
    back  = B(ξ)  ½ (p(q, v) + p(q₁, v₁)),   p₀ + h/2 F(q, v)  = back                 (discrete-2)
    ahead = B(ξ)ᵀ ½ (p(q, v) + p(q₁, v₁)),   p₁ = ahead + h/2 F(q₁, v₁)               (discrete-3)

where B is the derivative of ξ by a velocity at q₁, ξ̇ = B(ξ) v. F is ∂L/∂q, plus every force that
has no potential. Momenta of translations in turning axes are brought to the axes of q or of q₁.

Public names: discrete_makers.

Source: HLW §VI.6.2 (variational integrators); MW01 part 3 (forces and constraints).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from liaison.equations import Equations
from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, directional, jacobian, substitute, symbols_of
from liaison.program.solve import dense

Blocks: TypeAlias = list[tuple[str, Sequence[Expr]]]
Matrix: TypeAlias = Mapping[tuple[int, int], Expr]

TURNING = ("quaternion", "matrix", "free", "free matrix")
"""Charts whose first three velocities are ω in turning axes; of a free body three more turn."""


def discrete_makers(equations: Equations) -> dict[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    kick: F and p at (t, q, v); leap (x = ξ, v = ξ/h): back, ahead, and v₁;
    d_leap: ∂back/∂ξ, ∂back/∂v, ∂F/∂v at the beginning; reach (x = ξ): Φ(q ⊞ ξ) and its derivative
    by ξ; turn (x = ξ): B(ξ). Every matrix row by row.
    """
    discrete = _Discrete(equations)
    return {
        "kick": discrete.kick,
        "leap": discrete.leap,
        "d_leap": discrete.slopes,
        "reach": discrete.reach,
        "turn": lambda: [("B", dense(discrete.turn(), discrete.nv, discrete.nv))],
    }


class _Discrete:
    """The formulas of one step."""

    def __init__(self, equations: Equations) -> None:
        self.equations, self.symbols = equations, equations.symbols
        self.nv = len(self.symbols.v)
        moving = {*symbols_of(list(equations.dynamics.M.values()))}
        if equations.facts.get("rate_potentials") and moving & {*self.symbols.v, self.symbols.t}:
            raise DerivationError(
                "a potential of velocities makes M depend on velocities or time: p = M v is not "
                "∂L/∂v, from which a variational step is built.",
                hint="Run it with another method, such as tsitouras or gauss6.",
            )

    def momentum(self) -> list[Expr]:
        """p = M v."""
        momentum: list[Expr] = [ZERO] * self.nv
        for (i, j), entry in self.equations.dynamics.M.items():
            momentum[i] = momentum[i] + entry * self.symbols.v[j]
            if i != j:
                momentum[j] = momentum[j] + entry * self.symbols.v[i]
        return momentum

    def force(self) -> list[Expr]:
        """F of (discrete-1)."""
        symbols, p = self.symbols, self.momentum()
        qdot: dict[Expr, Expr] = {}
        for (i, k), entry in self.equations.kinematics.N.items():
            x = symbols.q[i]
            qdot[x] = qdot.get(x, ZERO) + entry * symbols.v[k]
        changes = directional(p, qdot)
        force = [f + s for f, s in zip(self.equations.dynamics.f, changes, strict=True)]
        for omega, part in self.turning():
            w, carried = [symbols.v[k] for k in omega], [p[k] for k in part]
            for k, turned in zip(part, _cross(w, carried), strict=True):
                force[k] = force[k] + turned
        return force

    def turning(self) -> list[tuple[range, range]]:
        """Places of ω, and of three velocities expressed in the axes that turn with it."""
        pairs = []
        for chart in self.equations.kinematics.charts:
            if chart.kind in TURNING:
                places = range(*chart.v.indices(self.nv))
                pairs += [(places[:3], places[k : k + 3]) for k in range(0, len(places), 3)]
        return pairs

    def turn(self) -> Matrix:
        """B(ξ)."""
        return jacobian(list(self.equations.kinematics.local_rate), list(self.symbols.v))

    def shifts(self) -> set[int]:
        """Velocities of translations expressed in turning axes."""
        return {k for omega, part in self.turning() if omega != part for k in part}

    def kick(self) -> Blocks:
        """F and p."""
        return [("force", self.force()), ("momentum", self.momentum())]

    def leap(self) -> Blocks:
        """back, ahead and v₁."""
        p0, p1, v1 = self.ends()
        B = self.turn()
        return [("back", self.back(B, p0, p1)), ("ahead", self.ahead(B, p0, p1)), ("v", v1)]

    def ends(self) -> tuple[list[Expr], list[Expr], list[Expr]]:
        """p at both ends, and v₁."""
        symbols, shifts = self.symbols, self.shifts()
        turned = _times(_transposed(self.turn()), symbols.v)
        v1 = [turned[k] if k in shifts else x for k, x in enumerate(symbols.v)]
        p0 = self.momentum()
        moved = dict(zip(symbols.q, self.equations.kinematics.retract, strict=True))
        return p0, substitute(p0, {**moved, **dict(zip(symbols.v, v1, strict=True))}), v1

    def back(self, B: Matrix, p0: Sequence[Expr], p1: Sequence[Expr]) -> list[Expr]:
        """(discrete-2)."""
        shifts = self.shifts()
        both = [b if k in shifts else a + b for k, (a, b) in enumerate(zip(p0, p1, strict=True))]
        carried = _times(B, both)
        return [(x + p0[k] if k in shifts else x) / 2 for k, x in enumerate(carried)]

    def ahead(self, B: Matrix, p0: Sequence[Expr], p1: Sequence[Expr]) -> list[Expr]:
        """(discrete-3)."""
        shifts = self.shifts()
        both = [a if k in shifts else a + b for k, (a, b) in enumerate(zip(p0, p1, strict=True))]
        carried = _times(_transposed(B), both)
        return [(x + p1[k] if k in shifts else x) / 2 for k, x in enumerate(carried)]

    def slopes(self) -> Blocks:
        """Derivatives of what a step is found by."""
        p0, p1, _ = self.ends()
        back = self.back(self.turn(), p0, p1)
        xi, v, nv = list(self.symbols.xi), list(self.symbols.v), self.nv
        by_both = jacobian(back, [*xi, *v])
        by_xi = {(i, j): x for (i, j), x in by_both.items() if j < nv}
        by_v = {(i, j - nv): x for (i, j), x in by_both.items() if j >= nv}
        force = jacobian(self.force(), v)
        named = (("back_xi", by_xi), ("back_v", by_v), ("force_v", force))
        return [(name, dense(entries, nv, nv)) for name, entries in named]

    def reach(self) -> Blocks:
        """Φ where the step ends, and its derivative by ξ."""
        moved = dict(zip(self.symbols.q, self.equations.kinematics.retract, strict=True))
        phi = substitute(list(self.equations.closures.phi), moved)
        slopes = jacobian(phi, list(self.symbols.xi))
        return [("phi", phi), ("phi_xi", dense(slopes, len(phi), self.nv))]


def _cross(x: Sequence[Expr], y: Sequence[Expr]) -> list[Expr]:
    pairs = ((1, 2), (2, 0), (0, 1))
    return [x[i] * y[j] - x[j] * y[i] for i, j in pairs]


def _transposed(matrix: Matrix) -> Matrix:
    return {(j, i): x for (i, j), x in matrix.items()}


def _times(matrix: Matrix, column: Sequence[Expr]) -> list[Expr]:
    product: list[Expr] = [ZERO] * len(column)
    for (i, j), x in matrix.items():
        product[i] = product[i] + x * column[j]
    return product
