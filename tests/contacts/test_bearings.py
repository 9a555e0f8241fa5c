"""Friction in bearings: bounded by the force that a joint transmits, which it changes itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liaison

PENDULUM = """
name = "pendulum in a bearing" ;
let bob = body mass = 2 kg, center = [0, 0, -0.5] m, inertia = 0.1 kg*m^2 end ;
let A = join earth and bob with revolute axis = [0, 1, 0] end ;
apply gravity value = [0, 0, -9.81] m/s^2 end ;
apply friction coefficient = 0.3, radius = 2 cm end on A ;
start A = 60 deg ;
"""


def load(theta, omega, alpha):
    """|R| of the pivot of a pendulum: m (a − g) along and across the rod."""
    along = 2 * (9.81 * np.cos(theta) + 0.5 * omega**2)
    across = 2 * (9.81 * np.sin(theta) + 0.5 * alpha)
    return np.hypot(along, across)


def slope(t, y):
    """θ̈ with the moment −0.3 · 0.02 |R| against the motion, by fixed-point iteration."""
    theta, omega = y
    inertia, alpha = 0.1 + 2 * 0.25, 0.0
    for _ in range(60):
        moment = 0.3 * 0.02 * load(theta, omega, alpha) * np.sign(omega)
        alpha = (-2 * 9.81 * 0.5 * np.sin(theta) - moment) / inertia
    return [omega, alpha]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A swing of the pendulum until long after it stands still."""
    path = tmp_path_factory.mktemp("bearing") / "pendulum.lsd"
    path.write_text(PENDULUM)
    return liaison.simulate(path, until=60.0, rtol=1e-10, atol=1e-12,
                            series=("energy", "contacts", "reactions"))  # fmt: skip


def test_the_first_swing_is_that_of_an_integration_by_hand(run):
    # it begins to slip from rest, and turns around where its rate vanishes again
    turned = run.events[0]
    assert turned.what == "slips"
    span = (0, turned.t)
    found = solve_ivp(slope, span, [np.pi / 3, -1e-12], rtol=1e-11, atol=1e-13, max_step=0.01)
    assert turned.q[0] == pytest.approx(found.y[0, -1], abs=1e-8)
    assert found.y[1, -1] == pytest.approx(0.0, abs=1e-7)


def test_friction_is_the_coefficient_times_what_the_pivot_transmits(run):
    slipping = run.series["modes"].values[:, 0] == 2
    moving = slipping & (np.abs(run.v[:, 0]) > 1e-3)
    moment = run.series["contacts"].values[moving, 0]
    wrench = run.series["reactions"].values[moving, 0]
    assert np.allclose(
        np.abs(moment), 0.3 * 0.02 * np.linalg.norm(wrench[:, 3:], axis=1), rtol=1e-9
    )
    assert np.all(moment * run.v[moving, 0] < 0)


def test_it_ends_at_rest_inside_the_cone(run):
    assert run.v[-1, 0] == 0
    # the weight's moment that the bearing still holds
    held = 2 * 9.81 * 0.5 * abs(np.sin(run.q[-1, 0]))
    assert held <= 0.3 * 0.02 * 2 * 9.81 * (1 + 1e-9)
