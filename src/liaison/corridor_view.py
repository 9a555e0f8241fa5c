"""Pictures by one call: a run with its mechanism, or with the path of its text.

Public names: page, show.
"""

from __future__ import annotations

import os
from typing import Any

from liaison.corridor import Given, mechanism_of
from liaison.simulate import Trajectory
from liaison.view import LiveView
from liaison.view import page as written_page
from liaison.view import show as shown


def page(
    trajectory: Trajectory, given: Given, path: str | os.PathLike[str], **options: Any
) -> None:
    """One HTML file with the motion, its slider and its player, that needs no network.

    Args:
        trajectory: with poses.
        given: the mechanism that moved, or the path of its text.
        path: the file, written whole or not at all; its folder must exist.
        **options: speed (1), fps (30), trace (names of bodies or joints, markers, (body, (x, y,
            z))), forces (True or names of joints), frames, labels: see `view.page`.
    """
    written_page(trajectory, mechanism_of(given), path, **options)


def show(trajectory: Trajectory, given: Given, **options: Any) -> LiveView:
    """A live view on this machine, with time, speed and what to see under the hand.

    Args:
        trajectory: with poses.
        given: the mechanism that moved, or the path of its text.
        **options: of `page`; port (8080), browser (True), block (False): see `view.show`.
    """
    return shown(trajectory, mechanism_of(given), **options)
