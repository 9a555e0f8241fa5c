"""Values on the command line: numbers with units, NAME=VALUE, times.

Every error here is one of the command line, not of the model.

Public names: Request, read_request, request_of, reader_options, mechanism_asked, positions_of,
numbers_by_name, three, seconds, limit_option, check_folders, check_files, check_suffix,
check_names, check_word, named_by.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import typer

from liaison.errors import LiaisonError, NamingError
from liaison.expr.graph.node import Expr
from liaison.expr.graph.walk import symbols_of
from liaison.formats.lsd.read import read_value
from liaison.formats.read import reading
from liaison.model.mechanism import Mechanism
from liaison.tree.tree import as_float
from liaison.units import converts, unit_of
from liaison.verbs.given import Given, units, with_notes, with_starts, with_values

if TYPE_CHECKING:
    from liaison.studies.files import StudyFile

UNITLESS = re.compile(r"[-+*/^().\deE ]+")
"""A number, or one that is computed, without a unit; π makes an angle in radians of it."""

PLOTS = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp", ".eps")


@final
@dataclass(frozen=True, slots=True)
class Request:
    """A mechanism with the values of the command line, its starts and formulas for its inputs."""

    mechanism: Mechanism
    start: dict[str, float]
    inputs: dict[str, Expr]


def read_request(
    file: Path,
    values: list[str] | None,
    starts: list[str] | None = None,
    robot: Mapping[str, Any] | None = None,
    *,
    guesses: list[str] | None = None,
    may_vary: bool = False,
) -> Request:
    """The mechanism in a file, with what the command line says of it; see `reader_options`.

    Formulas of time for inputs are rejected unless they `may_vary`: only a run follows them.
    """
    mechanism = with_notes(reading(file, **reader_options(file, robot or {})))
    request = request_of(mechanism, values, starts, guesses=guesses)
    if not may_vary:
        _check_still(request.inputs)
    return request


def request_of(
    mechanism: Mechanism,
    values: list[str] | None,
    starts: list[str] | None = None,
    *,
    guesses: list[str] | None = None,
) -> Request:
    """A mechanism with what the command line says of it."""
    known = units(mechanism)
    driven = {x.name for x in mechanism.inputs}
    written = {x.name: x.written_in for x in mechanism.parameters}
    written |= {x.name: x.written_in for x in mechanism.inputs}
    begun = {x.label: x.written_in for x in mechanism.starts}
    assigned = _assignments("--set", values, known, may_vary=driven, written=written)
    inputs = {name: x for name, x in assigned.items() if _varies(x)}
    start, guess = (
        numbers_by_name(option, texts, known, begun)
        for option, texts in (("--start", starts), ("--guess", guesses))
    )
    fixed = {name: x for name, x in assigned.items() if name not in inputs}
    try:
        mechanism = with_values(mechanism, fixed)
        return Request(with_starts(mechanism, start, guess), start, inputs)
    except NamingError as error:
        of_motors = any(x.rpartition(".")[2] in MOTORS for x in fixed if x not in known)
        hint = "\n    Motors of URDF files have inputs: --motors position." if of_motors else ""
        raise typer.BadParameter(f"{error}{hint}") from None


MOTORS = ("target", "effort", "speed")
"""Ends of the names of inputs of motors."""


def reader_options(file: Path, robot: Mapping[str, Any]) -> dict[str, Any]:
    """Options for the reader of a robot's description; those that its language has no use for.

    Args:
        file: whose suffix says the language.
        robot: those that are set, by name.
    """
    suffix = file.suffix.lower()
    of_lsd = ("ground", "height", "friction")
    of_mjcf = ("lenient", "limits", "keyframe", "contacts", "folder", "decompose", *of_lsd)
    of_urdf = tuple(x for x in robot if x not in ("keyframe", "contacts", "folder"))
    known = {".urdf": of_urdf, ".lsd": of_lsd}.get(suffix, of_mjcf)
    for word in robot:
        if word not in known:
            other = "MJCF" if suffix == ".urdf" else "URDF"
            message = "LSD says itself what holds." if suffix == ".lsd" else f"it is for {other}."
            option = word.replace("_", "-")
            raise typer.BadParameter(message, param_hint=f"--{option}")
    options = {word: x for word, x in robot.items() if word not in ("lenient", "height")}
    if "height" in robot:
        options["ground"] = _height(robot["height"])
    for word in ("stiffness", "damping"):
        if word in options:
            options[word] = _gain(options[word])
    if robot.get("lenient"):
        options["strict"] = False
    if "pose" in options:
        options["pose"] = _pose(options["pose"])
    return options


def _gain(text: str) -> float | str:
    """A number in SI, or a text with a unit, which is that of each joint."""
    try:
        return float(text)
    except ValueError:
        return text


def _height(text: str) -> Any:
    """Of the ground [m]."""
    value = _quantity("--ground-height", text, "m")
    _check_number("--ground-height", text, value, "a height is")
    return value


def _pose(texts: list[str]) -> Any:
    """JOINT=VALUE as positions by joint, or the one name of a pose."""
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    return _positions("--pose", texts)


def _positions(option: str, texts: list[str]) -> dict[str, Any]:
    """JOINT=VALUE as numbers in SI, or texts with the SI unit of what was written.

    Whether a unit is that of its joint is known where the robot is read.
    """
    numbers = numbers_by_name(option, texts, {})
    units = {}
    for text in texts:
        name, _, value = text.partition("=")
        units[name.strip()] = read_value(value.strip())[1]
    return {name: f"{x!r} {units[name]}" if units[name] else x for name, x in numbers.items()}


def mechanism_asked(asked: StudyFile) -> Given:
    """The mechanism of a study file: its path, or what is read of it as its table [robot] says."""
    if not asked.robot:
        return asked.mechanism
    options = dict(asked.robot)
    if isinstance(options.get("pose"), dict):
        texts = [f"{name}={value}" for name, value in options["pose"].items()]
        options["pose"] = _positions("pose", texts)
    return with_notes(reading(asked.mechanism, **options))


def positions_of(mechanism: Mechanism, texts: list[str] | None) -> dict[str, Any]:
    """Positions of the command line, exact, by label."""
    positions = _assignments("--at", texts, units(mechanism))
    check_names("--at", "coordinate", positions, mechanism.coordinates)
    return positions


def numbers_by_name(
    option: str,
    texts: list[str] | None,
    known: Mapping[str, str],
    written: Mapping[str, str] | None = None,
) -> dict[str, float]:
    """NAME=VALUE of the command line as numbers in SI; `known` has the units."""
    assigned = _assignments(option, texts, known, written=written)
    return {name: float(as_float(x)) for name, x in assigned.items()}


def three(option: str, text: str | None, unit: str = "") -> tuple[float, float, float] | None:
    """X,Y,Z of the command line as numbers in SI; None where it is not given."""
    if text is None:
        return None
    parts = text.split(",")
    if len(parts) != 3:
        raise typer.BadParameter(f"{text!r} is not X,Y,Z.", param_hint=option)
    x, y, z = (float(as_float(_quantity(option, part.strip(), unit))) for part in parts)
    return x, y, z


@contextmanager
def named_by(option: str) -> Iterator[None]:
    """What is named by an option and does not exist is a mistake of the command line."""
    try:
        yield
    except NamingError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def limit_option(text: str | None) -> dict[str, float]:
    """A bound on the wall clock [s]; None without one."""
    return {} if text is None else {"time_limit": seconds("--time-limit", text)}


def check_folders(*paths: Path | None) -> None:
    """Raises an error now for a file that could not be written at the end of a long run."""
    for path in paths:
        if path and not path.absolute().parent.is_dir():
            raise typer.BadParameter(f"there is no folder {str(path.parent)!r} to write into.")
        if path and path.is_dir():
            raise typer.BadParameter(f"{str(path)!r} is a folder; a file is to be written.")


def check_files(
    out: Path | None, csv: Path | None, plot: Path | None, label: list[str] | None
) -> None:
    """Raises an error, before a run, for files that could not be written after it."""
    check_folders(out, csv, plot)
    check_suffix("--out", out, (".nc",))
    if csv and csv.suffix.lower() in (".nc", ".json", ".html", *PLOTS):
        message = f"{str(csv)!r} is to be a CSV file, and has the name of another kind."
        raise typer.BadParameter(message, param_hint="--csv")
    check_suffix("--plot", plot, PLOTS)
    if label and not plot:
        raise typer.BadParameter(
            "it says what to plot; give --plot FILE too.", param_hint="--label"
        )


def _check_still(inputs: dict[str, Any]) -> None:
    """A formula of time has no value at rest."""
    for name in inputs:
        raise typer.BadParameter(f"--set {name}: a number is needed here, not a formula of time.")


def check_word(option: str, word: str, known: Collection[str]) -> None:
    """Raises an error for an unknown value."""
    if word not in known:
        raise typer.BadParameter(f"{word!r} is none of {', '.join(known)}.", param_hint=option)


def check_names(option: str, kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raises an error for an unknown name, and proposes the nearest."""
    for name in names:
        if name not in known:
            unknown = NamingError.unknown(kind, name, known)
            raise typer.BadParameter(str(unknown), param_hint=option)


def check_suffix(option: str, path: Path | None, known: Collection[str]) -> None:
    """Raises an error for a file whose suffix is not that of its format."""
    if path and path.suffix.lower() not in known:
        message = f"the name of {str(path)!r} must end in {' or '.join(known)}."
        raise typer.BadParameter(message, param_hint=option)


def _assignments(
    option: str,
    texts: list[str] | None,
    known: Mapping[str, str],
    *,
    may_vary: Collection[str] = (),
    written: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """NAME=VALUE: exact numbers with an optional unit that fits the name, or formulas.

    A number alone is SI; it is rejected where the text has another unit for the name, `written`.
    """
    values_by_name = {}
    for text in texts or ():
        name, equal, value = (part.strip() for part in text.partition("="))
        if not equal or not name:
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint=option)
        if name in values_by_name:
            message = f"{name} is set twice, by {text!r} and before; leave one of them out."
            raise typer.BadParameter(message, param_hint=option)
        unit = known.get(name, "")
        values_by_name[name] = _quantity(option, value, unit, f" of {name}", known)
        other = (written or {}).get(name, "")
        if other and UNITLESS.fullmatch(value) and values_by_name[name] != 0:
            message = (
                f"{value!r} has no unit, and the text gives {name} in {other}: write "
                f"'{name}={value}{other}', or '{name}={value}{unit}' for SI."
            )
            raise typer.BadParameter(message, param_hint=option)
        if name not in may_vary:
            _check_number(option, value, values_by_name[name], f"{name} is")
    return values_by_name


def _quantity(
    option: str, text: str, unit: str, whose: str = "", known: Mapping[str, str] | None = None
) -> Any:
    """An exact number or a formula in SI; a unit it was given must be of the kind expected."""
    try:
        value, own_unit = read_value(text, units=known)
    except LiaisonError as error:
        message = f"{text!r} is not a number: {error.message}"
        raise typer.BadParameter(message, param_hint=option) from None
    is_known = unit or whose.removeprefix(" of ") in (known or {})
    if own_unit and is_known and not converts(unit_of(own_unit).dimension, unit_of(unit).dimension):
        turns = " A turn a second is 1 rev/s." if "Hz" in (own_unit, unit) else ""
        other = f"the unit{whose} is {unit}" if unit else f"the value{whose} is a number alone"
        message = f"{text!r} is in {own_unit}; {other}.{turns}"
        raise typer.BadParameter(message, param_hint=option)
    return value


def _varies(value: Any) -> bool:
    return isinstance(value, Expr) and bool(symbols_of([value]))


def _check_number(option: str, text: str, value: Any, what: str) -> None:
    """Raises an error for a formula where a number is needed."""
    if _varies(value):
        names = ", ".join(x.name for x in symbols_of([value]))
        message = f"{text!r} depends on {names}; {what} a number. Formulas are for inputs."
        raise typer.BadParameter(message, param_hint=option)


def seconds(option: str, text: str) -> float:
    """A time after 0."""
    quantity = _quantity(option, text, "s")
    _check_number(option, text, quantity, "a time is")
    value = float(as_float(quantity))
    if not value > 0:
        raise typer.BadParameter(f"{text!r} is not a time after 0.", param_hint=option)
    return value
