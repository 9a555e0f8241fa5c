"""Moreau and Jean's steps by laws of mechanics: impacts, rest on inclines, energy, order."""

import math

import numpy as np
import pytest

import liaison
from liaison.errors import ArgumentError
from liaison.formats import read_lsd

BALL = """
gravity = [0, 0, -9.81] m/s^2 ;
let ball = body mass = 1 kg, inertia = 0.004 kg*m^2 end ;
let F = join earth and ball with free end ;
let floor = contact ball and earth with ball
  radius = 10 cm, friction = {friction}, restitution = {e} end ;
"""


def fallen(h, *, e=0.5, until=1.0, height=1.0, friction=0, **start):
    """A ball falls from a height above the ground."""
    mechanism = read_lsd(BALL.format(e=e, friction=friction))
    begin = {"F.z": 0.1 + height, **start}
    return liaison.simulate(mechanism, until=until, step=h, method="moreau", start=begin)


def times(run, what="impact"):
    return np.array([event.t for event in run.events if event.what == what])


def exact_times(count, e, height=1.0, g=9.81):
    """t₁ = √(2 z/g), then 2 t₁ e, 2 t₁ e², … later."""
    first = math.sqrt(2 * height / g)
    return first + np.cumsum([0.0, *(2 * first * e**k for k in range(1, count))])


def test_impacts_converge_at_first_order():
    missed = []
    for h in (4e-3, 1e-3, 2.5e-4):
        found = times(fallen(h))[:2]
        missed.append(np.max(np.abs(found - exact_times(2, 0.5))))
    assert missed[2] < 3 * 2.5e-4
    rate = math.log(missed[0] / missed[2]) / math.log(16)
    assert rate == pytest.approx(1, abs=0.5)


def test_it_passes_the_zeno_point_to_rest():
    run = fallen(1e-3, until=2.0)
    (rest,) = times(run, "rests")
    # all impacts are over at t₁ (1 + e)/(1 − e)
    assert rest == pytest.approx(exact_times(1, 0.5)[0] * 3, abs=2e-2)
    after = run.t > rest
    assert np.max(np.abs(run["F.z"][after] - 0.1)) < 1e-12
    assert np.max(np.abs(run.v[after])) < 1e-12


def test_nothing_penetrates():
    run = fallen(1e-2, until=2.0)
    assert np.min(run["F.z"]) > 0.1 - 1e-10


@pytest.mark.parametrize("e", [0, 0.3, 0.9, 1])
def test_energy_never_grows_without_friction(e):
    run = fallen(7e-3, e=e, until=3.0)
    total = run["energy"].sum(axis=1)
    assert np.max(np.diff(total)) < 1e-13 * total[0]
    if e == 1:
        # θ = ½ keeps it in flight, and so does an elastic impact
        assert total[-1] == pytest.approx(total[0], rel=1e-12)


BLOCK = """
gravity = [{gx!r}, 0, {gz!r}] m/s^2 ;
let block = body mass = 2 kg, inertia = [0.01, 0.02, 0.03] kg*m^2 end ;
let F = join earth and block with free end ;
let a = contact [10, 5, -2] cm @ block and earth with point friction = 0.5 end ;
let b = contact [10, -5, -2] cm @ block and earth with point friction = 0.5 end ;
let c = contact [-10, 5, -2] cm @ block and earth with point friction = 0.5 end ;
let d = contact [-10, -5, -2] cm @ block and earth with point friction = 0.5 end ;
"""
SLOPE = math.radians(10)


def on_a_slope():
    """A block on four corners, on a plane that is inclined by 10°, downhill being x."""
    return read_lsd(BLOCK.format(gx=9.81 * math.sin(SLOPE), gz=-9.81 * math.cos(SLOPE)))


def test_a_block_on_an_incline_stays():
    run = liaison.simulate(
        on_a_slope(), until=100, step=1e-3, method="moreau", start={"F.z": 0.02}, every=10
    )
    assert run.counts["steps"] == 100_000
    assert np.max(np.abs(run.q[:, :3] - run.q[0, :3])) < 1e-12
    assert run.meta["penetration"] < 1e-12
    # its four corners carry its weight, and friction holds it
    normal, along = run["contacts"][-1].reshape(4, 3)[:, :2].sum(axis=0)
    assert normal == pytest.approx(2 * 9.81 * math.cos(SLOPE), rel=1e-9)
    assert along == pytest.approx(-2 * 9.81 * math.sin(SLOPE), rel=1e-9)


def test_a_block_sliding_uphill_stops_and_sticks():
    run = liaison.simulate(
        on_a_slope(), until=0.5, step=1e-3, method="moreau", start={"F.z": 0.02, "F.vx": -1}
    )
    slowing = 9.81 * (0.5 * math.cos(SLOPE) + math.sin(SLOPE))
    assert run["F.x"][-1] == pytest.approx(-1 / (2 * slowing), abs=1e-6)
    stops = {event.t for event in run.events if event.what == "sticks"}
    assert [*stops] == [pytest.approx(1 / slowing, abs=1e-3)]
    by_events = liaison.simulate(
        on_a_slope(), until=0.5, start={"F.z": 0.02, "F.vx": -1}, every=0.05
    )
    far = run.resample(by_events.t)["F.x"] - by_events["F.x"]
    assert np.max(np.abs(far)) < 1e-5


def test_a_ball_struck_without_spin_ends_rolling_at_five_sevenths():
    mechanism = read_lsd(BALL.format(e=0, friction=0.2))
    run = liaison.simulate(
        mechanism, until=2, step=1e-3, method="moreau", start={"F.z": 0.1, "F.vx": 3}
    )
    # 2/5 m r² is what the ball has; it rolls from v₀ (1 − 5/7)/(μ g) on
    rolls = 3 * (2 / 7) / (0.2 * 9.81)
    (change,) = [event.t for event in run.events if event.what == "sticks"]
    assert change == pytest.approx(rolls, abs=2e-3)
    rolling = np.hypot(*np.gradient(run.q[:, :2], run.t, axis=0).T)[-10]
    assert rolling == pytest.approx(3 * 5 / 7, rel=1e-3)


def slid(facets, until=0.5, **start):
    """A ball thrown along the ground; on polygons where facets are given."""
    mechanism = read_lsd(BALL.format(e=0, friction=0.3))
    begin = {"F.z": 0.1, **start}
    options = {"until": until, "step": 1e-3, "method": "moreau", "start": begin}
    return liaison.simulate(mechanism, facets=facets, **options)


def test_friction_on_polygons_is_round_friction_along_their_corners():
    # eight corners: the x axis is one of them, and the ball slips along it
    round_, polygon = (slid(facets, **{"F.vx": 2.0}) for facets in (None, 8))
    np.testing.assert_allclose(polygon.q, round_.q, atol=1e-12)
    assert polygon.meta["complementarity"] < 1e-11


def test_friction_on_polygons_misses_other_directions_by_less_with_more_sides():
    start = {"F.vx": 2.0 * math.cos(0.2), "F.vy": 2.0 * math.sin(0.2)}
    exact = slid(None, **start)
    missed = [np.max(np.abs(slid(s, **start).q[:, :2] - exact.q[:, :2])) for s in (4, 16, 64)]
    # a polygon of s sides misses the direction of slip by up to π/s
    distance = np.linalg.norm(exact.q[-1, :2])
    for sides, found in zip((4, 16, 64), missed, strict=True):
        assert found < math.pi / sides * distance
    assert missed[0] > missed[1] > missed[2] > 0


def test_facets_are_of_moreau_and_at_least_three():
    ball = read_lsd(BALL.format(e=0, friction=0))
    for options in ({"facets": 2}, {"facets": 4, "method": "rk4"}, {"facets": 4.5}):
        with pytest.raises((liaison.SimulationError, ArgumentError), match="facets"):
            liaison.simulate(ball, until=1, step=1e-3, **{"method": "moreau", **options})


PLANAR = BALL.replace("with free end", "with planar axis = [0, -1, 0] end")
"""In the plane of x and z, where F.x is the height."""


def test_a_ball_in_a_plane_ends_rolling_and_nothing_acts_across_the_plane():
    mechanism = read_lsd(PLANAR.format(e=0, friction=0.2))
    run = liaison.simulate(
        mechanism, until=0.6, step=1e-3, method="moreau", start={"F.x": 0.1, "F.y'": 3}
    )
    # angular momentum about the ground stays, to rounding
    assert run["F.y'"][-1] == pytest.approx(3 * 5 / 7, rel=1e-12)
    forces = run["contacts"]
    assert forces.shape[1] == 3
    assert np.all(forces[:, 2] == 0.0)
    assert np.min(np.abs(forces[1:400, 1])) == pytest.approx(0.2 * 9.81, rel=1e-9)
