"""Tendons of MJCF: fixed ones are sums of coordinates, spatial ones cables through sites.

Public names: Tendon, tendons.

Source: MuJoCo's XML reference, section tendon.
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

from .parts import Parts
from .poses import Poses, described
from .values import number


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
    for child in element.children:
        if child.tag == "joint":
            label = parts.coordinate(child, "joint")
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
    return model.Cable(tuple(terms), offset)


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
    if number(element, "frictionloss", "0") and "frictionloss" not in off:
        parts.fields.drop(f"'frictionloss' of the tendon {name!r} is not read", element)
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
    said = element.attributes.get("limited", "auto")
    if "range" not in element.attributes or said == "false":
        return
    low, high = numbers_in(element, "range", 2, "")
    if low >= high or "limit" in parts.settings.disabled:
        return
    parts.fields.count("'range' of a tendon")
