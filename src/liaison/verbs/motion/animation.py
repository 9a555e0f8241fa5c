"""Show a run as a moving picture in the cell of a notebook.

Public names: animation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

from liaison.analyse.along.along import poses_at
from liaison.arguments import checked
from liaison.errors import ArgumentError
from liaison.model.mechanism import Mechanism
from liaison.model.pairing import drawn
from liaison.numeric.progress import lasting
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.along import ready_along
from liaison.verbs.given import Given, mechanism_of
from liaison.verbs.pictures import PictureKeywords, picture_options
from liaison.view.notebook.animation import Animation
from liaison.view.notebook.frame import page_text, sparse_fps

HEIGHT = 480
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
        trajectory: the run; poses are evaluated where it has none.
        given: the mechanism that moved, or the path of its text; the run's own if not given.
        height: of the picture [px].
        **options: of `page`: speed, fps, trace, forces, frames, labels, contacts. A run that says
            itself how fast it is to be shown (`mode_shape`) is shown so.

    Raises:
        ArgumentError: the run does not know its mechanism (it comes from a file, for example).
        SimulationError: the run is of another mechanism.

    Example:
        >>> import liaison
        >>> run = liaison.simulate("examples/pendulum.lsd", until=1, every=0.1)
        >>> picture = liaison.animation(run)
        >>> picture.title
        'pendulum, 0 to 1 s'
    """
    moved = _mechanism(trajectory, given)
    trajectory, mechanism = _with_poses(trajectory, moved), drawn(moved)
    look = picture_options("animation", mechanism, options, ("height",), moved=moved)
    look.setdefault("speed", float(trajectory.meta.get("speed", 1.0)))
    moving = len(mechanism.bodies)
    look["fps"] = sparse_fps(trajectory, moving, look["speed"], look.get("fps", 30.0))
    title = f"{trajectory.name}, {trajectory.t[0]:g} to {trajectory.t[-1]:g} s"
    return Animation(title, page_text(trajectory, mechanism, **look), height)


def _mechanism(run: Trajectory, given: Given | None) -> Mechanism:
    """The mechanism that moved."""
    if given is not None:
        return mechanism_of(given)
    own = run.mechanism
    if own is None:
        raise ArgumentError(
            f"the run of {run.name!r} does not know which mechanism moved: it comes from a file or "
            "from many runs, or consists of some instants of a run.",
            hint="Pass it: run.show(mechanism), or the path of its text.",
        )
    return mechanism_of(own)


def _with_poses(run: Trajectory, mechanism: Mechanism) -> Trajectory:
    """The run with poses, evaluated where it was recorded without."""
    if "poses" in run.series:
        return run
    kernel = ready_along(mechanism, run, loops=True)
    return replace(run, series={**run.series, "poses": poses_at(kernel, run.q, run.t)})
