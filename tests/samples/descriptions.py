"""Descriptions at random for writing and reading back: any names, numbers, formulas and records.

They need not move sensibly; each is a mechanism that can be described.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from liaison import expr
from liaison.expr import Function, symbol
from liaison.model import (
    GROUND,
    SURFACE,
    Actuator,
    Angle,
    Body,
    Box,
    Cone,
    Contact,
    Coordinate,
    Coupling,
    Cylinder,
    Damper,
    Dissipation,
    Distance,
    DryFriction,
    Event,
    Friction,
    GapContact,
    Gravity,
    Holonomic,
    Input,
    Joint,
    JointFriction,
    Law,
    Line,
    Marker,
    Mechanism,
    Mesh,
    Nonholonomic,
    Output,
    Parameter,
    PointWrench,
    Potential,
    PrescribedMotion,
    Rolling,
    Sphere,
    Spring,
    Start,
    Unilateral,
)
from liaison.model.checks import _excess
from liaison.spatial import rotation_about, rotation_onto_z

from .random_parts import AXES, KINDS, joint_type, turned

WORDS = ("arm", "leg 2", "let", "body", "rising", "m", "mm", "f", "x.y", "2nd", "ça", "si", "w1",
         "a, b", "(* c", 'd"e', "\\n", "[", "@;", "sin", "earth.x", "to", "arm_2",
         "name")  # fmt: skip
MEANT = ("earth", "t", "pi", "frame")
TEXTS = ("", "m", "a name, with signs; 3 of them", 'a "quote"', "two\nlines\t\\ \x00\x7f", "(* ; `")
UNITS = ("", "m", "N*m/rad", "N/m", "apples", 'a "unit"')
ROOTS = (expr.PI, expr.sqrt(2), expr.cos(expr.PI / 5), expr.sin(Fraction(1, 3)))
BINARY = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / (expr.as_expr(b) * b + 1),
    expr.minimum,
    expr.maximum,
    expr.atan2,
    lambda a, b: expr.select(a, b, a),
    Function("law of two", 2),
    partial(Function('a, "law"', 2).partial, (1, 2)),
)
UNARY = (
    lambda a: -a,
    lambda a: expr.as_expr(a) ** 3,
    lambda a: expr.as_expr(a) ** -2,
    lambda a: expr.as_expr(a) ** expr.as_expr(0.5),
    lambda a: expr.sin(expr.as_expr(a)),
    expr.absolute,
    lambda a: expr.exp(expr.sin(expr.as_expr(a))),
    lambda a: expr.sign(expr.as_expr(a)),
    expr.Table([0, 0.1, 2], [5, -3e-5, 1]),
    expr.Table([-1, 1], [0.3, 4], "linear"),
    expr.Table([-1, 1], [0.3, 4], outside="hold", name='a "lift"'),
    lambda a: expr.apply("table", (expr.as_expr(a),), (expr.Table([0, 1, 2], [0, 1, 0]), 1)),
    lambda a: expr.stumpff(2, expr.as_expr(a)),
)


def _made(function: Any, *args: Any) -> Any:
    """A formula, or its first argument where it has no value or an infinite one."""
    try:
        found = expr.as_expr(function(*args))
    except (ArithmeticError, ValueError, TypeError):
        return args[0]
    return args[0] if any(_excess(node) for node in expr.topological([found])) else found


class Drawing(random.Random):
    """Draws the parts of one description; names are used once in each kind."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.rng = np.random.default_rng(seed)
        self.labels: set[str] = {"t"}

    def yes(self, chance: float = 0.5) -> bool:
        return self.random() < chance

    def number(self) -> Any:
        """Exact or not, small or large."""
        kind = self.randrange(7)
        if kind == 6 and self.yes(0.2):
            return Fraction(self.randint(-(10**900), 10**900), self.randint(10**890, 10**1800))
        if kind < 2:
            return self.randint(-9, 9)
        if kind == 2:
            return Fraction(self.randint(-999, 999), self.randint(1, 99))
        if kind == 3:
            return Fraction(self.randint(-(10**9), 10**9), 10 ** self.randint(0, 12))
        if kind == 4:
            return self.randint(-(10**25), 10**25)
        return self.uniform(-1, 1) * 10.0 ** self.randint(-9, 9)

    def positive(self) -> Any:
        x = abs(self.number())
        return x if float(x) > 0 else 1

    def formula(self, symbols: list[Any], depth: int = 4) -> Any:
        """A formula with constants, unknown functions and choices in it."""
        kind = self.randrange(3 if depth else 1)
        if kind == 0:
            return self.choice([self.number(), self.choice(ROOTS), self.choice(symbols)])
        if kind == 1:
            return _made(self.choice(UNARY), self.formula(symbols, depth - 1))
        ends = [self.formula(symbols, depth - 1), self.formula(symbols, depth - 1)]
        function = self.choice(BINARY)
        if isinstance(function, Function | partial):  # one of numbers alone has no value
            ends[1] = self.choice(symbols)
        return _made(function, *ends)

    def name(self, kind: set[str]) -> str:
        """A name nothing of the kind has; of what is no label, also one that has a meaning."""
        word = self.choice(WORDS if kind is self.labels else WORDS + MEANT)
        while word in kind:
            word += self.choice(["_", "2", " b", ".c"])
        kind.add(word)
        return word

    def triple(self, of: Any = None) -> Any:
        return tuple((of or self.number)() for _ in range(3))

    def rotation(self) -> Any:
        kind = self.randrange(4)
        if kind == 0:
            return self.choice(AXES)
        if kind == 1:
            return turned(self.rng)
        axis = self.choice([(1, 0, 0), (0, 1, 0), (1, 2, 2)])
        angle = expr.PI * Fraction(self.randint(-12, 12), 12)
        return rotation_about(axis, angle) if kind == 2 else rotation_onto_z(axis)

    def marker(self, body: str) -> Marker:
        return Marker(body, self.rotation(), self.triple(), self.choice(["", "", "", *TEXTS]))

    def shape(self) -> Any:
        placed = {
            "R": self.rotation(),
            "p": self.triple(),
            "color": self.choice(["", "#fff", *TEXTS]),
        }
        a, b, c = self.triple(self.positive)
        kinds = (
            lambda: Box(a, b, c, **placed),
            lambda: Cylinder(a, b, **placed),
            lambda: Cylinder(a, b, **placed, inner=a / 2),
            lambda: Sphere(a, **placed),
            lambda: Cone(a, b, **placed),
            lambda: Mesh(self.choice(["a/b c.stl", *TEXTS]), (a, b, c), **placed),
            lambda: Line(((a, b, c), (0, 0, 1)), **placed),
        )
        return self.choice(kinds)()

    def body(self, name: str, parameters: list[Any]) -> Body:
        mass = 2 * self.choice(parameters) + 1 if self.yes() else self.positive()
        moment = self.positive()
        inertia: Any = ((moment, 0, 0), (0, moment, 0), (0, 0, moment))
        if self.yes():
            inertia = ((2, 0.5, Fraction(1, 3)), (0.5, 2, 0), (Fraction(1, 3), 0, 2))
        shapes = tuple(self.shape() for _ in range(self.randrange(3)))
        return Body(name, mass, self.triple(), inertia, shapes)

    def joint(self, name: str, first: str, second: str) -> Joint:
        kind = joint_type(self.rng, self.choice(sorted(KINDS)))
        ends = self.marker(first), self.marker(second)
        own = tuple(f"{name}, {k}" for k in range(kind.nq)) if self.yes(0.2) else ()
        return Joint(name, kind, *ends, own)

    def measure(self, bodies: list[str], rated: list[str]) -> Any:
        a, b = self.marker(bodies[0]), self.marker(bodies[-1])
        return self.choice([Distance(a, b), Angle(a, b), *map(Coordinate, rated[:2])])

    def force(self, name: str, bodies: list[str], rated: list[str], symbols: list[Any]) -> Any:
        x, along = self.formula(symbols), self.measure(bodies, rated)
        a, b = self.positive(), self.number()
        at, axes = self.marker(bodies[-1]), self.marker(bodies[0])
        kinds = [
            lambda: Spring(name, along, a, b),
            lambda: Damper(name, along, a),
            lambda: Actuator(name, along, x),
            lambda: Law(name, along, x),
            lambda: PointWrench(name, at, (a, b, x), self.triple(), axes if self.yes() else None),
            lambda: Potential(name, x),
            lambda: Dissipation(name, x),
        ]
        if rated:
            kinds.append(lambda: JointFriction(name, rated[0], a, 0, a))
        return self.choice(kinds)()

    def relation(self, name: str, rated: list[str], time: list[Any], places: list[Any]) -> Any:
        x, y = rated[0], rated[-1]
        factor = expr.cos(expr.as_expr(self.formula(places, 2))) + 2
        rates = symbol(f"{x}'") * factor + 3 * symbol(f"{y}'")
        kinds = [
            lambda: PrescribedMotion(name, x, self.formula(time)),
            lambda: Holonomic(name, expr.sin(expr.as_expr(self.formula(places))) + 2 * symbol(x)),
            lambda: Nonholonomic(name, rates),
            lambda: Coupling(name, x, self.positive(), y, self.number()),
        ]
        return self.choice(kinds if x != y else kinds[:3])()

    def touching(self, names: set[str], on: list[str], symbols: list[Any]) -> list[Any]:
        """Wheels that roll, and what holds on one side only."""
        a, b, kind = self.marker(on[-1]), self.marker(on[0]), self.choice(["ball", "disc"])
        made = [
            lambda: Rolling(self.name(names), a, self.positive(), b, kind),
            lambda: Unilateral(self.name(names), -expr.absolute(self.formula(symbols))),
            lambda: Contact(self.name(names), a, b, kind, self.positive(), self.positive(), 0.3),
            lambda: Contact(self.name(names), b, a, "point", 0, self.rough()),
            lambda: Contact(self.name(names), a, b, "box", friction=self.rough(),
                            size=(self.positive(), 0, self.positive())),
            lambda: Contact(self.name(names), a, b, "cylinder", self.positive(),
                            length=self.positive(), restitution=Fraction(1, 3)),
            lambda: Contact(self.name(names), a, b, outside=self.positive()),
            lambda: Contact(self.name(names), a, b, surface=self.formula(list(SURFACE))),
        ]  # fmt: skip
        return [make() for make in self.sample(made, 2)]

    def rough(self) -> Friction:
        """Friction of some of the groups, at rest larger than in motion."""
        f, r, p = self.positive(), self.positive(), self.positive()
        smooth = {"law": self.choice(["stribeck", "regularized"]), "speed": 0.25,
                  "turning_speed": self.positive()}  # fmt: skip
        given = {"static": 2 * f, "rolling": r, "static_rolling": 3 * r, "pivoting": p,
                 "viscous": self.positive(), "viscous_pivoting": p}  # fmt: skip
        kept = {key: x for key, x in given.items() if self.yes()}
        if "rolling" not in kept:
            kept.pop("static_rolling", None)
        return Friction(f, **kept, **(smooth if self.yes() else {}))

    def sticking(self, names: set[str], rated: list[str], anything: list[Any]) -> list[Any]:
        """A contact told by formulas, and friction that holds a joint."""
        x, rate = symbol(rated[0]), symbol(f"{rated[0]}'")
        gap = expr.as_expr(self.formula([x])) ** 2 + 1
        slips = (2 * rate, rate - self.number())[: self.randint(1, 2)]
        bound = expr.absolute(self.formula(anything))
        made = [
            lambda: GapContact(self.name(names), gap, slips, self.positive(), 0.25),
            lambda: DryFriction(self.name(names), rated[-1], bound),
            lambda: DryFriction(self.name(names), rated[-1], 1, 2, self.positive()),
            lambda: DryFriction(self.name(names), rated[0], 1, law="stribeck", speed=0.5),
        ]
        return [make() for make in self.sample(made, 2)]

    def parameter(self) -> Parameter:
        bounds = self.choice([(Fraction(1, 3), 10**30), (None, None), (0.5, None), (None, 10**30)])
        value = self.choice([None, expr.sqrt(2), 1 + self.positive()])
        return Parameter(self.name(self.labels), value, self.choice(UNITS), *bounds)

    def mechanism(self) -> Mechanism:
        """Two or three bodies with everything that a description may hold."""
        parameters = [self.parameter() for _ in range(self.randint(1, 2))]
        inputs = [Input(self.name(self.labels), self.choice(UNITS), self.number())]
        constants: list[Any] = [p.symbol for p in parameters]
        named: list[set[str]] = [{"ground"}, set(), set(), set()]
        bodies = [self.body(self.name(named[0]), constants) for _ in range(self.randint(1, 2))]
        on = ["ground", *(body.name for body in bodies)]
        ends = [pair if self.yes() else pair[::-1] for pair in pairwise(on)]
        joints = [self.joint(self.name(self.labels), *pair) for pair in ends]
        places = [x for joint in joints for x in joint.coordinates]
        speeds = [x for joint in joints for x in joint.speeds]
        rated = [x for x in places if f"{x}'" in speeds]
        time = [*constants, symbol("t")]
        anywhere = [*time, *map(symbol, places)]
        anything = [*anywhere, inputs[0].symbol, *map(symbol, speeds)]
        forces: list[Any] = [self.force(self.name(named[1]), on, rated, anything) for _ in range(2)]
        if self.yes():
            forces.insert(self.randrange(2), Gravity(self.triple()))
        held = [self.relation(self.name(named[2]), rated, time, anywhere)] if rated else []
        touching = self.touching(named[2], on, anywhere)
        held += [x for x in touching if isinstance(x, Rolling)]
        touching += self.sticking(named[2], rated, anything) if rated and self.yes() else []
        unit = self.choice(["", "mm", "deg", "N*m", "apples", 'a "unit"'])
        return Mechanism(
            self.choice(TEXTS),
            (replace(GROUND, shapes=(self.shape(),) if self.yes(0.2) else ()), *bodies),
            tuple(joints),
            tuple(held),
            tuple(forces),
            contacts=tuple(x for x in touching if not isinstance(x, Rolling)),
            parameters=tuple(parameters),
            inputs=tuple(inputs),
            starts=tuple(Start(x, self.formula(constants)) for x in (*places[:2], *speeds[:1])),
            events=(Event(self.name(named[3]), self.formula(anything), self.randint(-1, 1)),),
            outputs=(Output(self.name(self.labels), self.formula(anything), unit),),
        )


def description(seed: int) -> Mechanism:
    """The description of a seed: the same one for the same seed."""
    return Drawing(seed).mechanism()
