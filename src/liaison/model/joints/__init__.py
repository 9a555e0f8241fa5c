"""Joint types, one file a family: how each joint moves (`pose`, `subspace`), and all else of it.

Every file of this folder is loaded, so that a new file with a class under `@joint_type` is all that
a new joint type takes. F is the marker on the predecessor, M the marker on the successor.

Public names: JointType, JOINT_TYPES, joint_type, those of the families, Attitude, ATTITUDES.
"""

from importlib import import_module
from pkgutil import iter_modules

from .attitudes import (
    ATTITUDES,
    Attitude,
    BryantXYZ,
    EulerZXZ,
    Quaternion,
    RotationMatrix,
    attitude,
)
from .axial import Cylindrical, Fixed, Helical, Prismatic, Revolute, SphericalPin, Universal
from .ball import Free, PlacedJoint, PointOnLine, PointOnPlane, Rod, RodByAngles, Spherical
from .composition import Composition, Motion, Rotation, Screw, Translation, axis_vector
from .joint_type import (
    ATTITUDE,
    JOINT_TYPES,
    Ball,
    BasicConstraint,
    Block,
    JointType,
    JointTypes,
    Primitive,
    Rail,
    Step,
    Strut,
    Tube,
    basic_constraints,
    joint_type,
    nearest_angle,
    steps,
)
from .plane import LineOnPlane, ParallelAxes, Perpendicular, Planar

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "ATTITUDE",
    "ATTITUDES",
    "JOINT_TYPES",
    "Attitude",
    "Ball",
    "BasicConstraint",
    "Block",
    "BryantXYZ",
    "Composition",
    "Cylindrical",
    "EulerZXZ",
    "Fixed",
    "Free",
    "Helical",
    "JointType",
    "JointTypes",
    "LineOnPlane",
    "Motion",
    "ParallelAxes",
    "Perpendicular",
    "PlacedJoint",
    "Planar",
    "PointOnLine",
    "PointOnPlane",
    "Primitive",
    "Prismatic",
    "Quaternion",
    "Rail",
    "Revolute",
    "Rod",
    "RodByAngles",
    "Rotation",
    "RotationMatrix",
    "Screw",
    "Spherical",
    "SphericalPin",
    "Step",
    "Strut",
    "Translation",
    "Tube",
    "Universal",
    "attitude",
    "axis_vector",
    "basic_constraints",
    "joint_type",
    "nearest_angle",
    "steps",
]
