"""What the formulas of a mechanism must satisfy, one function a rule; each names what breaks it.

Public names: FORMULA_CHECKS, known_symbols, idle_relations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from liaison.errors import LiaisonError, ModelError, NamingError, Place
from liaison.expr import (
    Expr,
    as_expr,
    evaluate,
    gradient,
    substitute,
    symbol,
    symbols_of,
    topological,
)
from liaison.model.contacts.formulas import GapContact, Unilateral
from liaison.model.contacts.friction import Friction
from liaison.model.contacts.one_sided import OneSided
from liaison.model.contacts.targets import CURVE, PROFILE, SURFACE
from liaison.model.relations.relation import Constraint, OfCoordinates
from liaison.spatial import array, inertia_violation, is_zero, number

from .checks import Described
from .records import Event, Output
from .scalars import excess

MAX_EXPONENT = 1000  # of a power
RELATION_TOLERANCE = 1e-9  # by which a relation without coordinates may miss zero, in SI


def check_formulas(m: Described) -> None:
    """Symbols in formulas are known and stand where they may; numbers in them are numbers."""
    scopes = known_symbols(m)
    for what, entries, scope, place in _formulas(m):
        formulas = [x for x in entries if x.__class__ is Expr]
        for node in topological(formulas) if formulas else ():
            if node.op == "symbol" and node.name not in scopes[scope]:
                raise _misplaced(node.name, what, scope, scopes, place)
            said = _excess(node)
            if said:
                raise ModelError(f"in the formula of {what}, {said}.", place=place)


def _misplaced(
    name: str, what: str, scope: str, scopes: Mapping[str, set[str]], place: Place | None
) -> LiaisonError:
    """The refusal of a symbol that is not known, or not here."""
    if name in scopes["outputs"]:
        said = f"{what} depends on '{name}'; it may depend on {_SCOPES[scope]} only."
        return ModelError(said, place=place)
    word = "parameter" if scope == "parameters" else "symbol"
    return NamingError.unknown(f"{word} in {what}", name, scopes[scope], place=place)


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


def known_symbols(m: Described) -> dict[str, set[str]]:
    """Names that may stand in formulas, by scope."""
    parameters = {p.name for p in m.parameters}
    positions = {x for joint in m.joints for x in joint.coordinates}
    speeds = {x for joint in m.joints for x in joint.speeds} | {f"{x}'" for x in positions}
    time = parameters | {"t"}
    anything = time | positions | speeds | {i.name for i in m.inputs}
    return {
        "parameters": parameters,
        "surface": parameters | {x.name for x in SURFACE},
        "profile": parameters | {PROFILE.name},
        "curve": parameters | {CURVE.name},
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


def _excess(node: Expr) -> str:
    """What is wrong with the numbers of an operation; "" for nothing."""
    if node.op == "const":
        if isinstance(node.value, int | Fraction):
            said = excess(node.value)
            return said and f"a number {said}"
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
    """Nonholonomic formulas are linear in the rates, with at least one rate in them."""
    speeds = {x for joint in m.joints for x in joint.speeds}
    speeds |= {f"{x}'" for joint in m.joints for x in joint.coordinates}
    told: list[tuple[Constraint | OneSided, Any]] = [
        (x, x.vanishing()) for x in m.constraints if isinstance(x, OfCoordinates) and x.OF_SPEEDS
    ]
    told += [(x, formula) for x in m.contacts for formula in x.rates()]
    for relation, formula in told:
        rates = [symbol(x.name) for x in symbols_of([as_expr(formula)]) if x.name in speeds]
        left = gradient(as_expr(formula), rates) if rates else []
        if isinstance(relation, Unilateral):
            _check_restitution_is_of_positions(relation, rates)
        if not rates and isinstance(relation, Unilateral):
            continue  # of positions
        curved = sorted({x.name for x in symbols_of(left)} & speeds)
        if curved or not rates:
            raise _not_linear(relation, curved)


def _not_linear(relation: Constraint | OneSided, curved: list[str]) -> ModelError:
    """The refusal of a relation of rates that is not linear in them."""
    what = f"it is not linear in {', '.join(curved)}" if curved else "no rate is in it"
    if not isinstance(relation, Constraint | Unilateral):
        said = f"a slip of contact '{relation.name}' is no rate A q̇ + b: {what}."
        return ModelError(said, place=relation.place)
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
    """A relation that speaks of no coordinate holds by itself, or not at all."""
    values = _values(m)
    for relation, formula in _without_coordinates(m):
        at = [values | {symbol("t"): t} for t in (0.0, 1.25)]
        found = [value for x in at if (value := _value(formula, x)) is not None]
        is_broken = max if isinstance(relation, OneSided) else _largest
        if found and is_broken(found) > RELATION_TOLERANCE:
            told = f"is {found[0]:g} and" if found[0] == found[-1] else "changes with time and"
            raise ModelError(
                f"relation '{relation.name}' contains no coordinate, so that no motion can satisfy "
                f"it: its left side less its right side {told} must "
                f"{'not be positive' if isinstance(relation, OneSided) else 'be zero'}.",
                place=relation.place,
            )


def _largest(values: list[float]) -> float:
    return max(map(abs, values))


def idle_relations(m: Described) -> list[str]:
    """Relations that speak of no coordinate, as notes."""
    return [
        f"relation '{x.name}' contains no coordinate; it is always satisfied, and has no effect"
        for x, _ in _without_coordinates(m)
    ]


def _without_coordinates(m: Described) -> list[tuple[Any, Any]]:
    """Relations given by a formula in which nothing moves, with that formula."""
    still = known_symbols(m)["time"]
    told: list[tuple[Any, Any]]
    relations = [x for x in m.constraints if isinstance(x, OfCoordinates) and not x.labels()]
    told = [(x, x.vanishing()) for x in relations if not x.OF_SPEEDS]
    told += [(x, x.formula) for x in m.contacts if isinstance(x, Unilateral)]
    told += [(x, -as_expr(x.gap)) for x in m.contacts if isinstance(x, GapContact)]
    return [
        (x, formula)
        for x, formula in told
        if all(s.name in still for s in symbols_of([as_expr(formula)]))
    ]


def check_values_of_parameters(m: Described) -> None:
    """Masses and inertias are possible at the parameters' values."""
    values = _values(m)
    for body in m.bodies:
        entries = [body.mass, *(x for row in body.inertia for x in row)]
        if Expr not in map(type, entries):
            continue  # judged when it was made
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
    nodes = topological([x])
    if any(n.op == "call" or (n.op == "symbol" and n not in values) for n in nodes):
        return None  # an unknown law, or a parameter without a value
    return float(evaluate([x], dict(values))[0])


def check_contacts_with_values(m: Described) -> None:
    """Sizes and coefficients of contacts are possible with the values of their parameters."""
    values = {symbol(x.name): x.value for x in m.parameters if x.value is not None}
    for one in m.contacts if values else ():
        made: Any = one
        parts = (x.name for x in fields(made) if x.name not in _LARGE)
        told = {part: _valued(getattr(one, part), values) for part in parts}
        replace(made, **{part: x for part, x in told.items() if x is not getattr(one, part)})


_LARGE = ("formula", "gap", "slips", "surface", "profile", "curve")


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
    check_contacts_with_values,
)
