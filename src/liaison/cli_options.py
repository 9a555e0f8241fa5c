"""The command line's application, the options its verbs share, and how they answer.

Public names: app, Model, Values, Starts, Lenient, Floating, Merged, Until, Step, Every, Rtol, Atol,
Method, MaxSteps, Radius, Impacts, Speed, Theta, Facets, TimeLimit, Json, Debug, printed, written.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="liaison",
    help="Constrained multibody dynamics: check, derive, simulate and animate mechanisms.",
    epilog="Exit status: 0 done, 1 the model or the run is at fault, 2 the command line is.",
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Model = Annotated[
    Path,
    typer.Argument(
        exists=True, dir_okay=False, readable=True, help="A mechanism: .lsd, .urdf or .xml (MJCF)."
    ),
]
Values = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help='A parameter or an input, as "m=2.5 kg"; an input also as a formula of t.',
    ),
]
Starts = Annotated[
    list[str] | None,
    typer.Option("--start", metavar="NAME=VALUE", help="A position or rate to start from."),
]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="URDF, MJCF: repair impossible inertias, and say so.")
]
Floating = Annotated[bool, typer.Option("--floating", help="URDF: leave the root link free.")]
Merged = Annotated[
    bool, typer.Option("--merge-fixed", help="URDF: one body of links that are fixed together.")
]
Until = Annotated[str, typer.Option(metavar="TIME", help='How long, as 5 or "500 ms".')]
Step = Annotated[
    str | None, typer.Option(metavar="TIME", help="Fixed step; adaptive if not given.")
]
Every = Annotated[str | None, typer.Option(metavar="TIME", help="Record at this interval.")]
Rtol = Annotated[float | None, typer.Option(help="Relative tolerance of the adaptive method.")]
Atol = Annotated[float | None, typer.Option(help="Absolute tolerance of the adaptive method.")]
Method = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="tsitouras, dormand-prince, radau (stiff); with --step also rk4 (the default then), "
        "gauss4, rattle, generalized-alpha, moreau (contacts), …: a wrong name lists them all.",
    ),
]
MaxSteps = Annotated[
    int | None, typer.Option(min=1, help="Give up after so many steps; 10 million if not given.")
]
Radius = Annotated[
    float | None,
    typer.Option(
        "--spectral-radius", help="Of generalized-alpha: what is left of fast vibrations."
    ),
]
Impacts = Annotated[
    str | None,
    typer.Option(
        metavar="LAW", help="Of impacts: energetic (the default), newton, poisson, moreau, stronge."
    ),
]
Speed = Annotated[
    float,
    typer.Option(
        min=1e-6, max=1e6, help="Seconds of the run shown in one second: 0.1 is slow motion."
    ),
]
Theta = Annotated[
    float | None,
    typer.Option(help="Of moreau, 0.5 (the default) to 1: where in a step its forces are taken."),
]
Facets = Annotated[
    int | None,
    typer.Option(help="Of moreau: sides of polygons in the place of round cones of friction."),
]
TimeLimit = Annotated[
    str | None, typer.Option(metavar="TIME", help="Give up after so much time on the clock.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an unexpected error came from.")]


def written(**paths: Path | None) -> dict[str, str]:
    """The files that were written, by what they are."""
    return {kind: str(path) for kind, path in paths.items() if path}


def printed(facts: dict[str, Any], text: str, as_json: bool) -> None:
    """The JSON object, or the text for people."""
    print(json.dumps(facts, ensure_ascii=False) if as_json else text)
