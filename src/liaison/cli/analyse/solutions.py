"""Solve the constrained system by every method, and compare.

Public names: solutions.
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
def solutions(
    file: Model,
    maximal: Annotated[
        bool,
        typer.Option(
            "--maximal", help="Maximal coordinates: every joint by all its constraint rows."
        ),
    ] = False,
    values: Values = None,
    start: Starts = None,
    guess: Guesses = None,
    robot: RobotOption = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Solve the constrained system at the start in every way, and compare them."""
    from liaison.cli.values import read_request
    from liaison.verbs.analyse import solutions as verb

    request = read_request(file, values, start, guesses=guess, robot=robot)
    solved = verb.solutions(request.mechanism, start=request.start, maximal=maximal)
    printed(solved.to_dict(), str(solved), as_json)
