"""URDF robots that others published, against Pinocchio: accelerations at random states.

Every joint of one coordinate has a rotor and viscous friction on both sides; ranges are not looked
at. Inertias that no body can have are repaired by our reader; Pinocchio, which takes them as they
are, is given the repaired ones. Robot files are those of the wheel example-robot-data; none is
copied.

Public names: files_of, row_of, rows.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

import liaison
from liaison.errors import LiaisonError, ReadingWarning
from liaison.formats import Reading
from liaison.model import Armature, Body, Gravity, JointFriction, Mechanism
from liaison.model.values import floats

SAME = 1e-10
"""Largest difference of accelerations, by the largest acceleration of the state."""
STATES = 100


def files_of() -> list[Path]:
    """The URDF files of the wheel; none where it is not installed."""
    try:
        listed = files("example-robot-data") or ()
    except PackageNotFoundError:
        return []
    return sorted(Path(str(x.locate())) for x in listed if x.suffix == ".urdf")


def repaired_in(content: Reading) -> set[str]:
    """Links whose inertia was moved to the nearest possible one."""
    text = "\n".join(content.notes)
    return set(re.findall(r"the inertia of link '([^']+)' is impossible", text))


def bare(path: Path, content: Reading) -> str:
    """A text without shapes, which Pinocchio would open, and with the inertias that we have."""
    text = path.read_text(encoding="utf-8", errors="replace")
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    for tag in ("visual", "collision", "gazebo", "transmission"):
        text = re.sub(rf"<{tag}\b[^>]*/>", "", text)
        text = re.sub(rf"<{tag}\b.*?</{tag}>", "", text, flags=re.DOTALL)
    root = ElementTree.fromstring(text)
    repaired = repaired_in(content)
    for link in root.iter("link"):
        name, own = link.get("name", ""), link.find("inertial")
        if name in repaired and own is not None:
            link.remove(own)
            link.append(inertial(content.mechanism.body(name)))
    return ElementTree.tostring(root, encoding="unicode")


def inertial(body: Body) -> ElementTree.Element:
    """<inertial> in the axes of the link."""
    mass, com, tensor = (floats(x, {}) for x in (body.mass, body.com, body.inertia))
    element = ElementTree.Element("inertial")
    ElementTree.SubElement(element, "origin", xyz=" ".join(repr(float(x)) for x in com))
    ElementTree.SubElement(element, "mass", value=repr(float(mass)))
    moments = {f"i{a}{b}": repr(float(tensor["xyz".index(a), "xyz".index(b)]))
               for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")}  # fmt: skip
    ElementTree.SubElement(element, "inertia", moments)
    return element


def with_rotors(mechanism: Mechanism) -> tuple[Mechanism, dict[str, tuple[float, float]]]:
    """The tree with a rotor and friction at each joint; both by joint."""
    rng = np.random.default_rng(7)
    values: dict[str, tuple[float, float]] = {}
    loads: list[Any] = [Gravity()]
    for joint in mechanism.joints:
        if joint.type.nq == 1:
            rotor, viscous = (float(x) for x in rng.uniform(0.01, 0.5, 2))
            values[joint.name] = rotor, viscous
            loads.append(Armature(f"rotor of {joint.name}", joint.name, rotor))
            loads.append(JointFriction(f"friction of {joint.name}", joint.name, viscous))
    return replace(mechanism, constraints=(), forces=tuple(loads)), values


class Theirs:
    """The robot in Pinocchio, its positions and velocities by our labels."""

    def __init__(
        self, pin: Any, text: str, floating: bool, values: dict[str, tuple[float, float]]
    ) -> None:
        root = (pin.JointModelFreeFlyer(),) if floating else ()
        self.pin, self.model = pin, pin.buildModelFromXML(text, *root)
        self.data = self.model.createData()
        self.damping = np.zeros(self.model.nv)
        for name, (rotor, viscous) in values.items():
            place = self.joint(name).idx_v
            self.model.armature[place], self.damping[place] = rotor, viscous

    def joint(self, name: str) -> Any:
        return self.model.joints[self.model.getJointId(name)]

    def place(self, speed: str) -> int:
        """Where a velocity of ours stands in Pinocchio's, which has linear ones first."""
        name, _, part = speed.removesuffix("'").rpartition(".")
        if speed.endswith("'") and self.model.existJointName(speed.removesuffix("'")):
            return int(self.joint(speed.removesuffix("'")).idx_v)
        first = 0 if name == "root" else self.joint(name).idx_v
        return int(first) + ("vx", "vy", "vz", "wx", "wy", "wz").index(part)

    def positions(self, labels: list[str], q: Any) -> Any:
        theirs = self.pin.neutral(self.model)
        for label, x in zip(labels, q, strict=True):
            if self.model.existJointName(label):
                joint = self.joint(label)
                turns = [np.cos(x), np.sin(x)] if joint.nq == 2 else [x]
                theirs[joint.idx_q : joint.idx_q + joint.nq] = turns
                continue
            name, _, part = label.rpartition(".")
            first = 0 if name == "root" else self.joint(name).idx_q
            theirs[first + ("x", "y", "z", "qx", "qy", "qz", "qw").index(part)] = x
        return theirs

    def accelerations(self, q: Any, v: Any) -> Any:
        return self.pin.aba(self.model, self.data, q, v, -self.damping * v)


def content_of(path: Path, *, floating: bool) -> Reading:
    """The robot with its notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)
        root = next((x.parent for x in path.parents if x.name == "example-robot-data"), "")
        return liaison.reading(path, strict=False, floating=floating, package_root=root)


def kernel_of(mechanism: Mechanism) -> Any:
    """Its equations in machine code."""
    return liaison.to_llvm(liaison.lower(liaison.newton_euler(liaison.span(mechanism))))


def row_of(path: Path, *, floating: bool, states: int = STATES) -> dict[str, Any]:
    """One row of the table: read, compared, or why not.

    Args:
        path: of the robot.
        floating: its base is free.
        states: how many.

    Returns:
        What the table has; `reading` is what was read.
    """
    row: dict[str, Any] = {"robot": path.stem, "floating": floating}
    begun = time.process_time()
    try:
        content = content_of(path, floating=floating)
    except LiaisonError as error:
        return row | {"status": "refused", "why": error.message}
    mechanism, values = with_rotors(content.mechanism)
    kernel = kernel_of(mechanism)
    sizes = {x: kernel.program.sizes[x] for x in ("nq", "nv")}
    row |= {"bodies": len(content.mechanism.bodies) - 1, **sizes, "notes": len(content.notes)}
    row |= {"repaired": len(repaired_in(content)), "reading": content}
    if not sizes["nv"]:
        return row | {"status": "read", "why": "nothing moves"}
    import pinocchio as pin  # type: ignore[import-untyped]

    theirs = Theirs(pin, bare(path, content), floating, values)
    row["error"] = largest(kernel, theirs, states)
    row["status"] = "equal" if row["error"] <= SAME else "differs"
    return row | {"cpu": round(time.process_time() - begun, 3)}


def largest(kernel: Any, theirs: Theirs, states: int) -> float:
    """The largest difference of accelerations over random states, by their size."""
    labels = kernel.program.labels
    q_labels, v_labels = ([x.name for x in labels[part]] for part in ("q", "v"))
    order = np.array([theirs.place(x) for x in v_labels])
    rng, worst = np.random.default_rng(0), 0.0
    quaternions = [i for i, x in enumerate(q_labels) if x.endswith(".qw")]
    for _ in range(states):
        q, v = rng.uniform(-1.5, 1.5, len(q_labels)), rng.uniform(-1, 1, len(v_labels))
        for i in quaternions:
            q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
        ours = kernel.call("forward", q=q, v=v)["vdot"]
        speeds = np.zeros(theirs.model.nv)
        speeds[order] = v
        expected = theirs.accelerations(theirs.positions(q_labels, q), speeds)[order]
        worst = max(worst, float(abs(ours - expected).max() / max(1.0, abs(expected).max())))
    return worst


def rows(states: int = STATES) -> Iterator[dict[str, Any]]:
    """Every file, its base held and free."""
    for path in files_of():
        for floating in (False, True):
            row = row_of(path, floating=floating, states=states)
            yield {"format": "urdf", "base": "free" if floating else "held", **row}
