"""Checks of a mechanism, one function a rule; each error names the element that breaks it.

Checks of the formulas of a mechanism, one function a rule; each error names the formula.

Public names: CHECKS, Described, FORMULA_CHECKS, known_symbols, names_used, idle_relations,
check_with, doubtful_rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError, ModelError, NamingError, Place
from liaison.expr import (
    ARRAY,
    Expr,
    as_expr,
    evaluate,
    gradient,
    substitute,
    symbol,
    symbols_of,
    topological,
)
from liaison.model.contacts.collisions import collisions, surfaces_of
from liaison.model.contacts.formulas import GapContact, Unilateral
from liaison.model.contacts.friction import LARGE, Friction, positive_formulas
from liaison.model.contacts.joint_friction import BearingFriction
from liaison.model.contacts.one_sided import OneSided
from liaison.model.loads.gravity import Gravity
from liaison.model.loads.load import Force, states_of
from liaison.model.relations.relation import Constraint, OfCoordinates
from liaison.spatial import array, inertia_violation, is_zero, number
from liaison.spatial.inertia import ROUNDING

from .joints import JOINT_TYPES
from .markers import Marker
from .records import Body, Event, Input, Joint, Output, Parameter, Start
from .scalars import excess


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
    """Joints with their coordinates and speeds, parameters, inputs and outputs: labels once."""
    labels: list[tuple[str, Place | None]] = []
    for joint in m.joints:
        own = [s for s in joint.speeds if not s.endswith("'")]
        own_labels = (
            joint.coordinates
            if joint.name in joint.coordinates
            else (joint.name, *joint.coordinates)
        )
        labels += [(label, joint.place) for label in (*own_labels, *own)]
    for force in (x for x in m.forces if x.states()):
        own_states = {force.name, *(x.name for x in force.states())}
        labels += [(label, force.place) for label in sorted(own_states)]
    named: tuple[Any, ...] = (*m.parameters, *m.inputs, *m.outputs)
    labels += [(record.name, record.place) for record in named]
    for label, place in labels:
        if label in MEANINGS:
            message = f"the name {label!r} means {MEANINGS[label]}; nothing else can have it."
            raise NamingError(message, place=place)
    _check_once("of joints, coordinates, parameters, inputs and outputs", labels)


MEANINGS = {"t": "the time", "pi": "the number", "earth": "the ground", "ground": "the ground"}


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
        words = "body {} is" if len(alone) == 1 else "bodies {} are"
        raise ModelError(
            f"{words.format(names)} not connected to ground by joints; "
            "join each to another body, or to ground with a Free joint.",
            place=alone[0].place,
        )


def check_coordinates_exist(m: Described) -> None:
    """Forces and constraints name coordinates of joints, and such as have a rate of their own."""
    known = {label for joint in m.joints for label in joint.coordinates}
    rated = {label[:-1] for joint in m.joints for label in joint.speeds if label.endswith("'")}
    records: tuple[Force | Constraint | OneSided, ...] = (*m.forces, *m.constraints, *m.contacts)
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
    known |= {x.name for x in states_of(m.forces)}
    for start in m.starts:
        if start.label not in known:
            raise NamingError.unknown("coordinate or speed", start.label, known, place=start.place)
    _check_once("starts", ((start.label, start.place) for start in m.starts))


def check_bearings(m: Described) -> None:
    """Friction that grows with the load is of a pivot or a ball with a radius, or of a slider."""
    joints = {joint.name: joint for joint in m.joints}
    for one in m.contacts:
        if not isinstance(one, BearingFriction):
            continue
        if one.joint not in joints:
            raise NamingError.unknown("joint", one.joint, joints, place=one.place)
        kind = joints[one.joint].type
        if not kind.BEARING:
            *others, last = (word for word, x in JOINT_TYPES.words.items() if x.BEARING)
            raise ModelError(
                f"friction '{one.name}' grows with the load of joint '{one.joint}', which is "
                f"{kind.name}; it must be {', '.join(others)} or {last}.",
                place=one.place,
            )
        slides = kind.BEARING == "slide"
        if slides != (one.radius is None):
            reason = (
                "slides; it has no radius" if slides else "turns; give the radius of its bearing"
            )
            reason = f"friction '{one.name}' is in joint '{one.joint}', which {reason}."
            raise ModelError(reason, place=one.place)


def check_collisions(m: Described) -> None:
    """What collides has shapes that touch, and each pair one law."""
    if collisions(m):
        surfaces_of(m)


def check_ground_is_bare(m: Described) -> None:
    """The ground has shapes at most: it is fixed, so that a mass of it would mean nothing."""
    ground = m.bodies[0]
    if not all(
        is_zero(x) for x in (ground.mass, *ground.com, *(a for r in ground.inertia for a in r))
    ):
        message = "the ground is given a mass or an inertia; it is fixed and has none."
        raise ModelError(message, place=ground.place, hint="Join a body to it by a Fixed joint.")


def check_gravity_is_one(m: Described) -> None:
    """One gravity at most."""
    gravities = [force for force in m.forces if isinstance(force, Gravity)]
    if len(gravities) > 1:
        raise ModelError(
            f"gravity is given {len(gravities)} times; it must be given once.",
            place=gravities[1].place,
        )


CHECKS: tuple[Callable[[Described], None], ...] = (
    check_names_differ,
    check_labels_differ,
    check_markers_are_on_known_bodies,
    check_connected_to_ground,
    check_coordinates_exist,
    check_bearings,
    check_collisions,
    check_starts,
    check_ground_is_bare,
    check_gravity_is_one,
)


MAX_EXPONENT = 1000  # of a power
RELATION_TOLERANCE = 1e-9  # by which a relation without coordinates may miss zero, in SI


def check_formulas(m: Described) -> None:
    """Symbols in formulas are known and stand where they may; numbers in them are numbers."""
    scopes = known_symbols(m)
    for force in m.forces:
        force.check_among(scopes["motion"] - scopes["time"])
    for what, entries, scope, place in _formulas(m):
        formulas = [x for x in entries if x.__class__ is Expr]
        for node in topological(formulas) if formulas else ():
            if node.op == "symbol" and node.name not in scopes[scope]:
                raise _misplaced(node.name, what, scope, scopes, place)
            problem = _excess(node)
            if problem:
                raise ModelError(f"in the formula of {what}, {problem}.", place=place)


def _misplaced(
    name: str, what: str, scope: str, scopes: Mapping[str, set[str]], place: Place | None
) -> LiaisonError:
    """The error for a symbol that is not known, or not here."""
    if name in scopes["outputs"]:
        message = f"{what} depends on '{name}'; it may depend on {_SCOPES[scope]} only."
        return ModelError(message, place=place, hint=MOVES if name == "t" else "")
    word = "parameter" if scope == "parameters" else "symbol"
    return NamingError.unknown(f"{word} in {what}", name, scopes[scope], place=place)


MOVES = (
    "What moves with time is carried by a joint whose coordinates are imposed. In LSD frames and "
    "the dofs of a link may contain t: (2 rad/s*t) || [0,0,1] @ earth."
)

_SCOPES = {
    "parameters": "parameters",
    "surface": "x, y and parameters",
    "profile": "angle and parameters",
    "curve": "s and parameters",
    "time": "time and parameters",
    "positions": "time, parameters and coordinates",
    "motion": "time, parameters, coordinates and speeds",
    "anything": "time, parameters, inputs, coordinates and speeds",
    "outputs": "time, parameters, inputs, coordinates, speeds and outputs",
}


def _of_targets(m: Described, parameters: set[str]) -> dict[str, set[str]]:
    """The same for what contacts touch; nothing where there are none."""
    if not m.contacts:
        return {}
    from liaison.model.contacts.targets import CURVE, PROFILE, SURFACE

    return {
        "surface": parameters | {x.name for x in SURFACE},
        "profile": parameters | {PROFILE.name},
        "curve": parameters | {CURVE.name},
    }


def known_symbols(m: Described) -> dict[str, set[str]]:
    """Names that may stand in formulas, by scope."""
    parameters = {p.name for p in m.parameters}
    positions = {x for joint in m.joints for x in joint.coordinates}
    speeds = {x for joint in m.joints for x in joint.speeds} | {f"{x}'" for x in positions}
    speeds |= {x.name for x in states_of(m.forces)}
    time = parameters | {"t"}
    anything = time | positions | speeds | {i.name for i in m.inputs}
    return _of_targets(m, parameters) | {
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
        what = f"force '{force.name}'"
        yield what, force.formulas(), force.SCOPE, force.place
        for marker in force.markers():
            yield what, marker.scalars(), "parameters", force.place
    for constraint in m.constraints:
        what = f"constraint '{constraint.name}'"
        yield what, constraint.formulas(), constraint.SCOPE, constraint.place
        for marker in constraint.markers():
            yield what, marker.scalars(), "parameters", constraint.place
    for contact in m.contacts:
        what = f"{contact.WORD or type(contact).__name__.lower()} '{contact.name}'"
        poses = tuple(x for marker in contact.markers() for x in marker.scalars())
        yield what, poses, "parameters", contact.place
        for scope, entries in contact.scoped():
            yield what, entries, scope, contact.place
    for start in m.starts:
        yield f"the start of '{start.label}'", (start.value,), "parameters", start.place
    seen: tuple[Event | Output, ...] = (*m.events, *m.outputs)
    for record in seen:
        what = f"{type(record).__name__.lower()} '{record.name}'"
        yield what, (record.formula,), "outputs", record.place


def names_used(m: Described) -> set[str]:
    """Names of coordinates and speeds in starts, formulas, loads and relations, without primes."""
    acting: tuple[Force | Constraint | OneSided, ...] = (*m.forces, *m.constraints, *m.contacts)
    used = {start.label for start in m.starts}
    used |= {label for record in acting for label in record.labels()}
    formulas = [x for _, entries, _, _ in _formulas(m) for x in entries if isinstance(x, Expr)]
    used |= {x.name for x in symbols_of(formulas)}
    return {name.rstrip("'") for name in used}


def _excess(node: Expr) -> str:
    """What is wrong with the numbers of an operation; "" for nothing."""
    if node.op == "const":
        if isinstance(node.value, int | Fraction):
            problem = excess(node.value)
            return problem and f"a number {problem}"
        return "" if math.isfinite(node.value) else f"there is {node.value}, no finite number"
    numbers = [float(arg.value) for arg in node.args if arg.op == "const"]
    if node.op == "pow" and node.args[1].op == "const" and abs(numbers[-1]) > MAX_EXPONENT:
        return f"the exponent {node.args[1]} is larger than {MAX_EXPONENT}"
    if node.op == "div" and node.args[1].op == "const" and numbers[-1] == 0:
        return f"{node} divides by zero"
    if len(numbers) < len(node.args) or node.op in ("symbol", "table", "call"):
        return ""
    return "" if math.isfinite(evaluate([node], {})[0]) else f"{node} has no finite value"


def check_nonholonomic_is_linear(m: Described) -> None:
    """Relations of rates have at least one rate; unilateral ones and slips are linear in them."""
    speeds = {x for joint in m.joints for x in joint.speeds}
    speeds |= {f"{x}'" for joint in m.joints for x in joint.coordinates}
    velocity_rows: list[tuple[Constraint | OneSided, Any]] = [
        (x, x.vanishing()) for x in m.constraints if isinstance(x, OfCoordinates) and x.OF_SPEEDS
    ]
    velocity_rows += [(x, formula) for x in m.contacts for formula in x.rates()]
    for relation, formula in velocity_rows:
        rates = [symbol(x.name) for x in symbols_of([as_expr(formula)]) if x.name in speeds]
        left = gradient(as_expr(formula), rates) if rates else []
        if isinstance(relation, Unilateral):
            _check_restitution_is_of_positions(relation, rates)
        if not rates and isinstance(relation, Unilateral):
            continue  # of positions
        curved = sorted({x.name for x in symbols_of(left)} & speeds)
        if curved and isinstance(relation, Constraint):
            _check_without_contacts(m, relation, curved)
            continue
        if curved or not rates:
            raise _not_linear(relation, curved)


def _check_without_contacts(m: Described, relation: Constraint, curved: list[str]) -> None:
    """Raises an error for a relation that is not linear in the rates beside contacts."""
    if m.contacts:
        raise ModelError(
            f"constraint '{relation.name}' is not linear in {', '.join(curved)}, and "
            f"'{m.contacts[0].name}' is unilateral: Chetaev's rule does not define what its "
            "reaction does in an impact.",
            hint="Write it linear in the rates, or leave out unilateral constraints and contacts.",
            place=relation.place,
        )


def _not_linear(relation: Constraint | OneSided, curved: list[str]) -> ModelError:
    """The error for a relation of rates that is not linear in them."""
    what = f"it is not linear in {', '.join(curved)}" if curved else "no rate is in it"
    if not isinstance(relation, Constraint | Unilateral):
        message = f"a slip of contact '{relation.name}' is no rate A q̇ + b: {what}."
        return ModelError(message, place=relation.place)
    form = "A q̇ + b = 0" if isinstance(relation, Constraint) else "W q̇ + h ≤ 0"
    return ModelError(
        f"constraint '{relation.name}' is no relation {form}: {what}; "
        f"{'write it linear in the rates' if curved else 'make it a Holonomic one'}.",
        place=relation.place,
    )


def _check_restitution_is_of_positions(relation: Unilateral, rates: list[Expr]) -> None:
    if rates and not is_zero(relation.restitution):
        raise ModelError(
            f"unilateral '{relation.name}' is one of rates, which is entered without an impact; "
            "it has no restitution.",
            place=relation.place,
        )


def check_relations_hold(m: Described) -> None:
    """A relation that refers to no coordinate holds by itself, or not at all."""
    values = _values(m)
    for relation, formula in _without_coordinates(m):
        at = [values | {symbol("t"): t} for t in (0.0, 1.25)]
        residuals = [value for x in at if (value := _value(formula, x)) is not None]
        is_broken = max if isinstance(relation, OneSided) else _largest
        if residuals and is_broken(residuals) > RELATION_TOLERANCE:
            behavior = (
                f"is {residuals[0]:g} and"
                if residuals[0] == residuals[-1]
                else "changes with time and"
            )
            raise ModelError(
                f"relation '{relation.name}' contains no coordinate, so that no motion can satisfy "
                f"it: its left side less its right side {behavior} must "
                f"{'not be positive' if isinstance(relation, OneSided) else 'be zero'}.",
                place=relation.place,
            )


def _largest(values: list[float]) -> float:
    return max(map(abs, values))


def idle_relations(m: Described) -> list[str]:
    """Relations that refer to no coordinate, as notes."""
    return [
        f"relation '{x.name}' contains no coordinate; it is always satisfied, and has no effect"
        for x, _ in _without_coordinates(m)
    ]


def _without_coordinates(m: Described) -> list[tuple[Any, Any]]:
    """Relations given by a formula in which nothing moves, with that formula."""
    still = known_symbols(m)["time"]
    vanishing: list[tuple[Any, Any]]
    relations = [x for x in m.constraints if isinstance(x, OfCoordinates) and not x.labels()]
    vanishing = [(x, x.vanishing()) for x in relations if not x.OF_SPEEDS]
    vanishing += [(x, x.formula) for x in m.contacts if isinstance(x, Unilateral)]
    vanishing += [(x, -as_expr(x.gap)) for x in m.contacts if isinstance(x, GapContact)]
    return [
        (x, formula)
        for x, formula in vanishing
        if all(s.name in still for s in symbols_of([as_expr(formula)]))
    ]


def check_values_of_parameters(m: Described) -> None:
    """Masses and inertias are possible at the parameters' values."""
    values = _values(m)
    for body in m.bodies:
        entries = [body.mass, *(x for row in body.inertia for x in row)]
        if Expr not in map(type, entries):
            continue  # checked when it was made
        numbers = [_value(x, values) for x in entries]
        if None in numbers:
            continue
        violation = inertia_violation(numbers[0], array(numbers[1:]).reshape(3, 3))
        if violation:
            raise ModelError(
                f"the inertia of body '{body.name}' is impossible at the values of the "
                f"parameters: {violation}",
                place=body.place,
            )


def check_with(m: Described, values: Mapping[str, float]) -> None:
    """Bodies, loads, joints and contacts are possible at other values of parameters, by name.

    Raises:
        ModelError: one of them is not.
    """
    other = tuple(replace(x, value=values[x.name]) if x.name in values else x for x in m.parameters)
    parts: Any = SimpleNamespace(
        bodies=m.bodies, forces=m.forces, constraints=m.constraints, joints=m.joints,
        contacts=m.contacts, parameters=other,
    )  # fmt: skip
    check_values_of_parameters(parts)
    check_loads_with_values(parts)
    check_joints_with_values(parts)
    check_contacts_with_values(parts)


def doubtful_rows(m: Described, values: Mapping[str, Any], rows: int) -> NDArray[np.bool_]:
    """Which rows of values of parameters `check_with` may reject: all rows evaluated at once.

    Args:
        m: the description.
        values: by name, a number or one for each row.
        rows: how many there are.
    """
    numbers: dict[Expr, Any] = {x: np.asarray(value) for x, value in _values(m).items()}
    named = {p.name: p.symbol for p in m.parameters}
    numbers |= {named[name]: np.asarray(x, dtype=float) for name, x in values.items()}
    doubtful = np.zeros(rows, dtype=bool)
    for p in m.parameters if values else ():
        low, high = (None if x is None else number(x) for x in (p.low, p.high))
        column = numbers.get(p.symbol, np.asarray(0.0))
        doubtful |= False if low is None else column < low
        doubtful |= False if high is None else column > high
    for body in m.bodies:
        entries = [body.mass, *(x for row in body.inertia for x in row)]
        if Expr in map(type, entries):
            doubtful |= _impossible(*_columns(entries, numbers, rows))
    for one in (*m.forces, *m.constraints):
        formulas = [getattr(one, part) for part in one.NOT_NEGATIVE]
        sizes, is_known = _columns([x for x in formulas if isinstance(x, Expr)], numbers, rows)
        doubtful |= np.any(~(sizes[is_known] >= 0), axis=0)
    for contact in m.contacts:
        sizes, is_known = _columns(positive_formulas(contact), numbers, rows)
        doubtful |= np.any(~(sizes[is_known] > 0), axis=0)
    options = [getattr(j.type, x) for j in m.joints for x in j.type.OPTIONS]
    return doubtful | any(isinstance(x, Expr) for x in options)


def _columns(
    formulas: list[Any], numbers: Mapping[Expr, Any], rows: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Values of formulas, a column for each row, and which of the formulas have values."""
    values, is_known = np.zeros((len(formulas), rows)), np.ones(len(formulas), dtype=bool)
    for k, x in enumerate(formulas):
        nodes = topological([x]) if isinstance(x, Expr) else []
        is_known[k] = not any(
            n.op == "call" or (n.op == "symbol" and n not in numbers) for n in nodes
        )
        if is_known[k]:
            values[k] = evaluate([x], dict(numbers), ARRAY)[0] if nodes else float(x)
    return values, is_known


def _impossible(values: NDArray[np.float64], is_known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows of a mass and nine entries of a tensor that may be impossible, with some slack."""
    mass, tensor = values[0], values[1:].T.reshape(-1, 3, 3)
    if not np.all(is_known):
        return np.zeros(len(mass), dtype=bool)
    bad: NDArray[np.bool_] = ~np.all(np.isfinite(values), axis=0)
    tensor = np.where(bad[:, None, None], 0.0, tensor)
    # half of what `inertia_violation` lets pass
    slack = 0.5 * ROUNDING * np.sum(np.abs(np.diagonal(tensor, axis1=1, axis2=2)), axis=1)
    A, B, C = np.linalg.eigvalsh(tensor).T
    skew = np.max(np.abs(tensor - tensor.transpose(0, 2, 1)), axis=(1, 2))
    bad |= (mass < 0) | (slack < -A) | (slack < C - A - B) | (slack < skew)
    return bad


def check_loads_with_values(m: Described) -> None:
    """What must not be negative is not, at the parameters' values."""
    values = _values(m)
    for one in (*m.forces, *m.constraints) if values else ():
        for part in one.NOT_NEGATIVE:
            formula = getattr(one, part)
            size = _value(formula, values) if isinstance(formula, Expr) else None
            if size is not None and size < 0:
                raise ModelError(
                    f"the {part} of {one.word()} '{one.name}' is {size:g} at the values of the "
                    "parameters; it must not be negative.",
                    place=one.place,
                )


def check_joints_with_values(m: Described) -> None:
    """Options of joint types are possible at the parameters' values: a pitch is not zero."""
    values = _values(m)
    for joint in m.joints if values else ():
        own: Any = joint.type
        options = {x: getattr(own, x) for x in own.OPTIONS if isinstance(getattr(own, x), Expr)}
        numbers = {name: _value(x, values) for name, x in options.items()}
        known = {name: x for name, x in numbers.items() if x is not None}
        try:
            replace(own, **known)
        except ModelError as error:
            message = f"joint '{joint.name}' at the values of the parameters: {error.message}"
            raise ModelError(message, place=joint.place, hint=error.hint) from None


def _values(m: Described) -> dict[Expr, float]:
    numbers = {p.symbol: None if p.value is None else number(p.value) for p in m.parameters}
    return {x: value for x, value in numbers.items() if value is not None}


def _value(x: Any, values: Mapping[Expr, float]) -> float | None:
    if not isinstance(x, Expr):
        return float(x)
    nodes = topological([x])
    if any(n.op == "call" or (n.op == "symbol" and n not in values) for n in nodes):
        return None  # an unknown law, or a parameter without a value
    return float(evaluate([x], dict(values))[0])


def check_contacts_with_values(m: Described) -> None:
    """Sizes and coefficients of contacts are possible with the values of their parameters."""
    values = {symbol(x.name): x.value for x in m.parameters if x.value is not None}
    for one in m.contacts if values else ():
        contact: Any = one
        parts = (x.name for x in fields(contact) if x.name not in LARGE)
        valued = {part: _valued(getattr(one, part), values) for part in parts}
        replace(contact, **{part: x for part, x in valued.items() if x is not getattr(one, part)})


def _valued(x: Any, values: Mapping[Expr, Any]) -> Any:
    """A number, a triple or a friction with the values of parameters put in."""
    if isinstance(x, Expr):
        return substitute([x], values)[0]
    if isinstance(x, Friction):
        return replace(x, **{part: _valued(getattr(x, part), values) for part in x.parts()})
    return tuple(_valued(y, values) for y in x) if isinstance(x, tuple) else x


FORMULA_CHECKS: tuple[Callable[[Described], None], ...] = (
    check_formulas,
    check_nonholonomic_is_linear,
    check_relations_hold,
    check_values_of_parameters,
    check_loads_with_values,
    check_joints_with_values,
    check_contacts_with_values,
)
