"""Writer of URDF: a tree of hinges, sliders, free and fixed joints.

Joints that close loops are written as <loop> elements (see urdf_more). What URDF has no place for
is listed in a comment at the head of the file, and in `notes`. A link's frame is its body's, moved
to the joint that carries it where that is elsewhere.

Public names: write_urdf.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

import liaison.model as model
from liaison.arguments import checked
from liaison.errors import ArgumentError, TextError
from liaison.expr import collector_paused
from liaison.model.values import floats

from .links import Limits, loop_types

Floats = NDArray[np.float64]
Pose = tuple[Floats, Floats]
WORDS: dict[type, str] = {
    model.Fixed: "fixed",
    model.Revolute: "continuous",
    model.Prismatic: "prismatic",
    model.Free: "floating",
    model.Planar: "planar",
}
UNBOUNDED = Limits(None, None, None, None)
USUAL = model.JointFriction("usual", "q")  # its smoothing is that of a friction read from URDF
WORLD = "world"


@checked
def write_urdf(
    mechanism: model.Mechanism,
    *,
    limits: Mapping[str, Limits] | None = None,
    notes: list[str] | None = None,
) -> str:
    """The URDF text of a mechanism.

    Args:
        mechanism: all its parameters have values.
        limits: of joints, by name; a slider without any is given very wide ones.
        notes: gets what URDF does not say, a line each.

    Raises:
        TextError: a joint that carries a body and is none of URDF's.

    Example:
        >>> import liaison
        >>> arm = liaison.read("examples/arm7.urdf")
        >>> liaison.write_urdf(arm).count("<joint")
        8
    """
    if notes is not None and not isinstance(notes, list):
        raise ArgumentError(f"write_urdf: notes is {notes!r}; it must be a list, which gets them.")
    with collector_paused():
        robot = _Robot(mechanism, limits or {})
        lines = robot.lines()
    if notes is not None:
        notes += robot.notes
    comment = "".join(f"\n  not said here: {note.replace('--', '- -')}" for note in robot.notes)
    head = f'<?xml version="1.0"?>\n<!-- Written by liaison.{comment}\n-->\n'
    name = quoteattr(mechanism.name)
    body = "\n".join(f"  {line}" for line in lines)
    return f"{head}<robot name={name}>\n{body}\n</robot>\n"


class _Robot:
    """The tree of a mechanism, walked from the ground; each joint in the way it is met."""

    def __init__(self, mechanism: model.Mechanism, limits: Mapping[str, Limits]) -> None:
        self.mechanism, self.limits = mechanism, limits
        self.notes: list[str] = []
        self.values = {
            p.name: float(floats(p.value, {})) for p in mechanism.parameters if p.value is not None
        }
        self.frames: dict[str, Pose] = {"ground": (np.eye(3), np.zeros(3))}  # of links, on bodies
        self.tree: list[tuple[model.Joint, bool]] = []
        self.loops: list[model.Joint] = []
        self.walk()
        self.root = self.root_link()
        self.single = {
            label
            for joint, _ in self.tree
            for label in joint.coordinates
            if isinstance(joint.type, model.Revolute | model.Prismatic)
        }
        self.mimics: dict[str, model.Coupling] = {}
        for c in mechanism.constraints:
            if isinstance(c, model.Coupling) and {c.coordinate, c.other} <= self.single:
                self.mimics.setdefault(c.coordinate, c)
        self.frictions = [
            f
            for f in mechanism.forces
            if isinstance(f, model.JointFriction) and f.coordinate in self.single
        ]
        self.rotors = [
            f
            for f in mechanism.forces
            if isinstance(f, model.Armature) and f.coordinate in self.single
        ]
        self.note_rest()

    def walk(self) -> None:
        """Joints of the tree in the order of declaration, those left over close loops."""
        waiting = list(self.mechanism.joints)
        while True:
            known = [
                j for j in waiting if (_ends(j)[0] in self.frames) != (_ends(j)[1] in self.frames)
            ]
            if not known:
                break
            joint = known[0]
            waiting.remove(joint)
            is_reversed = joint.successor.body in self.frames
            self.tree.append((joint, is_reversed))
            far = joint.predecessor if is_reversed else joint.successor
            self.frames[far.body] = self.link_frame(joint, far)
        self.loops = waiting

    def link_frame(self, joint: model.Joint, marker: model.Marker) -> Pose:
        """Where the link's frame is on its body: at the marker, turned only where it must be."""
        R, p = self.pose(marker)
        if isinstance(joint.type, model.Revolute | model.Prismatic):
            return np.eye(3), p
        return (np.eye(3), np.zeros(3)) if isinstance(joint.type, model.Fixed) else (R, p)

    def root_link(self) -> str:
        """The link that stands for the ground: one welded to it as it is, or a link 'world'."""
        at_ground = [joint for joint, _ in self.tree if "ground" in _ends(joint)]
        is_welded = len(at_ground) == 1 and isinstance(at_ground[0].type, model.Fixed)
        if is_welded and not any("ground" in _ends(joint) for joint in self.loops):
            joint, is_reversed = self.tree[0]
            if _is_null(self.joint_origin(joint, is_reversed)):
                self.tree = self.tree[1:]
                return _ends(joint)[0 if is_reversed else 1]
        return ""

    def note_rest(self) -> None:
        """Names what is not written."""
        mechanism = self.mechanism
        if not any(isinstance(force, model.Gravity) for force in mechanism.forces):
            self.notes.append("that there is no gravity")
        for force in mechanism.forces:
            if isinstance(force, model.Gravity):
                self.notes.append(f"gravity {[float(x) for x in self.numbers(force.vector)]}")
            elif not any(force is x for x in (*self.frictions, *self.rotors)):
                self.notes.append(f"the {type(force).__name__.lower()} {force.name!r}")
        for friction in self.frictions:
            self.note_smoothing(friction)
        relations: tuple[Any, ...] = (*mechanism.constraints, *mechanism.contacts)
        for relation in relations:
            if not any(relation is x for x in self.mimics.values()):
                self.notes.append(f"the {type(relation).__name__.lower()} {relation.name!r}")
        if mechanism.parameters:
            names = ", ".join(repr(p.name) for p in mechanism.parameters)
            self.notes.append(f"that {names} may vary: the values are written")
        for kind in ("inputs", "starts", "events", "outputs"):
            count = len(getattr(mechanism, kind))
            if count:
                self.notes.append(f"{count} {kind}")

    def note_smoothing(self, friction: model.JointFriction) -> None:
        """Names a speed of smoothing that is not the one taken in reading."""
        smoothing = float(self.numbers(friction.smoothing))
        if np.any(self.numbers(friction.dry)) and smoothing != float(USUAL.smoothing):
            self.notes.append(f"the smoothing {smoothing:g} of friction {friction.name!r}")

    # ---- numbers

    def numbers(self, x: Any) -> Floats:
        """Floats of scalars, vectors and matrices at the values of the parameters."""
        return floats(x, self.values)

    def pose(self, marker: Any) -> Pose:
        """(R, p) of a marker or a shape."""
        return self.numbers(marker.R), self.numbers(marker.p)

    def on_link(self, body: str, R: Floats, p: Floats) -> Pose:
        """A pose on a body, expressed in its link's frame."""
        S, s = self.frames[body]
        return S.T @ R, S.T @ (p - s)

    def joint_origin(self, joint: model.Joint, is_reversed: bool) -> Pose:
        """The pose of the child's link on the parent's where the joint is at zero."""
        near, far = joint.predecessor, joint.successor
        if is_reversed:
            near, far = far, near
        R, p = self.on_link(near.body, *self.pose(near))
        S, s = self.on_link(far.body, *self.pose(far))
        return R @ S.T, p - R @ S.T @ s

    # ---- text

    def lines(self) -> list[str]:
        """Links, joints, loops and rotors."""
        lines = [] if self.root else [f'<link name="{self.link("ground")}"/>']
        for body in self.mechanism.bodies[1:]:
            lines += self.body(body)
        for joint, is_reversed in self.tree:
            lines += self.joint(joint, is_reversed)
        for joint in self.loops:
            lines += self.loop(joint)
        return lines + self.transmissions()

    def transmissions(self) -> list[str]:
        """<transmission> of every rotor on its joint, which turns as it does.

        Where there are some, readers take joints without one as passive: the others get one, too.
        """
        inertias: dict[str, float] = {}
        for x in self.rotors:
            more = float(self.numbers(x.inertia))
            inertias[x.coordinate] = inertias.get(x.coordinate, 0.0) + more
        lines: list[str] = []
        for joint, _ in self.tree:
            for label in self.single.intersection(joint.coordinates):
                if not inertias or (label in self.mimics and label not in inertias):
                    continue
                own = f"<rotorInertia>{_text(inertias.get(label, 0.0))}</rotorInertia>"
                lines += [
                    f"<transmission name={quoteattr(f'drive of {joint.name}')}>",
                    f"  <joint name={quoteattr(joint.name)}/>",
                    f'  <actuator name="motor">{own}</actuator>',
                    "</transmission>",
                ]
        return lines

    def link(self, body: str) -> str:
        """The name of a body's link."""
        if body != "ground":
            return escape(body, {'"': "&quot;"})
        name = WORLD
        while any(other.name == name for other in self.mechanism.bodies):
            name += "_"
        return name

    def body(self, body: model.Body) -> list[str]:
        """<link> with its inertia and its shapes."""
        R, p = self.on_link(body.name, np.eye(3), self.numbers(body.com))
        I = R @ self.numbers(body.inertia) @ R.T
        mass = float(self.numbers(body.mass))
        lines = [f'<link name="{self.link(body.name)}">']
        if mass or np.any(I):
            keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
            entries = [I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]]
            moments = " ".join(f'{k}="{_text(x)}"' for k, x in zip(keys, entries, strict=True))
            inside = [
                _origin(np.eye(3), p),
                f'<mass value="{_text(mass)}"/>',
                f"<inertia {moments}/>",
            ]
            lines += ["  <inertial>", *(f"    {line}" for line in inside), "  </inertial>"]
        for shape in body.shapes:
            lines += self.visual(shape, body.name)
        return [*lines, "</link>"]

    def visual(self, shape: Any, body: str) -> list[str]:
        """<visual> of a shape that URDF knows."""
        form = self.form(shape)
        if not form:
            self.notes.append(f"a {type(shape).__name__.lower()} of body {body!r}")
            return []
        color = (
            f'<material name="{shape.color}"><color rgba="{rgba}"/></material>'
            if (rgba := _rgba(shape.color))
            else ""
        )
        origin = _origin(*self.on_link(body, *self.pose(shape)))
        return [f"  <visual>{origin}<geometry>{form}</geometry>{color}</visual>"]

    def form(self, shape: Any) -> str:
        """The geometry of a shape; "" for those that URDF has not."""
        if isinstance(shape, model.Box):
            return f'<box size="{_texts(self.numbers((shape.x, shape.y, shape.z)))}"/>'
        if isinstance(shape, model.Cylinder | model.Capsule):
            radius, length = (_text(float(self.numbers(x))) for x in (shape.radius, shape.length))
            return f'<{type(shape).__name__.lower()} radius="{radius}" length="{length}"/>'
        if isinstance(shape, model.Sphere):
            return f'<sphere radius="{_text(float(self.numbers(shape.radius)))}"/>'
        if isinstance(shape, model.Mesh):
            scale = _texts(self.numbers(shape.scale))
            return f'<mesh filename={quoteattr(shape.file)} scale="{scale}"/>'
        return ""

    def joint(self, joint: model.Joint, is_reversed: bool) -> list[str]:
        """<joint> of the tree."""
        word = self.word(joint, is_reversed)
        near, far = _ends(joint)[::-1] if is_reversed else _ends(joint)
        name = escape(joint.name, {'"': "&quot;"})
        lines = [
            f'<joint name="{name}" type="{word}">',
            f"  {_origin(*self.joint_origin(joint, is_reversed))}",
            f'  <parent link="{self.link(near)}"/>',
            f'  <child link="{self.link(far)}"/>',
        ]
        if word not in ("fixed", "floating"):
            lines.append(f'  <axis xyz="{_texts(self.axis(joint, is_reversed))}"/>')
        lines += [f"  {line}" for line in self.properties(joint, word)]
        return [*lines, "</joint>"]

    def word(self, joint: model.Joint, is_reversed: bool) -> str:
        """The URDF type of a joint."""
        kind: Any = joint.type
        word = WORDS.get(type(kind), "")
        is_odd = isinstance(kind, model.Free) and not isinstance(kind.attitude, model.Quaternion)
        if not word or is_odd or (is_reversed and word in ("floating", "planar")):
            raise TextError(
                f"joint {joint.name!r} ({kind.name}) cannot be written as URDF.",
                hint=f"URDF has {', '.join(x.__name__ for x in WORDS)} joints from body to body.",
            )
        limits = self.limits.get(joint.name, UNBOUNDED)
        is_bounded = limits.lower is not None and limits.upper is not None
        return "revolute" if word == "continuous" and is_bounded else word

    def axis(self, joint: model.Joint, is_reversed: bool) -> Floats:
        """The direction of a joint's axis in its child's frame."""
        if isinstance(joint.type, model.Planar):
            return np.array([0.0, 0.0, 1.0])  # exactly: x and y of the joint hang on it
        far = joint.predecessor if is_reversed else joint.successor
        R, _ = self.on_link(far.body, *self.pose(far))
        return -R[:, 2] if is_reversed else R[:, 2]

    def properties(self, joint: model.Joint, word: str) -> list[str]:
        """Limits, friction and mimicking."""
        lines = []
        limits = self.limits.get(joint.name)
        if limits or word == "prismatic":
            lines.append(f"<limit {_limit(limits or UNBOUNDED)}/>")
        for label in self.single.intersection(joint.coordinates):
            acting = [x for x in self.frictions if x.coordinate == label]
            if acting:
                viscous, dry = (
                    _text(sum(float(self.numbers(getattr(x, key))) for x in acting))
                    for key in ("viscous", "dry")
                )
                lines.append(f'<dynamics damping="{viscous}" friction="{dry}"/>')
            if label in self.mimics:
                lines.append(self.mimic(self.mimics[label]))
        return lines

    def mimic(self, x: model.Coupling) -> str:
        """<mimic> of a coupling."""
        (other,) = (j.name for j in self.mechanism.joints if x.other in j.coordinates)
        ratio, offset = (_text(float(self.numbers(y))) for y in (x.ratio, x.offset))
        return f'<mimic joint={quoteattr(other)} multiplier="{ratio}" offset="{offset}"/>'

    def loop(self, joint: model.Joint) -> list[str]:
        """<loop> of a joint that closes one; its frames have z along the axis."""
        words = {kind: word for word, kind in loop_types().items() if word != "continuous"}
        if type(joint.type) not in words:
            message = (
                f"joint {joint.name!r} ({joint.type.name}) closes a loop; URDF has no word for it."
            )
            raise TextError(message)
        name = escape(joint.name, {'"': "&quot;"})
        lines = [f'<loop name="{name}" type="{words[type(joint.type)]}">']
        for tag, marker in (("predecessor", joint.predecessor), ("successor", joint.successor)):
            origin = _origin(*self.on_link(marker.body, *self.pose(marker)))
            lines.append(f'  <{tag} link="{self.link(marker.body)}">{origin}</{tag}>')
        return [*lines, '  <axis xyz="0 0 1"/>', "</loop>"]


def _ends(joint: model.Joint) -> tuple[str, str]:
    return joint.predecessor.body, joint.successor.body


def _is_null(pose: Pose) -> bool:
    return bool(np.array_equal(pose[0], np.eye(3)) and not np.any(pose[1]))


def _text(x: float) -> str:
    return repr(float(x) + 0.0).removesuffix(".0")


def _texts(entries: Any) -> str:
    return " ".join(_text(x) for x in entries)


def _origin(R: Floats, p: Floats) -> str:
    """<origin> with roll, pitch and yaw: R = R_z(yaw) R_y(pitch) R_x(roll)."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) > 1e-9:
        roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
    else:
        roll, yaw = 0.0, np.arctan2(-R[0, 1], R[1, 1])
    return f'<origin xyz="{_texts(p)}" rpy="{_texts((roll, pitch, yaw))}"/>'


def _limit(limits: Limits) -> str:
    """All four, wide where nothing is known."""
    wide = {"lower": "-1e9", "upper": "1e9", "effort": "1e9", "velocity": "1e9"}
    values = {key: getattr(limits, key) for key in wide}
    return " ".join(
        f'{key}="{wide[key] if x is None else _text(float(x))}"' for key, x in values.items()
    )


def _rgba(color: str) -> str:
    """The rgba of #rrggbb; "" for a colour by its name."""
    if len(color) != 7 or not color.startswith("#"):
        return ""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return " ".join(f"{x:.6g}" for x in (*parts, 1))
