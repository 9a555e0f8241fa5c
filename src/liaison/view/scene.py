"""The moving picture: a live view, and a page that opens from a file, both through viser.

Public names: show, page, sampled.
"""

from __future__ import annotations

import contextlib
import html
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError
from liaison.model import Mechanism
from liaison.simulate.files import whole_file
from liaison.simulate.trajectory import Trajectory

from .camera import ASPECT, camera
from .drawing import Drawing, drawing
from .live import LiveView
from .stage import Look, Stage

Array = NDArray[np.float64]

MOST_FRAMES = 6000
MOST_TURN = 2.0  # [rad] between recorded instants; beyond half a turn the way is not known
CAPTION = (
    "<style>canvas:not([style*=pointer-events])"
    "{{background:linear-gradient(#dbe5ef,#f8fafc 60%,#fff)}}</style>"
    '<div style="position:fixed;left:0.9em;top:0.7em;z-index:1;pointer-events:none;'
    'font:600 15px system-ui,sans-serif;color:#2b3138">{title}'
    '<div style="font-weight:400;font-size:12.5px;color:#6b747e">{note}</div></div>'
)
# on a narrow screen the camera steps back, so that the width still fits
STEP_BACK = (
    "<script>(function(){{var k={aspect}*Math.max(1,innerHeight-44)/innerWidth,"
    "t={target},p={position};if(k>1&&!location.search)try{{history.replaceState(null,'',"
    "'?initialCameraPosition='+p.map(function(x,i){{return t[i]+k*(x-t[i])}}))}}catch(e){{}}"
    "}})()</script>"
)


def page(
    trajectory: Trajectory,
    mechanism: Mechanism,
    path: str | os.PathLike[str],
    *,
    speed: float = 1.0,
    fps: float = 30.0,
    trace: Sequence[Any] = (),
    forces: bool | Iterable[str] = False,
    frames: bool = False,
    labels: bool | None = None,
) -> None:
    """One HTML file with the motion, its slider and its player, that needs no network.

    Args:
        trajectory: with poses.
        mechanism: bodies and joints to draw.
        path: the file, written whole or not at all; its folder must exist.
        speed: seconds of the run shown in one second.
        fps: pictures a second, as far as the run is long enough.
        trace: points whose way is drawn: names of bodies or joints, markers, (body, (x, y, z)).
        forces: draw the force in every joint, or in the joints named.
        frames: show the axes of the bodies (they can also be switched on in the page).
        labels: show the names of the bodies (the same); by default if they are few.
    """
    run = sampled(trajectory, speed, fps)
    drawn = drawing(run, mechanism)
    look = Look(tuple(trace), forces, frames, labels)
    with _serving() as viewer:
        stage = Stage(viewer, run, mechanism, drawn, look)
        record = viewer.get_scene_serializer()
        for k in range(1, len(run)):
            record.insert_sleep(float(run.t[k] - run.t[k - 1]) / speed)
            stage.show(k)
        text = record.as_html()
    with whole_file(path) as temporary:
        temporary.write_text(_dressed(text, run, speed, drawn), encoding="utf-8")


def show(
    trajectory: Trajectory,
    mechanism: Mechanism,
    *,
    speed: float = 1.0,
    fps: float = 30.0,
    trace: Sequence[Any] = (),
    forces: bool | Iterable[str] = False,
    frames: bool = False,
    labels: bool | None = None,
    port: int = 8080,
    browser: bool = True,
    block: bool = False,
) -> LiveView:
    """A live view on this machine, with time, speed and what to see under the hand.

    Args:
        trajectory: with poses.
        mechanism: bodies and joints to draw.
        speed: seconds of the run shown in one second, to begin with.
        fps: pictures a second.
        trace: as for `page`.
        forces: as for `page`.
        frames: as for `page`.
        labels: as for `page`.
        port: where to serve; the next free one if it is taken. Only this machine can reach it.
        browser: open it in the browser.
        block: return only after Ctrl-C.
    """
    run = sampled(trajectory, speed, fps)
    drawn = drawing(run, mechanism)
    look = Look(tuple(trace), forces, frames, labels)
    viewer = _server(port)
    view = LiveView(viewer, Stage(viewer, run, mechanism, drawn, look), run, speed)
    view.play()
    if browser:
        view.open()
    if block:
        view.wait()
    return view


def sampled(trajectory: Trajectory, speed: float, fps: float) -> Trajectory:
    """The run at the instants of its pictures."""
    if not (speed > 0 and fps > 0):
        raise LiaisonError(f"speed {speed:g} and fps {fps:g} must both be positive.")
    _check_density(trajectory)
    start, end = float(trajectory.t[0]), float(trajectory.t[-1])
    if end == start:
        return trajectory.resample([start])
    count = round((end - start) / speed * fps)
    return trajectory.resample(np.linspace(start, end, 1 + min(max(count, 1), MOST_FRAMES)))


def _check_density(trajectory: Trajectory) -> None:
    """Refuses a run recorded so seldom that one cannot tell how far a body turned in between."""
    turning = [k for k, label in enumerate(trajectory.labels["v"]) if label.unit == "rad/s"]
    if len(trajectory) < 2 or not turning:
        return
    speed = np.abs(trajectory.v[:, turning])
    turn = np.diff(trajectory.t)[:, None] * np.maximum(speed[1:], speed[:-1])
    i, k = np.unravel_index(np.argmax(turn), turn.shape)
    if turn[i, k] > MOST_TURN:
        name, gap = trajectory.labels["v"][turning[k]].name, np.diff(trajectory.t)[i]
        raise LiaisonError(
            f"the run is recorded too seldom for a picture: {gap:.2g} s pass from "
            f"{trajectory.t[i]:.4g} s on, in which {name} turns by {turn[i, k]:.2g} rad.",
            hint=f"Record it at least every {gap * MOST_TURN / turn[i, k]:.1g} s "
            "(the option `every` of simulate).",
        )


@contextlib.contextmanager
def _serving() -> Iterator[Any]:
    """A viser server on a free port of this machine, stopped at the end."""
    viewer = _server(0)
    try:
        yield viewer
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            viewer.stop()


def _server(port: int) -> Any:
    import viser

    # viser greets on standard output, which belongs to our caller
    with contextlib.redirect_stdout(io.StringIO()):
        return viser.ViserServer(host="127.0.0.1", port=port, verbose=False)


def _dressed(text: str, run: Trajectory, speed: float, drawn: Drawing) -> str:
    """viser's page with a title, a caption, and a camera that steps back on narrow screens."""
    title, eye = html.escape(run.name), camera(drawn.reached, drawn.up)
    note = f"{run.t[0]:g} to {run.t[-1]:g} s" + ("" if speed == 1 else f", speed {speed:g}")
    if drawn.missing:
        note += "; not drawn: " + ", ".join(drawn.missing)
    script = STEP_BACK.format(
        aspect=ASPECT,
        target=json.dumps(eye.target.tolist()),
        position=json.dumps(eye.position.tolist()),
    )
    head, body = text.index("<head>") + len("<head>"), text.index("<body>") + len("<body>")
    caption = CAPTION.format(title=title, note=html.escape(note))
    text = text[:head] + script + text[head:body] + caption + text[body:]
    start, end = text.index("<title>") + len("<title>"), text.index("</title>")
    return text[:start] + title + text[end:]
