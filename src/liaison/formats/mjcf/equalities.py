"""Equalities of MJCF: joints that close loops, and relations between coordinates or tendons.

What MuJoCo holds by springs of its solver is held exactly here.

Public names: equalities.

Source: MuJoCo's XML reference, section equality.
"""

from __future__ import annotations

from typing import Any

import liaison.model as model
from liaison.errors import NamingError, TextError
from liaison.expr import as_expr, symbol
from liaison.formats.urdf.xml import Element, numbers_in
from liaison.spatial import array, compose, identity
from liaison.spatial.plucker import inverse

from .parts import Parts, marker_at
from .poses import described
from .tendons import Tendon
from .values import is_true


def equalities(root: Element, parts: Parts, tendons: dict[str, Tendon]) -> None:
    """Adds relations and joints that close loops to the parts."""
    for element in (x for group in root.all("equality") for x in group.children):
        if element.tag not in _KINDS or "equality" in parts.settings.disabled:
            continue
        filled = parts.settings.filled(element, "main", "equality")
        parts.fields.check(filled, f"equality {element.tag}")
        if not is_true(filled, "active", "true"):
            parts.notes.append(f"{element} is not active (line {element.place.line})")
        else:
            _KINDS[element.tag](filled, parts, tendons)


def _loop(element: Element, parts: Parts, tendons: dict[str, Tendon]) -> None:
    """connect: a ball at a point of the first body; weld: as they are described, or relpose."""
    count = len(parts.loops) + 1
    name = parts.free(
        element.attributes.get("name") or f"{element.tag} {count}",
        [*parts.joints, *(x.name for x in parts.loops)],
    )
    kind = model.Spherical() if element.tag == "connect" else model.Fixed()
    between = _sites if "site1" in element.attributes else _bodies
    parts.loops.append(model.Joint(name, kind, *between(element, parts), place=element.place))


def _sites(element: Element, parts: Parts) -> tuple[model.Marker, model.Marker]:
    """Two sites that are held together, wherever they are described."""
    first, second = parts.site(element, "site1"), parts.site(element, "site2")
    if first.body == second.body:
        message = f"both sites of {element} are on body {first.body!r}."
        raise TextError(message, place=element.place)
    return first, second


def _bodies(element: Element, parts: Parts) -> tuple[model.Marker, model.Marker]:
    """Two bodies that are held as they are described."""
    first = parts.body(element, "body1")
    second = parts.body(element, "body2") if "body2" in element.attributes else "ground"
    between = compose(*inverse(*parts.home[second]), *parts.home[first])
    if element.tag == "connect":
        p = array(numbers_in(element, "anchor", 3, ""))
        q = compose(*between, identity(), p)[1]
        return marker_at(first, identity(), p), marker_at(second, identity(), q)
    pose = numbers_in(element, "relpose", 7, "0 1 0 0 0 0 0")
    if any(pose[3:]):  # of the second body, expressed in the first
        X = parts.settings.by_quaternion(pose[3:]), array(pose[:3])
        return marker_at(first, *X), model.Marker(second)
    return model.Marker(first), marker_at(second, *between)


def _polynomial(element: Element, x: Any) -> tuple[list[Any], Any]:
    """The coefficients of `polycoef`, and their polynomial."""
    words = element.attributes.get("polycoef", "0 1 0 0 0").split()
    if len(words) > 5:
        message = f"'polycoef' of {element} has {len(words)} numbers; it takes at most 5."
        raise TextError(message, place=element.place)
    c = numbers_in(element, "polycoef", len(words), "0 1 0 0 0")
    total: Any = 0
    for coefficient in reversed(c):
        total = total * x + coefficient
    return c, total


def _tie(element: Element, parts: Parts, tendons: dict[str, Tendon]) -> None:
    """joint1 as a polynomial of joint2."""
    first = parts.coordinate(element, "joint1")
    name = element.attributes.get("name") or f"joint equality {len(parts.constraints) + 1}"
    place = element.place
    if "joint2" not in element.attributes:
        c, _ = _polynomial(element, 0)
        parts.constraints.append(model.PrescribedMotion(name, first, c[0], place=place))
        return
    second = parts.coordinate(element, "joint2")
    c, total = _polynomial(element, symbol(second))
    if not any(c[2:]) and len(c) > 1 and c[1]:
        relation: model.Constraint = model.Coupling(name, first, c[1], second, c[0], place=place)
    else:
        relation = model.Holonomic(name, symbol(first) - total, place=place)
    parts.constraints.append(relation)


def _tendons(element: Element, parts: Parts, tendons: dict[str, Tendon]) -> None:
    """tendon1 as a polynomial of tendon2, both less their lengths as described."""
    values = described(parts)

    def stretch(key: str) -> Any:
        name = element.get(key)
        if name not in tendons:
            raise NamingError.unknown("tendon", name, tendons, place=element.place)
        return tendons[name].length - tendons[name].at(values)

    other: Any = stretch("tendon2") if "tendon2" in element.attributes else 0
    _, total = _polynomial(element, other)
    name = element.attributes.get("name") or f"tendon equality {len(parts.constraints) + 1}"
    formula = as_expr(stretch("tendon1") - total)
    parts.constraints.append(model.Holonomic(name, formula, place=element.place))


_KINDS: dict[str, Any] = {"connect": _loop, "weld": _loop, "joint": _tie, "tendon": _tendons}
