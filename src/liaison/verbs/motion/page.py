"""Write a 3D page of a run that opens from a file, or one that simulates.

Public names: page.
"""

from __future__ import annotations

import math
import os
from typing import Unpack

from liaison.errors import checked
from liaison.model import Mechanism, Parameter
from liaison.model.pairing import drawn
from liaison.model.values import floats
from liaison.simulation.live.package import live_script
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.given import Given, mechanism_of
from liaison.verbs.motion.live_module import live_module
from liaison.verbs.pictures import PictureKeywords, picture_options
from liaison.view.pages.document import Live
from liaison.view.scene import page as written_page


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
    """
    own = mechanism_of(given)
    mechanism = drawn(own)
    look = picture_options("page", mechanism, options, ("live",))
    simulates = _live(trajectory, own) if live else None
    written_page(trajectory, mechanism, path, live=simulates, **look)


def _live(run: Trajectory, mechanism: Mechanism) -> Live:
    """The mechanism as a module, and sliders of its parameters."""
    values = {x: float(value) for x, value in run.meta.get("parameters", {}).items()}
    module = live_module(mechanism, until=float(run.t[-1]) + 1.0, parameters=values or None)
    known = {x.name: x for x in mechanism.parameters}
    ranges = {x: _range(value, known.get(x)) for x, value in values.items()}
    return Live(module, live_script(), ranges)


def _range(value: float, of: Parameter | None) -> tuple[float, float, float]:
    """A slider: from bound to bound, or half of the value to either side."""
    unit = "" if of is None else of.unit
    reach = 0.5 * abs(value) or (math.pi if unit == "rad" else 1.0)
    low, high = (None, None) if of is None else (of.low, of.high)
    least = value - reach if low is None else float(floats(low, {}))
    return least, value, value + reach if high is None else float(floats(high, {}))
