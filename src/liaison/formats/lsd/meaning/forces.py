"""`apply KIND … end on …`: what acts on the mechanism, on a frame, between two, or on a coordinate.

`apply friction … end on JOINT` that holds at rest: by its own bound, or by the joint's load.

One `apply` statement as its readers see it: what it is on, its properties, what comes with it.

`let NAME = body … end`: mass, centre and inertia as said, the rest named as unknown.

Public names: force_of, effort_of, FORCE_KINDS, holds, static_friction, FRICTION_KEYS, Applied,
body_of, shapes_of, BODY_KEYS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import liaison.model as model
from liaison.errors import Cure, LiaisonError, Place, TextError
from liaison.expr import symbol
from liaison.formats.lsd.formulas.formulas import (
    ANY,
    Where,
    in_unit,
    path_of,
    scalar_of,
    value_of,
    vector_of,
)
from liaison.formats.lsd.formulas.names import Book, bases, no_such
from liaison.formats.lsd.formulas.values import (
    BodyFrame,
    Quantity,
    Unfit,
    Vector,
    Word,
    kind_of,
    known_dimension,
    plain,
    product_of,
    si_unit,
)
from liaison.formats.lsd.syntax.nodes import Node
from liaison.formats.poses import HERE, as_pose, exactly, is_upright, matrices_of, rows_of
from liaison.model import BearingFriction, Body, Coordinate, DryFriction, OneSided
from liaison.model.kinds import Derived
from liaison.model.shapes import check_solid, filled
from liaison.spatial import Array, Inertia, array, cross3, dot, is_zero, norm, product, vector
from liaison.units import ANGLE, TIME

from .joints import Joined
from .properties import (
    SMOOTHING,
    PropertyReader,
    check_moving,
    coordinate_of,
    friction_law_of,
)
from .shapes import colored, is_shape

BODY_KEYS = ("mass", "density", "center", "iframe", "inertia", "color")


def body_of(name: str, node: Node, place: Place, book: Book) -> Body:
    """The body of a `body … end`; its frame `NAME.iframe` enters the book.

    Centre and inertia, where neither is said, are those of the shapes filled evenly with the mass
    or the density. What is still not said is an unknown parameter: `NAME.mass`, and the moments
    `NAME.inertia.x` … about the axes of its iframe; a centre that is left out is the origin of its
    frame.
    """
    statement = _BodyReader(name, "body", node.parts[1], place, book)
    statement.keys.check(BODY_KEYS, many=("shape",))
    shapes = statement.shapes()
    solid = statement.filled(shapes)
    if solid is None:
        R, p = statement.iframe()
        mass, inertia = statement.mass(), statement.inertia()
        if not is_upright(R):
            inertia = product(product(R, inertia), array(R.T))
    else:
        R, p, mass, inertia = HERE[0], solid.com, solid.mass, solid.rotational
    book.frames[f"{name}.iframe"] = BodyFrame(name, R, p)
    try:
        return Body(name, mass, tuple(p), rows_of(inertia), shapes, place=place)
    except LiaisonError as error:
        raise statement.sharper(error) from None


class _BodyReader(PropertyReader):
    """What a body says of itself."""

    def filled(self, shapes: tuple[Any, ...]) -> Inertia | None:
        """Mass geometry of the shapes, if the body says what fills them and nothing else."""
        density = self.keys.get("density")
        others = [key for key in ("mass", "center", "iframe", "inertia") if self.keys.get(key)]
        is_solid = any(not is_zero(shape.volume()) for shape in shapes)
        if density is not None:
            if others:
                raise self.error(f"{self.keys.owner} gives 'density' and '{others[0]}'.", density)
            if not is_solid:
                message = f"{self.keys.owner} has a density, but no shape to fill."
                raise self.error(message, density)
            check_solid(shapes, self.keys.owner, self.book.source.at(density))
            return filled(shapes, None, self.scalar("density", "kg/m^3"))
        if others != ["mass"] or not is_solid:
            return None
        check_solid(shapes, self.keys.owner, self.place)
        return filled(shapes, self.mass(), None)

    def sharper(self, error: LiaisonError) -> LiaisonError:
        """The same error with the place of the property it refers to."""
        for key in ("mass", "inertia"):
            node = self.keys.get(key)
            if f"{key} of body" in error.message and node is not None:
                error.place = self.book.source.at(node)
                if "principal moment" in error.message:
                    self.add_cure(error, node)
        return error

    def add_cure(self, error: LiaisonError, node: Node) -> None:
        """Of [0, 0, I], which is meant for motions in a plane: one number for all moments."""
        value = value_of(node, self.book, Where(self.name))
        items: Any = value.items if isinstance(value, Vector) else ()
        moments = [q for q in items if isinstance(q, Quantity) and not is_zero(q.value)]
        if len(items) != 3 or len(moments) != 1:
            return
        parts = [part for part in node.parts if isinstance(part, Node)]
        kept = parts[items.index(moments[0])]
        line, word = self.book.source.lines[node.line - 1], self.book.source.at(kept).words()
        word = word if kept.kind == "number" else f"({word})"
        start, end = line.rfind("[", 0, node.column), line.find("]", kept.column)
        error.hint = (
            f"In a plane one number does, for all axes: inertia = {word}; the moments about axes "
            "in the plane do not matter."
        )
        if node.line == kept.line and 0 <= start < end:
            place = self.book.source.at(node)
            error.cure = Cure(place.file, place.line, start + 1, end + 1 - start, word)

    def iframe(self) -> tuple[Array, Array]:
        """The pose of the central frame on the body."""
        center, iframe = self.keys.get("center"), self.keys.get("iframe")
        if center is not None and iframe is not None:
            message = f"{self.keys.owner} says its centre twice: 'iframe' and 'center'."
            raise self.error(message, center)
        if center is not None:
            where, what = Where(f"{self.name}.center", "m"), f"the centre of {self.keys.owner}"
            return HERE[0], vector(vector_of(center, self.book, where, what))
        if iframe is None:
            return HERE
        value = value_of(iframe, self.book, Where(f"{self.name}.iframe", "m"))
        try:
            return matrices_of(as_pose(value), self.book, iframe)
        except Unfit as error:
            raise self.error(str(error), iframe) from None

    def mass(self) -> Any:
        """As said, or a new unknown."""
        if self.keys.get("mass") is None:
            return self.book.unknown_parameter(f"{self.name}.mass", "kg", self.place).value
        return self.scalar("mass", "kg")

    def inertia(self) -> Array:
        """3×3 about the centre, along the axes of the iframe."""
        node, where = self.keys.get("inertia"), Where(f"{self.name}.inertia", "kg*m^2")
        if node is None:
            moments = (
                self.book.unknown_parameter(f"{where.path}.{x}", where.unit, self.place)
                for x in "xyz"
            )
            return _matrix([*(moment.value for moment in moments), 0, 0, 0])

        def number(q: Any) -> Any:
            return plain(in_unit(q, node, self.book, where, self.what("inertia")).value)

        value = value_of(node, self.book, where)
        items: Any = value.items if isinstance(value, Vector) else ()
        if isinstance(value, Quantity):
            return _matrix([*[number(value)] * 3, 0, 0, 0])
        if [len(row.items) for row in items if isinstance(row, Vector)] == [3, 3, 3]:
            return exactly([[number(q) for q in row.items] for row in items])
        if len(items) in (3, 6) and not any(isinstance(q, Vector) for q in items):
            return _matrix([*map(number, items), 0, 0, 0][:6])
        kind = "rows" if items and isinstance(items[0], Vector) else "numbers"
        actual = f"{len(items)} {kind}" if items else kind_of(value)
        hint = "Give [Ixx, Iyy, Izz], [Ixx, Iyy, Izz, Ixy, Ixz, Iyz], or a matrix [[…],[…],[…]]."
        raise self.error(f"{self.what('inertia')} is {actual}.", node, hint)

    def shapes(self) -> tuple[Any, ...]:
        """Its shapes, also those that are given elsewhere, in its colour."""
        color, paint = self.keys.get("color"), None
        if color is not None:
            word = value_of(color, self.book, Where(self.name))
            if not isinstance(word, Word):
                message = f"a colour is a text in quotes, not {kind_of(word)}."
                raise self.error(message, color)
            paint = word.text
        nodes = [*self.keys.all("shape"), *self.book.shapes.get(self.name, ())]
        return shapes_of(self.name, nodes, paint, self.book)


def _matrix(six: list[Any]) -> Array:
    xx, yy, zz, xy, xz, yz = six
    return exactly([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def shapes_of(name: str, nodes: list[Node], paint: str | None, book: Book) -> tuple[Any, ...]:
    """The shapes of a body, in its colour where they have none."""
    shapes = []
    for node in nodes:
        shape = value_of(node, book, replace(Where(f"{name}.shape"), kind="body"))
        if not is_shape(shape):
            raise book.source.error(
                f"a shape is box(…), cylinder(…), sphere(…) and the like, not {kind_of(shape)}.",
                node,
            )
        shapes.append(colored(shape, paint))
    return tuple(shapes)


class Applied(PropertyReader):
    """One `apply` statement: its keys, what it is on, and the name it gets."""

    def __init__(self, name: str | None, node: Node, place: Place, book: Book) -> None:
        self.targets = list(node.parts[3].parts) if len(node.parts) > 3 else []
        kind = str(node.parts[1])
        words = [_target_word(target, book) for target in self.targets]
        wish = "_".join([kind, *(["on"] if words else []), *words])
        super().__init__(name or book.free_name(wish), kind, node.parts[2], place, book)
        self.inputs: list[model.Input] = []
        self.parts: list[Any] = []  # what comes with it: a rotor, its bearing, its gear

    def input(self, name: str, unit: str) -> Any:
        """A new input, zero until someone gives it."""
        self.inputs.append(model.Input(name, unit, 0, place=self.place))
        self.book.symbols[name] = Quantity(symbol(name), None)
        return symbol(name)

    def frames(self, count: int) -> list[model.Marker]:
        """The frames it is on."""
        if len(self.targets) != count:
            where = "'on FRAME'" if count == 1 else "'on FRAME and FRAME'"
            raise self.error(f"{self.kind} {self.name!r} is applied {where}.")
        return [self.frame(node) for node in self.targets]

    def measure(self) -> tuple[model.Measure, bool]:
        """What the effort works on, and whether it is an angle."""
        if len(self.targets) == 2:
            a, b = self.frames(2)
            return model.Distance(a, b), False
        if len(self.targets) != 1:
            message = f"{self.kind} {self.name!r} does not say what it is on."
            raise self.error(message, hint="Write 'on A' for a joint A, or 'on FRAME and FRAME'.")
        (target,) = self.targets
        if target.kind == "call" and str(target.parts[0]) == "cable":
            return self.cable(target), False
        return self.single(target)

    def single(self, target: Node) -> tuple[model.Distance | model.Angle | Coordinate, bool]:
        """A distance, an angle or a coordinate, and whether it is an angle."""
        if target.kind == "call" and str(target.parts[0]) in ("distance", "angle"):
            word = str(target.parts[0])
            if len(target.parts) != 3:
                raise self.error(f"{word} is between two frames.", target)
            a, b = (self.frame(part) for part in target.parts[1:])
            return (model.Angle(a, b), True) if word == "angle" else (model.Distance(a, b), False)
        label = coordinate_of(target, self.book)
        return model.Coordinate(label), self.book.symbols[label].dimension == ANGLE

    def cable(self, target: Node) -> model.Cable:
        """cable(factor, part, factor, part, …, offset); the offset may be left out."""
        nodes, terms = list(target.parts[1:]), []
        if len(nodes) < 2:
            message = "a cable has factors and parts: cable(1, distance(P, Q), 0.1, A)."
            raise self.error(message, target)
        rest = nodes.pop() if len(nodes) % 2 else None
        what = f"a factor of the cable of {self.kind} {self.name!r}"
        for k in range(0, len(nodes), 2):
            measure, _ = self.single(nodes[k + 1])
            if isinstance(measure, model.Angle):
                message = "a part of a cable is a distance or a coordinate, not an angle."
                raise self.error(message, nodes[k + 1])
            where = Where(f"{self.name}.cable", ANY)
            terms.append((plain(scalar_of(nodes[k], self.book, where, what)), measure))
        offset: Any = 0
        if rest is not None:
            offset = plain(scalar_of(rest, self.book, Where(f"{self.name}.cable", "m"), what))
        return model.Cable(tuple(terms), offset)


def _target_word(node: Node, book: Book) -> str:
    while node.kind == "on_body":
        node = node.parts[1]
    path = path_of(node)
    if path is None:
        return str(node.parts[0])
    known = [name for name in bases(path) if name in book.places]
    return known[-1] if known else path.partition(".")[0]


FRICTION_KEYS = ("viscous", "dry", "smoothing", "static", "coefficient", "radius", *SMOOTHING)
_BEARING = ("coefficient", "static", "radius", *SMOOTHING)


def holds(a: Applied) -> bool:
    """Whether it sticks exactly: where what holds at rest is said, or the smoothing is 0."""
    if any(a.keys.get(key) is not None for key in (*_BEARING, *SMOOTHING)):
        return True
    return a.keys.get("smoothing") is not None and is_zero(_smoothing(a))


def _smoothing(a: Applied) -> Any:
    return a.scalar("smoothing", "rad/s" if a.measure()[1] else "m/s")


def static_friction(a: Applied) -> OneSided:
    """Friction that sticks and slips."""
    if a.keys.get("coefficient") is not None:
        return _bearing(a)
    measure, is_angle = a.measure()
    if not isinstance(measure, Coordinate):
        raise a.error(f"friction {a.name!r} acts on a coordinate.")
    if a.keys.get("radius") is not None:
        message = f"friction {a.name!r} has a radius, which belongs to a 'coefficient' of the load."
        raise a.error(message, a.keys.get("radius"))
    if a.keys.get("smoothing") is not None and not is_zero(_smoothing(a)):
        message = f"friction {a.name!r} is smooth, or it holds at rest; leave 'smoothing' out."
        raise a.error(message, a.keys.get("smoothing"))
    check_moving(a, "static", "dry")
    effort, rate = ("N*m", "rad/s") if is_angle else ("N", "m/s")
    units = {"dry": effort, "static": effort, "viscous": "N*m*s/rad" if is_angle else "N*s/m"}
    values = {key: a.scalar(key, unit) for key, unit in units.items() if a.keys.get(key)}
    return DryFriction(a.name, measure.label, **values, **friction_law_of(a, rate), place=a.place)


def _bearing(a: Applied) -> BearingFriction:
    """Friction that grows with the force that a joint transmits."""
    for key in a.keys.nodes:
        if key not in _BEARING:
            message = f"friction {a.name!r} grows with the load; it has no {key!r}."
            raise a.error(message, a.keys.get(key), hint=f"It takes: {', '.join(_BEARING)}.")
    joint = _joint(a)
    turns = a.keys.get("radius") is not None
    units = {"coefficient": "", "static": "", "radius": "m"}
    values = {key: a.scalar(key, unit) for key, unit in units.items() if a.keys.get(key)}
    law = friction_law_of(a, "rad/s" if turns else "m/s")
    return BearingFriction(a.name, joint, **values, **law, place=a.place)


def _joint(a: Applied) -> str:
    """The joint it is in, by its name or by its coordinate."""
    path = path_of(a.targets[0]) if len(a.targets) == 1 else None
    if path in a.book.joints:
        return str(path)
    measure, _ = a.measure()
    owners = [x.name for x in a.book.joints.values() if set(measure.labels()) & {*x.coordinates}]
    if not owners:
        raise a.error(f"friction {a.name!r} is in a joint.")
    return owners[0]


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
    force = make(applied)
    if isinstance(force, model.Force):
        book.add_states(force.states(book.units()))
    return force, applied.inputs, applied.parts


def _load(a: Applied) -> model.Force:
    """A load as its class says: what it acts along, and its properties."""
    kind = model.LOAD_KINDS.named(a.kind)
    assert kind is not None, a.kind
    arguments: dict[str, Any] = {}
    is_angle = False
    if kind.ON:
        measure, is_angle = a.measure()
        if kind.ON == "coordinate" and not isinstance(measure, model.Coordinate):
            raise a.error(f"{a.kind} {a.name!r} acts on a coordinate.")
        arguments[kind.ON] = measure if kind.ON == "measure" else measure.labels()[0]
    elif issubclass(kind, model.AtMarker):
        (arguments["marker"],) = a.frames(1)
    for one in kind.PROPERTIES:
        if not one.optional or a.keys.get(one.key) is not None:
            arguments[one.name] = a.property(one, one.unit_along(is_angle))
    construct: Any = kind
    force: model.Force = construct(name=a.name, **arguments, place=a.place)
    return force


def _memory(a: Applied) -> model.Force:
    """A state: its rate, and its unit, which is that of the rate times seconds if not given."""
    node, written = a.keys.need("rate", a.place), a.keys.get("unit")
    unit = ""
    if written is not None:
        word = value_of(written, a.book, Where(f"{a.name}.unit"))
        if not isinstance(word, Word):
            raise a.error(f'{a.what("unit")} is a text in quotes: unit = "A".', written)
        unit = word.text
    where = Where(f"{a.name}.rate", f"{unit}/s" if known_dimension(unit) else ANY)
    value = value_of(node, a.book, where)
    rate = in_unit(value, node, a.book, where, a.what("rate"))
    if not unit and isinstance(value, Quantity) and not value.bare:
        unit = si_unit(product_of(value.dimension, TIME, 1)) if value.dimension else ""
    if a.targets:
        raise a.error(f"state {a.name!r} is on nothing; leave 'on' out.", a.targets[0])
    return model.Memory(a.name, rate.value, unit, place=a.place)


def _friction(a: Applied) -> model.Force | model.OneSided:
    """Friction in a joint: smooth, or such that holds."""
    return static_friction(a) if holds(a) else _load(a)


def _actuator(a: Applied) -> model.Force:
    """A motor or jack; without an effort it has an input of its own name."""
    measure, is_angle = a.measure()
    if a.keys.get("ratio") is not None:
        return _driven(a, measure, is_angle)
    word, unit = ("torque", "N*m") if is_angle else ("force", "N")
    other = "force" if is_angle else "torque"
    wrong = a.keys.get(other)
    if wrong is not None:
        on = "an angle" if is_angle else "a length"
        message = (
            f"{a.kind} {a.name!r} has a {other}, but what it works on is {on}; give its {word}."
        )
        raise a.error(message, wrong)
    geared = next((key for key in GEARED if a.keys.get(key) is not None), None)
    if geared is not None:
        message = f"{a.kind} {a.name!r} gives {geared!r}, which belongs to a transmission."
        raise a.error(message, hint="Give its 'ratio' too.")
    if a.keys.get(word) is None:
        return model.Actuator(a.name, measure, a.input(a.name, unit), place=a.place)
    return model.Actuator(a.name, measure, a.scalar(word, unit), place=a.place)


def _driven(a: Applied, measure: model.Measure, is_angle: bool) -> model.Force:
    """The torque of the motor; its rotor, bearing, gear and friction are its parts."""
    force = a.keys.get("force")
    if force is not None:
        message = f"motor {a.name!r} has a ratio, so it turns a rotor; it has a torque, no force."
        place = a.book.source.of(a.keys.names["force"])
        hint = "Give the torque on its rotor, or leave out 'ratio' for a force on the joint."
        raise TextError(message, place=place, hint=hint)
    joints = [j for j in a.book.joints.values() if set(measure.labels()) & {*j.coordinates}]
    if not isinstance(measure, model.Coordinate) or not joints:
        raise a.error(f"motor {a.name!r} has a transmission; it drives the coordinate of a joint.")
    along = "N*m" if is_angle else "N"  # on the joint's side
    check_moving(a, "static", "dry")
    seat, transverse, torque = a.keys.get("seat"), a.keys.get("transverse"), a.keys.get("torque")
    drive = model.drive(
        a.name,
        joints[0],
        torque=a.input(a.name, "N*m") if torque is None else a.scalar("torque", "N*m"),
        transmission=model.Transmission(
            a.scalar("ratio", "" if is_angle else "rad/m"),
            _sides(a, "viscous", ("N*m*s/rad", "N*m*s/rad" if is_angle else "N*s/m")),
            _sides(a, "dry", ("N*m", along)),
            _sides(a, "static", ("N*m", along)) if a.keys.get("static") is not None else None,
        ),
        axial=a.scalar("rotor", "kg*m^2"),
        transverse=None if transverse is None else a.scalar("transverse", "kg*m^2"),
        mass=a.scalar("mass", "kg", default=0),
        seat=None if seat is None else a.frame(seat),
        axis=tuple(a.axis()),
        shapes=_shapes(a),
        place=a.place,
    )
    a.book.add_joint(drive.bearing, ())
    a.parts += [part for part in drive.parts() if part is not drive.torque]
    return drive.torque


def _sides(a: Applied, key: str, units: tuple[str, str]) -> tuple[Any, Any]:
    """[on the motor's side, on the joint's side]; one number is the joint's."""
    if a.keys.get(key) is None:
        return 0, 0
    first, second = [0, *a.pair(key, units, "is [motor's side, joint's side]")][-2:]
    return first, second


def _shapes(a: Applied) -> tuple[Any, ...]:
    node = a.keys.get("shape")
    if node is None:
        return ()
    shape = value_of(node, a.book, Where(f"{a.name}.shape"))
    if not is_shape(shape):
        message = f"the rotor's shape is box(…), cylinder(…) and the like, not {kind_of(shape)}."
        raise a.error(message, node)
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


_OWN: dict[str, tuple[Callable[[Applied], Any], tuple[str, ...]]] = {
    "force": (_wrench, ("value", "body")),
    "torque": (_wrench, ("value", "body")),
    "wrench": (_wrench, ("force", "torque", "body")),
    "motor": (_actuator, ("torque", "force", "ratio", *GEARED)),
    "actuator": (_actuator, ("torque", "force")),
    "gravity": (_load, ("value",)),
    "state": (_memory, ("rate", "unit")),
}
"""Words with a reader of their own, in the order in which they are listed."""


def _kinds() -> dict[str, tuple[Callable[[Applied], Any], tuple[str, ...]]]:
    kinds = dict(_OWN)
    for kind in model.LOAD_KINDS:
        kinds.setdefault(kind.LSD, (_load, tuple(one.key for one in kind.PROPERTIES)))
    kinds["friction"] = (_friction, (*FRICTION_KEYS,))
    return kinds


FORCE_KINDS: Mapping[str, tuple[Callable[[Applied], Any], tuple[str, ...]]] = Derived(
    _kinds, model.LOAD_KINDS
)
"""Word behind `apply` -> how it is read, and its properties."""


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
        free = [k for k in range(joint.type.nv) if k not in joined.driven]
        if len(free) != 1 or joint.type.coordinate_units[free[0]] != motion:
            raise TextError(
                f"a {key} along joint {joint.name!r} would do no work, or on several coordinates.",
                place=place,
                hint="Write 'apply motor torque = … end on JOINT.COORDINATE' for one of them.",
            )
        where = Where(f"{joint.name}.{key}", unit, local=joined.local)
        what = f"the {key} of joint {joint.name!r}"
        chain = (joint.type.chained_motions() or ()) if joined.driven else ()
        axis = list(chain[free[0]].axis) if chain else joined.axis
        effort = _along(node, where, what, axis, book)
        measure = model.Coordinate(joint.coordinates[free[0]])
        return model.Law(f"{joint.name}.{key}", measure, effort, place=place)
    return None


def _along(node: Node, where: Where, what: str, axis: list[Any], book: Book) -> Any:
    value = value_of(node, book, where)
    if not isinstance(value, Vector):
        return in_unit(value, node, book, where, what).value
    if len(value.items) != 3:
        raise book.source.error(f"{what} has three components.", node)
    parts = [plain(in_unit(item, node, book, where, what).value) for item in value.items]
    if not all(is_zero(x) for x in cross3(parts, axis)):
        raise book.source.error(
            f"{what} has components across its axis; they do no work.",
            node,
            hint=f"Write [{', '.join('0' if is_zero(a) else '…' for a in axis)}].",
        )
    return dot(parts, axis) / norm(axis)
