"""A page of a run inside a cell: an inline frame that holds the whole page and asks for nothing.

The frame is plain HTML, so that a saved notebook keeps it, and a notebook without a kernel, a
converted one and one in another front end show it. It is sandboxed: what runs in it cannot reach
the notebook. This is the only place that knows which page is shown.

Public names: inline_frame, page_text, scene_blocks, sparse_fps, MOST_POSES.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from liaison.model import Mechanism
from liaison.simulation.record.trajectory import Trajectory
from liaison.view.scene import page

MOST_POSES = 24_000
"""Poses of bodies in a cell: pictures times bodies; a longer motion is shown in fewer pictures."""

LEAST_PICTURES = 60
"""Pictures of any motion."""


def page_text(run: Trajectory, mechanism: Mechanism, **look: Any) -> str:
    """The page of a run as text.

    Args:
        run: with poses.
        mechanism: bodies and joints to draw.
        **look: of `liaison.view.scene.page`.
    """
    with TemporaryDirectory(prefix="liaison-") as folder:
        path = Path(folder) / "page.html"
        page(run, mechanism, path, **look)
        return path.read_text(encoding="utf-8")


def sparse_fps(run: Trajectory, bodies: int, speed: float, fps: float) -> float:
    """Pictures a second, fewer where a cell would become heavy.

    Args:
        run: that is shown.
        bodies: that move in it.
        speed: seconds of the run shown in one second.
        fps: as many as are wanted.
    """
    seconds = (float(run.t[-1]) - float(run.t[0])) / speed if len(run) else 0.0
    most = max(MOST_POSES / max(bodies, 1), LEAST_PICTURES)
    return min(fps, most / seconds) if seconds > 0 else fps


def scene_blocks(text: str) -> dict[str, str]:
    """The scene of a page as its front end takes it: the JSON text, and the packed numbers."""
    return {name: _block(text, name) for name in ("scene", "data")}


def _block(text: str, name: str) -> str:
    match = re.search(rf'<script type="[^"]*" id="{name}">([^<]*)</script>', text)
    assert match is not None, f"a page has a block {name!r}"
    return match[1]


def inline_frame(text: str, title: str, height: int) -> str:
    """A page as an element of HTML.

    Args:
        text: of the page.
        title: for readers of screens.
        height: [px]; the frame is as wide as the cell.
    """
    # within an attribute of HTML only these two end it or begin something else
    inner = text.replace("&", "&amp;").replace('"', "&quot;")
    return (
        f'<iframe title="{escape(title)}" sandbox="allow-scripts allow-downloads" '
        f'style="width:100%;height:{height}px;border:0;border-radius:4px" '
        f'srcdoc="{inner}"></iframe>'
    )
