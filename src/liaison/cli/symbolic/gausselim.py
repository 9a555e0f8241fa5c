"""Eliminate in a matrix of formulas by cases.

Public names: gausselim.
"""

from __future__ import annotations

from typing import Annotated

import typer

from liaison.cli.options import Debug, Json, printed
from liaison.verbs.registry import command


@command
def gausselim(
    matrix: Annotated[
        str, typer.Argument(help='Rows of formulas: "[[x(t),1,0],[0,0,1],[1,y,1]]".')
    ],
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Gaussian elimination that splits wherever a pivot could vanish."""
    from liaison.verbs.symbolic import gausselim as verb

    result = verb.gausselim(matrix)
    printed(result.to_dict(), result.text, as_json)
