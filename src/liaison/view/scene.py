"""The moving picture of a run: a page that opens from a file, and a live view.

Public names: page, show, sampled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError, SimulationError
from liaison.model import Mechanism
from liaison.simulation.record.files import write_file
from liaison.simulation.record.resampling import spots
from liaison.simulation.record.trajectory import Trajectory
from liaison.view.pages.document import Live, Look, live_scene_of, scene_of
from liaison.view.pages.html import page_html

from .live import LiveView

Array = NDArray[np.float64]

Contacts: TypeAlias = Callable[[Trajectory], Sequence[Any]]
"""Places of contact of a run: records with name, point, force and is_closed over its instants."""

MOST_FRAMES = 6000
MOST_TURN = 2.0  # [rad] between recorded instants; beyond half a turn the way is not known


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
    contacts: Contacts | None = None,
    live: Live | None = None,
) -> None:
    """One HTML file with the motion, its curves and its player, that makes no request.

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
        contacts: places of contact of a run (`liaison.contact_points` of the mechanism): each place
            is drawn in the color of its state, gray open, green held, orange slipping, blue
            rolling, red at an impact, with an arrow of its force and one with two heads of its
            moment. Strips above the slider show the same over time; events are marks on them, and
            a list in which a click goes there; those that follow each other closely are one.
        live: what simulates in the page, in the place of the motion of the run.
    """
    run = sampled(trajectory, speed, fps)
    if live is not None:
        few = run.resample(np.unique([run.t[0], run.t[-1]]), rough=True)
        looks = [
            Look(tuple(trace), forces, frames, labels, _places(x, contacts), speed)
            for x in (run, few)
        ]
        scene = live_scene_of((run, few), mechanism, (looks[0], looks[1]), live)
        write_file(path, page_html(scene, live=live))
        return
    look = Look(tuple(trace), forces, frames, labels, _places(run, contacts), speed)
    write_file(path, page_html(scene_of(run, trajectory, mechanism, look)))


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
    contacts: Contacts | None = None,
    port: int = 8080,
    browser: bool = True,
    block: bool = False,
) -> LiveView:
    """A live view on this machine, with controls of time, speed and what is shown.

    Args:
        trajectory: with poses.
        mechanism: bodies and joints to draw.
        speed: seconds of the run shown in one second, to begin with.
        fps: pictures a second.
        trace: as for `page`.
        forces: as for `page`.
        frames: as for `page`.
        labels: as for `page`.
        contacts: as for `page`.
        port: where to serve; the next free one if it is taken. Only this machine can reach it.
        browser: open it in the browser.
        block: return only after Ctrl-C.
    """
    run = sampled(trajectory, speed, fps)
    look = Look(tuple(trace), forces, frames, labels, _places(run, contacts), speed)
    view = LiveView(scene_of(run, trajectory, mechanism, look), run, speed, port)
    view.play()
    if browser:
        view.open()
    if block:
        view.wait()
    return view


def _places(run: Trajectory, contacts: Contacts | None) -> tuple[Any, ...]:
    """Places of contact at the pictures of a run, where it knows of any."""
    if contacts is None or not ("modes" in run.series or run.meta.get("scene")):
        return ()
    return tuple(contacts(run))


def sampled(trajectory: Trajectory, speed: float, fps: float) -> Trajectory:
    """The run at the instants of its pictures."""
    if not (speed > 0 and fps > 0):
        raise LiaisonError(f"speed {speed:g} and fps {fps:g} must both be positive.")
    start, end = float(trajectory.t[0]), float(trajectory.t[-1])
    if end == start:
        return trajectory.resample([start], rough=True)
    count = min(max(round((end - start) / speed * fps), 1), MOST_FRAMES)
    times = _on_record(trajectory, np.linspace(start, end, 1 + count))
    try:
        return trajectory.resample(times)
    except SimulationError:  # instants that are far apart, of a file or with contacts
        return trajectory.resample(times, rough=True)


def _on_record(trajectory: Trajectory, times: Array) -> Array:
    """The times, moved to recorded instants where a body turns too far from one to the next.

    Between such instants it is not known how far it turned, so there must be one for each picture.
    """
    turning = [k for k, label in enumerate(trajectory.labels["v"]) if label.unit == "rad/s"]
    t, speed = trajectory.t, np.abs(trajectory.v[:, turning]).max(axis=1, initial=0.0)
    gap = np.diff(t)
    turn = gap * np.maximum(speed[1:], speed[:-1])
    i = spots(t, times).i
    is_far = turn[i] > MOST_TURN
    period = times[1] - times[0]
    if np.any(is_far & (gap[i] > 1.01 * period)):
        worst = int(i[np.argmax(is_far & (gap[i] > 1.01 * period))])
        step = trajectory.meta.get("step") if "planes" in trajectory.meta else None
        steps = f"; of a scene in steps, every={max(1, int(period / step))}" if step else ""
        raise LiaisonError(
            f"the run is recorded too seldom for a picture: {gap[worst]:.2g} s pass from "
            f"{t[worst]:.4g} s on, in which a body turns by {turn[worst]:.2g} rad.",
            hint=f"Record it at least every {period:.2g} s (`every` of simulate{steps}).",
        )
    nearest = np.where(times - t[i] < t[i + 1] - times, t[i], t[i + 1])
    return np.where(is_far, nearest, times)
