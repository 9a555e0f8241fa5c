"""Print mass, center, inertia and principal axes of bodies.

Public names: inertia.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from liaison.cli.options import (
    At,
    Debug,
    Json,
    Model,
    RobotOption,
    Values,
    printed,
    with_robot_options,
)
from liaison.verbs.registry import command


@command
@with_robot_options
def inertia(
    file: Model,
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
    values: Values = None,
    robot: RobotOption = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Mass, center, tensors I and P, principal axes and ellipsoid of bodies together."""
    from liaison.cli.values import positions_of, read_request, three
    from liaison.tree.tree import as_float
    from liaison.verbs.state import inertia as verb

    mechanism = read_request(file, values, robot=robot).mechanism
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
    printed(facts, text, as_json)
