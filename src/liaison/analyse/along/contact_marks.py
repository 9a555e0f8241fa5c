"""contact_marks: places of contact as formulas, with the directions in which their rows act.

What `contact_points` and `formula_contacts` evaluate along a run, for whoever evaluates it later: a
row with the force f acts at the point with the force f n and the moment f m, all in the ground's
axes.

Public names: ContactMark, contact_marks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.equations.sweeps.articulated import solve_symmetric
from liaison.expr import Expr, as_expr
from liaison.model import Contact, Mechanism
from liaison.spatial.arrays import array, product, zeros
from liaison.tree import GROUND, ContactPlace, Kinematics, contact_places, on_symbols, span
from liaison.tree.closure import marker_motion
from liaison.tree.contact.sides import SideBlock, side_blocks

ROWS = ("", ": sliding x", ": sliding y", ": pivoting", ": rolling x", ": rolling y")
"""Rows of a contact of two frames: along its normal and tangents, then about them."""


@final
@dataclass(frozen=True, slots=True)
class ContactMark:
    """One place of contact, as formulas of t, q, v and the parameters.

    Attributes:
        name: of the contact, or with the number of a corner or rim.
        block: whose mode says whether it is closed.
        sliding: whose mode says whether it slips; empty where nothing can.
        is_placed: False of a formula of several joints, which stands beside one of them.
        point: [m].
        over: square of the speed at which the point goes on over the first body [m²/s²]; None
            where it cannot roll.
        rows: label of a force -> its direction n and the moment m of a unit of it.
    """

    name: str
    block: str
    sliding: str
    is_placed: bool
    point: Sequence[Expr]
    over: Expr | None
    rows: dict[str, tuple[Sequence[Expr], Sequence[Expr]]]


def contact_marks(mechanism: Mechanism, labels: Sequence[str]) -> tuple[ContactMark, ...]:
    """Every place of contact, between frames and by formulas.

    Args:
        mechanism: with contacts.
        labels: of the forces of its contacts, in their order.
    """
    moves, qdot = on_symbols(span(mechanism))
    blocks = side_blocks(moves, qdot)
    names = {x.name for x in blocks}
    rolling = {x.name for x in mechanism.contacts if isinstance(x, Contact) and x.shape.ROLLS}
    placed = {x.name for x in mechanism.contacts if isinstance(x, Contact)}
    owned: dict[str, list[SideBlock]] = {}
    for block in blocks:
        if block.owner not in placed:
            owned.setdefault(block.owner, []).append(block)
    of_frames = [
        _between_frames(x, labels, names, x.name.partition("[")[0] in rolling)
        for x in contact_places(moves, qdot)
    ]
    return (*of_frames, *_by_formulas(moves, owned, labels))


def _between_frames(
    place: ContactPlace, labels: Sequence[str], blocks: set[str], can_roll: bool
) -> ContactMark:
    axes = [_plain(x) for x in (place.normal, *place.tangents)]
    nothing = [as_expr(0)] * 3
    acts = [*((x, nothing) for x in axes), *((nothing, x) for x in axes)]
    known = {f"{place.name}{end}": x for end, x in zip(ROWS, acts, strict=True)}
    sliding = f"{place.name}: sliding"
    over = place.geometric - place.on_first
    return ContactMark(
        place.name,
        place.name,
        sliding if sliding in blocks else "",
        True,
        _plain(place.point),
        as_expr(over @ over) if can_roll else None,
        {label: x for label, x in known.items() if label in labels},
    )


def _by_formulas(
    moves: Kinematics, owned: dict[str, list[SideBlock]], labels: Sequence[str]
) -> Iterator[ContactMark]:
    """Each at the last joint whose coordinates it holds; its wrench, where there is one joint."""
    tree = moves.tree
    for owner, blocks in owned.items():
        reached = {k for block in blocks for row in block.rows for k in row.G}
        nodes = [x for x in tree.nodes if reached & set(range(len(moves.v))[x.v])]
        if not nodes:
            continue
        node = nodes[-1]
        seen = marker_motion(moves, GROUND, tree.located(node.joint.successor))
        rows: dict[str, tuple[Sequence[Expr], Sequence[Expr]]] = {}
        for block in blocks:
            sign = -1 if block.kind == "rate" else 1
            for label, row in zip(_labels(block, labels), block.rows, strict=True):
                effort = array([sign * row.G.get(k, 0) for k in range(len(moves.v))[node.v]])
                wrench = _wrench(node.joint.type.subspace(list(moves.q[node.q])), effort)
                if len(nodes) > 1:
                    wrench = zeros(6)
                turned = [product(seen.R, x) for x in (wrench[3:], wrench[:3])]
                rows[label] = _plain(turned[0]), _plain(turned[1])
        yield ContactMark(owner, blocks[0].name, "", len(nodes) == 1, _plain(seen.p), None, rows)


def _wrench(S: Any, effort: Any) -> Any:
    """The least wrench that does the work of an effort on a joint: S (Sᵀ S)⁻¹ τ."""
    subspace = array(S)
    gram = product(subspace.T, subspace)
    (solution,) = solve_symmetric(gram, effort)
    return product(subspace, solution)


def _labels(block: SideBlock, labels: Sequence[str]) -> list[str]:
    """Labels of the forces of a block."""
    if block.name in labels:
        return [block.name]
    return [x for x in labels if x.startswith(f"{block.name} ")]


def _plain(x: Any) -> list[Expr]:
    return [as_expr(y) for y in x]
