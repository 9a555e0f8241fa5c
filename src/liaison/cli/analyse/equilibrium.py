"""Find an equilibrium near the start.

Public names: equilibrium.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from liaison.cli.options import Debug, Guesses, Json, Model, Starts, Values, printed
from liaison.verbs.registry import command

if TYPE_CHECKING:
    from liaison.analyse import Equilibrium


@command
def equilibrium(
    file: Model,
    nearest: Annotated[
        bool, typer.Option("--nearest", help="The nearest equilibrium, stable or not.")
    ] = False,
    values: Values = None,
    start: Starts = None,
    guess: Guesses = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Find a position of rest near the start, whether it is stable, and what its joints bear."""
    from liaison.cli.values import read_request
    from liaison.verbs.analyse import equilibrium as verb

    request = read_request(file, values, start, guesses=guess)
    kind = "nearest" if nearest else "stable"
    rest = verb.equilibrium(request.mechanism, start=request.start, kind=kind)
    printed({"name": request.mechanism.name} | rest.to_dict(), _text(rest), as_json)


def _text(rest: Equilibrium) -> str:
    """An equilibrium as text."""
    places = [
        f"  {label.name:20} {value:.9g} {label.unit}"
        for label, value in zip(rest.state.labels["q"], rest.state.q, strict=True)
    ]
    left = f"{rest.residual:.1e} of the forces is not balanced"
    if rest.linear is None:
        pushes = [
            f"  {name:20} {force:.9g} {unit}" for name, (force, unit) in rest.contacts.items()
        ]
        return "\n".join([f"rests on contacts; {left}", *places, "forces of contacts:", *pushes])
    kind = "stable" if rest.is_stable else "not stable"
    waves = sorted({round(float(x), 9) for x in rest.linear.frequencies} - {0.0})
    tones = ", ".join(f"{x:.6g} Hz" for x in waves) or "none"
    return "\n".join([f"{kind}; {left}", *places, f"  frequencies          {tones}"])
