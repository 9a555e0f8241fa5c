"""deflate: first-order relations added where closures vanish to second order only.

Where y with yᵀ G = 0 and a velocity v with G v = ν give

    yᵀ γ(v) ≠ 0,                                                              (analysis-7)

G v̇ = γ has no solution: v leads nowhere, although the first order allows it. If that is so at every
position near (a non-reduced closure, as δ² = 0), multipliers give a wrong acceleration; what
elimination leaves of G vanishes on the whole variety, and taken for relations of its own it gives G
the rank it lacks. If no velocity is left at all, the mechanism is shaky and cannot move.

Public names: deflate, deflated_or_same.

Source: docs/theory/mobility.md (mobility-7).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from liaison.equations import newton_euler
from liaison.equations.start_checks import ADDED
from liaison.equations.transform.dependent import missing
from liaison.errors import DerivationError, LiaisonError, OptionError
from liaison.expr import Expr, substitute, symbol
from liaison.freedoms import Mobility, mobility
from liaison.freedoms.keywords import ProofKeywords
from liaison.model import Holonomic, Mechanism
from liaison.tree import assemble, span

PATIENCE = 20.0
"""Seconds for asking why a mechanism is obstructed before it is run as it is."""


def deflate(mechanism: Mechanism, **options: Unpack[ProofKeywords]) -> Mechanism:
    """The mechanism with relations added that its closures leave out; itself if there are none.

    Args:
        mechanism: whose closures may be of second order all along its motion.
        **options: of `mobility`: order, primes, seed, time_limit.

    Raises:
        DerivationError: it is shaky where it is assembled, and cannot move; or branches meet.

    Example:
        >>> import liaison
        >>> m = liaison.deflate(liaison.read("examples/four_bar.lsd"))
        >>> m.name
        'four bar'
    """
    OptionError.check("deflate", options, ProofKeywords.__annotations__)
    result = mobility(mechanism, **options)
    if result.status == "regular":
        return mechanism
    if result.status != "non-reduced":
        raise motion_error(result)
    return deflated(mechanism, result)


def deflated(mechanism: Mechanism, result: Mobility) -> Mechanism:
    """The mechanism with the missing relations at a non-reduced position; itself if undecided."""
    if result.finite[0] != result.finite[1]:
        return mechanism
    tree = span(mechanism)
    equations, state = newton_euler(tree), assemble(tree)
    symbols, labels = equations.symbols, equations.labels
    values = {symbols.t: state.t, **dict(zip(symbols.q, state.q.tolist(), strict=True))}
    values |= dict(zip(symbols.p, equations.defaults["p"], strict=True))
    values |= dict(zip(symbols.u, equations.defaults["u"], strict=True))
    named: dict[Expr, Any] = {symbols.t: symbol("t")}
    for array in ("q", "p", "u"):
        own = getattr(symbols, array)
        named |= {x: symbol(label.name) for x, label in zip(own, labels[array], strict=True)}
    zeros = substitute(missing(equations, values, result.finite[0]), named)
    more = (Holonomic(f"{ADDED} {k + 1}", x) for k, x in enumerate(zeros))
    return replace(mechanism, constraints=(*mechanism.constraints, *more))


def deflated_or_same(mechanism: Mechanism) -> Mechanism:
    """The same for an obstructed mechanism; itself where its constraints cannot be identified.

    Raises:
        DerivationError: it is shaky, and cannot move.
    """
    try:
        result = mobility(mechanism, time_limit=PATIENCE)
    except LiaisonError:
        return mechanism
    if result.status == "shaky":
        raise motion_error(result)
    return deflated(mechanism, result) if result.status == "non-reduced" else mechanism


def motion_error(result: Mobility) -> DerivationError:
    """Why a mechanism has no motion, or no single one, where it is assembled."""
    low, high = result.finite
    if high == 0:
        return DerivationError(
            f"'{result.name}' cannot move: its mobility is 0 although its closures leave "
            f"{result.first_order} to first order (it is {result.status}). Forces along that way "
            "are held by no finite reaction.",
            hint="Give joints some play, or a body some elasticity (a spring); "
            "`liaison mobility` says more.",
        )
    count = f"{low}" if low == high else f"{low} to {high}"
    return DerivationError(
        f"'{result.name}' has no single motion where it is assembled (mobility {count}, "
        f"{result.status}).",
        hint="Start at another position, on the branch that is meant.",
    )
