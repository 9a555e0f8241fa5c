"""The stepper: held inputs, resets, the same motion as a run."""

from pathlib import Path

import numpy as np
import pytest
from simulate_samples import driven, hanging, plain, start

import liaison
from liaison.errors import ArgumentError, NamingError, SimulationError
from liaison.expr import symbol
from liaison.program import to_llvm
from liaison.simulation import simulate, stepper


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
    with pytest.raises(SimulationError, match=r"inputs have the shape \(2,\); it must be \(1,\)"):
        robot.step([1, 2], 0.1)
    with pytest.raises(SimulationError, match="must be finite"):
        robot.step([np.nan], 0.1)


ONE = [np.array([1.0]), [1.0], (1.0,), np.array([[1.0]]), np.float32(1), np.array(1), [np.ones(1)]]
NOT_ONE = [[1, 2], np.ones((2, 1)), [], {}, None, object(), 1j, np.array(["1"]), ["a"]]


def test_inputs_by_name_may_be_arrays_of_one_number_as_policies_return_them(kernel):
    for x in ONE:
        robot = stepper(kernel, start(kernel.program, [0], [0]), step=1e-2)
        state = robot.step({"motor": x}, np.array([1.0]))
        assert state["A"] == pytest.approx(1 - np.cos(1.0), abs=1e-9)


def test_inputs_and_times_that_are_not_one_number_are_errors_in_words(kernel):
    robot = stepper(kernel, start(kernel.program, [0], [0]))
    for x in NOT_ONE:
        with pytest.raises(ArgumentError, match="input 'motor' is"):
            robot.step({"motor": x}, 0.1)
        with pytest.raises(ArgumentError, match="the time of a step is" if x is not None else "dt"):
            robot.step({"motor": 1.0}, x)
    for x in ("abc", ["a"], [[1], 2], object()):
        with pytest.raises(ArgumentError, match="all inputs in order are numbers"):
            robot.step(x, 0.1)
    with pytest.raises(SimulationError, match=r"shape \(1, 1\); it must be \(1,\).*motor") as error:
        robot.step(np.ones((1, 1)), 0.1)
    assert "ravel" in error.value.hint


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


PUCK = """
name = "puck" ;
gravity = [0, 0, -9.81] m/s^2 ;
input push = 0 N ; input lift = 0 N ;
let puck = body mass = 1 kg, inertia = 1 g*m^2 end ;
let X = join earth and puck with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
apply force value = [push, 0, lift] end on puck ;
let floor = contact gap = X.z, slip = X.x', friction = 0.3, restitution = 0.5 end ;
"""
WAYS = [{}, {"step": 1e-3}, {"method": "moreau", "step": 1e-3}]


@pytest.mark.parametrize("options", WAYS)
def test_inputs_let_a_contact_stick_slip_and_open(options):
    """A push beyond f m g = 2.943 N slides at once; a lift beyond the weight flies."""
    near = 1e-9 if not options.get("method") else 3e-3
    robot = liaison.stepper(PUCK, **options)
    assert robot.step({"push": 2.9}, 0.5)["X.x"] == pytest.approx(0.0, abs=1e-15)
    assert robot.modes == {"floor": "closed", "floor: sliding": "sticks"}
    state = robot.step({"push": 4.943}, 0.5)
    assert state["X.x'"] == pytest.approx(1.0, abs=near)
    assert robot.modes["floor: sliding"] == "slips"
    assert [(x.name, x.what) for x in robot.events] == [("floor: sliding", "slips")]
    assert robot.events[0].t == pytest.approx(0.5, abs=2e-3)
    state = robot.step({"push": 0.0, "lift": 0.0}, 0.5)
    assert state["X.x'"] == pytest.approx(0.0, abs=1e-15)
    stuck = next(x.t for x in robot.events if x.what == "sticks")
    assert stuck == pytest.approx(1.0 + 1 / 2.943, abs=2e-3)
    state = robot.step({"lift": 10.81}, 0.5)
    assert state["X.z"] == pytest.approx(1.0 / 8, abs=near)
    assert robot.modes == {"floor": "open", "floor: sliding": "open"}
    robot.step({"lift": 0.0}, 2.0)
    assert robot.modes["floor"] == "closed"
    assert {"impact", "rests", "closes"} <= {x.what for x in robot.events}
    assert robot.step(None, 1.0).q == pytest.approx(robot.state.q)
    assert not robot.events


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize(
    "name", ["reference/woodpecker", "contact/stick_slip", "contact/backlash", "contact/stops"]
)
def test_steps_through_contacts_are_those_of_a_run(name, options):
    path = EXAMPLES / f"{name}.lsd"
    options = options | ({"step": 1e-4} if options else {})
    run = liaison.simulate(path, until=0.3, every=0.01, **options)
    robot = liaison.stepper(path, **options)
    events = list(robot.events)
    for k in range(30):
        state = robot.step(None, 0.01)
        events += robot.events
        assert state.q == pytest.approx(run.q[k + 1], abs=1e-6)
    assert [(x.name, x.what) for x in events] == [(x.name, x.what) for x in run.events]
    assert [x.t for x in events] == pytest.approx([x.t for x in run.events], abs=1e-6)


def test_an_event_that_stops_beside_a_contact_is_told_alone():
    text = PUCK + "event passing when X.x - 1 m rising stop ; start X.x' = 3 m/s ;"
    robot = liaison.stepper(text)
    robot.step({"push": 2.943}, 1.0)
    assert robot.stopped_by == ("passing",)
    assert robot.state.t == pytest.approx(1 / 3, abs=1e-9)
    assert robot.step(None, 1.0).t == pytest.approx(4 / 3, abs=1e-9)


def test_a_compiled_mechanism_needs_no_state(examples):
    kernel = liaison.to_kernel(examples / "pendulum.lsd")
    alone = liaison.stepper(examples / "pendulum.lsd", step=1e-3, start={"A": "20 deg"})
    ours = liaison.stepper(kernel, step=1e-3, start={"A": "20 deg"})
    for each in (alone, ours):
        each.step({}, 0.1)
    assert ours.state.q == pytest.approx(alone.state.q, abs=1e-12)


STIFF = """
let bob = body mass = 10 g, inertia = 0 end ;
let S = join earth and bob with prismatic axis = [1, 0, 0] end ;
apply servo target = 0, stiffness = {} N/m, damping = {} end on S ;
start S = 1 mm ;
"""


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_a_motion_that_grows_without_end_is_an_error(dt):
    """As a run is suspect: it went on to 1e303 m/s without a word."""
    stepper = liaison.stepper(STIFF.format(600, 60), method="rk4", step=1e-3)

    def go():
        for _ in range(60):
            stepper.step(None, dt)

    with pytest.raises(SimulationError, match="energy grows from step to step") as error:
        go()
    assert error.value.status == "suspect"
    assert f"at t = {stepper.state.t:.6g} s" in str(error.value)
    assert abs(stepper.state.v[0]) < 1e60
    assert stepper.state.t <= 10 * dt


def test_a_motion_that_grows_may_be_left_alone():
    stepper = liaison.stepper(STIFF.format(600, 60), method="rk4", step=1e-3, watch=False)
    for _ in range(20):
        state = stepper.step(None, 1e-3)
    assert abs(state.v[0]) > 1e10


def test_inputs_that_jump_are_no_suspicion():
    text = """
    let bob = body mass = 1 kg, inertia = 0 end ;
    let S = join earth and bob with prismatic axis = [1, 0, 0] end ;
    input push = 0 N ;
    apply motor force = push end on S ;
    apply damper coefficient = 1 N*s/m end on S ;
    """
    for options in ({}, {"method": "moreau", "step": 1e-3}, {"method": "rk4", "step": 1e-2}):
        stepper = liaison.stepper(text, **options)
        draw = np.random.default_rng(3)
        for _ in range(50):
            stepper.step({"push": draw.uniform(-100, 100)}, 0.02)
        assert np.isfinite(stepper.state.v).all()


def test_a_step_without_a_time_is_the_fixed_one():
    pendulum = "examples/pendulum.lsd"
    fixed = liaison.stepper(pendulum, step="2 ms", method="rk4")
    assert [fixed.step().t for _ in range(3)] == pytest.approx([0.002, 0.004, 0.006], abs=1e-15)
    with pytest.raises(ArgumentError, match="has no dt, and steps of this stepper follow from"):
        liaison.stepper(pendulum).step()
