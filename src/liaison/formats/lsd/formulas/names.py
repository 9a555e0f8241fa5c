"""The book of names of a text: what each stands for, and how the unnamed gets its name.

A name is used once. What the author leaves out (`?s`, a joint without name, a body's mass) is
named by its place: `reflector.iframe.z`, `satellite_arm`, `satellite.mass`.

`position(FRAME)`, `velocity(FRAME)`: where a frame is and how fast, as formulas of coordinates.

The frame is reached from the ground by the fewest joints; where loops give a choice, by joints of
few degrees of freedom and by their names, so that nothing depends on the order of a text.

Public names: Book, Spoiled, no_such, bases, PLACES, place_of.
"""

from __future__ import annotations

import difflib
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

from liaison.errors import LiaisonError, NamingError, Place, TextError
from liaison.expr import ONE, PI, Function, as_expr, directional, symbol
from liaison.formats.lsd.meaning.shapes import SHAPES, moved_shape, shape_of
from liaison.formats.lsd.syntax.nodes import Node, Source
from liaison.formats.poses import HERE
from liaison.model import Joint, Marker, Parameter
from liaison.spatial import Array, array, compose, identity, product, zeros
from liaison.units import LENGTH, TIME, VELOCITY, Dimension, Label

from .formulas import Where, component, path_of, value_of
from .values import (
    BodyFrame,
    Quantity,
    Unfit,
    Value,
    Vector,
    kind_of,
    known_dimension,
    product_of,
    unit_of,
)

PLACES = ("position", "velocity")


def place_of(name: str, values: list[Value], joints: Mapping[str, Joint]) -> Vector:
    """The position [m] of a frame's origin in the ground, or in a second frame; or its velocity.

    Raises:
        Unfit: no frame, or one whose body the joints so far do not reach.
    """
    if not values or len(values) > (2 if name == "position" else 1):
        raise Unfit(f"{name} takes a frame: {name}([1, 0, 0] @ crank).")
    for value in values:
        if not isinstance(value, BodyFrame):
            raise Unfit(f"{name} takes a frame on a body, not {kind_of(value)}.")
    path = _joints_to(joints)
    R, p = _pose(values[-1], path)
    if name == "velocity":
        rates = _rates(path.get(values[0].body, [])) | {symbol("t"): ONE}
        return _vector(directional([as_expr(x) for x in p], rates), VELOCITY)
    if len(values) == 2:
        _, q = _pose(values[0], path)
        p = product(array(R.T), q - p)
    return _vector(list(p), LENGTH)


def _vector(entries: list[Any], dimension: Dimension) -> Vector:
    return Vector(tuple(Quantity(as_expr(x), dimension) for x in entries))


def _joints_to(joints: Mapping[str, Joint]) -> dict[str, list[Joint]]:
    """Body -> the joints that lead to it from the ground."""
    touching: dict[str, list[tuple[Joint, str]]] = {}
    for joint in sorted(joints.values(), key=lambda joint: (joint.type.freedom, joint.name)):
        a, b = joint.predecessor.body, joint.successor.body
        touching.setdefault(a, []).append((joint, b))
        touching.setdefault(b, []).append((joint, a))
    paths: dict[str, list[Joint]] = {GROUND: []}
    front = deque([GROUND])
    while front:
        body = front.popleft()
        for joint, far in touching.get(body, ()):
            if far not in paths:
                paths[far] = [*paths[body], joint]
                front.append(far)
    return paths


def _pose(frame: BodyFrame, path: Mapping[str, list[Joint]]) -> tuple[Array, Array]:
    """The frame in the ground: joint by joint, then on its body."""
    if frame.body not in path:
        raise Unfit(f"no joints lead from the ground to body {frame.body!r} here.")
    R, p = identity(), zeros(3)
    at = GROUND
    for joint in path[frame.body]:
        forward = joint.predecessor.body == at
        near, far = joint.predecessor, joint.successor
        if not forward:
            near, far = far, near
        across = joint.type.pose(array([symbol(x) for x in joint.coordinates]))
        step = across if forward else _inverse(*across)
        for motion in (_of(near), step, _inverse(*_of(far))):
            R, p = compose(R, p, *motion)
        at = far.body
    return compose(R, p, frame.R, frame.p)


def _of(marker: Marker) -> tuple[Array, Array]:
    return marker.rotation, marker.position


def _inverse(R: Array, p: Array) -> tuple[Array, Array]:
    back = array(R.T)
    return back, product(back, array([-x for x in p]))


def _rates(joints: list[Joint]) -> dict[Any, Any]:
    """Rate of every coordinate of some joints, q̇ = N v."""
    rates_of: dict[Any, Any] = {}
    for joint in joints:
        q = array([symbol(x) for x in joint.coordinates])
        v = array([symbol(x) for x in joint.speeds])
        if len(q):
            rates = product(joint.type.kinematic_map(q), v)
            rates_of.update(zip(q, (as_expr(x) for x in rates), strict=True))
    return rates_of


GROUND = "ground"
EARTH = ("earth", "ground")
ParameterOf: TypeAlias = Callable[[str], Parameter]  # expected unit -> the parameter with its value
MAX_CHAIN = 250  # definitions that wait for later definitions


class Spoiled(LiaisonError):
    """A name whose own definition was rejected: nothing more is said about it."""


def bases(path: str) -> list[str]:
    """'a.b.c' -> a, a.b, a.b.c."""
    parts = path.split(".")
    return [".".join(parts[:k]) for k in range(1, len(parts) + 1)]


class Book:
    """Everything that has a name in a text, filled while the text is read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.places: dict[str, Place] = {}
        self.lets: dict[str, Node] = {}
        self.values: dict[str, Value] = {}
        self.frames: dict[str, BodyFrame] = {}
        self.symbols: dict[str, Quantity] = {"t": Quantity(symbol("t"), TIME)}
        self.parameters: dict[str, Parameter] = {}
        self.laws: dict[str, Function] = {}
        self.make_body: Callable[[str], None] = lambda name: None
        self.statements: list[Node] = []  # of the whole text
        self.bodies: dict[str, Node] = {}
        self.shapes: dict[str, list[Node]] = {}  # given by `NAME.shape = …`
        self.joints: dict[str, Joint] = {}
        self.carriers: dict[Any, BodyFrame] = {}  # of frames that move with time
        self.extras: list[Any] = []  # bodies, joints and laws that come with them
        self.turns: dict[str, Any] = {}  # of joints with an axis: how their frames are turned
        self.joint_names: set[str] = set()  # of joints that are not made yet, too
        self.labels: set[str] = set()
        self.aliases: dict[str, Quantity] = {}
        self.declared_parameters: dict[str, ParameterOf] = {}
        self.bindings: dict[str, Node] = {}
        self.used: set[str] = set()
        self.waiting: list[str] = []
        self.outputs: set[str] = set()
        self.spoiled: set[str] = set()  # names whose definition was rejected
        for name in EARTH:
            self.frames[name] = BodyFrame(GROUND, *HERE)

    # ---- declaring

    def declare(self, name: str, place: Place) -> str:
        """Reserves a name; rejects one that is taken."""
        if name in (*EARTH, "t", "pi"):
            raise NamingError(f"{name!r} has a meaning of its own; choose another.", place=place)
        if name in self.places:
            first = self.places[name]
            raise NamingError(
                f"the name {name!r} is given twice; each name is used once.",
                place=place,
                hint=f"It is given first in line {first.line}.",
            )
        self.places[name] = place
        return name

    def free_name(self, wish: str) -> str:
        """A name like the requested one that nothing has yet."""
        name, count = wish, 1
        while name in self.places or name in self.symbols or name in self.laws:
            count += 1
            name = f"{wish}_{count}"
        return name

    def add_parameter(self, parameter: Parameter) -> Quantity:
        """A parameter and its symbol."""
        self.parameters[parameter.name] = parameter
        quantity = Quantity(symbol(parameter.name), known_dimension(parameter.unit))
        self.symbols[parameter.name] = quantity
        return quantity

    def unknown_parameter(self, wish: str, unit: str, place: Place) -> Quantity:
        """A new parameter named by its place; `parameter NAME = …` may have given it a value."""
        name = self.free_name(wish)
        if name in self.declared_parameters:
            self.used.add(name)
            return self.add_parameter(self.declared_parameters[name](unit))
        return self.add_parameter(Parameter(name, None, unit=unit, place=place))

    def add_joint(self, joint: Joint, names: tuple[str, ...]) -> None:
        """The symbols of a joint's coordinates and speeds.

        A joint's only coordinate is called by the joint's name, and also `joint.x`.
        """
        self.joints[joint.name] = joint
        kind = joint.type
        units = [*kind.coordinate_units, *kind.speed_units]
        for label, unit in zip([*joint.coordinates, *joint.speeds], units, strict=True):
            self.symbols[label] = Quantity(symbol(label), unit_of(unit)[1])
            self.labels.add(label)
        for label, unit in zip(joint.coordinates, kind.coordinate_units, strict=True):
            rate = f"{label}'"  # N v where it is no velocity itself
            dimension = product_of(unit_of(unit)[1], TIME, -1)
            self.symbols.setdefault(rate, Quantity(symbol(rate), dimension))
        if kind.nq == 1:
            for part in {*kind.coordinate_names, *names}:
                for prime in ("", "'"):
                    of = self.symbols[f"{joint.coordinates[0]}{prime}"]
                    self.aliases[f"{joint.name}.{part}{prime}"] = of

    def add_states(self, states: Iterable[Label]) -> None:
        """The symbols of states of loads, with their dimensions."""
        for label in states:
            self.symbols[label.name] = Quantity(symbol(label.name), known_dimension(label.unit))
            self.labels.add(label.name)

    def units(self) -> dict[str, str]:
        """SI units of coordinates, by label."""
        joints = self.joints.values()
        return {
            label: unit
            for joint in joints
            for label, unit in zip(joint.coordinates, joint.type.coordinate_units, strict=True)
        }

    def parts_of(self, name: str) -> set[str]:
        """What the text names behind this name and a dot."""
        return self._members.get(name, set())

    @cached_property
    def _members(self) -> dict[str, set[str]]:
        """Name -> what follows it and a dot, anywhere in the text."""
        members: dict[str, set[str]] = {}
        stack: list[Any] = list(self.statements)
        while stack:
            node = stack.pop()
            if node.kind == "member":
                members.setdefault(path_of(node.parts[0]) or "", set()).add(str(node.parts[1]))
            stack += [part for part in node.parts if isinstance(part, Node)]
        return members

    # ---- what a formula asks (Names of lsd_formulas)

    def unknown(self, where: Where, arguments: list[Value] | None, node: Node) -> Quantity:
        """A new unknown, named by its place."""
        if arguments is None:
            return self.unknown_parameter(where.path, where.unit, self.source.at(node))
        if not arguments or not all(isinstance(a, Quantity) for a in arguments):
            raise Unfit("'?fs' is a function of numbers: ?fs(x, x').")
        name = self.free_name(where.path)
        law = Function(name, len(arguments))
        self.laws[name] = law
        if name in self.bindings:
            return self.bound(name, arguments)
        return Quantity(law(*(as_expr(a.value) for a in arguments)), None)

    def bound(self, name: str, arguments: list[Value]) -> Quantity:
        """The formula that `law NAME(…) = …` gives for an unknown law."""
        node = self.bindings[name]
        self.used.add(name)
        names = ["".join(map(str, part.parts)) for part in node.parts[2:-1]]
        if len(names) != len(arguments):
            raise self.source.error(
                f"the law {name!r} has {len(arguments)} arguments, not {len(names)}.", node
            )
        where = Where(name, local=dict(zip(names, arguments, strict=True)))
        value = value_of(node.parts[-1], self, where)
        if not isinstance(value, Quantity):
            raise self.source.error("a law gives a number.", node.parts[-1])
        return value

    def shape(self, name: str, values: list[Value], named: dict[str, Value], node: Node) -> Value:
        """A shape or the place of a frame; None if neither has the name."""
        if name in PLACES and not named:
            return place_of(name, values, self.joints)
        if name not in SHAPES:
            return None
        return shape_of(name, values, named, self.source.folder)

    def placed(self, shape: Value, R: Array, p: Array) -> Value:
        """A shape moved on its body."""
        return moved_shape(shape, R, p)

    def functions(self) -> tuple[str, ...]:
        """Names of the shapes, and of places of frames."""
        return (*SHAPES, *PLACES)

    def find(self, path: str, node: Node, where: Where) -> Value:
        """What a dotted name stands for."""
        for table in (where.local, self.symbols, self.aliases, self.values, self.frames):
            if path in table:
                return table[path]
        if path == "pi":
            return Quantity(PI, bare=True)
        if path in self.lets:
            return self.value_of_let(path)
        on_body = self.on_body(path, node)
        if on_body is not None:
            return on_body
        base, _, part = path.rpartition(".")
        if base in self.lets or base in where.local:
            return component(self.find(base, node, where), part)
        raise self.unknown_name(path, node, where)

    def knows(self, path: str, where: Where) -> bool:
        """Whether a dotted name stands for something."""
        tables = (where.local, self.symbols, self.aliases, self.values, self.frames, self.lets)
        return any(path in table for table in tables) or path in self.bodies

    def value_of_let(self, name: str) -> Value:
        """The value of `let name = formula`; made once, when it is first needed."""
        if name in self.spoiled:
            raise Spoiled(name)
        if name in self.waiting or len(self.waiting) > MAX_CHAIN:
            raise self.chain_error(name)
        self.waiting.append(name)
        try:
            self.values[name] = value_of(self.lets[name], self, Where(name))
        finally:
            self.waiting.pop()
        return self.values[name]

    def chain_error(self, name: str) -> TextError:
        """A definition that waits for itself, or for too many others."""
        place = self.places[name]
        if name in self.waiting:
            chain = " → ".join([*self.waiting[-6:], name])
            return TextError(f"{name!r} is defined by itself: {chain}.", place=place)
        return TextError(
            f"{name!r} is waited for by more than {MAX_CHAIN} definitions, one after another.",
            place=place,
            hint="Write some of them with numbers.",
        )

    def on_body(self, path: str, node: Node) -> BodyFrame | None:
        """The frame of a body: itself, its `.frame`, its `.iframe`."""
        name, _, part = path.rpartition(".")
        if path in self.bodies or not name:
            name, part = path, ""
        if name in EARTH and part == "frame":
            return self.frames[GROUND]
        if name not in self.bodies:
            return None
        if part not in ("", "frame", "iframe"):
            raise NamingError.unknown(
                f"frame of body {name!r}", part, ["frame", "iframe"], place=self.source.at(node)
            )
        if part == "iframe":
            if name in self.spoiled:
                raise Spoiled(name)
            self.make_body(name)
            return self.frames[f"{name}.iframe"]
        return BodyFrame(name, *HERE)

    def unknown_name(self, path: str, node: Node, where: Where) -> LiaisonError:
        """The error for a name, with the nearest known one."""
        place = self.source.at(node)
        word = path.rstrip("'")
        if node.kind == "index":
            path = word = as_written(node)
        if any(base in self.spoiled for base in bases(word)):
            return Spoiled(word)
        if word.lower() in ("nan", "inf", "infinity"):
            return TextError(
                f"{word!r} is no finite number; quantities must be finite.", place=place
            )
        if where.kind == "body":
            frames = [n for n, node in self.lets.items() if node.kind in ("on_body", "name")]
            frames = [name for name in frames if name not in self.outputs]
            known = [*EARTH, *self.bodies, *frames]
            base = word.partition(".")[0]
            return no_such("body", base, known, place, order=[*self.bodies])
        if any(base in self.joint_names - self.joints.keys() for base in bases(word)):
            message = (
                f"{path!r} is a coordinate; bodies, frames and parameters do not depend on it."
            )
            return TextError(message, place=place)
        if word in self.joints and not path.endswith("'"):
            return no_such("coordinate", path, self.joints[word].coordinates, place)
        if word.rpartition(".")[0] in self.joints or path.endswith("'"):
            return no_such("coordinate", path, self.labels, place)
        known = [*where.local, *self.symbols, *(self.lets.keys() - self.outputs), "pi"]
        error = no_such("quantity", path, known, place)
        return error if error.cure else self._with_notation(error, word)

    def _with_notation(self, error: NamingError, word: str) -> NamingError:
        """The error with how time and rates are written, where these were meant."""
        rate = re.fullmatch(r"(\w+?)(?:_?dot|_dt)|(?:d_?|der_)(\w+)", word)
        base = (rate[1] or rate[2]) if rate else ""
        if word in ("time", "T"):
            error.hint = f"The time is 't'. {error.hint}"
        elif base and base in self.labels:
            error.hint = f"The rate of {base} is {base}'. {error.hint}"
        return error

    def label(self, path: str) -> str:
        """The label of a coordinate or speed by any of its names; "" if there is none."""
        value = self.symbols.get(path) or self.aliases.get(path)
        expr = as_expr(value.value) if value else None
        label = expr.name if expr is not None and expr.op == "symbol" else ""
        return label if label in self.labels else ""


def as_written(node: Node) -> str:
    """'foot[3].x' of the node of foot[3].x."""
    if node.kind == "index":
        return f"{as_written(node.parts[0])}[{node.parts[1].parts[0]}]"
    if node.kind == "member":
        return f"{as_written(node.parts[0])}.{node.parts[1]}"
    return str(node.parts[0])


def no_such(
    kind: str,
    name: str,
    declared: Iterable[str],
    place: Place,
    *,
    order: Iterable[str] = (),
    listed: list[str] | None = None,
) -> NamingError:
    """No `kind` has the name; proposes the nearest spelling, else the one with its initial.

    Args:
        kind: what was meant.
        name: what was written.
        declared: all that would do.
        place: where it was written.
        order: names of which the first with the same initial letter is proposed.
        listed: what to show for `declared`, when it is part of the language.
    """
    known = sorted(set(declared))
    near = [n for n in known if n.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, known, n=1)
    near = near or [n for n in known if len(n) == len(name) <= 3 and n[0] == name[0]]
    near = near or [n for n in order if n[:1].lower() == name[:1].lower()]
    guess = f"; did you mean {near[0]!r}?" if near else "."
    offered = listed or [n for n in known if not n.endswith("'")]
    names = ", ".join(offered[:20]) + (", …" if len(offered) > 20 else "")
    word = "Known" if listed else "Declared"
    return NamingError(
        f"no {kind} is named {name!r}{guess}",
        place=place,
        hint=f"{word}: {names or 'none'}.",
        cure=place.replaced(name, near[0]) if near else None,
    )
