"""The verb parametrizations: one mechanism in minimal, joint, full joint, Cartesian coordinates.

Public names: parametrizations.
"""

from __future__ import annotations

from typing import Annotated

import typer

from liaison.cli_options import Debug, Json, Model, Values, printed


def parametrizations(
    file: Model,
    formalism: Annotated[
        str, typer.Option(help="newton_euler, lagrange, kane, …: a wrong name lists them all.")
    ] = "lagrange",
    until: Annotated[str, typer.Option(metavar="TIME", help="How long closures may drift.")] = "1",
    step: Annotated[str, typer.Option(metavar="TIME", help="Of RK4 while they do.")] = "1 ms",
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Compare coordinates for a mechanism: unknowns, constraints, operations, time, drift."""
    from liaison import corridor
    from liaison.cli_values import asked, check_word, run_options
    from liaison.equations import FORMALISMS

    check_word("--formalism", formalism, FORMALISMS)
    mechanism = asked(file, values).mechanism
    times = run_options(until, step=step)
    found = corridor.parametrizations(
        mechanism, formalism=formalism, until=times["until"], step=times["step"]
    )
    printed(found.facts(), str(found), as_json)
