"""Print the equations in independent velocities.

Public names: reduce.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from liaison.cli.options import At, WithValues, with_options
from liaison.verbs.registry import command


@command
@with_options
def reduce(
    *,
    independent: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A coordinate with independent velocity. Repeatable."),
    ] = None,
    at: At = None,
    call: WithValues,
) -> None:
    """Print the equations of motion in independent velocities, without multipliers."""
    from liaison.cli.derive.forms import tidied
    from liaison.cli.values import named_by, positions_of
    from liaison.expr.reading.shared import to_text
    from liaison.verbs.derive import reduce as verb

    mechanism = call.request().mechanism
    where = positions_of(mechanism, at)
    with named_by("--independent"):
        reduction = verb.reduce(mechanism, independent or (), at=where)
    equations, names = reduction.equations, [label.name for label in reduction.state.labels["v"]]
    dependent = {k: name for k, name in enumerate(names) if name not in reduction.independent}
    lines = equations.statement()
    formulas = [equations.velocity[k] for k in dependent]
    formulas += [side for line in lines for side in (line.left, line.right)]
    sides = [f"{side} of {line.name}" for line in lines for side in ("inertia", "force")]
    text = to_text(tidied(formulas), names=[*dependent.values(), *sides])
    facts: dict[str, Any] = {
        "name": mechanism.name,
        "mobility": reduction.size,
        "independent": list(reduction.independent),
        "dependent": list(dependent.values()),
        "on_non_reduced_component": equations.deflated,
        "acceleration": reduction.acceleration(reduction.state.q, reduction.start()).tolist(),
        "text": text,
    }
    head = f"{mechanism.name}: independent velocities {', '.join(reduction.independent)}."
    call.answer(facts, f"{head} For each, inertia = force.\n{text}\n{SHORTER}")


SHORTER = "`derive --parametrization minimal` prints them simplified where they are short."
