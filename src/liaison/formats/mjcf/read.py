"""MJCF, MuJoCo's model files. `reading_of_mjcf` makes a `Mechanism`.

Read are bodies, their joints (hinge, slide, ball, free; several on a body one after another), their
mass from <inertial> or from geoms, springs, dampers, friction and armature of joints, tendons,
equalities, actuators, sensors, keyframes, gravity, classes of defaults, includes, frames and
repetitions. The tables of fields.py list what is read, what is ignored and named in the notes, and
what is an error, or a note where the reading is lenient.

Public names: read_mjcf, reading_of_mjcf, keyframes.

Source: MUJOCO XML reference, section keyframe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any, final

import numpy as np

import liaison.model as model
from liaison.errors import NamingError, OptionError, Place, TextError
from liaison.expr import ZERO, Expr, as_expr, collector_paused
from liaison.formats.decompose import decomposition
from liaison.formats.ground import plane_height
from liaison.formats.guard import Reading, check_bodies, computable
from liaison.formats.heights import lifted
from liaison.formats.lsd.formulas.values import plain
from liaison.formats.poses import rows_of
from liaison.formats.urdf.xml import (
    Element,
    elements_of,
    kept_limits,
    number_in,
    numbers_in,
)
from liaison.model.values import floats
from liaison.spatial import (
    array,
    compose,
    identity,
    rotation_quaternion,
    zeros,
)

from .actuators import Actuators
from .contacts import Touching, contacts, ground_plane, put_on
from .expand import Folder, expanded
from .fields import Fields, check_names
from .geoms import Geoms, kind_of
from .hfields import HeightFields
from .joints import Joints
from .meshes import Meshes
from .parts import Parts, Pose, marker_at
from .poses import carried, fluid_drag, weights
from .sensors import Sensors
from .tendons import Tendon, equalities, tendons
from .values import check_long, is_true, number

SHORTEST = 1e-10
"""Length of a quaternion below which it has no direction."""


# ---- keyframes


def keyframes(root: Element, parts: Parts, actuators: Actuators, wish: str | int | None) -> None:
    """Checks all keyframes, and starts from the one that is wanted.

    Raises:
        TextError: a keyframe with a wrong number of values.
        NamingError: no such keyframe.
    """
    listed = [y for group in root.all("keyframe") for y in group.all("key")]
    named = {x.attributes["name"]: x for x in listed if x.attributes.get("name")}
    keys = {x.attributes.get("name") or str(k): x for k, x in enumerate(listed)} | named
    joints = [x for x in parts.joints.values() if x.type.nq]
    counts = {
        "qpos": sum(x.type.nq for x in joints),
        "qvel": sum(x.type.nv for x in joints),
        "ctrl": len(actuators.controls),
        "act": sum(bool(state) for _, state in actuators.controls),
    }
    for key in keys.values():
        number_in(key, "time", "0")
        for word, count in counts.items():
            if word in key.attributes and not parts.fields.is_lossy:
                numbers_in(key, word, count, "")
    if keys and wish is None:
        names = ", ".join([*keys][:5]) + (", …" if len(keys) > 5 else "")
        parts.notes.append(f"keyframes are not used: {names}; keyframe= starts from one")
    if wish is None:
        return
    keys = {str(k): x for k, x in enumerate(listed)} | keys
    if str(wish) not in keys:
        place = next((x.place for x in keys.values()), root.place)
        raise NamingError.unknown("keyframe", str(wish), keys, place=place)
    _begin(keys[str(wish)], joints, counts, parts, actuators)


def _begin(
    key: Element, joints: list[Any], counts: dict[str, int], parts: Parts, actuators: Actuators
) -> None:
    """Starts of coordinates and speeds, and controls, from a keyframe."""
    if number_in(key, "time", "0"):
        parts.notes.append(f"'time' of {key} is not used: a run begins at t = 0")
    place, starts = key.place, {x.label: x for x in parts.starts}
    q = [float(x) for x in numbers_in(key, "qpos", counts["qpos"], "")] if _has(key, "qpos") else []
    v = [float(x) for x in numbers_in(key, "qvel", counts["qvel"], "")] if _has(key, "qvel") else []
    for joint in joints:
        own, q = q[: joint.type.nq], q[joint.type.nq :]
        if own:
            values = _position(joint, own, key, parts)
            starts |= {
                x: model.Start(x, y, place) for x, y in zip(joint.coordinates, values, strict=True)
            }
        speeds, v = v[: joint.type.nv], v[joint.type.nv :]
        if speeds:
            if isinstance(joint.type, model.Free):
                quat = [float(floats(starts[x].value, {})) for x in joint.coordinates[3:]]
                R = np.array(rotation_quaternion(quat), dtype=float)
                speeds = [*speeds[3:], *(R.T @ np.array(speeds[:3]))]
            starts |= {
                x: model.Start(x, y, place) for x, y in zip(joint.speeds, speeds, strict=True)
            }
    if _has(key, "act"):
        labels = [state for _, state in actuators.controls if state]
        activations = zip(labels, numbers_in(key, "act", counts["act"], ""), strict=True)
        starts |= {x: model.Start(x, y, place) for x, y in activations if x != " act"}
    parts.starts[:] = starts.values()
    if _has(key, "ctrl"):
        labels = [label for label, _ in actuators.controls]
        controls = dict(zip(labels, numbers_in(key, "ctrl", counts["ctrl"], ""), strict=True))
        parts.inputs[:] = [_set(x, controls) for x in parts.inputs]


def _set(control: model.Input, values: dict[str, Any]) -> model.Input:
    """An input with the value of a keyframe, if it has one."""
    is_set = control.name in values
    return replace(control, default=values[control.name]) if is_set else control


def _has(key: Element, word: str) -> bool:
    return word in key.attributes


def _position(joint: model.Joint, values: list[float], key: Element, parts: Parts) -> list[float]:
    """Coordinates in our count: from 0, and quaternions of unit length."""
    if len(values) == 1:
        return [values[0] - float(floats(parts.references.get(joint.name, 0), {}))]
    size = float(np.linalg.norm(values[-4:]))
    if size < SHORTEST:
        message = f"{key} has a quaternion of joint {joint.name!r} that is zero."
        raise TextError(message, place=key.place)
    return [*values[:-4], *(x / size for x in values[-4:])]


def read_mjcf(text: str | bytes, **options: Any) -> model.Mechanism:
    """The mechanism of an MJCF text; see `reading_of_mjcf`."""
    return reading_of_mjcf(text, **options).mechanism


def reading_of_mjcf(
    text: str | bytes,
    *,
    file: str = "text.xml",
    strict: bool = True,
    folder: str | Path | None = None,
    keyframe: str | int | None = None,
    limits: bool | None = None,
    contacts: bool = False,
    decompose: bool | int = False,
    ground: Any = None,
    friction: Any = None,
) -> Reading:
    """The mechanism of an MJCF text, with notes.

    Args:
        text: the description.
        file: its name, for messages; the files that it names are looked for beside it.
        keyframe: the keyframe to start from, by its name or number; as described if None.
        limits: stops at the ends of ranges; True unless it is False.
        contacts: reads contacts between geoms that have formulas; others are noted.
        decompose: meshes touch by their convex parts, up to 16 or so many, not by their hulls.
        ground: a plane where the world has none, True or its height [m]; contacts are read.
        friction: of that plane; MuJoCo's own, 1, if None.
        folder: below which files may be opened: the folder of a file that is read, none for a text.
        strict: rejects impossible inertias and geoms whose mass is not known; otherwise they are
            repaired or left out, and noted.

    Raises:
        TextError: not XML, not MJCF, or a number that is none, with file and line.
        NamingError: bodies, joints or classes that are not there, or there twice.
        ModelError: a description that no mechanism can have.
    """
    data = text.encode() if isinstance(text, str) else text
    with collector_paused(), computable(Place(file, 1)):
        root = elements_of(data, file)
        if root.tag != "mujoco":
            raise TextError(f"the root is {root}; MJCF begins with <mujoco>.", place=root.place)
        home = Path(file).parent if Path(file).is_file() else None
        files = Folder(Path(folder) if folder is not None else home, home, {Path(file).resolve()})
        height = plane_height(ground, friction)
        wishes = _Wishes(
            strict, keyframe, limits is not False, contacts or height is not None, decompose,
            None if height is None else ground_plane(height, friction, root.place),
        )  # fmt: skip
        return _Model(root, files, wishes).reading()


def _named_once(records: Sequence[Any], others: Sequence[Any] = ()) -> tuple[Any, ...]:
    """Records, of which those with a name that is taken get another.

    MuJoCo's joints, tendons, equalities and actuators are named apart from each other, and what
    is in them is named by them.
    """
    taken, named = {x.name for x in others}, []
    for record in records:
        name = record.name
        while name in taken:
            name += "_"
        taken.add(name)
        named.append(record if name == record.name else replace(record, name=name))
    return tuple(named)


@final
@dataclass(frozen=True, slots=True)
class _Wishes:
    """Options of a reading."""

    strict: bool = True
    keyframe: str | int | None = None
    limits: bool = True
    contacts: bool = False
    decompose: bool | int = False
    plane: Element | None = None  # where the world has none

    def __post_init__(self) -> None:
        if self.decompose is not False and not self.contacts:
            message = "decompose takes meshes apart where they touch, but no contacts are read."
            raise OptionError(message, hint="Give contacts, too.")


@final
class _Model:
    """A file on its way to a mechanism."""

    def __init__(self, root: Element, folder: Folder, wishes: _Wishes) -> None:
        self.options = wishes
        self.fields = Fields(wishes.strict, [])
        self.root, self.settings = expanded(root, folder)
        if wishes.plane is not None:
            put_on(self.root, wishes.plane, self.fields.notes)
        self.fields.check_elements(self.root)
        check_names(self.root)
        self.parts = Parts(self.settings, self.fields, wishes.limits)
        files = (self.root, self.settings, folder)
        meshes = Meshes(*files, decomposition(wishes.decompose), self.fields.notes)
        self.geoms = Geoms(self.settings, self.fields, meshes, HeightFields(*files))
        self.joints = Joints(self.parts)
        self.compensated: list[tuple[Element, str]] = []
        self.moving: set[str] = set()  # bodies that a joint carries
        self.touching: list[Touching] = []

    def reading(self) -> Reading:
        """Everything, parents first."""
        parts = self.parts
        for world in self.root.all("worldbody"):
            self.children(world)
        self.scale()
        actuated = self.compensate()
        count = len(parts.forces)
        cables = tendons(self.root, parts)
        self.settle_springs(cables, count)
        equalities(self.root, parts, cables)
        actuators = Actuators(self.root, parts, cables, actuated)
        fluid_drag(self.root, parts, self.geoms.axes)
        is_read = self.options.contacts
        contacts(self.root, parts, self.geoms, self.touching, is_read=is_read)
        known = Sensors(parts, self.geoms, self.touching, tendons=cables, actuators=actuators)
        known.read(self.root)
        keyframes(self.root, parts, actuators, self.options.keyframe)
        tree = parts.joints.values()
        parts.starts[:], higher = lifted(tree, parts.contacts, parts.starts, parts.loops)
        self.fields.notes += higher
        name = self.root.attributes.get("model", "") or PurePath(self.root.place.file).stem
        if parts.armature is not ZERO:
            parts.forces.append(model.Potential("armature", -parts.armature))
        mechanism = model.Mechanism(
            name=name,
            bodies=tuple(parts.bodies.values()),
            joints=(*parts.joints.values(), *parts.loops),
            constraints=_named_once(parts.constraints),
            forces=_named_once((model.Gravity(self.gravity()), *parts.forces)),
            contacts=_named_once(parts.contacts, parts.constraints),
            inputs=tuple(parts.inputs),
            outputs=tuple(parts.outputs),
            starts=tuple(self.starts()),
            place=self.root.place,
        )
        return Reading(mechanism, self.all_notes(), limits=parts.limits)

    def starts(self) -> list[model.Start]:
        """Where it begins; as guesses where equalities hold, which MuJoCo meets in time."""
        holds = bool(self.parts.loops or self.parts.constraints)
        where = self.root.place
        return [replace(x, place=x.place or where, is_guess=holds) for x in self.parts.starts]

    def all_notes(self) -> tuple[str, ...]:
        """Everything that is not used, or was repaired."""
        notes = [*self.fields.counted(), *self.fields.notes]
        drawn = ("plane",) if self.options.contacts else ()  # as what is touched
        geoms = [x for world in self.root.all("worldbody") for x in world.all("geom")]
        if any(kind_of(x) not in drawn for x in geoms):
            notes.append("the geoms of the world are not drawn")
        if self.parts.limits and not self.parts.has_limits:
            notes.append(kept_limits(len(self.parts.limits)))
        return tuple(notes)

    def gravity(self) -> tuple[Any, ...]:
        """Of <option>; MuJoCo's own where it says nothing, none where its flag is off."""
        if "gravity" in self.settings.disabled:
            return (0, 0, 0)
        options = [x for x in self.root.all("option") if "gravity" in x.attributes]
        return tuple(numbers_in(options[-1] if options else None, "gravity", 3, "0 0 -9.81"))

    # ---- bodies

    def children(self, world: Element) -> None:
        """The bodies of a world, without recursion."""
        check_bodies(world.count("body"), world.place)
        for site in world.all("site"):
            self.site(site, "ground")
        self.touching += [Touching(self.geoms.check(x), "ground") for x in world.all("geom")]
        front = [(child, "ground") for child in reversed(world.all("body"))]
        while front:
            child, on = front.pop()
            name = self.body(child, on)
            front += [(x, name) for x in reversed(child.all("body"))]

    def body(self, element: Element, parent: str) -> str:
        """A body with the joints that carry it, and its sites; its name."""
        parts = self.parts
        name = element.attributes.get("name") or f"body {len(parts.bodies) + 1}"
        name = "ground_body" if name == "ground" else name
        if name in parts.bodies:
            raise NamingError.double("bodies", name, place=element.place)
        with computable(element.place):
            body = self.geoms.body(name, element)
            X = self.settings.pose(element)
        parts.home[name] = compose(*parts.home[parent], *X)
        parts.carried[name] = parent
        self.fields.check(element)
        joints = [self.fields.check(x) for x in (*element.all("joint"), *element.all("freejoint"))]
        if joints or parent in self.moving:
            self.moving.add(name)
        self.check_moving(element, name, joints)
        self.carry(body, parent, X, joints)
        parts.bodies[name] = body
        for site in element.all("site"):
            self.site(site, name)
        self.touching += [Touching(x, name) for x in element.all("geom")]
        if "gravcomp" in element.attributes:
            self.compensated.append((element, name))
        return name

    def check_moving(self, element: Element, name: str, joints: list[Element]) -> None:
        """Rejects planes of bodies that move, and turns after those of a ball."""
        if name in self.moving:
            planes = [x for x in element.all("geom") if kind_of(x) == "plane"]
            if planes:
                message = f"{planes[0]} is a plane on body {name!r}, which moves."
                raise TextError(message, place=planes[0].place, hint="Take a box.")
        kinds = [x.attributes.get("type", "hinge") for x in joints]
        if "ball" in kinds and {"ball", "hinge"} & {*kinds[kinds.index("ball") + 1 :]}:
            message = f"body {name!r} has a ball joint, and one that turns after it."
            raise TextError(message, place=element.place, hint="Put a body between them.")
        if is_true(element, "mocap") and (joints or self.parts.carried[name] != "ground"):
            message = (
                f"body {name!r} is led from outside ('mocap'), but does not rest in the world."
            )
            raise TextError(message, place=element.place)

    def carry(self, body: model.Body, parent: str, X: Pose, joints: list[Element]) -> None:
        """The joints of a body; between two of them moves a body without mass."""
        parts = self.parts
        if not joints:
            ends = marker_at(parent, *X), model.Marker(body.name)
            name = parts.free(f"{body.name} fixed")
            parts.add_joint(model.Joint(name, model.Fixed(), *ends, place=body.place))
        for k, element in enumerate(joints):
            is_last = k == len(joints) - 1
            end = body.name if is_last else f"{body.name} after {k + 1}"
            if not is_last:
                parts.bodies[end] = model.Body(end, place=element.place)
            name = element.attributes.get("name") or parts.free(f"{body.name} joint {k + 1}")
            self.joints.joint(name, element, parent, X, end)
            parent, X = end, (identity(), zeros(3))

    def site(self, element: Element, body: str) -> None:
        """A frame on a body; z along `fromto`."""
        self.fields.check(element)
        if "fromto" in element.attributes:
            check_long(element)
        name = element.attributes.get("name", "")
        if name in self.parts.sites and name:
            raise NamingError.double("sites", name, place=element.place)
        if name:
            pose = self.geoms.placed(element)
            self.parts.sites[name] = marker_at(body, *pose)

    def scale(self) -> None:
        """`settotalmass`: all bodies scaled alike."""
        wish, bodies = self.settings.total_mass, self.parts.bodies
        total = sum(float(floats(x.mass, {})) for x in bodies.values())
        if wish <= 0 or not total:
            return
        factor = float(wish) / total
        for name, body in bodies.items():
            rows = rows_of(array(floats(body.inertia, {}) * factor))
            mass = float(floats(body.mass, {})) * factor
            bodies[name] = replace(body, mass=mass, inertia=rows)

    def settle_springs(self, cables: dict[str, Tendon], count: int) -> None:
        """`springdamper`: stiffness and damping by a time constant and a damping ratio.

        Args:
            cables: the tendons, whose armature counts.
            count: of the forces before those of tendons.
        """
        wishes = {
            name: numbers_in(element, "springdamper", 2, "0 0")
            for name, element in self.parts.elements.items()
        }
        for name, x in wishes.items():
            if any(x) and min(x) <= 0:
                element = self.parts.elements[name]
                message = f"'springdamper' of {element} has a value that is not positive."
                raise TextError(message, place=element.place)
        wishes = {name: x for name, x in wishes.items() if any(x)}
        inverse_inertia = weights(self.parts, cables.values()) if wishes else {}
        later = self.parts.forces[count:]
        del self.parts.forces[count:]
        for name, (time, ratio) in wishes.items():
            inertia = 1 / inverse_inertia[name]
            stiffness = inertia / float(time * time * ratio * ratio)
            words = {"stiffness": repr(stiffness), "damping": repr(2 * inertia / float(time))}
            self.joints.settle(name, words)
        self.parts.forces += later

    def compensate(self) -> Expr:
        """`gravcomp`: that part of a body's weight is carried, at its centre; its power.

        Where joints have `actuatorgravcomp`, their actuators carry it: not at all where there are
        none, or where actuation is off.
        """
        pull, parts = [plain(x) for x in self.gravity()], self.parts
        if "passive" in parts.settings.disabled or not any(pull):
            return ZERO
        is_on = "actuation" not in parts.settings.disabled
        is_on &= any(x.children for x in self.root.all("actuator"))
        power: Any = ZERO
        for element, name in self.compensated:
            share, body = number(element, "gravcomp", "0"), parts.bodies[name]
            lift = tuple(-share * body.mass * g for g in pull)
            if share:
                at = model.Marker(name, p=body.com)
                power = power + carried(parts, at, lift, element.place, is_on=is_on)
        return as_expr(power)
