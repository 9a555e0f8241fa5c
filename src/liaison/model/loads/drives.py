"""A motor with its transmission on a joint: a rotor, a gear, friction on both sides.

    rotor angle = ratio · joint angle,
    friction on the joint: viscous ratio² ξ_e + ξ_s, dry |ratio| Q_e + Q_s,       (drives-1)

with ξ_e, Q_e on the motor's side (entrée) and ξ_s, Q_s on the joint's (sortie). The rotor is a body
of its own on the joint's predecessor, so that its gyroscopic moments are there whatever its axis.

Where only the inertia matters that the joint feels, ratio² j_m, it is an `Armature`: it adds
½ inertia q̇² to the kinetic energy and needs no body of its own.

Public names: Drive, Transmission, drive, Armature, armature.

Source: LL 3.2.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, final

from liaison.arguments import checked
from liaison.errors import ModelError, Place
from liaison.expr import absolute, symbol
from liaison.lazy import Brief
from liaison.model.contacts.joint_friction import DryFriction
from liaison.model.joints import Revolute
from liaison.model.kinds import Property
from liaison.model.markers import Coordinate, Marker
from liaison.model.places import label_of, line_here
from liaison.model.records import Body, Joint
from liaison.model.relations.coupling import Coupling
from liaison.model.scalars import scalar
from liaison.spatial import is_zero, number, product, rotation_onto_z

from .efforts import Actuator
from .friction import JointFriction
from .load import OfMechanism, load_kind


@final
@dataclass(frozen=True, slots=True)
class Drive:
    """What a motor with a transmission is made of."""

    rotor: Body
    bearing: Joint
    gear: Coupling
    torque: Actuator
    friction: JointFriction | DryFriction | None

    def parts(self) -> tuple[Any, ...]:
        """All of it, as parts of a mechanism."""
        names = (self.rotor, self.bearing, self.gear, self.torque)
        return names if self.friction is None else (*names, self.friction)


@final
@dataclass(frozen=True, slots=True)
class Transmission:
    """Numbers of a transmission: what the motor's side (first) and the joint's side (second) do."""

    ratio: Any = 1  # angle of the rotor by the joint's coordinate: turns by turn, or [rad/m]
    viscous: tuple[Any, Any] = (0, 0)  # [N·m·s/rad]; on the side of a slider [N·s/m]
    dry: tuple[Any, Any] = (0, 0)  # [N·m]
    static: tuple[Any, Any] | None = None  # dry friction at rest, which then holds exactly [N·m]
    smoothing: Any = Fraction(1, 1000)  # [rad/s]; 0: dry friction holds exactly


@checked
def drive(
    name: str,
    joint: Joint,
    *,
    torque: Any,
    transmission: Transmission,
    axial: Any,
    transverse: Any = None,
    mass: Any = 0,
    seat: Marker | None = None,
    axis: Any = (0, 0, 1),
    shapes: tuple[Any, ...] = (),
    place: Place | None = None,
) -> Drive:
    """A motor on a joint of one coordinate.

    Args:
        name: of the motor; its parts are called `name.rotor`, `name.gear`, ….
        joint: what it drives.
        torque: C_m of the motor on its rotor [N·m].
        transmission: ratio and friction.
        axial: j_m, inertia of the rotor about its axis [kg·m²].
        transverse: i_m, about the others; half of the axial one, as of a thin disc, if not given.
        mass: of the rotor [kg]; 0 where it is counted with the body it sits on.
        seat: where the rotor turns, on the joint's predecessor; else the joint's own marker.
        axis: of the rotor, in the axes of the seat.
        shapes: of the rotor, for the picture.
        place: where the author said it.
    """
    if joint.type.nv != 1:
        raise ModelError(
            f"motor '{name}' has a transmission to joint '{joint.name}', which has "
            f"{joint.type.nv} velocities; it must have one.",
            place=place,
        )
    if number(transmission.ratio) == 0:
        raise ModelError(f"the ratio of motor '{name}' is 0; it must not be.", place=place)
    across = scalar(axial, "an inertia") * Fraction(1, 2) if transverse is None else transverse
    rotor = Body(
        f"{name}.rotor",
        mass,
        (0, 0, 0),
        ((across, 0, 0), (0, across, 0), (0, 0, axial)),
        shapes,
        place=place,
    )
    bearing = Joint(
        f"{name}.angle",
        Revolute(),
        _turned(seat or joint.predecessor, axis),
        Marker(rotor.name),
        place=place,
    )
    label = joint.coordinates[0]
    gear = Coupling(f"{name}.gear", bearing.name, transmission.ratio, label, place=place)
    effort = Actuator(name, Coordinate(bearing.name), torque, place=place)
    return Drive(rotor, bearing, gear, effort, _friction(name, label, transmission, place))


def _turned(seat: Marker, axis: Any) -> Marker:
    """The seat with its z along the axis."""
    if tuple(axis) == (0, 0, 1):
        return seat
    R: Any = product(seat.rotation, rotation_onto_z(list(axis)))
    return replace(seat, R=R)


def _friction(
    name: str, label: str, transmission: Transmission, place: Place | None
) -> JointFriction | DryFriction | None:
    """Both sides' friction on the joint, by (drives-1)."""
    ratio = transmission.ratio
    viscous = ratio * ratio * transmission.viscous[0] + transmission.viscous[1]
    dry = absolute(ratio) * transmission.dry[0] + transmission.dry[1]
    held = transmission.static is not None and not all(map(is_zero, transmission.static))
    if is_zero(viscous) and is_zero(dry) and not held:
        return None
    called = f"{name}.friction"
    if transmission.static is not None or is_zero(transmission.smoothing):
        rest = (
            None
            if transmission.static is None
            else absolute(ratio) * transmission.static[0] + transmission.static[1]
        )
        return DryFriction(called, label, dry, rest, viscous, place=place)
    return JointFriction(called, label, viscous, dry, transmission.smoothing, place=place)


@load_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class Armature(OfMechanism, Brief):
    """Inertia of a rotor as its joint feels it: T grows by ½ inertia q̇², and nothing else changes.

    It is the potential −½ inertia q̇² of velocities, whose effort is −inertia q̈.
    """

    name: str
    coordinate: str
    inertia: Any  # ratio² times that of the rotor [kg·m²]; along a slide [kg]
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "armature"
    LSD: ClassVar[str] = "armature"
    PYTHON: ClassVar[str] = "armature"
    SYMBOL: ClassVar[str] = "none"
    SCOPE: ClassVar[str] = "parameters"
    KEEPS_ENERGY: ClassVar[bool] = True
    ON: ClassVar[str] = "coordinate"
    PROPERTIES: ClassVar[tuple[Property, ...]] = (Property("inertia", "kg", "kg*m^2"),)
    SCALARS: ClassVar[tuple[str, ...]] = ("inertia",)
    NOT_NEGATIVE: ClassVar[tuple[str, ...]] = ("inertia",)

    def labels(self) -> tuple[str, ...]:
        return (self.coordinate,)

    def potential(self) -> Any:
        rate = symbol(f"{self.coordinate}'")
        return -(self.inertia * Fraction(1, 2)) * rate * rate


@checked
def armature(on: str | Joint, inertia: Any, *, name: str = "") -> Armature:
    """Inertia of a rotor as its joint feels it: ratio² times the rotor's own.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.armature(A, "0.25 kg*m^2"), liaison.motor(A, effort=1))
        >>> liaison.forward_dynamics(m, {"A": 0.0}).round(6)
        array([2.])
    """
    label = label_of(on)
    return Armature(name or f"armature {label}", label, inertia, place=line_here())
