"""Compute a standard basis of polynomials, and divide by it.

Public names: standard_basis.
"""

from __future__ import annotations

from typing import Annotated

import typer

from liaison.cli.options import Debug, Json, printed
from liaison.verbs.registry import command


@command
def standard_basis(
    polynomials: Annotated[list[str], typer.Argument(help='As "X^5" "X^3*Y - Y^2".')],
    unknowns: Annotated[
        list[str] | None,
        typer.Option("--unknown", metavar="NAME", help="In the order that counts. Repeatable."),
    ] = None,
    order: Annotated[str, typer.Option(help="degrevlex, deglex or lex.")] = "degrevlex",
    divide: Annotated[
        str | None, typer.Option(metavar="POLYNOMIAL", help="Divide this by them and the basis.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """The reduced standard (Gröbner) basis, its dimension and its Hilbert function."""
    from liaison.verbs.symbolic import standard_basis as verb

    result = verb.standard_basis(polynomials, unknowns or (), order=order, divide=divide)
    printed(result.to_dict(), result.text, as_json)
