"""Print the virtual power of a part in a virtual motion.

Public names: virtual_power.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from liaison.cli.options import WithValues, with_options
from liaison.verbs.registry import command

if TYPE_CHECKING:
    from liaison.equations import Equations
    from liaison.equations.formalisms.virtual_power import VirtualPower
    from liaison.expr import Expr


@command
@with_options
def virtual_power(
    *,
    part: Annotated[
        list[str] | None, typer.Option("--body", help="A body of the part; all if none.")
    ] = None,
    translation: Annotated[
        str | None, typer.Option(metavar="X,Y,Z", help="The part slides along this, as one solid.")
    ] = None,
    rotation: Annotated[
        str | None, typer.Option(metavar="X,Y,Z", help="It turns about this axis, as one solid.")
    ] = None,
    point: Annotated[
        str | None, typer.Option(metavar="X,Y,Z", help="On that axis [m]; the origin if none.")
    ] = None,
    velocity: Annotated[
        str | None, typer.Option(metavar="NAME", help="This velocity is 1, all others are 0.")
    ] = None,
    call: WithValues,
) -> None:
    """What inertia, gravity, loads and joints give a part in a virtual motion: the sum is 0.

    Without a field the velocities are those of the motion itself.
    """
    from liaison.cli.values import named_by, three
    from liaison.equations.formalisms import virtual_power as fields
    from liaison.equations.formalisms.newton_euler import newton_euler
    from liaison.equations.readable.readable import numbered_multipliers
    from liaison.expr.graph.node import collector_paused
    from liaison.tree.tree import span
    from liaison.verbs.gravity import with_named_gravity
    from liaison.verbs.short import short

    chosen = [x for x in (translation, rotation, velocity) if x is not None]
    if len(chosen) > 1:
        raise typer.BadParameter("give one field: --translation, --rotation or --velocity.")
    if point is not None and rotation is None:
        message = "it is on the axis of a rotation; give --rotation X,Y,Z too."
        raise typer.BadParameter(message, param_hint="--point")
    slide, turn = three("--translation", translation), three("--rotation", rotation)
    where = three("--point", point, "m")
    field = fields.real_velocities()
    if slide is not None:
        field = fields.translation(slide)
    elif turn is not None:
        field = fields.rotation(turn, where or (0, 0, 0))
    elif velocity is not None:
        field = fields.compatible({velocity: 1})
    mechanism = with_named_gravity(call.request().mechanism)
    bodies = part or [x.name for x in mechanism.bodies[1:]]
    with collector_paused(), named_by("--body"):
        equations = newton_euler(span(mechanism, exact=True))
        powers = fields.virtual_power(equations, bodies, field)
    formulas = _formulas(powers)
    texts = map(short, numbered_multipliers(equations)(list(formulas.values())))
    rows = dict(zip(formulas, texts, strict=True))
    lines = [f"{mechanism.name}: virtual power of {', '.join(bodies)} [W]; its sum is 0"]
    lines += [f"  {name} = {text}" for name, text in rows.items() if text != "0"]
    lines += _legend(equations, "\n".join(lines))
    if slide is None and turn is None and set(bodies) == {x.name for x in mechanism.bodies[1:]}:
        lines.append(ALONG)
    call.answer({"part": bodies, "powers": rows}, "\n".join(lines))


ALONG = (
    "On a motion each joint of the tree gives what motors, springs and relations on its "
    "coordinates give, and 0 without them."
)


def _formulas(powers: VirtualPower) -> dict[str, Expr]:
    """Every power by the name of its line."""
    formulas = {"inertia": powers.inertia, "gravity": powers.gravity}
    kinds = {"load": powers.loads, "relation": powers.relations, "joint": powers.joints}
    for kind, entries in kinds.items():
        formulas |= {f"{kind} {name}": x for name, x in entries.items()}
    return formulas


def _legend(equations: Equations, text: str) -> list[str]:
    """What the multipliers in a text are, a line each."""
    from liaison.expr.reading.names import unicode_name

    labels = equations.labels["lam"]
    names = [unicode_name(f"lambda{k + 1}") for k in range(len(labels))]
    pairs = zip(names, labels, strict=True)
    return [f"  {name} is {label}" for name, label in pairs if name in text]
