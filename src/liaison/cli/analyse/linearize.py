"""Linearize about a state: eigenvalues, frequencies, modes.

Public names: linearize.
"""

from __future__ import annotations

from typing import Annotated, Any

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

Independent = Annotated[
    list[str] | None,
    typer.Option(metavar="COORDINATE", help="An independent coordinate. Repeatable."),
]
AtRest = Annotated[
    bool, typer.Option("--rest", help="Linearize about the stable equilibrium near the start.")
]


@command
@with_robot_options
def linearize(
    file: Model,
    rest: AtRest = False,
    independent: Independent = None,
    values: Values = None,
    start: Starts = None,
    guess: Guesses = None,
    robot: RobotOption = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Linearize about the start or an equilibrium: eigenvalues, frequencies, modes."""
    from liaison.cli.values import named_by, read_request
    from liaison.verbs.analyse import equilibrium
    from liaison.verbs.analyse import linearize as verb

    request = read_request(file, values, start, guesses=guess, robot=robot)
    own: dict[str, Any] = {"start": request.start}
    if rest:
        own = {"state": equilibrium.equilibrium(request.mechanism, **own).state}
    with named_by("--independent"):
        linear = verb.linearize(request.mechanism, independent=independent or (), **own)
    printed({"name": request.mechanism.name} | linear.to_dict(), str(linear), as_json)
