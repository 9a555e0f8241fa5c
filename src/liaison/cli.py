"""The command line `liaison`: check, mobility, simulate, animate, derive, build.

Exit status: 0 done, 1 the model or the run is at fault, 2 the command line is, 3 liaison itself is.
What is printed for people goes through `cli_text`; `--json` prints one JSON object instead. Nothing
slow is imported before a verb runs.

Public names: app, main.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from liaison.errors import LiaisonError, NamingError, SimulationError

app = typer.Typer(
    name="liaison",
    help="Constrained multibody dynamics: check, derive, simulate and animate mechanisms.",
    epilog="Exit status: 0 done, 1 the model or the run is at fault, 2 the command line is.",
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Model = Annotated[
    Path,
    typer.Argument(exists=True, dir_okay=False, readable=True, help="A mechanism: .lsd or .urdf."),
]
Values = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help='A parameter or an input, as "m=2.5 kg".'),
]
Starts = Annotated[
    list[str] | None,
    typer.Option("--start", metavar="NAME=VALUE", help="A position or rate to start from."),
]
Until = Annotated[str, typer.Option(metavar="TIME", help='How long, as 10 or "500 ms".')]
Step = Annotated[
    str | None, typer.Option(metavar="TIME", help="Fixed step (RK4); adaptive if not given.")
]
Every = Annotated[str | None, typer.Option(metavar="TIME", help="Record at this interval.")]
Rtol = Annotated[float | None, typer.Option(help="Relative tolerance of the adaptive method.")]
Atol = Annotated[float | None, typer.Option(help="Absolute tolerance of the adaptive method.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an unexpected error came from.")]


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


@app.command()
def check(
    file: Model,
    values: Values = None,
    start: Starts = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what was deduced, and how the tree was chosen.")
    ] = False,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="URDF, MJCF: repair impossible inertias, and say so.")
    ] = False,
    floating: Annotated[
        bool, typer.Option("--floating", help="URDF: leave the root link free.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say what a mechanism is: bodies, joints, loops, coordinates, parameters."""
    from liaison import cli_text, corridor
    from liaison.cli_values import given_to, reader_options
    from liaison.formats.read import explained, reading

    found = reading(file, **reader_options(file, lenient=lenient, floating=floating))
    summary = corridor.check(*given_to(found.mechanism, values, start))
    told = {"notes": list(found.notes)}
    if explain:
        told["assignments"] = explained(file, found)
    text = cli_text.summary(summary, explain=explain) + cli_text.told(told)
    _print(summary.to_dict() | told, text, as_json)


@app.command(name="format")
def format_(
    file: Model,
    out: Annotated[Path | None, typer.Option(metavar="FILE.lsd", help="Write there.")] = None,
    is_check: Annotated[
        bool, typer.Option("--check", help="Only say whether the file is in this form.")
    ] = False,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="URDF, MJCF: repair impossible inertias.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Print a mechanism as canonical LSD, which reads back as the same mechanism."""
    from liaison.cli_values import check_folders, reader_options
    from liaison.formats import reading
    from liaison.formats.lsd_write import write_lsd

    check_folders(out)
    found = reading(file, **reader_options(file, lenient=lenient, floating=False))
    text = write_lsd(found.mechanism)
    if is_check:
        same = file.read_text(encoding="utf-8") == text
        said = "is" if same else "is not"
        _print({"file": str(file), "canonical": same}, f"{file} {said} in canonical form", as_json)
        raise typer.Exit(0 if same else 1)
    if out:
        out.write_text(text, encoding="utf-8")
    for note in found.notes:
        print(f"note: {note}", file=sys.stderr)
    facts = {"text": text, "notes": list(found.notes)} | _written(out=out)
    _print(facts, f"{out}: written" if out else text.rstrip("\n"), as_json)


@app.command()
def simulate(
    file: Model,
    until: Until,
    step: Step = None,
    every: Every = None,
    rtol: Rtol = None,
    atol: Atol = None,
    values: Values = None,
    start: Starts = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE.nc", help="Save as netCDF.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE.csv", help="Save as CSV.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Save a plot.")] = None,
    label: Annotated[
        list[str] | None, typer.Option(metavar="LABEL", help="What to plot; all positions if none.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Let a mechanism move, and say how well its energy and its closures were kept."""
    from liaison import cli_text
    from liaison.cli_values import check_folders, mechanism_of, run_options
    from liaison.view import save_plot

    check_folders(out, csv, plot)
    options = run_options(until, step=step, every=every, rtol=rtol, atol=atol)
    mechanism, begin = mechanism_of(file, values, start)
    try:
        trajectory = _run(mechanism, begin, options)
    except SimulationError as error:
        _keep(error, out)
        raise
    if out:
        trajectory.save(out)
    if csv:
        trajectory.to_csv(csv)
    if plot:
        try:
            save_plot(trajectory, plot, *(label or ()))
        except NamingError as error:
            raise typer.BadParameter(str(error), param_hint="--label") from None
    facts = cli_text.facts(trajectory, mechanism) | _written(results=out, csv=csv, plot=plot)
    _print(facts, cli_text.outcome(facts), as_json)


@app.command()
def animate(
    file: Model,
    until: Until,
    out: Annotated[Path | None, typer.Option(metavar="FILE.html", help="The page.")] = None,
    live: Annotated[bool, typer.Option("--live", help="Serve a live view until Ctrl-C.")] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    step: Step = None,
    every: Every = None,
    rtol: Rtol = None,
    atol: Atol = None,
    values: Values = None,
    start: Starts = None,
    trace: Annotated[
        list[str] | None, typer.Option(metavar="BODY", help="Draw the path of a body.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a 3D page of the motion that opens from a file, or show it live."""
    from liaison import view
    from liaison.cli_values import check_folders, mechanism_of, run_options

    if (out is None) == (not live):
        raise typer.BadParameter("give either --out FILE.html or --live.")
    check_folders(out)
    options = run_options(until, step=step, every=every, rtol=rtol, atol=atol)
    mechanism, begin = mechanism_of(file, values, start)
    trajectory = _run(mechanism, begin, options)
    if out is None:
        view.show(trajectory, mechanism, trace=tuple(trace or ()), block=True)
        return
    view.page(trajectory, mechanism, out, trace=tuple(trace or ()))
    if open_page:
        import webbrowser

        webbrowser.open(out.resolve().as_uri())
    facts = {"status": trajectory.status, "instants": len(trajectory), "page": str(out)}
    _print(facts, f"{trajectory.name}: {trajectory.message}\n  page         {out}", as_json)


@app.command()
def mobility(
    file: Model,
    at: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help='A position instead of its start, as "A=90 deg".'),
    ] = None,
    order: Annotated[int, typer.Option(help="Highest order of series for a proof.")] = 800,
    primes: Annotated[int, typer.Option(min=1, help="How many primes must agree.")] = 3,
    seed: Annotated[int, typer.Option(help="Of primes, directions and slices.")] = 0,
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say what a mechanism can do: degrees of freedom, exactly, and what of it is proved."""
    from liaison import corridor
    from liaison.cli_values import mechanism_of, positions_of

    mechanism = mechanism_of(file, values)[0]
    where = positions_of(mechanism, at)
    found = corridor.mobility(mechanism, at=where, order=order, primes=primes, seed=seed)
    _print(found.to_dict(), str(found), as_json)


@app.command()
def derive(
    file: Model,
    formalism: Annotated[
        str, typer.Option(help="newton_euler, lagrange or maximal.")
    ] = "newton_euler",
    form: Annotated[str, typer.Option("--format", help="text, latex or c.")] = "text",
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Print the equations of motion: as text, as LaTeX, or as C99."""
    from liaison import cli_text, corridor
    from liaison.cli_values import check_word, mechanism_of
    from liaison.equations import FORMALISMS

    check_word("--formalism", formalism, FORMALISMS)
    check_word("--format", form, cli_text.FORMS)
    equations = corridor.derive(mechanism_of(file, values)[0], formalism)
    text = cli_text.FORMS[form](equations)
    sizes = {name: len(labels) for name, labels in equations.labels.items()}
    _print({"formalism": formalism, "format": form, "sizes": sizes, "text": text}, text, as_json)


@app.command()
def build(
    file: Model,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write; made if missing.")],
    target: Annotated[str, typer.Option(help="c: header, source and object file.")] = "c",
    entry: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="forward, d_forward, …; all but derivatives if none."),
    ] = None,
    shared: Annotated[
        bool, typer.Option("--shared", help="Link a shared library too; needs a linker.")
    ] = False,
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write the equations of motion as a C package without dependencies."""
    from liaison import corridor
    from liaison.cli_values import check_word, mechanism_of
    from liaison.program import c_package

    check_word("--target", target, ("c",))
    program = corridor.compile(mechanism_of(file, values)[0]).program
    for name in entry or ():
        if name not in program.entries:
            unknown = NamingError.unknown("entry", name, program.entries)
            raise typer.BadParameter(str(unknown), param_hint="--entry")
    made = c_package(program, out, entry or (), shared=shared)
    written = _written(
        header=made.header, source=made.source, object=made.object, library=made.library
    )
    text = "\n".join(f"  {kind:8} {path}" for kind, path in written.items())
    _print({"sizes": dict(program.sizes)} | written, f"{program.name}:\n{text}", as_json)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = app(words, prog_name="liaison", standalone_mode=False)
    except LiaisonError as error:
        status = _refuse(error, "--json" in words)
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        status = 130
    except BrokenPipeError:
        sys.stderr.close()
        status = 0
    except Exception as error:
        status = _fail(error, words)
    sys.exit(status if isinstance(status, int) else 0)


def _refuse(error: LiaisonError, as_json: bool) -> int:
    """Prints what was wrong with the model or the run."""
    print(error, file=sys.stderr)
    if as_json:
        place = error.place
        facts: dict[str, Any] = {"kind": type(error).__name__, "message": error.message}
        if place:
            facts |= {"file": place.file, "line": place.line, "column": place.column}
        if error.hint:
            facts["hint"] = error.hint
        if isinstance(error, SimulationError):
            facts |= {"status": error.status, "t": error.t}
        print(json.dumps({"error": facts}, ensure_ascii=False))
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


def _run(mechanism: Any, start: dict[str, float], options: dict[str, Any]) -> Any:
    """The run, with a bar on the terminal when it takes long."""
    from liaison import corridor
    from liaison.cli_text import Bar

    with Bar() as bar:
        return corridor.simulate(mechanism, start=start, progress=bar, **options)


def _keep(error: SimulationError, out: Path | None) -> None:
    """Saves what a failed run had computed, if results were asked for."""
    if out and error.trajectory is not None:
        error.trajectory.save(out)
        print(f"What was computed until then is in {out}.", file=sys.stderr)


def _written(**paths: Path | None) -> dict[str, str]:
    return {kind: str(path) for kind, path in paths.items() if path}


def _print(facts: dict[str, Any], text: str, as_json: bool) -> None:
    """The JSON object, or the text for people."""
    print(json.dumps(facts, ensure_ascii=False) if as_json else text)
