"""What is shown and where a motion begins: sensors of MJCF as outputs, keyframes as starts.

Public names: sensors, keyframes.

Source: MUJOCO XML reference, sections sensor and keyframe.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import liaison.model as model
from liaison.errors import NamingError, TextError
from liaison.expr import as_expr, symbol
from liaison.formats.urdf.xml import Element, number_in, numbers_in
from liaison.model.values import floats
from liaison.spatial import array, product, rotation_quaternion

from .actuators import Actuators
from .parts import Parts
from .poses import Poses
from .tendons import Tendon

AXES = ("x", "y", "z")
OF_FRAMES = ("framepos", "framelinvel", "frameangvel", "framexaxis", "frameyaxis", "framezaxis")
SHORTEST = 1e-10
"""Length of a quaternion below which it has no direction."""


def sensors(root: Element, parts: Parts, tendons: dict[str, Tendon], actuators: Actuators) -> None:
    """Adds an output for each sensor whose reading is a formula of the state."""
    poses = Poses(parts)
    for element in (x for group in root.all("sensor") for x in group.children):
        if "sensor" in parts.settings.disabled:
            continue
        if element.tag in _SCALARS:
            parts.fields.check(element)
            _add(element, parts, _SCALARS[element.tag](element, parts, tendons, actuators))
        elif element.tag in OF_FRAMES and "refname" not in element.attributes:
            parts.fields.check(element)
            marker = _frame(element, parts)
            if marker is None:
                parts.fields.count(f"<{element.tag}> of a {element.get('objtype')}")
            else:
                _add(element, parts, _framed(element.tag, marker, poses))
        elif element.tag in ("gyro", "velocimeter"):
            parts.fields.check(element)
            site = parts.site(element, "site")
            tag = "frameangvel" if element.tag == "gyro" else "framelinvel"
            values, unit = _framed(tag, site, poses)
            back = array(poses.at(site)[0].T)
            _add(element, parts, (list(product(back, array(values))), unit))
        elif element.tag in OF_FRAMES or element.tag == "framequat":
            parts.fields.count(f"<{element.tag}> in <sensor>")


def _add(element: Element, parts: Parts, reading: tuple[list[Any], str]) -> None:
    """One output, or one for each component."""
    formulas, unit = reading
    taken = [x.name for x in parts.outputs] + [x.name for x in parts.inputs]
    taken += [label for joint in parts.joints.values() for label in joint.coordinates]
    wish = element.attributes.get("name") or f"{element.tag} {len(parts.outputs) + 1}"
    name = parts.free(f"{wish} sensor" if wish in taken else wish, taken)
    parts_of = [name] if len(formulas) == 1 else [f"{name}.{x}" for x in _components(formulas)]
    for label, formula in zip(parts_of, formulas, strict=True):
        parts.outputs.append(model.Output(label, as_expr(formula), unit, place=element.place))


def _components(formulas: list[Any]) -> tuple[str, ...]:
    return ("w", *AXES) if len(formulas) == 4 else AXES


def _joint(element: Element, parts: Parts, *_: Any) -> tuple[list[Any], str]:
    """A coordinate in MuJoCo's count, or its rate."""
    label = parts.coordinate(element, "joint")
    is_length = isinstance(parts.joint(element, "joint").type, model.Prismatic)
    if element.tag == "jointvel":
        return [symbol(f"{label}'")], "m/s" if is_length else "rad/s"
    shift = parts.references.get(element.get("joint"), 0)
    return [symbol(label) + shift], "m" if is_length else "rad"


def _ball(element: Element, parts: Parts, *_: Any) -> tuple[list[Any], str]:
    """The quaternion of a ball, or its angular velocity in the axes of its body."""
    joint = parts.joint(element, "joint")
    if not isinstance(joint.type, model.Spherical):
        message = f"{element} names joint {joint.name!r}, which is no ball."
        raise TextError(message, place=element.place)
    if element.tag == "ballquat":
        return [symbol(x) for x in joint.coordinates], ""
    return [symbol(x) for x in joint.speeds], "rad/s"


def _tendon(
    element: Element, parts: Parts, tendons: dict[str, Tendon], _: Any
) -> tuple[list[Any], str]:
    """The length of a tendon, or its rate."""
    name = element.get("tendon")
    if name not in tendons:
        raise NamingError.unknown("tendon", name, tendons, place=element.place)
    is_rate = element.tag == "tendonvel"
    return [tendons[name].rate if is_rate else tendons[name].length], "m/s" if is_rate else "m"


def _actuator(
    element: Element, parts: Parts, tendons: Any, actuators: Actuators
) -> tuple[list[Any], str]:
    """The length of what an actuator acts along, or its rate."""
    name = element.get("actuator")
    if name not in actuators.lengths:
        raise NamingError.unknown("actuator", name, actuators.lengths, place=element.place)
    return [actuators.lengths[name][element.tag == "actuatorvel"]], ""


def _clock(*_: Any) -> tuple[list[Any], str]:
    return [symbol("t")], "s"


_SCALARS: dict[str, Any] = {
    "jointpos": _joint,
    "jointvel": _joint,
    "ballquat": _ball,
    "ballangvel": _ball,
    "tendonpos": _tendon,
    "tendonvel": _tendon,
    "actuatorpos": _actuator,
    "actuatorvel": _actuator,
    "clock": _clock,
}


def _frame(element: Element, parts: Parts) -> model.Marker | None:
    """The frame of a body or site that a sensor names; None of anything else."""
    kind = element.get("objtype")
    if kind == "site":
        return parts.site(element, "objname")
    if kind == "xbody":
        return model.Marker(parts.body(element, "objname"))
    if kind == "body" and not element.tag.endswith("axis"):
        body = parts.body(element, "objname")
        return model.Marker(body, p=parts.bodies[body].com if body != "ground" else (0, 0, 0))
    return None


def _framed(tag: str, marker: model.Marker, poses: Poses) -> tuple[list[Any], str]:
    """Where a frame is or how fast, in the ground's axes."""
    R, p = poses.at(marker)
    if tag == "framepos":
        return list(p), "m"
    if tag == "framelinvel":
        return poses.rates(list(p), marker.body), "m/s"
    if tag == "frameangvel":
        return list(poses.turning(marker.body)), "rad/s"
    return list(R[:, AXES.index(tag[5])]), ""


# ---- keyframes


def keyframes(root: Element, parts: Parts, actuators: Actuators, wish: str | int | None) -> None:
    """Checks all keyframes, and starts from the one that is wanted.

    Raises:
        TextError: a keyframe with a wrong number of values.
        NamingError: no such keyframe.
    """
    keys = {
        x.attributes.get("name") or str(k): x
        for k, x in enumerate(y for group in root.all("keyframe") for y in group.all("key"))
    }
    joints = [x for x in parts.joints.values() if x.type.nq]
    counts = {
        "qpos": sum(x.type.nq for x in joints),
        "qvel": sum(x.type.nv for x in joints),
        "ctrl": len(actuators.controls),
        "act": sum(kind == "act" for _, kind in actuators.controls),
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
    if str(wish) not in keys:
        place = next((x.place for x in keys.values()), root.place)
        raise NamingError.unknown("keyframe", str(wish), keys, place=place)
    _begin(keys[str(wish)], joints, counts, parts, actuators)


def _begin(
    key: Element, joints: list[Any], counts: dict[str, int], parts: Parts, actuators: Actuators
) -> None:
    """Starts of coordinates and speeds, and controls, from a keyframe."""
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
    parts.starts[:] = starts.values()
    for word in ("ctrl", "act"):
        if _has(key, word):
            labels = [x for x, kind in actuators.controls if word == "ctrl" or kind == "act"]
            controls = dict(zip(labels, numbers_in(key, word, counts[word], ""), strict=True))
            parts.inputs[:] = [_set(x, controls, word) for x in parts.inputs]


def _set(control: model.Input, values: dict[str, Any], word: str) -> model.Input:
    """An input with the value of a keyframe, if it is one of that kind."""
    is_set = control.name in values and control.name.endswith(f" {word}")
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
