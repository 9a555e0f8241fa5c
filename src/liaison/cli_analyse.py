"""The verbs that analyse a motion: equilibrium, linearize, solutions, verify, convergence.

Public names: equilibrium, linearize, solutions, verify, convergence.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli_options import Debug, Json, Model, Starts, Until, Values, printed

if TYPE_CHECKING:
    from .analyse import Equilibrium, Linearization, Verification

Independent = Annotated[
    list[str] | None,
    typer.Option(metavar="COORDINATE", help="A coordinate to tell the others by; repeat it."),
]
AtRest = Annotated[
    bool, typer.Option("--rest", help="About the stable equilibrium near the start.")
]


def equilibrium(
    file: Model,
    nearest: Annotated[
        bool, typer.Option("--nearest", help="The nearest one, stable or not.")
    ] = False,
    values: Values = None,
    start: Starts = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Find a position of rest near the start, whether it is stable, and what its joints bear."""
    from liaison import corridor_analyse as doors

    from .cli_values import asked

    given = asked(file, values, start)
    check_still(given.inputs)
    kind = "nearest" if nearest else "stable"
    found = doors.equilibrium(given.mechanism, start=given.start, kind=kind)
    printed({"name": given.mechanism.name} | found.to_dict(), at_rest(found), as_json)


def linearize(
    file: Model,
    rest: AtRest = False,
    independent: Independent = None,
    values: Values = None,
    start: Starts = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Tell small motions about the start or an equilibrium: eigenvalues, frequencies, modes."""
    from liaison import corridor_analyse as doors

    from .cli_values import asked, named_by

    given = asked(file, values, start)
    check_still(given.inputs)
    state = doors.equilibrium(given.mechanism, start=given.start).state if rest else None
    with named_by("--independent"):
        linear = doors.linearize(
            given.mechanism, state, start=given.start, independent=independent or ()
        )
    printed({"name": given.mechanism.name} | linear.to_dict(), small(linear), as_json)


def solutions(
    file: Model,
    maximal: Annotated[
        bool,
        typer.Option("--maximal", help="Every body by itself, with all rows of every joint."),
    ] = False,
    values: Values = None,
    start: Starts = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Solve the constrained system at the start in every way, and compare them."""
    from liaison import corridor_analyse as doors

    from .cli_values import asked

    given = asked(file, values, start)
    check_still(given.inputs)
    found = doors.solutions(given.mechanism, start=given.start, maximal=maximal)
    printed(found.to_dict(), str(found), as_json)


def verify(
    file: Model,
    run: Annotated[
        Path | None,
        typer.Option(metavar="FILE.nc", exists=True, help="A run of it that was saved."),
    ] = None,
    until: Annotated[
        str, typer.Option(metavar="TIME", help="How long to run it, if none was saved.")
    ] = "1 s",
    about: Annotated[
        str, typer.Option(metavar="BODY", help="Take moments about this body's moving origin.")
    ] = "ground",
    values: Values = None,
    start: Starts = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Hold a run against the general theorems: momentum, moments, energies, power."""
    from liaison import corridor_analyse as doors

    from .cli_values import asked, check_names, run_options
    from .simulation import load

    given = asked(file, values, start)
    check_names("--about", "body", (about,), [x.name for x in given.mechanism.bodies])
    options: dict[str, Any] = {}
    if run is None:
        options = {"until": run_options(until)["until"], "inputs": given.inputs}
    found = doors.verify(
        given.mechanism, None if run is None else load(run), about=about, **options
    )
    printed({"name": given.mechanism.name} | found.to_dict(), theorems(found), as_json)
    if not found.holds:
        raise typer.Exit(1)


def convergence(
    file: Model,
    until: Until = "10",
    alphas: Annotated[
        str, typer.Option(metavar="A,B,…", help="Coefficients of the friction, in SI.")
    ] = "10,100,1000,1e4,1e5,1e6",
    values: Values = None,
    start: Starts = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Realize one-sided relations by viscous friction, and tell how near that comes as it grows."""
    from liaison import corridor_analyse as doors

    from .cli_values import asked, run_options

    given = asked(file, values, start)
    check_still(given.inputs)
    found = doors.convergence(
        given.mechanism, listed(alphas), run_options(until)["until"], start=given.start
    )
    printed(found.to_dict(), found.text, as_json)


def listed(alphas: str) -> list[float]:
    """Positive numbers between commas."""
    try:
        found = [float(x) for x in alphas.split(",")]
    except ValueError:
        found = []
    if not found or not all(0 < x < math.inf for x in found):
        raise typer.BadParameter(
            f"{alphas!r} is no list of positive numbers, such as 10,100,1000.",
            param_hint="--alphas",
        )
    return found


def check_still(inputs: dict[str, Any]) -> None:
    """A formula of time has no value at rest."""
    for name in inputs:
        raise typer.BadParameter(f"--set {name}: a number is asked for here, no formula of time.")


def at_rest(found: Equilibrium) -> str:
    """An equilibrium for people."""
    places = [
        f"  {label.name:20} {value:.9g} {label.unit}"
        for label, value in zip(found.state.labels["q"], found.state.q, strict=True)
    ]
    left = f"{found.residual:.1e} of the forces is not balanced"
    if found.linear is None:
        pushes = [
            f"  {name:20} {force:.9g} {unit}" for name, (force, unit) in found.contacts.items()
        ]
        return "\n".join([f"rests on contacts; {left}", *places, "forces of contacts:", *pushes])
    kind = "stable" if found.is_stable else "not stable"
    waves = sorted({round(float(x), 9) for x in found.linear.frequencies} - {0.0})
    tones = ", ".join(f"{x:.6g} Hz" for x in waves) or "none"
    return "\n".join([f"{kind}; {left}", *places, f"  frequencies          {tones}"])


def small(found: Linearization) -> str:
    """A linearization for people: each eigenvalue and what moves most in its mode."""
    modes, names = abs(found.modes), [label.name for label in found.everything]
    lines = [f"states: {', '.join(str(x) for x in found.labels)}"]
    if found.steadiness > 1e-9:
        lines.append(f"about a motion that is not steady: |v'| up to {found.steadiness:.3g}")
    rounding = 1e-13 * max(1.0, float(abs(found.eigenvalues).max(initial=0.0)))
    for k, s in enumerate(found.eigenvalues):
        real, imaginary = (x if abs(x) > rounding else 0.0 for x in (s.real, s.imag))
        size = modes[: len(names) // 2, k]
        largest = max(float(size.max(initial=0.0)), 1e-30)
        most = [names[j] for j in (-size).argsort()[:3] if size[j] > 0.01 * largest]
        lines.append(
            f"  {real:+.9g} {imaginary:+.9g}i 1/s   {abs(imaginary) / (2 * math.pi):.6g} Hz   "
            f"damping {round(found.damping[k], 4) + 0.0:+.4f}   {', '.join(most)}"
        )
    if found.steadiness > 1e-9:
        lines.append("whether the motion is stable these do not say: they change along it")
    else:
        lines.append("stable" if found.is_stable else "not stable")
    return "\n".join(lines)


def theorems(found: Verification) -> str:
    """A verification for people."""
    rows = [
        f"  {'holds' if x.holds else 'FAILS'}  {x.error:.1e} of {x.size:<9.3g} at {x.at:.4g} s   "
        f"{x.name}"
        for x in found.theorems
    ]
    head = "every theorem holds" if found.holds else f"{found.worst.name} does not hold"
    return "\n".join([head, *rows])
