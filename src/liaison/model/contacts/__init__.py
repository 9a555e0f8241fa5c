"""What holds on one side only: contacts of shapes, limits, friction that holds at rest."""

from .contact import Contact
from .formulas import GapContact, Unilateral
from .friction import Friction
from .geometry import CONTACT_KINDS, CURVE, PROFILE, SURFACE
from .joint_friction import BearingFriction, DryFriction
from .one_sided import ONE_MODE, OneSided, left_out, refuse_sides

__all__ = [
    "CONTACT_KINDS",
    "CURVE",
    "ONE_MODE",
    "PROFILE",
    "SURFACE",
    "BearingFriction",
    "Contact",
    "DryFriction",
    "Friction",
    "GapContact",
    "OneSided",
    "Unilateral",
    "left_out",
    "refuse_sides",
]
