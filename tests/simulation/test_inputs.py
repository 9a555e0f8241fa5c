"""Inputs: numbers, formulas, tables, controllers; parameters by name."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator
from simulate_samples import driven, plain, start

import liaison
from liaison.equations import newton_euler
from liaison.errors import ArgumentError, NamingError, ProgramError, SimulationError
from liaison.expr import Table, sin, symbol
from liaison.model import Revolute
from liaison.model.describe import body, gravity, ground, join, mechanism, parameter
from liaison.numeric import State
from liaison.program import to_llvm
from liaison.program.lower import lower
from liaison.simulation import simulate, stepper
from liaison.tree import span
from liaison.units import Label


@pytest.fixture(scope="module")
def kernel():
    return to_llvm(driven())


def moved(kernel, until=2.0, q=0.0, v=0.0, **more):
    more = more if "step" in more else {"rtol": 1e-11, "atol": 1e-13, **more}
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


def chained():
    """q̈ = b, where "a" and "b" are inputs."""
    labels = {"u": (Label("b"), Label("a"))}
    return plain("chained", lambda q, v: [symbol("u[0]")], nu=2, labels=labels)


def test_a_formula_that_reads_another_input_sees_it_at_the_same_instant():
    """b = a/2, a = 20 t: q = 10 t³/6, exact for RK4; a stale a would be a stage late."""
    p = chained()
    inputs = {"b": symbol("a") / 2, "a": 20 * symbol("t")}
    run = simulate(to_llvm(p), start(p, [0], [0]), 1.0, step=0.1, inputs=inputs)
    assert run.q[-1, 0] == pytest.approx(10 / 6, abs=1e-13)
    assert run["inputs.b"] == pytest.approx(run["inputs.a"] / 2, abs=1e-14)
    table = {"b": 3 * symbol("u[1]"), "a": ([0.0, 1.0], [0.0, 1.0])}
    run = simulate(to_llvm(p), start(p, [0], [0]), 1.0, step=0.1, inputs=table)
    assert run.q[-1, 0] == pytest.approx(0.5, abs=1e-13)


def test_inputs_that_read_each_other_are_refused():
    p = chained()
    circle = {"b": symbol("a"), "a": -symbol("b")}
    with pytest.raises(ProgramError, match="inputs 'a', 'b' read each other in a circle"):
        simulate(to_llvm(p), start(p, [0], [0]), 1.0, inputs=circle)
    with pytest.raises(ProgramError, match="input 'a' reads the input itself"):
        simulate(to_llvm(p), start(p, [0], [0]), 1.0, inputs={"a": 2 * symbol("a")})


def test_a_table_is_followed(kernel):
    t = np.linspace(0, np.pi, 81)  # without curvature at its ends, as a natural spline is
    run = moved(kernel, inputs={"motor": (t, np.sin(2 * t), "cubic")})
    assert run.q[-1, 0] == pytest.approx((2 * np.sin(2) - np.sin(4)) / 3, abs=1e-7)
    given = moved(kernel, inputs={"motor": Table(t, np.sin(2 * t), "cubic")})
    assert given.q[-1, 0] == pytest.approx(run.q[-1, 0], abs=1e-10)
    run = moved(kernel, inputs={"motor": ([0, 2], [0, 2], "linear")})
    assert run.q[-1, 0] == pytest.approx(2 - np.sin(2), abs=1e-9)


def recorded(kernel, until, **inputs):
    run = simulate(kernel, start(kernel.program, [0], [0]), until, step=0.01, inputs=inputs)
    return run.t, run["inputs.motor"]


def test_tables_agree_with_scipy_and_hold_their_ends(kernel):
    rng = np.random.default_rng(5)
    for n in (3, 4, 12):
        x, y = 0.1 + np.cumsum(rng.uniform(0.05, 0.1, n)), rng.normal(size=n)
        t, u = recorded(kernel, 2.0, motor=(x, y))
        oracle = PchipInterpolator(x, y)(np.clip(t, x[0], x[-1]))
        assert u == pytest.approx(oracle, abs=1e-12)
        t, u = recorded(kernel, 2.0, motor=(x, y, "cubic"))
        oracle = CubicSpline(x, y, bc_type="natural")(np.clip(t, x[0], x[-1]))
        assert u == pytest.approx(oracle, abs=1e-12)
    x, y = np.array([0.5, 1.0, 1.5]), np.array([1.0, 2.0, 0.0])
    t, u = recorded(kernel, 2.0, motor=(x, y, "linear"))
    assert u == pytest.approx(np.interp(t, x, y), abs=1e-13)


def test_a_long_table_is_compiled_in_a_moment(kernel):
    x = np.linspace(0, 2, 20_001)
    t, u = recorded(kernel, 2.0, motor=(x, np.sin(x)))
    assert u == pytest.approx(np.sin(t), abs=1e-12)


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
    assert "steps of 0.1 s do not divide the period 0.25 s of 'motor'" in run.message
    assert run.q[-1, 0] == pytest.approx(1 - np.cos(2.0), abs=1e-5)


def test_a_controller_may_return_an_array_of_one_number(kernel):
    plain = moved(kernel, inputs={"motor": (0.1, lambda t, state: 1.0)})
    for x in ([1.0], np.array([1.0]), np.array([[1.0]]), np.float32(1)):
        run = moved(kernel, inputs={"motor": (0.1, lambda t, state, x=x: x)})
        assert np.array_equal(run.q, plain.q)
    with pytest.raises(SimulationError, match=r"gave \[1, 2\], which is not one number, at t = 0"):
        moved(kernel, inputs={"motor": (0.1, lambda t, state: [1, 2])})


def test_a_controller_that_fails_is_heard(kernel):
    with pytest.raises(SimulationError, match="controller of input 'motor' gave nan at t = 0"):
        moved(kernel, inputs={"motor": (0.1, lambda t, state: float("nan"))})
    with pytest.raises(SimulationError, match=r"gave inf at t = 0\.5") as found:
        moved(kernel, inputs={"motor": (0.5, lambda t, state: np.inf if t > 0.4 else 1.0)})
    assert found.value.status == "controller failed"
    assert found.value.trajectory.t[-1] == 0.5
    with pytest.raises(
        SimulationError, match="raised ZeroDivisionError: division by zero"
    ) as found:
        moved(kernel, inputs={"motor": (0.5, lambda t, state: 1 / 0 if t > 0.4 else 1.0)})
    assert isinstance(found.value.__cause__, ZeroDivisionError)
    assert found.value.trajectory.t[-1] == 0.5


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
        ({"motor": "fast"}, "a text is a number and a unit"),
        ({"motor": {1: 2}}, "no number, formula, table or controller"),
        ({"motor": ([0, 1], [0, 1, 2])}, "2 times for 3 values"),
        ({"motor": ([0, 0], [0, 1])}, "do not increase"),
        ({"motor": ([0, 1], [0, np.nan])}, "not finite"),
        ({"motor": ([0, 1], [0, 1], "spline")}, "no kind of table"),
        ({"motor": (0.0, lambda t, s: 0.0)}, "not positive"),
        ({"motor": symbol("B")}, "no coordinate, rate, parameter or input is named 'B'"),
    ],
)
def test_wrong_inputs_are_refused(kernel, inputs, message):
    with pytest.raises((ArgumentError, NamingError, SimulationError), match=message):
        moved(kernel, inputs=inputs)


def weighed(mass):
    """A pendulum of that mass, as a kernel and a state."""
    pendulum = body("b", mass=mass, center=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    m = mechanism(join(ground, pendulum, Revolute, name="A", axis="y"), gravity(), mass)
    return to_llvm(lower(newton_euler(span(m)))), State(0.0, np.array([0.1]), np.zeros(1))


@pytest.mark.parametrize("run", [lambda *a, **k: simulate(*a, 0.1, **k), stepper])
def test_a_parameter_outside_its_bounds_is_refused(run):
    kernel, state = weighed(parameter("m", 1.0, "kg", low=0.5, high=2.0))
    for value in (-5.0, 0.4999, 2.0001):
        with pytest.raises(SimulationError, match=r"parameter 'm' is .* its bounds 0.5 … 2"):
            run(kernel, state, parameters={"m": value})
    for value in (0.5, 2.0):
        run(kernel, state, parameters={"m": value})
    kernel, state = weighed(parameter("m", 1.0, "kg", low=0))
    with pytest.raises(SimulationError, match=r"its bounds 0 … ∞"):
        run(kernel, state, parameters={"m": -1.0})


@pytest.mark.parametrize("run", [lambda *a, **k: simulate(*a, 0.1, **k), stepper])
def test_an_unknown_parameter_is_refused_by_its_name(run):
    kernel, state = weighed(parameter("m", unit="kg"))
    with pytest.raises(SimulationError, match="parameter 'm' is nan; a run needs a finite value"):
        run(kernel, state)
    run(kernel, state, parameters={"m": 2.0})


def test_too_many_steps_under_a_controller_name_it():
    """A gain of the wrong sign: the motion grows from call to call, and steps shrink."""
    text = """let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let X = join earth and b with prismatic end ; let u = apply motor end on X ;
    start X = 1 m ; apply spring stiffness = 1 kN/m end on X ;"""
    inputs = {"u": (0.01, lambda t, state: 300.0 * state["X'"])}
    with pytest.raises(SimulationError, match=r"controller is unstable: 'u' \(every 0.01 s\)"):
        liaison.simulate(text, until=100.0, inputs=inputs, max_steps=2000)
    with pytest.raises(SimulationError) as caught:
        liaison.simulate(text, until=100.0, inputs={"u": 1.0}, max_steps=20)
    assert "controller" not in str(caught.value)
