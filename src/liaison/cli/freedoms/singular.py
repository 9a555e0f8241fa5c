"""Find singular positions: dead points, bifurcations.

Public names: singular.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liaison.cli.options import (
    At,
    Debug,
    Json,
    Model,
    RobotOption,
    Values,
    printed,
    with_robot_options,
)
from liaison.verbs.registry import command


@command
@with_robot_options
def singular(
    file: Model,
    along: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="A saved run: find losses of rank along it."),
    ] = None,
    at: At = None,
    values: Values = None,
    robot: RobotOption = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Find dead points and bifurcations, of the whole motion or along a run."""
    from liaison.cli.values import positions_of, read_request
    from liaison.verbs.freedoms import singularities as verb

    if along is not None and (at or values):
        message = (
            "a run has its own positions and values; leave out --along RUN, or --at and --set."
        )
        raise typer.BadParameter(message, param_hint="--along")
    mechanism = read_request(file, values, robot=robot).mechanism
    result = verb.singularities(mechanism, along, at=positions_of(mechanism, at))
    printed({"name": mechanism.name} | result.to_dict(), f"{mechanism.name}: {result}", as_json)
