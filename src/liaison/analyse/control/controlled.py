"""A mechanism under control: inputs that are formulas of state and time take their place in it.

A controller says what its inputs are, as formulas. The mechanism in which they stand for the inputs
is a description like any other: it runs compiled, is linearized exactly and written as LSD, and its
efforts are outputs by the names that the inputs had.

Public names: Controller, controlled, clipped, NO_LIMITS.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from liaison.errors import ArgumentError, ModelError
from liaison.expr import Expr, as_expr, maximum, minimum, substitute, symbol, symbols_of
from liaison.model import Force, Mechanism, Output
from liaison.units import si_value

NO_LIMITS: Mapping[str, Any] = MappingProxyType({})


@runtime_checkable
class Controller(Protocol):
    """What gives inputs of a mechanism as formulas of its state, of time and of parameters."""

    def formulas(self, mechanism: Mechanism) -> Mapping[str, Any]:
        """Input -> formula, by the labels of the mechanism.

        Args:
            mechanism: with all its inputs.
        """


def controlled(mechanism: Mechanism, controller: Any) -> Mechanism:
    """The mechanism with formulas in the place of inputs.

    Args:
        mechanism: with the inputs.
        controller: an object with `formulas`, a load such as a PID, or several of them; what
            several give to one input is added.

    Raises:
        ArgumentError: something that is no controller.
        ModelError: a formula depends on what other formulas give.
    """
    total: dict[str, Expr] = {}
    forces: list[Force] = []
    for one in _listed(controller):
        if isinstance(one, Force):
            forces.append(one)
            continue
        for name, formula in one.formulas(mechanism).items():
            total[name] = as_expr(formula) + total.get(name, as_expr(0))
    whole = replace(mechanism, forces=(*mechanism.forces, *forces)) if forces else mechanism
    return with_formulas(whole, total)


def _listed(controller: Any) -> list[Any]:
    several = isinstance(controller, Iterable) and not isinstance(controller, str | Mapping)
    listed = list(controller) if several else [controller]
    for one in listed:
        if not isinstance(one, Controller | Force):
            raise ArgumentError(
                f"controller is {one!r}; it must be a controller such as "
                "computed_torque(…), a load such as pid(…), or a list of them.",
                hint="A Python function is an input: inputs={'motor': ('10 ms', function)}.",
            )
    return listed


def with_formulas(mechanism: Mechanism, formulas: Mapping[str, Expr]) -> Mechanism:
    """The mechanism with formulas for some inputs, which become outputs of the same names."""
    if not formulas:
        return mechanism
    for name, formula in formulas.items():
        circular = [x.name for x in symbols_of([formula]) if x.name in formulas]
        if circular:
            raise ModelError(
                f"the formula for input {name!r} depends on {circular[0]!r}, which a controller "
                "gives, too.",
                hint="Write it in terms of coordinates, speeds, states and time.",
            )
    places = {symbol(name): formula for name, formula in formulas.items()}
    units = {x.name: x.unit for x in mechanism.inputs}
    shown = tuple(Output(name, formula, units[name]) for name, formula in formulas.items())
    return replace(
        mechanism,
        forces=tuple(_with(x, (*x.SCALARS, *x.TRIPLES), places) for x in mechanism.forces),
        inputs=tuple(x for x in mechanism.inputs if x.name not in formulas),
        events=tuple(_with(x, ("formula",), places) for x in mechanism.events),
        outputs=tuple(_with(x, ("formula",), places) for x in mechanism.outputs) + shown,
    )


def _with(record: Any, parts: Iterable[str], places: Mapping[Expr, Expr]) -> Any:
    """A record with formulas in the place of symbols."""
    changed = {}
    for part in parts:
        value = getattr(record, part)
        entries = value if isinstance(value, tuple) else (value,)
        if not any(_uses(x, places) for x in entries):
            continue
        new = tuple(substitute([x], places)[0] if _uses(x, places) else x for x in entries)
        changed[part] = new if isinstance(value, tuple) else new[0]
    return replace(record, **changed) if changed else record


def _uses(x: Any, places: Mapping[Expr, Expr]) -> bool:
    return isinstance(x, Expr) and any(s in places for s in symbols_of([x]))


def clipped(
    formulas: Mapping[str, Expr], limits: Mapping[str, Any] | None, mechanism: Mechanism
) -> dict[str, Expr]:
    """The formulas, each within ± its limit.

    Args:
        formulas: by input.
        limits: greatest magnitude by input, a number in SI or a text with a unit.
        mechanism: with the units of its inputs.
    """
    units = {x.name: x.unit for x in mechanism.inputs}
    bounded = dict(formulas)
    for name, limit in (limits or {}).items():
        if name not in bounded:
            raise ArgumentError(
                f"a limit is given for {name!r}, which the controller does not give.",
                hint=f"It gives {', '.join(map(repr, formulas))}.",
            )
        bound = float(si_value(limit, units[name], f"the limit of {name!r}"))
        bounded[name] = maximum(minimum(bounded[name], bound), -bound)
    return bounded
