"""How collisions are treated: each pair as a contact of its own, or all as a scene.

Public names: MOST_PAIRS, FEW_PAIRS, obstacle, is_scene, paired, drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from liaison.errors import ModelError, Place
from liaison.expr import as_expr, symbols_of
from liaison.model.contacts.collisions import (
    Collision,
    Surfaces,
    collisions,
    plane_names,
    surfaces_of,
    touching,
)
from liaison.model.contacts.friction import Friction
from liaison.model.loads.load import Field

from .joints import Free, Quaternion
from .markers import Marker
from .mechanism import Mechanism
from .records import Body
from .shapes import Box, Capsule, Cylinder, HeightField, Hull, Shape, Sphere

if TYPE_CHECKING:
    from liaison.model.contacts.contact import Contact

Solid: TypeAlias = Box | Capsule | Cylinder | Hull | Sphere
"""Shapes with which bodies collide."""

FEW_PAIRS = 50
"""Pairs up to which each is written as a contact of its own."""

MOST_PAIRS = 200
"""Pairs up to which this is done where no scene can be made."""


BY_LOOPS: tuple[tuple[Any, Any], ...] = (
    (Box, Box | Capsule),
    (Capsule, Capsule),
    (Cylinder | Hull, Box | Capsule | Cylinder | Hull | Sphere),
)
"""Pairs of shapes whose places of contact loops find, in scenes."""


def is_scene(mechanism: Mechanism) -> bool:
    """Whether its contacts are marched as a scene: by a broad phase, in fixed steps.

    That is where pairs are more than `FEW_PAIRS`, or of shapes that only scenes know.

    Raises:
        ModelError: they would have to be, and something else of it has no place there.
    """
    if not collisions(mechanism):
        return False
    surfaces = surfaces_of(mechanism)
    by_loops = any(_pair_with(mechanism, surfaces, one, other) for one, other in BY_LOOPS)
    if surfaces.pairs <= FEW_PAIRS and not (by_loops or surfaces.terrains):
        return False
    why = obstacle(mechanism)
    if why is None:
        return True
    if surfaces.pairs <= MOST_PAIRS:
        return False
    reason = (
        f"its {surfaces.pairs} pairs of bodies that may touch are too many to be written one by one"
    )
    hint = f"Name fewer bodies, up to {MOST_PAIRS} pairs, or let all be free."
    raise ModelError(
        f"{reason}, and this is no scene: {why[0]}.", place=why[1] or mechanism.place, hint=hint
    )


def obstacle(mechanism: Mechanism) -> tuple[str, Place | None] | None:
    """Why the mechanism is no scene of free bodies, and where; None if it is one."""
    for kind in ("constraints", "inputs", "events"):
        for part in getattr(mechanism, kind):
            return f"'{part.name}' is one of its {kind}", part.place
    for one in mechanism.contacts:
        reason = _strange_law(one) if isinstance(one, Collision) else "is one of its contacts"
        if reason:
            return f"'{one.name}' {reason}", one.place
    for force in mechanism.forces:
        if not isinstance(force, Field):
            return f"force '{force.name}' acts on it", force.place
    seen: set[str] = set()
    for joint in mechanism.joints:
        free = isinstance(joint.type, Free) and isinstance(joint.type.attitude, Quaternion)
        if not free or joint.predecessor.body != "ground" or joint.successor.body in seen:
            text = f"joint '{joint.name}' is not free, with a quaternion, on the ground"
            return text, joint.place
        seen.add(joint.successor.body)
    return None


def _strange_law(law: Collision) -> str:
    """What a law has that scenes do not know."""
    friction = law.friction
    plain = Friction(friction.sliding, rolling=friction.rolling, pivoting=friction.pivoting)
    for part in Friction.parts():
        if getattr(law.friction, part) != getattr(plain, part):
            return f"has {part.replace('_', ' ')} friction, which scenes do not know"
    if law.friction.law != plain.law:
        return f"has {law.friction.law} friction, which scenes do not know"
    names = {x.name for x in symbols_of([as_expr(x) for x in law.formulas()])}
    return "has a law that depends on time" if "t" in names else ""


def _pair_with(mechanism: Mechanism, surfaces: Surfaces, one: Any, other: Any) -> str:
    """The first pair of bodies with these shapes, which formulas do not know; "" for none."""
    having = [
        {x.name for x in mechanism.bodies if any(isinstance(s, kind) for s in x.shapes)}
        for kind in (one, other)
    ]
    first, second = having
    for a, b in surfaces.laws if first and second else ():
        one_side = [x.body for x in surfaces.members[a] if x.body in first | second]
        for x, y in product(one_side, (y.body for y in surfaces.members[b])):
            if x != y and ((x in first and y in second) or (x in second and y in first)):
                return f"'{x}' and '{y}'"
    return ""


class Pair(NamedTuple):
    """Two that may touch: a body, what it touches (a body, or a plane of the ground), the law."""

    first: Marker
    second: Marker
    law: Collision
    name: str  # as in the event log


def paired(mechanism: Mechanism) -> Mechanism:
    """The mechanism with a contact of its own for every pair of shapes.

    Raises:
        ModelError: pairs are too many for that, or of shapes that only scenes know.
    """
    listed = collisions(mechanism)
    if not listed:
        return mechanism
    surfaces = surfaces_of(mechanism)
    if is_scene(mechanism):
        raise ModelError(
            f"'{listed[0].name}' belongs to {surfaces.pairs} pairs that a scene finds while it "
            "runs; there are no equations of each.",
            place=listed[0].place,
            hint="'simulate' runs it, 'liaison.collide(…)' steps it and makes many runs; for "
            "equations name fewer bodies.",
        )
    pairs = _pairs(mechanism, surfaces)
    bodies = {body.name: body for body in mechanism.bodies}
    contacts: list[Any] = []
    for one in mechanism.contacts:
        own = [x for x in pairs if x.law is one]
        contacts += [c for x in own for c in _contacts(x, bodies)] if own else [one]
    single = [x for x in contacts if not isinstance(x, Collision)]
    return replace(mechanism, contacts=tuple(single))


def drawn(mechanism: Mechanism) -> Mechanism:
    """The mechanism as a picture takes it: every pair, or of a scene a contact with each plane or
    height field."""
    if not is_scene(mechanism):
        return paired(mechanism)
    from liaison.model.contacts.contact import Contact

    surfaces = surfaces_of(mechanism)
    body = Marker(mechanism.joints[0].successor.body)
    contacts = tuple(
        Contact(name, body, one, "ball", radius=1, more=_field_of(surfaces.terrains.get(one)))
        for one, name in plane_names(surfaces).items()
    )
    return replace(mechanism, contacts=contacts)


def _field_of(terrain: HeightField | None) -> tuple[tuple[str, Any], ...]:
    """The size of a contact with a height field; none of one with a plane."""
    return () if terrain is None else (("terrain", terrain),)


def _pairs(mechanism: Mechanism, surfaces: Surfaces) -> list[Pair]:
    """Every pair, without those that a joint connects, a plane as the second."""
    joined = {frozenset((x.predecessor.body, x.successor.body)) for x in mechanism.joints}
    planes = plane_names(surfaces)
    pairs: list[Pair] = []
    for (a, b), law in surfaces.laws.items():
        one, other = surfaces.members[a], surfaces.members[b]
        for x, y in combinations(one, 2) if a == b else product(one, other):
            first, second = (y, x) if x.body == "ground" else (x, y)
            if second.body == "ground" or frozenset((x.body, y.body)) not in joined:
                name = f"{first.body}-{planes.get(second, second.body)}"
                pairs.append(Pair(first, second, law, name))
    return pairs


def _contacts(pair: Pair, bodies: dict[str, Body]) -> Iterator[Contact]:
    """A contact for every two shapes of a pair."""
    near = touching(bodies[pair.first.body])
    plane = pair.second.body == "ground"
    far: list[Any] = [None] if plane else touching(bodies[pair.second.body])
    for k, (one, other) in enumerate(product(near, far), start=1):
        several = len(near) * len(far) > 1
        yield _contact(f"{pair.name} {k}" if several else pair.name, pair, one, other)


def _contact(name: str, pair: Pair, one: Solid, other: Solid | None) -> Contact:
    """The contact of two shapes, the one that can be touched in fewer ways as the first."""
    options: dict[str, Any] = {"friction": pair.law.friction, "restitution": pair.law.restitution}
    first, second = _on(pair.first.body, one), pair.second
    if other is None:
        options["more"] = _field_of(pair.law.terrain)
    else:
        second = _on(pair.second.body, other)
        if RANK[type(one)] > RANK[type(other)]:
            one, other, first, second = other, one, second, first
        options |= _touched(one, other)
    sizes = _size_of(one)
    options["more"] = (*options.get("more", ()), *sizes.pop("more", ()))
    from liaison.model.contacts.contact import Contact

    return Contact(name, first, second, place=pair.law.place, **options, **sizes)


RANK = {Box: 0, Sphere: 1, Capsule: 2, Cylinder: 3, Hull: 4}
"""Of two shapes the one further back is touched: a ball by a box, a drum by both, a hull by all."""


def _size_of(shape: Solid) -> dict[str, Any]:
    """Kind and sizes of what touches."""
    if isinstance(shape, Hull):
        return {"kind": "hull", "more": (("points", shape),)}
    if isinstance(shape, Box):
        return {"kind": "box", "size": (shape.x, shape.y, shape.z)}
    if isinstance(shape, Capsule):
        return {"kind": "capsule", "radius": shape.radius, "length": shape.length}
    if isinstance(shape, Cylinder):
        return {"kind": "cylinder", "radius": shape.radius, "length": shape.length}
    return {"kind": "ball", "radius": shape.radius}


def _touched(one: Solid, other: Solid) -> dict[str, Any]:
    """What is touched, and its sizes."""
    if isinstance(other, Hull):
        return {"more": (("hull", other),)}
    if isinstance(other, Cylinder):
        return {"more": (("drum", other.radius), ("height", other.length))}
    if isinstance(other, Capsule):
        return {"outside": other.radius, "along": other.length}
    if isinstance(other, Sphere):
        return {"outside": other.radius}
    assert isinstance(one, Box), one
    # a block has formulas of the corners above it only; two boxes meet in every way as hulls
    from liaison.model.contacts.between import box_hull

    return {"more": (("hull", box_hull((other.x, other.y, other.z))),)}


def _on(body: str, shape: Shape) -> Marker:
    return Marker(body, shape.R, shape.p)
