"""Moreau's steps on all kinds of rows: three groups of friction, rates, joints, loops, energy."""

import math
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError
from liaison.formats import read_lsd
from liaison.tree import assemble, span

EXAMPLES = Path(__file__).parents[2] / "examples"
BALL = """
gravity = [0, 0, -9.81] m/s^2 ;
let ball = body mass = 1 kg, inertia = 0.004 kg*m^2 end ;
let F = join earth and ball with free end ;
let floor = contact ball and earth with ball radius = 10 cm, {said} end ;
start F.z = 10 cm ;
"""


def stepped(text, until, h=1e-3, **more):
    return liaison.simulate(read_lsd(text), until=until, step=h, method="moreau", **more)


def test_a_ball_rolls_to_rest_against_resistance():
    text = BALL.format(said="friction = 0.5, rolling = 1 mm")
    run = stepped(text, 2.0, start={"F.vx": 0.07, "F.wy": 0.7})
    # moments about the point of contact: 7/5 m r² (a/r) = −(1 mm) N
    slowing = 5 / 7 * 9.81 * 1e-3 / 0.1
    assert run["F.x"][-1] == pytest.approx(0.07**2 / (2 * slowing), rel=1e-4)
    (end,) = [e.t for e in run.events if e.name == "floor: rolling" and e.what == "sticks"]
    assert end == pytest.approx(0.07 / slowing, abs=2e-3)


def test_a_ball_that_spins_is_stopped_by_pivoting_friction():
    text = BALL.format(said="friction = 0.5, pivoting = 2 mm")
    run = stepped(text, 2.0, start={"F.wz": 5})
    slowing = 2e-3 * 9.81 / 0.004
    early = run.t < 0.9 * 5 / slowing
    assert run["F.wz"][early] == pytest.approx(5 - slowing * run.t[early], abs=1e-9)
    assert abs(run["F.wz"][-1]) < 1e-12


def test_static_friction_holds_what_dynamic_would_not():
    block = """
    gravity = [{gx!r}, 0, -9.81] m/s^2 ;
    let block = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let S = join earth and block with planar axis = [0, 1, 0] end ;
    let floor = contact block and earth with point friction = 0.3, static = 0.5 end ;
    """
    held = stepped(block.format(gx=0.4 * 9.81), 0.5)
    assert np.max(np.abs(held.q)) < 1e-12
    slides = stepped(block.format(gx=0.6 * 9.81), 0.5)
    far = np.max(np.abs(slides.q[-1]))
    assert far == pytest.approx(0.5 * 0.3 * 9.81 * 0.25, rel=0.02)


def test_a_rate_on_one_side_is_kept():
    wheel = """
    let wheel = body mass = 1 kg, inertia = 1 kg*m^2 end ;
    let A = join earth and wheel with revolute end ;
    let limit = require A' <= 2 rad/s ;
    apply motor torque = 4 N*m * cos(1 rad/s * t) end on A ;
    """
    run = stepped(wheel, 3.0)
    assert np.max(run["A'"]) <= 2 + 1e-12
    enters, leaves = ([e.t for e in run.events if e.what == what] for what in ("enters", "leaves"))
    # 4 sin t = 2, and the motor turns round at π/2
    assert enters == [pytest.approx(math.asin(0.5), abs=2e-3)]
    assert leaves == [pytest.approx(math.pi / 2, abs=2e-3)]
    assert run["A'"][-1] == pytest.approx(2 + 4 * (math.sin(3) - 1), abs=1e-2)


def test_dry_friction_in_a_joint_brakes_and_holds():
    wheel = """
    let wheel = body mass = 1 kg, inertia = 1 kg*m^2 end ;
    let A = join earth and wheel with revolute end ;
    apply friction dry = 2 N*m, smoothing = 0 end on A ;
    start A' = 1 rad/s ;
    """
    run = stepped(wheel, 1.0)
    assert run["A"][-1] == pytest.approx(0.25, abs=1e-6)
    assert abs(run["A'"][-1]) < 1e-14


def test_a_closed_loop_meets_its_stop():
    text = (EXAMPLES / "four_bar.lsd").read_text(encoding="utf-8")
    mechanism = read_lsd(text + "\nlet stop = require D <= 140 deg ;\n")
    state = assemble(span(mechanism))
    step = liaison.simulate(mechanism, state, until=1.0, step=5e-4, method="moreau")
    event = liaison.simulate(mechanism, state, until=1.0, every=0.01)
    assert event.events
    assert step.events
    far = np.abs(step.resample(event.t)["D"] - event["D"])
    assert np.max(far) < 5e-3
    assert np.max(step["position_residual"]) < 1e-12
    assert np.max(step["D"]) <= math.radians(140) + 1e-10


@pytest.mark.parametrize("e", [0.5, 1.0])
def test_impacts_with_friction_never_gain_energy(e):
    rod = """
    let rod = body mass = 1 kg, inertia = [0.002, 0.03, 0.03] kg*m^2 end ;
    let F = join earth and rod with free end ;
    let tip = contact [25, 0, 0] cm @ rod and earth with point
      friction = 1.0, restitution = {e} end ;
    let tail = contact [-20, 5, 0] cm @ rod and earth with point
      friction = 0.3, restitution = {e} end ;
    """
    mechanism = read_lsd(rod.format(e=e))
    kernel, tree = liaison.compile(mechanism), span(mechanism)
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(150):
        lean = rng.uniform(0.05, 1.2)
        start = {"F.z": 0.25 * math.sin(lean), "F.qw": math.cos(lean / 2)}
        start |= {"F.qy": math.sin(lean / 2)}
        start |= dict(zip(("F.wx", "F.wy", "F.wz"), rng.uniform(-9, 9, 3), strict=True))
        start |= dict(zip(("F.vx", "F.vy", "F.vz"), rng.uniform(-2, 2, 3), strict=True))
        state = assemble(tree, None, **start)
        run = liaison.simulate(kernel, state, until=2e-7, step=1e-7, method="moreau")
        hits += any(event.what == "impact" for event in run.events)
        kinetic = run["energy"][:, 0]
        assert kinetic[-1] <= kinetic[0] * (1 + 1e-6)
    assert hits > 30


def test_theta_of_one_is_euler_backwards_in_flight_and_at_rest():
    text = BALL.format(said="friction = 0.5, restitution = 0")
    run = stepped(text, 0.5, start={"F.z": 1.0}, theta=1.0)
    flight = run.t < 0.4
    # z − z₀ = −g h² k (k + 1)/2
    k = np.rint(run.t[flight] / 1e-3)
    assert run["F.z"][flight] == pytest.approx(1 - 9.81e-6 * k * (k + 1) / 2, abs=1e-12)
    assert run["F.z"][-1] == pytest.approx(0.1, abs=1e-12)
    with pytest.raises(SimulationError, match="theta"):
        stepped(text, 0.5, theta=0.3)


def test_what_it_cannot_take_is_refused():
    soft = BALL.format(said="friction = 0.5, regularized = 1 mm/s")
    with pytest.raises(SimulationError, match="regularized"):
        stepped(soft, 0.1)
    with pytest.raises(SimulationError, match="violated by"):
        stepped(BALL.format(said="friction = 0.5"), 0.1, start={"F.z": 0.05})
    with pytest.raises(SimulationError, match="law of impacts of its own"):
        stepped(BALL.format(said="friction = 0.5"), 0.1, impacts="poisson")
    with pytest.raises(SimulationError, match="fixed step"):
        liaison.simulate(read_lsd(BALL.format(said="friction = 0.5")), until=1, method="moreau")


def test_a_tower_at_rest_has_no_impacts():
    text = "gravity = [0, 0, -9.81] m/s^2 ;"
    for k in range(3):
        under = f"[0, 0, 5] cm @ b{k - 1}" if k else "earth"
        text += f"""
        let b{k} = body mass = 1 kg, inertia = 2 g*m^2 end ;
        let F{k} = join earth and b{k} with free end ;
        let c{k} = contact b{k} and {under} with box size = [10, 10, 10] cm, friction = 0.5 end ;
        start F{k}.z = {5 + 10 * k} cm ;
        """
    run = stepped(text, 0.2)
    assert {e.what for e in run.events} == {"closes", "sticks"}
    assert len(run.events) == 24


STANDING = """
gravity = [0, 0, -9.81] m/s^2 ;
let trunk = body mass = 10 kg, inertia = 0.2 kg*m^2 end ;
let leg = body mass = 2 kg, center = [0, 0, -20] cm, inertia = 0.03 kg*m^2 end ;
let foot = body mass = 1 kg, inertia = 3 g*m^2 end ;
let F = join earth and trunk with planar axis = [0, 1, 0] end ;
let H = join trunk and leg with revolute axis = [0, 1, 0] end ;
let A = join [0, 0, -40] cm @ leg and foot with revolute axis = [0, 1, 0] end ;
apply servo stiffness = 300 N*m/rad, damping = 5 N*m*s/rad, target = 0.05*sin(6 rad/s*t) end on H ;
apply servo stiffness = 300 N*m/rad, damping = 5 N*m*s/rad, target = -0.05*sin(6 rad/s*t) end on A ;
let floor = contact foot and earth with FOOT, friction = 0.8, restitution = {e} end ;
start F.x = 42 cm ;
"""
SOLE = STANDING.replace("FOOT", "box size = [40, 0, 4] cm")


def test_what_stands_on_a_leg_that_moves_is_hit_by_nothing():
    """Rows of a foot turn with the bodies above it: its rate is then rounding of the step."""
    runs = [stepped(SOLE.format(e=e), 1.0, series=("contacts", "momentum")) for e in (0, 0.4)]
    for run in runs:
        assert {x.what for x in run.events} == {"closes", "sticks"}
        held = sum(run[x] for x in run.columns("contacts.floor[[]*]") if ":" not in x)
        rise = run["momentum.Pz"][-1] - run["momentum.Pz"][0]
        assert held[1:].mean() == pytest.approx(13 * 9.81 + rise, rel=1e-3)
    assert np.array_equal(runs[0].q, runs[1].q)
