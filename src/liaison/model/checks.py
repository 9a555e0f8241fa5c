"""What every mechanism must satisfy, one function a rule; each names the element that breaks it.

Public names: CHECKS, Described, known_symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from liaison.errors import ModelError, NamingError, Place
from liaison.expr import Expr, as_expr, evaluate, gradient, symbol, symbols_of
from liaison.spatial import array, inertia_violation, number

from .constraints import Constraint, Holonomic, Nonholonomic, PrescribedMotion
from .contacts import OneSided, Unilateral
from .forces import Force, Gravity
from .markers import Marker
from .records import Body, Event, Input, Joint, Output, Parameter, Start


class Described(Protocol):
    """The parts of a mechanism that the checks read."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Ground first."""

    @property
    def joints(self) -> tuple[Joint, ...]:
        """What connects the bodies."""

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Relations that are no joint."""

    @property
    def forces(self) -> tuple[Force, ...]:
        """What acts."""

    @property
    def contacts(self) -> tuple[OneSided, ...]:
        """Relations of one side."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Named numbers."""

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What the outside gives."""

    @property
    def starts(self) -> tuple[Start, ...]:
        """Where it begins."""

    @property
    def events(self) -> tuple[Event, ...]:
        """What is looked for."""

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What is to be seen."""

    @property
    def place(self) -> Place | None:
        """Where the author said it."""


def check_names_differ(m: Described) -> None:
    """Bodies, joints, constraints, forces, events: each kind has its names once."""
    kinds: dict[str, tuple[Any, ...]] = {
        "bodies": m.bodies,
        "joints": m.joints,
        "constraints": (*m.constraints, *m.contacts),
        "forces": m.forces,
        "events": m.events,
    }
    for kind, records in kinds.items():
        _check_once(kind, ((record.name, record.place) for record in records))


def check_labels_differ(m: Described) -> None:
    """Coordinates, speeds, parameters, inputs and outputs share one set of labels, with t."""
    labels: list[tuple[str, Place | None]] = [("t", None)]
    for joint in m.joints:
        own = [s for s in joint.speeds if not s.endswith("'")]
        labels += [(label, joint.place) for label in (*joint.coordinates, *own)]
    named: tuple[Any, ...] = (*m.parameters, *m.inputs, *m.outputs)
    for record in named:
        labels.append((record.name, record.place))
    _check_once("of coordinates, parameters, inputs and outputs", labels)


def _check_once(kind: str, named: Iterable[tuple[str, Place | None]]) -> None:
    seen: set[str] = set()
    for name, place in named:
        if name in seen:
            raise NamingError.double(kind, name, place=place)
        seen.add(name)


def check_markers_are_on_known_bodies(m: Described) -> None:
    """Every marker of a joint or a force stands on a body of the mechanism."""
    known = {body.name for body in m.bodies}
    for marker, place in _markers(m):
        if marker.body not in known:
            raise NamingError.unknown("body", marker.body, known, place=marker.place or place)


def _markers(m: Described) -> Iterable[tuple[Marker, Place | None]]:
    for joint in m.joints:
        yield joint.predecessor, joint.place
        yield joint.successor, joint.place
    acting: tuple[Force | Constraint | OneSided, ...] = (*m.forces, *m.constraints, *m.contacts)
    for record in acting:
        for marker in record.markers():
            yield marker, record.place


def check_connected_to_ground(m: Described) -> None:
    """Every body is reached from ground through joints (a Free joint counts)."""
    neighbors: dict[str, set[str]] = {body.name: set() for body in m.bodies}
    for joint in m.joints:
        neighbors[joint.predecessor.body].add(joint.successor.body)
        neighbors[joint.successor.body].add(joint.predecessor.body)
    reached, front = {"ground"}, ["ground"]
    while front:
        for name in neighbors[front.pop()] - reached:
            reached.add(name)
            front.append(name)
    alone = [body for body in m.bodies if body.name not in reached]
    if alone:
        names = ", ".join(f"'{body.name}'" for body in alone[:12]) + (", …" if alone[12:] else "")
        raise ModelError(
            f"{'body' if len(alone) == 1 else 'bodies'} {names} not connected to ground by joints; "
            "join each to another body, or to ground with a Free joint.",
            place=alone[0].place,
        )


def check_coordinates_exist(m: Described) -> None:
    """Forces and constraints name coordinates of joints, and such as have a rate of their own."""
    known = {label for joint in m.joints for label in joint.coordinates}
    rated = {label[:-1] for joint in m.joints for label in joint.speeds if label.endswith("'")}
    records: tuple[Force | Constraint, ...] = (*m.forces, *m.constraints)
    for record in records:
        for label in record.labels():
            if label not in known:
                raise NamingError.unknown("coordinate", label, known, place=record.place)
            if label not in rated:
                raise ModelError(
                    f"'{record.name}' acts on '{label}', which is one of several components of an "
                    "attitude; it must act on a coordinate that moves alone.",
                    place=record.place,
                )


def check_starts(m: Described) -> None:
    """Starts name coordinates or speeds, each once, with values of parameters and numbers."""
    known = {x for joint in m.joints for x in (*joint.coordinates, *joint.speeds)}
    for start in m.starts:
        if start.label not in known:
            raise NamingError.unknown("coordinate or speed", start.label, known, place=start.place)
    _check_once("starts", ((start.label, start.place) for start in m.starts))


def check_gravity_is_one(m: Described) -> None:
    """One gravity at most."""
    found = [force for force in m.forces if isinstance(force, Gravity)]
    if len(found) > 1:
        raise ModelError(
            f"gravity is given {len(found)} times; it must be given once.", place=found[1].place
        )


def check_formulas(m: Described) -> None:
    """Symbols in formulas are known, and stand where they may."""
    scopes = known_symbols(m)
    for what, formulas, scope, place in _formulas(m):
        for x in symbols_of([as_expr(f) for f in formulas if isinstance(f, Expr)]):
            if x.name in scopes[scope]:
                continue
            if x.name in scopes["outputs"]:
                raise ModelError(
                    f"{what} depends on '{x.name}'; it may depend on {_SCOPES[scope]} only.",
                    place=place,
                )
            word = "parameter" if scope == "parameters" else "symbol"
            raise NamingError.unknown(f"{word} in {what}", x.name, scopes[scope], place=place)


_SCOPES = {
    "parameters": "parameters",
    "time": "time and parameters",
    "positions": "time, parameters and coordinates",
    "motion": "time, parameters, coordinates and speeds",
    "anything": "time, parameters, inputs, coordinates and speeds",
    "outputs": "time, parameters, inputs, coordinates, speeds and outputs",
}


def known_symbols(m: Described) -> dict[str, set[str]]:
    """Names that may stand in formulas, by scope."""
    parameters = {p.name for p in m.parameters}
    positions = {x for joint in m.joints for x in joint.coordinates}
    speeds = {x for joint in m.joints for x in joint.speeds} | {f"{x}'" for x in positions}
    time = parameters | {"t"}
    anything = time | positions | speeds | {i.name for i in m.inputs}
    return {
        "parameters": parameters,
        "time": time,
        "positions": time | positions,
        "motion": time | positions | speeds,
        "anything": anything,
        "outputs": anything | {output.name for output in m.outputs},
    }


def _formulas(m: Described) -> Iterable[tuple[str, tuple[Any, ...], str, Place | None]]:
    for body in m.bodies:
        entries = (body.mass, *body.com, *(x for row in body.inertia for x in row))
        yield f"body '{body.name}'", entries, "parameters", body.place
    for joint in m.joints:
        entries = (*joint.predecessor.scalars(), *joint.successor.scalars())
        what = f"joint '{joint.name}'"
        yield what, (*entries, *joint.type.parameters()), "parameters", joint.place
    for force in m.forces:
        what, scope = (
            f"force '{force.name}'",
            "parameters" if isinstance(force, Gravity) else "anything",
        )
        yield what, force.formulas(), scope, force.place
        for marker in force.markers():
            yield what, marker.scalars(), "parameters", force.place
    for constraint in m.constraints:
        scope = _CONSTRAINT_SCOPE.get(type(constraint), "parameters")
        what = f"constraint '{constraint.name}'"
        yield what, constraint.formulas(), scope, constraint.place
        for marker in constraint.markers():
            yield what, marker.scalars(), "parameters", constraint.place
    for contact in m.contacts:
        scope = "motion" if isinstance(contact, Unilateral) else "parameters"
        what = f"{type(contact).__name__.lower()} '{contact.name}'"
        poses = tuple(x for marker in contact.markers() for x in marker.scalars())
        yield what, contact.formulas() + poses, scope, contact.place
    for start in m.starts:
        yield f"the start of '{start.label}'", (start.value,), "parameters", start.place
    seen: tuple[Event | Output, ...] = (*m.events, *m.outputs)
    for record in seen:
        what = f"{type(record).__name__.lower()} '{record.name}'"
        yield what, (record.formula,), "outputs", record.place


_CONSTRAINT_SCOPE: Mapping[type, str] = {
    PrescribedMotion: "time",
    Holonomic: "positions",
    Nonholonomic: "motion",
}


def check_nonholonomic_is_linear(m: Described) -> None:
    """Nonholonomic formulas are linear in the rates, with at least one rate in them."""
    speeds = {x for joint in m.joints for x in joint.speeds}
    speeds |= {f"{x}'" for joint in m.joints for x in joint.coordinates}
    relations: tuple[Constraint | OneSided, ...] = (*m.constraints, *m.contacts)
    for constraint in relations:
        if not isinstance(constraint, Nonholonomic | Unilateral):
            continue
        formula = as_expr(constraint.formula)
        rates = [symbol(x.name) for x in symbols_of([formula]) if x.name in speeds]
        left = {x.name for x in symbols_of(gradient(formula, rates))} & speeds if rates else {""}
        if isinstance(constraint, Unilateral) and not rates:
            continue  # of positions
        if left:
            what = f"it is not linear in {', '.join(sorted(left))}" if rates else "no rate is in it"
            form = "A q̇ + b = 0" if isinstance(constraint, Nonholonomic) else "W q̇ + h ≤ 0"
            raise ModelError(
                f"constraint '{constraint.name}' is no relation {form}: {what}; "
                f"{'write it linear in the rates' if rates else 'make it a Holonomic one'}.",
                place=constraint.place,
            )


def check_values_of_parameters(m: Described) -> None:
    """Masses and inertias are possible at the parameters' values."""
    values = _values(m)
    for body in m.bodies:
        entries = [body.mass, *(x for row in body.inertia for x in row)]
        found = [_value(x, values) for x in entries]
        if None in found:
            continue
        violation = inertia_violation(found[0], array(found[1:]).reshape(3, 3))
        if violation:
            raise ModelError(
                f"the inertia of body '{body.name}' is impossible at the values of the "
                f"parameters: {violation}",
                place=body.place,
            )


def _values(m: Described) -> dict[Expr, float]:
    given = {p.symbol: None if p.value is None else number(p.value) for p in m.parameters}
    return {x: value for x, value in given.items() if value is not None}


def _value(x: Any, values: Mapping[Expr, float]) -> float | None:
    if not isinstance(x, Expr):
        return float(x)
    if any(s not in values for s in symbols_of([x])):
        return None
    return float(evaluate([x], dict(values))[0])


CHECKS: tuple[Callable[[Described], None], ...] = (
    check_names_differ,
    check_labels_differ,
    check_markers_are_on_known_bodies,
    check_connected_to_ground,
    check_coordinates_exist,
    check_starts,
    check_gravity_is_one,
    check_formulas,
    check_nonholonomic_is_linear,
    check_values_of_parameters,
)
