"""Lagrange's equations without multipliers: the closures are solved for dependent velocities.

    v = Ψ u + ψ,    Ψᵀ (d/dt ∂T/∂v − X T + …) = Ψᵀ (−X U + τ)                  (lagrange-2)

u are velocities of independent coordinates, as many as the mechanism has degrees of freedom there;
reactions do no work on Ψ and drop out. For holonomic closures these are Lagrange's equations in
independent coordinates, for others Maggi's. In the contract the equations fill the rows of u alone;
the closures give the other accelerations. Multipliers, which reactions need, follow from the
equations before they were reduced.

Public names: lagrange_reduced, position_values.

Source: JB94 §5.3; docs/theory/formalisms.md (lagrange-2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from liaison.equations.completion import plain_dynamics
from liaison.equations.equations import Equations
from liaison.equations.transform.transform import Reduced, reduced
from liaison.errors import DerivationError, NamingError
from liaison.expr import ZERO, Expr, count_operations
from liaison.tree import Tree, assemble

from .formalism import formalism
from .lagrange import lagrange

LIMIT = 200_000
"""Operations that the solved closures may take."""


@formalism(rank=3)
def lagrange_reduced(
    tree: Tree,
    *,
    independent: Sequence[str] = (),
    at: Mapping[str, float] | None = None,
    limit: int = LIMIT,
) -> Equations:
    """The equations of motion in independent velocities.

    Args:
        tree: of the mechanism.
        independent: coordinates to keep where that is possible; chosen if not given.
        at: every coordinate by label, at a position that satisfies the closures, near which the
            equations are to hold; where the mechanism is assembled if not given.
        limit: of operations of the reduced equations.

    Returns:
        The equations; `native["lagrange_reduced"]` is a `Reduced`, where there are closures. They
        hold where none of its pivots vanishes.

    Raises:
        AssemblyError: the mechanism cannot be assembled.
        DerivationError: a parameter has no value, or the formulas are too large.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/pendulum.lsd"))
        >>> liaison.lagrange_reduced(tree)
        <Equations pendulum, by lagrange reduced: 1 equation>
    """
    full = lagrange(tree)
    if not full.closures.gamma:
        return replace(full, formalism="lagrange_reduced")
    reduction = reduced(full, position_values(tree, full, at), independent)
    count = sum(count_operations([*reduction.M.values(), *reduction.force]).values())
    if count > limit:
        raise DerivationError(
            f"the closures solved in formulas take {count} operations, more than {limit}.",
            hint="Keep the multipliers: lagrange.",
        )
    return _in_contract(full, reduction)


def position_values(
    tree: Tree, equations: Equations, at: Mapping[str, float] | None = None
) -> dict[Expr, float]:
    """t, q, inputs and parameters at a position, by default at the mechanism's start."""
    symbols, values = equations.symbols, {equations.symbols.t: 0.0}
    if at is None:
        state = assemble(tree)
        values |= dict(zip(symbols.q, state.q.tolist(), strict=True)) | {symbols.t: state.t}
    else:
        for x in symbols.q:
            if x.name not in at:
                raise NamingError.unknown("position given for a coordinate", x.name, at)
            values[x] = float(at[x.name])
    values |= dict(zip(symbols.u, equations.defaults["u"], strict=True))
    values |= dict(zip(symbols.p, equations.defaults["p"], strict=True))
    missing = [x.name for x, value in values.items() if math.isnan(value)]
    if missing:
        raise DerivationError(
            f"the parameter {missing[0]!r} has no value: which velocities are independent depends "
            "on it.",
            hint="Give it one, or keep the multipliers.",
        )
    return values


def _in_contract(full: Equations, reduction: Reduced) -> Equations:
    """The reduced equations in the rows of their velocities; nothing in the others."""
    symbols = full.symbols
    places = [symbols.v.index(x) for x in reduction.u]
    M = {(places[i], places[j]): entry for (i, j), entry in reduction.M.items()}
    M = {(max(key), min(key)): entry for key, entry in M.items()}
    h = [ZERO] * len(symbols.v)
    for place, force in zip(places, reduction.force, strict=True):
        h[place] = -force
    dynamics = plain_dynamics(symbols.vdot, M, h, [ZERO] * len(h))
    return replace(
        full,
        formalism="lagrange_reduced",
        dynamics=replace(dynamics, whole=full.dynamics),
        native={"lagrange_reduced": reduction},
    )
