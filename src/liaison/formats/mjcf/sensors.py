"""Sensors of MJCF whose readings are formulas of the state: an output for each.

Frames are those of bodies (at their centre of mass, along their principal axes), of their elements,
of sites and of geoms. Where another is named, a reading is expressed in it and counts against it:

    R_rᵀ (p − p_r),  R_rᵀ (v − v_r − ω_r × (p − p_r)),  R_rᵀ (ω − ω_r),  e_r⁻¹ ⊗ e      (sensors-1)

Public names: Sensors.

Source: MUJOCO XML reference, section sensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, final

import liaison.model as model
from liaison.errors import ModelError, NamingError, TextError
from liaison.expr import as_expr, symbol
from liaison.formats.urdf.xml import Element, numbers_in
from liaison.model.values import floats
from liaison.spatial import array, compose, cross3, dot, product, quaternion_product

from .actuators import Actuators
from .contacts import Touching
from .geoms import SOLID, Geoms, kind_of
from .joints import is_ball, is_slide
from .meshes import principal_axes
from .parts import Parts, marker_at
from .poses import Poses
from .tendons import Tendon

AXES = ("x", "y", "z")
FRAMES = ("body", "xbody", "geom", "site", "camera")
MAGNETIC = "0 -0.5 0"
"""MuJoCo's own magnetic field."""
SMALLEST = 1e-15
"""Mass [kg] below which the centre of a subtree is that of its body."""

Reading = tuple[list[Any], str]


@final
class Sensors:
    """Reads the sensors of a file into outputs of its parts.

    Args:
        parts: with all bodies, joints and armature.
        geoms: with the principal axes of all bodies.
        touching: the geoms of the file, with their bodies.
        tendons: by name.
        actuators: with their lengths and forces.
    """

    def __init__(
        self,
        parts: Parts,
        geoms: Geoms,
        touching: Iterable[Touching],
        *,
        tendons: Mapping[str, Tendon],
        actuators: Actuators,
    ) -> None:
        self.parts, self.geoms, self.tendons = parts, geoms, tendons
        self.actuators, self.poses = actuators, Poses(parts)
        self.listed = {x.element.attributes.get("name", ""): x for x in touching}
        self.magnetic: list[Any] = []

    def read(self, root: Element) -> None:
        """Adds an output for each sensor whose reading is a formula of the state."""
        if "sensor" in self.parts.settings.disabled:
            return
        options = [x for x in root.all("option") if "magnetic" in x.attributes]
        self.magnetic = numbers_in(options[-1] if options else None, "magnetic", 3, MAGNETIC)
        for element in (x for group in root.all("sensor") for x in group.children):
            if element.tag not in _KINDS:
                continue
            self.parts.fields.check(element)
            reading = _KINDS[element.tag](self, element)
            if reading is not None:
                self.add(element, reading)

    def add(self, element: Element, reading: Reading) -> None:
        """One output, or one for each component."""
        formulas, unit = reading
        parts = self.parts
        taken = [x.name for x in parts.outputs] + [x.name for x in parts.inputs]
        taken += [label for joint in parts.joints.values() for label in joint.coordinates]
        wish = element.attributes.get("name") or f"{element.tag} {len(parts.outputs) + 1}"
        name = parts.free(f"{wish} sensor" if wish in taken else wish, taken)
        components = ("w", *AXES) if len(formulas) == 4 else AXES
        labels = [name] if len(formulas) == 1 else [f"{name}.{x}" for x in components]
        for label, formula in zip(labels, formulas, strict=True):
            parts.outputs.append(model.Output(label, as_expr(formula), unit, place=element.place))

    # ---- joints, tendons, actuators

    def joint(self, element: Element) -> Reading:
        """A coordinate in MuJoCo's count, or its rate."""
        label = self.parts.coordinate(element, "joint")
        is_length = is_slide(self.parts.joint(element, "joint"))
        if element.tag == "jointvel":
            return [symbol(f"{label}'")], "m/s" if is_length else "rad/s"
        if element.tag == "jointactuatorfrc":
            return [self.actuators.effort(element.get("joint"))], "N" if is_length else "N*m"
        shift = self.parts.references.get(element.get("joint"), 0)
        return [symbol(label) + shift], "m" if is_length else "rad"

    def ball(self, element: Element) -> Reading:
        """The quaternion of a ball, or its angular velocity in the axes of its body."""
        joint = self.parts.joint(element, "joint")
        if not is_ball(joint):
            message = f"{element} names joint {joint.name!r}, which is no ball."
            raise TextError(message, place=element.place)
        if element.tag == "ballquat":
            return [symbol(x) for x in joint.coordinates], ""
        return [symbol(x) for x in joint.speeds], "rad/s"

    def tendon(self, element: Element) -> Reading:
        """The length of a tendon, its rate, or what its actuators pull."""
        name = element.get("tendon")
        if name not in self.tendons:
            raise NamingError.unknown("tendon", name, self.tendons, place=element.place)
        if element.tag == "tendonactuatorfrc":
            return [self.actuators.pull(name)], "N"
        if element.tag == "tendonvel":
            return [self.tendons[name].rate], "m/s"
        return [self.tendons[name].length], "m"

    def actuator(self, element: Element) -> Reading | None:
        """The length of what an actuator acts along, its rate, or its force."""
        name, lengths = element.get("actuator"), self.actuators.lengths
        if name in self.actuators.left_out:
            self.parts.fields.count(f"<{element.tag}> of an actuator that is not read")
            return None
        if name not in lengths:
            raise NamingError.unknown("actuator", name, lengths, place=element.place)
        if element.tag == "actuatorfrc":
            return [self.actuators.forces[name]], ""
        length, rate = lengths[name]
        if element.tag == "actuatorpos":
            return [length], ""
        return [rate if self.actuators.is_on else 0], ""  # MuJoCo counts none without forces

    # ---- frames

    def frame(self, element: Element) -> Reading | None:
        """A frame against the ground, or against another, by (sensors-1)."""
        marker, against = self.marker(element, "objtype", "objname"), None
        if "reftype" in element.attributes or "refname" in element.attributes:
            against = self.marker(element, "reftype", "refname")
            if against is None:
                return None
        return None if marker is None else self.against(element.tag, marker, against)

    def marker(self, element: Element, kind_key: str, name_key: str) -> model.Marker | None:
        """The frame that a sensor names; None, and a note, of one that is not read."""
        kind, name = element.get(kind_key), element.get(name_key)
        if kind not in FRAMES:
            raise NamingError.unknown(f"value of {kind_key!r}", kind, FRAMES, place=element.place)
        if kind == "site":
            return self.parts.site(element, name_key)
        if kind == "xbody":
            return model.Marker(self.parts.body(element, name_key))
        if kind == "body":
            return self.of_body(self.parts.body(element, name_key))
        marker = None
        if kind == "geom":
            if name not in self.listed:
                raise NamingError.unknown("geom", name, self.listed, place=element.place)
            marker = self.of_geom(self.listed[name])
        if marker is None:
            what = "camera" if kind == "camera" else "geom without known axes"
            self.parts.fields.count(f"<{element.tag}> of a {what}")
        return marker

    def of_body(self, name: str) -> model.Marker:
        """The frame of a body's inertia."""
        if name == "ground":
            return model.Marker(name)
        center = self.geoms.centers.get(name, self.parts.bodies[name].com)
        return marker_at(name, self.geoms.axes[name], array(center))

    def of_geom(self, geom: Touching) -> model.Marker | None:
        """The frame of a geom; of a mesh at its centre of mass, along its principal axes."""
        X, element = self.geoms.placed(geom.element), geom.element
        if kind_of(element) in SOLID and "mesh" in element.attributes:
            return None
        if kind_of(element) in ("mesh", "sdf"):
            try:
                _, center, moments = self.geoms.meshes.solid(element.get("mesh"), element)
            except ModelError:
                return None
            X = compose(*X, principal_axes(moments), array(list(center)))
        return marker_at(geom.body, *X)

    def against(self, tag: str, marker: model.Marker, other: model.Marker | None) -> Reading:
        """(sensors-1)."""
        poses, ground = self.poses, model.Marker("ground")
        (R, p), (E, far) = poses.at(marker), poses.at(other or ground)
        back = array(E.T)
        if tag == "framequat":
            e = poses.quaternion(marker)
            if other is None:
                return list(e), ""
            w, x, y, z = poses.quaternion(other)
            return list(quaternion_product(array([w, -x, -y, -z]), e)), ""
        if tag == "framepos":
            return list(product(back, p - far)), "m"
        if tag == "framelinvel":
            v = array(poses.rates(list(p), marker.body))
            if other is not None:
                v = v - array(poses.rates(list(far), other.body))
                v = v - array(cross3(poses.turning(other.body), p - far))
            return list(product(back, v)), "m/s"
        if tag == "frameangvel":
            w = poses.turning(marker.body) - poses.turning((other or ground).body)
            return list(product(back, w)), "rad/s"
        return list(product(back, R[:, AXES.index(tag[5])])), ""

    def own(self, element: Element) -> Reading:
        """The velocity of a site, its angular velocity, or the magnetic field, in its own axes."""
        site = self.parts.site(element, "site")
        back = array(self.poses.at(site)[0].T)
        if element.tag == "magnetometer":
            return list(product(back, array(self.magnetic))), ""
        tag = "frameangvel" if element.tag == "gyro" else "framelinvel"
        values, unit = self.against(tag, site, None)
        return list(product(back, array(values))), unit

    # ---- sums

    def subtree(self, element: Element) -> Reading:
        """Centre of mass of a body with all that it carries, its velocity, the momentum about it.

        L = Σ (p − c) × m (v − ċ) + I ω.
        """
        top, poses = self.parts.body(element, "body"), self.poses
        bodies = [x for x in self.parts.bodies.values() if top in self.carriers(x.name)]
        at = {x.name: tuple(self.geoms.centers.get(x.name, x.com)) for x in bodies}
        places = {x: poses.at(model.Marker(x, p=p))[1] for x, p in at.items()}
        masses = {x.name: float(floats(x.mass, {})) for x in bodies}
        total = sum(masses.values())
        center = array([0, 0, 0])
        for name, p in places.items():
            center = center + p * (masses[name] / total if total > SMALLEST else int(name == top))
        if element.tag == "subtreecom":
            return list(center), "m"
        speed = array(poses.rates(list(center), *places))
        if element.tag == "subtreelinvel":
            return list(speed), "m/s"
        momentum = array([0, 0, 0])
        for body in bodies:
            p, R = places[body.name], poses.of(body.name)[0]
            slip = array(poses.rates(list(p), body.name)) - speed
            spin = product(array(R.T), poses.turning(body.name))
            turn = product(R, product(array(body.inertia), spin))
            momentum = momentum + array(cross3(p - center, slip)) * masses[body.name] + turn
        return list(momentum), "N*m*s"

    def carriers(self, body: str) -> list[str]:
        """A body and those that carry it."""
        names = [body]
        while names[-1] in self.parts.carried:
            names.append(self.parts.carried[names[-1]])
        return names

    def kinetic(self, element: Element) -> Reading:
        """½ Σ (m v² + ω I ω), and that of armature."""
        total: Any = self.parts.armature
        for body in self.parts.bodies.values():
            R, p = self.poses.at(model.Marker(body.name, p=body.com))
            v = self.poses.rates(list(p), body.name)
            spin = product(array(R.T), self.poses.turning(body.name))
            twice = body.mass * dot(v, v) + dot(spin, product(array(body.inertia), spin))
            total = total + as_expr(twice) / 2
        return [total], "J"

    def clock(self, element: Element) -> Reading:
        """The time."""
        return [symbol("t")], "s"


_KINDS: dict[str, Any] = {
    **dict.fromkeys(("jointpos", "jointvel", "jointactuatorfrc"), Sensors.joint),
    **dict.fromkeys(("ballquat", "ballangvel"), Sensors.ball),
    **dict.fromkeys(("tendonpos", "tendonvel", "tendonactuatorfrc"), Sensors.tendon),
    **dict.fromkeys(("actuatorpos", "actuatorvel", "actuatorfrc"), Sensors.actuator),
    **dict.fromkeys(
        (f"frame{x}" for x in ("pos", "quat", "xaxis", "yaxis", "zaxis", "linvel", "angvel")),
        Sensors.frame,
    ),
    **dict.fromkeys(("gyro", "velocimeter", "magnetometer"), Sensors.own),
    **dict.fromkeys(("subtreecom", "subtreelinvel", "subtreeangmom"), Sensors.subtree),
    "e_kinetic": Sensors.kinetic,
    "clock": Sensors.clock,
}
