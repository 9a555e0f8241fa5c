"""Unilateral constraints of a mechanism as plain data: contacts, relations, friction, collisions.

Public names: sides, collisions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from liaison.errors import ModelError
from liaison.expr import as_expr
from liaison.model import BearingFriction, Collision, DryFriction, GapContact, Unilateral
from liaison.model.contacts.collisions import surfaces_of
from liaison.model.contacts.friction import GROUPS, Friction
from liaison.model.pairing import is_scene

if TYPE_CHECKING:
    from liaison.model import Contact

    from .summary import Summary


def sides(checked: Summary) -> list[dict[str, Any]]:
    """Contacts, relations and friction that sticks: name, kind, law and coefficients.

    A coefficient that depends on time or on an unknown is None. What has a gap reports it at the
    start, the least of its places: below 0 it is inside.
    """
    if not checked.mechanism.contacts:
        return []
    from liaison.analyse.rest.start_gaps import start_gaps

    gaps = {} if checked.start is None else start_gaps(checked.mechanism, checked.start.state)
    rows = [_side(checked, one) for one in checked.mechanism.contacts]
    return [x | {"gap": gaps[x["name"]]} if x["name"] in gaps else x for x in rows]


def _side(checked: Summary, one: Any) -> dict[str, Any]:
    from liaison.model import Contact

    match one:
        case Collision():
            facts = {"kind": "collide", "of": _colliding(one)}
            return {"name": one.name, **facts, **_dissipation(checked, one)}
        case Contact():
            facts = {"kind": "contact", "of": one.kind, "with": one.target.WORD}
            return {"name": one.name, **facts, **_dissipation(checked, one)}
        case GapContact():
            facts = {"kind": "contact", "of": "formula", "with": ""}
            return {"name": one.name, **facts, **_dissipation(checked, one)}
        case Unilateral():
            from liaison.expr.bind import to_floats
            from liaison.expr.reading.reading import plain
            from liaison.expr.reading.text import to_unicode

            formula = to_floats([as_expr(one.formula)])[0]  # 10 deg is a number, not a part of π
            facts = {"kind": "relation", "of": f"{to_unicode(plain(formula))} ≤ 0"}
            return {"name": one.name, **facts, **_restitution(checked, one)}
        case DryFriction():
            bounds = {"sliding": _value(checked, one.dry), "static": _value(checked, one.static)}
            facts = {"kind": "friction", "of": one.coordinate, "law": one.law}
            return {"name": one.name, **facts, "friction": bounds}
        case BearingFriction():
            bounds = {
                "sliding": _value(checked, one.coefficient),
                "static": _value(checked, one.static),
            }
            facts = {"kind": "friction by load", "of": one.joint, "law": one.law}
            return {"name": one.name, **facts, "friction": bounds}
    raise ModelError(f"{one.name!r} is of a kind that is not known here: {type(one).__name__}.")


def _colliding(one: Collision) -> str:
    """ "24 bodies and 5 planes"."""
    bodies = len({x.body for x in one.markers()} - {"ground"})
    planes = len({(x.R, x.p) for x in one.markers() if x.body == "ground"})
    words = [f"{bodies} {'body' if bodies == 1 else 'bodies'}"] * (bodies > 0)
    words += [f"{planes} {'plane' if planes == 1 else 'planes'}"] * (planes > 0)
    return " and ".join(words)


def _value(checked: Summary, x: Any) -> float | None:
    return None if x is None else checked.value(x)


def _dissipation(checked: Summary, one: Collision | Contact | GapContact) -> dict[str, Any]:
    return _restitution(checked, one) | _friction(checked, one)


def _restitution(checked: Summary, one: Any) -> dict[str, float | None]:
    return {"restitution": checked.value(one.restitution)}


def _friction(checked: Summary, one: Collision | Contact | GapContact) -> dict[str, Any]:
    """Law and coefficients of the groups that resist."""
    friction: Friction = one.friction
    coefficients: dict[str, float | None] = {}
    for moving, rest, viscous, _ in GROUPS:
        if friction.resists(moving, viscous):
            parts = {moving: getattr(friction, moving), rest: getattr(friction, rest)}
            parts |= {viscous: getattr(friction, viscous)}
            parts |= {"across": friction.across} if moving == "sliding" else {}
            values = {k: checked.value(x) for k, x in parts.items() if x is not None}
            coefficients |= {k: x for k, x in values.items() if x != 0}
    return {"law": friction.law, "friction": coefficients} if coefficients else {}


def collisions(checked: Summary) -> dict[str, Any] | None:
    """How many pairs may touch, and how they are marched; None where nothing collides."""
    mechanism = checked.mechanism
    if not any(isinstance(x, Collision) for x in mechanism.contacts):
        return None
    facts: dict[str, Any] = {"pairs": surfaces_of(mechanism).pairs}
    try:
        return facts | {"marched": "scene" if is_scene(mechanism) else "contacts"}
    except ModelError as error:
        return facts | {"marched": None, "why": error.message, "hint": error.hint}
