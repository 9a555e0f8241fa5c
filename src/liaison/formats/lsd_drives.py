"""`apply motor torque = …, ratio = …, rotor = … end on A`: a motor with its transmission.

Public names: driven, GEARED.
"""

from __future__ import annotations

from typing import Any, Protocol

from liaison.errors import Place, TextError
from liaison.model import Coordinate, Force, Marker, Measure, Transmission, drive

from .lsd_formulas import ANY, Where, in_unit, value_of, vector_of
from .lsd_names import Book, Keys
from .lsd_nodes import Node
from .lsd_shapes import is_shape
from .lsd_values import Quantity, Vector, kind_of, plain

GEARED = ("rotor", "transverse", "mass", "seat", "axis", "viscous", "dry", "shape")


class Told(Protocol):
    """What the statement of a motor says."""

    name: str
    kind: str
    place: Place
    book: Book
    keys: Keys
    parts: list[Any]

    def scalar(self, key: str, unit: str, default: Any = None) -> Any:
        """The number of a key."""

    def input(self, name: str, unit: str) -> Any:
        """A new input."""

    def frame(self, node: Node) -> Marker:
        """A frame on a body."""


def driven(a: Told, measure: Measure) -> Force:
    """The torque of the motor; its rotor, bearing, gear and friction are its parts."""
    joints = [j for j in a.book.joints.values() if set(measure.labels()) & {*j.coordinates}]
    if not isinstance(measure, Coordinate) or not joints:
        said = f"motor {a.name!r} has a transmission; it drives the coordinate of a joint."
        raise TextError(said, place=a.place)
    seat, transverse, torque = a.keys.get("seat"), a.keys.get("transverse"), a.keys.get("torque")
    made = drive(
        a.name,
        joints[0],
        torque=a.input(a.name, "N*m") if torque is None else a.scalar("torque", "N*m"),
        transmission=Transmission(
            a.scalar("ratio", ""), _sides(a, "viscous", "N*m*s/rad"), _sides(a, "dry", "N*m")
        ),
        axial=a.scalar("rotor", "kg*m^2"),
        transverse=None if transverse is None else a.scalar("transverse", "kg*m^2"),
        mass=a.scalar("mass", "kg", default=0),
        seat=None if seat is None else a.frame(seat),
        axis=_axis(a),
        shapes=_shapes(a),
        place=a.place,
    )
    a.book.add_joint(made.bearing, ())
    a.parts += [part for part in made.parts() if part is not made.torque]
    return made.torque


def _sides(a: Told, key: str, unit: str) -> tuple[Any, Any]:
    """[on the motor's side, on the joint's side]; one number is the joint's."""
    node = a.keys.get(key)
    if node is None:
        return 0, 0
    what, where = f"{key} of motor {a.name!r}", Where(f"{a.name}.{key}", unit)
    value = value_of(node, a.book, where)
    if isinstance(value, Quantity):
        return 0, plain(in_unit(value, node, a.book, where, what).value)
    if not isinstance(value, Vector) or len(value.items) != 2:
        said = f"{what} is [motor's side, joint's side], not {kind_of(value)}."
        raise TextError(said, place=a.book.source.at(node))
    first, second = (in_unit(x, node, a.book, where, what).value for x in value.items)
    return plain(first), plain(second)


def _axis(a: Told) -> tuple[Any, ...]:
    node = a.keys.get("axis")
    if node is None:
        return (0, 0, 1)
    return tuple(vector_of(node, a.book, Where(a.name, ANY), f"the axis of motor {a.name!r}"))


def _shapes(a: Told) -> tuple[Any, ...]:
    node = a.keys.get("shape")
    if node is None:
        return ()
    shape = value_of(node, a.book, Where(f"{a.name}.shape"))
    if not is_shape(shape):
        said = f"the rotor's shape is box(…), cylinder(…) and the like, not {kind_of(shape)}."
        raise TextError(said, place=a.book.source.at(node))
    return (shape,)
