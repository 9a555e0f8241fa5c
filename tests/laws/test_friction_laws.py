"""A body on a plane under each law and group of friction, against closed forms."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from liaison import simulate
from liaison.formats import read_lsd

G, M, R = 9.81, 2.0, 0.1
J = 2 / 5 * M * R**2


def run_of(contact, starts, until=1.0):
    """A ball of 2 kg and 10 cm, or a point of it, on the ground."""
    height = 0 if contact.startswith("point") else R
    text = f"""
    gravity = [0, 0, -{G}] m/s^2 ;
    let ball = body mass = {M} kg, inertia = {J} kg*m^2 end ;
    let F = join earth and ball with free end ;
    let c = contact ball and earth with {contact} end ;
    start F.z = {height} m ; {starts}
    """
    return simulate(read_lsd(text), until=until, rtol=1e-9, atol=1e-11)


SLIDES, ROLLS = "start F.vx = 1 m/s ;", "start F.vx = 1 m/s ; start F.wy = 10 rad/s ;"
ROLLING = 7 / 5 * M * R**2  # inertia about the point that touches


CASES = {
    "viscous sliding": ("point viscous = 3 N*s/m", SLIDES, "F.vx", np.exp(-3 / M)),
    "viscous and dry": (
        "point viscous = 3 N*s/m, friction = 0.02", SLIDES, "F.vx",
        (1 + 0.02 * G * M / 3) * np.exp(-3 / M) - 0.02 * G * M / 3,
    ),
    "dry": ("point friction = 0.05", SLIDES, "F.vx", 1 - 0.05 * G),
    "viscous pivoting": (
        "ball radius = 10 cm, viscous_pivoting = 0.01 N*m*s/rad", "start F.wz = 5 rad/s ;", "F.wz",
        5 * np.exp(-0.01 / J),
    ),
    "pivoting": (
        "ball radius = 10 cm, pivoting = 1 mm", "start F.wz = 5 rad/s ;", "F.wz",
        5 - 0.001 * M * G / J,
    ),
    "viscous rolling": (
        "ball radius = 10 cm, friction = 0.5, viscous_rolling = 0.05 N*m*s/rad", ROLLS, "F.x",
        ROLLING / 0.05 * (1 - np.exp(-0.05 / ROLLING)),
    ),
    "rolling": (
        "ball radius = 10 cm, friction = 0.5, rolling = 5 mm", ROLLS, "F.x",
        1 - R * 0.005 * M * G / ROLLING / 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_body_slows_as_its_law_says(case):
    contact, starts, label, expected = CASES[case]
    # the run's tolerances are 1e-9 on values about 1
    assert run_of(contact, starts)[label][-1] == pytest.approx(expected, abs=1e-7)


def test_stribecks_friction_grows_as_the_body_slows():
    run = run_of("point friction = 0.1, static = 0.3, stribeck = 0.1 m/s", SLIDES)

    def rate(_, v):
        return [-G * (0.1 + 0.2 * np.exp(-((v[0] / 0.1) ** 2)))]

    def stops(_, v):
        return v[0]

    found = solve_ivp(rate, (0, 1), [1.0], rtol=1e-10, atol=1e-12, events=stops)
    (stuck,) = [e.t for e in run.events if e.what == "sticks"]
    assert stuck == pytest.approx(found.t_events[0][0], abs=1e-7)
    assert abs(run["F.vx"][-1]) < 1e-12


def test_regularized_friction_creeps_and_never_sticks():
    slope = "gravity = [1, 0, -9.81] m/s^2 ;"
    text = f"""
    {slope}
    let block = body mass = 2 kg, inertia = 1 g*m^2 end ;
    let F = join earth and block with free end ;
    contact block and earth with point friction = 0.5, regularized = 1 cm/s end ;
    """
    run = simulate(read_lsd(text), until=2.0)
    assert not [e for e in run.events if e.what == "sticks"]
    # it creeps within the speed of the law, where exact friction holds
    assert 0 < run["F.vx"][-1] < 0.01
    held = simulate(read_lsd(text.replace(", regularized = 1 cm/s", "")), until=2.0)
    assert np.abs(held["F.x"]).max() < 1e-12


def test_static_friction_holds_up_to_its_bound():
    text = """
    gravity = [0, 0, -10] m/s^2 ;
    let block = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let X = join earth and block with prismatic axis = [1, 0, 0] end ;
    apply motor force = 1 N/s * t end on X ;
    apply friction dry = 2 N, static = 3 N end on X ;
    """
    run = simulate(read_lsd(text), until=4.0)
    (loose,) = [e.t for e in run.events if e.what == "slips"]
    assert loose == pytest.approx(3.0, abs=1e-8)
    # then 1 N/s t − 2 N on 1 kg, from t = 3 s: ∫ (t − 2) dt
    assert run["X'"][-1] == pytest.approx(1.5, abs=1e-7)


def test_a_motor_holds_by_friction_behind_its_gear():
    text = """
    let arm = body mass = 1 kg, inertia = 1 kg*m^2 end ;
    let A = join earth and arm with revolute end ;
    let m = apply motor torque = 0.1 N*m/s * t, ratio = 10, rotor = 10000 kg*mm^2,
      dry = [0.1, 1] N*m, static = [0.2, 1] N*m end on A ;
    """
    run = simulate(read_lsd(text), until=4.0)
    (loose,) = [e.t for e in run.events if e.what == "slips"]
    # 10 · 0.1 t reaches 10 · 0.2 + 1 at 3 s; then t − 2 on 1 + 100 · 0.01 kg·m²
    assert loose == pytest.approx(3.0, abs=1e-8)
    assert run["A'"][-1] == pytest.approx(0.75, abs=1e-7)
