"""Check a run with the general theorems of mechanics.

Public names: verify.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liaison.cli.options import RunOption, WithStart, with_options
from liaison.verbs.registry import command

UNTIL = "1 s"


@command
@with_options
def verify(
    *,
    saved: Annotated[
        Path | None,
        typer.Option("--run", metavar="FILE.nc", exists=True, help="A saved run of the mechanism."),
    ] = None,
    until: Annotated[
        str, typer.Option(metavar="TIME", help="End time of a new run, without --run.")
    ] = UNTIL,
    about: Annotated[
        str, typer.Option(metavar="BODY", help="Body whose moving origin moments are taken about.")
    ] = "ground",
    run: RunOption = None,
    call: WithStart,
) -> None:
    """Check a run with the general theorems: momentum, moments, energies, power."""
    from liaison.cli.running import run_options
    from liaison.cli.values import check_names
    from liaison.simulation.record.trajectory import load
    from liaison.verbs.analyse import verify as verb

    request = call.request(may_vary=True)
    check_names("--about", "body", (about,), [x.name for x in request.mechanism.bodies])
    own = call.values or call.start or call.guess
    if saved is not None and (run or until != UNTIL or own):
        message = (
            "options and values are for a run made now, and a saved one has its own; leave out "
            "--run FILE.nc, or them."
        )
        raise typer.BadParameter(message, param_hint="--run")
    if saved is None:
        end, options = run_options(until, run)
        result = verb.verify(
            request.mechanism, about=about, until=end, options=options, inputs=request.inputs
        )
    else:
        result = verb.verify(request.mechanism, load(saved), about=about)
    call.answer({"name": request.mechanism.name} | result.to_dict(), str(result))
    if not result.holds:
        raise typer.Exit(1)
