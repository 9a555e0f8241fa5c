"""Printed lines about unilateral constraints: of a mechanism, and of a run.

Names with values and units, as text.

Public names: sides, side_lines, collisions, collision_line, event, event_lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from liaison.errors import ModelError
from liaison.expr import as_expr
from liaison.model import BearingFriction, Collision, DryFriction, GapContact, Unilateral
from liaison.model.contacts.collisions import surfaces_of
from liaison.model.contacts.friction import GROUPS, Friction
from liaison.model.pairing import is_scene
from liaison.verbs.summary import Summary

if TYPE_CHECKING:
    from liaison.model import Contact
    from liaison.simulation.record.series import EventRecord
    from liaison.simulation.record.trajectory import Trajectory

TOUCHES = 1e-9
"""A gap below this at the start is closed [m]."""
MOST = 12
"""Events of contacts that are listed one by one."""


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


def collision_line(facts: Mapping[str, Any]) -> str:
    """One line: "105 pairs may touch, marched as a scene of free bodies, in fixed steps"."""
    ways = {
        "scene": "marched as a scene of free bodies, in fixed steps",
        "contacts": "each a contact of its own",
        None: f"which no run can march: {facts.get('why', '')}",
    }
    return f"{facts['pairs']} pairs may touch, {ways[facts['marched']]}"


def side_lines(listed: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each: "floor: contact of a point with a plane, sliding 0.3, restitution 0.5"."""
    return [f"{x['name']}: {', '.join(_words(x))}" for x in listed]


def _words(x: Mapping[str, Any]) -> list[str]:
    of = f" of {_one(x['of'])} with {_one(x['with'])}" if x.get("with") else ""
    between = " " if x["kind"] == "relation" else " of "
    of = of or (between + x["of"] if x.get("of") else "")
    words = [f"{x['kind']}{of}"]
    words += [
        f"{name.replace('_', ' ')} {'by a formula' if c is None else f'{c:g}{_unit(x, name)}'}"
        for name, c in x.get("friction", {}).items()
        if not (name == "static" and c is None)
    ]
    words += [x["law"]] if x.get("law", "coulomb") != "coulomb" else []
    words += [f"restitution {x['restitution']:g}"] if x.get("restitution") else []
    return words + _gap_words(x)


def _one(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _unit(x: Mapping[str, Any], name: str) -> str:
    """Of a coefficient of friction of a contact; those of joints have the unit of their effort."""
    if x["kind"] not in ("contact", "collide"):
        return ""
    units = {"viscous": " N s/m", "viscous_rolling": " N m s", "viscous_pivoting": " N m s"}
    return units.get(name, " m" if name.endswith(("rolling", "pivoting")) else "")


def _gap_words(x: Mapping[str, Any]) -> list[str]:
    """How a contact begins: ["0.2 m apart at the start"]."""
    gap = x.get("gap")
    if gap is None or (x["kind"] == "relation" and gap >= 0):
        return []
    unit = "" if x["kind"] == "relation" else " m"
    if abs(gap) < TOUCHES:
        return ["touches at the start"]
    return [f"{abs(gap):.4g}{unit} {'apart' if gap > 0 else 'INSIDE'} at the start"]


def event(run: Trajectory, record: EventRecord) -> dict[str, Any]:
    """Events with their times; at impacts, velocities before and after."""
    facts: dict[str, Any] = {"name": record.name, "t": record.t}
    if record.what:
        facts["what"] = record.what
    if record.speed is not None:
        facts["speed"] = record.speed
    if record.together > 1:
        facts["together"] = record.together
    if record.what and record.before is not None:
        names = [label.name for label in run.labels["v"]]
        facts["before"] = dict(zip(names, record.before.tolist(), strict=True))
        facts["after"] = dict(zip(names, record.v.tolist(), strict=True))
    return facts


def event_lines(events: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a run met: events of contacts as a table, others by name with their times."""
    lines = [f"  event        {text}" for text in _occurrences(events)]
    listed = [x for x in events if "what" in x]
    if not listed:
        return lines
    counts = Counter(x["what"] for x in listed)
    summary = ", ".join(f"{many} × {what}" for what, many in counts.items())
    lines.append(f"  contacts     {summary}")
    width = max(len(x["name"]) for x in listed)
    lines += [f"    {x['t']:12.9g} s  {x['name']:<{width}}  {x['what']}" for x in listed[:MOST]]
    more = len(listed) - MOST
    return lines + ([f"    … {more} more: --json lists all"] if more > 0 else [])


def _occurrences(events: Sequence[Mapping[str, Any]]) -> list[str]:
    """How often each event of a formula occurred, and when first."""
    times: dict[str, list[float]] = {}
    for x in events:
        if "what" not in x:
            times.setdefault(x["name"], []).append(x["t"])
    return [
        f"{name} at {', '.join(f'{t:.6g}' for t in ts[:6])}"
        + (f", … s ({len(ts)} times)" if len(ts) > 6 else " s")
        for name, ts in times.items()
    ]
