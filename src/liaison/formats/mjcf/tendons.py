"""Tendons and equalities of MJCF: what relates coordinates, and joints that close loops.

Fixed tendons are sums of coordinates, spatial ones cables through sites. What MuJoCo holds by
springs of its solver, equalities and ranges, is held exactly here.

Public names: Tendon, tendons, equalities.

Source: MUJOCO XML reference, sections tendon and equality.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import liaison.model as model
from liaison.errors import ModelError, NamingError, TextError
from liaison.expr import Expr, as_expr, sqrt, symbol
from liaison.formats.lsd.formulas.values import plain
from liaison.formats.urdf.xml import Element, number_in, numbers_in
from liaison.model.values import floats
from liaison.spatial import array, compose, identity
from liaison.spatial.plucker import inverse

from .parts import Parts, marker_at
from .poses import Poses, described
from .values import is_true, number, stated_limit

PROPORTIONAL = (0, 1, 0, 0, 0)
"""`polycoef`, as far as an equality does not give it."""
CREEP = Fraction(1, 1000)
"""Speed [m/s] below which the dry friction of a tendon creeps."""


@final
@dataclass(frozen=True)
class Tendon:
    """One tendon: what it acts along, and its length in MuJoCo's count less ours."""

    name: str
    element: Element
    measure: model.Cable
    parts: Parts
    is_fixed: bool

    @cached_property
    def length(self) -> Expr:
        """Its length as a formula of coordinates."""
        total, poses = as_expr(self.measure.offset), Poses(self.parts)
        for factor, measure in self.measure.terms:
            if isinstance(measure, model.Coordinate):
                total = total + factor * symbol(measure.label)
            else:
                d = poses.at(measure.a)[1] - poses.at(measure.b)[1]
                total = total + factor * sqrt(as_expr(sum(x * x for x in d)))
        return as_expr(total)

    @cached_property
    def rate(self) -> Expr:
        """The rate of its length as a formula."""
        total, poses = as_expr(0), Poses(self.parts)
        for factor, measure in self.measure.terms:
            if isinstance(measure, model.Coordinate):
                total = total + factor * symbol(f"{measure.label}'")
            else:
                d = poses.at(measure.a)[1] - poses.at(measure.b)[1]
                far = sqrt(as_expr(sum(x * x for x in d)))
                (rate,) = poses.rates([far], measure.a.body, measure.b.body)
                total = total + factor * rate
        return as_expr(total)

    def at(self, values: dict[str, float]) -> float:
        """Its length at a configuration."""
        total, poses = float(floats(self.measure.offset, {})), Poses(self.parts, values)
        for factor, measure in self.measure.terms:
            if isinstance(measure, model.Coordinate):
                length = values[measure.label]
            else:
                d = floats(poses.at(measure.a)[1], {}) - floats(poses.at(measure.b)[1], {})
                length = float((d @ d) ** 0.5)
            total += float(floats(factor, {})) * length
        return total


def tendons(root: Element, parts: Parts) -> dict[str, Tendon]:
    """The tendons of a file by name; what acts in them is added to the parts."""
    listed: dict[str, Tendon] = {}
    for element in (x for group in root.all("tendon") for x in group.children):
        filled = parts.settings.filled(element, "main", "tendon")
        parts.fields.check(filled)
        name = element.attributes.get("name") or f"tendon {len(listed) + 1}"
        if name in listed:
            raise NamingError.double("tendons", name, place=element.place)
        make = _fixed if element.tag == "fixed" else _spatial
        cable = make(filled, parts)
        if cable is None:
            continue
        listed[name] = Tendon(name, filled, cable, parts, element.tag == "fixed")
        _acting(listed[name], parts)
    return listed


def _fixed(element: Element, parts: Parts) -> model.Cable | None:
    """Σ coefficient · coordinate; MuJoCo's coordinates count from `ref`."""
    terms, offset = [], 0
    names = [x.attributes.get("joint") for x in element.all("joint")]
    for child in element.children:
        if child.tag == "joint":
            label = parts.coordinate(child, "joint")
            if names.count(child.get("joint")) > 1:
                message = (
                    f"joint {child.get('joint')!r} is in {element} twice; add its coefficients."
                )
                raise TextError(message, place=child.place)
            factor = plain(number_in(child, "coef"))
            terms.append((factor, model.Coordinate(label)))
            offset = offset + factor * parts.references.get(child.get("joint"), 0)
    if not terms:
        raise ModelError(f"{element} has no joint.", place=element.place)
    return model.Cable(tuple(terms), offset)


def _spatial(element: Element, parts: Parts) -> model.Cable | None:
    """Distances of sites one after another; behind a pulley each counts by its share."""
    terms: list[tuple[Any, model.Distance]] = []
    offset: Any = 0
    share, last = Fraction(1), None
    for child in element.children:
        if child.tag == "geom":
            parts.fields.drop(f"{element} wraps around a geom, which is not read", child)
            return None
        if child.tag == "pulley":
            divisor = number_in(child, "divisor")
            if divisor <= 0:
                message = (
                    f"'divisor' of the pulley of {element} is {float(divisor):g}, not positive."
                )
                raise TextError(message, place=child.place)
            share, last = 1 / divisor, None
            continue
        site = parts.site(child, "site")
        if last is not None and last.body == site.body:
            d = floats(last.p, {}) - floats(site.p, {})
            offset = offset + float(share) * float((d @ d) ** 0.5)
        elif last is not None:
            terms.append((plain(share), model.Distance(last, site)))
        last = site
    if not terms:
        raise ModelError(f"{element} has no two sites on two bodies.", place=element.place)
    _check_path(element)
    return model.Cable(tuple(terms), offset)


def _check_path(element: Element) -> None:
    """Rejects a path with a site alone or twice, or a pulley with nothing behind it."""
    steps = [x for x in element.children if x.tag in ("site", "geom", "pulley")]
    tags = ["pulley", *(x.tag for x in steps), "pulley"]
    for k, step in enumerate(steps):
        before, after = tags[k], tags[k + 2]
        message = ""
        if step.tag == "pulley" and after == "pulley":
            message = f"a pulley of {element} has nothing behind it."
        elif step.tag == "site" and before == after == "pulley":
            message = f"the site {step.get('site')!r} of {element} has no neighbor."
        elif step.tag == before == "site" and step.get("site") == steps[k - 1].get("site"):
            message = f"the site {step.get('site')!r} of {element} follows itself."
        if message:
            raise TextError(message, place=step.place)


def _acting(tendon: Tendon, parts: Parts) -> None:
    """Spring, damper, armature and limits of a tendon."""
    element, off = tendon.element, parts.settings.disabled
    parts.check_not_negative(element, "armature", "frictionloss", "damping", "stiffness")
    name, place = tendon.name, element.place
    stiffness = 0 if "spring" in off else parts.linear(element, "stiffness")
    if stiffness:
        low, high = _rest(tendon, parts)
        spring: model.Force = model.Spring(
            f"spring of {name}", tendon.measure, stiffness, low, place
        )
        if low != high:
            spring = model.DeadZoneSpring(
                f"spring of {name}", tendon.measure, stiffness, low, high, place
            )
        parts.forces.append(spring)
    damping = 0 if "damper" in off else parts.linear(element, "damping")
    if damping:
        parts.forces.append(model.Damper(f"damper of {name}", tendon.measure, damping, place))
    inertia = number(element, "armature", "0")
    if inertia:
        parts.armature = parts.armature + inertia * Fraction(1, 2) * tendon.rate * tendon.rate
    dry = 0 if "frictionloss" in off else number(element, "frictionloss", "0")
    if dry:
        lost = dry * sqrt(tendon.rate * tendon.rate + CREEP * CREEP)
        parts.forces.append(model.Dissipation(f"friction of {name}", lost, place=place))
    _limited(tendon, parts)


def _rest(tendon: Tendon, parts: Parts) -> tuple[Any, Any]:
    """Where its spring is slack; from the configuration of springs where it does not say."""
    words = tendon.element.attributes.get("springlength", "-1 -1").split()
    values = [plain(x) for x in numbers_in(tendon.element, "springlength", len(words), "-1 -1")]
    if len(values) not in (1, 2):
        message = f"'springlength' of {tendon.element} has {len(values)} numbers; it takes 1 or 2."
        raise TextError(message, place=tendon.element.place)
    low, high = values[0], values[-1]
    if low == high == -1:
        rest = tendon.at(described(parts, of_springs=True))
        return rest, rest
    if low > high:
        message = f"'springlength' of {tendon.element} ends below its begin."
        raise TextError(message, place=tendon.element.place)
    return low, high


def _limited(tendon: Tendon, parts: Parts) -> None:
    """`range` of a tendon, as unilateral relations."""
    element = tendon.element
    stated = stated_limit(element)
    if "range" not in element.attributes or stated == "false":
        return
    if stated == "auto" and not parts.settings.has_auto_limits:
        message = f"{element} has a 'range', but does not say whether it is limited."
        raise TextError(message, place=element.place, hint="Set limited='true' or 'false'.")
    low, high = numbers_in(element, "range", 2, "")
    if low > high:
        message = f"'range' of {element} ends at {float(high):g}, below its begin."
        raise TextError(message, place=element.place)
    if low == high or not parts.has_limits:
        return
    for side, end, sign in (("lower", low, -1), ("upper", high, 1)):
        formula = (tendon.length - end) * sign
        stop = model.Unilateral(f"{tendon.name} {side} stop", formula, place=element.place)
        parts.contacts.append(stop)


# ---- equalities


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
    both = [x for x in ("body1", "body2", "anchor", "relpose") if x in element.attributes]
    if between is _sites and both:
        message = f"{element} has both 'site1' and {both[0]!r}; it takes sites or bodies."
        raise TextError(message, place=element.place)
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
    if any(pose[3:]):  # of the second body's axes at its anchor, expressed in the first
        X = parts.settings.by_quaternion(pose[3:]), array(pose[:3])
        p = array(numbers_in(element, "anchor", 3, "0 0 0"))
        return marker_at(first, *X), marker_at(second, identity(), p)
    return model.Marker(first), marker_at(second, *between)


def _polynomial(element: Element, x: Any) -> tuple[list[Any], Any]:
    """The coefficients of `polycoef`, and their polynomial; the first ones may be given alone."""
    words = element.attributes.get("polycoef", "").split()
    if len(words) > 5:
        message = f"'polycoef' of {element} has {len(words)} numbers; it takes at most 5."
        raise TextError(message, place=element.place)
    numbers = numbers_in(element, "polycoef", len(words), "")
    c = [*numbers, *PROPORTIONAL[len(words) :]]
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
