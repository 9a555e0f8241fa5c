"""Contacts where runs are hard: flat landings, slip that dies out turning, friction that jams."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import liaison
from liaison.errors import SimulationError
from liaison.formats import read_lsd

EXAMPLES = Path(__file__).parents[2] / "examples" / "reference"

THROWN = """
gravity = [0, 0, -9.81] m/s^2 ;
let thing = body mass = 2 kg, inertia = {inertia} g*m^2 end ;
let F = join earth and thing with free end ;
parameter mu = 0.3 ; parameter e = 0.3 ;
let floor = contact thing and earth with {shape}, friction = mu, restitution = e end ;
start F = [0, 0, 40] cm ++ 0 deg || [0, 0, 1] ;
"""
SHAPES = {
    "box": ("[10, 20, 25]", "box size = [30, 20, 10] cm"),
    "cylinder": ("[20, 20, 10]", "cylinder radius = 10 cm, length = 15 cm"),
    "disc": ("[10, 10, 20]", "disc radius = 10 cm"),
}


@pytest.fixture(scope="module")
def thrown():
    """Kernel and start of each shape, made once."""
    made = {}
    for name, (inertia, shape) in SHAPES.items():
        tree = liaison.span(read_lsd(THROWN.format(inertia=inertia, shape=shape)))
        kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
        made[name] = kernel, liaison.assemble(tree)
    return made


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [115, 130, 154, 1, 2])
def test_things_thrown_anyhow_go_on_within_their_laws(thrown, shape, seed):
    """Seeds include a cylinder that lands flat, and discs whose slip dies out while it turns."""
    kernel, state = thrown[shape]
    random = np.random.default_rng(seed)
    turn, v = random.normal(size=4), 2 * random.normal(size=6)
    q = np.array([*state.q[:3], *turn / np.linalg.norm(turn)])
    values = {"mu": random.uniform(0, 1), "e": float(random.choice([0, 0.3, 0.7]))}
    run = liaison.simulate(
        kernel,
        replace(state, q=q, v=v),
        until=2.0,
        parameters=values,
        series=("energy", "contacts"),
        max_steps=30_000,
    )
    total = run["energy"].sum(axis=1)
    assert np.max(np.diff(total)) < 1e-8 * total[0]
    assert np.min(run.series["gaps"].values) > -1e-9
    # bounces that die out: a thousand at e = 0.7, and time goes on through them
    assert len(run.events) < 2000


def rod(examples, mu, lean, turning, speed):
    """Painlevé's rod, its end sliding forward on the ground."""
    tree = liaison.span(liaison.read(examples / "reference" / "painleve_rod.lsd"))
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    s, c = math.sin(lean), math.cos(lean)
    start = {"P.lean": lean, "P.z": s, "P.x": 0.0, "P.lean'": turning}
    start |= {"P.x'": -speed - s * turning, "P.z'": c * turning}
    state = liaison.assemble(tree, None, **start)
    return liaison.simulate(kernel, state, until=1.0, parameters={"mu": mu})


def test_a_rod_that_jams_on_its_way_is_named_after_painleve(examples):
    """p falls to zero at tan θ = 3 − √5 for μ = 2, and the force of the ground has no bound."""
    with pytest.raises(SimulationError, match="Painlevé") as caught:
        rod(examples, 2.0, 0.5, 2.0, 10.0)
    assert caught.value.status == "no mode"
    run = caught.value.trajectory
    assert run["P.lean"][-1] == pytest.approx(math.atan(3 - math.sqrt(5)), abs=0.02)


def test_a_rod_that_cannot_slide_is_refused_at_once(examples):
    with pytest.raises(SimulationError, match="Painlevé"):
        rod(examples, 1.5, math.atan(2), 0.0, 1.0)


def test_of_two_motions_one_is_taken_and_the_other_told_of(examples):
    run = rod(examples, 1.5, math.atan(2), 6.0, 1.0)
    told = [(x.what, x.t) for x in run.events]
    assert ("several solutions", 0.0) in told
    assert run.status == "done"


CHAIN = """
gravity = [0, 0, -9.81] m/s^2 ;
parameter mu = 0.3 ; parameter e = 0.3 ;
let link1 = body mass = 1 kg, center = [0.25, 0, 0] m, inertia = 0.02 kg*m^2 end ;
let link2 = body mass = 1 kg, center = [0.25, 0, 0] m, inertia = 0.02 kg*m^2 end ;
let link3 = body mass = 1 kg, center = [0.25, 0, 0] m, inertia = 0.02 kg*m^2 end ;
let A = join [0, 0, 0.9] m @ earth and link1 with revolute(angle) axis = [0, 1, 0] end ;
let B = join [0.5, 0, 0] m @ link1 and link2 with revolute(angle) axis = [0, 1, 0] end ;
let C = join [0.5, 0, 0] m @ link2 and link3 with revolute(angle) axis = [0, 1, 0] end ;
let elbow = contact [0.5, 0, 0] m @ link1 and earth with point friction = mu, restitution = e end ;
let wrist = contact [0.5, 0, 0] m @ link2 and earth with point friction = mu, restitution = e end ;
let tip = contact [0.5, 0, 0] m @ link3 and earth with point friction = mu, restitution = e end ;
"""


def test_a_chain_in_a_plane_that_sticks_slips_again():
    """Its contacts have a second slip, across the plane, along which nothing moves."""
    tree = liaison.span(read_lsd(CHAIN))
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    state, random = liaison.assemble(tree), np.random.default_rng(13)
    q = np.array([-0.5, 0.0, 0.0]) + 0.3 * random.normal(size=3)
    state = replace(state, q=q, v=2 * random.normal(size=3))
    values = {"mu": random.uniform(0, 1), "e": float(random.choice([0, 0.3, 0.7]))}
    run = liaison.simulate(kernel, state, until=2.0, parameters=values, series=("energy",))
    told = [x.what for x in run.events if x.name == "tip: sliding"]
    assert "slips" in told[told.index("sticks") :]
    total = run["energy"].sum(axis=1)
    assert np.max(np.diff(total)) < 1e-8 * np.max(np.abs(total))


BALLS = """
gravity = [0, 0, -9.81] m/s^2 ;
let low = body mass = 1 kg, inertia = 4 g*m^2 end ;
let high = body mass = 2 kg, inertia = 8 g*m^2 end ;
let L = join earth and low with free end ;
let H = join earth and high with free end ;
let floor = contact low and earth with ball radius = 10 cm, friction = 0.3, restitution = 0.3 end ;
let pair = contact low and high with ball
  radius = 10 cm, outside = 10 cm, friction = 0.3, restitution = 0.3 end ;
start L = [0, 0, 12] cm ++ 0 deg || [0, 0, 1] ;
start H = [{offset}, 0, 35] cm ++ 0 deg || [0, 0, 1] ;
"""


@pytest.mark.parametrize("offset", [0.0, 0.5, 2.0, 7.0])
def test_impacts_that_bring_each_other_about_penetrate_nothing(offset):
    """The lower ball rattles between the floor and the upper one."""
    mechanism = read_lsd(BALLS.format(offset=offset))
    run = liaison.simulate(mechanism, until=0.35, series=("energy", "contacts"))
    assert len([x for x in run.events if x.what == "impact"]) > 10
    assert np.min(run.series["gaps"].values) > -1e-9
    total = run["energy"].sum(axis=1)
    assert np.max(np.diff(total)) < 1e-9 * total[0]


BESIDE = """
gravity = [0, 0, -9.81] m/s^2 ;
let block = body mass = 2 kg, inertia = [10, 20, 25] g*m^2 end ;
let F = join earth and block with free end ;
let base = contact block and earth with box size = [30, 20, 10] cm, friction = 0.5 end ;
start F = [0, 0, 5] cm ++ 0 deg || [0, 0, 1] ;
let weight = body mass = 1 kg, inertia = 1 g*m^2 end ;
let P = join earth and weight with link(x, y, z)
  dof1 = [x, 0, 0], dof2 = [0, y, 0], dof3 = [0, 0, z] end ;
let foot = contact weight and earth with point friction = 0.4 end ;
apply actuator force = 4 N*t/(1 s) end on P.x ;
apply actuator force = 3 N*t/(1 s) end on P.z ;
start P.x = 0 ; start P.y = 0 ; start P.z = 0 ;
"""


def test_a_weight_slips_and_lifts_beside_a_block_whose_corners_share_its_load():
    """4t = μ(g − 3t), then t = g/3; forces of the four corners are not determined."""
    run = liaison.simulate(read_lsd(BESIDE), until=4.0, rtol=1e-10, atol=1e-12, only_series=())
    told = {(x.name, x.what): x.t for x in run.events}
    assert told["foot: sliding", "slips"] == pytest.approx(0.4 * 9.81 / 5.2, abs=1e-6)
    assert told["foot", "opens"] == pytest.approx(9.81 / 3, abs=1e-6)
    assert not [x for x in run.events if x.name.startswith("base")]
    at = [k for k, x in enumerate(run.labels["v"]) if x.name.startswith("F.")]
    assert np.max(np.abs(run.v[:, at])) < 1e-10


def test_every_corner_is_seen_however_fast_a_box_turns():
    """Free flight is one step of many turns; corners come down and go up again within it."""
    spins = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let b = body mass = 1 kg, inertia = 29 g*m^2 end ;
    let J = join earth and b with link(x, z, a)
      dof1 = [x, 0, 0], dof2 = [0, 0, z], dof3 = a || [0, 1, 0] end ;
    let floor = contact b and earth with box size = [0.55, 0, 0.2] m, restitution = 1 end ;
    start J.z = 0.8 m ; start J.a = -28 deg ; start J.a' = 2.4 rad/s ;
    """
    run = liaison.simulate(spins, until=4, every=1e-3)
    assert run.series["gaps"].values.min() > -1e-9  # to a thousandth of a second
    energy = run.series["energy"].values.sum(axis=1)
    assert np.ptp(energy) < 1e-8 * np.abs(energy).max()


def test_what_chatters_on_a_perfect_floor_comes_to_rest():
    """With e = 1 below and a body on top hops get small and never end: 10⁵ of them in 10 s."""
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let w = body mass = 2 kg, inertia = 0.1 kg*m^2 end ;
    let W = join earth and w with prismatic axis = [0, 0, 1] end ;
    let base = contact w and earth with point restitution = 1 end ;
    let b = body mass = 1 kg, inertia = 0.1 kg*m^2 end ;
    let B = join earth and b with prismatic axis = [0, 0, 1] end ;
    let face = contact b and w with point restitution = 0.7 end ;
    start B = 30 cm ; start W = 0 ; start W' = 0.3 m/s ;
    """
    run = liaison.simulate(text, until=10)
    assert len(run.events) < 5000
    # the other may be closed before, and comes to rest with it
    assert "base" in {event.name for event in run.events if event.what == "rests"}
    assert np.abs(run.q[-1]).max() < 1e-9
    assert np.abs(run.v[-1]).max() < 1e-12
    # what rest takes is what a hop of 5e-8 m has
    energy = run.series["energy"].values.sum(axis=1)
    assert np.max(np.diff(energy)) < 1e-9 * energy[0]


def test_a_rod_that_slides_to_where_it_may_lift_says_so():
    """p = 1 + 3 cos θ (cos θ − μ sin θ) and b = g − sin θ θ̇² vanish together (GB99)."""
    mu, angle, turning = 1.6, 0.5, 3.0
    rod = f"""
    gravity = [0, 0, -9.81] m/s^2 ;
    let rod = body mass = 1 kg, inertia = 1 kg*m^2/3 end ;
    let P = join earth and rod with link(x, z, a)
      dof1 = [x, 0, 0], dof2 = [0, 0, z], dof3 = a || [0, -1, 0] end ;
    let tip = contact [-1, 0, 0] m @ rod and earth with point friction = {mu} end ;
    start P.a = {angle} rad ; start P.z = {math.sin(angle)!r} m ; start P.a' = {turning} rad/s ;
    start P.x' = {-3 - turning * math.sin(angle)!r} m/s ;
    start P.z' = {turning * math.cos(angle)!r} m/s ;
    """
    run = liaison.simulate(rod, until=0.2)
    told = [(x.t, x.what) for x in run.events if x.what in ("several solutions", "opens")]

    def share(a):
        return 1 + 3 * math.cos(a) * (math.cos(a) - mu * math.sin(a))

    def slopes(t, y):
        force = (9.81 - math.sin(y[0]) * y[1] ** 2) / share(y[0])
        return [y[1], 3 * force * (mu * math.sin(y[0]) - math.cos(y[0]))]

    def near(t, y):
        return share(y[0]) - 1e-3  # before N = 0/0

    near.terminal = True
    slid = solve_ivp(slopes, (0, 1), [angle, turning], events=near, rtol=1e-11, atol=1e-12)
    a, rate = slid.y[:, -1]
    end = brentq(share, a, a + 0.05)
    assert "several solutions" in {what for _, what in told}
    # from there on θ̇ changes by less than 1e-3 of itself
    assert told[0][0] == pytest.approx(slid.t[-1] + (end - a) / rate, abs=1e-6)


TURNING = """
gravity = [0, 0, -9.81] m/s^2 ;
let b = body mass = 2.23 kg, inertia = 0.0117 kg*m^2 end ;
let b0 = body mass = 0, inertia = 0 end ;
let P = join earth and b0 with link(x, y, z)
  dof1 = [x, 0, 0], dof2 = [0, y, 0], dof3 = [0, 0, z] end ;
let S = join b0 and b with spherical end ;
let c = contact b and earth with ball radius = 10 cm, friction = 0.171, rolling = 2.81 mm,
  static_rolling = 4.09 mm, viscous = 1.56 N*s/m, viscous_rolling = 0.00844 N*m*s/rad end ;
apply force value = [10.3 N*sin(1.2 rad/s*t + 5.34), 4.27 N*sin(3.55 rad/s*t + 3.21),
  -3.81 N*sin(9.8 rad/s*t + 1.55)], body = earth end on b0 ;
apply torque value = [0.827 N*m*sin(4.64 rad/s*t + 5.45), 0.409 N*m*sin(11.6 rad/s*t + 4.59), 0],
  body = earth end on b ;
start P.z = 10 cm ; start P.x' = -0.849 m/s ; start P.y' = -0.506 m/s ;
start S.wx = -6.56 rad/s ; start S.wy = -4.79 rad/s ;
"""


def test_a_slip_that_turns_while_it_begins_is_told_once():
    run = liaison.simulate(TURNING, until=1.2)
    told = [x.what for x in run.events if x.name == "c: sliding"]
    assert told == ["sticks", "slips", "sticks", "slips"]


def test_two_contacts_whose_forces_vanish_together_do_not_stop_a_run():
    """A slider with play, in line with its crank: nothing presses its corners, to 1e-13 N."""
    text = (EXAMPLES / "slider_crank_clearance.lsd").read_text(encoding="utf-8")
    for old, new in (
        ("friction = 0.01, restitution = 0.4", "friction = 0.05, restitution = 0"),
        ("play = 1 mm", "play = 1.53 mm"),
        ("150 rad/s", "195.17 rad/s"),
        ("-225 rad/s", "-292.751 rad/s"),
        ("74.99 rad/s", "97.564 rad/s"),
    ):
        assert old in text
        text = text.replace(old, new)
    run = liaison.simulate(text, until=0.9)
    assert run.t[-1] == pytest.approx(0.9)
    assert np.min(run.series["gaps"].values) > -1e-9
    total = run["energy"].sum(axis=1)
    assert np.max(np.diff(total)) < 1e-7 * np.abs(total).max()


@pytest.mark.parametrize("limits", [130, 300])
def test_a_change_of_mode_among_many_blocks_finds_room_in_the_log(limits):
    """A log with less room than one change of all modes may need was emptied for ever."""
    text = f"""
    let b = body mass = 1 kg, inertia = 0 end ;
    let X = join earth and b with prismatic axis = [1, 0, 0] end ;
    start X' = 1 m/s ;
    for i = 1 to {limits}
      require X <= (1 + i/1000) m with restitution = 0.5 end ;
    end ;
    """
    run = liaison.simulate(read_lsd(text), until=2, time_limit=60)
    assert [event.what for event in run.events] == ["impact"]
    assert run["X"][-1] == pytest.approx(1.001 - 0.5 * 0.999, abs=1e-9)
