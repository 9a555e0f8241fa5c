"""The pleasant way to write mechanisms in Python.

    crank = body("crank", mass=1, center=(0.1, 0, 0), inertia=(0, 0.01, 0.01))
    hinge = join(ground, crank, Revolute, name="A", axis="y")
    pendulum = mechanism(hinge, gravity(), start("A", 0.3), name="pendulum")

Parts are given in any order and nesting; bodies come along with their joints. Parameters and
inputs stand for their symbols in formulas.

Parts of a mechanism, in any order and nesting, become the mechanism.

Names that the Python functions accept: units, and the kinds of joints.

A unit word converts: what is given in it is kept in SI, what is shown in it is divided by it.

Public names: ground, body, join, mechanism, parameter, signal, time, t, coordinate, rate,
gravity, spring, damper, motor, servo, pid, memory, balanced, armature, law, wrench, potential,
dissipation, friction, bearing, imposed, gear, holonomic, nonholonomic, rolling, at_most, stops,
contact, touch, collision, output, event, start, guess, turned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

from liaison.arguments import checked, fitting
from liaison.errors import ModelError, NamingError, Place
from liaison.expr import PI, Expr, as_expr, symbol, symbols_of
from liaison.model.contacts.collisions import collision as collision
from liaison.model.contacts.contact import contact as contact
from liaison.model.contacts.formulas import at_most as at_most
from liaison.model.contacts.formulas import stops as stops
from liaison.model.contacts.formulas import touch as touch
from liaison.model.contacts.joint_friction import bearing as bearing
from liaison.model.contacts.one_sided import OneSided
from liaison.model.loads.control import balanced as balanced
from liaison.model.loads.control import memory as memory
from liaison.model.loads.control import pid as pid
from liaison.model.loads.drives import armature as armature
from liaison.model.loads.efforts import law as law
from liaison.model.loads.efforts import motor as motor
from liaison.model.loads.efforts import servo as servo
from liaison.model.loads.efforts import wrench as wrench
from liaison.model.loads.formulas import dissipation as dissipation
from liaison.model.loads.formulas import potential as potential
from liaison.model.loads.friction import friction as friction
from liaison.model.loads.gravity import gravity as gravity
from liaison.model.loads.load import Force
from liaison.model.loads.springs import damper as damper
from liaison.model.loads.springs import dead_zone_spring as dead_zone_spring
from liaison.model.loads.springs import spring as spring
from liaison.model.relations.coupling import gear as gear
from liaison.model.relations.formulas import holonomic as holonomic
from liaison.model.relations.formulas import nonholonomic as nonholonomic
from liaison.model.relations.imposed import imposed as imposed
from liaison.model.relations.relation import Constraint
from liaison.model.relations.rolling import rolling as rolling
from liaison.spatial import is_zero, product, rotation_about, rotation_onto_z
from liaison.units import quantity, si_unit, unit_of
from liaison.units import same as same_dimension

from .joints import JOINT_TYPES, JointType, axis_vector
from .markers import Marker
from .mechanism import Mechanism
from .places import label_of, line_here, marker_of
from .records import GROUND, Body, Event, Input, Joint, Output, Parameter, Start
from .scalars import scalar, tensor
from .shapes import Shape, check_solid, filled

# Units ------------------------------------------------------------------------------------------


def in_si(x: Any, unit: str, what: str, place: Place | None) -> Any:
    """A number in a unit, or a text, in SI and exact if it came exact; None stays None."""
    if isinstance(x, str):
        return scalar(x, what, place, si_label(unit, place))
    if x is None or not unit:
        return x
    return scalar(x, what, place) * _factor(unit, place)


def written_unit(values: Iterable[Any], what: str, place: Place | None) -> str:
    """The unit of the first text among values; "" without one."""
    texts = (x for x in values if isinstance(x, str))
    return next((quantity(x, what, error=ModelError, place=place).unit for x in texts), "")


def si_label(unit: str, place: Place | None) -> str:
    """The SI unit for a unit: the same word where it is one already."""
    parsed = unit_of(unit, place)
    return unit if parsed.factor == 1 and not parsed.pi else si_unit(parsed.dimension)


def in_unit(formula: Any, unit: str, what: str, place: Place | None) -> Any:
    """A formula in SI, as a number in a unit."""
    factor = _factor(unit, place)
    return formula if factor == 1 else as_expr(scalar(formula, what, place)) / factor


def _factor(unit: str, place: Place | None) -> Any:
    parsed = unit_of(unit, place)
    value: Any = parsed.factor
    for _ in range(abs(parsed.pi)):
        value = value * PI if parsed.pi > 0 else value / PI
    return value


def check_output_units(outputs: Iterable[Output], joints: Iterable[Joint]) -> None:
    """Rejects an output that is one coordinate or speed, in a unit of another dimension."""
    units: dict[str, str] = {}
    for joint in joints:
        units |= zip(joint.coordinates, joint.type.coordinate_units, strict=True)
        units |= zip(joint.speeds, joint.type.speed_units, strict=True)
    for output in outputs:
        label = _only_symbol(output.formula)
        if label in units and output.unit:
            _check_unit(output, label, units)


def _check_unit(output: Output, label: str, units: Mapping[str, str]) -> None:
    own, printed = unit_of(units[label]).dimension, unit_of(output.unit, output.place).dimension
    if not same_dimension(own, printed):
        raise ModelError(
            f"output '{output.name}' is to be shown in {output.unit}, but {label} is in "
            f"{units[label] or 'no unit'}.",
            place=output.place,
            hint="A turn a second is 1 rev/s." if "Hz" in output.unit else "",
        )


def _only_symbol(formula: Any) -> str:
    """The name of the symbol in symbol, number · symbol or symbol / number; "" for other things."""
    if not isinstance(formula, Expr):
        return ""
    if formula.op == "symbol":
        return formula.name
    inside = formula.args if formula.op == "mul" else formula.args[:1]
    names = [x.name for x in inside if x.op == "symbol"]
    others = [x for x in formula.args if x.op != "symbol"]
    scales = formula.op in ("mul", "div") and len(others) == 1 and not symbols_of(others)
    return names[0] if scales and names else ""


# Joints -----------------------------------------------------------------------------------------


def joint_kind(kind: Any, joint: str, place: Place | None) -> JointType:
    """A joint type, given as such, as its class, or by its word ("revolute")."""
    if isinstance(kind, JointType):
        return kind
    if isinstance(kind, str):
        if kind.lower() not in JOINT_TYPES.words:
            raise NamingError.unknown("joint type", kind, JOINT_TYPES.words, place=place)
        kind = JOINT_TYPES.words[kind.lower()]
    if not (isinstance(kind, type) and issubclass(kind, JointType)):
        raise ModelError(
            f"joint '{joint}' is given the type {kind!r}; a joint type is an object such as "
            "Revolute(), its class, or its keyword 'revolute'.",
            place=place,
        )
    needed = kind.required()
    if needed:
        raise ModelError(
            f"joint '{joint}': a {kind.__name__} joint needs its {' and '.join(needed)}: "
            f"write {kind.__name__}({', '.join(f'{x}=…' for x in needed)}).",
            place=place,
        )
    return kind()


_FIELDS: Mapping[type, str] = {
    Body: "bodies",
    Joint: "joints",
    Constraint: "constraints",
    Force: "forces",
    OneSided: "contacts",
    Parameter: "parameters",
    Input: "inputs",
    Start: "starts",
    Event: "events",
    Output: "outputs",
}


@checked
def mechanism(*parts: Any, name: str = "") -> Mechanism:
    """A mechanism of parts in any order; lists among them are opened, bodies of joints added.

    Another mechanism among them, such as one that was read, brings all of its parts and its name;
    starts given beside it take the place of its own.

    Raises:
        ModelError, NamingError: the parts make no mechanism.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.gravity(0, 0, -9.81), name="swing")
        >>> m
        <Mechanism swing: 1 body, 1 joint>
    """
    sorted_parts: dict[str, list[Any]] = {kind: [] for kind in _FIELDS.values()}
    flat = list(_flat(parts))
    for part in _opened(flat):
        kinds = [kind for base, kind in _FIELDS.items() if isinstance(part, base)]
        if not kinds:
            raise ModelError(f"{part!r} is no part of a mechanism: no body, joint, force, ….")
        sorted_parts[kinds[0]].append(part)
    _add_owners(sorted_parts, {y for x in flat if isinstance(x, Mechanism) for y in x.bodies})
    check_output_units([x for x in flat if isinstance(x, Output)], sorted_parts["joints"])
    options: dict[str, Any] = {kind: tuple(records) for kind, records in sorted_parts.items()}
    names = [part.name for part in flat if isinstance(part, Mechanism)]
    return Mechanism(name or next(iter(names), "mechanism"), **options)


def _opened(parts: list[Any]) -> Iterable[Any]:
    """The parts, and those of the mechanisms among them but for starts that are given anew."""
    anew = {part.label for part in parts if isinstance(part, Start)}
    for part in parts:
        if not isinstance(part, Mechanism):
            yield part
            continue
        for kind in _FIELDS.values():
            records = getattr(part, kind)
            yield from (x for x in records if not (isinstance(x, Start) and x.label in anew))


def _flat(parts: Iterable[Any]) -> Iterable[Any]:
    for part in parts:
        if isinstance(part, list | tuple):
            yield from _flat(part)
        else:
            yield part


def _add_owners(parts: dict[str, list[Any]], known: Set[Body]) -> None:
    """Adds the bodies whose markers are joined, and lets the markers forget them.

    Bodies like one that is known from a whole mechanism, such as one read again, are that one.
    """
    markers = [m for joint in parts["joints"] for m in (joint.predecessor, joint.successor)]
    owners = [marker.owner for marker in markers if marker.owner is not None]
    bodies = [x for x in [*parts["bodies"], *owners] if x != GROUND]
    _check_apart({id(x): x for x in bodies if x not in known}.values())
    parts["bodies"] = list(dict.fromkeys(bodies))
    parts["joints"] = [
        replace(
            joint,
            predecessor=replace(joint.predecessor, owner=None),
            successor=replace(joint.successor, owner=None),
        )
        for joint in parts["joints"]
    ]


def _check_apart(bodies: Iterable[Body]) -> None:
    """Raises an error for two bodies of one name that are alike: they would be one body.

    Different ones of one name are left for the checks of a mechanism.
    """
    seen: dict[Body, Body] = {}
    for body in bodies:
        if body in seen:
            raise ModelError(
                f"two bodies that were made apart are both named {body.name!r}.",
                place=body.place,
                hint=f"Give each a name of its own, such as body(f'{body.name}{{i}}', …); to join "
                "one body twice, make it once.",
            )
        seen[body] = body


ground = GROUND
"""The ground: the body that does not move, called "earth" in LSD.

Example:
    >>> import liaison
    >>> liaison.ground.name
    'ground'
"""
t: Expr = symbol("t")
"""Time [s], in formulas of imposed motions, inputs and outputs; `liaison.time` is the same.

Example:
    >>> import liaison
    >>> print(liaison.to_text(2 * liaison.t + 1))
    2*t + 1
"""
time = t
"""The time [s] in formulas; `t` hides no module after `from liaison import *`."""


# Bodies and joints ------------------------------------------------------------------------------


@checked
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

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> rod.mass, rod.com
        (1, (0, 0, -0.5))
    """
    forms = (shapes,) if isinstance(shapes, Shape) else tuple(shapes)
    if mass is not None and density is not None:
        raise ModelError(f"body '{name}' is given a mass and a density; give one of them.")
    if density is not None and not forms:
        raise ModelError(f"body '{name}' is given a density but no shape; give a shape or a mass.")
    is_filled = any(not is_zero(shape.volume()) for shape in forms) and inertia is None
    if density is not None or (mass is not None and is_filled):
        check_solid(forms, f"body '{name}'", line_here())
    here, whose = line_here(), f"of body '{name}'"
    total = None if mass is None else scalar(mass, f"the mass {whose}", here, "kg")
    dense = None if density is None else scalar(density, f"the density {whose}", here, "kg/m^3")
    solid = filled(forms, total, dense)
    com: Any = solid.com if center is None else center
    about: Any = solid.rotational
    if inertia is not None:
        about = tensor(inertia, whose, here, "kg*m^2")
    return Body(name, solid.mass, com, about, forms, here)


@checked
def turned(axis: Any, angle: Any) -> Any:
    """A rotation for `at`: about an axis (a letter or three numbers) by an angle [rad].

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1)
        >>> frame = rod.at((0, 0, -1), liaison.turned((0, 0, 1), "90 deg"))
        >>> [float(x) for x in frame.R[1]]
        [1.0, 0.0, 0.0]
    """
    return rotation_about(axis_vector(axis), scalar(angle, "an angle", line_here(), "rad"))


@fitting
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

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> A.coordinates
        ('A',)
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


@checked
def parameter(
    name: str, value: Any = None, unit: str = "", *, low: Any = None, high: Any = None
) -> Parameter:
    """A number that can be changed without deriving again; usable in formulas.

    Args:
        name: its name.
        value: in the unit given, or a text with its own, "30 cm"; None if it is not known yet.
        unit: such as "mm", "deg" or "kg*m^2"; by default that of a text. The value is kept in SI,
            and in formulas, and where it is set for a run, the parameter is in SI.
        low: least value allowed, in the unit given.
        high: greatest.

    Example:
        >>> import liaison
        >>> l = liaison.parameter("l", "80 cm", low=10, high=200)
        >>> float(l.value), l.unit
        (0.8, 'm')
    """
    here, what = line_here(), f"parameter '{name}'"
    unit = unit or written_unit((value, low, high), what, here)
    values = [in_si(x, unit, what, here) for x in (value, low, high)]
    return Parameter(name, values[0], si_label(unit, here), values[1], values[2], here)


@checked
def signal(name: str, unit: str = "", default: Any = 0) -> Input:
    """An input from outside at run time; usable in formulas. Only `default` is in the unit.

    Example:
        >>> import liaison
        >>> drive = liaison.signal("drive", "N*m", default=2)
        >>> drive.name, drive.default
        ('drive', Fraction(2, 1))
    """
    here, what = line_here(), f"the default of input '{name}'"
    unit = unit or written_unit((default,), what, here)
    exact = in_si(default, unit, what, here)
    return Input(name, si_label(unit, here), exact, here)


@checked
def coordinate(of: str | Joint) -> Expr:
    """The symbol of a coordinate, by its label or by its joint if that has one.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> print(liaison.to_text(liaison.sin(liaison.coordinate(A))))
        sin(A)
    """
    return symbol(label_of(of))


@checked
def rate(of: str | Joint) -> Expr:
    """The symbol of a coordinate's rate.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> print(liaison.to_text(liaison.rate(A) ** 2))
        A'**2
    """
    return symbol(f"{label_of(of)}'")


# Outputs and the whole ---------------------------------------------------------------------------


@checked
def output(name: str, formula: Any, unit: str = "") -> Output:
    """A quantity to be seen over time: a formula in SI, shown in a unit such as "mm" or "deg".

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> height = liaison.output("height", -liaison.cos(liaison.coordinate(A)), "m")
        >>> float(liaison.simulate(liaison.mechanism(A, height), until=0.1)["height"][0])
        -1.0
    """
    here = line_here()
    return Output(name, in_unit(formula, unit, f"output '{name}'", here), unit, here)


@checked
def event(name: str, formula: Any, *, direction: Any = 0, stop: bool = False) -> Event:
    """A zero of a formula to be recorded or to stop at; direction "both", "rising", "falling".

    "crossing", the word of LSD, is "both".

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> turn = liaison.event("turn", liaison.coordinate(A) - 1, stop=True)
        >>> m = liaison.mechanism(A, turn, liaison.start(A, 0, 2.0))
        >>> round(float(liaison.simulate(m, until=5).t[-1]), 6)
        0.5
    """
    sense = {"rising": 1, "falling": -1, "both": 0, "crossing": 0}.get(direction, direction)
    return Event(name, formula, sense, "stop" if stop else "record", line_here())


@checked
def start(where: str | Joint | Mapping[str, Any], value: Any = None, speed: Any = None) -> Any:
    """Where a coordinate starts, and its speed; or a table of labels ("A", "A'") and values.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.start(A, "30 deg", "1 rad/s"))
        >>> liaison.check(m).start.state
        State(t=0, A=0.523598776, A'=1)
    """
    here = line_here()
    if isinstance(where, Mapping):
        return tuple(Start(label, x, here) for label, x in where.items())
    label = label_of(where)
    pairs = ((label, value), (f"{label}'", speed))
    return tuple(Start(word, x, here) for word, x in pairs if x is not None)


@checked
def guess(where: str | Joint | Mapping[str, Any], value: Any = None, speed: Any = None) -> Any:
    """As `start`, for what assembling begins with and may move as the closures need.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.guess(A, "30 deg"))
        >>> round(liaison.check(m).start.state["A"], 6)
        0.523599
    """
    here = line_here()
    begun = start(where, value, speed)
    return tuple(replace(x, place=here, is_guess=True) for x in begun)
