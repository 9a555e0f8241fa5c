"""Loads, relations and the small statements as LSD text.

Public names: Acts.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import liaison.model as model
from liaison.errors import LiaisonError
from liaison.expr import Expr

from .lsd_forces import LOADS
from .lsd_statements import DIRECTIONS
from .lsd_units import si_unit, unit_of
from .lsd_write_parts import Parts
from .lsd_write_values import label_of, name_of, quoted, refused

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
        return f"require {self.writer.formula(x.formula)} <= 0"

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
        pairs = [f"{k} = {self.writer.scalar(getattr(x, k))}" for k in ("friction", "restitution")]
        if x.kind != "point":
            pairs.insert(0, f"radius = {self.writer.scalar(x.radius, 'm')}")
        return f"contact {sides} with {x.kind} {', '.join(pairs)} end"

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
}
