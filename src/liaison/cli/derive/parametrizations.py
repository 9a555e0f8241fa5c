"""Compare parametrizations: unknowns, cost, time, drift.

Public names: parametrizations.
"""

from __future__ import annotations

from typing import Annotated

import typer

from liaison.cli.options import (
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
def parametrizations(
    file: Model,
    formalism: Annotated[
        str, typer.Option(help="newton_euler, lagrange, kane, …: a wrong name lists them all.")
    ] = "lagrange",
    until: Annotated[
        str, typer.Option(metavar="TIME", help="Time over which closures drift.")
    ] = "1",
    step: Annotated[
        str, typer.Option(metavar="TIME", help="Step size of RK4 for the drift.")
    ] = "1 ms",
    values: Values = None,
    robot: RobotOption = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Compare coordinates for a mechanism: unknowns, constraints, operations, time, drift."""
    from liaison.cli.running import run_options
    from liaison.cli.values import check_word, read_request
    from liaison.equations.formalisms.table import FORMALISMS
    from liaison.verbs.derive import parametrizations as verb

    check_word("--formalism", formalism, FORMALISMS)
    mechanism = read_request(file, values, robot=robot).mechanism
    end, options = run_options(until, {"step": step})
    comparison = verb.parametrizations(
        mechanism, formalism=formalism, until=end, step=options.step or 1e-3
    )
    printed(comparison.facts(), str(comparison), as_json)
