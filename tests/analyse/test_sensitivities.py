"""sensitivities: against differences of runs, closed loops and wheels among them."""

import numpy as np
import pytest

import liaison
from liaison.analyse.along.sensitivities import follow_linear, linear_steps
from liaison.errors import NamingError, SimulationError

LOOP = """
gravity = [0, 0, -9.81] m/s^2 ;
parameter m = 2 kg ;
parameter r = 5 cm ;
let crank = body mass = m, center = [r/2, 0, 0], inertia = [2, 4, 2] g*m^2 end ;
let rod = body mass = 0.3 kg, center = [6.5, 0, 0] cm, inertia = [0.1, 0.4, 0.4] g*m^2 end ;
let piston = body mass = 0.4 kg, inertia = 0 end ;
let A = join earth and crank with revolute axis = [0, -1, 0] end ;
let B = join [r, 0, 0] @ crank and rod with revolute axis = [0, -1, 0] end ;
let P = join [13, 0, 0] cm @ rod and piston with revolute axis = [0, -1, 0] end ;
let x = join earth and piston with prismatic axis = [1, 0, 0] end ;
start A = 90 deg ; start A' = 10 rad/s ; start x = 12 cm ;
output speed = x' ;
"""


def run_of(text, **parameters):
    exact = {"rtol": 1e-12, "atol": 1e-13}
    return liaison.simulate(text, until=0.4, every=0.0004, parameters=parameters, **exact)


def test_parameters_of_mass_and_of_geometry():
    """Geometry moves the closures: the start is then the one that assembly gives."""
    run = run_of(LOOP)
    found = liaison.sensitivities(LOOP, run)
    assert found.parameters == ("m", "r")
    assert found.error < 1e-6
    ends = [run_of(LOOP, m=2 + d) for d in (1e-4, -1e-4)]
    slope = (ends[0]["A"] - ends[1]["A"]) / 2e-4
    assert found["A", "m"][-1] == pytest.approx(slope[-1], rel=1e-6)
    speed = (ends[0]["speed"] - ends[1]["speed"]) / 2e-4
    assert found["speed", "m"][-1] == pytest.approx(speed[-1], rel=1e-6)


def test_the_start_changes_as_little_as_the_closures_ask():
    run = run_of(LOOP)
    found = liaison.sensitivities(LOOP, run, ["r"])
    start = found.values[0, :, 0]
    kernel = liaison.compile(liaison.with_values(liaison.read(LOOP), {"r": 0.05 + 1e-6}))
    nv = len(run.v[0])
    q = kernel("retract", q=run.q[0], x=1e-6 * start[:nv])
    gap = kernel.call("closure", q=q, v=run.v[0] + 1e-6 * start[nv:])
    assert np.max(np.abs(gap["phi"])) < 1e-10
    assert np.max(np.abs(gap["rate"])) < 1e-9


def test_a_wheel_that_rolls(examples):
    """By the mass of a rolling body: nothing of its motion changes without gravity."""
    text = """
    parameter m = 2 kg ;
    parameter I = 0.06 kg*m^2 ;
    gravity = [0, 0, -9.81] m/s^2 ;
    let disc = body mass = m, inertia = [0.12 kg*m^2, I, 0.12 kg*m^2] end ;
    let F = join earth and disc with free end ;
    couple disc and earth with rolling_disc radius = 0.3 m, axis = [0, 1, 0] end ;
    start F = [0, 0, 0.3] m ++ 0 deg || [0, 0, 1] ;
    start F.wx = 1 rad/s ; start F.wy = 5 rad/s ; start F.wz = 0 ;
    output x = F.x ;
    """
    run = run_of(text)
    found = liaison.sensitivities(text, run)
    for name, value, step in (("m", 2, 1e-4), ("I", 0.06, 1e-5)):
        ends = [run_of(text, **{name: value + d}) for d in (step, -step)]
        slope = (ends[0]["x"][-1] - ends[1]["x"][-1]) / (2 * step)
        assert found["x", name][-1] == pytest.approx(slope, rel=1e-5, abs=1e-9)


def test_refusals():
    run = run_of(LOOP)
    with pytest.raises(NamingError, match="'k'"):
        liaison.sensitivities(LOOP, run, ["k"])
    uneven = liaison.simulate(LOOP, until=0.1)
    with pytest.raises(SimulationError, match="equal intervals"):
        liaison.sensitivities(LOOP, uneven)
    with pytest.raises(NamingError, match="'Z'"):
        _ = liaison.sensitivities(LOOP, run)["Z", "m"]


def a_linear_system(n):
    """ẏ = A(t) y + b(t) with y = (sin t², t cos t²…): coefficients at n even instants."""
    t = np.linspace(0, 1.5, n)
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    A = 2 * t[:, None, None] * turn
    b = np.ones((n, 2, 3)) * np.array([1.0, 0.0, -2.0])
    return t, A, np.ascontiguousarray(b * t[:, None, None])


def test_compiled_steps_are_those_of_runge_and_kutta_of_order_four():
    """y = R(t²) y₀ + ∫: with b = t c the particular solution is ½ (R − 1) turn⁻¹ c."""
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    first, errors = np.arange(6.0).reshape(2, 3), []
    for n in (21, 41, 81):
        t, A, b = a_linear_system(n)
        found = follow_linear(A, b, first, t)
        angle = t[-1] ** 2
        R = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        constant = np.ones((2, 3)) * np.array([1.0, 0.0, -2.0])
        exact = R @ first + 0.5 * (R - np.eye(2)) @ np.linalg.inv(turn) @ constant
        errors.append(np.max(np.abs(found[-1] - exact)))
    slope = np.polyfit(np.log([10, 20, 40]), np.log(errors), 1)[0]
    assert slope == pytest.approx(-4, abs=0.2)


def test_compiled_steps_are_the_plain_ones():
    t, A, b = a_linear_system(9)
    first = np.arange(6.0).reshape(2, 3)
    for stride in (1, 2):
        found = follow_linear(A, b, first, t, stride)
        plain = np.zeros(found.size)
        plain[:6] = first.ravel()
        linear_steps(9, stride, 2, 3, t, A.ravel(), b.ravel(), plain, np.zeros(18))
        np.testing.assert_allclose(found.ravel(), plain, atol=1e-14)
