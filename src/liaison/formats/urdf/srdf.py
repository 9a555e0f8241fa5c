"""SRDF: what a second file says of a robot's motion: loops, passive joints, rotors, poses.

A value of a <group_state> is the position of a joint; of a continuous one also its cosine and sine;
of a floating one x, y, z and the quaternion x, y, z, w. `root_joint`, and what a <virtual_joint>
names, is that between the world and the base.

Public names: Srdf, srdf_of, Pose, pose_of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import atan2, hypot
from typing import Any, final

import liaison.model as model
from liaison.errors import TextError

from .equipment import Gear, name_in
from .xml import Element, elements_of, number_in, numbers_in

ROOT = "root_joint"
"""The joint between the world and the base where no <virtual_joint> names one."""

SLACK = 1e-3
"""What the sum of squares of a printed cosine and sine, or of a quaternion, may be off 1."""


@final
@dataclass(frozen=True, slots=True)
class Srdf:
    """What an SRDF file says of a robot's motion."""

    loops: tuple[Element, ...] = ()
    passive: frozenset[str] = frozenset()  # joints without a motor
    gears: Mapping[str, Gear] = field(default_factory=dict)
    states: Mapping[str, tuple[Element, ...]] = field(default_factory=dict)  # <joint>s of each
    roots: frozenset[str] = frozenset()  # names of the joint between the world and the base
    notes: tuple[str, ...] = ()
    apart: frozenset[frozenset[str]] = frozenset()  # pairs of links that never touch


def srdf_of(
    data: bytes,
    file: str,
    robot: str,
    joints: Mapping[str, Element],
    links: Mapping[str, Element],
    strict: bool = True,
) -> Srdf:
    """Loops, passive joints, rotors and group states of an SRDF text; the rest is noted.

    Args:
        data: the text.
        file: its name, for messages.
        robot: name of the robot in the URDF file.
        joints: of that file, by name.
        links: likewise.
        strict: rejects joints of poses that are not there; they are noted otherwise.

    Raises:
        NamingError: a joint or a link that is not there.
    """
    root = elements_of(data, file)
    if root.tag != "robot":
        raise TextError(f"the root is {root}; SRDF begins with <robot>.", place=root.place)
    virtual = {x.get("name"): x for x in root.all("virtual_joint")}
    known = {ROOT: root, **virtual, **joints}
    gears = {
        name_in(x, joints): Gear(number_in(x, "gear_ratio", "1"), number_in(x, "mass", "0"))
        for group in root.all("rotor_params")
        for x in group.all("joint")
    }
    states: dict[str, tuple[Element, ...]] = {}
    notes: list[str] = []
    for state in root.all("group_state"):
        listed = [x for x in state.all("joint") if strict or x.get("name") in known]
        for x in listed:
            name_in(x, joints if x.get("name") not in known else known)
            numbers_in(x, "value", len(x.get("value").split()), "")
        states[state.get("name")] = (*states.get(state.get("name"), ()), *listed)
        lost = [x.get("name") for x in state.all("joint") if x not in listed]
        if lost:
            notes.append(f"{state} of {file} names joints that are not there: {', '.join(lost)}")
    apart = frozenset(
        frozenset(name_in(x, links, "link", key) for key in ("link1", "link2"))
        for x in root.all("disable_collisions")
    )
    used = ("passive_joint", "rotor_params", "group_state", "loop", "constraint", "virtual_joint")
    strange = sorted({x.tag for x in root.children} - {*used})
    notes += (f"<{tag}> of {file} is not used" for tag in strange)
    whose = root.attributes.get("name", robot)
    if robot and whose != robot:
        notes.insert(0, f"{file} is of robot {whose!r}; this one is {robot!r}")
    return Srdf(
        loops=(*root.all("loop"), *root.all("constraint")),
        passive=frozenset(name_in(x, known) for x in root.all("passive_joint")) & joints.keys(),
        gears=gears,
        states=states,
        roots=frozenset(known) - joints.keys(),
        notes=tuple(notes),
        apart=apart,
    )


@final
@dataclass(frozen=True, slots=True)
class Pose:
    """Where joints of one coordinate are, and free ones: x, y, z and the quaternion w, x, y, z."""

    angles: Mapping[str, Fraction] = field(default_factory=dict)  # [rad] or [m]
    places: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


def pose_of(
    srdf: Srdf, state: str, joints: Mapping[str, model.JointType], root: str, notes: list[str]
) -> Pose:
    """A group state as positions; what of it has no place is noted.

    Args:
        srdf: that has it.
        state: its name.
        joints: kinds of the robot's joints by name, the one of its base among them.
        root: name of that one.
        notes: to add to.

    Raises:
        TextError: a cosine and a sine, or a quaternion, that are none.
    """
    angles: dict[str, Fraction] = {}
    places: dict[str, tuple[Any, ...]] = {}
    for element in srdf.states[state]:
        values = numbers_in(element, "value", len(element.get("value").split()), "")
        name = root if element.get("name") in srdf.roots else element.get("name")
        kind = joints[name]
        if len(values) == 1 and kind.nq == 1:
            angles[name] = values[0]
        elif len(values) == 2 and kind.nq == 1 and kind.coordinate_units[0] == "rad":
            angles[name] = Fraction(_angle(element, *map(float, values)))
        elif len(values) == kind.nq == 7:
            places[name] = (*values[:3], *_quaternion(element, [float(x) for x in values[3:]]))
        else:
            count = "1 value" if len(values) == 1 else f"{len(values)} values"
            own = element.get("name")
            why = ": the base is held" if name == root and not kind.nq else ""
            notes.append(f"{count} of joint {own!r} in pose {state!r} not used{why}")
    return Pose(angles, places)


def _angle(element: Element, cosine: float, sine: float) -> float:
    if abs(hypot(cosine, sine) - 1) > SLACK:
        message = f"{element} has the values {cosine:g} and {sine:g}; they are no cosine and sine."
        raise TextError(message, place=element.place, hint="Give one value: the angle [rad].")
    return atan2(sine, cosine)


def _quaternion(element: Element, xyzw: list[float]) -> tuple[float, ...]:
    size = sum(x * x for x in xyzw) ** 0.5
    if abs(size - 1) > SLACK:
        raise TextError(
            f"{element} has a quaternion of length {size:g}.",
            place=element.place,
            hint="The values are x, y, z and a quaternion x, y, z, w of length 1.",
        )
    x, y, z, w = (value / size for value in xyzw)
    return (w, x, y, z)
