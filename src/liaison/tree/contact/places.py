"""Where contacts touch, in the ground's axes: the point I, its frame, and its three velocities.

Three points are at I: one of the first body, one of the second, and the geometric one, which goes
where they touch. Of a wheel that rolls the first two stand still and the third moves on.

Public names: ContactPlace, contact_places.

Source: LL 1.5.1; docs/theory/contacts.md (contact-1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from liaison.expr import as_expr, substitute, time_derivative
from liaison.model import Contact
from liaison.model.pairing import paired
from liaison.spatial.arrays import Array, array, cross, product
from liaison.tree.closure import P, R, marker_motion, relative
from liaison.tree.kinematics import Kinematics
from liaison.tree.tree import GROUND

from .sides import ConvexPair, convex_pair, pose_seen
from .templates import Touch
from .touches import touches


class ContactPlace(NamedTuple):
    """One place of contact, as formulas of q and v, in the ground's axes."""

    name: str  # as its gap
    bodies: tuple[str, str]
    point: Array  # I [m]
    normal: Array  # from the second body to the first
    tangents: tuple[Array, Array]
    on_first: Array  # velocities at I [m/s]
    on_second: Array
    geometric: Array
    pair: ConvexPair | None = None  # where loops find it: it is a formula of their features, too
    slot: int = 0  # which of the places of that pair it is


def contact_places(
    kinematics: Kinematics, qdot: Sequence[Any], *, with_hulls: bool = False
) -> list[ContactPlace]:
    """Every place at which bodies may touch; contacts by formulas have none.

    Args:
        kinematics: on formulas of q and v.
        qdot: N v.
        with_hulls: those of hulls as well, which depend on what loops find at a state.
    """
    contact_list: list[ContactPlace] = []
    for one in paired(kinematics.tree.mechanism).contacts:
        if not isinstance(one, Contact) or (one.cores is not None and not with_hulls):
            continue
        places = touches(one, kinematics.tree.numbers)
        ends = [kinematics.tree.located(x) for x in (one.second, one.first)]
        pair = None if one.cores is None else convex_pair(one, pose_seen(kinematics, *ends))
        for k, touch in enumerate(places):
            name = one.name if len(places) == 1 else f"{one.name}[{k + 1}]"
            place = _place(kinematics, qdot, one, touch.evaluated(), name)
            contact_list.append(place._replace(pair=pair, slot=k))
    return contact_list


def _place(
    kinematics: Kinematics, qdot: Sequence[Any], one: Contact, touch: Touch, name: str
) -> ContactPlace:
    tree = kinematics.tree
    F, M = (marker_motion(kinematics, GROUND, tree.located(x)) for x in (one.second, one.first))
    seen = relative(F, M)
    values = dict(zip([*R.flat, *P], map(as_expr, [*seen.R.flat, *seen.p]), strict=True))

    def turned(v: Array) -> Array:
        """A vector of the second frame in the ground's axes."""
        return product(F.R, array(substitute([as_expr(x) for x in v], values)))

    arm = turned(touch.point)
    point = M.p + arm
    flow = dict(zip(kinematics.q, qdot, strict=True))
    return ContactPlace(
        name,
        (one.first.body, one.second.body),
        point,
        turned(touch.normal),
        (turned(touch.tangents[0]), turned(touch.tangents[1])),
        on_first=M.velocity + cross(M.omega, arm),
        on_second=F.velocity + cross(F.omega, point - F.p),
        geometric=array(time_derivative([as_expr(x) for x in point], flow)),
    )
