"""Names that the Python functions accept: units, and the kinds of joints.

A unit word converts: what is given in it is kept in SI, what is shown in it is divided by it.

Public names: in_si, written_unit, si_label, in_unit, joint_kind, check_output_units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from liaison.errors import ModelError, NamingError, Place
from liaison.expr import PI, Expr, as_expr, symbols_of
from liaison.units import quantity, si_unit, unit_of
from liaison.units import same as same_dimension

from .joints import JOINT_TYPES, JointType
from .records import Joint, Output
from .scalars import scalar

# Units ------------------------------------------------------------------------------------------


def in_si(x: Any, unit: str, what: str, place: Place | None) -> Any:
    """A number in a unit, or a text, in SI and exact if it came exact; None stays None."""
    if isinstance(x, str):
        return scalar(x, what, place, si_label(unit, place))
    if x is None or not unit:
        return x
    return scalar(x, what, place) * _factor(unit, place)


def written_unit(values: Iterable[Any], what: str, place: Place | None) -> str:
    """The unit of the first text among values; "" without one."""
    texts = (x for x in values if isinstance(x, str))
    return next((quantity(x, what, error=ModelError, place=place).unit for x in texts), "")


def si_label(unit: str, place: Place | None) -> str:
    """The SI unit for a unit: the same word where it is one already."""
    parsed = unit_of(unit, place)
    return unit if parsed.factor == 1 and not parsed.pi else si_unit(parsed.dimension)


def in_unit(formula: Any, unit: str, what: str, place: Place | None) -> Any:
    """A formula in SI, as a number in a unit."""
    factor = _factor(unit, place)
    return formula if factor == 1 else as_expr(scalar(formula, what, place)) / factor


def _factor(unit: str, place: Place | None) -> Any:
    parsed = unit_of(unit, place)
    value: Any = parsed.factor
    for _ in range(abs(parsed.pi)):
        value = value * PI if parsed.pi > 0 else value / PI
    return value


def check_output_units(outputs: Iterable[Output], joints: Iterable[Joint]) -> None:
    """Rejects an output that is one coordinate or speed, in a unit of another dimension."""
    units: dict[str, str] = {}
    for joint in joints:
        units |= zip(joint.coordinates, joint.type.coordinate_units, strict=True)
        units |= zip(joint.speeds, joint.type.speed_units, strict=True)
    for output in outputs:
        label = _only_symbol(output.formula)
        if label in units and output.unit:
            _check_unit(output, label, units)


def _check_unit(output: Output, label: str, units: Mapping[str, str]) -> None:
    own, printed = unit_of(units[label]).dimension, unit_of(output.unit, output.place).dimension
    if not same_dimension(own, printed):
        raise ModelError(
            f"output '{output.name}' is to be shown in {output.unit}, but {label} is in "
            f"{units[label] or 'no unit'}.",
            place=output.place,
            hint="A turn a second is 1 rev/s." if "Hz" in output.unit else "",
        )


def _only_symbol(formula: Any) -> str:
    """The name of the symbol in symbol, number · symbol or symbol / number; "" for other things."""
    if not isinstance(formula, Expr):
        return ""
    if formula.op == "symbol":
        return formula.name
    inside = formula.args if formula.op == "mul" else formula.args[:1]
    names = [x.name for x in inside if x.op == "symbol"]
    others = [x for x in formula.args if x.op != "symbol"]
    scales = formula.op in ("mul", "div") and len(others) == 1 and not symbols_of(others)
    return names[0] if scales and names else ""


# Joints -----------------------------------------------------------------------------------------


def joint_kind(kind: Any, joint: str, place: Place | None) -> JointType:
    """A joint type, given as such, as its class, or by its word ("revolute")."""
    if isinstance(kind, JointType):
        return kind
    if isinstance(kind, str):
        if kind.lower() not in JOINT_TYPES.words:
            raise NamingError.unknown("joint type", kind, JOINT_TYPES.words, place=place)
        kind = JOINT_TYPES.words[kind.lower()]
    if not (isinstance(kind, type) and issubclass(kind, JointType)):
        raise ModelError(
            f"joint '{joint}' is given the type {kind!r}; a joint type is an object such as "
            "Revolute(), its class, or its keyword 'revolute'.",
            place=place,
        )
    needed = kind.required()
    if needed:
        raise ModelError(
            f"joint '{joint}': a {kind.__name__} joint needs its {' and '.join(needed)}: "
            f"write {kind.__name__}({', '.join(f'{x}=…' for x in needed)}).",
            place=place,
        )
    return kind()
