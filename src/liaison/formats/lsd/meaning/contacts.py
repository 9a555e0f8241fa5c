"""`contact … and … with KIND … end`, and `contact gap = …, slip = … end`: what touches.

Public names: CONTACTS, FRICTION, friction_told, law_told, gap_contact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from liaison.errors import Place
from liaison.formats.lsd.formulas.formulas import ANY, Where, in_unit, scalar_of, value_of
from liaison.formats.lsd.formulas.names import Book
from liaison.formats.lsd.formulas.units import unit_of
from liaison.formats.lsd.formulas.values import Quantity, Vector, plain
from liaison.formats.lsd.syntax.nodes import Node
from liaison.model import CURVE, PROFILE, SURFACE, Contact, Friction, GapContact
from liaison.model.contact_geometry import SIZES

from .properties import Told
from .related import Related

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
SMOOTHING = ("stribeck", "regularized")
"""Laws of friction other than Coulomb's; the property's value is their speed."""
_OF_FORMULAS = ("friction", "static", "across", "viscous", *SMOOTHING, "restitution")
_COMMON = (*FRICTION, *SMOOTHING, "restitution")
_TOUCHED = ("outside", "inside", "along", "edge")


def friction_told(x: Told) -> Friction:
    """The friction of a statement."""
    given = {
        field: x.scalar(key, unit) for key, (field, unit) in FRICTION.items() if x.keys.get(key)
    }
    return Friction(**given, **law_told(x, "m/s"))


def law_told(x: Told, unit: str) -> dict[str, Any]:
    """The law and its speed, of a statement that says so."""
    laws = [word for word in SMOOTHING if x.keys.get(word) is not None]
    if len(laws) > 1:
        said = f"{x.kind} {x.name!r} has one law of friction, {laws[0]!r} or {laws[1]!r}."
        raise x.refused(said, x.keys.get(laws[1]))
    return {"law": laws[0], "speed": x.scalar(laws[0], unit)} if laws else {}


def _contact(kind: str, sizes: tuple[str, ...]) -> Callable[[Related], Contact]:
    def made(x: Related) -> Contact:
        given: dict[str, Any] = {key: x.scalar(key, "m") for key in sizes if key != "size"}
        if "size" in sizes:
            given["size"] = tuple(x.vector("size", "m"))
        given |= {key: x.scalar(key, "m") for key in _TOUCHED if x.keys.get(key) is not None}
        if x.keys.get("block") is not None:
            given["block"] = tuple(x.vector("block", "m"))
        if x.keys.get("span") is not None:
            given["span"] = tuple(x.pair("span", "rad", "is the least and the greatest s"))
        for key, local in _LOCAL.items():
            if x.keys.get(key) is not None:
                given[key] = _formula(x, key, local)
        first, second = x.frames(turned=kind in _ROUND)
        given["restitution"] = x.scalar("restitution", "", 0)
        given["friction"] = friction_told(x)
        return Contact(x.name, first, second, kind, place=x.place, **given)

    return made


_ROUND = ("disc", "cylinder", "capsule")
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
        raise x.refused(f"{x.what(key)} has two components, x(s) and y(s).", node)
    told = [in_unit(item, node, x.book, where, x.what(key)) for item in value.items]
    return tuple(plain(item.value) for item in told)


def gap_contact(name: str | None, node: Node, place: Place, book: Book) -> GapContact:
    """A contact told by formulas: its gap, and one slip or a vector of two."""
    x = Told(name or book.free_name("touch"), "contact", node.parts[-1], place, book)
    x.keys.check(("gap", "slip", *_OF_FORMULAS))
    gap, restitution = x.scalar("gap", ANY), x.scalar("restitution", "", 0)
    slips = tuple(_slips(x)) if x.keys.get("slip") is not None else ()
    return GapContact(x.name, gap, slips, friction_told(x), restitution, place=place)


def _slips(x: Told) -> list[Any]:
    node, where = x.keys.need("slip", x.place), Where(f"{x.name}.slip", ANY)
    value = value_of(node, x.book, where)
    items = value.items if isinstance(value, Vector) else (value,)
    return [plain(in_unit(item, node, x.book, where, x.what("slip")).value) for item in items]


def _row(
    kind: str, *sizes: str, more: tuple[str, ...] = ()
) -> tuple[Callable[[Related], Contact], tuple[str, ...]]:
    return _contact(kind, sizes), (*sizes, *more, *_COMMON)


_ANYTHING = (*_TOUCHED, "block", "span", *_LOCAL)
CONTACTS: dict[str, tuple[Callable[[Related], Contact], tuple[str, ...]]] = {
    kind: _row(kind, *sizes, more=_ANYTHING + (("axis",) if kind in _ROUND else ()))
    for kind, sizes in SIZES.items()
}
