"""Relations of rates in an impact of others: they take part, and what they do is an impact too."""

import numpy as np
import pytest

import liaison

ROW = """
let a = body mass = 1 kg, inertia = 1 g*m^2 end ;
let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
let c = body mass = 1 kg, inertia = 1 g*m^2 end ;
let A = join earth and a with prismatic axis = [1, 0, 0] end ;
let B = join earth and b with prismatic axis = [1, 0, 0] end ;
let C = join earth and c with prismatic axis = [1, 0, 0] end ;
start A = -1 m ; start A' = 1 m/s ;
"""
HIT = "let hit = require B >= A with restitution = {} end ;"
PUSHES = "let pushes = require B' - C' <= 0 ;"  # c is taken along, and may run ahead


def told(run):
    return [(x.name, x.what) for x in run.events]


@pytest.mark.parametrize("ahead", [0.0, 0.2])
def test_what_is_hit_takes_along_what_it_pushes(ahead):
    """On the boundary before, or broken by the impact: all three go on with their momentum."""
    run = liaison.simulate(ROW + HIT.format(0) + PUSHES, until=2, start={"C'": ahead})
    assert run.v[-1] == pytest.approx(np.full(3, (1 + ahead) / 3), abs=1e-12)
    assert ("pushes", "impact") in told(run)
    assert ("hit", "impact") in told(run)


def test_a_speed_limit_that_an_impact_breaks_takes_what_is_too_much():
    limit = "let limit = require B' <= 0.5 m/s ;"
    run = liaison.simulate(ROW + HIT.format(1) + limit, until=2)
    # an elastic impact hands all speed on
    assert told(run) == [("hit", "impact"), ("limit", "impact"), ("limit", "enters")]
    assert run.v[-1] == pytest.approx([0, 0.5, 0], abs=1e-12)


def test_relations_that_say_the_same_are_entered_and_left_together():
    """Pushed by 4 N cos(t/s), 2 kg reach 1/2 m/s at asin(1/4) s and are let go at π/2 s."""
    text = """
    let p = body mass = 2 kg, inertia = 1 g*m^2 end ;
    let X = join earth and p with prismatic axis = [1, 0, 0] end ;
    apply motor force = 4 N * cos(t/(1 s)) end on X ;
    let one = require X' <= 0.5 m/s ;
    let other = require X' <= 0.5 m/s ;
    """
    run = liaison.simulate(text, until=3, rtol=1e-10, atol=1e-12, series=("contacts",))
    assert sorted(told(run)) == [(x, y) for x in ("one", "other") for y in ("enters", "leaves")]
    assert [x.t for x in run.events] == pytest.approx(
        [np.arcsin(0.25)] * 2 + [np.pi / 2] * 2, abs=1e-8
    )
    held = (run.t > 0.3) & (run.t < 1.5)
    total = run["contacts.one"] + run["contacts.other"]
    assert total[held] == pytest.approx(-4 * np.cos(run.t[held]), abs=1e-8)
    assert run["X'"][-1] == pytest.approx(0.5 + 2 * (np.sin(3) - 1), abs=1e-8)


SLOWED = """
let p = body mass = 2 kg, inertia = 1 g*m^2 end ;
let X = join earth and p with prismatic axis = [1, 0, 0] end ;
let stop = require X <= 10 cm with restitution = 0.9 end ;
let limit = require X' >= -0.25 m/s ;
start X' = 1 m/s ;
"""


def test_a_stop_gives_back_what_a_limit_of_rates_leaves():
    """In steps no impulses have all of the restitution: 0.9 m/s would break the limit."""
    run = liaison.simulate(SLOWED, until=0.2, step=1e-3, method="moreau")
    assert run["X'"][-1] == pytest.approx(-0.25, abs=1e-8)
    assert ("stop", "impact") in told(run)
    worlds = liaison.worlds(liaison.read(SLOWED), 1, step=1e-3, device="processor")
    worlds.step(99)
    assert worlds.v[0, 0] == 1
    slopes = worlds.derivatives()
    assert slopes.lost == 1
    assert "restitution" in slopes.why(0)
    worlds.step(100)
    assert worlds.lost == 0
    assert worlds.v[0, 0] == pytest.approx(-0.25, abs=1e-8)
