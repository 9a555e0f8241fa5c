"""Contacts with things that end: faces, edges, rods and tubes, against closed forms and SciPy."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liaison

G = 9.81
FINE = {"rtol": 1e-10, "atol": 1e-12}


def tipping(t, y, h=0.05, inertia=(0.2**2 + 0.1**2) / 12):
    """A box on a smooth edge: s of its center past the edge along its face, its angle; by Lagrange.

    T = ½ ((ṡ + h θ̇)² + s² θ̇² + I θ̇²), U = g (h cos θ − s sin θ), for a mass of 1.
    """
    s, angle, s_rate, turn = y
    M = np.array([[1, h], [h, h * h + s * s + inertia]])
    f = [s * turn**2 + G * np.sin(angle),
         G * (s * np.cos(angle) + h * np.sin(angle)) - 2 * s * s_rate * turn]  # fmt: skip
    return [s_rate, turn, *np.linalg.solve(M, f)]


def load(t, y, h=0.05):
    """N = g cos θ − 2 ṡ θ̇ − h θ̇² − s θ̈."""
    s, angle, s_rate, turn = y
    return G * np.cos(angle) - 2 * s_rate * turn - h * turn**2 - s * tipping(t, y)[3]


load.terminal = True


def test_a_box_tips_over_the_edge_of_a_table(examples):
    run = liaison.simulate(examples / "contact/box_over_edge.lsd", until=0.8, **FINE)
    told = [(x.name, x.what) for x in run.events]
    assert told == [
        ("table[5]", "opens"), ("table[7]", "opens"), ("left", "closes"), ("right", "closes"),
        ("table[1]", "opens"), ("table[3]", "opens"), ("left", "opens"), ("right", "opens"),
    ]  # fmt: skip
    # its front corners leave the table, its center passes the edge, nothing presses any more
    assert run.events[0].t == pytest.approx(0.4, abs=1e-10)
    assert run.events[4].t == pytest.approx(0.6, abs=1e-8)
    again = solve_ivp(tipping, (0.6, 1), [0, 0, 0.5, 0], events=load, rtol=1e-11, atol=1e-13)
    assert run.events[-1].t == pytest.approx(again.t_events[0][0], abs=1e-7)
    s, angle, *_ = again.y_events[0][0]
    place = [s * np.cos(angle) + 0.05 * np.sin(angle), 0.05 * np.cos(angle) - s * np.sin(angle)]
    assert run.events[-1].q[[0, 2]] == pytest.approx(place, abs=1e-7)


FALLS = """
gravity = [0, 0, -9.81] m/s^2 ;
let one = body mass = 1 kg, inertia = {inertia} end ;
let F = join earth and one with free end ;
let held = contact {more}
start F = {place} m ++ 0 deg || [0, 0, 1] ;
"""


def test_an_event_at_the_end_of_a_run_ends_it(examples):
    """Front corners leave the table at 0.4 s: a step that stops before it was drawn out again."""
    run = liaison.simulate(examples / "contact/box_over_edge.lsd", until=0.4, time_limit=20)
    assert run.t[-1] == 0.4
    assert run.counts["rejected"] < 100


def test_a_smooth_ball_falls_about_the_edge_of_a_block_and_leaves_it_at_two_thirds():
    # its center is on a circle about the edge: m g cos θ = m v²/r, v² = 2 g r (1 − cos θ)
    run = liaison.simulate(FALLS.format(
        inertia="0.004 kg*m^2", place="[0.5000001, 0, 0.1]",
        more="one and [0, 0, -50] cm @ earth with ball radius = 10 cm, block = [1, 1, 1] m end ;",
    ), until=3, **FINE)  # fmt: skip
    leaves = next(x for x in run.events if x.what == "opens")
    away = leaves.q[:3] - [0.5, 0, 0]
    assert np.linalg.norm(away) == pytest.approx(0.1, abs=1e-9)
    assert away[2] / 0.1 == pytest.approx(2 / 3, abs=1e-8)


def test_a_ball_on_a_lying_rod_and_one_beyond_its_end():
    text = FALLS.format(
        inertia="0.004 kg*m^2", place="[0, {}, 0.5]",
        more="one and 90 deg || [1, 0, 0] @ earth with ball radius = 10 cm, outside = 5 cm, "
             "along = 1 m, restitution = 1 end ;",
    )  # fmt: skip
    hits = [liaison.simulate(text.format(y), until=0.5, **FINE).events for y in (0.2, 0.6, 0.7)]
    # above the rod it falls 35 cm, past the end until it is 15 cm from the center of the end
    drops = [0.35, 0.5 - np.sqrt(0.15**2 - 0.1**2)]
    for events, drop in zip(hits, drops, strict=False):
        assert events[0].what == "impact"
        assert events[0].t == pytest.approx(np.sqrt(2 * drop / G), abs=1e-9)
    assert not hits[2]


def test_two_rods_that_cross_meet_where_they_are_nearest():
    text = FALLS.format(
        inertia="0.01 kg*m^2", place="[0.1, 0, 0.5]",
        more="90 deg || [0, 1, 0] @ one and 90 deg || [1, 0, 0] @ earth with capsule "
             "radius = 1 cm, length = 1 m, outside = 2 cm, along = 1 m, restitution = 0.5 end ;",
    )  # fmt: skip
    run = liaison.simulate(text, until=0.4, **FINE)
    first = run.events[0]
    assert first.t == pytest.approx(np.sqrt(2 * 0.47 / G), abs=1e-9)
    # struck 10 cm beside its center: the impulse turns it, and the rate of the gap is half as fast
    v = G * first.t
    impulse = 1.5 * v / (1 + 0.1**2 / 0.01)
    assert first.v[[1, 5]] == pytest.approx([0.1 * impulse / 0.01, impulse - v], rel=1e-8)


def test_a_pin_in_a_tube_bounces_between_its_walls():
    text = FALLS.format(
        inertia="0.01 kg*m^2", place="[0, 0, 0]",
        more="one and 90 deg || [1, 0, 0] @ earth with ball radius = 1 cm, inside = 3 cm, "
             "along = 1 m, restitution = 1 end ; start F.vy = 1 m/s ;",
    )  # fmt: skip
    run = liaison.simulate(text.replace("-9.81", "0"), until=1, start={"F.vx": 0.1}, **FINE)
    times = [x.t for x in run.events if x.what == "impact"]
    # across it runs 2 cm at 10 cm/s, then 4 cm from wall to wall; along it reaches the end at 0.5 s
    assert times[:1] == pytest.approx([0.2], abs=1e-9)
    assert run.q[-1, 1] < 0.5 + 0.02


@pytest.mark.parametrize("turn", [0, 30, 75])
def test_crossed_edges_meet_at_their_distance(turn):
    text = FALLS.format(
        inertia="0.01 kg*m^2", place="[0, 0, 0.3]",
        more=f"{turn} deg || [0, 0, 1] ++ 90 deg || [0, 1, 0] @ one and -90 deg || [1, 0, 0] "
             "@ earth with edge length = 1 m, edge = 1 m end ;",
    )  # fmt: skip
    run = liaison.simulate(text, until=0.3, **FINE)
    assert run.events[0].t == pytest.approx(np.sqrt(2 * 0.3 / G), abs=1e-9)


def test_an_ellipsoid_rocks_as_its_curvature_tells():
    """ω² = g (ϱ − c)/(I/m + c²) of small swings, ϱ = a²/c the radius of curvature below."""
    run = liaison.simulate("""
    gravity = [0, 0, -9.81] m/s^2 ;
    let egg = body mass = 5 kg, inertia = [0.026, 0.05, 0.04] kg*m^2 end ;
    let F = join earth and egg with link(x, z, turn)
      dof1 = [x, 0, 0], dof2 = [0, 0, z], dof3 = turn || [0, 1, 0] end ;
    let floor = contact egg and earth with ellipsoid size = [40, 30, 20] cm, friction = 1 end ;
    start F.turn = 1 mrad ; start F.z = sqrt((20 cm*sin(1 mrad))^2 + (10 cm*cos(1 mrad))^2) ;
    event upright when F.turn falling ;
    """, until=2, **FINE)  # fmt: skip
    times = [x.t for x in run.events if x.name == "upright"]
    period = 2 * np.pi * np.sqrt((0.05 / 5 + 0.1**2) / (G * (0.2**2 / 0.1 - 0.1)))
    # swings of 1 mrad are slower by the square of it
    assert np.diff(times) == pytest.approx(period, rel=3e-6)
    assert {x.name for x in run.events} == {"upright"}  # it neither slips nor jumps


def rattleback(t, y, h=0.01):
    """ω and the upward direction γ in the stone's axes, rolling: v = −ω × ρ, F = m (a + g γ).

    I ω̇ + ω × I ω = ρ × F, ρ = h e₃ − A² γ/√(γ A² γ), γ̇ = γ × ω, m = 1.
    """
    spin, up = y[:3], y[3:]
    halves = np.array([0.2, 0.03, 0.02])
    inertia = np.array([[2e-4, -2e-5, 0], [-2e-5, 16e-4, 0], [0, 0, 17e-4]])
    u = halves**2 * up
    s = np.sqrt(up @ u)
    turn = np.cross(up, spin)
    rho = np.array([0, 0, h]) - u / s
    rho_rate = -(halves**2) * turn / s + u * (u @ turn) / s**3
    tilde = np.cross(np.eye(3), -rho)  # tilde @ x = ρ × x
    f = -np.cross(spin, rho_rate) + np.cross(spin, -np.cross(spin, rho)) + G * up
    right = np.cross(rho, f) - np.cross(spin, inertia @ spin)
    return [*np.linalg.solve(inertia - tilde @ tilde, right), *turn]


def test_a_rattleback_turns_back_when_it_does_by_newton_and_euler(examples):
    path = examples / "contact/rattleback.lsd"
    run = liaison.simulate(path, until=4, rtol=1e-9, atol=1e-11)
    assert not run.events
    energy = run["energy"].sum(axis=1)
    assert np.ptp(energy) < 1e-8
    up = [-np.sin(np.radians(0.5)), 0, np.cos(np.radians(0.5))]
    again = solve_ivp(rattleback, (0, 1), [0, 0, -5, *up], rtol=1e-9, atol=1e-11, method="DOP853")
    part = liaison.simulate(path, until=1, rtol=1e-9, atol=1e-11)
    assert part.v[-1, :3] == pytest.approx(again.y[:3, -1], abs=1e-5)
    assert run["F.wz"][-1] > 2
    other = liaison.simulate(
        path, until=4, start={"F.wz": 5.0, "F.vy": -run.v[0, 4]}, rtol=1e-8, atol=1e-10
    )
    assert other["F.wz"].min() > 4
