"""Rewrite formal expressions by rules of your own.

Public names: rewrite.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liaison.cli.options import Debug, Json, printed
from liaison.verbs.registry import command


@command
def rewrite(
    file: Annotated[
        Path,
        typer.Argument(
            exists=True, dir_okay=False, readable=True, help="A sheet of algebra: .alg."
        ),
    ],
    expressions: Annotated[
        list[str] | None,
        typer.Option("--expression", metavar="TEXT", help="One more expression. Repeatable."),
    ] = None,
    steps: Annotated[bool, typer.Option("--steps", help="Print every rewrite.")] = False,
    form: Annotated[str, typer.Option("--format", help="text or latex.")] = "text",
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Most rewrites of one.")] = 1000,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Rewrite the expressions of a sheet by its operators and rules, and reduce them."""
    from liaison.cli.values import check_word
    from liaison.verbs.symbolic import rewrite as verb

    check_word("--format", form, ("text", "latex"))
    result = verb.rewrite(file, expressions or (), limit=limit)
    printed(result.to_dict(), result.text(steps=steps, form=form), as_json)
