"""Derive the equations of an arm with its rotors.

Public names: motors.
"""

from __future__ import annotations

from typing import Annotated

import typer

from liaison.cli.options import Debug, Json, Model, Values, printed
from liaison.verbs.registry import command


@command
def motors(
    file: Model,
    own: Annotated[
        bool, typer.Option("--motor-coordinates", help="A m'' + B + g = Q in the motors' angles.")
    ] = False,
    digits: Annotated[int, typer.Option(min=2, max=17, help="Of decimals, for reading.")] = 6,
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Derive the equations of an arm with its rotors: Mampey's mass matrix, torques of motors."""
    from liaison.cli.pages.motors import motor_equations
    from liaison.cli.values import asked

    facts = motor_equations(asked(file, values).mechanism, own, digits)
    printed(facts, facts["text"], as_json)
