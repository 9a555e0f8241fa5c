"""Places of contact with the symbols of a relative pose, and their feet, as templates of rows.

The shapes of the model define what touches what; here their formulas get the symbols (R, p) of
the first frame seen from the second, and the minima that they ask for are sought.

Public names: touches.

Source: docs/theory/contacts.md (contact-1), (foot-1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from liaison.model import Contact
from liaison.tree.closure import P, R

from .feet import foot_of
from .templates import Touch

Numbers: TypeAlias = Callable[[Any], Any]


def touches(contact: Contact, numbers: Numbers) -> list[Touch]:
    """Every place at which the contact may touch: one, two rims or ends, or corners of a box."""
    places = []
    for x in contact.places(R, P, numbers):
        foot = None if x.foot is None else foot_of(*x.foot)
        place = (x.gap, x.point, x.normal, x.tangents, foot)
        places.append(Touch(*place, center=x.center, radius=x.radius, shown=x.shown))
    return places
