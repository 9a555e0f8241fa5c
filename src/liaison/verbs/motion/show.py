"""Show a run live in a browser.

Public names: show.
"""

from __future__ import annotations

from typing import Unpack

from liaison.arguments import checked
from liaison.model.pairing import drawn
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.given import Given, mechanism_of
from liaison.verbs.pictures import PictureKeywords, picture_options
from liaison.view.live import LiveView
from liaison.view.scene import show as shown


@checked
def show(
    trajectory: Trajectory,
    given: Given,
    *,
    port: int = 8080,
    browser: bool = True,
    block: bool = False,
    **options: Unpack[PictureKeywords],
) -> LiveView:
    """A live view on this machine, with controls of time, speed and what is drawn.

    Args:
        trajectory: with poses.
        given: the mechanism that moved, or the path of its text.
        port: where it is served.
        browser: open it.
        block: return only when it is closed.
        **options: of `page`: speed, fps, trace, forces, frames, labels, contacts.

    Example:
        >>> import liaison
        >>> run = liaison.simulate("examples/pendulum.lsd", until=2)
        >>> with liaison.show(run, "examples/pendulum.lsd", port=0, browser=False) as view:
        ...     view.pause()
        ...     view.seek(0.5)
        ...     print(view)
        <LiveView at 0.5 s, paused>
    """
    own = mechanism_of(given)
    mechanism = drawn(own)
    look = picture_options("show", mechanism, options, ("port", "browser", "block"), moved=own)
    return shown(trajectory, mechanism, port=port, browser=browser, block=block, **look)
