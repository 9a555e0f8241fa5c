"""Published cases of contact: a rocking block, a pendulum that strikes a floor, sprag-slip."""

from math import atan2, cos, radians, sin, sqrt, tan

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liaison

G = 9.81

# ------------------------------------------------------------------ Housner's rocking block

HALF, HIGH, MASS = 0.1, 0.4, 2.0  # half of width and height
SLENDER = atan2(HALF, HIGH)
BLOCK = f"""
gravity = [0, 0, -{G}] m/s^2 ;
let block = body mass = {MASS} kg, inertia = {MASS * (HALF**2 + HIGH**2) / 3} kg*m^2 end ;
let P = join earth and block with link(x, z, a)
  dof1 = [x, 0, 0], dof2 = [0, 0, z], dof3 = a || [0, 1, 0] end ;
let left = contact [{-HALF}, 0, {-HIGH}] m @ block and earth with point friction = 2 end ;
let right = contact [{HALF}, 0, {-HIGH}] m @ block and earth with point friction = 2 end ;
"""


def rocked(lean, count):
    """Instants and rates after the first impacts, each keeping 1 − (3/2) sin² α of the rate."""
    p2 = 3 * G / (4 * sqrt(HALF**2 + HIGH**2))
    t, angle, rate, found = 0.0, lean, 0.0, []
    for _ in range(count):
        way = np.sign(angle) or np.sign(rate)

        def upright(_, y, way=way):
            return y[0] * way

        def fall(_, y, way=way):
            return [y[1], p2 * sin(y[0] - way * SLENDER)]

        upright.terminal, upright.direction = True, -1
        run = solve_ivp(fall, (t, t + 5), [angle, rate], events=upright, rtol=1e-11, atol=1e-13)
        t, rate = run.t[-1], run.y[1, -1] * (1 - 1.5 * sin(SLENDER) ** 2)
        angle = 0.0
        found.append((t, rate))
    return found


def test_a_block_rocks_as_housner_says():
    """HOU63: about one corner, then the other, on which it lands without slip."""
    lean = SLENDER / 2
    start = {
        "P.a": lean,
        "P.x": -(HALF * cos(lean) - HIGH * sin(lean)),
        "P.z": HALF * sin(lean) + HIGH * cos(lean),
    }
    run = liaison.simulate(BLOCK, until=4, start=start, rtol=1e-11, atol=1e-13)
    impacts = [x for x in run.events if x.what == "impact"]
    for found, (t, rate) in zip(impacts, rocked(lean, 8), strict=False):
        assert found.t == pytest.approx(t, abs=1e-9)
        assert found.v[2] == pytest.approx(rate, abs=1e-9)
    assert [x.name for x in impacts[:4]] == ["left", "right", "left", "right"]


# ---------------------------------------------------- Kane's and Levinson's double pendulum

FIRST, SECOND = radians(20), radians(30)
PENDULUM = f"""
let a = body mass = 1 kg, center = [0, 0, -0.5] m, inertia = 1 kg*m^2/12 end ;
let b = body mass = 1 kg, center = [0, 0, -0.5] m, inertia = 1 kg*m^2/12 end ;
let A = join earth and a with revolute axis = [0, -1, 0] end ;
let B = join [0, 0, -1] m @ a and b with revolute axis = [0, -1, 0] end ;
let floor = contact [0, 0, -1] m @ b and [0, 0, {-cos(FIRST) - cos(SECOND)}] m @ earth with point
  friction = 0.6, restitution = 0.7 end ;
start A = {FIRST} rad ; start B = {SECOND - FIRST} rad ;
start A' = -0.1 rad/s ; start B' = -0.1 rad/s ;
"""


def test_newtons_law_gains_energy_where_a_double_pendulum_strikes():
    """It ends without slip, u_n = −e u_n⁻: two equations for two rates, by hand."""
    M = np.array([[4 / 3, cos(SECOND - FIRST) / 2], [cos(SECOND - FIRST) / 2, 1 / 3]])
    D = np.array([[sin(FIRST), sin(SECOND)], [cos(FIRST), cos(SECOND)]])  # up, along the floor
    before = np.array([-0.1, -0.2])
    after = np.linalg.solve(D, [-0.7 * (D[0] @ before), 0.0])
    up, along = np.linalg.solve(D.T, M @ (after - before))
    assert abs(along) < 0.6 * up  # friction suffices
    gain = (after @ M @ after - before @ M @ before) / 2
    assert gain == pytest.approx(0.048947, abs=1e-6)  # twice the 0.0232 J there were
    run = liaison.simulate(PENDULUM, until=1e-9, impacts="newton")
    assert [x.what for x in run.events] == ["impact", "energy gain"]
    beside = PENDULUM.replace("let floor", "let wall = require A <= 90 deg ;\nlet floor")
    again = liaison.simulate(beside, until=1e-9, impacts="newton")
    assert [x.name for x in again.events] == ["floor", "floor"]  # and not what was not hit
    assert run.events[0].v == pytest.approx([after[0], after[1] - after[0]], abs=1e-12)
    for law in ("energetic", "poisson", "moreau"):
        (hit,) = liaison.simulate(PENDULUM, until=1e-9, impacts=law).events
        rates = np.cumsum(hit.v)
        assert rates @ M @ rates < before @ M @ before


# ------------------------------------------------------------------------------- sprag-slip


@pytest.mark.parametrize("lean", [0.6, 1.0, 1.3])
def test_a_strut_that_points_against_a_belt_jams_where_mu_is_its_cotangent(lean):
    """SPU61: pressed with 2 N·m, its tip carries N = 2 cos θ/(cos² θ − μ sin θ cos θ) newtons."""
    strut = f"""
    parameter mu = 1 ;
    let rod = body mass = 1 kg, center = [0.5, 0, 0] m, inertia = 1 kg*m^2/12 end ;
    let belt = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let B = join [0, 0, {-sin(lean)}] m @ earth and belt with prismatic axis = [1, 0, 0] end ;
    impose B = -1 m/s*t ;
    let A = join earth and rod with revolute axis = [0, 1, 0] end ;
    let tip = contact [1, 0, 0] m @ rod and belt with point friction = mu end ;
    apply motor torque = 2 N*m end on A ;
    start A = {lean} rad ;
    """
    options = {"until": 1e-4, "series": ("contacts",)}
    near = 0.99 / tan(lean)
    run = liaison.simulate(strut, parameters={"mu": near}, **options)
    share = cos(lean) ** 2 - near * sin(lean) * cos(lean)
    assert run["contacts.tip"][0] == pytest.approx(2 * cos(lean) / share, rel=1e-9)
    with pytest.raises(liaison.SimulationError, match="Painlevé") as refusal:
        liaison.simulate(strut, parameters={"mu": 1.01 / tan(lean)}, **options)
    assert refusal.value.status == "no mode"
    pulled = strut.replace("torque = 2", "torque = -2")
    run = liaison.simulate(pulled, parameters={"mu": 1.01 / tan(lean)}, **options)
    assert [x.what for x in run.events] == ["several solutions"]
