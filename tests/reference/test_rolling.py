"""Rolling in pairs: relations of rates that depend on each other, and their forces."""

import numpy as np
import pytest

import liaison

CART = """
gravity = [0, 0, -9.81] m/s^2 ;
let R = 0.2 m ;
let cart = body mass = 10 kg, center = [-0.1, 0, 0] m, inertia = [0.4, 0.5, 0.6] kg*m^2 end ;
let left = body mass = 1 kg, inertia = [0.01, 0.02, 0.01] kg*m^2 end ;
let right = body mass = 1 kg, inertia = [0.01, 0.02, 0.01] kg*m^2 end ;
let F = join earth and cart
  with link(x, y, z, yaw) dof1 = [x, y, z], dof2 = yaw || [0, 0, 1] end ;
let L = join [0, 0.3, 0] m @ cart and left with revolute axis = [0, 1, 0] end ;
let Q = join [0, -0.3, 0] m @ cart and right with revolute axis = [0, 1, 0] end ;
let a = couple left and earth with rolling_disc radius = R, axis = [0, 1, 0] end ;
let b = couple right and earth with rolling_disc radius = R, axis = [0, 1, 0] end ;
apply motor torque = 1 N*m end on L ;
start F.z = R ; start F.yaw = 0 ;
start L' = 5 rad/s ; start Q' = 4 rad/s ;
"""


@pytest.fixture(scope="module")
def run():
    series = ("lam", "motions", "energy", "closure")
    return liaison.simulate(CART, until=2, every=0.01, rtol=1e-11, atol=1e-13, series=series)


def test_a_wheel_set_turns_about_where_its_rates_say(run):
    v, w = 0.2 * (run["L'"] + run["Q'"]) / 2, 0.2 * (run["Q'"] - run["L'"]) / 0.6
    forward = run["motions.cart.vx"] * np.cos(run["F.yaw"])
    forward += run["motions.cart.vy"] * np.sin(run["F.yaw"])
    assert forward == pytest.approx(v, abs=1e-10)
    assert run["F.yaw'"] == pytest.approx(w, abs=1e-10)
    assert np.max(run["velocity_residual"]) < 1e-10


def test_what_two_wheels_share_is_marked_and_its_sum_is_known(run):
    """Both hold the axle sideways, and both hold it up: only the sums are in the motion."""
    lam = run.series["lam"]
    names = lam.axes["row"]
    shared = {name for k, name in enumerate(names) if lam.undetermined[0, k]}
    assert {"a: contact", "b: contact"} <= shared
    up = sum(lam.values[:, names.index(f"{x}: contact")] for x in "ab")
    assert up == pytest.approx(12 * 9.81, rel=1e-10)
    across, along = ([names.index(f"{x}: slip along {d}") for x in "ab"] for d in "yx")
    center = np.stack([run[f"motions.cart.v{x}'"] for x in "xy"], axis=1)
    yaw, w = run["F.yaw"], run["F.yaw'"]
    back = -0.1 * np.stack([np.cos(yaw), np.sin(yaw)], axis=1)
    alpha = run["motions.cart.wz'"][:, None]
    own = center + alpha * back[:, ::-1] * [-1, 1] - (w**2)[:, None] * back
    wheels = 2 * center  # the middle of both
    total = 10 * own + wheels
    pushed = np.stack([lam.values[:, along].sum(axis=1), lam.values[:, across].sum(axis=1)], axis=1)
    assert pushed == pytest.approx(total, abs=1e-8)


def test_the_theorems_hold(run):
    assert liaison.verify(CART, run).holds
