"""Unilateral constraints: contacts of shapes, limits, static friction.

A further shape that touches is a file of this folder that registers its class with `shape_kind`,
and its formulas for each thing that it can touch with `touching`.
"""

from liaison.model.kinds import discover

from .contact import Contact
from .formulas import GapContact, Unilateral
from .friction import Friction
from .geometry import CONTACT_KINDS
from .joint_friction import BearingFriction, DryFriction
from .one_sided import ONE_MODE, OneSided, left_out, refuse_sides
from .shape import (
    PAIRS,
    SHAPE_KINDS,
    TARGET_KINDS,
    ContactShape,
    ContactTarget,
    Sizes,
    Solid,
    shape_kind,
    target_kind,
    touching,
)
from .targets import CURVE, PROFILE, SURFACE
from .touch import Touching

__all__ = [
    "CONTACT_KINDS",
    "CURVE",
    "ONE_MODE",
    "PAIRS",
    "PROFILE",
    "SHAPE_KINDS",
    "SURFACE",
    "TARGET_KINDS",
    "BearingFriction",
    "Contact",
    "ContactShape",
    "ContactTarget",
    "DryFriction",
    "Friction",
    "GapContact",
    "OneSided",
    "Sizes",
    "Solid",
    "Touching",
    "Unilateral",
    "left_out",
    "refuse_sides",
    "shape_kind",
    "target_kind",
    "touching",
]

discover(__name__, __path__)
