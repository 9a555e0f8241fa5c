"""What a robot has besides links and joints: limits, gears, motors, feet.

Motors stand in <transmission> and <ros2_control>, the rotors' inertia there or in <rotor_params> of
an SRDF file. Stops, motors and contacts with the ground are made where they are asked for:

    stop      lower ≤ q ≤ upper, without restitution unless it is given
    motor     a `Servo` whose target is an input; its effort is limited by <limit effort>, and that
              limit falls to nothing at <limit velocity>, as back EMF lets it
    rotor     M of its joint grows by ratio² times its inertia
    foot      each collision shape against the plane z = height, meshes by their convex hulls;
              friction is the smaller of the link's and the ground's

Public names: Limits, limits_in, Equipment, EquipmentKeywords, Gear, gears_in, stops_of, motors_of,
rotors_of, feet_of, form_of, touching_form, hulls_note, large_note, frictions_in, gains_note,
name_in, inside, KINDS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypedDict, final

import numpy as np

import liaison.model as model
from liaison.errors import LiaisonError, ModelError, NamingError, OptionError, TextError
from liaison.expr import symbol
from liaison.formats.ground import GRIP, plane_height
from liaison.formats.heights import extent
from liaison.formats.poses import rows_of
from liaison.formats.quantities import UNITS, number_of
from liaison.model.values import floats

from .xml import Element, number_in, number_text, numbers_in

KINDS = ("torque", "velocity", "position")
"""What motors may follow."""
REACH = Fraction(1, 5)
"""Off its target by this [rad; a tenth of it in m], a motor in position mode gives all it has."""
LAG = Fraction(1, 20)
"""Damping of a motor in position mode by its stiffness [s], at most."""
REST = Fraction(1, 500)
"""Time within which its damping alone brings a joint to rest, at least [s]: for steps of 1 ms."""
SLIP = Fraction(1, 10)
"""Off its speed by this part of the limit, a motor in velocity mode gives all it has."""
STIFF, DAMPED = (Fraction(100), Fraction(1000)), (Fraction(10), Fraction(100))
"""Gains about an axis and along one where no effort is known [N·m/rad, N/m; N·m·s/rad, N·s/m]."""
MARGIN = Fraction(1, 100)
"""How far inside its range a joint starts for which 0 is outside, as a part of the range."""


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a joint as its file says them; None where it says nothing."""

    lower: Fraction | None = None  # [rad] or [m]
    upper: Fraction | None = None
    effort: Fraction | None = None  # [N·m] or [N]
    velocity: Fraction | None = None  # [rad/s] or [m/s]


def limits_in(element: Element) -> Limits | None:
    """The <limit> of a joint."""
    limit = element.one("limit")
    if limit is None:
        return None
    keys = ("lower", "upper", "effort", "velocity")
    return Limits(*(number_in(limit, k) if k in limit.attributes else None for k in keys))


class EquipmentKeywords(TypedDict, total=False):
    """Keywords of `Equipment`; see its fields."""

    limits: bool | None
    restitution: Any
    motors: str
    stiffness: Any
    damping: Any
    ground: Any
    friction: Any
    sticking: bool
    self_collision: bool
    decompose: bool | int


@final
@dataclass(frozen=True, slots=True)
class Equipment:
    """What is asked for besides the links and joints of a file."""

    limits: bool | None = None  # stops; None: where there are motors or a ground
    restitution: Any = 0  # of stops and of the ground
    motors: str = ""  # of KINDS; "": none
    stiffness: Any = None  # of motors in position mode [N·m/rad, N/m]
    damping: Any = None  # of motors in position and velocity mode [N·m·s/rad, N·s/m]
    ground: Any = None  # height of a plane that collision shapes touch [m]; None: no plane
    friction: Any = None  # of the ground; None: GRIP
    sticking: bool = False  # dry friction of joints holds at rest, exactly
    self_collision: bool = False  # links touch each other, but for neighbours
    decompose: bool | int = False  # meshes touch so by their convex parts, so many at most

    def __post_init__(self) -> None:
        if self.motors and self.motors not in KINDS:
            raise NamingError.unknown("kind of motors", self.motors, KINDS)
        for word in ("stiffness", "damping", "friction", "restitution"):
            value = getattr(self, word)
            if value is not None and number_of(value, word, UNITS[word]) < 0:
                raise OptionError(f"{word} = {value}: it must be a number, and not negative.")
        for word in ("stiffness", "damping"):
            if getattr(self, word) is not None and self.motors in ("", "torque"):
                followed = "position" if word == "stiffness" else "position or velocity"
                raise OptionError(f"{word} is given without motors that follow a {followed}.")
        if self.stiffness is not None and self.motors == "velocity":
            raise OptionError("motors that follow a velocity have no stiffness.")
        plane_height(self.ground, self.friction)
        if self.decompose is not False and not self.self_collision:
            raise OptionError(
                "decompose takes meshes apart where links touch each other; a plane is touched by "
                "a mesh as by its hull.",
                hint="Give self_collision, too.",
            )

    @property
    def has_ground(self) -> bool:
        """Whether there is a plane to stand on."""
        return self.height is not None

    @property
    def height(self) -> Any:
        """Of that plane [m]."""
        return plane_height(self.ground, None)

    @property
    def touches(self) -> bool:
        """Whether collision shapes are used."""
        return self.has_ground or self.self_collision

    @property
    def used(self) -> dict[str, set[str]]:
        """Element -> elements in it that are used because of what is asked for."""
        tags: dict[str, set[str]] = {"robot": set()}
        if self.motors:
            tags["robot"] |= {"transmission", "ros2_control"}
            tags["ros2_control"] = {"joint", "transmission"}
        if self.touches:
            tags["robot"].add("gazebo")
            tags |= {"gazebo": {"mu1"}, "link": {"contact"}, "collision": {"contact_coefficients"}}
        return tags

    @property
    def has_stops(self) -> bool:
        """Whether limits of positions are stops."""
        return self.has_ground or bool(self.motors) if self.limits is None else self.limits


# ---- what a file says


@final
@dataclass(frozen=True, slots=True)
class Gear:
    """What drives a joint: turns of the rotor by turn of the joint, and the rotor's inertia."""

    ratio: Fraction = Fraction(1)
    rotor: Fraction = Fraction(0)  # [kg·m²]


REDUCTIONS = ("mechanicalReduction", "mechanical_reduction", "drake:gear_ratio")
ROTORS = ("rotorInertia", "rotor_inertia", "drake:rotor_inertia")


def gears_in(
    root: Element, joints: Mapping[str, Element], notes: list[str], strict: bool
) -> dict[str, Gear]:
    """Joint -> its gear, of every <transmission> and <ros2_control> of a robot.

    Args:
        root: of the file.
        joints: by name.
        notes: what is taken otherwise than it is written.
        strict: rejects joints that are not there; they are passed over otherwise.

    Raises:
        NamingError: a joint that is not there.
        TextError: a reduction of 0, or what is no number.
    """
    gears: dict[str, Gear] = {}
    hardware = root.all("ros2_control")
    for joint in (
        x for group in hardware for x in group.all("joint") if x.all("command_interface")
    ):
        if strict or joint.get("name") in joints:
            gears[name_in(joint, joints)] = Gear()
    groups = [*root.all("transmission"), *(x for y in hardware for x in y.all("transmission"))]
    for group in groups:
        ends, actuators = group.all("joint"), group.all("actuator")
        if len(ends) != 1 or len(actuators) > 1:
            coupled = ", ".join(repr(x.get("name")) for x in ends)
            what = f"couples {coupled}: taken as motors of their own" if ends else "names no joint"
            notes.append(f"{group} {what} (line {group.place.line})")
        for end in (x for x in ends if strict or x.get("name") in joints):
            alone = [group, end, *actuators] if len(ends) == 1 else [end]
            gears[name_in(end, joints)] = _gear(alone)
    return gears


def name_in(
    element: Element, names: Mapping[str, Element], what: str = "joint", key: str = "name"
) -> str:
    """The name that an element says, which one of these must have."""
    name = element.get(key)
    if name not in names:
        raise NamingError.unknown(what, name, names, place=element.place)
    return name


def _gear(elements: Iterable[Element]) -> Gear:
    """The product of all reductions, and the rotor."""
    ratio, rotor = Fraction(1), Fraction(0)
    for child in (x for element in elements for x in element.children):
        if child.tag in REDUCTIONS:
            ratio *= number_text(child)
        elif child.tag in ROTORS:
            rotor = number_text(child)
        if child.tag in ROTORS and rotor < 0:
            raise ModelError(f"{child} is negative.", place=child.place)
        if ratio == 0:
            message = f"{child} is 0: the joint would never move."
            raise TextError(message, place=child.place)
    return Gear(ratio, rotor)


def frictions_in(root: Element, links: Mapping[str, Element]) -> dict[str, Fraction]:
    """Link -> its coefficient: <gazebo reference><mu1>, else <contact_coefficients mu>."""
    coefficients: dict[str, Fraction] = {}
    for name, link in links.items():
        for shape in (*link.all("collision"), *link.all("contact")):
            for one in shape.all("contact_coefficients"):
                if "mu" in one.attributes:
                    coefficients[name] = number_in(one, "mu")
            for one in shape.all("lateral_friction"):
                coefficients[name] = number_in(one, "value")
    for tag in root.all("gazebo"):
        whose = tag.attributes.get("reference", "")
        for one in tag.all("mu1") if whose in links else ():
            coefficients[whose] = number_text(one)
    for name, value in coefficients.items():
        if value < 0:
            message = f"the friction of link {name!r} is {float(value):g}; it must not be negative."
            raise ModelError(message, place=links[name].place)
    return coefficients


# ---- what is made of it


def stops_of(
    joints: Iterable[model.Joint],
    limits: Mapping[str, Limits],
    equipment: Equipment,
    notes: list[str],
) -> list[model.Unilateral]:
    """Stops at the ends of every range; a range of no length is noted, and has none."""
    stops: list[model.Unilateral] = []
    for joint in joints:
        limit = limits.get(joint.name)
        if limit is None or joint.type.nq != 1 or (limit.lower is None and limit.upper is None):
            continue
        lower, upper = limit.lower or Fraction(0), limit.upper or Fraction(0)
        if lower == upper:
            notes.append(f"joint {joint.name!r} has the range {float(lower):g} … {float(upper):g}, "
                         "which would hold it: it has no stops")  # fmt: skip
            continue
        stops += model.stops(
            joint, lower, upper, restitution=equipment.restitution, place=joint.place
        )
    return stops


def inside(limit: Limits | None) -> Fraction:
    """Where a joint starts: at 0, or in its range near the end that is nearest to 0."""
    if limit is None or limit.lower is None or limit.upper is None or limit.lower >= limit.upper:
        return Fraction(0)
    if limit.lower <= 0 <= limit.upper:
        return Fraction(0)
    margin = MARGIN * (limit.upper - limit.lower)
    return limit.lower + margin if limit.lower > 0 else limit.upper - margin


def rotors_of(joints: Iterable[model.Joint], gears: Mapping[str, Gear]) -> list[model.Armature]:
    """Inertia that rotors add to their joints."""
    return [
        model.Armature(f"rotor of {x.name}", x.coordinates[0], gear.ratio**2 * gear.rotor)
        for x in joints
        if (gear := gears.get(x.name)) is not None and gear.rotor and x.type.nq == 1
    ]


def motors_of(
    joints: Iterable[model.Joint],
    limits: Mapping[str, Limits],
    starts: Mapping[str, Any],
    equipment: Equipment,
    inertias: Mapping[str, float],
    lines: list[str],
) -> tuple[list[model.Servo], list[model.Input]]:
    """A motor for each joint, and the input that it follows.

    Args:
        joints: that are driven.
        limits: of joints by name.
        starts: positions at which joints start, by name: defaults of what motors hold.
        equipment: kind of the motors, and gains.
        inertias: that joints move at the start, by name [kg·m², kg].
        lines: what is deduced; a line for each motor is added.
    """
    servos, inputs = [], []
    for joint in joints:
        limit = limits.get(joint.name) or Limits()
        turns = joint.type.coordinate_units[0] == "rad"
        word, unit = _INPUTS[equipment.motors, turns]
        called = f"{joint.name}.{word}"
        default = starts.get(joint.name, 0) if word == "target" else 0
        inputs.append(model.Input(called, unit, default, place=joint.place))
        own = _own_gains(equipment, joint.name, turns)
        values = {word: symbol(called)} | _gains(limit, turns, own, inertias.get(joint.name, 0.0))
        if limit.effort:
            values["limit"] = limit.effort
            values |= {"no_load": limit.velocity} if limit.velocity else {}
        measure = model.Coordinate(joint.coordinates[0])
        servos.append(model.Servo(f"motor of {joint.name}", measure, **values, place=joint.place))
        numbers = {k: f"{k} {float(x):g}" for k, x in values.items() if k != word}
        lines.append(f"motor of {joint.name!r}: input {called!r} [{unit}]"
                     f"{', ' if numbers else ''}{', '.join(numbers.values())}")  # fmt: skip
    return servos, inputs


_INPUTS = {
    ("torque", True): ("effort", "N*m"),
    ("torque", False): ("effort", "N"),
    ("velocity", True): ("speed", "rad/s"),
    ("velocity", False): ("speed", "m/s"),
    ("position", True): ("target", "rad"),
    ("position", False): ("target", "m"),
}
"""Kind of a motor, and whether its joint turns -> the field its input stands for, and its unit."""


def _own_gains(equipment: Equipment, joint: str, turns: bool) -> Equipment:
    """Gains of a joint's motor as numbers; a text has the unit of a joint that turns, or slides."""
    gains = {
        word: number_of(value, f"{word} of the motor of {joint!r}", [UNITS[word][not turns]])
        for word in ("stiffness", "damping")
        if isinstance(value := getattr(equipment, word), str)
    }
    return replace(equipment, **gains) if gains else equipment


def _gains(limit: Limits, turns: bool, equipment: Equipment, inertia: float) -> dict[str, Any]:
    """Stiffness and damping: as given, else by the limits and the inertia, else by STIFF, DAMPED.

    The damping of a joint that moves an inertia e is e / REST at most: more would make adaptive
    steps short.
    """
    if equipment.motors == "torque":
        return {}
    if equipment.motors == "velocity":
        known = limit.effort and limit.velocity
        own = limit.effort / (SLIP * limit.velocity) if known else DAMPED[not turns]  # type: ignore[operator]
        return {"damping": own if equipment.damping is None else equipment.damping}
    reach = REACH if turns else REACH / 10
    stiffness: Any = limit.effort / reach if limit.effort else STIFF[not turns]
    if equipment.stiffness is not None:
        stiffness = equipment.stiffness
    bound = Fraction(f"{inertia / REST:.3g}") or stiffness * LAG
    damping = min(stiffness * LAG, bound) if equipment.damping is None else equipment.damping
    return {"stiffness": stiffness, "damping": damping}


def gains_note(motors: Sequence[model.Servo], equipment: Equipment) -> list[str]:
    """A line for each gain that was not given: its least and greatest value."""
    notes = []
    for word in ("stiffness", "damping"):
        values = [float(x) for motor in motors if (x := getattr(motor, word))]
        if values and getattr(equipment, word) is None:
            least, most = f"{min(values):g}", f"{max(values):g}"
            span = least if least == most else f"{least} … {most}"
            motors_of_them = "1 motor" if len(values) == 1 else f"{len(values)} motors"
            why = _BOUND if word == "damping" and any(map(_is_bounded, motors)) else ""
            notes.append(f"the {word} of {motors_of_them} is not given: {span} is taken{why}")
    return notes


def _is_bounded(motor: model.Servo) -> bool:
    """Whether a motor has less damping than its stiffness asks for."""
    return bool(motor.stiffness) and motor.damping < motor.stiffness * LAG


_BOUND = ", for light joints what they move by 2 ms, so that steps of 1 ms follow"


# ---- feet


def feet_of(
    links: Mapping[str, Element],
    frictions: Mapping[str, Fraction],
    equipment: Equipment,
    *,
    place: Callable[[Element], tuple[Any, Any]],
    body: Callable[[str], str],
    file: Callable[[Element], Path | str],
    notes: list[str],
) -> list[model.Contact]:
    """A contact with the ground for every collision shape of links.

    Args:
        links: those that move, by name.
        frictions: coefficients by link.
        equipment: height of the ground, its friction and restitution.
        place: pose of a shape in its link.
        body: the name of a link's body.
        file: of a <mesh>, or why there is none that may be opened.
        notes: what cannot touch is named there, and what was repaired of meshes.
    """
    plane = model.Marker("ground", p=(0, 0, equipment.height), name="ground plane")
    own = GRIP if equipment.friction is None else equipment.friction
    feet: list[model.Contact] = []
    without: dict[str, list[str]] = {}
    for name, link in links.items():
        shapes = link.all("collision")
        for k, shape in enumerate(shapes, start=1):
            form = form_of(shape)
            known = touching_form(form, name, file, notes)
            if known is None:
                without.setdefault(form.tag if form else "nothing", []).append(name)
                continue
            R, p = place(shape)
            marker = model.Marker(body(name), rows_of(R), tuple(p), place=shape.place)
            kind, sizes = known
            called = f"{name} on the ground" if len(shapes) == 1 else f"{name} on the ground {k}"
            mu = min(own, frictions[name]) if name in frictions else own
            common = {"friction": mu, "restitution": equipment.restitution, "place": shape.place}
            feet.append(model.Contact(called, marker, plane, kind, **common, **sizes))
    for tag, names in without.items():
        listed = ", ".join(map(repr, dict.fromkeys(names)))
        notes.append(f"collision geometry <{tag}> does not touch the ground: links {listed}")
    return feet


def form_of(shape: Element) -> Element | None:
    """The geometry of a shape; None where there is none.

    Raises:
        TextError: there are two.
    """
    geometry = shape.one("geometry")
    forms = geometry.children if geometry else []
    if len(forms) > 1:
        word, listed = shape.tag, ", ".join(map(str, forms))
        raise TextError(
            f"<geometry> of <{word}> has {len(forms)} shapes, {listed}; it takes one.",
            place=forms[1].place,
            hint=f"Give each shape a <{word}> of its own; a link may have several.",
        )
    return forms[0] if forms else None


def touching_form(
    form: Element | None, link: str, file: Callable[[Element], Path | str], notes: list[str]
) -> tuple[str, dict[str, Any]] | None:
    """The contact shape of a geometry and its sizes; of a mesh its hull; None where it has none.

    Args:
        form: the geometry.
        link: that has it.
        file: of a <mesh>, or why there is none that may be opened.
        notes: what is wrong with a mesh is said there, and what was repaired.
    """
    if form is not None and form.tag in TOUCHING:
        return TOUCHING[form.tag](form)
    if form is None or form.tag != "mesh":
        return None
    path = file(form)
    if isinstance(path, str):
        notes += _unfit(form, link, path, notes)
        return None
    try:
        x, y, z = numbers_in(form, "scale", 3, "1 1 1")
        hull = model.Hull(file=str(path), scale=(x, y, z))
    except LiaisonError as error:
        notes += _unfit(form, link, error.message.replace(str(path), path.name), notes)
        return None
    # points inside a mesh are no corners of its hull, which says nothing; what is left out does
    left_out = [x.replace(str(path), path.name) for x in hull.notes if "leaves out" in x]
    notes += (x for x in left_out if x not in notes)
    return "hull", {"more": (("points", hull),)}


def _unfit(form: Element, link: str, why: str, notes: list[str]) -> list[str]:
    """The note that a mesh is no shape, once."""
    note = f"link {link!r}: {why.rstrip('.')} (line {form.place.line})"
    return [] if note in notes else [note]


def hulls_note(contacts: Iterable[model.Contact]) -> list[str]:
    """A line on meshes that touch the ground by their hulls, if there are some."""
    count = sum(x.kind == "hull" for x in contacts)
    if not count:
        return []
    one = "1 mesh touches the ground by its hull"
    return [one if count == 1 else f"{count} meshes touch the ground by their hulls"]


LARGE = 30.0
"""Times the lengths of all links together by which a shape is larger than can be meant."""


def large_note(contacts: Iterable[model.Contact], joints: Iterable[model.Joint]) -> list[str]:
    """A line on shapes that are far larger than the robot, as in millimetres."""
    robot = sum(float(np.linalg.norm(floats(x.predecessor.p, {}))) for x in joints)
    sizes = {x.first.body: extent(x) for x in contacts}
    links = [x for x, size in sizes.items() if 0 < LARGE * robot < size]
    if not links:
        return []
    return [
        f"the shape of link {links[0]!r} is {sizes[links[0]]:.3g} m large, and all links together "
        f"are {robot:.3g} m long: sizes may be in mm (a mesh takes scale='0.001 0.001 0.001')"
    ]


def _ball(form: Element) -> tuple[str, dict[str, Any]]:
    return "ball", {"radius": number_in(form, "radius")}


def _rod(form: Element) -> tuple[str, dict[str, Any]]:
    return form.tag, {"radius": number_in(form, "radius"), "length": number_in(form, "length")}


def _box(form: Element) -> tuple[str, dict[str, Any]]:
    return "box", {"size": tuple(numbers_in(form, "size", 3, ""))}


TOUCHING: Mapping[str, Callable[[Element], tuple[str, dict[str, Any]]]] = {
    "sphere": _ball,
    "cylinder": _rod,
    "capsule": _rod,
    "box": _box,
}
"""Geometry -> the contact shape and its sizes."""
