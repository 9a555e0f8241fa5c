"""The program `liaison`: its options, its commands, and how it ends.

Exit status: 0 done, 1 the model or the run is at fault, 2 the command line is, 3 liaison itself is,
4 the run is whole and suspect, 130 Ctrl-C.
`--json` prints one JSON object instead of text. Nothing slow is imported before a command runs.

The commands of `liaison`: found by their files, imported when they are called.

A command is a file of a folder beside this one, or a verb (`liaison.verbs.registry`), named as the
command and marked with `@command`; its first line is the line in `liaison --help`. Listing the
commands imports none of them.

A command made of a verb: its file for `given`, an option for each keyword, `--json`.

`given` becomes the file; `start` and `parameters` become --start, --guess and --set, and `inputs`
the formulas of t among --set; keywords that are numbers, words, switches or lists of words become
options, with the help of the verb's docstring, and those whose help ends in [s] take times with a
unit. What else a verb takes is for Python, and has a default.

Public names: app, main, Commands, commands, command_of.
"""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, is_dataclass
from functools import cache
from importlib import import_module
from inspect import Parameter, getdoc, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperGroup

from liaison.errors import (
    Interrupted,
    LiaisonError,
    NamingError,
    Place,
    ReadingWarning,
    SimulationError,
)
from liaison.verbs.registry import Verb, folders, verbs, verbs_in

from .options import Call, WithStart, WithValues, json_text, with_options, with_parameters

SIMPLE = (bool, int, float, str, Path)
"""Kinds of values that one word of the command line gives."""

SHARED = ("start", "guess", "parameters", "inputs")
"""Keywords that have an option of their own."""


def command_of(verb: Callable[..., Any]) -> Callable[..., None]:
    """The command of a verb."""
    hints, texts = get_type_hints(verb), _arguments(getdoc(verb) or "")
    parameters = signature(verb).parameters
    own = [_option(x, hints[name], texts.get(name, "")) for name, x in parameters.items()]
    options = [x for x in own if x is not None]
    names = [x.name for x in options]
    times = [name for name in names if _is_time(hints[name], texts.get(name, ""))]

    def called(*, call: Call, **keywords: Any) -> None:
        from .values import seconds

        request = call.request(may_vary="inputs" in parameters)
        for name in times:
            if isinstance(keywords[name], str):
                keywords[name] = seconds(_flag(name), keywords[name])
        for name, x in (("start", request.start), ("inputs", request.inputs)):
            if name in parameters:
                keywords[name] = x
        result = verb(request.mechanism, **keywords)
        call.answer(facts_of(result), text_of(result))

    kind = WithStart if "start" in parameters else WithValues
    own_call = Parameter("call", Parameter.KEYWORD_ONLY, annotation=kind)
    called.__name__, called.__doc__ = verb.__name__, (getdoc(verb) or "").partition("\n\n")[0]
    return with_options(with_parameters(called, [*options, own_call]))


def _option(x: Parameter, hint: Any, text: str) -> Parameter | None:
    """The option for a keyword; None where it is not for the command line."""
    if x.kind is not Parameter.KEYWORD_ONLY or x.name in SHARED:
        return None
    is_time = _is_time(hint, text)
    kind = (str | None if x.default is None else str) if is_time else _kind(hint)
    if kind is None:
        return None
    option = typer.Option(_flag(x.name), help=text, metavar="TIME" if is_time else None)
    default = f"{x.default:g}" if is_time and isinstance(x.default, int | float) else x.default
    return x.replace(annotation=Annotated[kind, option], default=default)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _is_time(hint: Any, text: str) -> bool:
    """Whether a keyword is a time: a number, or a text with a unit, in seconds by its help."""
    parts = {x for x in get_args(hint) or (hint,) if x is not NoneType}
    return float in parts and parts <= {float, str} and text.rstrip(".").endswith("[s]")


def _kind(hint: Any) -> Any:
    """What typer reads for a type: itself, a list for a sequence of words; None for others."""
    parts = [x for x in get_args(hint) if x is not NoneType]
    if get_origin(hint) in (Union, UnionType):
        inner = _kind(parts[0]) if len(parts) == 1 else None
        return None if inner is None else inner | None
    if hint in SIMPLE:
        return hint
    return list[str] if get_origin(hint) is Sequence and parts == [str] else None


def _arguments(doc: str) -> dict[str, str]:
    """What a docstring says of each argument, by name."""
    section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", doc, re.M | re.S)
    matches = re.findall(
        r"^    (\w+): (.*?)(?=^    \S|\Z)", section[1] if section else "", re.M | re.S
    )
    return {name: " ".join(text.split()).capitalize() for name, text in matches}


def facts_of(result: Any) -> dict[str, Any]:
    """A result as plain data: by its own `to_dict` or `facts`, as a mapping, or as a record."""
    for name in ("to_dict", "facts"):
        if callable(getattr(result, name, None)):
            return dict(getattr(result, name)())
    if is_dataclass(result) and not isinstance(result, type):
        return dict(json.loads(json.dumps(asdict(result), default=str)))
    return dict(result) if isinstance(result, Mapping) else {"result": result}


def text_of(result: Any) -> str:
    """A result as text; of a mapping a line for each entry."""
    if isinstance(result, Mapping):
        return "\n".join(f"{name}: {value}" for name, value in result.items())
    return str(getattr(result, "text", result))


HERE = os.path.dirname(__file__)

ORDER = (
    *("check", "simulate", "animate", "mobility", "assemble", "reduce", "singular"),
    *("parametrizations", "equilibrium", "linearize", "solutions", "verify", "motion"),
    *("motors", "convergence", "format", "derive", "build", "evaluate", "energy_parts"),
    *("virtual_power", "torsors", "inertia", "baumgarte", "psi", "gausselim", "standard_basis"),
    *("rewrite",),
)
"""In this order commands are listed; all others follow by name."""


@cache
def commands() -> dict[str, Verb]:
    """Every command by its name: files of the command line, then verbs that are commands."""
    by_name = {name: verb for name, verb in verbs().items() if verb.is_command}
    for folder in folders(HERE):
        own = verbs_in(os.path.join(HERE, folder), f"liaison.cli.{folder}.")
        own = {name: file for name, file in own.items() if file.is_command}
        for name in own.keys() & by_name.keys():
            raise NamingError.double("commands", name, place=Place(by_name[name].path, 1))
        by_name |= own
    known = [x for x in ORDER if x in by_name]
    return {x: by_name[x] for x in (*known, *sorted(by_name.keys() - set(known)))}


class _Stopped(Exception):
    """Ctrl-C on its way through typer, which would leave no word of it."""


class Commands(TyperGroup):
    """A group whose commands are files."""

    def invoke(self, ctx: Any) -> Any:
        """Runs a command; Ctrl-C reaches `main` with its cause."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise _Stopped from stop

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in order."""
        return list(commands())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, imported now."""
        file = commands().get(cmd_name)
        return None if file is None else _imported(cmd_name, file)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """One line a command, from the first line of its file."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, file.help) for name, file in commands().items()])


def _imported(name: str, file: Verb) -> Any:
    """The file as a command."""
    module = import_module(file.module)
    own = getattr(module, name, None) or getattr(module, f"{name}_", None)
    if not callable(own):
        raise NamingError(
            f"the file of the command {name!r} defines no function of that name.",
            place=Place(file.path, 1),
            hint=f"Name its function as the file, def {name}(given, …), or the file otherwise.",
        )
    function: Callable[..., Any] = own
    if not file.module.startswith("liaison.cli."):
        function = command_of(function)
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(name=name)(function)
    return typer.main.get_command(app)


app = typer.Typer(
    name="liaison",
    cls=Commands,
    help="Constrained multibody dynamics: check, derive, simulate and animate mechanisms.",
    epilog="Exit status: 0 done, 1 the model or the run is at fault, 2 the command line is, "
    "4 the run is whole but its energy is suspect, 130 Ctrl-C.",
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(requested: bool) -> None:
    if requested:
        print(f"liaison {sys.modules['liaison'].__version__}")
        raise typer.Exit


@app.callback()
def _liaison(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Constrained multibody dynamics: check, derive, simulate and animate mechanisms."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _escape_what_has_no_sign()
    try:
        with _notes_on_stderr():
            status = app(words, prog_name="liaison", standalone_mode=False)
        sys.stdout.flush()
    except LiaisonError as error:
        status = _print_error(error, words)
    except (KeyboardInterrupt, typer.Abort, _Stopped) as stop:
        status = _interrupted(stop, words)
    except BrokenPipeError:
        status = 0
    except Exception as error:
        status = _fail(error, words)
    _close_output()
    sys.exit(status if isinstance(status, int) else 0)


def _escape_what_has_no_sign() -> None:
    """Lets streams that are not UTF-8 write all of Unicode: é as \\xe9."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _close_output() -> None:
    """Writes what is left; where that cannot be, the interpreter is not to try again."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_json(facts: dict[str, Any]) -> None:
    """A JSON object on the standard output, if something can be written there."""
    with suppress(OSError):
        print(json_text(facts), flush=True)


@contextmanager
def _notes_on_stderr() -> Iterator[None]:
    """Prints notes of readers on stderr, each once."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", ReadingWarning)
        plain = warnings.showwarning
        shown: list[Warning | str] = []

        def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if not isinstance(message, ReadingWarning):
                plain(message, category, *rest)
            elif str(message) not in map(str, shown):
                # the file once, before the first of its notes
                is_more = bool(shown) and getattr(shown[-1], "file", "") == message.file
                shown.append(message)
                print(f"note: {message.note if is_more else message}", file=sys.stderr)

        warnings.showwarning = show  # type: ignore[assignment]
        yield


SUFFIXES = (".lsd", ".urdf", ".mjcf", ".xml")


def _print_error(error: LiaisonError, words: list[str]) -> int:
    """Prints what was wrong with the model or the run."""
    print(error, file=sys.stderr)
    if "--json" in words:
        place = error.place
        facts: dict[str, Any] = {"kind": type(error).__name__, "message": error.message}
        if place:
            facts |= {"file": place.file, "line": place.line, "column": place.column}
        if error.hint:
            facts["hint"] = error.hint
        if error.cure is not None:
            facts["cure"] = asdict(error.cure)
        if isinstance(error, SimulationError):
            facts |= {"status": error.status, "t": error.t}
        file = next((word for word in words if word.endswith(SUFFIXES)), "")
        diagnostics = error.diagnostics(file)
        _print_json({"error": facts, "diagnostics": diagnostics})
    return 1


def _interrupted(stop: BaseException, words: list[str]) -> int:
    """Prints what Ctrl-C interrupted."""
    cause = stop if isinstance(stop, Interrupted) else stop.__cause__
    message = cause.message if isinstance(cause, Interrupted) else "interrupted"
    print(message, file=sys.stderr)
    if "--json" in words:
        facts = {"kind": "Interrupted", "message": message, "status": "interrupted"}
        _print_json({"error": facts})
    return 130


def _fail(error: Exception, words: list[str]) -> int:
    """Prints what was wrong with the command line, with a file, or with liaison."""
    usage = hasattr(error, "format_message") and hasattr(error, "show")
    if usage:
        error.show()  # type: ignore[attr-defined]
        message, status = error.format_message(), 2  # type: ignore[attr-defined]
    elif isinstance(error, OSError):
        message, status = f"{error.filename or ''}: {error.strerror or error}".lstrip(": "), 1
        print(message, file=sys.stderr)
    else:
        message, status = f"{type(error).__name__}: {error}", 3
        print(f"liaison failed in a way it should not have: {message}", file=sys.stderr)
        if "--debug" in words:
            traceback.print_exception(error)
        else:
            print("Please report it with the file; --debug shows where it arose.", file=sys.stderr)
    if "--json" in words:
        _print_json({"error": {"kind": type(error).__name__, "message": message}})
    return status
