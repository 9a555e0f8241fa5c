"""Compare viscous friction with the constraints it replaces.

Public names: convergence.
"""

from __future__ import annotations

import math
from typing import Annotated

import typer

from liaison.cli.options import Until, WithStart, with_options
from liaison.verbs.registry import command


@command
@with_options
def convergence(
    *,
    until: Until = "10",
    alphas: Annotated[
        str, typer.Option(metavar="A,B,…", help="Friction coefficients α, in SI units.")
    ] = "10,100,1000,1e4,1e5,1e6",
    call: WithStart,
) -> None:
    """Replace unilateral relations by viscous friction; report the distance as it grows."""
    from liaison.cli.values import seconds
    from liaison.verbs.motion import convergence as verb

    request = call.request()
    end = seconds("--until", until)
    result = verb.convergence(request.mechanism, _listed(alphas), end, start=request.start)
    call.answer(result.to_dict(), result.text)


def _listed(alphas: str) -> list[float]:
    """Positive numbers between commas."""
    try:
        numbers = [float(x) for x in alphas.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(0 < x < math.inf for x in numbers):
        raise typer.BadParameter(
            f"{alphas!r} is no list of positive numbers, such as 10,100,1000.",
            param_hint="--alphas",
        )
    return numbers
