"""A small change of a motion, as an entry: how fast (δq, δv) grow along the equations.

    δq̇ = ∂(N v)/∂q δq + N δv,
    K (δv̇, −δλ) = −(∂r/∂q δq + ∂r/∂v δv + ∂r/∂u δu + ∂r/∂p δp)                  (variation-1)

with r and K of (derivatives-1, derivatives-2): one sweep forward along the change and one more use
of the elimination, so that no matrix of derivatives is formed.

Gradients of a weighted sum of accelerations, rates and outputs, as an entry: reverse mode.

    s = w_q · q̇ + w_v · v̇ + w_y · y,
    K (a, −b) = (w_v, 0),   ∂s/∂z = ∂(w_q · N v + w_y · y − (a, b) · r)/∂z        (adjoint-1)

with v̇ and λ held in r: one more use of the elimination, which is symmetric, and one sweep backward,
whatever the number of variables z = q, v, u, p.

The same through a projection onto the closures, q := q ⊞ δ with G δ = −Φ, then v := v + δ with
G (v + δ) = ν, both the smallest in the metric of M. Weights w of the state behind it become

    K (a, −b) = (w_v, 0),         w_z := w_z + ∂(b · (G v − ν))/∂z,
    K_h (a, −b) = (Nᵀ w_q, 0),    w_z := w_z + ∂(b · Φ)/∂z                        (adjoint-2)

of the state before it, where that lies on the closures; K_h has the holonomic rows alone.

The discrete Lagrangian of a time step: what a structure-preserving integrator asks of a graph.

A step from q over h to q₁ = q ⊞ ξ moves steadily, with v = ξ/h at its beginning and the same motion
given by v₁ at its end (velocities in turning axes have turned). With p = M v and s = τ − h + Ṁ v,

    L_d = h/2 (L(q, v) + L(q₁, v₁)),   F = s + ω × p  where axes turn with ω, else s  (discrete-1)
    back  = B(ξ)  ½ (p(q, v) + p(q₁, v₁)),   p₀ + h/2 F(q, v)  = back                 (discrete-2)
    ahead = B(ξ)ᵀ ½ (p(q, v) + p(q₁, v₁)),   p₁ = ahead + h/2 F(q₁, v₁)               (discrete-3)

where B is the derivative of ξ by a velocity at q₁, ξ̇ = B(ξ) v. F is ∂L/∂q, plus every force that
has no potential. Momenta of translations in turning axes are brought to the axes of q or of q₁.

Public names: variation_makers, change_of, adjoint_makers, closing_makers, discrete_makers.

Source: HNW1 §I.14 (derivatives with respect to parameters); GW08, chapter 3 (forward and reverse
mode), §15.1 (implicit functions).

Source: HLW §VI.6.2 (variational integrators); MW01 part 3 (forces and constraints).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from liaison.equations import Equations
from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, directional, gradient, jacobian, substitute, symbol, symbols_of
from liaison.program.solve import Factor, dense, solved

from .derivatives import Derivatives

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


def change_of(x: Expr) -> Expr:
    """The symbol δx."""
    return symbol(f"change of {x.name}")


def variation_makers(
    equations: Equations, derivatives: Derivatives
) -> dict[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    variation (x = δq, δv, δu, δp): qdot, vdot and lam of (variation-1), outputs;
    varied (x = δq, δv, δu, δp, v̇, λ): qdot, outputs, and f and gamma, the right-hand side of
    (variation-1), of which `solve` gives the rest.
    """
    return {
        "variation": lambda: _variation(equations, derivatives),
        "varied": lambda: _varied(equations, derivatives),
    }


def _varied(equations: Equations, derivatives: Derivatives) -> Blocks:
    symbols, nv = equations.symbols, derivatives.nv
    along = _changes(equations)
    values = {x: solved(x) for x in (*symbols.vdot, *symbols.lam)}
    right = substitute([-x for x in directional(derivatives.residual, along)], values)
    return [
        ("qdot", directional(_rates(equations), along)),
        ("outputs", directional(list(equations.outputs.values()), along)),
        ("f", right[:nv]),
        ("gamma", right[nv:]),
    ]


def _changes(equations: Equations) -> dict[Expr, Expr]:
    """What changes, and by how much."""
    symbols = equations.symbols
    return {x: change_of(x) for x in (*symbols.q, *symbols.v, *symbols.u, *symbols.p)}


def _rates(equations: Equations) -> list[Expr]:
    """q̇ = N v."""
    symbols = equations.symbols
    qdot: list[Expr] = [ZERO] * len(symbols.q)
    for (i, k), entry in equations.kinematics.N.items():
        qdot[i] = qdot[i] + entry * symbols.v[k]
    return qdot


def _variation(equations: Equations, derivatives: Derivatives) -> Blocks:
    symbols, nv = equations.symbols, derivatives.nv
    along = _changes(equations)
    values = dict(zip((*symbols.vdot, *symbols.lam), derivatives.at(), strict=True))
    right = substitute([-x for x in directional(derivatives.residual, along)], values)
    vdot, lam, _ = derivatives.factored().solve(right[:nv], right[nv:], refinements=0)
    outputs = list(equations.outputs.values())
    return [
        ("qdot", directional(_rates(equations), along)),
        ("vdot", vdot),
        ("lam", lam),
        ("outputs", directional(outputs, along)),
    ]


def adjoint_makers(
    equations: Equations, derivatives: Derivatives, weights: Sequence[Expr]
) -> dict[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    adjoint (x = weights of q̇, v̇, outputs): the gradient by q, v, u, p of (adjoint-1);
    adjoint_motion (x = weights of q̇, v̇): the same without outputs.

    Args:
        equations: of any formalism.
        derivatives: of them.
        weights: symbols of the weights, in that order.
    """
    state = weights[: len(equations.symbols.q) + derivatives.nv]
    return {
        "adjoint": lambda: _adjoint(equations, derivatives, weights),
        "adjoint_motion": lambda: _adjoint(equations, derivatives, state),
    }


def _adjoint(equations: Equations, derivatives: Derivatives, weights: Sequence[Expr]) -> Blocks:
    symbols, nq, nv = equations.symbols, len(equations.symbols.q), derivatives.nv
    of_q, of_v, of_outputs = weights[:nq], weights[nq : nq + nv], weights[nq + nv :]
    a, b, _ = derivatives.factored().solve(list(of_v), [ZERO] * len(symbols.lam), refinements=0)
    total: Expr = ZERO
    for (i, k), entry in equations.kinematics.N.items():
        total = total + of_q[i] * entry * symbols.v[k]
    for weight, formula in zip(of_outputs, equations.outputs.values(), strict=False):
        total = total + weight * formula
    solved = dict(zip((*symbols.vdot, *symbols.lam), derivatives.at(), strict=True))
    variables = [*symbols.q, *symbols.v, *symbols.u, *symbols.p]
    own = gradient(total, variables)
    held = [symbol(f"adjoint {k}") for k in range(nv + len(symbols.lam))]
    missed: Expr = ZERO
    for weight, row in zip(held, derivatives.residual, strict=True):
        missed = missed + weight * row
    values = solved | dict(zip(held, (*a, *(-x for x in b)), strict=True))
    through = substitute(gradient(missed, variables), values)
    gradients = [x - y for x, y in zip(own, through, strict=True)]
    return _by_variables(equations, gradients)


def _by_variables(equations: Equations, gradients: Sequence[Expr]) -> Blocks:
    """Gradients by q, v, u and p as blocks."""
    symbols, blocks, start = equations.symbols, Blocks(), 0
    for name, group in {"q": symbols.q, "v": symbols.v, "u": symbols.u, "p": symbols.p}.items():
        blocks.append((name, gradients[start : start + len(group)]))
        start += len(group)
    return blocks


def closing_makers(
    equations: Equations,
    factors: Callable[[], tuple[Factor, Factor]],
    weights: Sequence[Expr],
) -> dict[str, Callable[[], Blocks]]:
    """Name -> what makes the entry.

    adjoint_closing (x = weights of q, v): weights of q and v before a projection, and gradients by
    u and p, of (adjoint-2).

    Args:
        equations: of any formalism.
        factors: the eliminated saddles of positions and of velocities.
        weights: symbols of the weights, in that order.
    """
    return {"adjoint_closing": lambda: _closing(equations, *factors(), weights)}


def _closing(
    equations: Equations, of_positions: Factor, of_velocities: Factor, weights: Sequence[Expr]
) -> Blocks:
    symbols, closures = equations.symbols, equations.closures
    nq, nv = len(symbols.q), len(symbols.v)
    variables = [*symbols.q, *symbols.v, *symbols.u, *symbols.p]
    zeros = [ZERO] * (len(symbols.u) + len(symbols.p))
    gathered = [*weights[: nq + nv], *zeros]
    _, b, _ = of_velocities.solve(gathered[nq : nq + nv], [ZERO] * len(closures.rate))
    gathered = _with_rows(gathered, closures.rate, b, variables)
    along: list[Expr] = [ZERO] * nv
    for (i, k), entry in equations.kinematics.N.items():
        along[k] = along[k] + entry * gathered[i]
    _, b, _ = of_positions.solve(along, [ZERO] * len(closures.phi))
    return _by_variables(equations, _with_rows(gathered, closures.phi, b, variables))


def _with_rows(
    gathered: Sequence[Expr],
    rows: Sequence[Expr],
    forces: Sequence[Expr],
    variables: Sequence[Expr],
) -> list[Expr]:
    """Weights plus the gradient of forces · rows, the forces held."""
    held = [symbol(f"adjoint {k}") for k in range(len(rows))]
    total: Expr = ZERO
    for weight, row in zip(held, rows, strict=True):
        total = total + weight * row
    more = substitute(gradient(total, variables), dict(zip(held, forces, strict=True)))
    return [x + y for x, y in zip(gathered, more, strict=True)]
