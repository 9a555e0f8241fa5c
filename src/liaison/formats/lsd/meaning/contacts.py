"""`contact … and … with KIND … end`, and `contact gap = …, slip = … end`: what touches.

`collide a, ball[*] and earth with … end`: contact among many.

Public names: CONTACTS, FRICTION, friction_of, gap_contact, collision_of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from liaison.errors import Place
from liaison.formats.lsd.formulas.formulas import ANY, Where, in_unit, path_of, scalar_of, value_of
from liaison.formats.lsd.formulas.names import Book, no_such
from liaison.formats.lsd.formulas.values import Quantity, Vector, plain, unit_of
from liaison.formats.lsd.syntax.nodes import Node, make
from liaison.model import CURVE, PROFILE, SURFACE, Collision, Contact, Friction, GapContact, Marker
from liaison.model.contacts import SHAPE_KINDS, TARGET_KINDS, ContactShape
from liaison.model.kinds import Derived, Property

from .properties import SMOOTHING, PropertyReader, Related, check_moving, friction_law_of

FRICTION: dict[str, tuple[str, str]] = {
    "friction": ("sliding", ""),
    "static": ("static", ""),
    "across": ("across", ""),
    "rolling": ("rolling", "m"),
    "static_rolling": ("static_rolling", "m"),
    "pivoting": ("pivoting", "m"),
    "static_pivoting": ("static_pivoting", "m"),
    "viscous": ("viscous", "N*s/m"),
    "viscous_rolling": ("viscous_rolling", "N*m*s/rad"),
    "viscous_pivoting": ("viscous_pivoting", "N*m*s/rad"),
    "turning_speed": ("turning_speed", "rad/s"),
}
"""Properties of friction: the field of the record, and the unit."""
_OF_FORMULAS = ("friction", "static", "across", "viscous", *SMOOTHING, "restitution")
_TURNING = ("rolling", "pivoting")
_COMMON = (*FRICTION, *SMOOTHING, "restitution")
_TOUCHED = ("outside", "inside", "along", "edge")


def friction_of(x: PropertyReader) -> Friction:
    """The friction of a statement."""
    for key, moving in (("static", "friction"), *((f"static_{x}", x) for x in _TURNING)):
        check_moving(x, key, moving)
    coefficients = {
        field: x.scalar(key, unit) for key, (field, unit) in FRICTION.items() if x.keys.get(key)
    }
    return Friction(**coefficients, **friction_law_of(x, "m/s"))


def _contact(kind: type[ContactShape]) -> Callable[[Related], Contact]:
    def read_contact(x: Related) -> Contact:
        options: dict[str, Any] = {one.key: x.property(one, one.unit) for one in kind.SIZES}
        options |= {
            key: x.property(one, one.unit)
            for key, one in _further().items()
            if x.keys.get(key) is not None
        }
        more = {key: options.pop(key) for key in list(options) if key not in Contact.__slots__}
        options |= {key: x.scalar(key, "m") for key in _TOUCHED if x.keys.get(key) is not None}
        if x.keys.get("block") is not None:
            options["block"] = tuple(x.vector("block", "m"))
        if x.keys.get("span") is not None:
            options["span"] = tuple(
                x.pair("span", ("rad", "rad"), "is the least and the greatest s")
            )
        for key, local in _LOCAL.items():
            if x.keys.get(key) is not None:
                options[key] = _formula(x, key, local)
        first, second = x.frames(turned=kind.HAS_AXIS)
        options["restitution"] = x.scalar("restitution", "", 0)
        options["friction"] = friction_of(x)
        further = tuple(more.items())
        return Contact(x.name, first, second, kind.WORD, more=further, place=x.place, **options)

    return read_contact


_LOCAL: dict[str, dict[str, tuple[Any, str]]] = {
    "surface": {"x": (SURFACE[0], "m"), "y": (SURFACE[1], "m")},
    "profile": {"angle": (PROFILE, "rad")},
    "curve": {"s": (CURVE, "rad")},
}
"""Names that formulas of surfaces have for themselves, with their units."""


def _formula(x: Related, key: str, names: dict[str, tuple[Any, str]]) -> Any:
    """h of z = h(x, y) in the second frame, ϱ(angle) about its z, or x(s) and y(s) in it."""
    local = {word: Quantity(s, unit_of(unit)[1]) for word, (s, unit) in names.items()}
    where, node = Where(f"{x.name}.{key}", "m", local=local), x.keys.need(key, x.place)
    if key != "curve":
        return plain(scalar_of(node, x.book, where, x.what(key)))
    value = value_of(node, x.book, where)
    if not isinstance(value, Vector) or len(value.items) != 2:
        raise x.error(f"{x.what(key)} has two components, x(s) and y(s).", node)
    entries = [in_unit(item, node, x.book, where, x.what(key)) for item in value.items]
    return tuple(plain(item.value) for item in entries)


def gap_contact(name: str | None, node: Node, place: Place, book: Book) -> GapContact:
    """A contact defined by formulas: its gap, and one slip or a vector of two."""
    x = PropertyReader(name or book.free_name("touch"), "contact", node.parts[-1], place, book)
    x.keys.check(("gap", "slip", *_OF_FORMULAS))
    gap, restitution = x.scalar("gap", ANY), x.scalar("restitution", "", 0)
    slips = tuple(_slips(x)) if x.keys.get("slip") is not None else ()
    return GapContact(x.name, gap, slips, friction_of(x), restitution, place=place)


def _slips(x: PropertyReader) -> list[Any]:
    node, where = x.keys.need("slip", x.place), Where(f"{x.name}.slip", ANY)
    value = value_of(node, x.book, where)
    items = value.items if isinstance(value, Vector) else (value,)
    return [plain(in_unit(item, node, x.book, where, x.what("slip")).value) for item in items]


def _row(kind: type[ContactShape]) -> tuple[Callable[[Related], Contact], tuple[str, ...]]:
    sizes = tuple(one.key for one in kind.SIZES)
    axis = ("axis",) if kind.HAS_AXIS else ()
    return _contact(kind), (*sizes, *_ANYTHING, *_further(), *axis, *_COMMON)


def _further() -> dict[str, Property]:
    """Sizes of targets whose files came later."""
    keys = {one.key: one for kind in TARGET_KINDS for one in kind.KEYS}
    return {key: one for key, one in keys.items() if key not in _ANYTHING}


_ANYTHING = (*_TOUCHED, "block", "span", *_LOCAL)
CONTACTS: Mapping[str, tuple[Callable[[Related], Contact], tuple[str, ...]]] = Derived(
    lambda: {kind.WORD: _row(kind) for kind in SHAPE_KINDS}, SHAPE_KINDS, TARGET_KINDS
)
"""Word behind `contact … and … with` -> how it is read, and its properties."""


ALL = "all"
"""The word that stands for every body, unless something is named so."""
KEYS = (*(x for x in FRICTION if x != "across"), *SMOOTHING, "restitution", "terrain")


def collision_of(name: str | None, node: Node, place: Place, book: Book) -> Collision:
    """The contacts among the bodies and planes that a statement names."""
    groups = [part for part in node.parts if isinstance(part, Node) and part.kind == "group"]
    pairs = node.parts[-1] if node.parts[-1].kind == "pairs" else make("pairs", [])
    x = _Colliding(name or book.free_name("collision"), "collide", pairs, place, book)
    x.keys.check(KEYS)
    parts, others = (*(x.group(part) for part in groups), ())[:2]
    e = x.scalar("restitution", "", 0)
    terrain = None
    if x.keys.get("terrain") is not None:
        terrain = x.property(_further()["terrain"], "m")
    return Collision(x.name, parts, others, friction_of(x), e, place=place, terrain=terrain)


class _Colliding(PropertyReader):
    """A statement `collide`."""

    ON_FRAMES = "names bodies and frames on the ground, not"

    def group(self, node: Node) -> tuple[Marker, ...]:
        """Bodies and planes, families of bodies opened."""
        return tuple(marker for part in node.parts for marker in self.item(part))

    def item(self, node: Node) -> list[Marker]:
        """What one word of a group stands for."""
        place = self.book.source.at(node)
        if node.kind == "family":
            return [Marker(x, place=place) for x in self.family(str(node.parts[0]), place)]
        path = path_of(node) or ""
        known = (self.book.bodies, self.book.lets, self.book.frames)
        if path == ALL and not any(path in names for names in known):
            return [Marker(x, place=place) for x in self.book.bodies]
        marker = self.frame(node)
        if marker.body == "ground" and not marker.name and path in self.book.lets:
            marker = replace(marker, name=path)
        return [marker]

    def family(self, base: str, place: Place) -> list[str]:
        """The bodies whose name is this one with a number behind it."""
        form = re.compile(rf"{re.escape(base)}(\d+)")
        members = [x for x in self.book.bodies if form.fullmatch(x)]
        if not members:
            bases = {x.rstrip("0123456789") for x in self.book.bodies if x[-1:].isdigit()}
            raise no_such("family of bodies", base, bases, place)
        return members
