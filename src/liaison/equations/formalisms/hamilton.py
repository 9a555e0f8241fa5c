"""Hamilton's equations: momenta in the place of velocities.

With p_k = ∂L/∂v_k, H = Σ p_k v_k − L, X_k the derivative along the k-th velocity and
[X_j, X_k] = Σ c^s_jk X_s,

    q̇ = N ∂H/∂p,     ṗ_k = −X_k H + Σ c^s_jk v_j p_s + Q_k + (Gᵀ λ)_k                (hamilton-1)

Where velocities are rates the c vanish and these are Hamilton's own; for quaternions p is the
moment of momentum in the body's axes and they are Lie and Poisson's. Weight, springs and potentials
are in H; what has no potential (dampers, motors, friction, given forces) is in Q. H is explicit, of
(q, p), where M can be inverted in formulas at acceptable cost; implicit otherwise: H of (q, v),
with p beside it, and −X_k H at constant p is X_k L at constant v.

A potential V(q, v, t) of velocities is in L: p = ∂T/∂v − ∂V/∂v. Where V is of degree two or less in
v, p = M v + a with M of (q, t), a = −∂V/∂v at v = 0, and

    H = ½ (p − a)ᵀ M⁻¹ (p − a) + U + V(q, 0, t);                                     (hamilton-2)

of a higher degree, p cannot be solved for v in formulas, and H stays implicit.

Public names: hamilton, Hamilton, momentum_symbols, canonical_momenta, potential_and_forces.

Source: PA, « équations de Hamilton » (p = ∂L/∂q̇).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from liaison.equations.bodies import momenta, slopes, velocities, weight_potential
from liaison.equations.commutators import commutator_terms
from liaison.equations.completion import completed, plain_dynamics
from liaison.equations.equations import Equations
from liaison.equations.setting import Setting, setting_of
from liaison.equations.sweeps.articulated import solve_symmetric
from liaison.errors import DerivationError
from liaison.expr import (
    ONE,
    ZERO,
    Expr,
    as_expr,
    count_operations,
    directional,
    gradient,
    jacobian,
    substitute,
    symbol,
    symbols_of,
)
from liaison.lazy import Shown
from liaison.spatial.arrays import array, dot, is_zero, zeros
from liaison.spatial.plucker import act_force
from liaison.tree import GROUND, Kinematics, Tree

from .formalism import formalism

LIMIT = 2000
"""Default limit of operations of an explicit H."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Hamilton(Shown):
    """Hamilton's equations in q and p."""

    p: tuple[Expr, ...]
    momenta: tuple[Expr, ...]  # p = ∂L/∂v, of q and v; M v without potentials of velocities
    is_explicit: bool
    H: Expr  # of q, p and t; of q, v and t where it is implicit [J]
    v: tuple[Expr, ...]  # ∂H/∂p, of q and p; the symbols of v where H is implicit
    qdot: tuple[Expr, ...]  # N v
    pdot: tuple[Expr, ...]  # ṗ of (hamilton-1), Gᵀ λ with the symbols of λ in it
    Q: tuple[Expr, ...]  # forces without potential
    note: str  # what was done, in words


@formalism(rank=4)
def hamilton(tree: Tree, *, explicit: bool | None = None, limit: int = LIMIT) -> Equations:
    """The equations of motion from the Hamiltonian.

    Args:
        tree: of the mechanism.
        explicit: H of q and p; if not given, where it takes no more operations than the limit.
        limit: of operations of an explicit H.

    Returns:
        The equations along the tree's velocities; `native["hamilton"]` is a `Hamilton`.

    Raises:
        DerivationError: an explicit H is asked for where M cannot be inverted, or where it takes
            more operations than the limit.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/pendulum.lsd"))
        >>> liaison.hamilton(tree)
        <Equations pendulum, by hamilton: 1 equation>
    """
    setting = setting_of(tree)
    v = list(setting.symbols.v)
    p = momentum_symbols(setting)
    p_of_v = canonical_momenta(setting)
    M = jacobian(p_of_v, v)
    U, Q = potential_and_forces(setting)
    offsets = substitute(p_of_v, dict.fromkeys(v, ZERO))
    speeds, note = _speeds(setting, M, [x - a for x, a in zip(p, offsets, strict=True)],
                           explicit=explicit, limit=limit)  # fmt: skip
    if speeds is None:
        H, fall = _implicit(setting, p_of_v, U)
        felt = fall
    else:
        H, fall = _explicit(setting, p, offsets, speeds, U)
        felt = substitute(fall, dict(zip(p, p_of_v, strict=True)))
    flow = dict(zip(setting.symbols.q, setting.qdot, strict=True)) | {setting.symbols.t: ONE}
    h = [a - b for a, b in zip(directional(p_of_v, flow), felt, strict=True)]
    dynamics = plain_dynamics(setting.symbols.vdot, M, h, Q)
    equations = completed("hamilton", tree, setting, dynamics, is_whole=True)
    speeds_by_symbol = dict(zip(v, speeds, strict=True)) if speeds else {}
    native = Hamilton(
        p=tuple(p),
        momenta=tuple(p_of_v),
        is_explicit=speeds is not None,
        H=H,
        v=tuple(speeds or v),
        qdot=tuple(substitute(setting.qdot, speeds_by_symbol)),
        pdot=tuple(
            a + b
            for a, b in zip(fall, substitute(_pushed(equations), speeds_by_symbol), strict=True)
        ),
        Q=tuple(substitute(Q, speeds_by_symbol)),
        note=f"{note} {_potential_note(setting)}",
    )
    return replace(equations, native={"hamilton": native})


def canonical_momenta(setting: Setting) -> list[Expr]:
    """p = ∂L/∂v, of q, v and t."""
    p = generalized_momenta(setting.kinematics)
    if setting.rate_potential is ZERO:
        return p
    slopes_of_V = gradient(setting.rate_potential, list(setting.symbols.v))
    return [a - b for a, b in zip(p, slopes_of_V, strict=True)]


def momentum_symbols(setting: Setting) -> list[Expr]:
    """p_theta beside theta, with a further p where that name is taken."""
    symbols = setting.symbols
    in_use = {x.name for x in (*symbols.q, *symbols.v, *symbols.u, *symbols.p)}
    p_symbols = []
    for x in symbols.v:
        name = f"p_{x.name.removesuffix(chr(39))}"
        while name in in_use:
            name = f"p{name}"
        p_symbols.append(symbol(name))
    return p_symbols


def generalized_momenta(kinematics: Kinematics) -> list[Expr]:
    """p_k = S_kᵀ · (moment of momentum, momentum) of all that the joint carries, of q and v."""
    nodes = kinematics.tree.nodes
    total = momenta(kinematics, velocities(kinematics))
    p: list[Any] = [0] * kinematics.tree.nv
    for i in range(len(nodes) - 1, -1, -1):
        S = kinematics.subspace(i)
        for k in range(S.shape[1]):
            p[nodes[i].v.start + k] = dot(S[:, k], total[i])
        if nodes[i].parent != GROUND:
            total[nodes[i].parent] = total[nodes[i].parent] + act_force(
                *kinematics.pose(i), total[i]
            )
    return [as_expr(x) for x in p]


def potential_and_forces(setting: Setting) -> tuple[Expr, list[Expr]]:
    """U of weight and of every load that has a potential of positions; τ of those without any."""
    U, Q = weight_potential(setting), [ZERO] * setting.tree.nv
    for load in setting.loads:
        if load.rate_potential is not None:
            continue
        if not is_zero(load.potential):
            U = U + as_expr(load.potential)
            continue
        for j, entry in load.tau.items():
            Q[j] = Q[j] + entry
    return U, Q


def _potential_note(setting: Setting) -> str:
    names = [x.name for x in setting.loads if is_zero(x.potential) and x.rate_potential is None]
    if not names:
        return "Every force has a potential and is in H."
    return f"Forces without a potential are beside H, in Q: {', '.join(names)}."


def _speeds(
    setting: Setting,
    M: Mapping[tuple[int, int], Expr],
    p: list[Expr],
    *,
    explicit: bool | None,
    limit: int,
) -> tuple[list[Expr] | None, str]:
    """∂H/∂p = M⁻¹ p as formulas, and a note; None where H stays implicit."""
    if explicit is False:
        return None, "H is implicit, of q and v, with p = M v, as asked for."
    if {*symbols_of(list(M.values()))} & {*setting.symbols.v}:
        why = "a potential is of a degree above two in the velocities, so that p is not linear in v"
        return _implicit_note(explicit, why, None)
    whole = zeros(len(p), len(p))
    for (i, j), entry in M.items():
        whole[i, j] = entry
    try:
        speeds = [as_expr(x) for x in solve_symmetric(whole, array(p))[0]]
    except DerivationError as error:
        return _implicit_note(explicit, "M is singular: some velocities move no inertia", error)
    count = sum(count_operations([dot(p, speeds)]).values())
    if count > limit:
        why = f"M⁻¹ would take {count} operations, more than the limit of {limit}"
        return _implicit_note(explicit, why, None)
    return speeds, f"H is explicit, of q and p; its kinetic part takes {count} operations."


def _implicit_note(
    explicit: bool | None, why: str, error: DerivationError | None
) -> tuple[None, str]:
    if explicit:
        raise DerivationError(
            f"no explicit Hamiltonian: {why}.",
            hint="Leave it implicit (explicit=False), raise the limit, or use lagrange.",
        ) from error
    return None, f"H is implicit, of q and v, with p = M v: {why}."


def _implicit(setting: Setting, p_of_v: list[Expr], U: Expr) -> tuple[Expr, list[Expr]]:
    """H of (q, v), and what of ṗ follows from it: X L at constant v, and the turning of axes."""
    T = as_expr(dot(generalized_momenta(setting.kinematics), setting.symbols.v)) / 2
    turn = commutator_terms(setting.tree, p_of_v, setting.symbols.v)
    along = zip(slopes(setting, T - setting.rate_potential), slopes(setting, U), turn, strict=True)
    stored = sum((x.potential for x in setting.loads if x.rate_potential is not None), ZERO)
    return as_expr(T + U + stored), [a - b + c for a, b, c in along]


def _explicit(
    setting: Setting, p: list[Expr], offsets: list[Expr], speeds: list[Expr], U: Expr
) -> tuple[Expr, list[Expr]]:
    """H of (q, p), and what of ṗ follows from it: −X H, and the turning of axes."""
    still = substitute([setting.rate_potential], dict.fromkeys(setting.symbols.v, ZERO))[0]
    moving = [a - b for a, b in zip(p, offsets, strict=True)]
    H = as_expr(dot(moving, speeds)) / 2 + U + still
    turn = commutator_terms(setting.tree, p, speeds)
    return H, [b - a for a, b in zip(slopes(setting, H), turn, strict=True)]


def _pushed(equations: Equations) -> list[Expr]:
    """Q + Gᵀ λ."""
    total = list(equations.dynamics.tau)
    for (k, j), entry in equations.closures.G.items():
        total[j] = total[j] + entry * equations.symbols.lam[k]
    return total
