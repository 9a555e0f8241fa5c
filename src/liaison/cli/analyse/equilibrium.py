"""Find an equilibrium near the start.

Public names: equilibrium.
"""

from __future__ import annotations

from typing import Annotated

import typer

from liaison.cli.options import (
    Debug,
    Guesses,
    Json,
    Model,
    RobotOption,
    Starts,
    Values,
    printed,
    with_robot_options,
)
from liaison.verbs.registry import command


@command
@with_robot_options
def equilibrium(
    file: Model,
    nearest: Annotated[
        bool, typer.Option("--nearest", help="The nearest equilibrium, stable or not.")
    ] = False,
    values: Values = None,
    start: Starts = None,
    guess: Guesses = None,
    robot: RobotOption = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Find a position of rest near the start, whether it is stable, and what its joints bear."""
    from liaison.cli.values import read_request
    from liaison.verbs.analyse import equilibrium as verb

    request = read_request(file, values, start, guesses=guess, robot=robot)
    kind = "nearest" if nearest else "stable"
    rest = verb.equilibrium(request.mechanism, start=request.start, kind=kind)
    printed({"name": request.mechanism.name} | rest.to_dict(), str(rest), as_json)
