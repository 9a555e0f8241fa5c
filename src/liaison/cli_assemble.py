"""The verb that closes loops: assemble, near the start or in all ways.

Public names: assemble.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from liaison.cli_options import Debug, Json, Model, TimeLimit, Values, printed


def assemble(
    file: Model,
    at: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help='A coordinate that is held, as "A=30 deg".'),
    ] = None,
    every_way: Annotated[
        bool, typer.Option("--all", help="All assembly modes, not only that near the start.")
    ] = False,
    time_limit: TimeLimit = None,
    seed: Annotated[int, typer.Option(help="Of everything drawn.")] = 0,
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Close the loops of a mechanism: near its start, or in all ways and whether they are all."""
    from liaison import corridor
    from liaison.cli_values import asked, limit_option, positions_of

    mechanism = asked(file, values).mechanism
    where = positions_of(mechanism, at)
    if every_way:
        options: dict[str, Any] = {"seed": seed} | limit_option(time_limit)
        found = corridor.assembly_modes(mechanism, at=where, **options)
        printed(found.to_dict(), str(found), as_json)
        return
    from liaison.tree import as_float, assembly, span

    start = {name: float(as_float(x)) for name, x in where.items()}
    closed = assembly(span(corridor.with_starts(mechanism, start)), **start)
    names = [label.name for label in closed.state.labels["q"]]
    q = dict(zip(names, (float(x) for x in closed.state.q), strict=True))
    facts = {"name": mechanism.name, "coordinates": q, "residual": closed.residual,
             "moved": closed.moved, "attempts": closed.attempts}  # fmt: skip
    told = ", ".join(f"{name} = {x:.9g}" for name, x in q.items())
    printed(facts, f"{mechanism.name}: {told}\n  gap {closed.residual:.1e}", as_json)
