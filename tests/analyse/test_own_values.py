"""Analyses of a run use what the run was made with: parameters, inputs, equations, states."""

import numpy as np
import pytest

import liaison
from liaison.analyse.along.joint_motion import joint_motion
from liaison.errors import SimulationError
from liaison.expr import sin, symbol

PENDULUM = """
gravity = [0, 0, -9.81] m/s^2 ;
parameter l = 1 m ;
let bob = body mass = 1 kg, center = [0, 0, -l], inertia = 0 end ;
let A = join earth and bob with revolute axis = [0, 1, 0] end ;
let u = apply motor end on A ;
let w = apply motor end on A ;
start A = 0.5 ;
"""

SLIDER_CRANK = """
gravity = [0, 0, -9.81] m/s^2 ;
parameter r = 5 cm ;
let crank = body mass = 2 kg, center = [r/2, 0, 0], inertia = [2, 4, 2] g*m^2 end ;
let rod = body mass = 0.3 kg, center = [6.5, 0, 0] cm, inertia = [0.1, 0.4, 0.4] g*m^2 end ;
let piston = body mass = 0.4 kg, inertia = 0 end ;
let A = join earth and crank with revolute axis = [0, -1, 0] end ;
let B = join [r, 0, 0] @ crank and rod with revolute axis = [0, -1, 0] end ;
let P = join [13, 0, 0] cm @ rod and piston with revolute axis = [0, -1, 0] end ;
let x = join earth and piston with prismatic axis = [1, 0, 0] end ;
let drive = apply motor end on A ;
start A = 90 deg ; start A' = 10 rad/s ; start x = 12 cm ;
"""


def test_linearize_takes_parameters_and_inputs_of_the_run():
    """−(g/l) cos A of the run's own length, and the torque's part in the steadiness."""
    run = liaison.simulate(PENDULUM, until=1.0, parameters={"l": 4.0}, inputs={"u": 3.0}, every=0.1)
    for at in (None, 0.5):
        found = liaison.linearize(PENDULUM, run, at=at)
        A = run["A"][-1 if at is None else 5]
        assert found.A[1, 0] == pytest.approx(-9.81 / 4 * np.cos(A), rel=1e-9)
        torque = (3.0 - 4.0 * 9.81 * np.sin(A)) / 16
        assert found.steadiness == pytest.approx(abs(torque), rel=1e-9)


def test_inputs_that_a_run_of_a_batch_was_given_act_in_its_analyses():
    """A batch records no inputs; numbers and formulas are those it was given."""
    for u, torque in ((2.0, lambda run: 2.0), (-3 * symbol("A"), lambda run: -3 * run["A"][-1])):
        runs = liaison.simulate_batch(
            PENDULUM, until=1.0, every=0.25, parameters={"l": [1.0, 4.0]}, inputs={"u": u}
        )
        found = liaison.linearize(PENDULUM, runs[1])
        A = runs[1]["A"][-1]
        assert found.A[1, 0] == pytest.approx(-9.81 / 4 * np.cos(A), rel=1e-9)
        rate = (torque(runs[1]) - 4.0 * 9.81 * np.sin(A)) / 16
        assert found.steadiness == pytest.approx(abs(rate), rel=1e-9)


def test_linearize_between_instants_of_a_run_from_a_file(tmp_path):
    """Seldom recorded, with feedback, from a file: the state is that of the motion itself."""
    inputs = {"drive": -0.1 * symbol("A'")}
    fine = liaison.simulate(SLIDER_CRANK, until=1.0, every=0.01, inputs=inputs, rtol=1e-11)
    liaison.simulate(SLIDER_CRANK, until=1.0, every=0.5, inputs=inputs, rtol=1e-11).save(
        tmp_path / "run.nc"
    )
    found = liaison.linearize(SLIDER_CRANK, liaison.load(tmp_path / "run.nc"), at=0.73)
    truth = liaison.linearize(SLIDER_CRANK, fine, at=0.73)
    np.testing.assert_allclose(found.A, truth.A, rtol=1e-6)
    assert found.steadiness == pytest.approx(truth.steadiness, rel=1e-6)


def test_linearize_before_an_impact():
    """A ball with drag: A depends on the velocity, −9 m/s before the floor."""
    text = """
    gravity = [0, 0, -10] m/s^2 ;
    let ball = body mass = 1 kg, inertia = 0 end ;
    let Z = join earth and ball with prismatic axis = [0, 0, 1] end ;
    let push = apply motor end on Z ;
    require Z >= 0 m with restitution = 1 end ;
    output square = Z' * Z' ;
    start Z = 5 m ;
    """
    run = liaison.simulate(text, until=1.5, every=0.5, rtol=1e-11)
    for at, speed in ((0.9, -9.0), (1.1, 9.0)):
        found = liaison.linearize(text, run, at=at)
        assert found.C[0, 1] == pytest.approx(2 * speed, rel=1e-6)


def test_joint_motion_takes_the_parameters_of_the_run():
    """A joint cut open: its coordinate comes from the poses and the markers, which have r."""
    run = liaison.simulate(
        SLIDER_CRANK, until=0.1, every=0.01, parameters={"r": 0.04},
        start={"x": np.sqrt(0.13**2 - 0.04**2)}, series=("poses", "motions"),
    )  # fmt: skip
    found = joint_motion(liaison.read(SLIDER_CRANK), run, "P")
    A, other = run["A"], joint_motion(liaison.read(SLIDER_CRANK), run, "B")
    angles = found.values[:, 0] + other.values[:, 0] + A
    np.testing.assert_allclose(np.sin(angles), 0.0, atol=1e-9)
    slope = np.arcsin(0.04 * np.sin(A) / 0.13)
    np.testing.assert_allclose(np.sin(A + other.values[:, 0]), -np.sin(slope), atol=1e-9)


def test_a_kinematic_run_keeps_parameters_inputs_and_charts():
    motion = {"A": 0.3 * sin(5 * symbol("t"))}
    run = liaison.kinematic_run(
        PENDULUM, motion, until=1.0, every=0.05, parameters={"l": 2.0}, inputs={"w": 1.5}
    )
    assert run.meta["parameters"] == {"l": 2.0}
    assert run.meta["charts"]
    found = liaison.inverse_dynamics(PENDULUM, run, ["u"])
    A, t = 0.3 * np.sin(5 * run.t), run.t
    need = 4.0 * (-7.5 * np.sin(5 * t)) + 2.0 * 9.81 * np.sin(A) - 1.5
    np.testing.assert_allclose(found["u"], need, atol=1e-9)


def test_inverse_dynamics_of_a_run_without_recorded_accelerations():
    """The drive itself comes back, however seldom the run is recorded."""
    t = symbol("t")
    run = liaison.simulate(SLIDER_CRANK, until=2.0, every=0.1, inputs={"drive": 0.5 * sin(5 * t)})
    found = liaison.inverse_dynamics(SLIDER_CRANK, run, ["drive"])
    np.testing.assert_allclose(found["drive"], 0.5 * np.sin(5 * run.t), atol=1e-9)


def test_accelerations_of_other_equations_are_not_guessed():
    """A motion that another mechanism imposed: these equations would not accelerate so."""
    motion = {"A": 0.3 * sin(5 * symbol("t"))}
    driven = liaison.kinematic_run(PENDULUM, motion, until=1.0, only_series=("energy",))
    with pytest.raises(SimulationError, match="no series 'accelerations'"):
        liaison.inverse_dynamics(PENDULUM, driven, ["u"])
    with pytest.raises(SimulationError, match="shape"):
        liaison.inverse_dynamics(PENDULUM, driven, ["u"], accelerations=np.zeros((3, 1)))


def test_states_off_their_closures_or_of_another_mechanism_are_refused():
    run = liaison.simulate(SLIDER_CRANK, until=0.1)
    state = liaison.simulate(SLIDER_CRANK, until=0.0)
    labels = {x: run.labels[x] for x in "qv"}
    good = liaison.State(0.0, state.q[-1], state.v[-1], labels)
    off, fast = good.changed({"x": good["x"] + 0.18}), good.changed({"x'": good["x'"] + 1.0})
    for verb in (liaison.linearize, liaison.solutions):
        verb(SLIDER_CRANK, good)
        with pytest.raises(SimulationError, match="off its closures: the position"):
            verb(SLIDER_CRANK, off)
        with pytest.raises(SimulationError, match="off its closures: the velocity"):
            verb(SLIDER_CRANK, fast)
    with pytest.raises(SimulationError, match="off its closures"):
        liaison.equilibrium(SLIDER_CRANK, off)
    other = liaison.simulate(PENDULUM, until=0.0)
    strange = liaison.State(0.0, other.q[0], other.v[0], {x: other.labels[x] for x in "qv"})
    for verb in (liaison.linearize, liaison.solutions, liaison.equilibrium):
        with pytest.raises(SimulationError, match="another mechanism"):
            verb(SLIDER_CRANK, strange)
        with pytest.raises(SimulationError, match="finite number"):
            verb(PENDULUM, inputs={"u": float("nan")})
    with pytest.raises(SimulationError, match="another mechanism"):
        liaison.linearize(PENDULUM, run)
    with pytest.raises(SimulationError, match="no run"):
        liaison.linearize(PENDULUM, at=0.5)


def test_a_start_beside_a_state_is_refused():
    run = liaison.simulate(PENDULUM, until=0.0)
    state = liaison.State(0.0, run.q[0], run.v[0])
    verbs = (liaison.stepper, liaison.linearize, liaison.equilibrium, liaison.solutions)
    for verb in verbs:
        with pytest.raises(SimulationError, match="a start of 'A' beside it"):
            verb(PENDULUM, state, start={"A": 0.1})
    with pytest.raises(SimulationError, match="a start of 'A' beside it"):
        liaison.simulate(PENDULUM, state, start={"A": 0.1}, until=1.0)
    with pytest.raises(SimulationError, match="a start of 'A' beside it"):
        liaison.solutions(PENDULUM, state, start={"A": 0.1}, maximal=True)
