"""Inputs: numbers, formulas, tables, controllers; parameters by name."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from simulate_samples import driven, start

from liaison.errors import NamingError, SimulationError
from liaison.expr import Table, sin, symbol
from liaison.program import to_llvm
from liaison.simulate import simulate
from liaison.simulate.inputs import cubic_pieces, linear_pieces
from liaison.simulate.steps import look_up


@pytest.fixture(scope="module")
def kernel():
    return to_llvm(driven())


def moved(kernel, until=2.0, q=0.0, v=0.0, **more):
    more = {"rtol": 1e-11, "atol": 1e-13, **more}
    return simulate(kernel, start(kernel.program, [q], [v]), until, **more)


def test_a_number_is_held(kernel):
    run = moved(kernel, inputs={"motor": 2.0})
    assert run.q[-1, 0] == pytest.approx(2 * (1 - np.cos(2.0)), abs=1e-9)


def test_a_formula_of_time_is_followed(kernel):
    """q̈ + q = sin 2t: q = (2 sin t − sin 2t)/3."""
    run = moved(kernel, inputs={"motor": sin(2 * symbol("t"))})
    assert run.q[-1, 0] == pytest.approx((2 * np.sin(2) - np.sin(4)) / 3, abs=1e-9)


def test_a_formula_of_the_state_is_feedback(kernel):
    """u = −3 A: q̈ = −4 q; labels name the coordinate."""
    run = moved(kernel, q=1.0, inputs={"motor": -3 * symbol("A")})
    assert run.q[-1, 0] == pytest.approx(np.cos(4.0), abs=1e-9)
    run = moved(kernel, q=1.0, inputs={"motor": -2 * symbol("A'")})
    assert run.q[-1, 0] == pytest.approx(3 * np.exp(-2.0), abs=1e-9)  # critically damped


def test_a_table_is_followed(kernel):
    t = np.linspace(0, np.pi, 81)  # without curvature at its ends, as a natural spline is
    run = moved(kernel, inputs={"motor": (t, np.sin(2 * t))})
    assert run.q[-1, 0] == pytest.approx((2 * np.sin(2) - np.sin(4)) / 3, abs=1e-7)
    given = moved(kernel, inputs={"motor": Table(t, np.sin(2 * t))})
    assert given.q[-1, 0] == pytest.approx(run.q[-1, 0], abs=1e-10)
    run = moved(kernel, inputs={"motor": ([0, 2], [0, 2], "linear")})
    assert run.q[-1, 0] == pytest.approx(2 - np.sin(2), abs=1e-9)


def test_tables_agree_with_scipy_and_hold_their_ends():
    rng = np.random.default_rng(5)
    for n in (3, 4, 5, 12):
        x, y = np.cumsum(rng.uniform(0.1, 1, n)), rng.normal(size=n)
        oracle = CubicSpline(x, y, bc_type="natural")
        data = np.concatenate([x, cubic_pieces(x, y).ravel()])
        for t in np.linspace(x[0], x[-1], 50):
            assert look_up(n, data, t) == pytest.approx(float(oracle(t)), abs=1e-12)
        assert look_up(n, data, x[0] - 1) == y[0]
        assert look_up(n, data, x[-1] + 1) == y[-1]
    x, y = np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 0.0])
    data = np.concatenate([x, linear_pieces(x, y).ravel()])
    assert [look_up(3, data, t) for t in (0.5, 1.0, 2.0)] == pytest.approx([1.5, 2.0, 1.0])


def test_a_table_of_one_point_is_a_constant(kernel):
    run = moved(kernel, inputs={"motor": ([0.0], [2.0])})
    assert run.q[-1, 0] == pytest.approx(2 * (1 - np.cos(2.0)), abs=1e-9)


def test_a_controller_is_called_at_its_period_and_held(kernel):
    asked = []

    def control(t, state):
        asked.append((t, state["A"], state["A'"]))
        return 1.0 if t < 0.95 else -1.0

    run = moved(kernel, inputs={"motor": (0.5, control)}, every=0.1)
    assert [t for t, _, _ in asked] == pytest.approx([0.0, 0.5, 1.0, 1.5])
    at_one = [1 - np.cos(1.0), np.sin(1.0)]
    assert asked[2][1:] == pytest.approx(at_one, abs=1e-9)
    c, s = np.cos(1.0), np.sin(1.0)
    assert run["inputs.motor"][[0, 5, 15]].tolist() == [1.0, 1.0, -1.0]
    assert run.q[-1, 0] == pytest.approx((at_one[0] + 1) * c + at_one[1] * s - 1, abs=1e-9)


def test_controllers_with_a_fixed_step_that_does_not_divide_the_period(kernel):
    asked = []

    def control(t, state):
        asked.append(t)
        return 1.0

    run = moved(kernel, inputs={"motor": (0.25, control)}, step=0.1)
    assert asked == pytest.approx(np.arange(8) * 0.25)
    assert run.counts["steps"] == 8 * 3
    assert run.q[-1, 0] == pytest.approx(1 - np.cos(2.0), abs=1e-5)


def test_a_controller_that_fails_is_heard(kernel):
    with pytest.raises(SimulationError, match="controller of input 'motor' gave nan at t = 0"):
        moved(kernel, inputs={"motor": (0.1, lambda t, state: float("nan"))})
    with pytest.raises(SimulationError, match=r"gave inf at t = 0\.5") as found:
        moved(kernel, inputs={"motor": (0.5, lambda t, state: np.inf if t > 0.4 else 1.0)})
    assert found.value.status == "controller failed"
    assert found.value.trajectory.t[-1] == 0.5
    with pytest.raises(ZeroDivisionError):
        moved(kernel, inputs={"motor": (0.1, lambda t, state: 1 / 0)})


def test_parameters_change_by_name(kernel):
    run = moved(kernel, q=1.0, parameters={"k": 4.0})
    assert run.q[-1, 0] == pytest.approx(np.cos(4.0), abs=1e-9)
    assert run.meta["parameters"] == {"k": 4.0}
    with pytest.raises(NamingError, match="no parameter is named 'K'"):
        moved(kernel, parameters={"K": 1.0})
    with pytest.raises(SimulationError, match="parameter 'k' is nan"):
        moved(kernel, parameters={"k": float("nan")})


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"moter": 1.0}, "did you mean 'motor'"),
        ({"motor": float("inf")}, "must be finite"),
        ({"motor": "fast"}, "no number, formula, table or controller"),
        ({"motor": ([0, 1], [0, 1, 2])}, "2 times for 3 values"),
        ({"motor": ([0, 0], [0, 1])}, "do not increase"),
        ({"motor": ([0, 1], [0, np.nan])}, "not finite"),
        ({"motor": ([0, 1], [0, 1], "spline")}, "no kind of table"),
        ({"motor": (0.0, lambda t, s: 0.0)}, "not positive"),
        ({"motor": symbol("B")}, "no coordinate, rate, parameter or input is named 'B'"),
    ],
)
def test_wrong_inputs_are_refused(kernel, inputs, message):
    with pytest.raises((NamingError, SimulationError), match=message):
        moved(kernel, inputs=inputs)
