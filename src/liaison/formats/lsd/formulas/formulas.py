"""Nodes -> values: arithmetic, functions, vectors, turns, frames; exact, and never executed.

`value_of` walks a node (bounded depth) and asks `Names` for whatever a name stands for.

Public names: Names, Where, value_of, scalar_of, vector_of, path_of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol, final

from liaison.errors import NamingError, Place, TextError
from liaison.formats.lsd.syntax.nodes import Node, Source
from liaison.formats.lsd.syntax.tokens import text_in
from liaison.formats.poses import as_pose, joined, matrices_of
from liaison.spatial import Array, is_zero
from liaison.units import ANGLE

from .functions import FUNCTIONS, VECTOR_FUNCTIONS, WORDS, applied, worded
from .values import (
    PURE,
    BodyFrame,
    Pose,
    Quantity,
    Turn,
    Turned,
    Unfit,
    Value,
    Vector,
    Word,
    added,
    cycles_in,
    divided,
    kind_of,
    literal,
    multiplied,
    plain,
    raised,
    same,
    spelled,
    two_term_error,
    unit_of,
    with_unit,
)

AXES = ("x", "y", "z")
MAX_ENTRIES = 10_000  # of a vector of vectors
ANY = "any"  # as an expected unit: nothing is expected


@final
@dataclass(frozen=True, slots=True)
class Where:
    """The place of a formula in the description: it names unknowns and holds local names."""

    path: str
    unit: str = ""  # what is expected here, for unknowns
    kind: str = "quantity"  # or "body": what an unknown name was meant to be
    local: Mapping[str, Value] = field(default_factory=dict)
    si: bool = False  # every quantity counts as its number in SI

    def of(self, part: str) -> Where:
        """The place of a component."""
        return Where(f"{self.path}.{part}", self.unit, self.kind, self.local, self.si)

    def anything(self) -> Where:
        """The same place where no unit is expected any more."""
        return Where(self.path, "", self.kind, self.local, self.si) if self.unit else self


class Names(Protocol):
    """What a formula may ask of the description around it."""

    source: Source

    def find(self, path: str, node: Node, where: Where) -> Value:
        """What a dotted name stands for; rejects unknown ones."""

    def knows(self, path: str, where: Where) -> bool:
        """Whether a dotted name stands for something."""

    def unknown(self, where: Where, arguments: list[Value] | None, node: Node) -> Quantity:
        """A new unknown scalar, or a new unknown function of the arguments."""

    def shape(self, name: str, values: list[Value], named: dict[str, Value], node: Node) -> Value:
        """A shape, or None if no shape has the name."""

    def placed(self, shape: Value, R: Array, p: Array) -> Value:
        """A shape moved on its body."""

    def functions(self) -> tuple[str, ...]:
        """Names of what `shape` knows, for proposals."""


def value_of(node: Node, names: Names, where: Where) -> Value:
    """What a formula is worth.

    Raises:
        TextError: with the place of the smallest part that does not make sense.
    """
    rule = _RULES.get(node.kind)
    if rule is None:
        message = f"'{node.kind}' makes a part of a mechanism; it has no value in a formula."
        raise names.source.error(message, node)
    try:
        value = rule(node, names, where)
        if where.si and isinstance(value, Quantity):
            return Quantity(value.value, PURE, bare=True)
        return value
    except Unfit as error:
        raise names.source.error(str(error), node) from None


def path_of(node: Node) -> str | None:
    """'A.x' of the node of A.x, 'foot3' of foot[3], None of anything else."""
    if node.kind == "name":
        return str(node.parts[0])
    base = path_of(node.parts[0]) if node.kind in ("member", "index") else None
    if base is None:
        return None
    if node.kind == "member":
        return f"{base}.{node.parts[1]}"
    number = node.parts[1]
    if number.kind != "number" or len(number.parts) > 1 or not number.parts[0].isdigit():
        return None
    # a second index is distinguished from the first
    return (
        f"{base}_{number.parts[0]}" if node.parts[0].kind == "index" else f"{base}{number.parts[0]}"
    )


# ---- one rule for each kind of node


def _number(node: Node, names: Names, where: Where) -> Value:
    return literal(node, node, names.source)


def _name(node: Node, names: Names, where: Where) -> Value:
    return names.find(str(path_of(node)), node, where)


def _member(node: Node, names: Names, where: Where) -> Value:
    path = path_of(node)
    if path is not None:
        return names.find(path, node, where)
    base, part = value_of(node.parts[0], names, where), str(node.parts[1])
    return component(base, part)


def _index(node: Node, names: Names, where: Where) -> Value:
    """A name with a number, or an item of a vector."""
    path = path_of(node)
    if path is not None and names.knows(path, where):
        return names.find(path, node, where)
    base = path_of(node.parts[0])
    if path is not None and base is not None and not names.knows(base, where):
        names.find(path, node, where)  # rejects it by its name with the number
    items = value_of(node.parts[0], names, where)
    number = value_of(node.parts[1], names, where.anything())
    if not isinstance(items, Vector):
        raise Unfit(f"{kind_of(items)} has no items; vectors have.")
    k = number.value if isinstance(number, Quantity) else None
    if not isinstance(k, Fraction) or k.denominator != 1 or not 1 <= k <= len(items.items):
        raise Unfit(f"an item of this vector has a number from 1 to {len(items.items)}.")
    return items.items[k.numerator - 1]


def component(value: Value, part: str) -> Value:
    """The x, y or z of a vector."""
    if isinstance(value, Vector) and part in AXES and len(value.items) == 3:
        return value.items[AXES.index(part)]
    raise Unfit(f"{kind_of(value)} has no part {part!r}; vectors have x, y and z.")


def _prime(node: Node, names: Names, where: Where) -> Value:
    path = path_of(node.parts[0])
    if path is None and node.parts[0].kind == "prime":
        raise Unfit(
            "a formula holds coordinates and their rates, one prime; accelerations follow from "
            "the equations of motion."
        )
    if path is None:
        raise Unfit(
            "only a coordinate has a rate: write the prime after its name, and a blank before a "
            "name that is also a unit."
        )
    return names.find(path + "'", node, where)


def _group(node: Node, names: Names, where: Where) -> Value:
    return with_unit(value_of(node.parts[0], names, where), node, names.source)


def _vector(node: Node, names: Names, where: Where) -> Value:
    parts = [part for part in node.parts if isinstance(part, Node)]
    letters = AXES if len(parts) == 3 else tuple(str(i + 1) for i in range(len(parts)))
    items = tuple(
        literal(p, node, names.source)
        if p.kind == "number" and len(p.parts) == 1
        else value_of(p, names, where.of(x))
        for p, x in zip(parts, letters, strict=True)
    )
    for part, item in zip(parts, items, strict=True):
        if not isinstance(item, Quantity | Vector):
            raise names.source.error(f"a vector holds numbers, not {kind_of(item)}.", part)
    if entries(Vector(items)) > MAX_ENTRIES:
        message = f"this vector has more than {MAX_ENTRIES} entries in all."
        raise names.source.error(message, node)
    return with_unit(Vector(items), node, names.source)


def entries(value: Quantity | Vector) -> int:
    """How many numbers a vector of vectors holds."""
    return sum(entries(x) for x in value.items) if isinstance(value, Vector) else 1


def _negative(node: Node, names: Names, where: Where) -> Value:
    minus_one = Quantity(Fraction(-1), PURE, bare=True)
    return multiplied(minus_one, value_of(node.parts[1], names, where))


def _positive(node: Node, names: Names, where: Where) -> Value:
    return value_of(node.parts[1], names, where)


def _sum(node: Node, names: Names, where: Where) -> Value:
    total = value_of(node.parts[0], names, where)
    for sign, part in zip(node.parts[1::2], node.parts[2::2], strict=True):
        term = value_of(part, names, where)
        try:
            total = added(total, term, 1 if sign == "+" else -1)
        except Unfit as error:
            raise two_term_error(str(error), node.parts[0], total, part, names.source) from None
    return total


def _product(node: Node, names: Names, where: Where) -> Value:
    where = where.anything()
    total = value_of(node.parts[0], names, where)
    for operator, part in zip(node.parts[1::2], node.parts[2::2], strict=True):
        combine = multiplied if operator == "*" else divided
        total = combine(total, value_of(part, names, where))
    return total


def _power(node: Node, names: Names, where: Where) -> Value:
    base, exponent = (value_of(part, names, where.anything()) for part in node.parts)
    return raised(base, exponent)


def _unknown(node: Node, names: Names, where: Where) -> Value:
    kind, arguments = str(node.parts[1]), node.parts[2:]
    if kind not in ("s", "fs"):
        raise Unfit(f"'?{kind}' is no unknown; '?s' is a scalar and '?fs(…)' a function.")
    if kind == "s":
        return names.unknown(where, None, node)
    return names.unknown(where, [value_of(a, names, where.anything()) for a in arguments], node)


def _string(node: Node, names: Names, where: Where) -> Value:
    return Word(text_in(node.parts[0]))


def _rotation(node: Node, names: Names, where: Where) -> Value:
    angle, axis = (value_of(part, names, where.anything()) for part in node.parts)
    if not isinstance(angle, Quantity):
        raise Unfit(f"an angle is expected before '||', not {kind_of(angle)}.")
    if not same(angle.dimension, ANGLE):
        raise Unfit(f"an angle is expected before '||', not {spelled(angle.dimension)}.")
    _check_axis(axis, node, names)
    return Turn(angle, axis)


def _check_axis(axis: Value, node: Node, names: Names) -> None:
    place = names.source.at(node.parts[1])
    if not isinstance(axis, Vector) or len(axis.items) != 3:
        raise TextError("an axis of three numbers is expected after '||'.", place=place)
    if all(isinstance(a, Quantity) and is_zero(a.value) for a in axis.items):
        raise TextError(
            "the axis of a rotation is zero; it has no direction.",
            place=place,
            hint="Give a vector along the axis, such as [0,0,1].",
        )
    check_one_unit(axis, place)


def check_one_unit(axis: Value, place: Place) -> None:
    """Raises an error for a direction whose components have different units."""
    items = axis.items if isinstance(axis, Vector) else ()
    known = [x for x in items if isinstance(x, Quantity) and not x.bare and not is_zero(x.value)]
    if len({x.dimension for x in known} - {None}) > 1:
        raise TextError(
            "the components of this axis have different units; it has no direction.",
            place=place,
            hint="Give numbers without units, such as [0,0,1].",
        )


def _sequence(node: Node, names: Names, where: Where) -> Value:
    motions: list[Vector | Turn | Turned] = []
    for part in node.parts:
        motions += as_pose(value_of(part, names, where)).motions
    return Pose(tuple(motions))


def _on_body(node: Node, names: Names, where: Where) -> Value:
    pose, base = node.parts
    here = Where(where.path, "m", "quantity", where.local, where.si)
    motions = as_pose(value_of(pose, names, here))
    R, p = matrices_of(motions, names, pose)
    carrier = value_of(base, names, Where(where.path, where.unit, "body", where.local, where.si))
    if isinstance(carrier, BodyFrame):
        steps = (*(carrier.steps or ((carrier.R, carrier.p),)), *motions.motions)
        return BodyFrame(carrier.body, *joined(carrier.R, carrier.p, R, p), steps=steps)
    if isinstance(carrier, Quantity | Vector | Turn | Pose | Word):
        raise names.source.error(
            f"a body, a frame or a shape is expected after '@', not {kind_of(carrier)}.", base
        )
    return names.placed(carrier, R, p)


# ---- what a key expects


def scalar_of(node: Node, names: Names, where: Where, what: str) -> Any:
    """A number (exact or a formula) of the dimension of `where.unit`.

    Raises:
        TextError: if the value is no number or of another dimension; `what` names the key.
    """
    return in_unit(value_of(node, names, where), node, names, where, what).value


def in_unit(value: Value, node: Node, names: Names, where: Where, what: str) -> Quantity:
    """The value, if it is a number of the dimension of `where.unit`."""
    if not isinstance(value, Quantity):
        message = f"{what} must be a number, not {kind_of(value)}."
        raise names.source.error(message, node)
    dimension = None if where.unit == ANY else unit_of(where.unit)[1]
    if not value.bare and not same(value.dimension, dimension):
        raise names.source.error(
            f"{what} must be {spelled(dimension)}, not {spelled(value.dimension)}.",
            node,
            hint=f"Write a number alone for SI, or with a unit such as '{where.unit}'."
            if where.unit and not cycles_in(value)
            else "",
        )
    return value


def vector_of(node: Node, names: Names, where: Where, what: str) -> list[Any]:
    """Three numbers of the dimension of `where.unit`; a single 0 is the null vector."""
    value = value_of(node, names, where)
    if isinstance(value, Quantity) and is_zero(value.value):
        return [0, 0, 0]
    if not isinstance(value, Vector) or len(value.items) != 3:
        actual = f"{len(value.items)}" if isinstance(value, Vector) else kind_of(value)
        raise names.source.error(f"{what} has three components, not {actual}.", node)
    return [plain(in_unit(q, node, names, where, what).value) for q in value.items]


# ---- calls


def _call(node: Node, names: Names, where: Where) -> Value:
    name = str(node.parts[0])
    if name == "si":
        where = replace(where.anything(), si=True)
    values, named = [], {}
    for part in node.parts[1:]:
        if part.kind == "named":
            named[str(part.parts[0])] = value_of(part.parts[1], names, where.anything())
        else:
            values.append(value_of(part, names, where.anything()))
    shape = names.shape(name, values, named, node)
    if shape is not None:
        return shape
    if name in WORDS:
        return worded(name, values, named)
    known = [*FUNCTIONS, *VECTOR_FUNCTIONS, *WORDS, *names.functions()]
    if name not in known:
        raise NamingError.unknown("function", name, known, place=names.source.at(node))
    return applied(name, values, named)


_RULES: dict[str, Callable[[Node, Names, Where], Value]] = {
    "number": _number,
    "name": _name,
    "member": _member,
    "index": _index,
    "prime": _prime,
    "group": _group,
    "vector": _vector,
    "negative": _negative,
    "positive": _positive,
    "sum": _sum,
    "product": _product,
    "power": _power,
    "unknown": _unknown,
    "string": _string,
    "rotation": _rotation,
    "sequence": _sequence,
    "on_body": _on_body,
    "call": _call,
}
