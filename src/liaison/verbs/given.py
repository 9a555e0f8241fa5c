"""Arguments of the verbs: a mechanism, or the path of its text, with other values and starts.

Public names: Given, Value, mechanism_of, with_notes, mechanism_or_tree, with_values, with_starts,
under_control, check_no_controller, units, in_si, exact_in_si, in_seconds, is_conservative,
check_positive, check_moving, check_parameters.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from liaison.arguments import checked
from liaison.errors import ArgumentError, ModelError, NamingError, ReadingWarning
from liaison.expr.graph.node import as_expr
from liaison.expr.graph.walk import symbols_of
from liaison.formats.guard import Reading
from liaison.formats.read import reading
from liaison.model.loads.load import OfMechanism
from liaison.model.mechanism import Mechanism, Start
from liaison.model.scalars import scalar
from liaison.numeric.progress import log
from liaison.tree.tree import Tree
from liaison.units import si_value, si_values

Given: TypeAlias = Mechanism | str | Path
"""A mechanism, the path of the text that describes it, or the text."""

Value: TypeAlias = float | str
"""A number in SI, or a text with a number and a unit: "250 g", "40 deg"."""


def mechanism_of(given: Given) -> Mechanism:
    """The mechanism itself, or the one that its text describes.

    Warns:
        ReadingWarning: what of the text is not used, or was repaired.
    """
    if isinstance(given, Mechanism):
        return given
    if isinstance(given, str | Path):
        return with_notes(reading(given))
    raise ModelError(
        f"a {type(given).__name__} is given where a mechanism is meant: give a Mechanism, the "
        "path of its text, or the text."
    )


def with_notes(content: Reading) -> Mechanism:
    """The mechanism that was read; its notes are given as warnings."""
    for note in content.notes:
        place = content.mechanism.place
        warning = ReadingWarning(note, place.file if place else "")
        log("formats", "%s", warning)
        warnings.warn(warning, stacklevel=4)
    return content.mechanism


def mechanism_or_tree(given: Given | Tree) -> Mechanism:
    """The mechanism itself, of a tree, or the one that its text describes."""
    return given.mechanism if isinstance(given, Tree) else mechanism_of(given)


@checked
def with_values(mechanism: Mechanism, values: Mapping[str, Any]) -> Mechanism:
    """The mechanism with other values of some parameters and inputs, by name.

    Raises:
        NamingError: no parameter or input has that name.

    Example:
        >>> import liaison
        >>> m = liaison.with_values(liaison.read("examples/pendulum.lsd"), {"l": "2 m"})
        >>> float(m.parameters[1].value)
        2.0
    """
    known = [x.name for x in (*mechanism.parameters, *mechanism.inputs)]
    for name in values:
        if name not in known:
            raise NamingError.unknown("parameter or input", name, known)
    if not values:
        return mechanism
    return replace(
        mechanism,
        parameters=tuple(_with(x, "value", values) for x in mechanism.parameters),
        inputs=tuple(_with(x, "default", values) for x in mechanism.inputs),
    )


def check_parameters(mechanism: Mechanism, names: Iterable[str]) -> None:
    """Checks that names are those of parameters; an input has a table of its own.

    Raises:
        NamingError: no parameter has that name.
    """
    known, inputs = ([x.name for x in y] for y in (mechanism.parameters, mechanism.inputs))
    for name in names:
        if name in inputs:
            raise NamingError(
                f"{name!r} is an input, no parameter.",
                hint=f"Give it as such: inputs={{{name!r}: …}}; in a study file below [inputs].",
            )
        if name not in known:
            raise NamingError.unknown("parameter", name, known)


def _with(record: Any, field: str, values: Mapping[str, Any]) -> Any:
    return replace(record, **{field: values[record.name]}) if record.name in values else record


@checked
def with_starts(
    mechanism: Mechanism, starts: Mapping[str, Value], guesses: Mapping[str, Value] | None = None
) -> Mechanism:
    """The mechanism with other starts of some coordinates and rates, by label.

    Args:
        mechanism: any.
        starts: values that are held, instead of its own starts and guesses of these labels.
        guesses: values that begin assembling and may move, likewise.

    Example:
        >>> import liaison
        >>> m = liaison.with_starts(liaison.read("examples/pendulum.lsd"), {"A": "60 deg"})
        >>> round(liaison.check(m).start.state["A"], 6)
        1.047198
    """
    loose = {label: value for label, value in (guesses or {}).items() if label not in starts}
    kept = tuple(x for x in mechanism.starts if x.label not in starts and x.label not in loose)
    held = tuple(Start(label, value) for label, value in starts.items())
    moved = tuple(Start(label, value, is_guess=True) for label, value in loose.items())
    return replace(mechanism, starts=kept + held + moved) if held or moved else mechanism


def under_control(given: Given, controller: Any) -> Mechanism:
    """The mechanism, with the formulas of its controllers in it; none where that is None."""
    mechanism = mechanism_of(given)
    if controller is None:
        return mechanism
    from liaison.analyse.control.controlled import controlled

    return controlled(mechanism, controller)


def check_no_controller(verb: str, controller: Any) -> None:
    """Raises an error for a controller of a kernel, which is compiled already."""
    if controller is not None:
        raise ArgumentError(
            f"{verb}: controller becomes part of a mechanism; this is a kernel.",
            hint="Pass the mechanism, or compile controlled(mechanism, controller).",
        )


def units(mechanism: Mechanism) -> dict[str, str]:
    """The unit of every parameter, input, output, coordinate and speed; only outputs are not SI."""
    records = (*mechanism.parameters, *mechanism.inputs, *mechanism.outputs)
    by_label = {x.name: x.unit for x in records}
    for joint in mechanism.joints:
        by_label |= zip(joint.coordinates, joint.type.coordinate_units, strict=True)
        by_label |= zip(joint.speeds, joint.type.speed_units, strict=True)
    return by_label | {x.name: x.unit for x in mechanism.states}


def in_si(mechanism: Mechanism, values: Mapping[str, Any] | None, what: str) -> dict[str, Any]:
    """Values by label, each text ("40 deg", or a list of them) as a number in SI.

    Args:
        mechanism: that has the coordinates, rates, parameters and inputs.
        values: numbers stay as they are, and so does anything else that is no text.
        what: the argument they come from, for messages: "start".

    Raises:
        ArgumentError: a text without a unit, or with one of another dimension.
        NamingError: a text for a label that the mechanism does not have.
    """
    known = _units_of_texts(mechanism, values)
    return {
        label: si_values(x, known.get(label, ""), f"{what} of {label!r}")
        for label, x in (values or {}).items()
    }


def exact_in_si(
    mechanism: Mechanism, values: Mapping[str, Any] | None, what: str
) -> dict[str, Any] | None:
    """As `in_si`, but exact numbers, such as 2π/9 for "40 deg"; None stays None."""
    if values is None:
        return None
    known = _units_of_texts(mechanism, values)
    return {
        label: scalar(x, f"{what} of {label!r}", unit=known[label]) if isinstance(x, str) else x
        for label, x in values.items()
    }


def _units_of_texts(mechanism: Mechanism, values: Mapping[str, Any] | None) -> dict[str, str]:
    """Units by label, where some value is a text; each of these has a unit."""
    texts = [label for label, x in (values or {}).items() if isinstance(x, str | list | tuple)]
    if not texts:
        return {}
    known = units(mechanism)
    for name in (x.name for x in mechanism.outputs):
        known.pop(name, None)
    for label in texts:
        if label not in known and isinstance((values or {})[label], str):
            raise NamingError.unknown("coordinate, rate, parameter or input", label, known)
    return known


def in_seconds(x: float | str, what: str) -> float:
    """A time [s], from a number or a text such as "10 ms"."""
    seconds: float = si_value(x, "s", what)
    return seconds


def is_conservative(mechanism: Mechanism) -> bool:
    """Whether T + U stays what it was: only potentials act, and nothing depends on time."""
    keeping = all(x.KEEPS_ENERGY for x in mechanism.forces)
    holding = all(x.KEEPS_ENERGY for x in mechanism.constraints)
    formulas = [as_expr(x) for force in mechanism.forces for x in force.formulas()]
    formulas += [as_expr(x) for constraint in mechanism.constraints for x in constraint.formulas()]
    varying = {"t", *(x.name for x in mechanism.inputs)}
    used = {x.name for x in symbols_of(formulas)}
    rated = [x for x in mechanism.forces if x.KEEPS_ENERGY and not isinstance(x, OfMechanism)]
    of_rates = {y.name for x in rated for f in x.formulas() for y in symbols_of([as_expr(f)])}
    still = not used & varying and not of_rates & {*mechanism.speeds}
    return keeping and holding and not mechanism.contacts and still


def check_positive(verb: str, **values: float | None) -> None:
    """Raises an ArgumentError for a value that is not above 0; None is no value."""
    for name, x in values.items():
        if x is not None and not x > 0:
            raise ArgumentError(f"{verb}: {name} is {x!r}; it must be above 0.")


def check_moving(verb: str, mechanism: Mechanism) -> None:
    """Raises a ModelError for a mechanism without any velocity, of which `verb` says nothing."""
    if not mechanism.speeds:
        raise ModelError(
            f"{verb}: nothing moves in {mechanism.name!r}; its joints are all fixed.",
            place=mechanism.place,
            hint="Give it a joint that moves, or free its base: --floating for URDF.",
        )
