"""What happens in a run, beside its page: a strip for each contact, ticks and a list of events.

The strips lie above viser's slider and have its width; a click on a strip, a tick or a line of the
list goes there. All is plain HTML and a short script, which reads the slider's time and writes it.

Public names: timeline, legend, strips, happenings.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from importlib import resources

import numpy as np

from liaison.simulation.record.trajectory import EventRecord, Trajectory

from .marks import IMPACT, MOMENT_COLOR, STATE_COLORS, STATE_WORDS, Mark
from .solids import Color

MOST_STRIPS = 10
MOST_EVENTS = 400  # listed and ticked
ORDER = (0, 1, 3, 2)  # which state of several places of a contact is told: the last of these

CSS, JS = "timeline.css", "timeline.js"  # beside this file


def timeline(run: Trajectory, found: Sequence[Mark], speed: float) -> str:
    """Strips, ticks and the list of events as HTML; "" where nothing is to be told.

    Args:
        run: at the instants of its pictures.
        found: its places of contact.
        speed: seconds of the run shown in one second.
    """
    told, count = happenings(run, speed), len(run.events)
    if not (told or found) or len(run) < 2:
        return ""
    which = "fastest" if any(x.speed for x in run.events) else "first"
    many = f" ({which} {len(told)})" if count > len(told) else ""
    data = {
        "end": _shown(run, len(run) - 1, speed),
        "colors": [_css(x) for x in STATE_COLORS],
        "words": STATE_WORDS,
        "strips": strips(run, found, speed),
        "events": told,
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


def legend(found: Sequence[Mark], is_struck: bool = False) -> str:
    """What the colors mean, as HTML: those that occur; is_struck: bodies flash at impacts."""
    if not found and not is_struck:
        return ""
    seen = sorted({int(x) for mark in found for x in np.unique(mark.states)})
    seen += [IMPACT] * (is_struck or any(np.any(mark.is_hit) for mark in found))
    parts = [f'<i style="background:{_css(STATE_COLORS[k])}"></i>{STATE_WORDS[k]}' for k in seen]
    if any(np.any(mark.moment) for mark in found):
        parts.append(f'<i style="background:{_css(MOMENT_COLOR)}"></i>moment (two heads)')
    return f'<div id="lia-key">{"".join(parts)}</div>'


def strips(
    run: Trajectory, found: Sequence[Mark], speed: float
) -> list[tuple[str, list[tuple[int, float, float]]]]:
    """For each contact its states, each from and to a time of the slider [s]."""
    owners: dict[str, list[Mark]] = {}
    for mark in found:
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
        (int(states[a]), _shown(run, a, speed), _shown(run, b, speed))
        for a, b in itertools.pairwise(edges)
        if states[a] != 0 and b > a
    ]


def happenings(run: Trajectory, speed: float) -> list[tuple[float, str, str, str, bool]]:
    """Every event: time of the slider at which it is seen, its own time, of what, words, is_hit."""
    told: list[tuple[float, str, str, str, bool]] = []
    for event in sorted(_chosen(run.events), key=lambda x: x.t):
        k = min(int(np.searchsorted(run.t, event.t)), len(run) - 1)
        words = f"{event.name} {event.what}".rstrip()
        shown = _shown(run, k, speed)
        told.append((shown, f"{event.t:.6g}", _owner(event.name), words, event.what == "impact"))
    return told


def _chosen(events: Sequence[EventRecord]) -> Sequence[EventRecord]:
    """Those that are told: all, or of too many the fastest impacts, or the first."""
    if len(events) <= MOST_EVENTS:
        return events
    return sorted(events, key=lambda x: (-(x.speed or 0.0), x.t))[:MOST_EVENTS]


def _owner(name: str) -> str:
    """The contact that a block or place belongs to."""
    return name.partition(": ")[0].partition("[")[0]


def _shown(run: Trajectory, k: int, speed: float) -> float:
    """The slider's time of a picture, rounded up, so that the picture is seen there."""
    return float(np.ceil(1e4 * (run.t[k] - run.t[0]) / speed)) / 1e4


def _css(color: Color) -> str:
    return "rgb({},{},{})".format(*color)
