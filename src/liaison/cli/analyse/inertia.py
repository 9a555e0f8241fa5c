"""Print mass, center, inertia and principal axes of bodies.

Public names: inertia.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from liaison.cli.options import At, WithValues, with_options
from liaison.verbs.registry import command


@command
@with_options
def inertia(
    *,
    bodies: Annotated[
        list[str] | None, typer.Option("--body", help="One of the bodies; all if none. Repeatable.")
    ] = None,
    point: Annotated[
        str | None, typer.Option(metavar="X,Y,Z", help="Point of the tensors; the center if none.")
    ] = None,
    axes: Annotated[str, typer.Option(metavar="BODY", help="Whose frame is used.")] = "ground",
    direction: Annotated[
        str | None,
        typer.Option(metavar="X,Y,Z", help="Moments about the axis, and the plane across it."),
    ] = None,
    at: At = None,
    call: WithValues,
) -> None:
    """Mass, center, tensors I and P, principal axes and ellipsoid of bodies together."""
    from liaison.cli.values import positions_of, three
    from liaison.tree.tree import as_float
    from liaison.verbs.state import inertia as verb

    mechanism = call.request().mechanism
    where = {name: float(as_float(x)) for name, x in positions_of(mechanism, at).items()}
    result = verb.inertia(
        mechanism, bodies or (), where, point=three("--point", point, "m"), axes=axes
    )
    facts: dict[str, Any] = result.to_dict()
    text = result.text
    u = three("--direction", direction)
    if u is not None:
        about_axis = float(result.inertia.moment_about_axis(result.point, u))
        about_plane = float(result.inertia.moment_about_plane(result.point, u))
        facts |= {"moment_about_axis": about_axis, "moment_about_plane": about_plane}
        text += f"\n  axis        {about_axis:.9g} kg·m²\n  plane       {about_plane:.9g} kg·m²"
    call.answer(facts, text)
