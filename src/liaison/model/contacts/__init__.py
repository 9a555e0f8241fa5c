"""Unilateral constraints: contacts of shapes, limits, static friction.

A further shape that touches is a file of this folder that registers its class with `shape_kind`,
and its formulas for each thing that it can touch with `touching`. The files are loaded when shapes
are first asked for.
"""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "collisions": "Collision",
        "contact": "Contact",
        "formulas": "GapContact Unilateral",
        "friction": "Friction",
        "geometry": "CONTACT_KINDS",
        "joint_friction": "BearingFriction DryFriction",
        "one_sided": "ONE_MODE OneSided check_bilateral left_out",
        "shape": "PAIRS SHAPE_KINDS TARGET_KINDS ContactShape ContactTarget Sizes Solid shape_kind "
        "target_kind touching",
        "targets": "CURVE PROFILE SURFACE",
        "touch": "Touching",
    },
)
