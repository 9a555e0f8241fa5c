"""Simulate; say how well energy and closures were kept.

Public names: simulate.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from liaison.cli.options import (
    Debug,
    Floating,
    Json,
    Lenient,
    Merged,
    Model,
    RunOption,
    Starts,
    Until,
    Values,
    help_of,
    printed,
    with_run_options,
    written,
)
from liaison.errors import NamingError, SimulationError
from liaison.verbs.registry import command


@command
@with_run_options
def simulate(
    file: Model,
    until: Until = "10",
    run: RunOption = None,
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
        typer.Option(metavar="NAME", help=help_of("series")),
    ] = None,
    lenient: Lenient = False,
    floating: Floating = False,
    merge_fixed: Merged = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Let a mechanism move, and say how well its energy and its closures were kept."""
    from liaison.cli.pages.outcome import facts_of, outcome
    from liaison.cli.running import drawable, ran, run_options, series_of
    from liaison.cli.values import asked, check_files

    check_files(out, csv, plot, label)
    end, options = run_options(until, run)
    options = drawable(plot, end, replace(options, series=series_of(series, label)))
    robot = (lenient, floating, merge_fixed)
    given = asked(file, values, start, robot)
    try:
        trajectory = ran(given, end, options, invariants=True)
    except SimulationError as error:
        _keep(error, out)
        raise
    if out:
        trajectory.save(out)
    if csv:
        trajectory.to_csv(csv)
    if plot:
        from liaison.view.plot import save_plot

        try:
            save_plot(trajectory, plot, *(label or ()))
        except NamingError as error:
            raise typer.BadParameter(str(error), param_hint="--label") from None
    facts = facts_of(trajectory, given.mechanism)
    facts |= written(results=out, csv=csv, plot=plot)
    printed(facts, outcome(facts), as_json)


def _keep(error: SimulationError, out: Path | None) -> None:
    """Saves what a failed run had computed, if results were asked for."""
    if out and error.trajectory is not None:
        error.trajectory.save(out)
        print(f"What was computed until then is in {out}.", file=sys.stderr)
