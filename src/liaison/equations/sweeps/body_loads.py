"""Loads on bodies as formulas of the one or two bodies that they touch, each kind derived once.

Loads that differ by numbers alone, and by the bodies that they act on, are of one class: numbers of
their markers and of their law are read from a table.

Public names: BodyLoads, LoadClass, body_loads, is_of_coordinates, is_on_bodies, check_steady,
power_of, potential_of, symbol_places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, final

import numpy as np

from liaison.equations.formalisms.maximal import at_origin
from liaison.equations.setting import Setting
from liaison.equations.theorems import unstored_power
from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, as_expr, switches, symbol, symbols_of, topological
from liaison.model import (
    AlongMeasure,
    AtMarker,
    Body,
    Cable,
    Coordinate,
    Distance,
    Free,
    Joint,
    Marker,
    Measure,
    Mechanism,
    Parameter,
    RotationMatrix,
)
from liaison.tree import span

ENDS = ("first body", "second body")
"""Names of the bodies of a class."""


@final
@dataclass(frozen=True, slots=True)
class LoadClass:
    """Loads with one formula.

    Attributes:
        wrenches: moment and force on each of its bodies at its origin, in its axes.
        potential: energy that one stores [J].
        power: of what `potential` does not hold [W].
        unwatched: why the balance of energy cannot be kept; empty where it can.
        places: symbol -> (array, index); q has p and R of each body, v its ω and v in its axes, x
            the numbers of the load.
    """

    wrenches: tuple[Expr, ...]
    potential: Expr
    power: Expr
    unwatched: str
    places: Mapping[Expr, tuple[str, int]]


@final
@dataclass(frozen=True, slots=True)
class BodyLoads:
    """All loads on bodies of a mechanism.

    Attributes:
        bodies: that they touch, by their number among those that move.
        classes: what they do.
        table: a row for each load: class, its bodies by their place in `bodies` (−1: none), start
            of its numbers.
        constants: of all loads.
    """

    bodies: tuple[int, ...]
    classes: tuple[LoadClass, ...]
    table: np.ndarray[Any, np.dtype[np.int64]]
    constants: np.ndarray[Any, np.dtype[np.float64]]


def is_of_coordinates(measure: Measure | None) -> bool:
    """Whether a load acts along a coordinate, or along a sum of some, as a fixed tendon has it."""
    if isinstance(measure, Cable):
        return all(isinstance(part, Coordinate) for _, part in measure.terms)
    return isinstance(measure, Coordinate)


def is_on_bodies(force: Any, named: set[str]) -> bool:
    """Whether a load acts on bodies by a law that names no coordinate.

    Args:
        force: no load of a coordinate, no field.
        named: coordinates and speeds of the mechanism.

    Raises:
        DerivationError: it acts on bodies in another way.
    """
    measure = force.along() if isinstance(force, AlongMeasure) else None
    used = symbols_of([x for x in force.formulas() if isinstance(x, Expr)])
    if not isinstance(measure, Distance) and not isinstance(force, AtMarker):
        why = f"acts along {'a cable' if isinstance(measure, Cable) else 'an angle between bodies'}"
    elif any(x.name.rstrip("'") in named or x.name in named for x in used):
        why = "acts on bodies by a law of coordinates"
    else:
        return True
    raise DerivationError(
        f"{force.name!r} {why}, which loops over the nodes of a tree do not know.",
        hint="Derive the equations by newton_euler.",
    )


def body_loads(mechanism: Mechanism, forces: Sequence[Any], *, may_bend: bool) -> BodyLoads:
    """Loads on bodies by class, each derived with its bodies free.

    Args:
        mechanism: that they are of.
        forces: its loads on bodies.
        may_bend: laws may bend or jump with the state: who runs them takes steps across.

    Raises:
        DerivationError: a law bends and may not, or a load acts on nothing that moves.
    """
    places = {body.name: k for k, body in enumerate(mechanism.bodies[1:])}
    plain = [_Plain(force, places) for force in forces]
    touched = sorted({x for one in plain for x in one.bodies})
    where = {body: k for k, body in enumerate(touched)}
    classes: dict[Any, tuple[int, LoadClass]] = {}
    rows, constants = [], list[float]()
    for one in plain:
        if one.key not in classes:
            derived = _load_class(mechanism, one, may_bend=may_bend)
            classes[one.key] = (len(classes), derived)
        bodies = [where[x] for x in one.bodies] + [-1] * (2 - len(one.bodies))
        rows.append((classes[one.key][0], *bodies, len(constants)))
        constants += one.numbers
    return BodyLoads(
        bodies=tuple(touched),
        classes=tuple(one for _, one in classes.values()),
        table=np.array(rows, dtype=np.int64).reshape(-1, 4),
        constants=np.array([*constants, 0.0]),
    )


class _Plain:
    """A load on bodies without names, its numbers replaced by symbols.

    Attributes:
        force: the same on the bodies of ENDS.
        bodies: numbers of the bodies that move, in their order.
        numbers: of the symbols `load 0`, `load 1`, ….
        key: the same for loads with one formula.
    """

    def __init__(self, force: Any, places: Mapping[str, int]) -> None:
        self.numbers: list[float] = []
        markers = _markers_of(force)
        moving = dict.fromkeys(x.body for x in markers.values() if x.body in places)
        if not moving:
            raise DerivationError(f"{force.name!r} acts on nothing that moves.")
        self.bodies = [places[x] for x in moving]
        self._names = dict(zip(moving, ENDS, strict=False))
        changed: dict[str, Any] = {"name": "load", "place": None}
        if isinstance(force, AtMarker):
            changed |= {name: self._marker(x) for name, x in markers.items()}
        else:
            changed["measure"] = Distance(self._marker(markers["a"]), self._marker(markers["b"]))
        known = {x.name for x in fields(force)}
        for name in (x for x in known if x not in changed and x not in markers):
            changed[name] = self._value(getattr(force, name))
        self.force = replace(force, **changed)
        self.key = self.force

    def _marker(self, marker: Marker) -> Marker:
        p = tuple(map(self._number, marker.p))
        return Marker(self._names.get(marker.body, marker.body), marker.R, p)

    def _value(self, x: Any) -> Any:
        """A scalar or a row of them; anything else as it is."""
        if isinstance(x, tuple):
            return tuple(map(self._number, x))
        return self._number(x)

    def _number(self, x: Any) -> Any:
        """A symbol for a number, but for 0."""
        if isinstance(x, bool | str | Expr) or x is None or x == 0:
            return x
        try:
            value = float(x)
        except (TypeError, ValueError):
            return x
        self.numbers.append(value)
        return symbol(f"load {len(self.numbers) - 1}")


def _markers_of(force: Any) -> dict[str, Marker]:
    """Markers of a load by the names of their fields; a and b of a distance."""
    if isinstance(force, AtMarker):
        own = {x.name: getattr(force, x.name) for x in fields(force)}  # type: ignore[arg-type]
        return {name: x for name, x in own.items() if isinstance(x, Marker)}
    measure = force.along()
    return {"a": measure.a, "b": measure.b}


def _load_class(mechanism: Mechanism, one: _Plain, *, may_bend: bool) -> LoadClass:
    """The formulas of a load whose bodies are free."""
    ground = mechanism.bodies[0]
    bodies = [Body(name, mass=1) for name in ENDS[: len(one.bodies)]]
    free = tuple(
        Joint(f"free {x.name}", Free(RotationMatrix()), at_origin(ground.name), at_origin(x.name))
        for x in bodies
    )
    numbers = tuple(Parameter(f"load {k}", x) for k, x in enumerate(one.numbers))
    loose = Mechanism(
        name=mechanism.name, bodies=(ground, *bodies), joints=free, forces=(one.force,),
        parameters=(*mechanism.parameters, *numbers), inputs=mechanism.inputs,
    )  # fmt: skip
    setting = Setting(span(loose))
    order = [node.body for node in setting.tree.nodes]
    assert order == [x.name for x in bodies], "free bodies keep their order"
    wrenches = tuple(as_expr(x) for x in setting.applied())
    if not may_bend:
        check_steady(setting, wrenches)
    power, unwatched = power_of(setting)
    places = symbol_places(setting)
    places |= {symbol(f"load {k}"): ("x", k) for k in range(len(numbers))}
    return LoadClass(wrenches, potential_of(setting), power, unwatched, MappingProxyType(places))


def check_steady(setting: Setting, formulas: Sequence[Expr]) -> None:
    """Raises an error for laws of states that bend or jump: steps must end where they do."""
    moving = {*setting.symbols.q, *setting.symbols.v}
    bends = [*switches(formulas), *(x for x in topological(formulas) if x.op == "table")]
    if not moving.isdisjoint(symbols_of(bends)):
        raise DerivationError(
            "a load on bodies bends or jumps with the state, which loops over nodes do not know "
            "where steps follow an error.",
            hint="Derive the equations by newton_euler, or take fixed steps.",
        )


def potential_of(setting: Setting) -> Expr:
    """Energy that loads store."""
    return as_expr(sum((load.potential for load in setting.loads), as_expr(0)))


def symbol_places(setting: Setting) -> dict[Expr, tuple[str, int]]:
    """Symbols of a mechanism -> where an entry finds them."""
    symbols = setting.symbols
    listed = (("t", (symbols.t,)), ("q", symbols.q), ("v", symbols.v), ("u", symbols.u))
    arrays = (*listed, ("p", symbols.p))
    return {x: (array, k) for array, group in arrays for k, x in enumerate(group)}


def power_of(setting: Setting) -> tuple[Expr, str]:
    """The power of what is not stored, or why the balance of energy cannot be kept."""
    if {*symbols_of([potential_of(setting)])} & {*setting.symbols.u}:
        return ZERO, "what is stored depends on an input"
    try:
        return unstored_power(setting), ""
    except DerivationError as error:
        return ZERO, error.message.rstrip(".")
