"""Contacts step by step: a stepper through impacts, and restarts that change no bit."""

import numpy as np
import pytest

from liaison.corridor import ready_for
from liaison.simulation import Run, Settings, simulate, stepper

SLIDE = """
name = "slide" ;
gravity = [0, 0, -9.81] m/s^2 ;
let block = body mass = 2 kg, inertia = 0.01 kg*m^2 end ;
let X = join earth and block with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
input pull = 0 N ;
apply motor force = pull end on X.x ;
let floor = contact block and earth with point friction = 0.3, restitution = 0.5 end ;
start X.z = 20 cm ;
start X.x' = 1 m/s ;
"""


@pytest.fixture(scope="module")
def slide():
    return ready_for(SLIDE, None, None, None)


def test_a_stepper_goes_through_impacts_as_a_run_does(slide):
    kernel, state = slide
    robot = stepper(kernel, state, rtol=1e-10, atol=1e-12)
    steps = [robot.step(None, 0.04) for _ in range(50)]
    run = simulate(kernel, state, 2.0, rtol=1e-10, atol=1e-12)
    for now in steps:
        there = run.resample([now.t])
        np.testing.assert_allclose(now.q, there.q[0], atol=1e-7)
    assert {event.what for event in run.events} >= {"impact", "sticks"}
    assert robot.state["X.x'"] == 0.0
    assert robot.state["X.z"] == pytest.approx(0, abs=1e-9)


def test_a_push_beyond_the_cone_moves_what_stuck(slide):
    kernel, state = slide
    robot = stepper(kernel, state)
    robot.step(None, 2.0)
    limit = 0.3 * 2 * 9.81
    assert robot.step({"pull": 0.99 * limit}, 0.5)["X.x'"] == pytest.approx(0, abs=1e-12)
    moved = robot.step({"pull": limit + 1.0}, 0.5)
    assert moved["X.x'"] == pytest.approx(0.5 * 1.0 / 2, rel=1e-7)


@pytest.mark.parametrize("settings", [Settings(every=0.03), Settings(method="moreau", step=1e-3)])
@pytest.mark.parametrize("until", [0.1, 0.3, 0.9, 1.5])
def test_a_restart_changes_no_bit(slide, settings, until):
    kernel, state = slide
    run = Run(kernel, state, 2.0, settings)
    while run.t < until:
        run.go(1)
    other = Run(kernel, state, 2.0, settings)
    other.restore(run.checkpoint())
    a, b = run.finish(), other.finish()
    assert np.array_equal(a.q, b.q)
    assert np.array_equal(a.v, b.v)
    assert [(x.name, x.t, x.what) for x in a.events] == [(x.name, x.t, x.what) for x in b.events]
    for name, series in a.series.items():
        assert np.array_equal(series.values, b.series[name].values), name


def test_accelerations_and_reactions_know_contacts_by_either_method(slide):
    kernel, state = slide
    given = {"every": [0.0, 0.1, 0.7, 2.0], "series": ("accelerations",)}
    by_events = simulate(kernel, state, 2.0, **given)
    by_steps = simulate(kernel, state, 2.0, method="moreau", step=1e-3, **given)
    for name in ("X.x''", "X.z''"):
        np.testing.assert_allclose(by_steps[name], by_events[name], atol=1e-9)
    assert by_events["X.z''"][2:] == pytest.approx(0, abs=1e-9)
