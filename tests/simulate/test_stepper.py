"""The stepper: held inputs, resets, the same motion as a run."""

import numpy as np
import pytest
from simulate_samples import driven, hanging, plain, start

from liaison.errors import NamingError, SimulationError
from liaison.expr import symbol
from liaison.program import to_llvm
from liaison.simulate import simulate, stepper


@pytest.fixture(scope="module")
def kernel():
    return to_llvm(driven())


def test_steps_under_a_held_input_follow_the_exact_motion(kernel):
    robot = stepper(kernel, start(kernel.program, [0], [0]), step=1e-2)
    for _ in range(100):
        state = robot.step({"motor": 1.0}, 0.02)
    assert state.t == pytest.approx(2.0, abs=1e-12)
    assert state["A"] == pytest.approx(1 - np.cos(2.0), abs=1e-9)
    assert robot.state["A'"] == pytest.approx(np.sin(2.0), abs=1e-9)


def test_a_stepper_in_closed_loop_is_the_sampled_controller(kernel):
    begin = start(kernel.program, [1], [0])
    robot = stepper(kernel, begin, step=0.01)
    for _ in range(20):
        robot.step([-robot.state["A'"]], 0.05)
    run = simulate(kernel, begin, 1.0, step=0.01, inputs={"motor": (0.05, lambda t, s: -s["A'"])})
    assert robot.state.q == pytest.approx(run.q[-1], abs=1e-12)


def test_none_keeps_the_inputs_and_reset_forgets_them(kernel):
    begin = start(kernel.program, [0], [0])
    robot = stepper(kernel, begin)
    robot.step({"motor": 1.0}, 1.0)
    robot.step(None, 1.0)
    assert robot.state["A"] == pytest.approx(1 - np.cos(2.0), abs=1e-6)
    assert robot.reset(begin)["A"] == 0.0
    assert robot.step(None, 1.0)["A"] == 0.0


def test_a_stepper_stays_on_its_closures():
    p = hanging()
    kernel = to_llvm(p)
    robot = stepper(kernel, start(p, [1, 0], [0, 0]), step=0.01)
    for _ in range(50):
        state = robot.step(None, 0.05)
        assert np.max(np.abs(kernel("closure", q=state.q, v=state.v))) < 1e-10


def test_parameters_and_tolerances_are_taken(kernel):
    robot = stepper(kernel, start(kernel.program, [1], [0]), parameters={"k": 4.0}, rtol=1e-10)
    assert robot.step(None, 1.0)["A"] == pytest.approx(np.cos(2.0), abs=1e-8)


def test_wrong_steps_are_refused(kernel):
    robot = stepper(kernel, start(kernel.program, [0], [0]))
    with pytest.raises(SimulationError, match="a step of 0"):
        robot.step(None, 0)
    with pytest.raises(NamingError, match="did you mean 'motor'"):
        robot.step({"moter": 1}, 0.1)
    with pytest.raises(SimulationError, match="2 inputs were given; there are 1"):
        robot.step([1, 2], 0.1)
    with pytest.raises(SimulationError, match="not finite"):
        robot.step([np.nan], 0.1)


def test_a_failing_step_is_told():
    p = plain("escaping", lambda q, v: [v[0] * v[0] * v[0]])
    robot = stepper(to_llvm(p), start(p, [0], [1.0]), step=0.05)
    with pytest.raises(SimulationError, match="no longer finite") as found:
        robot.step(None, 2.0)
    assert found.value.status == "not finite"
    assert np.all(np.isfinite(robot.state.v))


def test_an_event_that_stops_ends_the_step_and_the_next_one_goes_on():
    """q̈ = 0, v = 1: events at q = 0.05 and 0.057 stop, both within one quarter of a step."""
    q = symbol("q[0]")
    facts = {"events": (("first", 1, "stop"), ("second", 0, "stop"))}
    p = plain(
        "sliding", lambda q, v: [0 * v[0]], entries={"events": [q - 0.05, q - 0.057]}, facts=facts
    )
    kernel = to_llvm(p)
    for settings in ({"step": 0.1}, {}):
        robot = stepper(kernel, start(p, [0.0], [1.0]), **settings)
        assert robot.step(None, 0.1).t == pytest.approx(0.05, abs=1e-12)
        assert robot.stopped_by == ("first",)
        assert robot.step(None, 0.1)["A"] == pytest.approx(0.057, abs=1e-12)
        assert robot.stopped_by == ("second",)
        assert robot.step(None, 0.1).t == pytest.approx(0.157, abs=1e-12)
        assert robot.stopped_by == ()
