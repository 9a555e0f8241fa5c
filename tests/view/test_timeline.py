"""Strips and events beside a page: states over the slider's time, and where a click goes."""

import json
import re
from dataclasses import replace

import numpy as np

from liaison.simulation.record.trajectory import EventRecord
from liaison.view.marks import OPEN, ROLLS, SLIPS, STICKS, Mark
from liaison.view.scene import MOST_EVENTS, event_rows, legend, strips, timeline


def mark(name: str, states: list[int], hit: int | None = None, turns: bool = False) -> Mark:
    n = len(states)
    is_hit = np.arange(n) == hit
    moment = np.full((n, 3), float(turns))
    return Mark(name, np.zeros((n, 3)), np.zeros((n, 3)), moment, np.array(states), is_hit, 0.1)


def seen(double_pendulum, count: int = 5):
    return double_pendulum.run.resample(np.linspace(0, 2, count))


def test_a_strip_tells_the_strongest_of_the_places_of_a_contact(double_pendulum):
    run = seen(double_pendulum)
    found = [
        mark("box[1]", [OPEN, STICKS, STICKS, ROLLS, ROLLS]),
        mark("box[2]", [OPEN, OPEN, SLIPS, OPEN, OPEN]),
        mark("ring", [OPEN] * 5),
    ]
    # at half speed two seconds last four
    box = [(STICKS, 1.0, 2.0), (SLIPS, 2.0, 3.0), (ROLLS, 3.0, 4.0)]
    assert strips(run, found, 0.5) == [("box", box), ("ring", [])]


def test_an_event_is_seen_in_the_first_picture_after_it(double_pendulum):
    run = seen(double_pendulum)
    ((shown, when, owner, words, is_hit),) = event_rows(run, 1.0)
    assert (shown, when, owner, words, is_hit) == (1.0, "0.63", "low", "low", False)
    hit = EventRecord("box[2]: sliding", 1.2, np.zeros(2), np.zeros(2), "slips")
    told = event_rows(replace(run, events=(hit,)), 1.0)
    assert told == [(1.5, "1.2", "box", "box[2]: sliding slips", False)]


def test_of_too_many_impacts_the_fastest_are_told(double_pendulum):
    none = np.zeros(0)
    impacts = tuple(
        EventRecord("a", 0.001 * k, none, none, "impact", speed=float(k)) for k in range(1000)
    )
    run = replace(seen(double_pendulum), events=impacts)
    told = event_rows(run, 1.0)
    assert len(told) == MOST_EVENTS
    assert float(told[0][1]) == 0.6
    assert "1000 events (fastest 400)" in timeline(run, [], 1.0)


def test_what_is_told_cannot_end_the_script(double_pendulum):
    bad = EventRecord("</script><b>", 1.0, np.zeros(2), np.zeros(2), "")
    text = timeline(replace(seen(double_pendulum), events=(bad,)), [], 1.0)
    assert text.count("</script>") == 1
    data = re.search(r"var D = (\{.*?\}), end", text, re.DOTALL)
    assert json.loads(data.group(1))["events"][0][3] == "</script><b>"


def test_a_run_without_contacts_and_events_has_no_strips(double_pendulum):
    assert timeline(replace(seen(double_pendulum), events=()), [], 1.0) == ""
    assert legend([]) == ""
    assert legend([], is_struck=True).endswith("impact</div>")


def test_the_legend_tells_the_colors_that_occur():
    words = re.findall(r"</i>([^<]+)", legend([mark("a", [OPEN, SLIPS], hit=1, turns=True)]))
    assert words == ["open", "slips", "impact", "moment (two heads)"]
