"""Slip of two components ends where it vanishes, in steps of any kind and length."""

from __future__ import annotations

from math import cos, hypot, radians, sin
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.simulation import Run, Settings

EXAMPLES = Path(__file__).parents[2] / "examples"
G = 9.81
BLOCK = """
gravity = [9.81*sin({tilt} deg), 0, -9.81*cos({tilt} deg)] m/s^2 ;
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let F = join earth and b with link(x, y, z) dof1 = [x,0,0], dof2 = [0,y,0], dof3 = [0,0,z] end ;
let c = contact b and earth with point friction = {mu}, static = {static} end ;
start F.x' = {vx} m/s ; start F.y' = {vy} m/s ;
"""
BALL = """
gravity = [9.81*sin(5 deg), 0, -9.81*cos(5 deg)] m/s^2 ;
let b = body mass = 1 kg, inertia = 0.004 kg*m^2 end ;
let F = join earth and b with free end ;
let c = contact b and earth with
  ball radius = 10 cm, friction = 0.6, rolling = 2 mm, static_rolling = 20 mm
end ;
start F = [0, 0, 0.1] m ; start F' = [-0.5, 0, 0, 0, -5, 0] ;
"""
EXACT = 1e-9
"""Error of an instant in a motion that steps of fourth order meet exactly [s]."""


def block(tilt=0.0, mu=0.2, static=0.2, vx=0.0, vy=0.0):
    """A block on a plane that falls by `tilt` degrees along x."""
    return BLOCK.format(tilt=tilt, mu=mu, static=static, vx=vx, vy=vy)


def end_of_slip(tilt, mu, vx, vy):
    """Where |u| is zero: (f |u| + a u_x)' = a² − f², with weight a along x and friction f."""
    a, f = G * sin(radians(tilt)), mu * G * cos(radians(tilt))
    return (f * hypot(vx, vy) + a * vx) / (f * f - a * a)


@pytest.mark.parametrize("step", [1e-2, 1e-3])
def test_a_block_that_slides_uphill_stops_and_stays(step):
    run = liaison.simulate(block(15, 0.2, 0.5, -1), until=1, every=0.05, step=step)
    (stop,) = run.events
    assert stop.what == "sticks"
    assert abs(stop.t - 1 / (G * (sin(radians(15)) + 0.2 * cos(radians(15))))) < EXACT
    after = run.t > stop.t
    assert np.abs(run.v[after]).max() < 1e-12
    force = run["contacts"][after][:, 1:]
    assert np.allclose(force, [-G * sin(radians(15)), 0], atol=1e-9)


def test_on_a_level_plane_nothing_is_left_of_friction():
    run = liaison.simulate(block(vx=1.5, vy=2), until=2, every=0.05, step=1e-2)
    (stop,) = run.events
    assert abs(stop.t - 2.5 / (0.2 * G)) < EXACT
    assert np.abs(run["contacts"][run.t > stop.t][:, 1:]).max() == 0
    assert np.allclose(run.q[-1][:2], 2.5**2 / (2 * 0.2 * G) * np.array([0.6, 0.8]), atol=EXACT)


CURVED = [(15, 0.5, 1, 1), (15, 0.3, -1, 0.5), (10, 0.5, 0, 1)]


@pytest.mark.parametrize("start", CURVED)
@pytest.mark.parametrize(("step", "atol"), [(1e-2, 2e-4), (1e-3, 2e-6)])
def test_slip_that_turns_ends_as_well(start, step, atol):
    """Across its way slip turns ever faster towards its end: fixed steps are divided there."""
    tilt, mu, vx, vy = start
    exact = end_of_slip(*start)
    run = liaison.simulate(block(tilt, mu, 0.6, vx, vy), until=exact + 0.1, every=0.05, step=step)
    assert [x.what for x in run.events] == ["sticks"]
    assert abs(run.events[0].t - exact) < atol
    assert np.abs(run.v[-1]).max() < 1e-12


@pytest.mark.parametrize("start", CURVED)
def test_adaptive_steps_see_it_by_their_error(start):
    tilt, mu, vx, vy = start
    exact = end_of_slip(*start)
    run = liaison.simulate(block(tilt, mu, 0.6, vx, vy), until=exact + 0.1, every=0.05)
    assert [x.what for x in run.events] == ["sticks"]
    assert abs(run.events[0].t - exact) < 1e-8
    assert run.counts["steps"] < 150


@pytest.mark.parametrize("options", [{"step": 1e-3}, {}])
def test_slip_that_passes_zero_at_some_distance_goes_on(options):
    """μ < tan 15°: what does not stop exactly turns round and slides down; no event is listed."""
    run = liaison.simulate(block(15, 0.2, 0.5, -1, 0.01), until=1, every=0.05, **options)
    assert run.events == ()
    assert abs(run.v[-1][0] - 0.4986834) < 2e-4


def test_rolling_ends_as_with_adaptive_steps():
    by_error, fixed = (
        liaison.simulate(BALL, until=1, every=0.05, **x) for x in ({}, {"step": 2e-3})
    )
    assert [x.what for x in fixed.events] == [x.what for x in by_error.events] == ["sticks"]
    assert abs(fixed.events[0].t - by_error.events[0].t) < 1e-7
    assert np.abs(fixed.q[-1] - by_error.q[-1]).max() < 1e-7


@pytest.mark.parametrize("step", [5e-3, 5e-4])
def test_slip_from_rest_keeps_the_way_that_its_edge_leaves(step):
    """A ski with μ = 0.05 along and 0.8 across itself: small slips across decay within 0.1 ms."""
    run = liaison.simulate(EXAMPLES / "contact/skis.lsd", until=0.6, every=0.1, step=step)
    even = np.outer(run.t / run.t[-1], run.v[-1])
    assert np.abs(run.v - even).max() < 1e-9
    assert run.counts["steps"] < 0.6 / step + 100


def test_a_checkpoint_amid_the_turn_keeps_every_bit():
    """The way that a slip has, and the parts of a step, are part of the state."""

    def new():
        return Run(kernel, state, 0.4, Settings(step=1e-2))

    mechanism = liaison.read(block(10, 0.5, 0.6, 0, 1))
    kernel, state = liaison.compile(mechanism), liaison.assemble(liaison.span(mechanism))
    whole, first = new().finish(), new()
    while first.t < 0.25:
        first.go(1)
        if first.t < 0.225:
            continue
        again = new()
        again.restore(first.checkpoint())
        run = again.finish()
        assert np.array_equal(run.q, whole.q)
        assert np.array_equal(run.v, whole.v)
        assert [x.t for x in run.events] == [x.t for x in whole.events]
