"""Write a 3D page of a run that opens from a file.

Public names: page.
"""

from __future__ import annotations

import os
from typing import Unpack

from liaison.errors import checked
from liaison.model.pairing import drawn
from liaison.numeric.progress import lasting
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.given import Given, mechanism_of
from liaison.verbs.pictures import PictureKeywords, picture_options
from liaison.view.scene import page as written_page


@lasting("view")
@checked
def page(
    trajectory: Trajectory,
    given: Given,
    path: str | os.PathLike[str],
    **options: Unpack[PictureKeywords],
) -> None:
    """One HTML file with the motion, its slider and its player, that needs no network.

    Args:
        trajectory: with poses.
        given: the mechanism that moved, or the path of its text.
        path: the file, written whole or not at all; its folder must exist.
        **options: speed, fps, trace, forces, frames, labels, contacts: see `PictureKeywords`.

    Example:
        >>> import liaison
        >>> run = liaison.simulate("examples/pendulum.lsd", until=0.5, every=0.05)
        >>> liaison.page(run, "examples/pendulum.lsd", "swing.html")
    """
    mechanism = drawn(mechanism_of(given))
    written_page(trajectory, mechanism, path, **picture_options("page", mechanism, options))
