"""Linearize about a state: eigenvalues, frequencies, modes.

Public names: linearize.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from liaison.cli.options import Debug, Guesses, Json, Model, Starts, Values, printed
from liaison.verbs.registry import command

if TYPE_CHECKING:
    from liaison.analyse import Linearization

Independent = Annotated[
    list[str] | None,
    typer.Option(metavar="COORDINATE", help="An independent coordinate. Repeatable."),
]
AtRest = Annotated[
    bool, typer.Option("--rest", help="Linearize about the stable equilibrium near the start.")
]


@command
def linearize(
    file: Model,
    rest: AtRest = False,
    independent: Independent = None,
    values: Values = None,
    start: Starts = None,
    guess: Guesses = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Linearize about the start or an equilibrium: eigenvalues, frequencies, modes."""
    from liaison.cli.values import named_by, read_request
    from liaison.verbs.analyse import equilibrium
    from liaison.verbs.analyse import linearize as verb

    request = read_request(file, values, start, guesses=guess)
    own: dict[str, Any] = {"start": request.start}
    if rest:
        own = {"state": equilibrium.equilibrium(request.mechanism, **own).state}
    with named_by("--independent"):
        linear = verb.linearize(request.mechanism, independent=independent or (), **own)
    printed({"name": request.mechanism.name} | linear.to_dict(), _text(linear), as_json)


def _text(linear: Linearization) -> str:
    """A linearization as text: each eigenvalue and what moves most in its mode."""
    modes, names = abs(linear.modes), [label.name for label in linear.everything]
    lines = [f"states: {', '.join(str(x) for x in linear.labels)}"]
    if linear.steadiness > 1e-9:
        lines.append(f"about a motion that is not steady: |v'| up to {linear.steadiness:.3g}")
    rounding = 1e-13 * max(1.0, float(abs(linear.eigenvalues).max(initial=0.0)))
    for k, s in enumerate(linear.eigenvalues):
        real, imaginary = (x if abs(x) > rounding else 0.0 for x in (s.real, s.imag))
        size = modes[: len(names) // 2, k]
        largest = max(float(size.max(initial=0.0)), 1e-30)
        most = [names[j] for j in (-size).argsort()[:3] if size[j] > 0.01 * largest]
        lines.append(
            f"  {real:+.9g} {imaginary:+.9g}i 1/s   {abs(imaginary) / (2 * math.pi):.6g} Hz   "
            f"damping {round(linear.damping[k], 4) + 0.0:+.4f}   {', '.join(most)}"
        )
    if linear.steadiness > 1e-9:
        lines.append("whether the motion is stable these do not say: they change along it")
    else:
        lines.append("stable" if linear.is_stable else "not stable")
    return "\n".join(lines)
