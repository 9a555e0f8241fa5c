"""Servos, springs and dampers in Moreau's steps: stable on light links, limits kept, balanced."""

from importlib import metadata

import numpy as np
import pytest

import liaison
from liaison.expr import rewritten, select, symbol, vanishes
from liaison.program.lower import _without_choice

LINK = """
gravity = [0, 0, -9.81] m/s^2 ;
let rod = body mass = 10 g, center = [0, 0, -5] cm, inertia = [0.1, 0.1, 0.01] g*m^2 * 0.1 end ;
let A = join earth and rod with revolute axis = [0, 1, 0] end ;
apply {load} end on A ;
start A = {angle} rad ;
start A' = {speed} rad/s ;
"""
INERTIA = 1e-5 + 0.01 * 0.05**2
"""Of the rod about its joint [kg·m²]."""

LEG = """
gravity = [0, 0, -9.81] m/s^2 ;
let trunk = body mass = 2 kg, inertia = 0.01 kg*m^2 end ;
let thigh = body mass = 10 g, center = [0, 0, -10] cm, inertia = [30, 30, 1] g*cm^2 end ;
let shank = body mass = 10 g, center = [0, 0, -10] cm, inertia = [30, 30, 1] g*cm^2 end ;
let Z = join earth and trunk with prismatic axis = [0, 0, 1] end ;
let A = join trunk and thigh with revolute axis = [0, 1, 0] end ;
let B = join [0, 0, -20] cm @ thigh and shank with revolute axis = [0, 1, 0] end ;
apply servo target = 30 deg, stiffness = 60 N*m/rad, damping = 1 N*m*s/rad,
  limit = 4 N*m end on A ;
apply servo target = -60 deg, stiffness = 60 N*m/rad, damping = 1 N*m*s/rad,
  limit = 4 N*m end on B ;
let foot = contact [0, 0, -20] cm @ shank and earth with ball radius = 2 cm, friction = 0.8 end ;
start A = 30 deg ;
start B = -60 deg ;
start Z = 40 cm ;
"""


def link(load, angle=0.0, speed=0.0):
    return LINK.format(load=load, angle=angle, speed=speed)


@pytest.mark.parametrize("step", [1e-3, 1e-2])
@pytest.mark.parametrize(
    ("load", "settles"),
    [
        ("servo speed = 1 rad/s, damping = 1 N*m*s/rad", ("A'", 1.0)),
        ("servo target = 0.5 rad, stiffness = 20 N*m/rad, damping = 1 N*m*s/rad", ("A", 0.5)),
        ("pid target = 0.5 rad, stiffness = 20 N*m/rad, damping = 1 N*m*s/rad", ("A", 0.5)),
        ("damper coefficient = 1 N*m*s/rad", ("A'", 0.0)),
        ("friction viscous = 1 N*m*s/rad, dry = 0.1 N*m", ("A'", 0.0)),
    ],
)
def test_a_link_of_10_g_under_a_strong_motor_is_stable(load, settles, step):
    """Explicit steps grow by z = h s/J, 29 and more a step."""
    run = liaison.simulate(link(load, 0.1, 3.0), until=0.5, step=step, method="moreau")
    assert run.status == "done", run.message
    name, value = settles
    assert abs(run[name][-1] - value) < 0.01
    assert np.abs(run["A'"]).max() < 0.5 / step + 3.0
    turns = np.diff(run["A'"][5:])  # nothing swings from step to step
    assert np.sum(turns[1:] * turns[:-1] < -1e-12) <= 2


def test_a_servo_faster_than_the_step_comes_to_rest():
    """Its slower rate k/s is 2 in a step: it swings, and by a third less every other step."""
    load = "servo target = 0.5 rad, stiffness = 2000 N*m/rad, damping = 1 N*m*s/rad"
    run = liaison.simulate(link(load, 0.1), until=0.1, step=1e-3, method="moreau")
    assert run.status == "done", run.message
    assert np.abs(run["A"][-10:] - 0.5).max() < 1e-5
    assert np.abs(run["A'"][-10:]).max() < 1e-9


@pytest.mark.parametrize("step", [1e-4, 1e-3, 1e-2])
def test_a_damper_alone_decays_as_it_should(step):
    """Padé's (1 − z/3)/(1 + 2z/3 + z²/6) is e⁻ᶻ to z⁴/72 a step, with four times the lightness."""
    text = link("damper coefficient = 0.1 N*m*s/rad", 0.0, 1.0).replace("-9.81", "0")
    run = liaison.simulate(text.replace("10 g,", "10 kg,"), until=0.2, step=step, method="moreau")
    rate = 0.1 / (1e-5 + 10 * 0.05**2)
    assert run["A'"][-1] == pytest.approx(np.exp(-0.2 * rate), rel=(step * rate) ** 2)
    assert run.status == "done"


@pytest.mark.parametrize("step", [1e-3, 1e-2])
@pytest.mark.parametrize("start", [-8.0, 0.0, 0.49, 8.0])
def test_no_step_gives_more_than_the_limit_of_a_motor(step, start):
    """By the acceleration of each step, however light the link: saturated, at the bend, beyond."""
    load = (
        "servo target = 0.5 rad, stiffness = 20 N*m/rad, damping = 0.05 N*m*s/rad, limit = 0.1 N*m"
    )
    text = link(load, start, 4.0).replace("-9.81", "0")
    run = liaison.simulate(text, until=1.0, step=step, method="moreau", every=step)
    assert run.status == "done", run.message
    applied = INERTIA * np.diff(run["A'"]) / step
    assert np.abs(applied).max() <= 0.1 * (1 + 1e-6)
    assert np.abs(applied).max() > 0.099 or abs(start - 0.5) < 0.1
    assert abs(run["A"][-1] - 0.5) < 0.02 or start < -1 or start > 1


def test_back_emf_leaves_nothing_at_the_speed_without_load():
    load = "servo speed = 100 rad/s, damping = 1 N*m*s/rad, limit = 0.1 N*m, no_load = 20 rad/s"
    text = link(load).replace("-9.81", "0")
    run = liaison.simulate(text, until=0.2, step=1e-3, method="moreau")
    rate = 0.1 / 20 / INERTIA
    assert run.status == "done"
    assert run["A'"].max() <= 20 + 1e-9
    exact = 20 * (1 - np.exp(-rate * run.t))
    assert np.abs(run["A'"] - exact).max() < 20 * (1e-3 * rate) ** 2 + 1e-6


def test_steps_agree_with_an_adaptive_method_as_they_get_shorter():
    """Of second order, through saturation of first: the error falls with h."""
    load = "servo target = 0.5 rad, stiffness = 0.2 N*m/rad, damping = 2 g*m^2/s, limit = 0.05 N*m"
    text = link(load, 0.0, 1.0)
    exact = liaison.simulate(text, until=0.3, rtol=1e-10, atol=1e-12)["A"][-1]
    off = [
        abs(liaison.simulate(text, until=0.3, step=h, method="moreau")["A"][-1] - exact)
        for h in (4e-4, 2e-4, 1e-4)
    ]
    assert off[2] < 1e-5
    assert off[2] < 0.35 * off[1] < 0.35 * 0.35 * off[0] * 1.5


def test_a_spring_keeps_its_energy_however_stiff():
    """Implicit midpoint: quadratic energies of constant inertia are kept to rounding."""
    text = link("spring stiffness = 500 N*m/rad", 0.01).replace("-9.81", "0")
    run = liaison.simulate(text, until=1.0, step=1e-3, method="moreau")  # ω h is 3.8
    energy = run["energy"].sum(axis=1)
    assert np.abs(energy / energy[0] - 1).max() < 1e-9
    assert run.status == "done"


@pytest.mark.parametrize("step", [1e-3, 4e-3])
def test_a_light_leg_stands_on_its_motors(step):
    run = liaison.simulate(LEG, until=2.0, step=step, method="moreau")
    assert run.status == "done", run.message
    assert np.ptp(run["Z"][-50:]) < 1e-6
    assert run["contacts.foot"][-1] == pytest.approx(2.02 * 9.81, rel=1e-6)
    # efforts at rest carry the trunk: kp times what the knee gives way
    assert abs(60 * (run["B"][-1] + np.pi / 3)) < 4.0


def test_a_light_leg_balances_its_energy():
    """All that T + U gains is the work of motors, of the efforts that they applied."""
    text = LEG.replace("start Z = 40 cm", "start Z = 60 cm")
    run = liaison.simulate(text, until=0.5, step=1e-3, method="moreau")
    assert run.status == "done", run.message
    balance = run.meta["energy_balance"]
    assert balance["watched"] == "gains"
    assert balance["missed"] < 1e-3 * balance["turned_over"]


def test_a_choice_between_zeros_is_none():
    """Gaps of capsules choose: floats among their zeros left the energy of robots unwatched."""
    x, y = symbol("x"), symbol("y")
    at_rest = [y * select(x, 0.0, 0) - select(y, -0.0, 0), select(x, y, 0)]
    assert [vanishes(f) for f in rewritten(at_rest, _without_choice)] == [True, False]


@pytest.mark.slow
@pytest.mark.peers
def test_a_humanoid_that_falls_on_its_hands_is_not_lifted():
    """Held contacts and stops left one long way out of the floor: it gained 1.3 J in a step."""
    try:
        listed = metadata.files("dm_control") or ()
    except metadata.PackageNotFoundError:
        listed = ()
    files = [x.locate() for x in listed if str(x).endswith("suite/humanoid.xml")]
    if not files:
        pytest.skip("the wheel dm_control is not there")
    robot = liaison.read(files[0], contacts=True)
    run = liaison.simulate(robot, until=1.6, method="moreau", step=1e-3, only_series=("energy",))
    energy = run["energy"].sum(axis=1)
    assert run.meta["energy_balance"]["watched"] == "gains"
    assert np.diff(energy).max() < 1e-3
