"""Find singular positions: dead points, bifurcations.

Public names: singular.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liaison.cli.options import At, WithValues, with_options
from liaison.verbs.registry import command


@command
@with_options
def singular(
    *,
    along: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="A saved run: find losses of rank along it."),
    ] = None,
    at: At = None,
    call: WithValues,
) -> None:
    """Find dead points and bifurcations, of the whole motion or along a run."""
    from liaison.cli.values import positions_of
    from liaison.verbs.freedoms import singularities as verb

    if along is not None and (at or call.values):
        message = (
            "a run has its own positions and values; leave out --along RUN, or --at and --set."
        )
        raise typer.BadParameter(message, param_hint="--along")
    mechanism = call.request().mechanism
    result = verb.singularities(mechanism, along, at=positions_of(mechanism, at))
    call.answer({"name": mechanism.name} | result.to_dict(), f"{mechanism.name}: {result}")
