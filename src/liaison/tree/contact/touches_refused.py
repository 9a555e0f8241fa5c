"""Contacts whose formulas do not hold for the mechanism they are in, refused by name.

Public names: refuse_tilted.
"""

from __future__ import annotations

import random

from liaison.errors import ModelError
from liaison.expr import as_expr, evaluate, symbols_of
from liaison.model import Contact
from liaison.tree.closure import marker_motion, relative
from liaison.tree.kinematics import Kinematics


def refuse_tilted(kinematics: Kinematics, contact: Contact) -> None:
    """Refuses a disc on a profile or curve whose axes do not stay parallel.

    Raises:
        ModelError: they are not parallel at some positions drawn at random.
    """
    places = [kinematics.tree.located(x) for x in (contact.second, contact.first)]
    root = kinematics.tree.common_ancestor(*(node for node, _ in places))
    F, M = (marker_motion(kinematics, root, x) for x in places)
    share = as_expr(relative(F, M).R[2, 2])
    draw = random.Random(0)
    for _ in range(3):
        values = {x: draw.uniform(-1, 1) for x in symbols_of([share])}
        if abs(abs(float(evaluate([share], values)[0])) - 1) > 1e-9:
            raise ModelError(
                f"contact '{contact.name}' is of a disc with a profile or curve, but their axes do "
                "not stay parallel: a disc touches them in its own plane.",
                hint="Make it a ball, or turn the frames so that both z are parallel.",
                place=contact.place,
            )
