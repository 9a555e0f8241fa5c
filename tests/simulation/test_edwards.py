"""Euler's method and Edwards' scheme in runs: against the formulas of the document."""

import numpy as np
import pytest

import liaison
from liaison.numeric.attitude import quaternion_product

I = np.array([0.2, 0.25, 0.34])
W = np.array([1.0, 2.0, -1.5])
BALL = """
let p = body mass = 2 kg, inertia = [0.2, 0.25, 0.34] kg*m^2 end ;
let S = join earth and p with ball end ;
start S' = [1, 2, -1.5] rad/s ;
"""
FREE = BALL.replace("ball", "free").replace("[1, 2, -1.5] rad/s", "[0.3, 0, 0, 1, 2, -1.5]")
OSCILLATOR = """
let p = body mass = 1 kg, inertia = [1, 1, 1] kg*m^2 end ;
let S = join earth and p with slider end ;
apply spring stiffness = 4 N/m end on S ;
start S = 1 m ;
"""


def rate(w):
    """ω̇ of a body without forces, in its own axes."""
    return -np.cross(w, I * w) / I


def turned(q, delta):
    """Q ⊗ (cos β/2, sin β/2 u), as LL 4.4.5 writes it."""
    beta = np.linalg.norm(delta)
    return quaternion_product(q, np.array([np.cos(beta / 2), *(np.sin(beta / 2) * delta / beta)]))


def by_hand(steps, h, edwards=True):
    """LL (4.5) with ω by Heun's method: quaternions and ω at the end."""
    q, w, before = np.array([1.0, 0, 0, 0]), W, None
    for _ in range(steps):
        new = w + h / 2 * (rate(w) + rate(w + h * rate(w)))
        delta = h / 2 * (w + new)
        cone = h**2 * np.cross(w, new) if before is None else np.cross(before, delta)
        q = turned(q, delta + (cone / 12 if edwards else 0))
        w, before = new, delta
    return q, w


def error(run, truth):
    """Angle between two attitudes [rad]."""
    return 2 * np.arccos(min(1.0, abs(run @ truth)))


@pytest.fixture(scope="module")
def truth():
    run = liaison.simulate(BALL, until=2, rtol=1e-13, atol=1e-14)
    return run.q[-1]


@pytest.mark.parametrize("text", [BALL, FREE], ids=["ball", "free"])
def test_edwards_is_the_scheme_of_the_document(text):
    run = liaison.simulate(text, until=2, step=0.02, method="edwards")
    q, w = by_hand(100, 0.02)
    assert np.allclose(run.q[-1][-4:], q, rtol=0, atol=1e-12)
    assert np.allclose(run.v[-1][:3], w, rtol=0, atol=1e-12)


def test_edwards_is_of_order_two_and_better_than_without_its_correction(truth):
    errors = []
    for steps in (100, 200, 400):
        run = liaison.simulate(BALL, until=2, step=2 / steps, method="edwards")
        errors.append(np.linalg.norm(run.q[-1] - truth))
        assert abs(np.linalg.norm(run.q[-1]) - 1) < 1e-14
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 2) < 0.1)


def test_edwards_keeps_its_correction_over_steps_of_other_lengths(truth):
    """Recorded instants that cut steps change h⁻; the order stays."""
    errors = []
    for steps in (100, 200):
        h = 2 / steps
        events = BALL + f"event tick when sin({np.pi / (7.3 * h):.17g} rad/s*t) crossing record ;"
        run = liaison.simulate(events, until=2, step=h, method="edwards")
        errors.append(np.linalg.norm(run.q[-1] - truth))
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2


def test_a_free_body_goes_straight_on():
    run = liaison.simulate(FREE, until=2, step=0.02, method="edwards")
    finer = liaison.simulate(FREE, until=2, step=0.01, method="edwards")
    start = liaison.simulate(FREE, until=1e-9)
    straight = start.q[0][:3] + np.array([0.3, 0, 0]) * 2
    off = [np.linalg.norm(x.q[-1][:3] - straight) for x in (run, finer)]
    assert off[0] < 2e-3
    assert 1.8 < np.log2(off[0] / off[1]) < 2.2


def test_closures_hold_and_order_two_on_a_loop():
    truth = liaison.simulate("examples/four_bar.lsd", until=0.5, rtol=1e-12, atol=1e-13).q[-1]
    errors = []
    for step in (5e-4, 2.5e-4):
        run = liaison.simulate("examples/four_bar.lsd", until=0.5, step=step, method="edwards",
                               series=("closure",))  # fmt: skip
        errors.append(np.max(np.abs(run.q[-1] - truth)))
        assert np.max(np.abs(run["position_residual"])) < 1e-13
    assert 1.85 < np.log2(errors[0] / errors[1]) < 2.2


def test_euler_is_euler():
    """x + i v/ω turns by (1 − i ω h) in each step: its square, the energy, grows by 1 + ω²h²."""
    run = liaison.simulate(OSCILLATOR, until=1, step=0.01, method="euler")
    z = (1 - 2j * 0.01) ** np.arange(101)
    assert np.allclose(run.q[:, 0], z.real, rtol=0, atol=1e-13)
    assert np.allclose(run.v[:, 0], 2 * z.imag, rtol=0, atol=1e-13)
    energy = np.sum(np.asarray(run["energy"]), axis=1)
    assert energy[-1] / energy[0] == pytest.approx((1 + 4e-4) ** 100, rel=1e-12)


def test_euler_is_of_order_one_and_keeps_attitudes_unit(truth):
    errors = []
    for steps in (400, 800, 1600):
        run = liaison.simulate(BALL, until=2, step=2 / steps, method="euler")
        errors.append(np.linalg.norm(run.q[-1] - truth))
        assert abs(np.linalg.norm(run.q[-1]) - 1) < 1e-14
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 1) < 0.1)


def test_contacts_are_left_to_methods_that_find_them():
    with pytest.raises(liaison.SimulationError, match="does not find where contacts"):
        liaison.simulate(OSCILLATOR + "require S <= 2 m ;", until=1, step=0.1, method="edwards")


def test_edwards_keeps_the_area_of_a_linear_oscillation():
    """With a = ω h a step is a matrix of determinant 1: the energy swings by a²/4 and stays."""
    run = liaison.simulate(OSCILLATOR, until=100, step=0.01, every=1, method="edwards")
    a = 0.02
    step = np.array([[1 - a**2 / 2, a - a**3 / 4], [-a, 1 - a**2 / 2]])
    assert np.linalg.det(step) == pytest.approx(1, abs=1e-15)
    z = np.array([np.linalg.matrix_power(step, 100 * k) @ [1, 0] for k in range(101)])
    assert np.allclose(run.q[:, 0], z[:, 0], rtol=0, atol=1e-11)
    energy = np.sum(np.asarray(run["energy"]), axis=1)
    assert np.ptp(energy) / energy[0] < 1.01 * a**2 / 4
