"""Loads, relations and the small statements as LSD text.

Public names: Acts.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import liaison.model as model
from liaison.errors import LiaisonError
from liaison.expr import Expr, as_expr, substitute, symbol, symbols_of
from liaison.formats.lsd.formulas.units import si_unit, unit_of
from liaison.formats.lsd.meaning.contacts import FRICTION
from liaison.formats.lsd.meaning.forces import LOADS
from liaison.formats.lsd.meaning.statements import DIRECTIONS
from liaison.model.contact_geometry import SIZES

from .parts import Parts
from .values import Writer, label_of, name_of, quoted, refused

_DIRECTION_WORDS = {sign: word for word, sign in DIRECTIONS.items()}


class Acts:
    """Writes what acts, what is required, and what is given, looked for and shown."""

    def __init__(self, parts: Parts, units: dict[str, str]) -> None:
        self.parts, self.writer = parts, parts.writer
        self.units = units  # of coordinates and speeds, by label

    # ---- loads

    def force(self, force: Any, handle: str) -> str:
        """let NAME = apply KIND … end on … ;"""
        if type(force) not in _FORCES:
            raise refused(f"the load {force.name!r} ({type(force).__name__})")
        kind, pairs, target = _FORCES[type(force)](self, force)
        listed = f" {', '.join(pairs)}" if pairs else ""
        return f"let {name_of(handle)} = apply {kind}{listed} end{target and f' on {target}'} ;"

    def measure(self, measure: Any) -> tuple[str, bool]:
        """What an effort works on, and whether it is an angle."""
        label = measure if isinstance(measure, str) else "".join(measure.labels())
        if label:
            return label_of(label), self.units[label] == "rad"
        a, b = self.parts.frame(measure.a), self.parts.frame(measure.b)
        if isinstance(measure, model.Distance):
            return f"{a} and {b}", False
        if isinstance(measure, model.Angle):
            return f"angle({a}, {b})", True
        raise refused(f"the measure {type(measure).__name__}")

    def load(self, x: Any) -> Any:
        """A load of the table in lsd_forces."""
        word, row = _LOADS[type(x)]
        on, is_angle = "", False
        if row.on:
            on, is_angle = self.measure(getattr(x, row.on))
        pairs = [
            f"{key} = {self.writer.scalar(getattr(x, field), at_angle if is_angle else at_length)}"
            for key, field, at_angle, at_length in row.entries
        ]
        return word, pairs, on

    def actuator(self, x: model.Actuator) -> Any:
        """torque or force."""
        on, is_angle = self.measure(x.measure)
        word, unit = ("torque", "N*m") if is_angle else ("force", "N")
        return "motor", [f"{word} = {self.writer.scalar(x.effort, unit)}"], on

    def wrench(self, x: model.PointWrench) -> Any:
        """force, torque, and in whose axes."""
        force, moment = self.writer.vector(x.force, "N"), self.writer.vector(x.moment, "N*m")
        pairs = [f"force = {force}", f"torque = {moment}"]
        if x.axes is not None:
            pairs.append(f"body = {self.parts.frame(x.axes)}")
        return "wrench", pairs, self.parts.frame(x.marker)

    def gravity(self, x: model.Gravity) -> Any:
        """Gravity that is not the first of the loads."""
        return "gravity", [f"value = {self.writer.vector(x.vector, 'm/s^2')}"], ""

    # ---- relations

    def constraint(self, x: Any, handle: str) -> str:
        """let NAME = impose …, require …, couple …, contact … ;"""
        if type(x) not in _RELATIONS:
            raise refused(f"the relation {x.name!r} ({type(x).__name__})")
        return f"let {name_of(handle)} = {_RELATIONS[type(x)](self, x)} ;"

    def imposed(self, x: model.PrescribedMotion) -> str:
        """A law of time."""
        law = self.writer.scalar(x.law, self.units[x.coordinate])
        return f"impose {label_of(x.coordinate)} = {law}"

    def required(self, x: model.Holonomic | model.Nonholonomic) -> str:
        """A formula that stays zero."""
        return f"require {self.writer.formula(x.formula)} = 0"

    def limited(self, x: model.Unilateral) -> str:
        """A formula that never becomes positive."""
        e = "" if is_none(x.restitution) else f" with {self.pair('restitution', x.restitution)} end"
        return f"require {self.writer.formula(x.formula)} <= 0{e}"

    def coupled(self, x: model.Coupling) -> str:
        """Two coordinates in proportion."""
        pair = f"{label_of(x.other)} and {label_of(x.coordinate)}"
        ratio, offset = self.writer.formula(x.ratio), self.writer.formula(x.offset)
        return f"couple {pair} with proportion ratio = {ratio}, offset = {offset} end"

    def rolling(self, x: model.Rolling) -> str:
        """A wheel or a ball on a plane."""
        sides = f"{self.parts.frame(x.wheel)} and {self.parts.frame(x.plane)}"
        radius = self.writer.scalar(x.radius, "m")
        return f"couple {sides} with rolling_{x.kind} radius = {radius} end"

    def contact(self, x: model.Contact) -> str:
        """A point, a ball or a disc above a plane."""
        sides = f"{self.parts.frame(x.first)} and {self.parts.frame(x.second)}"
        pairs = [self.pair(k, getattr(x, k), "m") for k in SIZES[x.kind] if k != "size"]
        if "size" in SIZES[x.kind]:
            pairs.append(f"size = {self.writer.vector(x.size, 'm')}")
        lengths = {k: getattr(x, k) for k in ("outside", "inside", "along", "edge")}
        pairs += [self.pair(k, r, "m") for k, r in lengths.items() if r is not None]
        if x.block is not None:
            pairs.append(f"block = {self.writer.vector(x.block, 'm')}")
        local: dict[str, dict[Any, str]] = {
            "surface": dict(zip(model.SURFACE, "xy", strict=True)),
            "profile": {model.PROFILE: "angle"},
            "curve": {model.CURVE: "s"},
        }
        given = [(k, names) for k, names in local.items() if getattr(x, k) is not None]
        pairs += [f"{k} = {self.own_names(x, k, names)}" for k, names in given]
        if x.span is not None:
            pairs.append(f"span = {_listed([self.writer.scalar(end, 'rad') for end in x.span])}")
        listed = ", ".join([*pairs, *self.friction(x.friction), *self.restitution(x)])
        return f"contact {sides} with {x.kind} {listed} end"

    def own_names(self, x: model.Contact, key: str, names: dict[Any, str]) -> str:
        """A formula of a surface or profile, or two of a curve, by names of their own."""
        given = getattr(x, key)
        formulas = [as_expr(f) for f in (given if key == "curve" else (given,))]
        taken = {s.name for s in symbols_of(formulas)} & set(names.values())
        if taken:
            said = f"the {key} of contact {x.name!r}, which has a parameter {min(taken)!r},"
            raise refused(said)
        writer = Writer(self.writer.units)
        told = {s: symbol(word) for s, word in names.items()}
        texts = [writer.scalar(f, "m") for f in substitute(formulas, told)]
        if writer.lets:
            raise refused(f"the long {key} of contact {x.name!r}")
        return _listed(texts) if key == "curve" else texts[0]

    def touch(self, x: model.GapContact) -> str:
        """A contact told by formulas."""
        slips = [self.writer.formula(slip) for slip in x.slips]
        slip = [f"slip = {slips[0] if len(slips) == 1 else _listed(slips)}"] if slips else []
        pairs = [f"gap = {self.writer.formula(x.gap)}", *slip, *self.friction(x.friction)]
        return f"contact {', '.join([*pairs, *self.restitution(x)])} end"

    def collision(self, x: model.Collision) -> str:
        """Contact among many."""
        groups = [", ".join(map(self.parts.frame, group)) for group in (x.parts, x.others)]
        pairs = ", ".join([*self.friction(x.friction), *self.restitution(x)])
        told = f" with {pairs} end" if pairs else ""
        return f"collide {' and '.join(filter(None, groups))}{told}"

    def pair(self, key: str, value: Any, unit: str = "") -> str:
        """key = value."""
        return f"{key} = {self.writer.scalar(value, unit)}"

    def restitution(self, x: Any) -> list[str]:
        """The restitution, where there is one."""
        return [] if is_none(x.restitution) else [self.pair("restitution", x.restitution)]

    def friction(self, x: model.Friction) -> list[str]:
        """What differs from no friction."""
        given = {key: (getattr(x, field), unit) for key, (field, unit) in FRICTION.items()}
        pairs = [self.pair(key, *said) for key, said in given.items() if not is_none(said[0])]
        return pairs + self.law(x, "m/s")

    def law(self, x: Any, unit: str) -> list[str]:
        """A law other than Coulomb's, with its speed."""
        return [] if x.law == "coulomb" else [self.pair(x.law, x.speed, unit)]

    def dry(self, x: model.DryFriction) -> str:
        """Friction that holds a coordinate at rest."""
        on, is_angle = self.measure(x.coordinate)
        effort, rate = ("N*m", "rad/s") if is_angle else ("N", "m/s")
        units = {"dry": effort, "static": effort, "viscous": f"{effort}*s/{rate[:-2]}"}
        given = {key: (getattr(x, key), unit) for key, unit in units.items()}
        pairs = [self.pair(key, *said) for key, said in given.items() if not is_none(said[0])]
        exact = ["smoothing = 0"] if x.static is None and x.law == "coulomb" else []
        listed = ", ".join([*pairs, *self.law(x, rate), *exact])
        return f"apply friction {listed} end on {on}"

    def bearing(self, x: model.BearingFriction) -> str:
        """Friction that grows with the load of a joint."""
        given = {"static": (x.static, ""), "radius": (x.radius, "m")}
        pairs = [self.pair(key, *said) for key, said in given.items() if said[0] is not None]
        law = self.law(x, "m/s" if x.radius is None else "rad/s")
        listed = ", ".join([self.pair("coefficient", x.coefficient), *pairs, *law])
        return f"apply friction {listed} end on {label_of(x.joint)}"

    # ---- what is given

    def parameter(self, x: model.Parameter) -> str:
        """parameter NAME = value in UNIT between low and high ;"""
        value = "" if x.value is None else f" = {self.writer.formula(x.value)}"
        return f"parameter {name_of(x.name)}{value}{unit_text(x.unit)}{self.bounds(x)} ;"

    def bounds(self, x: model.Parameter) -> str:
        """between low and high."""
        if x.low is None and x.high is None:
            return ""
        if x.low is None or x.high is None:
            word, end = ("above", x.low) if x.high is None else ("below", x.high)
            return f" {word} {self.writer.formula(end)}"
        return f" between {self.writer.formula(x.low)} and {self.writer.formula(x.high)}"

    def input(self, x: model.Input) -> str:
        """input NAME = default in UNIT ;"""
        return f"input {name_of(x.name)} = {self.writer.formula(x.default)}{unit_text(x.unit)} ;"

    def start(self, x: model.Start) -> str:
        """start LABEL = value ;"""
        unit = self.units[x.label]
        return f"start {label_of(x.label)} = {self.writer.scalar(x.value, unit)} ;"

    def event(self, x: model.Event, handle: str) -> str:
        """event NAME when formula rising stop ;"""
        word, formula = _DIRECTION_WORDS[x.direction], self.writer.formula(x.formula)
        return f"event {name_of(handle)} when {formula} {word} {x.action} ;"

    def output(self, x: model.Output) -> str:
        """output NAME = formula in UNIT ;"""
        unit = f" in {quoted(x.unit)}" if x.unit else ""
        if x.unit and _is_unit(x.unit):
            unit = f" in {x.unit}"
        text = self.writer.formula(x.formula)
        if isinstance(x.formula, Expr) and not text.startswith("si("):
            text = f"si({text})"  # an angle told by a constant would bring its unit
        return f"output {name_of(x.name)} = {text}{unit} ;"


def is_none(x: Any) -> bool:
    """Whether a coefficient is not there: None, or an exact 0."""
    return x is None or (isinstance(x, int) and x == 0)


def _listed(texts: list[str]) -> str:
    return f"[{', '.join(texts)}]"


def unit_text(unit: str) -> str:
    """in UNIT; in quotes where the word is not the SI unit as the house writes it."""
    if not unit:
        return ""
    if _is_unit(unit):
        factor, dimension = unit_of(unit)
        if factor == Fraction(1) and si_unit(dimension) == unit:
            return f" in {unit}"
    return f" in {quoted(unit)}"


def _is_unit(unit: str) -> bool:
    try:
        unit_of(unit)
    except LiaisonError:
        return False
    return " " not in unit and not unit.startswith("1")


_FORCES: dict[type, Any] = {
    model.Actuator: Acts.actuator,
    model.PointWrench: Acts.wrench,
    model.Gravity: Acts.gravity,
    **{row.record: Acts.load for row in LOADS.values()},
}
_LOADS = {row.record: (word, row) for word, row in LOADS.items()}
_RELATIONS: dict[type, Any] = {
    model.PrescribedMotion: Acts.imposed,
    model.Holonomic: Acts.required,
    model.Nonholonomic: Acts.required,
    model.Coupling: Acts.coupled,
    model.Rolling: Acts.rolling,
    model.Unilateral: Acts.limited,
    model.Contact: Acts.contact,
    model.GapContact: Acts.touch,
    model.Collision: Acts.collision,
    model.DryFriction: Acts.dry,
    model.BearingFriction: Acts.bearing,
}
