"""`apply KIND … end on …`: what acts on the mechanism, on a frame, between two, or on a coordinate.

Public names: force_of, effort_of, FORCE_KINDS, LOADS.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import liaison.model as model
from liaison.errors import Place, TextError
from liaison.formats.lsd.formulas.formulas import Where, in_unit, value_of
from liaison.formats.lsd.formulas.names import Book, no_such
from liaison.formats.lsd.formulas.values import Vector, kind_of, plain
from liaison.formats.lsd.syntax.nodes import Node
from liaison.spatial import cross3, dot, is_zero, norm

from .applied import Applied
from .friction import FRICTION_KEYS, held_friction, holds
from .joints import Joined
from .shapes import is_shape

GEARED = ("rotor", "transverse", "mass", "seat", "axis", "viscous", "dry", "static", "shape")


def force_of(
    name: str | None, node: Node, place: Place, book: Book
) -> tuple[model.Force | model.OneSided, list[model.Input], list[Any]]:
    """The force of an `apply` statement, inputs for what it leaves open, and parts of it."""
    kind = node.parts[1]
    if str(kind) not in FORCE_KINDS:
        at = book.source.place(kind.line, kind.column, len(kind))
        raise no_such("kind of force", str(kind), FORCE_KINDS, at, listed=[*FORCE_KINDS])
    applied = Applied(name, node, place, book)
    make, takes = FORCE_KINDS[str(kind)]
    applied.keys.check(takes)
    return make(applied), applied.inputs, applied.parts


class Load(NamedTuple):
    """A kind of load that is made of scalars: its record, and what stands for its fields."""

    record: type
    on: str  # the field of what it works on; "" where it works on the whole mechanism
    entries: tuple[tuple[str, str, str, str], ...]  # key, field, unit at an angle and at a length
    optional: tuple[str, ...] = ()  # keys that may be left out


_DAMPING = ("coefficient", "coefficient", "N*m*s/rad", "N*s/m")
_EFFORT = ("value", "effort", "N*m", "N")
LOADS: dict[str, Load] = {
    "spring": Load(
        model.Spring,
        "measure",
        (("stiffness", "stiffness", "N*m/rad", "N/m"), ("rest", "rest", "rad", "m")),
        ("rest",),
    ),
    "damper": Load(model.Damper, "measure", (_DAMPING,)),
    "friction": Load(
        model.JointFriction,
        "coordinate",
        (
            ("viscous", "viscous", "N*m*s/rad", "N*s/m"),
            ("dry", "dry", "N*m", "N"),
            ("smoothing", "smoothing", "rad/s", "m/s"),
        ),
        ("viscous", "dry", "smoothing"),
    ),
    "effort": Load(model.Law, "measure", (_EFFORT,)),
    "potential": Load(model.Potential, "", (("value", "formula", "J", "J"),)),
    "dissipation": Load(model.Dissipation, "", (("value", "formula", "W", "W"),)),
}
"""Read here, and written by lsd_write_acts."""


def _load(a: Applied) -> model.Force:
    """A load of the table."""
    row, given, is_angle = LOADS[a.kind], {}, False
    if row.on:
        measure, is_angle = a.measure()
        if row.on == "coordinate" and not isinstance(measure, model.Coordinate):
            raise a.refused(f"{a.kind} {a.name!r} acts on a coordinate.")
        given[row.on] = measure if row.on == "measure" else measure.labels()[0]
    for key, field, at_angle, at_length in row.entries:
        if key not in row.optional or a.keys.get(key) is not None:
            given[field] = a.scalar(key, at_angle if is_angle else at_length)
    made: model.Force = row.record(a.name, **given, place=a.place)
    return made


def _friction(a: Applied) -> model.Force | model.OneSided:
    """Friction in a joint: smooth, or such that holds."""
    return held_friction(a) if holds(a) else _load(a)


def _actuator(a: Applied) -> model.Force:
    """A motor or jack; without an effort it has an input of its own name."""
    measure, is_angle = a.measure()
    word, unit = ("torque", "N*m") if is_angle else ("force", "N")
    other = "force" if is_angle else "torque"
    wrong = a.keys.get(other)
    if wrong is not None:
        on = "an angle" if is_angle else "a length"
        said = f"{a.kind} {a.name!r} has a {other}, but what it works on is {on}; give its {word}."
        raise a.refused(said, wrong)
    if a.keys.get("ratio") is not None:
        return _driven(a, measure)
    geared = next((key for key in GEARED if a.keys.get(key) is not None), None)
    if geared is not None:
        said = f"{a.kind} {a.name!r} gives {geared!r}, which belongs to a transmission."
        raise a.refused(said, hint="Give its 'ratio' too.")
    if a.keys.get(word) is None:
        return model.Actuator(a.name, measure, a.input(a.name, unit), place=a.place)
    return model.Actuator(a.name, measure, a.scalar(word, unit), place=a.place)


def _driven(a: Applied, measure: model.Measure) -> model.Force:
    """The torque of the motor; its rotor, bearing, gear and friction are its parts."""
    joints = [j for j in a.book.joints.values() if set(measure.labels()) & {*j.coordinates}]
    if not isinstance(measure, model.Coordinate) or not joints:
        raise a.refused(
            f"motor {a.name!r} has a transmission; it drives the coordinate of a joint."
        )
    seat, transverse, torque = a.keys.get("seat"), a.keys.get("transverse"), a.keys.get("torque")
    made = model.drive(
        a.name,
        joints[0],
        torque=a.input(a.name, "N*m") if torque is None else a.scalar("torque", "N*m"),
        transmission=model.Transmission(
            a.scalar("ratio", ""),
            _sides(a, "viscous", "N*m*s/rad"),
            _sides(a, "dry", "N*m"),
            _sides(a, "static", "N*m") if a.keys.get("static") is not None else None,
        ),
        axial=a.scalar("rotor", "kg*m^2"),
        transverse=None if transverse is None else a.scalar("transverse", "kg*m^2"),
        mass=a.scalar("mass", "kg", default=0),
        seat=None if seat is None else a.frame(seat),
        axis=tuple(a.axis()),
        shapes=_shapes(a),
        place=a.place,
    )
    a.book.add_joint(made.bearing, ())
    a.parts += [part for part in made.parts() if part is not made.torque]
    return made.torque


def _sides(a: Applied, key: str, unit: str) -> tuple[Any, Any]:
    """[on the motor's side, on the joint's side]; one number is the joint's."""
    if a.keys.get(key) is None:
        return 0, 0
    first, second = [0, *a.pair(key, unit, "is [motor's side, joint's side]")][-2:]
    return first, second


def _shapes(a: Applied) -> tuple[Any, ...]:
    node = a.keys.get("shape")
    if node is None:
        return ()
    shape = value_of(node, a.book, Where(f"{a.name}.shape"))
    if not is_shape(shape):
        said = f"the rotor's shape is box(…), cylinder(…) and the like, not {kind_of(shape)}."
        raise a.refused(said, node)
    return (shape,)


def _wrench(a: Applied) -> model.Force:
    """A force, a torque or both at a frame, in the axes of a body; unknown ones are inputs."""
    (marker,) = a.frames(1)
    axes_node = a.keys.get("body")
    axes = None if axes_node is None else a.frame(axes_node)
    parts: dict[str, Any] = {"force": [0, 0, 0], "torque": [0, 0, 0]}
    if a.kind in parts:
        unit = "N" if a.kind == "force" else "N*m"
        if a.keys.get("value") is not None:
            parts[a.kind] = a.vector("value", unit)
        else:
            parts[a.kind] = [a.input(f"{a.name}.{x}", unit) for x in "xyz"]
    for key, unit in (("force", "N"), ("torque", "N*m")):
        if a.kind == "wrench" and a.keys.get(key) is not None:
            parts[key] = a.vector(key, unit)
    return model.PointWrench(
        a.name, marker, tuple(parts["force"]), tuple(parts["torque"]), axes, place=a.place
    )


def _gravity(a: Applied) -> model.Force:
    return model.Gravity(tuple(a.vector("value", "m/s^2")), a.name, place=a.place)


FORCE_KINDS: dict[str, tuple[Callable[[Applied], Any], tuple[str, ...]]] = {
    "force": (_wrench, ("value", "body")),
    "torque": (_wrench, ("value", "body")),
    "wrench": (_wrench, ("force", "torque", "body")),
    "motor": (_actuator, ("torque", "force", "ratio", *GEARED)),
    "actuator": (_actuator, ("torque", "force")),
    "gravity": (_gravity, ("value",)),
    **{word: (_load, tuple(entry[0] for entry in row.entries)) for word, row in LOADS.items()},
    "friction": (_friction, (*FRICTION_KEYS,)),
}


# ---- the effort written inside a joint: torque = [τ, 0, 0]


def effort_of(joined: Joined, book: Book) -> model.Law | None:
    """The law of a joint's own `torque = …` or `force = …`; None if it has none.

    The vector is in the axes of the joint's frames, and acts on the successor along the axis of
    the joint; its other components would do no work and must be zero.
    """
    for key, unit, motion in (("torque", "N*m", "rad"), ("force", "N", "m")):
        node = joined.keys.get(key)
        if node is None:
            continue
        joint = joined.joint
        place = book.source.at(node)
        if joint.type.nv != 1 or joint.type.coordinate_units != (motion,):
            raise TextError(
                f"a {key} along joint {joint.name!r} would do no work, or on several coordinates.",
                place=place,
                hint="Write 'apply motor torque = … end on JOINT.COORDINATE' for one of them.",
            )
        where = Where(f"{joint.name}.{key}", unit, local=joined.local)
        what = f"the {key} of joint {joint.name!r}"
        effort = _along(node, where, what, joined.axis, book)
        measure = model.Coordinate(joint.coordinates[0])
        return model.Law(f"{joint.name}.{key}", measure, effort, place=place)
    return None


def _along(node: Node, where: Where, what: str, axis: list[Any], book: Book) -> Any:
    value = value_of(node, book, where)
    if not isinstance(value, Vector):
        return in_unit(value, node, book, where, what).value
    if len(value.items) != 3:
        raise book.source.refused(f"{what} has three components.", node)
    parts = [plain(in_unit(item, node, book, where, what).value) for item in value.items]
    if not all(is_zero(x) for x in cross3(parts, axis)):
        raise book.source.refused(
            f"{what} has components across its axis; they do no work.",
            node,
            hint=f"Write [{', '.join('0' if is_zero(a) else '…' for a in axis)}].",
        )
    return dot(parts, axis) / norm(axis)
