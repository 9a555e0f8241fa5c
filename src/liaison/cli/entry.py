"""The program `liaison`: its options, its commands, and how it ends.

Exit status: 0 done, 1 the model or the run is at fault, 2 the command line is, 3 liaison itself is.
`--json` prints one JSON object instead of text. Nothing slow is imported before a command runs.

Public names: app, main.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from liaison.errors import LiaisonError, SimulationError

from .group import Commands

app = typer.Typer(
    name="liaison",
    cls=Commands,
    help="Constrained multibody dynamics: check, derive, simulate and animate mechanisms.",
    epilog="Exit status: 0 done, 1 the model or the run is at fault, 2 the command line is.",
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"liaison {version('liaison-mbd')}")
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
    try:
        status = app(words, prog_name="liaison", standalone_mode=False)
    except LiaisonError as error:
        status = _refuse(error, words)
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        status = 130
    except BrokenPipeError:
        sys.stderr.close()
        status = 0
    except Exception as error:
        status = _fail(error, words)
    sys.exit(status if isinstance(status, int) else 0)


SUFFIXES = (".lsd", ".urdf", ".mjcf", ".xml")


def _refuse(error: LiaisonError, words: list[str]) -> int:
    """Prints what was wrong with the model or the run."""
    print(error, file=sys.stderr)
    if "--json" in words:
        place = error.place
        facts: dict[str, Any] = {"kind": type(error).__name__, "message": error.message}
        if place:
            facts |= {"file": place.file, "line": place.line, "column": place.column}
        if error.hint:
            facts["hint"] = error.hint
        if isinstance(error, SimulationError):
            facts |= {"status": error.status, "t": error.t}
        file = next((word for word in words if word.endswith(SUFFIXES)), "")
        told = error.diagnostics(file)
        print(json.dumps({"error": facts, "diagnostics": told}, ensure_ascii=False))
    return 1


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
        print(json.dumps({"error": {"kind": type(error).__name__, "message": message}}))
    return status
