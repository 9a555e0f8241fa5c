"""The pleasant way to write mechanisms in Python.

    crank = body("crank", mass=1, center=(0.1, 0, 0), inertia=(0, 0.01, 0.01))
    hinge = join(ground, crank, Revolute, name="A", axis="y")
    pendulum = mechanism(hinge, gravity(), start("A", 0.3), name="pendulum")

Parts are given in any order and nesting; bodies come along with their joints. Parameters and
inputs stand for their symbols in formulas.

Public names: ground, body, join, mechanism, parameter, signal, time, coordinate, rate, gravity,
spring, damper, motor, law, wrench, potential, dissipation, friction, bearing, imposed, gear,
holonomic, nonholonomic, rolling, at_most, contact, touch, collision, output, event, start, turned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from liaison.errors import ModelError, Place
from liaison.expr import Expr, symbol
from liaison.model.composition import axis_vector
from liaison.model.constraints import Coupling, Holonomic, Nonholonomic, PrescribedMotion, Rolling
from liaison.model.describe_contacts import at_most as at_most
from liaison.model.describe_contacts import collision as collision
from liaison.model.describe_contacts import contact as contact
from liaison.model.describe_contacts import touch as touch
from liaison.model.forces import (
    Actuator,
    Damper,
    Dissipation,
    Gravity,
    JointFriction,
    Law,
    PointWrench,
    Potential,
    Spring,
)
from liaison.model.joint_friction import BearingFriction, DryFriction
from liaison.model.joint_type import JointType
from liaison.model.markers import Coordinate, Distance, Marker, Measure
from liaison.model.records import GROUND, Body, Event, Input, Joint, Output, Parameter, Start
from liaison.model.scalars import scalar, tensor
from liaison.model.shapes import Shape, filled
from liaison.spatial import product, rotation_about, rotation_onto_z

from .gather import mechanism as mechanism
from .places import label_of, line_here, marker_of
from .words import in_si, joint_kind, shown_in, si_label

ground = GROUND
time: Expr = symbol("t")


# Bodies and joints ------------------------------------------------------------------------------


def body(
    name: str,
    mass: Any = None,
    *,
    center: Any = None,
    inertia: Any = None,
    shapes: Shape | Iterable[Shape] = (),
    density: Any = None,
) -> Body:
    """A rigid body, by its mass, center and inertia, or by its shapes.

    Args:
        name: its name.
        mass: [kg]; by default density times the volume of the shapes, or 0.
        center: center of mass [m]; by default that of the shapes, or the origin.
        inertia: about the center of mass [kg·m²]: three principal moments, six entries
            (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) or a 3×3 matrix; by default that of the shapes, filled
            evenly, or 0 (a point mass).
        shapes: one or several.
        density: [kg/m³], instead of a mass.

    Returns:
        The body; `its.at(position, rotation)` gives markers on it.
    """
    forms = (shapes,) if isinstance(shapes, Shape) else tuple(shapes)
    if mass is not None and density is not None:
        raise ModelError(f"body '{name}' is given a mass and a density; give one of them.")
    if density is not None and not forms:
        raise ModelError(f"body '{name}' is given a density but no shape; give a shape or a mass.")
    solid = filled(forms, mass, density)
    com: Any = solid.com if center is None else center
    about: Any = solid.rotational if inertia is None else tensor(inertia, f"of body '{name}'")
    return Body(name, solid.mass, com, about, forms, line_here())


def turned(axis: Any, angle: Any) -> Any:
    """A rotation for `at`: about an axis (a letter or three numbers) by an angle [rad]."""
    return rotation_about(axis_vector(axis), scalar(angle, "an angle"))


def join(
    a: Body | Marker,
    b: Body | Marker,
    type: JointType | type[JointType] | str,
    *,
    name: str = "",
    axis: Any = None,
    coordinates: str | Iterable[str] = (),
) -> Joint:
    """A joint from a (predecessor) to b (successor).

    Args:
        a: marker, or body (then its own frame).
        b: likewise.
        type: a joint type; one without options may be given as the class, or by its word in LSD.
        name: by default "a_b" of the bodies' names.
        axis: direction in the axes of both markers that becomes the joint's z.
        coordinates: names for its coordinates, instead of the name of the joint.
    """
    F, M = marker_of(a), marker_of(b)
    word = name or f"{F.body}_{M.body}"
    here = line_here()
    if axis is not None:
        F, M = (_with_axis(marker, axis, word, here) for marker in (F, M))
    labels = (coordinates,) if isinstance(coordinates, str) else tuple(coordinates)
    return Joint(word, joint_kind(type, word, here), F, M, labels, here)


def _with_axis(marker: Marker, axis: Any, joint: str, place: Place | None) -> Marker:
    """The marker turned so that its z is the axis."""
    try:
        direction = [scalar(x, f"the axis of joint '{joint}'") for x in axis_vector(axis)]
    except ModelError as error:
        raise ModelError(f"joint '{joint}': {error.message}", place=place) from None
    R: Any = product(marker.rotation, rotation_onto_z(direction))
    return replace(marker, R=R)


# Symbols ----------------------------------------------------------------------------------------


def parameter(
    name: str, value: Any = None, unit: str = "", *, low: Any = None, high: Any = None
) -> Parameter:
    """A number that can be changed without deriving again; usable in formulas.

    Args:
        name: its name.
        value: in the unit given; None if it is not known yet.
        unit: such as "mm", "deg" or "kg*m^2". The value is kept in SI, and in formulas, and where
            it is set for a run, the parameter is in SI.
        low: least value allowed, in the unit given.
        high: greatest.
    """
    here, what = line_here(), f"parameter '{name}'"
    kept = [in_si(x, unit, what, here) for x in (value, low, high)]
    return Parameter(name, kept[0], si_label(unit, here), kept[1], kept[2], here)


def signal(name: str, unit: str = "", default: Any = 0) -> Input:
    """An input from outside at run time; usable in formulas. Only `default` is in the unit."""
    here = line_here()
    kept = in_si(default, unit, f"the default of input '{name}'", here)
    return Input(name, si_label(unit, here), kept, here)


def coordinate(of: str | Joint) -> Expr:
    """The symbol of a coordinate, by its label or by its joint if that has one."""
    return symbol(label_of(of))


def rate(of: str | Joint) -> Expr:
    """The symbol of a coordinate's rate."""
    return symbol(f"{label_of(of)}'")


# Forces -----------------------------------------------------------------------------------------


def gravity(*vector: Any) -> Gravity:
    """Uniform gravity: three components, or nothing for 9.81 m/s² along −z."""
    given = vector[0] if len(vector) == 1 else vector
    return Gravity(given, place=line_here()) if vector else Gravity(place=line_here())


def _between(where: tuple[Any, ...]) -> tuple[Measure, str]:
    """A measure from two markers (their distance), a joint, a label or a measure; and its name."""
    if len(where) == 2:
        a, b = marker_of(where[0]), marker_of(where[1])
        return Distance(a, b), f"{a.body}-{b.body}"
    if len(where) == 1 and isinstance(where[0], Measure):
        return where[0], "-".join(m.body for m in where[0].markers()) or where[0].labels()[0]
    if len(where) == 1:
        label = label_of(where[0])
        return Coordinate(label), label
    raise ModelError(f"{len(where)} places are given to act on; give two markers, or a joint.")


def spring(*where: Any, stiffness: Any, rest: Any = 0, name: str = "") -> Spring:
    """A spring between two markers, on a joint, or along a measure."""
    measure, word = _between(where)
    return Spring(name or f"spring {word}", measure, stiffness, rest, line_here())


def damper(*where: Any, coefficient: Any, name: str = "") -> Damper:
    """A damper between two markers, on a joint, or along a measure."""
    measure, word = _between(where)
    return Damper(name or f"damper {word}", measure, coefficient, line_here())


def motor(*where: Any, effort: Any, name: str = "") -> Actuator:
    """A motor or a jack: an effort between two markers, on a joint, or along a measure."""
    measure, word = _between(where)
    return Actuator(name or f"motor {word}", measure, effort, line_here())


def law(*where: Any, effort: Any, name: str = "") -> Law:
    """An effort given by a formula, between two markers, on a joint, or along a measure."""
    measure, word = _between(where)
    return Law(name or f"law {word}", measure, effort, line_here())


def wrench(
    at: Body | Marker,
    *,
    force: Any = (0, 0, 0),
    moment: Any = (0, 0, 0),
    axes: Body | Marker | None = None,
    name: str = "",
) -> PointWrench:
    """A force and a moment on a body at a marker, in ground's axes or in those of `axes`."""
    marker = marker_of(at)
    turned_by = None if axes is None else marker_of(axes)
    return PointWrench(
        name or f"wrench {marker.body}", marker, force, moment, turned_by, line_here()
    )


def potential(name: str, formula: Any) -> Potential:
    """Forces from a potential [J]."""
    return Potential(name, formula, line_here())


def dissipation(name: str, formula: Any) -> Dissipation:
    """Forces from Rayleigh's function [W]."""
    return Dissipation(name, formula, line_here())


def friction(
    on: str | Joint,
    *,
    viscous: Any = 0,
    dry: Any = 0,
    static: Any = None,
    smoothing: Any = None,
    name: str = "",
) -> JointFriction | DryFriction:
    """Friction in a joint: smoothed, or held at rest where `static` is given or `smoothing` is 0.

    Dry and static friction in N or N·m, the latter at rest; smoothing is the speed below which dry
    friction creeps.
    """
    label = label_of(on)
    word, here = name or f"friction {label}", line_here()
    if static is not None or smoothing == 0:
        return DryFriction(word, label, dry, static, viscous, place=here)
    options = {} if smoothing is None else {"smoothing": smoothing}
    return JointFriction(word, label, viscous, dry, place=here, **options)


def bearing(
    of: str | Joint, coefficient: Any, *, radius: Any = None, static: Any = None, name: str = ""
) -> BearingFriction:
    """Friction of a pivot or a ball (with its radius) or of a slider that grows with its load."""
    joint = of if isinstance(of, str) else of.name
    word = name or f"bearing {joint}"
    return BearingFriction(word, joint, coefficient, static, radius, place=line_here())


# Constraints, wishes and the whole --------------------------------------------------------------


def imposed(on: str | Joint, motion: Any, *, name: str = "") -> PrescribedMotion:
    """A coordinate that follows a formula of `time`."""
    label = label_of(on)
    return PrescribedMotion(name or f"imposed {label}", label, motion, line_here())


def gear(
    on: str | Joint, ratio: Any, other: str | Joint, *, offset: Any = 0, name: str = ""
) -> Coupling:
    """on = ratio · other + offset."""
    first, second = label_of(on), label_of(other)
    return Coupling(name or f"gear {first}-{second}", first, ratio, second, offset, line_here())


def holonomic(name: str, formula: Any) -> Holonomic:
    """A formula of coordinates and time that stays zero."""
    return Holonomic(name, formula, line_here())


def nonholonomic(name: str, formula: Any) -> Nonholonomic:
    """A formula linear in the rates that stays zero."""
    return Nonholonomic(name, formula, line_here())


def rolling(
    wheel: Body | Marker, plane: Body | Marker, radius: Any, *, kind: str = "disc", name: str = ""
) -> Rolling:
    """A disc (about z of its marker) or a ball that rolls on the plane z = 0 of a marker."""
    a, b = marker_of(wheel), marker_of(plane)
    return Rolling(name or f"rolling {a.body}-{b.body}", a, radius, b, kind, line_here())


def output(name: str, formula: Any, unit: str = "") -> Output:
    """A quantity to be seen over time: a formula in SI, shown in a unit such as "mm" or "deg"."""
    here = line_here()
    return Output(name, shown_in(formula, unit, f"output '{name}'", here), unit, here)


def event(name: str, formula: Any, *, direction: Any = 0, stop: bool = False) -> Event:
    """A zero of a formula to be recorded or to stop at; direction "both", "rising", "falling"."""
    sense = {"rising": 1, "falling": -1, "both": 0}.get(direction, direction)
    return Event(name, formula, sense, "stop" if stop else "record", line_here())


def start(where: str | Joint | Mapping[str, Any], value: Any = None, speed: Any = None) -> Any:
    """Where a coordinate starts, and its speed; or a table of labels ("A", "A'") and values."""
    here = line_here()
    if isinstance(where, Mapping):
        return tuple(Start(label, x, here) for label, x in where.items())
    label = label_of(where)
    given = ((label, value), (f"{label}'", speed))
    return tuple(Start(word, x, here) for word, x in given if x is not None)
