"""Loads: one class a kind, with its keywords, properties, effort and energy.

A further kind is a file of this folder that registers its class with `load_kind`.
"""

from liaison.model.kinds import discover

from .load import LOAD_KINDS, AlongMeasure, AtMarker, Field, Force, OfMechanism, load_kind
from .springs import Damper, DeadZoneSpring, Spring

from .friction import JointFriction  # isort: skip (the order in which words are listed)
from .efforts import Actuator, Law  # isort: skip
from .formulas import Dissipation, Potential  # isort: skip
from .efforts import PointWrench, Servo  # isort: skip
from .gravity import Gravity  # isort: skip
from .drives import Armature  # isort: skip
from .control import GravityCompensation, Memory, Pid  # isort: skip

__all__ = [
    "LOAD_KINDS",
    "Actuator",
    "AlongMeasure",
    "Armature",
    "AtMarker",
    "Damper",
    "DeadZoneSpring",
    "Dissipation",
    "Field",
    "Force",
    "Gravity",
    "GravityCompensation",
    "JointFriction",
    "Law",
    "Memory",
    "OfMechanism",
    "Pid",
    "PointWrench",
    "Potential",
    "Servo",
    "Spring",
    "load_kind",
]

discover(__name__, __path__)
