"""What adaptive steps cross: events, gaps, bounds and normal forces followed inside a step.

Truths are roots of formulas of time, found by SciPy: at rest forces follow the loads.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

import liaison
from liaison.analyse.along.along import plan_along
from liaison.formats import read
from liaison.simulation.outcome import outside

BALL = """
gravity = [0, 0, -9.81] m/s^2 ;
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let F = join earth and b with free end ;
event top when F.z - 5 m crossing {action} ;
start F.vz = 10 m/s ;
"""
UP, DOWN = (np.roots([-9.81 / 2, 10, -5])[[1, 0]]).tolist()


def test_both_crossings_in_one_step_are_found():
    run = liaison.simulate(read(BALL.format(action="record")), until=3)
    assert run.counts["steps"] < 10
    assert run.t_events["top"] == pytest.approx([UP, DOWN], abs=1e-9)


def test_a_stop_between_two_looks_stops():
    run = liaison.simulate(read(BALL.format(action="stop")), until=3)
    assert run.status == "stopped"
    assert run.t[-1] == pytest.approx(UP, abs=1e-9)


@pytest.mark.parametrize(("way", "truth"), [("rising", [UP]), ("falling", [DOWN])])
def test_directions_count_inside_a_step(way, truth):
    text = BALL.format(action="record").replace("crossing record", f"{way} record")
    assert liaison.simulate(read(text), until=3).t_events["top"] == pytest.approx(truth, abs=1e-9)


def test_a_touch_is_no_crossing_and_what_is_just_above_is():
    """At the top of its flight the ball is 5.0968… m high."""
    top = 100 / (2 * 9.81)
    for level, count in ((top + 1e-7, 0), (top - 1e-7, 2)):
        text = BALL.format(action="record").replace("5 m", f"{level!r} m")
        assert len(liaison.simulate(read(text), until=3).events) == count


def test_the_run_says_how_finely_it_looked():
    run = liaison.simulate(read(BALL.format(action="record")), until=3)
    assert 0 < run.meta["event_spacing"] <= 3 / 4
    assert run.meta["events_in_doubt"] == 0


def test_an_event_of_a_fast_turn_is_found_every_time():
    """A free rotor is integrated in steps of any number of turns."""
    rotor = """
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let A = join earth and b with hinge axis = [0, 0, 1] end ;
event mark when cos(A) - 0.999 crossing record ;
start A' = 300 rad/s ;
"""
    run = liaison.simulate(read(rotor), until=5)
    edge = np.arccos(0.999) / 300
    turns = np.arange(1, 239) * 2 * np.pi / 300
    truth = np.sort(np.concatenate([[edge], turns - edge, turns + edge]))
    assert run.t_events["mark"] == pytest.approx(truth[truth < 5], abs=1e-9)


# Bounds of friction ------------------------------------------------------------------------------

STUCK = """
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let X = join earth and b with slider axis = [1, 0, 0] end ;
apply friction dry = 8 N, static = 10 N end on X ;
apply force value = [{force}, 0, 0] end on b ;
"""
PUSHES = {
    "growing": ("1.2 N*t/(1 s)*sin(5 rad/s*t)", lambda t: 1.2 * t * np.sin(5 * t)),
    "bell": ("12 N*exp(-((t - 5 s)/(1 s))^2)", lambda t: 12 * np.exp(-((t - 5) ** 2))),
    "barely": ("10.2 N*sin(0.5 rad/s*t)", lambda t: 10.2 * np.sin(0.5 * t)),
    "narrow": ("11 N*exp(-((t - 5 s)/(1 ms))^2)", lambda t: 11 * np.exp(-(((t - 5) / 1e-3) ** 2))),
}


def first_root(f, end, count=2_000_001):
    """The first zero of a function of time, from values at very many instants."""
    t = np.linspace(0, end, count)
    y = f(t)
    k = int(np.flatnonzero(y[:-1] * y[1:] < 0)[0])
    return brentq(f, t[k], t[k + 1], xtol=1e-14)


@pytest.mark.parametrize("name", PUSHES)
def test_stuck_friction_gives_way_when_its_bound_is_reached(name):
    text, push = PUSHES[name]
    run = liaison.simulate(read(STUCK.format(force=text)), until=12)
    slips = [event.t for event in run.events if event.what == "slips"]
    assert slips[0] == pytest.approx(first_root(lambda t: 100 - push(t) ** 2, 12), abs=1e-8)


def test_stuck_friction_that_gives_way_goes_as_far_as_it_should():
    run = liaison.simulate(read(STUCK.format(force=PUSHES["growing"][0])), until=12)
    assert run["X"][-1] == pytest.approx(0.2523249928786, abs=1e-7)


# Contacts at rest --------------------------------------------------------------------------------

REST = """
gravity = [0, 0, -9.81] m/s^2 ;
let b = body mass = 1 kg, inertia = 0.01 kg*m^2 end ;
let F = join earth and b with free end ;
{more}
apply force value = [{x}, 0, {z}], body = earth end on b ;
"""


def test_a_closed_contact_opens_when_it_would_pull():
    """Lifted by 10 N for a moment, a weight of 9.81 N leaves the ground."""
    model = REST.format(
        x="0 N", z="10 N*exp(-((t - 5 s)/(0.2 s))^2)",
        more="let c = contact b and earth with point end ;",
    )  # fmt: skip
    run = liaison.simulate(read(model), until=6)
    opens = next(event.t for event in run.events if event.what == "opens")
    assert opens == pytest.approx(5 - 0.2 * np.sqrt(np.log(10 / 9.81)), abs=1e-8)


def test_friction_under_a_weight_gives_way():
    model = REST.format(
        x="4.95 N*sin(0.7 rad/s*t)", z="0 N",
        more="let c = contact b and earth with point friction = 0.5 end ;",
    )  # fmt: skip
    run = liaison.simulate(read(model), until=4)
    slips = next(event.t for event in run.events if event.what == "slips")
    assert slips == pytest.approx(np.arcsin(0.5 * 9.81 / 4.95) / 0.7, abs=1e-8)


def test_a_stop_is_left_when_its_force_ends():
    """Held against a stop by a spring, pulled off for a moment."""
    model = """
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let X = join earth and b with slider axis = [1, 0, 0] end ;
require X <= 0 m ;
apply force value = [5 N - 6 N*exp(-((t - 5 s)/(0.1 s))^2), 0, 0] end on b ;
"""
    run = liaison.simulate(read(model), until=5.5)
    opens = next(event.t for event in run.events if event.what == "opens")
    assert opens == pytest.approx(5 - 0.1 * np.sqrt(np.log(6 / 5)), abs=1e-8)


def test_a_relation_of_rates_is_left_when_its_reaction_ends():
    """A ratchet that is held back by a moment, except for a moment."""
    model = """
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let A = join earth and b with hinge axis = [0, 0, 1] end ;
require -A' <= 0 rad/s ;
apply torque value = [0, 0, -2 N*m + 3 N*m*exp(-((t - 5 s)/(0.1 s))^2)] end on b ;
"""
    run = liaison.simulate(read(model), until=5.05)
    leaves = next(event.t for event in run.events if event.what == "leaves")
    assert leaves == pytest.approx(5 - 0.1 * np.sqrt(np.log(1.5)), abs=1e-8)
    assert run["A'"].min() > -1e-9


def test_an_input_table_ends_rest():
    model = STUCK.format(force="push").replace("let b", "input push = 0 N ;\nlet b", 1)
    table = ([0, 5, 5.01, 5.02, 12], [0, 0, 11, 0, 0], "linear")
    run = liaison.simulate(read(model), until=12, inputs={"push": table})
    slips = next(event.t for event in run.events if event.what == "slips")
    assert slips == pytest.approx(5 + 0.01 * 10 / 11, abs=1e-8)


# Gaps --------------------------------------------------------------------------------------------


def test_a_gap_of_a_fast_turn_closes_when_it_does():
    model = """
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let A = join earth and b with hinge axis = [0, 0, 1] end ;
require 20 cm*cos(A) <= 25 cm - 1 mm/s*t with restitution = 1 end ;
start A' = 300 rad/s ;
"""
    run = liaison.simulate(read(model), until=50.1)
    gap = lambda t: 0.25 - 1e-3 * t - 0.2 * np.cos(300 * t)  # noqa: E731
    last = 2388 * 2 * np.pi / 300
    assert run.events[0].t == pytest.approx(brentq(gap, last - 0.005, last), abs=1e-8)


def test_a_stop_that_moves_for_a_moment_hits():
    model = """
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let X = join earth and b with slider axis = [1, 0, 0] end ;
require X <= 10 cm - 20 cm*exp(-((t - 5 s)/(10 ms))^2) with restitution = 1 end ;
"""
    run = liaison.simulate(read(model), until=6)
    assert run.events[0].t == pytest.approx(5 - 0.01 * np.sqrt(np.log(2)), abs=1e-9)


# What was recorded -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def held():
    """A run in which friction holds and gives way, and its mechanism."""
    model = read(STUCK.format(force=PUSHES["bell"][0]))
    return model, liaison.simulate(model, until=12, every=0.05)


def tampered(run, **values):
    """The run with other numbers in some series."""
    series = dict(run.series)
    for name, x in values.items():
        series[name] = replace(series[name], values=x)
    return replace(run, series=series)


def test_margins_are_what_bounds_leave(held):
    _, run = held
    (margin,) = run.series["margins"].values.T
    push = PUSHES["bell"][1](run.t)
    sticks = run.series["modes"].values[:, 0] == 1
    assert margin[sticks] == pytest.approx(10 - np.abs(push[sticks]), abs=1e-9)
    assert not margin[~sticks].any()


def test_a_force_beyond_its_bound_fails_a_run_and_verify(held):
    model, run = held
    plan, _ = plan_along(liaison.compile(model), run)
    assert outside(plan, run.t, run.q, run.v, run.series) is None
    assert liaison.verify(model, run).holds
    margins = run.series["margins"].values.copy()
    margins[40] = -0.5
    wrong = tampered(run, margins=margins)
    found = outside(plan, wrong.t, wrong.q, wrong.v, wrong.series)
    assert found.is_failure
    assert "'friction_on_X' is not kept at t = 2 s" in found.message
    checked = liaison.verify(model, wrong)
    assert not checked.holds
    assert checked.worst.name == "unilateral constraints: friction_on_X"
    assert checked.worst.at == pytest.approx(2)
