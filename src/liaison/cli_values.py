"""What people write on the command line: values with units, NAME=VALUE, times.

Every refusal here is of the command line, not of the model.

Public names: Asked, asked, asked_of, reader_options, positions_of, run_options, method_options,
drawable, limit_option, check_folders, check_files, check_suffix, check_names, check_word, named_by.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import typer

from liaison import corridor
from liaison.contacts.events.one_sided import IMPACT_LAWS
from liaison.formats.read import read
from liaison.simulation.plan.settings import INSTANTS
from liaison.simulation.steps.rungekutta import TABLEAUX

from .errors import LiaisonError, NamingError
from .expr import Expr, symbols_of
from .formats import read_value
from .model import Mechanism
from .simulation import Settings
from .summary import units
from .tree import as_float
from .units import same, unit_of

MOST_STEPS = Settings().max_steps
DRAWN_STEPS = 400

OWN_OPTIONS = {
    "spectral_radius": ("generalized-alpha", 0.0, 1.0),
    "theta": ("moreau", 0.5, 1.0),
    "facets": ("moreau", 3.0, math.inf),
}
"""An option of one method alone: its method, its least and its greatest value."""

PLOTS = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp", ".eps")


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """A mechanism with the values of the command line, its starts and formulas for its inputs."""

    mechanism: Mechanism
    start: dict[str, float]
    inputs: dict[str, Expr]


def asked(
    file: Path,
    values: list[str] | None,
    starts: list[str] | None = None,
    robot: tuple[bool, bool, bool] = (False, False, False),
) -> Asked:
    """The mechanism in a file, with what the command line says of it; see `reader_options`."""
    return asked_of(read(file, **reader_options(file, *robot)), values, starts)


def asked_of(
    mechanism: Mechanism, values: list[str] | None, starts: list[str] | None = None
) -> Asked:
    """A mechanism with what the command line says of it."""
    known = units(mechanism)
    driven = {x.name for x in mechanism.inputs}
    given = _assignments("--set", values, known, may_vary=driven)
    inputs = {name: x for name, x in given.items() if _varies(x)}
    start = {name: float(as_float(x)) for name, x in _assignments("--start", starts, known).items()}
    held = {name: x for name, x in given.items() if name not in inputs}
    try:
        mechanism = corridor.with_values(mechanism, held)
        return Asked(corridor.with_starts(mechanism, start), start, inputs)
    except NamingError as error:
        raise typer.BadParameter(str(error)) from None


def reader_options(file: Path, lenient: bool, floating: bool, merge_fixed: bool) -> dict[str, Any]:
    """Options for the reader of a robot's description; those that its language has no use for."""
    given = {"--lenient": lenient, "--floating": floating, "--merge-fixed": merge_fixed}
    suffix = file.suffix.lower()
    known = {".urdf": tuple(given), ".lsd": ()}.get(suffix, ("--lenient",))
    for option, is_given in given.items():
        if is_given and option not in known:
            said = "LSD says itself what holds." if suffix == ".lsd" else "it is for URDF."
            raise typer.BadParameter(said, param_hint=option)
    words = {"strict": not lenient, "floating": floating, "merge_fixed": merge_fixed}
    return {word: x for word, x in words.items() if x != (word == "strict")}


def positions_of(mechanism: Mechanism, texts: list[str] | None) -> dict[str, Any]:
    """Positions given on the command line, exact, by label."""
    found = _assignments("--at", texts, units(mechanism))
    check_names("--at", "coordinate", found, mechanism.coordinates)
    return found


def run_options(until: str, **others: str | float | None) -> dict[str, Any]:
    """Options of a run: times in seconds, those not given left out."""
    options: dict[str, Any] = {"until": _seconds("--until", until)}
    for name, value in others.items():
        if isinstance(value, str):
            options[name] = _seconds(f"--{name.replace('_', '-')}", value)
        elif value is not None:
            if not value > 0:
                raise typer.BadParameter(f"{value} is not positive.", param_hint=f"--{name}")
            options[name] = value
    if "step" in options and not options.keys().isdisjoint(("rtol", "atol")):
        message = "a fixed step has no tolerance; give --step, or --rtol and --atol."
        raise typer.BadParameter(message, param_hint="--step")
    _check_count(
        "step",
        options,
        options.get("max_steps", MOST_STEPS),
        "take longer steps, or give --max-steps",
    )
    _check_count("every", options, INSTANTS, "record less often")
    return options


def drawable(plot: Path | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Steps short enough for curves, where every step is recorded and a plot is asked for.

    Both sides of an impact are recorded then, and forces and energies between impacts.
    """
    said = ("step", "every", "max_steps")
    if plot is None or not options.keys().isdisjoint(said) or not options["until"] > 0:
        return {}
    return {"max_step": options["until"] / DRAWN_STEPS}


def _check_count(name: str, options: Mapping[str, Any], most: int, advice: str) -> None:
    """Refuses at once what a run would refuse after a long time."""
    count = options["until"] / options.get(name, float("inf"))
    if count > most * (1 + 1e-9):
        message = (
            f"every {options[name]:g} s makes {count:.3g} until {options['until']:g} s, and a run "
            f"has {most:,} at most: {advice}."
        )
        raise typer.BadParameter(message, param_hint=f"--{name}")


@contextmanager
def named_by(option: str) -> Iterator[None]:
    """What is named by an option and does not exist is a mistake of the command line."""
    try:
        yield
    except NamingError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def limit_option(text: str | None) -> dict[str, float]:
    """A bound on the wall clock [s]; nothing where none is given."""
    return {} if text is None else {"time_limit": _seconds("--time-limit", text)}


def method_options(method: str | None, step: str | None, **own: Any) -> dict[str, Any]:
    """The integration method and what is of it alone, checked; nothing where nothing is named.

    Args:
        method: its name.
        step: the fixed step, as written.
        own: `spectral_radius`, `impacts`, `theta`, `facets`; None where not given.
    """
    given = {name: value for name, value in own.items() if value is not None}
    for name, value in given.items():
        if wrong := _misfit(name, value, method):
            option = "--" + name.replace("_", "-")
            raise typer.BadParameter(f"{value}: {wrong}", param_hint=option)
    if method is None:
        return given
    check_word("--method", method, TABLEAUX)
    if step is None and not TABLEAUX[method].is_adaptive:
        raise typer.BadParameter(f"{method} needs a fixed --step.", param_hint="--method")
    return {"method": method, **given}


def _misfit(name: str, value: Any, method: str | None) -> str:
    """Why an option of one method does not fit; empty where it does."""
    if name == "impacts":
        check_word("--impacts", value, IMPACT_LAWS)
        return "--method moreau has its own law of impacts." if method == "moreau" else ""
    owner, least, most = OWN_OPTIONS[name]
    if method == owner and least <= value <= most:
        return ""
    top = "or more" if most == math.inf else f"to {most:g}"
    return f"it is {least:g} {top}, and for --method {owner}."


def check_folders(*paths: Path | None) -> None:
    """Refuses at once what could not be written at the end of a long run."""
    for path in paths:
        if path and not path.absolute().parent.is_dir():
            raise typer.BadParameter(f"there is no folder {str(path.parent)!r} to write into.")
        if path and path.is_dir():
            raise typer.BadParameter(f"{str(path)!r} is a folder; a file is to be written.")


def check_files(
    out: Path | None, csv: Path | None, plot: Path | None, label: list[str] | None
) -> None:
    """Refuses, before a run, files that could not be written after it."""
    check_folders(out, csv, plot)
    check_suffix("--out", out, (".nc",))
    check_suffix("--plot", plot, PLOTS)
    if label and not plot:
        raise typer.BadParameter(
            "it says what to plot; give --plot FILE too.", param_hint="--label"
        )


def check_word(option: str, word: str, known: Collection[str]) -> None:
    """Refuses a word that is none of those known."""
    if word not in known:
        raise typer.BadParameter(f"{word!r} is none of {', '.join(known)}.", param_hint=option)


def check_names(option: str, kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Refuses a name that nothing has, and proposes the nearest."""
    for name in names:
        if name not in known:
            unknown = NamingError.unknown(kind, name, known)
            raise typer.BadParameter(str(unknown), param_hint=option)


def check_suffix(option: str, path: Path | None, known: Collection[str]) -> None:
    """Refuses a file whose name ends otherwise than what is written into it."""
    if path and path.suffix.lower() not in known:
        message = f"the name of {str(path)!r} must end in {' or '.join(known)}."
        raise typer.BadParameter(message, param_hint=option)


def _assignments(
    option: str,
    texts: list[str] | None,
    known: Mapping[str, str],
    *,
    may_vary: Collection[str] = (),
) -> dict[str, Any]:
    """NAME=VALUE: exact numbers with an optional unit that fits the name, or formulas."""
    found = {}
    for text in texts or ():
        name, equal, value = (part.strip() for part in text.partition("="))
        if not equal or not name:
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint=option)
        found[name] = _quantity(option, value, known.get(name, ""), f" of {name}", known)
        if name not in may_vary:
            _check_number(option, value, found[name], f"{name} is")
    return found


def _quantity(
    option: str, text: str, unit: str, whose: str = "", known: Mapping[str, str] | None = None
) -> Any:
    """An exact number or a formula in SI; a unit it was given must be of the kind expected."""
    try:
        value, given = read_value(text, units=known)
    except LiaisonError as error:
        message = f"{text!r} is not a number: {error.message}"
        raise typer.BadParameter(message, param_hint=option) from None
    if given and unit and not same(unit_of(given).dimension, unit_of(unit).dimension):
        turns = " A turn a second is 1 rev/s." if "Hz" in (given, unit) else ""
        message = f"{text!r} is in {given}; the unit{whose} is {unit}.{turns}"
        raise typer.BadParameter(message, param_hint=option)
    return value


def _varies(value: Any) -> bool:
    return isinstance(value, Expr) and bool(symbols_of([value]))


def _check_number(option: str, text: str, value: Any, what: str) -> None:
    """Refuses a formula where a number is meant."""
    if _varies(value):
        names = ", ".join(x.name for x in symbols_of([value]))
        message = f"{text!r} depends on {names}; {what} a number. Formulas are for inputs."
        raise typer.BadParameter(message, param_hint=option)


def _seconds(option: str, text: str) -> float:
    """A time after 0."""
    quantity = _quantity(option, text, "s")
    _check_number(option, text, quantity, "a time is")
    value = float(as_float(quantity))
    if not value > 0:
        raise typer.BadParameter(f"{text!r} is not a time after 0.", param_hint=option)
    return value
