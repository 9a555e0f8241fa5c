"""Verbs about freedoms of a mechanism: reduce its equations to them, find where they change.

Public names: reduce, singular.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .cli_options import Debug, Json, Model, Values, printed

At = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help='A position instead of its start, as "A=90 deg".'),
]


def singular(
    file: Model,
    along: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="A saved run: look for losses of rank along it."),
    ] = None,
    at: At = None,
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Find dead points and positions where branches meet, of the whole motion or along a run."""
    from liaison import corridor

    from .cli_values import asked, positions_of

    mechanism = asked(file, values).mechanism
    found = corridor.singularities(mechanism, along, at=positions_of(mechanism, at))
    printed({"name": mechanism.name} | found.to_dict(), f"{mechanism.name}: {found}", as_json)


def reduce(
    file: Model,
    independent: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A coordinate whose velocity is an unknown."),
    ] = None,
    at: At = None,
    values: Values = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Print the equations of motion in independent velocities, without multipliers."""
    from liaison import corridor

    from .cli_forms import tidied
    from .cli_values import asked, named_by, positions_of
    from .expr import to_text

    mechanism = asked(file, values).mechanism
    where = positions_of(mechanism, at)
    with named_by("--independent"):
        found = corridor.reduce(mechanism, independent or (), at=where)
    told, names = found.equations, [label.name for label in found.state.labels["v"]]
    dependent = {k: name for k, name in enumerate(names) if name not in found.independent}
    lines = told.statement()
    formulas = [told.velocity[k] for k in dependent]
    formulas += [side for line in lines for side in (line.left, line.right)]
    sides = [f"{side} of {line.name}" for line in lines for side in ("inertia", "force")]
    text = to_text(tidied(formulas), names=[*dependent.values(), *sides])
    facts: dict[str, Any] = {
        "name": mechanism.name,
        "mobility": found.size,
        "independent": list(found.independent),
        "dependent": list(dependent.values()),
        "on_non_reduced_component": told.deflated,
        "acceleration": found.acceleration(found.state.q, found.start()).tolist(),
        "text": text,
    }
    head = f"{mechanism.name}: independent velocities {', '.join(found.independent)}."
    printed(facts, f"{head} For each, inertia = force.\n{text}", as_json)
