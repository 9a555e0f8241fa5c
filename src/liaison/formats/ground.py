"""A plane that a mechanism stands on, where a reader is asked for one: `ground=True` or its height.

URDF's collision shapes touch it one by one, MJCF's geoms as a geom of the world would; of LSD it is
one `collide` of the bodies that move and have shapes.

Public names: GRIP, plane_height, standing.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import liaison.model as model
from liaison.errors import ModelError, OptionError
from liaison.model.contacts.collisions import touching

GRIP = Fraction(4, 5)
"""Friction of the ground."""


def plane_height(ground: Any, friction: Any) -> Any:
    """The height of the plane that is asked for [m]; None: there is none.

    Args:
        ground: True (at 0), a height, or None or False.
        friction: of it; an error where there is no plane.
    """
    if ground is None or ground is False:
        if friction is not None:
            raise OptionError("friction of the ground is given, but no ground.")
        return None
    return 0 if ground is True else ground


def standing(mechanism: model.Mechanism, height: Any, friction: Any) -> model.Mechanism:
    """A mechanism whose bodies touch a plane with their shapes.

    Args:
        mechanism: read from LSD.
        height: of the plane [m].
        friction: its coefficient; GRIP if None.

    Raises:
        ModelError: no body has a shape that touches.
    """
    moving = tuple(model.Marker(x.name) for x in mechanism.bodies[1:] if touching(x))
    if not moving:
        raise ModelError(
            "there is a ground, but no body that moves has a shape to touch it.",
            place=mechanism.place,
            hint="Give bodies spheres, capsules, boxes, cylinders or hulls: 'shape = …'.",
        )
    name = "ground"
    while name in {x.name for x in mechanism.contacts}:
        name += "_"
    plane = model.Marker("ground", p=(0, 0, height), name="ground_plane")
    mu = GRIP if friction is None else friction
    law = model.Collision(name, moving, (plane,), mu, place=mechanism.place)
    return replace(mechanism, contacts=(*mechanism.contacts, law))
