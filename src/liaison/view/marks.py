"""Places of contact over time: how each holds, its arrows of force and moment, and events.

Public names: Mark, marks, beside, without_idle, struck, rolling_ones, dot_sizes, strips,
event_groups, state_entries, OPEN, STICKS, SLIPS, ROLLS, IMPACT, STATE_COLORS, STATE_WORDS,
MOMENT_COLOR, MOST_EVENTS.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.model import Contact, Hull, Mechanism
from liaison.model.contacts.collisions import touching
from liaison.model.values import floats
from liaison.simulation.record.trajectory import EventRecord, Trajectory

from .contacts import sizes
from .solids import Color

Array = NDArray[np.float64]
States = NDArray[np.int64]

OPEN, STICKS, SLIPS, ROLLS, IMPACT = range(5)
STATE_WORDS = ("open", "holds", "slips", "rolls", "impact")
STATE_COLORS: tuple[Color, ...] = (
    (150, 156, 163), (0, 140, 40), (240, 140, 20), (30, 100, 235), (222, 35, 35),
)  # fmt: skip
MOMENT_COLOR: Color = (140, 60, 200)
FLASH = 0.12  # seconds that an impact is seen
STRUCK = 0.06  # seconds that a body of a scene is seen struck
FAINT = 0.2  # of the fastest impact of a scene: slower ones do not flash
SLIPPING = 2  # as the series "modes" has it
STILL = 1e-3  # of its largest speed, below which a place of contact stays where it is
SLOW = 0.1  # radii of its dot in a second, below which it stays, too: a robot that stands
DOT, MOST_OF_BODY = 0.026, 0.3  # radius of a dot, in sizes of the scene, and of what touches
FEW_IDLE = 6
"""Marks of contacts that stay open up to which they are drawn."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A place of contact over time: a ball in the color of its state, arrows of what acts there."""

    name: str
    point: Array  # [m], shape (n, 3)
    force: Array  # its arrow [m], shape (n, 3); 0 while it is open
    moment: Array  # the same, with two heads; of rolling and pivoting friction
    states: States  # shape (n,)
    is_hit: NDArray[np.bool_]  # while an impact is seen
    radius: float  # of the ball [m]
    is_placed: bool = True  # False of a formula, which stands beside its joint

    def colors(self) -> NDArray[np.int64]:
        """The color at every picture, shape (n, 3)."""
        return np.array(STATE_COLORS)[np.where(self.is_hit, IMPACT, self.states)]

    @property
    def owner(self) -> str:
        """The contact, of a place that is one of several of it."""
        return self.name.partition("[")[0]


def marks(
    run: Trajectory,
    places: Iterable[Any],
    scales: tuple[float, float],
    radii: Mapping[str, float],
    speed: float = 1.0,
    can_roll: Collection[str] = (),
) -> list[Mark]:
    """Every place of contact.

    Args:
        run: at the instants of its pictures, with the series "modes".
        places: records with name, point, force and moment on the first body, and is_closed over
            these instants; of contacts of bodies also the velocities on_first and geometric.
        scales: length of an arrow for a unit of force [m/N], and of moment [m/(N·m)].
        radii: of the dots, by contact [m].
        speed: seconds of the run shown in one second.
        can_roll: contacts of what is round.
    """
    listed = []
    for place in places:
        closed = np.asarray(place.is_closed)[:, None]
        force, moment = (
            np.where(closed, scale * np.nan_to_num(x), 0.0)
            for scale, x in zip(scales, (place.force, place.moment), strict=True)
        )
        radius, is_placed = radii[place.name.partition("[")[0]], getattr(place, "is_placed", True)
        hits = _hits(run, place.name, FLASH * speed)
        states_and_hits = _states(run, place, can_roll, SLOW * radius), hits
        point = np.asarray(place.point)
        listed.append(Mark(place.name, point, force, moment, *states_and_hits, radius, is_placed))
    return listed


def beside(placed: Sequence[Mark], away: Array, up: Array) -> list[Mark]:
    """The same, with formulas that have no place away from their joint, one above the other."""
    seen: list[Mark] = []
    for mark in placed:
        point, step = mark.point, 4 * mark.radius
        if not mark.is_placed:
            point = point + away
            while any(_nearest(point, x.point) < 0.7 * step for x in seen):
                point = point + step * up
        seen.append(replace(mark, point=point))
    return seen


def without_idle(listed: Sequence[Mark]) -> list[Mark]:
    """The same without places that stay open all the time, where these are many.

    A robot has two stops a joint and the corners of its shapes, which would hide it.
    """
    busy = [mark for mark in listed if np.any(mark.states) or np.any(mark.is_hit)]
    return busy if len(listed) - len(busy) > FEW_IDLE else list(listed)


def _nearest(a: Array, b: Array) -> float:
    """How near two points come to each other [m]."""
    return float(np.linalg.norm(a - b, axis=1).min())


def _hits(run: Trajectory, name: str, flash: float) -> NDArray[np.bool_]:
    """Where an impact is seen: for a while after it."""
    hits = np.zeros(len(run.t), dtype=bool)
    for event in run.events:
        if event.name == name and event.what == "impact":
            hits |= (run.t >= event.t) & (run.t <= event.t + flash)
    return hits


def _states(run: Trajectory, place: Any, can_roll: Collection[str], slow: float) -> States:
    closed = np.asarray(place.is_closed)
    if hasattr(place, "slip"):  # of a scene, whose places have no modes
        return np.where(closed, np.where(place.slip > slow, SLIPS, STICKS), OPEN)
    sliding = _mode(run, f"{place.name}: sliding")
    slips = closed & ((sliding == SLIPPING) | (_mode(run, place.name) == SLIPPING))
    states = np.where(closed, STICKS, OPEN)
    states[closed & (sliding > 0) & _moves_on(place, can_roll, slow)] = ROLLS
    states[slips] = SLIPS
    return states


def _mode(run: Trajectory, block: str) -> States:
    """The mode of a block; 0 where there is none."""
    series = run.series["modes"]
    (blocks,) = series.axes.values()
    if block not in blocks:
        return np.zeros(len(run.t), dtype=np.int64)
    return np.asarray(series.values[:, blocks.index(block)], dtype=np.int64)


def _moves_on(place: Any, can_roll: Collection[str], slow: float) -> NDArray[np.bool_]:
    """Where the place of contact goes on over the body, as under a wheel, faster than `slow`."""
    if not hasattr(place, "geometric") or place.name.partition("[")[0] not in can_roll:
        return np.zeros(len(place.is_closed), dtype=bool)
    over = np.linalg.norm(place.geometric - place.on_first, axis=1)
    fastest = np.nanmax(over[np.asarray(place.is_closed)], initial=0.0)
    return np.asarray(over > max(STILL * fastest, slow))


def struck(run: Trajectory, bodies: Collection[str], speed: float) -> dict[str, NDArray[np.bool_]]:
    """Where bodies of a scene are seen struck: for a while after impacts that are not faint.

    Args:
        run: at its pictures, with events named "A-B".
        bodies: by name.
        speed: seconds of the run shown in one second.
    """
    by_body = {x: np.zeros(len(run.t), dtype=bool) for x in bodies}
    hits = [e for e in run.events if e.what == "impact" and e.speed is not None]
    hardest = max((e.speed or 0.0 for e in hits), default=0.0)
    for event in hits:
        now = (run.t >= event.t) & (run.t <= event.t + STRUCK * speed)
        if (event.speed or 0.0) > FAINT * hardest and np.any(now):
            for cut in (k for k, letter in enumerate(event.name) if letter == "-"):
                for name in (event.name[:cut], event.name[cut + 1 :]):
                    if name in by_body:
                        by_body[name] |= now
    return by_body


def rolling_ones(mechanism: Mechanism) -> set[str]:
    """Contacts of round shapes."""
    return {x.name for x in mechanism.contacts if isinstance(x, Contact) and x.shape.ROLLS}


def dot_sizes(
    mechanism: Mechanism, places: Iterable[Any], size: float, values: Mapping[str, float]
) -> dict[str, float]:
    """Radius of the dots of each contact [m]: never so large that it hides what touches."""
    reach = {x.name: _reach(x, values) for x in mechanism.contacts if isinstance(x, Contact)}
    owners = {place.name.partition("[")[0] for place in places}
    smallest = min((_half(x, values) for body in mechanism.bodies for x in touching(body)),
                   default=size)  # fmt: skip
    return {x: min(DOT * size, MOST_OF_BODY * reach.get(x, smallest)) for x in owners}


def _half(shape: Any, values: Mapping[str, float]) -> float:
    """Half the least extent of a shape that touches [m]."""
    if isinstance(shape, Hull):
        return float(np.min(np.ptp(np.array(shape.points, dtype=float), axis=0))) / 2
    lengths = {"x": 2, "y": 2, "z": 2, "length": 2, "radius": 1}
    return min(
        float(floats(getattr(shape, word), values)) / part
        for word, part in lengths.items()
        if hasattr(shape, word)
    )


def _reach(contact: Contact, values: Mapping[str, float]) -> float:
    """Half the width of what touches [m]."""
    return contact.shape.reach(sizes(contact, values))


# The time line ----------------------------------------------------------------------------------

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
    """For each contact its states other than open, each from and to an instant [s].

    Of many contacts those that close; of many such, those whose states differ most.
    """
    owners: dict[str, list[Mark]] = {}
    for mark in marks:
        owners.setdefault(mark.owner, []).append(mark)
    closing = [x for x in owners if any(np.any(m.states) for m in owners[x])]
    listed = closing if closing and len(owners) > MOST_STRIPS else list(owners)
    busy = sorted(listed, key=lambda x: -max(np.ptp(m.states) for m in owners[x]))[:MOST_STRIPS]
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
