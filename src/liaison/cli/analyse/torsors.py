"""Print torsors of velocity, momentum and its rate.

Public names: torsors.
"""

from __future__ import annotations

from typing import Annotated

import typer

from liaison.cli.options import (
    Debug,
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
def torsors(
    file: Model,
    point: Annotated[str, typer.Option(metavar="X,Y,Z", help="Of the ground [m].")] = "0,0,0",
    start: Starts = None,
    values: Values = None,
    robot: RobotOption = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Velocities, momenta and their rates as torsors of every body, reduced at a point."""
    from liaison.cli.values import read_request, three
    from liaison.verbs.state import torsors as verb

    request = read_request(file, values, start, robot=robot)
    result = verb.torsors(request.mechanism, point=three("--point", point, "m") or (0.0, 0.0, 0.0))
    printed(result.to_dict(), result.text, as_json)
