"""Runs from event to event by laws of mechanics: energy, complementarity, order, two methods."""

import math

import numpy as np
import pytest

import liaison
from liaison.formats import read_lsd

TUMBLING = """
gravity = [0, 0, -9.81] m/s^2 ;
let block = body mass = 2 kg, inertia = [10, 20, 25] g*m^2 end ;
let F = join earth and block with free end ;
let floor = contact block and earth with box
  size = [30, 20, 10] cm, friction = {friction}, restitution = {e} end ;
start F = [0, 0, 25] cm ++ 25 deg || [1, 2, 0.5] ;
start F.vx = 1 m/s ; start F.wy = 3 rad/s ;
"""
STRUCK = """
gravity = [0, 0, -9.81] m/s^2 ;
let r = 3 cm ;
let ball = body mass = 0.2 kg, inertia = 2/5*0.2 kg*r^2 end ;
let F = join earth and ball with free end ;
let floor = contact ball and earth with ball
  radius = r, friction = 0.2, restitution = 0.6 end ;
start F = [0, 0, 30] cm ++ 0 deg || [0, 0, 1] ;
start F.vx = 1.5 m/s ; start F.wx = 20 rad/s ; start F.wz = 5 rad/s ;
"""
STOPPED = """
gravity = [0, 0, -9.81] m/s^2 ;
let bar = body mass = 1 kg, center = [0, 0, -0.5] m, inertia = 0.1 kg*m^2 end ;
let A = join earth and bar with revolute(angle) axis = [0, 1, 0] end ;
let stop = require A.angle <= 0.2 with restitution = 0.7 end ;
start A.angle = -1 ; start A.angle' = 0.5 rad/s ;
"""
SLIDING = """
gravity = [0, 0, -9.81] m/s^2 ;
let rod = body mass = 1 kg, inertia = 1/3*1 kg*m^2 end ;
let P = join earth and rod with link(x, z, lean)
  dof1 = [x, 0, 0], dof2 = [0, 0, z], dof3 = lean || [0, -1, 0] end ;
let floor = contact [-1, 0, 0] m @ rod and earth with point friction = 0.3 end ;
start P.lean = 1 ; start P.z = 1 m * sin(1) ;
start P.x' = 3 m/s ; start P.lean' = 0 ; start P.z' = 0 ;
"""


def run_of(text, until, **options):
    exact = {} if "step" in options else {"rtol": 1e-10, "atol": 1e-12}
    exact["series"] = ("energy", "contacts")
    return liaison.simulate(read_lsd(text), until=until, **exact | options)


def gains(run):
    """Growth of the energy from one record to the next, in parts of the largest."""
    total = run["energy"].sum(axis=1)
    return np.diff(total) / np.max(np.abs(total))


@pytest.mark.parametrize("friction", [0, 0.3])
@pytest.mark.parametrize("e", [0, 0.5])
def test_energy_never_grows_where_a_block_tumbles(friction, e):
    run = run_of(TUMBLING.format(friction=friction, e=e), 1.5)
    assert [x for x in run.events if x.what == "impact"]
    assert np.max(gains(run)) < 1e-9


def test_energy_is_kept_where_nothing_takes_it():
    run = run_of(TUMBLING.format(friction=0, e=1), 0.6)
    assert len([x for x in run.events if x.what == "impact"]) > 3
    assert np.max(np.abs(gains(run))) < 1e-8


def held_to_complementarity(run, sides, mu):
    """gap ≥ 0, f ≥ 0, f·gap = 0, friction inside its bound, everywhere."""
    gap, force = run.series["gaps"].values, run.series["contacts"].values
    names = run.series["contacts"].axes["contact"]
    press = np.stack([force[:, names.index(x)] for x in sides], axis=1)
    largest = np.max(np.abs(force))
    assert np.min(gap) > -1e-10
    assert np.min(press) > -1e-9 * largest
    assert np.max(np.abs(press * gap)) < 1e-8 * largest
    for k, side in enumerate(sides):
        rubs = [force[:, i] for i, x in enumerate(names) if x.startswith(f"{side}: sliding")]
        outside = np.linalg.norm(rubs, axis=0) - mu * press[:, k]
        assert np.max(outside) < 1e-7 * largest


@pytest.mark.parametrize(
    ("text", "until", "sides", "mu"),
    [
        (STRUCK, 2.0, ("floor",), 0.2),
        (SLIDING, 0.6, ("floor",), 0.3),
        (
            TUMBLING.format(friction=0.3, e=0.3),
            1.5,
            tuple(f"floor[{k}]" for k in range(1, 9)),
            0.3,
        ),
    ],
)
def test_complementarity_holds_at_every_record(text, until, sides, mu):
    held_to_complementarity(run_of(text, until), sides, mu)


def test_friction_takes_what_the_energy_loses():
    """Between impacts the power lost to friction is all that is lost."""
    run = run_of(SLIDING, 0.4, rtol=1e-12)
    assert not run.events
    lost = np.ravel(run.series["dissipated"].values)
    total = run["energy"].sum(axis=1)
    steps = np.diff(run.t)
    taken = np.sum(steps * (lost[1:] + lost[:-1]) / 2)
    assert total[0] - total[-1] == pytest.approx(taken, rel=1e-3)


def test_the_order_between_events_is_that_of_the_method():
    exact = run_of(SLIDING, 0.4, rtol=1e-13, atol=1e-14, every=[0, 0.4])
    missed = []
    for step in (0.04, 0.02, 0.01):
        run = run_of(SLIDING, 0.4, step=step, method="rk4", every=[0, 0.4])
        missed.append(np.max(np.abs(run.q[-1] - exact.q[-1])))
    rates = np.log2(np.divide(missed[:-1], missed[1:]))
    assert np.all(rates > 3.7)


def test_the_order_holds_through_impacts():
    """Instants of impacts on a stop, and the place after them, at the order of the method."""
    exact = run_of(STOPPED, 1.5, rtol=1e-13, atol=1e-14, every=[0, 1.5])
    impacts = [x.t for x in exact.events if x.what == "impact"]
    assert len(impacts) >= 2
    missed = []
    for step in (0.02, 0.01, 0.005):
        run = run_of(STOPPED, 1.5, step=step, method="rk4", every=[0, 1.5])
        found = [x.t for x in run.events if x.what == "impact"]
        assert len(found) == len(impacts)
        missed.append(
            max(np.max(np.abs(np.subtract(found, impacts))), abs(run.q[-1] - exact.q[-1])[0])
        )
    rates = np.log2(np.divide(missed[:-1], missed[1:]))
    assert np.all(rates > 2.7)


@pytest.mark.parametrize(("text", "until"), [(STRUCK, 0.6), (STOPPED, 1.5), (SLIDING, 0.5)])
def test_time_stepping_converges_to_it_at_first_order(text, until):
    exact = run_of(text, until, every=[0, until])
    missed = []
    for step in (4e-3, 1e-3, 2.5e-4):
        run = run_of(text, until, method="moreau", step=step, every=[0, until])
        missed.append(np.max(np.abs(run.q[-1] - exact.q[-1])))
    rate = math.log(missed[0] / missed[-1]) / math.log(16)
    assert missed[-1] < 5e-3
    assert rate > 0.6


def test_a_struck_rod_follows_the_path_of_its_impact():
    """Slip that turns back in compression; by Routh's construction, u = (normal, tangent)."""
    angle, mu, e, slip = 0.745, 0.28, 0.18, 0.16
    rod = f"""
    let rod = body mass = 1 kg, inertia = 1 kg*m^2/12 end ;
    let P = join earth and rod with link(x, z, a)
      dof1 = [x, 0, 0], dof2 = [0, 0, z], dof3 = a || [0, 1, 0] end ;
    let c = contact [-0.5, 0, 0] m @ rod and earth with point
      friction = {mu}, restitution = {e} end ;
    start P.a = {-angle} rad ; start P.z = {0.5 * math.sin(angle)!r} m ;
    start P.x' = {slip} m/s ; start P.z' = -1 m/s ;
    """
    run = liaison.simulate(rod, until=1e-6, impacts="stronge")
    v = next(event for event in run.events if event.what == "impact").v
    D = np.array([[0, 1, 0.5 * math.cos(angle)], [1, 0, -0.5 * math.sin(angle)]])
    A = D @ np.diag([1, 1, 12]) @ D.T
    before, back = A @ [1, -mu], A @ [1, mu]  # growth of u with the impulse, before and after rest
    stop = -slip / before[1]
    assert -1 + stop * before[0] < 0 < -back[1]  # rest comes in compression, and slip turns back
    work = -stop + stop**2 * before[0] / 2
    more = (1 - stop * before[0]) / back[0]
    work -= (1 - stop * before[0]) * more / 2
    rest = e * math.sqrt(-2 * work / back[0])  # back[0] rest²/2 = e² |W_c|
    left = np.array([stop * before[0] - 1, 0.0])  # where slip has stopped
    np.testing.assert_allclose(D @ v, left + back * (more + rest), atol=1e-9)
