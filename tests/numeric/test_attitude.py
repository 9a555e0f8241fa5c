"""Attitudes from angular velocities: orders with and without Edwards' correction, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from liaison.errors import NamingError, SimulationError
from liaison.numeric.attitude import attitudes, turns

END = 2.0


def attitude(t):
    """A motion about three axes at once, known at every instant."""
    angles = [2 * t, 0.7 * np.sin(3 * t), 0.5 * t**2 + 0.3 * np.cos(2 * t)]
    return Rotation.from_euler("ZXY", np.column_stack(angles))


def omega(t):
    """In the body's own axes, by differences of order 6."""
    d = 1e-3
    near = {k: (attitude(t).inv() * attitude(t + k * d)).as_rotvec() for k in (-3, -2, -1, 1, 2, 3)}
    odd = [near[k] - near[-k] for k in (1, 2, 3)]
    return (45 * odd[0] - 9 * odd[1] + odd[2]) / (60 * d)


def quaternion(rotation):
    x, y, z, w = rotation.as_quat()
    return np.array([w, x, y, z])


def error(n, rule, edwards):
    t = np.linspace(0, END, (2 * n if rule == "simpson" else n) + 1)
    start = quaternion(attitude(np.zeros(1))[0])
    found = attitudes(turns(omega(t), END / n, rule), start, edwards=edwards)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-13)
    end = Rotation.from_quat([*found[-1][1:], found[-1][0]])
    return (attitude(np.array([END]))[0].inv() * end).magnitude()


ORDERS = {
    ("trapezoid", False): 2,
    ("trapezoid", True): 2,  # the integral is off by as much as the correction
    ("parabola", False): 2,  # coning is off by as much as the trapezoid was
    ("parabola", True): 3,
    ("simpson", False): 2,
    ("simpson", True): 3,  # the correction looks back: it is off by h⁴ a step
}


@pytest.mark.parametrize(("rule", "edwards"), ORDERS)
def test_orders_are_those_of_the_worse_of_integral_and_correction(rule, edwards):
    counts = (50, 100, 200, 400)
    errors = [error(n, rule, edwards) for n in counts]
    slope = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert slope == pytest.approx(ORDERS[rule, edwards], abs=0.06)


def test_the_correction_pays_with_a_better_integral():
    assert error(100, "trapezoid", True) > 0.4 * error(100, "trapezoid", False)
    assert error(100, "parabola", True) < 0.1 * error(100, "parabola", False)


def test_a_turn_about_a_fixed_axis_is_exact_whatever_the_step():
    rate = np.array([0.3, -0.4, 1.2])
    found = attitudes(turns(np.tile(rate, (4, 1)), 2.0), np.array([1.0, 0, 0, 0]))
    angle = 6.0 * np.linalg.norm(rate)
    axis = rate / np.linalg.norm(rate)
    np.testing.assert_allclose(
        found[-1], [np.cos(angle / 2), *np.sin(angle / 2) * axis], atol=1e-14
    )


def test_what_cannot_be_integrated_is_refused():
    with pytest.raises(NamingError, match="rule"):
        turns(np.zeros((3, 3)), 0.1, "euler")
    with pytest.raises(SimulationError, match="rows of three"):
        turns(np.zeros((3, 2)), 0.1)
    with pytest.raises(SimulationError, match="odd number"):
        turns(np.zeros((4, 3)), 0.1, "simpson")
