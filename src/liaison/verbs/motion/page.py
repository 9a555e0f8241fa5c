"""Write a 3D page of a run, or one that simulates.

Public names: page.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Unpack

from liaison.errors import LiaisonError, checked
from liaison.expr import symbol
from liaison.model import Input, Marker, Mechanism, Parameter, wrench
from liaison.model.pairing import drawn, is_scene
from liaison.model.values import floats
from liaison.numeric.progress import lasting
from liaison.simulation.live.package import live_script
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.derive.derive import derive
from liaison.verbs.freedoms.mobility import mobility
from liaison.verbs.given import Given, mechanism_of
from liaison.verbs.motion.live_module import live_module
from liaison.verbs.pictures import PictureKeywords, picture_options
from liaison.view.pages.document import Live
from liaison.view.scene import page as written_page

HAND = "drag"
"""How inputs of the force of a hand begin."""

MOST_EQUATIONS = 60_000
"""Letters of equations that are put into a page."""

MOST_DRAGGED = 24
"""Bodies with such inputs; of more, none has any."""


@lasting("view")
@checked
def page(
    trajectory: Trajectory,
    given: Given,
    path: str | os.PathLike[str],
    *,
    live: bool = False,
    **options: Unpack[PictureKeywords],
) -> None:
    """One HTML file with the motion, its curves and its player, that makes no request.

    Args:
        trajectory: with poses.
        given: the mechanism that moved, or the path of its text.
        path: the file, written whole or not at all; its folder must exist.
        live: the file simulates the mechanism from its start, with sliders for parameters, inputs
            and starts.
        **options: speed, fps, trace, forces, frames, labels, contacts: see `PictureKeywords`.

    Raises:
        SimulationError: live, and runs of this mechanism need Python between their steps.

    Example:
        >>> import liaison
        >>> run = liaison.simulate("examples/pendulum.lsd", until=0.5, every=0.05)
        >>> liaison.page(run, "examples/pendulum.lsd", "swing.html")
    """
    own = mechanism_of(given)
    mechanism = drawn(own)
    look = picture_options("page", mechanism, options, ("live",))
    simulates = _live(trajectory, own) if live else None
    written_page(trajectory, mechanism, path, live=simulates, **look)


def _live(run: Trajectory, mechanism: Mechanism) -> Live:
    """The mechanism as a module, and sliders of its parameters."""
    values = {x: float(value) for x, value in run.meta.get("parameters", {}).items()}
    dragged, inputs = _with_hand(mechanism)
    module = live_module(dragged, until=float(run.t[-1]) + 1.0, parameters=values or None)
    known = {x.name: x for x in mechanism.parameters}
    ranges = {x: _range(value, known.get(x)) for x, value in values.items()}
    return Live(module, live_script(), ranges, inputs, _about(mechanism))


def _about(mechanism: Mechanism) -> dict[str, str]:
    """Mobility and equations, where they are known and not too long."""
    try:
        proved = str(mobility(mechanism))
    except LiaisonError as error:
        proved = f"not known: {error.message}"
    equations = derive(mechanism).html().partition("<body>")[2].partition("</body>")[0]
    note = ""
    if len(equations) > MOST_EQUATIONS:
        note = (
            f"The equations take {len(equations) / 1e6:.1f} MB and are not in this page; "
            "`liaison derive` writes them."
        )
        equations = ""
    return {"mobility": proved, "equations": equations, "note": note}


def _inputs(body: str) -> tuple[str, str, str]:
    return f"{HAND} {body} x", f"{HAND} {body} y", f"{HAND} {body} z"


def _with_hand(mechanism: Mechanism) -> tuple[Mechanism, dict[str, tuple[str, str, str]]]:
    """The mechanism with a force on every body that has mass, by inputs, and their names."""
    heavy = [x for x in mechanism.bodies if x.name != "ground" and x.mass != 0]
    if len(heavy) > MOST_DRAGGED or is_scene(mechanism):
        return mechanism, {}
    names = {x.name: _inputs(x.name) for x in heavy}
    forces = [
        wrench(Marker(x.name, p=x.com), force=[symbol(y) for y in names[x.name]],
               name=f"{HAND} {x.name}")
        for x in heavy
    ]  # fmt: skip
    inputs = tuple(Input(y, "N") for x in heavy for y in names[x.name])
    return replace(
        mechanism, forces=(*mechanism.forces, *forces), inputs=mechanism.inputs + inputs
    ), names


def _range(value: float, of: Parameter | None) -> tuple[float, float, float]:
    """A slider: from bound to bound, or half of the value to either side."""
    unit = "" if of is None else of.unit
    reach = 0.5 * abs(value) or (math.pi if unit == "rad" else 1.0)
    low, high = (None, None) if of is None else (of.low, of.high)
    least = value - reach if low is None else float(floats(low, {}))
    return least, value, value + reach if high is None else float(floats(high, {}))
