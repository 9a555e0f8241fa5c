"""What people write on the command line: values with units, NAME=VALUE, times.

Every refusal here is of the command line, not of the model.

Public names: mechanism_of, given_to, reader_options, positions_of, run_options, check_folders,
check_word.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import typer

from liaison import corridor
from liaison.errors import LiaisonError, NamingError
from liaison.formats import read_value
from liaison.formats.read import read
from liaison.model import Mechanism
from liaison.tree import as_float
from liaison.units import same, unit_of


def mechanism_of(
    file: Path, values: list[str] | None, starts: list[str] | None = None
) -> tuple[Mechanism, dict[str, float]]:
    """The mechanism in a file with the values of the command line, and the starts given there."""
    return given_to(read(file), values, starts)


def given_to(
    mechanism: Mechanism, values: list[str] | None, starts: list[str] | None = None
) -> tuple[Mechanism, dict[str, float]]:
    """The mechanism with the values of the command line, and the starts given there."""
    units = corridor.units(mechanism)
    start = {name: float(as_float(x)) for name, x in _assignments("--start", starts, units).items()}
    try:
        mechanism = corridor.with_values(mechanism, _assignments("--set", values, units))
        return corridor.with_starts(mechanism, start), start
    except NamingError as error:
        raise typer.BadParameter(str(error)) from None


def reader_options(file: Path, *, lenient: bool, floating: bool) -> dict[str, Any]:
    """Options for the reader of a robot's description; LSD takes none."""
    given = {"--lenient": lenient, "--floating": floating}
    if file.suffix.lower() == ".lsd":
        for option, is_given in given.items():
            if is_given:
                raise typer.BadParameter("LSD says itself what holds.", param_hint=option)
        return {}
    options: dict[str, Any] = {"strict": not lenient}
    return options | ({"floating": True} if floating else {})


def positions_of(mechanism: Mechanism, texts: list[str] | None) -> dict[str, Any]:
    """Positions given on the command line, exact, by label."""
    found = _assignments("--at", texts, corridor.units(mechanism))
    for name in found:
        if name not in mechanism.coordinates:
            unknown = NamingError.unknown("coordinate", name, mechanism.coordinates)
            raise typer.BadParameter(str(unknown), param_hint="--at")
    return found


def run_options(until: str, **others: str | float | None) -> dict[str, Any]:
    """Options of a run: times in seconds, those not given left out."""
    options: dict[str, Any] = {"until": _seconds("--until", until)}
    for name, value in others.items():
        if isinstance(value, str):
            options[name] = _seconds(f"--{name}", value)
        elif value is not None:
            if not value > 0:
                raise typer.BadParameter(f"{value} is not positive.", param_hint=f"--{name}")
            options[name] = value
    return options


def check_folders(*paths: Path | None) -> None:
    """Refuses at once what could not be written at the end of a long run."""
    for path in paths:
        if path and not path.absolute().parent.is_dir():
            raise typer.BadParameter(f"there is no folder {str(path.parent)!r} to write into.")
        if path and path.is_dir():
            raise typer.BadParameter(f"{str(path)!r} is a folder; a file is to be written.")


def check_word(option: str, word: str, known: Collection[str]) -> None:
    """Refuses a word that is none of those known."""
    if word not in known:
        raise typer.BadParameter(f"{word!r} is none of {', '.join(known)}.", param_hint=option)


def _assignments(option: str, texts: list[str] | None, units: Mapping[str, str]) -> dict[str, Any]:
    """NAME=VALUE, each value an exact number with an optional unit that fits the name."""
    found = {}
    for text in texts or ():
        name, equal, value = (part.strip() for part in text.partition("="))
        if not equal or not name:
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint=option)
        found[name] = _quantity(option, value, units.get(name, ""), f" of {name}")
    return found


def _quantity(option: str, text: str, unit: str, whose: str = "") -> Any:
    """An exact number in SI; where it was given a unit, that must be of the kind expected."""
    try:
        value, given = read_value(text)
    except LiaisonError as error:
        message = f"{text!r} is not a number: {error.message}"
        raise typer.BadParameter(message, param_hint=option) from None
    if given and unit and not same(unit_of(given).dimension, unit_of(unit).dimension):
        turns = " A turn a second is 1 rev/s." if "Hz" in (given, unit) else ""
        message = f"{text!r} is in {given}; the unit{whose} is {unit}.{turns}"
        raise typer.BadParameter(message, param_hint=option)
    return value


def _seconds(option: str, text: str) -> float:
    """A time after 0."""
    value = float(as_float(_quantity(option, text, "s")))
    if not value > 0:
        raise typer.BadParameter(f"{text!r} is not a time after 0.", param_hint=option)
    return value
