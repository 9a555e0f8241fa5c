"""Relations that are no joint: one class a kind, with its keywords and its residual.

A further kind is a file of this folder that registers its class with `relation_kind`.
"""

from liaison.model.kinds import discover

from .coupling import Coupling
from .formulas import Holonomic, Nonholonomic
from .imposed import PrescribedMotion
from .relation import (
    RELATION_KINDS,
    BetweenFrames,
    Constraint,
    OfCoordinates,
    PoseRow,
    relation_kind,
)
from .rolling import Rolling

__all__ = [
    "RELATION_KINDS",
    "BetweenFrames",
    "Constraint",
    "Coupling",
    "Holonomic",
    "Nonholonomic",
    "OfCoordinates",
    "PoseRow",
    "PrescribedMotion",
    "Rolling",
    "relation_kind",
]

discover(__name__, __path__)
