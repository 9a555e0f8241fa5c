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
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli_analyse import convergence, equilibrium, linearize, solutions, verify
from .cli_assemble import assemble
from .cli_derive import derive
from .cli_freedoms import reduce, singular
from .cli_motion import motion, motors
from .cli_options import (
    Atol,
    Debug,
    Every,
    Facets,
    Floating,
    Impacts,
    Json,
    Lenient,
    MaxSteps,
    Merged,
    Method,
    Model,
    Radius,
    Rtol,
    Speed,
    Starts,
    Step,
    Theta,
    TimeLimit,
    Until,
    Values,
    app,
    printed,
    written,
)
from .cli_parametrizations import parametrizations
from .cli_print import build, format_
from .errors import LiaisonError, ModelError, NamingError, SimulationError

if TYPE_CHECKING:
    from .cli_values import Asked

__all__ = ["app", "main"]


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
    lenient: Lenient = False,
    floating: Floating = False,
    merge_fixed: Merged = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say what a mechanism is: bodies, joints, loops, coordinates, parameters."""
    from liaison import cli_sides, cli_text, corridor
    from liaison.formats.lsd.explain import explained
    from liaison.formats.read import reading

    from .cli_values import asked_of, reader_options

    found = reading(file, **reader_options(file, lenient, floating, merge_fixed))
    given = asked_of(found.mechanism, values, start)
    summary = corridor.check(given.mechanism, given.start)
    told = {"notes": list(found.notes)}
    if explain:
        told["assignments"] = explained(file, found)
    text = cli_text.summary(summary, explain=explain) + cli_text.told(told)
    told_all = summary.to_dict() | told | {"diagnostics": summary.warnings(str(file))}
    told_all["contacts"] = cli_sides.sides(summary)
    told_all["collisions"] = cli_sides.collisions(summary)
    printed(told_all, text, as_json)


@app.command()
def simulate(
    file: Model,
    until: Until = "10",
    step: Step = None,
    every: Every = None,
    rtol: Rtol = None,
    atol: Atol = None,
    method: Method = None,
    spectral_radius: Radius = None,
    max_steps: MaxSteps = None,
    impacts: Impacts = None,
    theta: Theta = None,
    facets: Facets = None,
    time_limit: TimeLimit = None,
    values: Values = None,
    start: Starts = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE.nc", help="Save as netCDF.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE.csv", help="Save as CSV.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Save a plot.")] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL",
            help="What to plot, as A, energy, reactions.A.Fx, 'lam.*'; all positions if none.",
        ),
    ] = None,
    series: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Save this too: reactions, lam, momentum, accelerations or motions.",
        ),
    ] = None,
    lenient: Lenient = False,
    floating: Floating = False,
    merge_fixed: Merged = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Let a mechanism move, and say how well its energy and its closures were kept."""
    from liaison import cli_text

    from .cli_values import asked, check_files, drawable, method_options, run_options
    from .view import save_plot

    check_files(out, csv, plot, label)
    options = run_options(
        until, step=step, every=every, rtol=rtol, atol=atol, time_limit=time_limit,
        max_steps=max_steps,
    )  # fmt: skip
    options |= method_options(
        method, step, spectral_radius=spectral_radius, impacts=impacts, theta=theta, facets=facets
    )
    options |= drawable(plot, options)
    options["series"] = _series(series, label)
    robot = (lenient, floating, merge_fixed)
    given = asked(file, values, start, robot)
    try:
        trajectory = _run(given, options | {"invariants": True})
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
    facts = cli_text.facts(trajectory, given.mechanism)
    facts |= written(results=out, csv=csv, plot=plot)
    printed(facts, cli_text.outcome(facts), as_json)


def _series(wanted: list[str] | None, labels: list[str] | None) -> tuple[str, ...]:
    """What is evaluated along the run: the default, what is asked for, what a label is of."""
    from liaison.simulation.run import DEFAULT_SERIES

    from .cli_values import check_names

    more = ("reactions", "lam", "momentum", "accelerations", "motions")
    check_names("--series", "series", wanted or (), (*DEFAULT_SERIES, *more))
    begun = [label.partition(".")[0] for label in labels or ()]
    begun += ["accelerations"] * any(label.endswith("''") for label in labels or ())
    found = (*DEFAULT_SERIES, *(wanted or ()), *(x for x in begun if x in more))
    return tuple(dict.fromkeys(found))


@app.command()
def animate(
    file: Model,
    until: Until = "10",
    out: Annotated[Path | None, typer.Option(metavar="FILE.html", help="The page.")] = None,
    live: Annotated[bool, typer.Option("--live", help="Serve a live view until Ctrl-C.")] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    step: Step = None,
    every: Every = None,
    rtol: Rtol = None,
    atol: Atol = None,
    method: Method = None,
    values: Values = None,
    start: Starts = None,
    trace: Annotated[
        list[str] | None, typer.Option(metavar="BODY", help="Draw the path of a body or joint.")
    ] = None,
    forces: Annotated[
        bool, typer.Option("--forces", help="Draw the force in every joint, on its successor.")
    ] = False,
    speed: Speed = 1.0,
    lenient: Lenient = False,
    floating: Floating = False,
    merge_fixed: Merged = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a 3D page of the motion that opens from a file, or show it live."""
    from liaison import cli_sides
    from liaison import corridor_view as view

    from .cli_values import (
        asked,
        check_folders,
        check_names,
        check_suffix,
        method_options,
        run_options,
    )

    if (out is None) == (not live):
        raise typer.BadParameter("give either --out FILE.html or --live.")
    check_folders(out)
    check_suffix("--out", out, (".html", ".htm"))
    pictures = every or f"({speed!r}/60) s"
    options = run_options(until, step=step, every=pictures, rtol=rtol, atol=atol)
    options |= method_options(method, step)
    robot = (lenient, floating, merge_fixed)
    given = asked(file, values, start, robot)
    mechanism = given.mechanism
    check_names("--trace", "body or joint", trace or (), view.drawable(mechanism))
    options["series"] = _series(["reactions"] if forces else [], [])
    trajectory = _run(given, options)
    look: dict[str, Any] = {"trace": tuple(trace or ()), "forces": forces, "speed": speed}
    if out is None:
        _show(view.show(trajectory, mechanism, browser=open_page, **look), as_json)
        return
    view.page(trajectory, mechanism, out, **look)
    if open_page:
        import webbrowser

        webbrowser.open(out.resolve().as_uri())
    facts = {"status": trajectory.status, "instants": len(trajectory), "page": str(out)}
    facts["events"] = [cli_sides.event(trajectory, x) for x in trajectory.events]
    printed(facts, f"{trajectory.name}: {trajectory.message}\n  page         {out}", as_json)


def _show(live: Any, as_json: bool) -> None:
    """Says where a live view is, and serves it until Ctrl-C."""
    text = f"The view is at {live.url} until Ctrl-C."
    print(json.dumps({"url": live.url}) if as_json else text, flush=True)
    live.wait()


@app.command()
def mobility(
    file: Model,
    at: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help='A position instead of its start, as "A=90 deg".'),
    ] = None,
    order: Annotated[int, typer.Option(min=1, help="Highest order of series for a proof.")] = 800,
    primes: Annotated[int, typer.Option(min=1, help="How many primes must agree.")] = 3,
    seed: Annotated[int, typer.Option(help="Of primes, directions and slices.")] = 0,
    time_limit: TimeLimit = None,
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Say what a mechanism can do: degrees of freedom, exactly, and what of it is proved."""
    from liaison import corridor

    from .cli_values import asked, limit_option, positions_of

    mechanism = asked(file, values).mechanism
    where = positions_of(mechanism, at)
    options = {"order": order, "primes": primes, "seed": seed} | limit_option(time_limit)
    found = corridor.mobility(mechanism, at=where, **options)
    printed(found.to_dict(), str(found), as_json)


app.command()(assemble)
app.command()(reduce)
app.command()(singular)
app.command()(parametrizations)
app.command()(equilibrium)
app.command()(linearize)
app.command()(solutions)
app.command()(verify)
app.command()(motion)
app.command()(motors)
app.command()(convergence)
app.command(name="format")(format_)
app.command()(derive)
app.command()(build)


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


def _run(given: Asked, options: dict[str, Any]) -> Any:
    """The run, with a bar on the terminal when it takes long."""
    from liaison import corridor

    from .cli_text import Bar

    for x in given.mechanism.parameters:
        if x.value is None:
            unit = f" [{x.unit}]" if x.unit else ""
            raise ModelError(
                f"parameter {x.name!r}{unit} has no value; a run needs one.",
                hint=f"Give it: --set {x.name}=VALUE",
                place=x.place,
            )
    with Bar() as bar:
        return corridor.simulate(
            given.mechanism, start=given.start, inputs=given.inputs, progress=bar, **options
        )


def _keep(error: SimulationError, out: Path | None) -> None:
    """Saves what a failed run had computed, if results were asked for."""
    if out and error.trajectory is not None:
        error.trajectory.save(out)
        print(f"What was computed until then is in {out}.", file=sys.stderr)
