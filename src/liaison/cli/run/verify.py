"""Check a run with the general theorems of mechanics.

Public names: verify.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from liaison.cli.options import (
    Debug,
    Json,
    Model,
    RunOption,
    Starts,
    Values,
    printed,
    with_run_options,
)
from liaison.verbs.registry import command

if TYPE_CHECKING:
    from liaison.analyse import Verification


@command
@with_run_options
def verify(
    file: Model,
    saved: Annotated[
        Path | None,
        typer.Option("--run", metavar="FILE.nc", exists=True, help="A saved run of the mechanism."),
    ] = None,
    until: Annotated[
        str, typer.Option(metavar="TIME", help="End time of a new run, without --run.")
    ] = "1 s",
    about: Annotated[
        str, typer.Option(metavar="BODY", help="Body whose moving origin moments are taken about.")
    ] = "ground",
    run: RunOption = None,
    values: Values = None,
    start: Starts = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Check a run with the general theorems: momentum, moments, energies, power."""
    from liaison.cli.running import run_options
    from liaison.cli.values import asked, check_names
    from liaison.simulation.record.trajectory import load
    from liaison.verbs.analyse import verify as verb

    given = asked(file, values, start)
    check_names("--about", "body", (about,), [x.name for x in given.mechanism.bodies])
    if saved is not None and run:
        message = "options of a run are for one made now; leave out --run FILE.nc, or them."
        raise typer.BadParameter(message, param_hint="--run")
    if saved is None:
        end, options = run_options(until, run)
        found = verb.verify(
            given.mechanism, about=about, until=end, options=options, inputs=given.inputs
        )
    else:
        found = verb.verify(given.mechanism, load(saved), about=about)
    printed({"name": given.mechanism.name} | found.to_dict(), _text(found), as_json)
    if not found.holds:
        raise typer.Exit(1)


def _text(found: Verification) -> str:
    """A verification as text."""
    rows = [
        f"  {'holds' if x.holds else 'FAILS'}  {x.error:.1e} of {x.size:<9.3g} at {x.at:.4g} s   "
        f"{x.name}"
        for x in found.theorems
    ]
    head = "every theorem holds" if found.holds else f"{found.worst.name} does not hold"
    return "\n".join([head, *rows])
