"""What holds on one side only, and friction, as blocks of rows: gaps, rates, slips.

A block tells its rows so that the allowed side is u ≥ 0 and a force f ≥ 0 acts along it:

    gap:       g(q, t) ≥ 0 ⟂ f ≥ 0,   u = ġ;
    rate:      the author's W v + w ≤ 0 as u = −(W v + w) ≥ 0 ⟂ f ≥ 0;              (sides-1)
    friction:  one or two rows of slip u, ‖f‖ ≤ bound, f opposes u;

the effort on v is Dᵀ f in each, with u = D v + d and u̇ = D v̇ − γ.

Public names: SideBlock, side_blocks.

Source: docs/theory/closures.md (closure-1), (rolling-1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from liaison.errors import DerivationError
from liaison.expr import Expr, as_expr, symbols_of
from liaison.model import Contact, OneSided, Unilateral
from liaison.spatial import is_zero

from .closure import Row, relation_row, template_rows, with_rates
from .kinematics import Kinematics
from .rolling import height, slips
from .templates import P, R, derived, second_order


@final
@dataclass(frozen=True, slots=True)
class SideBlock:
    """Rows that are active together: a gap, a rate, or a slip of one or two components."""

    name: str  # 'floor', 'floor: sliding', …
    owner: str  # the contact, relation or friction it belongs to
    kind: str  # "gap", "rate" or "friction"
    rows: tuple[Row, ...]  # value is the gap, or None; G = D, rate = u, nu = −d, u̇ = D v̇ − gamma
    load: int | None = None  # of friction: the gap block whose force bounds it; None: as it says
    restitution: Any = 0  # of a gap
    friction: Any = 0  # dynamic coefficient f [-], r or p [m]; without load, the bound [N, N·m]
    static: Any = None  # the same at rest; None: as the dynamic one
    across: Any = None  # dynamic coefficient along the second row; None: as along the first
    viscous: Any = 0  # −viscous u, besides, while the contact is closed
    law: str = "coulomb"  # or "stribeck", "regularized"
    speed: Any = 0  # Stribeck's, or the regularizing one


def side_blocks(kinematics: Kinematics, qdot: Sequence[Any]) -> list[SideBlock]:
    """Every block of the mechanism; a load stands before the friction that it bounds.

    Args:
        kinematics: on formulas of q and v.
        qdot: N v.
    """
    found: list[SideBlock] = []
    for one in kinematics.tree.mechanism.contacts:
        found += _blocks(kinematics, qdot, one, len(found))
    return found


def _blocks(
    kinematics: Kinematics, qdot: Sequence[Any], one: OneSided, first: int
) -> list[SideBlock]:
    match one:
        case Unilateral():
            return [_unilateral(kinematics, qdot, one)]
        case Contact():
            return _contact(kinematics, one, first)
    raise DerivationError(f"no one-sided rows are known for {type(one).__name__}.", place=one.place)


def _unilateral(kinematics: Kinematics, qdot: Sequence[Any], one: Unilateral) -> SideBlock:
    """g = −Φ, or u = −(W v + w)."""
    q, v = kinematics.q, kinematics.v
    formula = with_rates(as_expr(-as_expr(one.formula)), q, v, qdot)
    of_speeds = not set(v).isdisjoint(symbols_of([formula]))
    row = relation_row(formula, q, v, qdot, of_speeds=of_speeds)
    return SideBlock(one.name, one.name, "rate" if of_speeds else "gap", (row,))


def _contact(kinematics: Kinematics, one: Contact, first: int) -> list[SideBlock]:
    """The gap and, where there is friction, the slip of the point that touches."""
    number = kinematics.tree.numbers
    kind, radius = ("ball", 0) if one.kind == "point" else (one.kind, number(one.radius))
    gap: Expr = height(kind, radius, R, P)
    templates: list[Any] = [(gap, *derived(gap))]
    if not is_zero(one.friction):
        templates += [(None, n, g, second_order(n, g)) for n, g in slips(kind, radius, R)]
    places = kinematics.tree.located(one.second), kinematics.tree.located(one.first)
    normal, *slip = template_rows(kinematics, *places, templates)
    block = SideBlock(one.name, one.name, "gap", (normal,), restitution=number(one.restitution))
    if not slip:
        return [block]
    name = f"{one.name}: sliding"
    sliding = SideBlock(name, one.name, "friction", tuple(slip), load=first)
    return [block, replace(sliding, friction=number(one.friction))]
