"""What happens in a run, for the time line: states of contacts as strips, events in groups.

Public names: strips, event_groups, state_entries, MOST_EVENTS.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from liaison.simulation.record.trajectory import EventRecord, Trajectory
from liaison.view.marks import IMPACT, STATE_COLORS, STATE_WORDS, Mark

Entry = dict[str, Any]

MOST_STRIPS = 10
MOST_EVENTS = 400
"""Groups of events that are listed."""

NEAR = 1 / 120
"""Of the whole time: events of one contact that follow each other within it are one group."""

ORDER = (0, 1, 3, 2)
"""Which state of several places of a contact is shown: the last of these."""


def state_entries(marks: Sequence[Mark], is_struck: bool = False) -> list[Entry]:
    """States of contacts that occur, with word and color; is_struck: bodies flash at impacts."""
    seen = {int(x) for mark in marks for x in np.unique(mark.states)}
    if is_struck or any(np.any(mark.is_hit) for mark in marks):
        seen.add(IMPACT)
    return [
        {"word": word, "color": color, "occurs": k in seen}
        for k, (word, color) in enumerate(zip(STATE_WORDS, STATE_COLORS, strict=True))
    ]


def strips(run: Trajectory, marks: Sequence[Mark]) -> list[Entry]:
    """For each contact its states other than open, each from and to an instant [s]."""
    owners: dict[str, list[Mark]] = {}
    for mark in marks:
        owners.setdefault(mark.owner, []).append(mark)
    busy = sorted(owners, key=lambda x: -max(np.ptp(m.states) for m in owners[x]))[:MOST_STRIPS]
    return [{"name": x, "spans": _spans(run, owners[x])} for x in owners if x in busy]


def _spans(run: Trajectory, places: Sequence[Mark]) -> list[tuple[int, float, float]]:
    """States of a contact, the strongest of its places."""
    rank = np.argsort(ORDER)
    now = np.max([rank[m.states] for m in places], axis=0)
    states = [ORDER[k] for k in now]
    edges = [0, *(np.flatnonzero(np.diff(states)) + 1).tolist(), len(states) - 1]
    return [
        (int(states[a]), float(run.t[a]), float(run.t[b]))
        for a, b in itertools.pairwise(edges)
        if states[a] != 0 and b > a
    ]


def event_groups(run: Trajectory) -> list[Entry]:
    """Events in order, those of one contact that follow each other closely as one entry.

    An entry has the instants `begin` and `end` [s], the `owner`, how many events it holds, words
    for them, and whether an impact is among them. Of too many groups those with the fastest impacts
    are listed.
    """
    gap = NEAR * float(run.t[-1] - run.t[0])
    groups: list[list[EventRecord]] = []
    last: dict[str, list[EventRecord]] = {}
    for event in sorted(run.events, key=lambda x: x.t):
        owner = _owner(event.name)
        if owner in last and event.t - last[owner][-1].t <= gap:
            last[owner].append(event)
        else:
            last[owner] = [event]
            groups.append(last[owner])
    if len(groups) > MOST_EVENTS:
        groups = sorted(groups, key=lambda x: (-_fastest(x), x[0].t))[:MOST_EVENTS]
        groups.sort(key=lambda x: x[0].t)
    return [_entry(group) for group in groups]


def _entry(group: Sequence[EventRecord]) -> Entry:
    first = group[0]
    words = f"{first.name} {first.what}".rstrip()
    if len(group) > 1:
        counts = Counter(x.what or x.name for x in group)
        words = f"{_owner(first.name)}: " + ", ".join(f"{n} × {x}" for x, n in counts.items())
    return {
        "begin": first.t,
        "end": group[-1].t,
        "owner": _owner(first.name),
        "count": len(group),
        "words": words,
        "hit": any(x.what == "impact" for x in group),
    }


def _fastest(group: Iterable[EventRecord]) -> float:
    return max(x.speed or 0.0 for x in group)


def _owner(name: str) -> str:
    """The contact that a block or place belongs to."""
    return name.partition(": ")[0].partition("[")[0]
