"""What holds on one side only, as an author writes it in Python: limits and contacts.

Public names: at_most, contact, touch, collision.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from liaison.errors import NamingError
from liaison.model.describe.places import line_here, marker_of

from .collisions import Collision
from .contact_geometry import SIZES, TOUCHED
from .contacts import Contact, GapContact, Unilateral
from .markers import Marker
from .records import Body

GEOMETRY = (*dict.fromkeys(x for sizes in SIZES.values() for x in sizes), *TOUCHED, "along", "span")
"""Words for the sizes of what touches and for what is touched."""


def at_most(name: str, formula: Any, *, restitution: Any = 0) -> Unilateral:
    """A formula that never becomes positive: of positions, or linear in the rates."""
    return Unilateral(name, formula, restitution, line_here())


def contact(
    a: Body | Marker,
    b: Body | Marker,
    kind: str = "point",
    *,
    friction: Any = 0,
    restitution: Any = 0,
    name: str = "",
    **geometry: Any,
) -> Contact:
    """A point, ball, disc, cylinder, capsule, box, ellipsoid or edge at a, above z = 0 of b.

    Args:
        a: what touches: its origin, and z as the axis of a disc, cylinder or capsule.
        b: what is touched.
        kind: a word above.
        friction: the coefficient of sliding, or a `Friction` with all of them.
        restitution: the part of the speed of approach that is given back.
        name: by default "contact" and the bodies.
        **geometry: `radius`, `length`, `size` of what touches; instead of the plane `outside` or
            `inside` (radius of a ball about b, of a rod or tube if `along` is its length),
            `surface` (a formula of `SURFACE`), `profile` (a formula of `PROFILE`), `curve` (two
            formulas of `CURVE`, for s within `span`), `block` (three sides) or `edge` (a length).

    Raises:
        NamingError: a word that a contact does not have.
    """
    for key in geometry:
        if key not in GEOMETRY:
            known = [*GEOMETRY, "friction", "restitution", "name", "kind"]
            raise NamingError.unknown("property of a contact", key, known, place=line_here())
    first, second = marker_of(a), marker_of(b)
    word = name or f"contact {first.body}-{second.body}"
    told: dict[str, Any] = {"friction": friction, "restitution": restitution, **geometry}
    return Contact(word, first, second, kind, place=line_here(), **told)


def touch(name: str, gap: Any, *slips: Any, friction: Any = 0, restitution: Any = 0) -> GapContact:
    """A contact told by formulas: a gap that stays ≥ 0, and the rates at which it slips."""
    return GapContact(name, gap, slips, friction, restitution, line_here())


def collision(
    *bodies: Body | Marker,
    against: Iterable[Body | Marker] = (),
    friction: Any = 0,
    restitution: Any = 0,
    name: str = "collision",
) -> Collision:
    """Contact between every two of these, or of these with those they are `against`.

    Args:
        *bodies: each touches with its spheres and boxes; `ground`, or a frame on it, with the plane
            z = 0 of that frame.
        against: another group.
        friction: the coefficient of sliding, or a `Friction` with all of them.
        restitution: the part of the speed of approach that is given back.
        name: of them all; contacts are told as 'a-b'.
    """
    parts, others = (tuple(map(marker_of, group)) for group in (bodies, against))
    return Collision(name, parts, others, friction, restitution, line_here())
