"""The contact of two solids in every way in which they can meet: which of them is touched, and how.

Of two solids the one further back in RANKS is touched: a ball touches a rod, a capsule a block, and
so on. Balls have formulas with all but cylinders and hulls; other pairs are found by loops.

Public names: contact_between, box_hull, RANKS.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from liaison.expr import as_expr
from liaison.model.markers import Marker
from liaison.model.shapes import Hull

from .contact import Contact

RANKS = ("ball", "capsule", "box", "cylinder", "hull")
"""Solids that may touch each other."""
SIGNS = tuple(product((-1, 1), repeat=3))


def contact_between(
    name: str,
    one: tuple[Marker, str, Mapping[str, Any]],
    other: tuple[Marker, str, Mapping[str, Any]],
    **law: Any,
) -> Contact:
    """A contact of two solids.

    Args:
        name: of the contact.
        one: frame, kind and sizes of a solid: `radius`, `length`, `size`, or `points` (a hull).
        other: the same of another.
        **law: friction, restitution, place.
    """
    first, second = sorted((one, other), key=lambda x: RANKS.index(x[1]))
    own = dict(first[2])
    further = _touched(first[1], second[1], second[2])
    plain = {key: x for key, x in (own | further).items() if key in Contact.__slots__}
    more = tuple((key, x) for key, x in (own | further).items() if key not in plain)
    return Contact(name, first[0], second[0], first[1], more=more, **plain, **law)


def _touched(kind: str, target: str, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """The sizes of a solid as those of what is touched."""
    if target == "hull":
        return {"hull": sizes["points"]}
    if target == "cylinder":
        return {"drum": sizes["radius"], "height": sizes["length"]}
    if target == "capsule":
        return {"outside": sizes["radius"], "along": sizes["length"]}
    if target == "ball":
        return {"outside": sizes["radius"]}
    if kind != "box":
        return {"block": sizes["size"]}
    # a block has formulas of corners above it only; two boxes meet in every way as hulls
    return {"hull": box_hull(sizes["size"])}


def box_hull(size: Any) -> Hull:
    """The hull of the corners of a box."""
    x, y, z = (as_expr(side) / 2 for side in size)
    return Hull(tuple((a * x, b * y, c * z) for a, b, c in SIGNS))
