"""The moving picture: a live view, and a page that opens from a file, both through viser.

What happens in a run, beside its page: a strip for each contact, ticks and a list of events.

The strips lie above viser's slider and have its width; a click on a strip, a tick or a line of the
list goes there. All is plain HTML and a short script, which reads the slider's time and writes it.

Public names: show, page, sampled, timeline, legend, strips, event_rows, silent.
"""

from __future__ import annotations

import contextlib
import html
import io
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import resources
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError, needed
from liaison.model import Mechanism
from liaison.simulation.record.files import write_file
from liaison.simulation.record.resampling import spots
from liaison.simulation.record.trajectory import EventRecord, Trajectory

from .camera import ASPECT, camera
from .drawing import Drawing, drawing
from .live import LiveView
from .marks import IMPACT, MOMENT_COLOR, STATE_COLORS, STATE_WORDS, Mark
from .solids import Color
from .stage import Look, Stage

MOST_STRIPS = 10
MOST_EVENTS = 400  # listed and ticked
ORDER = (0, 1, 3, 2)  # which state of several places of a contact is shown: the last of these

CSS, JS = "timeline.css", "timeline.js"  # beside this file


def timeline(run: Trajectory, marks: Sequence[Mark], speed: float) -> str:
    """Strips, ticks and the list of events as HTML; "" where there is nothing to show.

    Args:
        run: at the instants of its pictures.
        marks: its places of contact.
        speed: seconds of the run shown in one second.
    """
    events, count = event_rows(run, speed), len(run.events)
    if not (events or marks) or len(run) < 2:
        return ""
    which = "fastest" if any(x.speed for x in run.events) else "first"
    many = f" ({which} {len(events)})" if count > len(events) else ""
    data = {
        "end": _slider_time(run, len(run) - 1, speed),
        "colors": [_css(x) for x in STATE_COLORS],
        "words": STATE_WORDS,
        "strips": strips(run, marks, speed),
        "events": events,
        "title": f"{count} event{'s' * (count != 1)}{many}",
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    style = _file(CSS).replace("HIT", _css(STATE_COLORS[IMPACT]))
    return f"<style>{style}</style><script>{_file(JS).replace('DATA', text)}</script>"


def _file(name: str) -> str:
    """A file of the page, without its indents and comments."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line and not line.startswith(("//", "/*")))


def legend(marks: Sequence[Mark], is_struck: bool = False) -> str:
    """What the colors mean, as HTML: those that occur; is_struck: bodies flash at impacts."""
    if not marks and not is_struck:
        return ""
    seen = sorted({int(x) for mark in marks for x in np.unique(mark.states)})
    seen += [IMPACT] * (is_struck or any(np.any(mark.is_hit) for mark in marks))
    parts = [f'<i style="background:{_css(STATE_COLORS[k])}"></i>{STATE_WORDS[k]}' for k in seen]
    if any(np.any(mark.moment) for mark in marks):
        parts.append(f'<i style="background:{_css(MOMENT_COLOR)}"></i>moment (two heads)')
    return f'<div id="lia-key">{"".join(parts)}</div>'


def strips(
    run: Trajectory, marks: Sequence[Mark], speed: float
) -> list[tuple[str, list[tuple[int, float, float]]]]:
    """For each contact its states, each from and to a time of the slider [s]."""
    owners: dict[str, list[Mark]] = {}
    for mark in marks:
        owners.setdefault(mark.owner, []).append(mark)
    busy = sorted(owners, key=lambda x: -max(np.ptp(m.states) for m in owners[x]))[:MOST_STRIPS]
    return [(x, _spans(run, owners[x], speed)) for x in owners if x in busy]


def _spans(run: Trajectory, places: Sequence[Mark], speed: float) -> list[tuple[int, float, float]]:
    """States of a contact, the strongest of its places."""
    rank = np.argsort(ORDER)
    now = np.max([rank[m.states] for m in places], axis=0)
    states = [ORDER[k] for k in now]
    edges = [0, *(np.flatnonzero(np.diff(states)) + 1).tolist(), len(states) - 1]
    return [
        (int(states[a]), _slider_time(run, a, speed), _slider_time(run, b, speed))
        for a, b in itertools.pairwise(edges)
        if states[a] != 0 and b > a
    ]


def event_rows(run: Trajectory, speed: float) -> list[tuple[float, str, str, str, bool]]:
    """Every event: time of the slider at which it is seen, its own time, of what, words, is_hit."""
    events: list[tuple[float, str, str, str, bool]] = []
    for event in sorted(_chosen(run.events), key=lambda x: x.t):
        k = min(int(np.searchsorted(run.t, event.t)), len(run) - 1)
        words = f"{event.name} {event.what}".rstrip()
        instant = _slider_time(run, k, speed)
        events.append(
            (instant, f"{event.t:.6g}", _owner(event.name), words, event.what == "impact")
        )
    return events


def _chosen(events: Sequence[EventRecord]) -> Sequence[EventRecord]:
    """The events shown: all, or of too many the fastest impacts, or the first."""
    if len(events) <= MOST_EVENTS:
        return events
    return sorted(events, key=lambda x: (-(x.speed or 0.0), x.t))[:MOST_EVENTS]


def _owner(name: str) -> str:
    """The contact that a block or place belongs to."""
    return name.partition(": ")[0].partition("[")[0]


def _slider_time(run: Trajectory, k: int, speed: float) -> float:
    """The slider's time of a picture, rounded up, so that the picture is seen there."""
    return float(np.ceil(1e4 * (run.t[k] - run.t[0]) / speed)) / 1e4


def _css(color: Color) -> str:
    return "rgb({},{},{})".format(*color)


Array = NDArray[np.float64]

Contacts: TypeAlias = Callable[[Trajectory], Sequence[Any]]
"""Places of contact of a run: records with name, point, force and is_closed over its instants."""

MOST_FRAMES = 6000
MOST_TURN = 2.0  # [rad] between recorded instants; beyond half a turn the way is not known
CAPTION = (
    "<style>[class*=Notification-root]{{display:none!important}}canvas:not([style*=pointer-events])"
    "{{background:linear-gradient(#dbe5ef,#f8fafc 60%,#fff)}}</style>"
    '<div style="position:fixed;left:0.9em;top:0.7em;z-index:1;pointer-events:none;'
    'font:600 15px system-ui,sans-serif;color:#2b3138">{title}'
    '<div style="font-weight:400;font-size:12.5px;color:#6b747e">{note}</div>{key}</div>'
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
    contacts: Contacts | None = None,
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
        contacts: places of contact of a run (`liaison.contact_points` of the mechanism): each place
            is drawn in the color of its state, gray open, green held, orange slipping, blue
            rolling, red at an impact, with an arrow of its force and one with two heads of its
            moment. Strips above the slider show the same over time; events are ticks on them, and
            a list in which a click goes there.
    """
    run = sampled(trajectory, speed, fps)
    drawn = drawing(run, mechanism)
    look = Look(tuple(trace), forces, frames, labels, _places(run, contacts), speed)
    with _serving() as viewer:
        stage = Stage(viewer, run, mechanism, drawn, look)
        record = viewer.get_scene_serializer()
        for k in range(1, len(run)):
            record.insert_sleep(float(run.t[k] - run.t[k - 1]) / speed)
            stage.show(k)
        text = record.as_html()
    panels = legend(stage.marks, stage.is_struck), timeline(run, stage.marks, speed)
    write_file(path, _dressed(text, run, speed, drawn, panels))


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
    drawn = drawing(run, mechanism)
    look = Look(tuple(trace), forces, frames, labels, _places(run, contacts), speed)
    viewer = _server(port)
    view = LiveView(viewer, Stage(viewer, run, mechanism, drawn, look), run, speed)
    view.play()
    if browser:
        view.open()
    if block:
        view.wait()
    return view


def _places(run: Trajectory, contacts: Contacts | None) -> tuple[Any, ...]:
    """Places of contact at the pictures of a run, where it knows of any."""
    return () if contacts is None or "modes" not in run.series else tuple(contacts(run))


def sampled(trajectory: Trajectory, speed: float, fps: float) -> Trajectory:
    """The run at the instants of its pictures."""
    if not (speed > 0 and fps > 0):
        raise LiaisonError(f"speed {speed:g} and fps {fps:g} must both be positive.")
    start, end = float(trajectory.t[0]), float(trajectory.t[-1])
    if end == start:
        return trajectory.resample([start], rough=True)
    count = min(max(round((end - start) / speed * fps), 1), MOST_FRAMES)
    times = _on_record(trajectory, np.linspace(start, end, 1 + count))
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
        raise LiaisonError(
            f"the run is recorded too seldom for a picture: {gap[worst]:.2g} s pass from "
            f"{t[worst]:.4g} s on, in which a body turns by {turn[worst]:.2g} rad.",
            hint=f"Record it at least every {period:.2g} s (the option `every` of simulate).",
        )
    nearest = np.where(times - t[i] < t[i + 1] - times, t[i], t[i + 1])
    return np.where(is_far, nearest, times)


@contextlib.contextmanager
def _serving() -> Iterator[Any]:
    """A viser server on a free port of this machine, stopped at the end."""
    viewer = _server(0)
    try:
        yield viewer
    finally:
        with silent():
            viewer.stop()


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """viser greets on standard output, which is our caller's, or in the cell of a notebook."""
    from rich import get_console

    console = get_console()
    before, console.quiet = console.quiet, True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        console.quiet = before


def _server(port: int) -> Any:
    with needed("view"):
        import viser

    with silent():
        return viser.ViserServer(host="127.0.0.1", port=port, verbose=False)


def _dressed(
    text: str, run: Trajectory, speed: float, drawn: Drawing, panels: tuple[str, str]
) -> str:
    """viser's page with a title, a caption, and a camera that steps back on narrow screens.

    Args:
        text: of viser's page.
        run: as it is shown.
        speed: seconds of the run shown in one second.
        drawn: what is seen.
        panels: what colors mean, and what happens, as HTML.
    """
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
    caption = CAPTION.format(title=title, note=html.escape(note), key=panels[0])
    text = text[:head] + script + text[head:body] + caption + panels[1] + text[body:]
    start, end = text.index("<title>") + len("<title>"), text.index("</title>")
    return text[:start] + title + text[end:]
