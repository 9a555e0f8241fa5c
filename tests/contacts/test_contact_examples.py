"""Mechanisms of examples/contact against laws: a leg that hops, gears with play."""

from pathlib import Path

import numpy as np
import pytest

import liaison

CONTACT = Path(__file__).parents[2] / "examples" / "contact"
WAYS = [({}, 1e-6), ({"step": 2e-4, "method": "moreau"}, 2e-3)]


@pytest.mark.parametrize(("options", "rtol"), WAYS)
def test_each_hop_keeps_its_share_of_the_height(options, rtol):
    run = liaison.simulate(CONTACT / "hopping_leg.lsd", until=2, **options)
    # after an impact at the full length the leg flies at v, up to v²/2g
    flights = [x.v[0] for x in run.events if (x.name, x.what) == ("long", "impact")]
    heights = 100 * np.array(flights) ** 2 / (2 * 9.81)
    assert heights == pytest.approx(27 * (5 / 5.5) ** (2 * np.arange(1, 5)), rel=rtol)


@pytest.mark.parametrize("options", [{}, {"step": 2e-4, "method": "moreau"}])
def test_teeth_stay_within_their_play_and_push_each_other_alike(options):
    run = liaison.simulate(CONTACT / "backlash.lsd", until=1, **options)
    assert np.abs(run["apart"]).max() <= 0.5 + 1e-6
    hits = [x for x in run.events if x.what == "impact"]
    assert {x.name for x in hits} == {"fore", "back"}
    for hit in hits if not options else ():
        first, second = hit.v - hit.before
        assert 1e-3 * first / 0.04 == pytest.approx(4e-3 * second / 0.08, rel=1e-6, abs=1e-14)


def test_both_ways_end_alike_where_teeth_rest_on_each_other():
    runs = [liaison.simulate(CONTACT / "backlash.lsd", until=1, **x) for x, _ in WAYS]
    assert runs[0]["A"][-1] == pytest.approx(runs[1]["A"][-1], abs=1e-3)
