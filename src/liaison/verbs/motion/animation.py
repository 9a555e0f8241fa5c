"""Show a run as a moving picture in the cell of a notebook.

Public names: animation.
"""

from __future__ import annotations

from typing import Unpack

from liaison.errors import ArgumentError, SimulationError, checked
from liaison.model.mechanism import Mechanism
from liaison.model.pairing import drawn
from liaison.numeric.progress import lasting
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.given import Given, mechanism_of
from liaison.verbs.pictures import PictureKeywords, picture_options
from liaison.view.notebook.animation import Animation
from liaison.view.notebook.frame import page_text, sparse_fps

HEIGHT = 420
"""Height of a picture in a cell [px]."""


@lasting("view")
@checked
def animation(
    trajectory: Trajectory,
    given: Given | None = None,
    *,
    height: int = HEIGHT,
    **options: Unpack[PictureKeywords],
) -> Animation:
    """A moving picture for the cell of a notebook, with a slider of time and a player.

    As the last line of a cell it is shown; a saved notebook keeps it, as a page that needs neither
    Python nor a network. Motions of many bodies or of long time are shown in fewer pictures, so
    that a cell stays below a few megabytes. `run.show()` is the same.

    Args:
        trajectory: with poses.
        given: the mechanism that moved, or the path of its text; the run's own if not given.
        height: of the picture [px].
        **options: of `page`: speed, fps, trace, forces, frames, labels, contacts. A run that says
            itself how fast it is to be shown (`mode_shape`) is shown so.

    Raises:
        ArgumentError: the run does not know its mechanism (it comes from a file, for example).
        SimulationError: a run without poses.
    """
    mechanism = drawn(_mechanism(trajectory, given))
    look = picture_options("animation", mechanism, options, ("height",))
    look.setdefault("speed", float(trajectory.meta.get("speed", 1.0)))
    moving = len(mechanism.bodies)
    look["fps"] = sparse_fps(trajectory, moving, look["speed"], look.get("fps", 30.0))
    title = f"{trajectory.name}, {trajectory.t[0]:g} to {trajectory.t[-1]:g} s"
    return Animation(title, page_text(trajectory, mechanism, **look), height)


def _mechanism(run: Trajectory, given: Given | None) -> Mechanism:
    """The mechanism that moved."""
    if "poses" not in run.series:
        raise SimulationError(
            f"the run of {run.name!r} has no poses, and cannot be drawn.",
            hint="They are evaluated by default: leave only_series out, or name them there.",
        )
    if given is not None:
        return mechanism_of(given)
    own = run.mechanism
    if own is None:
        raise ArgumentError(
            f"the run of {run.name!r} does not know which mechanism moved: it comes from a file, "
            "or consists of some instants of a run.",
            hint="Pass it: run.show(mechanism), or the path of its text.",
        )
    return mechanism_of(own)
