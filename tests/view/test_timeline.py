"""Strips and events of the time line: states over time, chatter as one mark, words that occur."""

from dataclasses import replace

import numpy as np

from liaison.simulation.record.trajectory import EventRecord
from liaison.view.marks import (
    MOST_EVENTS,
    OPEN,
    ROLLS,
    SLIPS,
    STICKS,
    Mark,
    event_groups,
    state_entries,
    strips,
)

NONE = np.zeros(0)


def mark(name: str, states: list[int], hit: int | None = None) -> Mark:
    n = len(states)
    still = np.zeros((n, 3))
    return Mark(name, still, still, still, np.array(states), np.arange(n) == hit, 0.1)


def seen(double_pendulum, count: int = 5):
    return double_pendulum.run.resample(np.linspace(0, 2, count))


def test_a_strip_shows_the_strongest_of_the_places_of_a_contact(double_pendulum):
    run = seen(double_pendulum)
    marks = [
        mark("box[1]", [OPEN, STICKS, STICKS, ROLLS, ROLLS]),
        mark("box[2]", [OPEN, OPEN, SLIPS, OPEN, OPEN]),
        mark("ring", [OPEN] * 5),
    ]
    box = [(STICKS, 0.5, 1.0), (SLIPS, 1.0, 1.5), (ROLLS, 1.5, 2.0)]
    assert strips(run, marks) == [{"name": "box", "spans": box}, {"name": "ring", "spans": []}]


def test_events_that_follow_each_other_closely_are_one_group(double_pendulum):
    gap = 2 / 120  # of a run of 2 s
    times = [0.1, 0.5, 0.5 + 0.9 * gap, 0.5 + 1.7 * gap, 1.5]
    chatter = [EventRecord("box[2]: sliding", t, NONE, NONE, "slips") for t in times]
    other = EventRecord("ring", 0.51, NONE, NONE, "impact", speed=1.0)
    groups = event_groups(replace(seen(double_pendulum), events=(*chatter, other)))
    assert [(x["owner"], x["begin"], x["count"]) for x in groups] == [
        ("box", 0.1, 1), ("box", 0.5, 3), ("ring", 0.51, 1), ("box", 1.5, 1)
    ]  # fmt: skip
    assert groups[1]["end"] == times[3]
    assert groups[0]["words"] == "box[2]: sliding slips"
    assert groups[1]["words"] == "box: 3 × slips"
    assert [x["hit"] for x in groups] == [False, False, True, False]


def test_of_too_many_groups_those_with_the_fastest_impacts_are_listed(double_pendulum):
    impacts = tuple(
        EventRecord(f"a{k}", 0.001 * k, NONE, NONE, "impact", speed=float(k)) for k in range(1000)
    )
    groups = event_groups(replace(seen(double_pendulum), events=impacts))
    assert len(groups) == MOST_EVENTS
    assert [x["begin"] for x in groups] == [0.001 * k for k in range(600, 1000)]


def test_the_legend_has_the_states_that_occur():
    entries = state_entries([mark("a", [OPEN, SLIPS], hit=1)])
    assert [x["word"] for x in entries if x["occurs"]] == ["open", "slips", "impact"]
    assert not any(x["occurs"] for x in state_entries([]))
    assert [x["word"] for x in state_entries([], is_struck=True) if x["occurs"]] == ["impact"]
