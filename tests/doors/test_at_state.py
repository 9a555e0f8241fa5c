"""Quantities at one state: M, h, v̇, inverse dynamics, Jacobians and poses, by plain calls."""

import numpy as np
import pytest

import liaison
from liaison import DerivationError, NamingError, SimulationError, State
from liaison.errors import ArgumentError

NAMES = ["pendulum", "double_pendulum", "four_bar", "satellite", "stewart", "gimbals"]


def moving(name, examples):
    """A mechanism, its state after a while, and its accelerations there."""
    mechanism = liaison.read(examples / f"{name}.lsd")
    run = liaison.simulate(mechanism, until=0.1, every=0.1, series=("accelerations",))
    return mechanism, State(run.t[-1], run.q[-1], run.v[-1]), run.series["accelerations"].values[-1]


@pytest.mark.parametrize("name", NAMES)
def test_kinetic_energy_is_half_v_m_v(name, examples):
    mechanism, state, _ = moving(name, examples)
    M = liaison.mass_matrix(mechanism, state)
    kernel = liaison.compile(mechanism)
    T = kernel.call("energy", state.t, q=state.q, v=state.v)["T"][0]
    assert 0.5 * state.v @ M @ state.v == pytest.approx(T, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_accelerations_are_those_of_a_run(name, examples):
    mechanism, state, expected = moving(name, examples)
    vdot = liaison.forward_dynamics(mechanism, state)
    size = 1 + abs(expected).max()
    assert np.allclose(vdot, expected, atol=1e-8 * size, rtol=0)
    tau = liaison.inverse_dynamics(mechanism, state, accelerations=vdot)
    law = liaison.mass_matrix(mechanism, state) @ vdot + liaison.bias(mechanism, state)
    law -= liaison.compile(mechanism)("applied", state.t, q=state.q, v=state.v)
    assert np.allclose(tau, law, atol=1e-10 * (1 + abs(law).max()), rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_a_jacobian_is_the_derivative_of_the_pose(name, examples):
    mechanism, state, _ = moving(name, examples)
    body, point, step = mechanism.bodies[-1].name, np.array([0.1, -0.2, 0.3]), 1e-6
    J = liaison.jacobian(mechanism, body, state, point=point)
    kernel = liaison.compile(mechanism)
    for j, e in enumerate(np.eye(len(state.v))):
        X = [
            liaison.pose(mechanism, body, kernel("retract", q=state.q, x=s * step * e))
            for s in (1, -1)
        ]
        speed = ((X[0] - X[1]) @ [*point, 1] / (2 * step))[:3]
        spin = (X[0] - X[1])[:3, :3] / (2 * step) @ ((X[0] + X[1]) / 2)[:3, :3].T
        omega = [spin[2, 1], spin[0, 2], spin[1, 0]]
        assert np.allclose(J[:, j], [*omega, *speed], atol=1e-8)


def test_points_take_lengths_with_units(examples):
    pendulum = liaison.read(examples / "pendulum.lsd")
    J = liaison.jacobian(pendulum, "bar", point=("40 cm", 0, 0.1))
    assert np.array_equal(J, liaison.jacobian(pendulum, "bar", point=(0.4, 0, 0.1)))
    with pytest.raises(liaison.LiaisonError, match=r"40 kg.*must be in m"):
        liaison.jacobian(pendulum, "bar", point=("40 kg", 0, 0))


def test_positions_by_label_close_the_loop_and_arrays_are_taken_as_they_are(examples):
    mechanism = liaison.read(examples / "four_bar.lsd")
    closed = liaison.assemble(liaison.span(mechanism), A=1.2)
    named = liaison.pose(mechanism, "rocker", {"A": 1.2})
    assert np.allclose(named, liaison.pose(mechanism, "rocker", closed.q), atol=1e-12)
    assert not np.allclose(named, liaison.pose(mechanism, "rocker", [1.2, 0, 0]))
    rates = liaison.bias(mechanism, {"A": 1.2, "A'": 3.0})
    assert np.allclose(rates, liaison.bias(mechanism, {"A": 1.2}, {"A'": 3.0}))


def test_parameters_and_inputs_by_name():
    m, push = liaison.parameter("m", 2, unit="kg"), liaison.signal("push", "N*m")
    bob = liaison.body("bob", mass=m, center=(0, 0, -1), inertia=(0, 0, 0))
    hinge = liaison.join(liaison.ground, bob, "revolute", name="A", axis="y")
    pendulum = liaison.mechanism(hinge, m, push, liaison.motor(hinge, effort=push), name="pendulum")
    assert liaison.mass_matrix(pendulum, [0.0], parameters={"m": 3})[0, 0] == pytest.approx(3)
    assert liaison.forward_dynamics(pendulum, [0.0], inputs={"push": 4})[0] == pytest.approx(2)
    with pytest.raises(NamingError, match="no input is named 'pull'"):
        liaison.forward_dynamics(pendulum, [0.0], inputs={"pull": 4})


def test_what_does_not_fit_is_an_error(examples):
    mechanism = liaison.read(examples / "four_bar.lsd")
    with pytest.raises(SimulationError, match="3 positions: give an array of shape"):
        liaison.mass_matrix(mechanism, [0, 0])
    with pytest.raises(SimulationError, match="'B' is nan"):
        liaison.mass_matrix(mechanism, [0, np.nan, 0])
    with pytest.raises(NamingError, match="no body is named 'cuopler'; did you mean 'coupler'"):
        liaison.pose(mechanism, "cuopler")
    with pytest.raises(SimulationError, match="give an array of shape"):
        liaison.inverse_dynamics(mechanism, accelerations=[1.0], run=None)
    with pytest.raises(SimulationError, match="positions are off the closures by"):
        liaison.forward_dynamics(mechanism, [1.2, 0, 0])
    closed = liaison.assemble(liaison.span(mechanism))
    with pytest.raises(SimulationError, match="velocities are off the closures by"):
        liaison.forward_dynamics(mechanism, closed.q, [1.0, 0, 0])
    other = liaison.assemble(liaison.span(liaison.read(examples / "pendulum.lsd")))
    with pytest.raises(SimulationError, match="of another mechanism than 'four bar'"):
        liaison.mass_matrix(mechanism, other)
    ball = liaison.read(examples / "contact" / "two_balls.lsd")
    with pytest.raises(DerivationError, match="run it with `simulate`"):
        liaison.forward_dynamics(ball)


def test_velocities_by_label_replace_those_of_a_state(examples):
    mechanism = liaison.read(examples / "double_pendulum.lsd")
    still = liaison.assemble(liaison.span(mechanism), A=0.4, B=0.7)
    rates = {"A'": 3.0, "B'": -2.0}
    by_state = liaison.bias(mechanism, still, rates)
    assert np.allclose(by_state, liaison.bias(mechanism, still.q, [3.0, -2.0]), rtol=1e-13)
    assert not np.allclose(by_state, liaison.bias(mechanism, still), rtol=1e-3)


def test_velocities_by_label_beside_a_state_close_the_loops(examples):
    mechanism = liaison.read(examples / "four_bar.lsd")
    state = liaison.assemble(liaison.span(mechanism))
    named = {label.name: x for label, x in zip(state.labels["q"], state.q, strict=True)}
    expected = liaison.forward_dynamics(mechanism, named | {"A'": 5.0})
    found = liaison.forward_dynamics(mechanism, state, {"A'": 5.0})
    assert np.allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(
    "point", [(0, 0), "abc", None, (np.nan, 0, 0), (np.inf, 0, 0), [[0, 0, 0]]]
)
def test_points_are_three_finite_numbers(point, examples):
    with pytest.raises(ArgumentError, match="jacobian: point is"):
        liaison.jacobian(examples / "pendulum.lsd", "bar", point=point)
    with pytest.raises(ArgumentError, match="torsors: point is"):
        liaison.torsors(examples / "pendulum.lsd", point=point)
    if point is not None:
        with pytest.raises(ArgumentError, match="inertia: point is"):
            liaison.inertia(examples / "pendulum.lsd", point=point)


@pytest.mark.parametrize(
    ("q", "message"),
    [("x", "q is 'x'"), (object(), "q is"), ([1j], "q is"), ({"A": object()}, "q of 'A' is"),
     ({1: 2}, "the key 1")],
)  # fmt: skip
@pytest.mark.parametrize("verb", ["mass_matrix", "bias", "forward_dynamics", "torsors"])
def test_positions_of_another_kind_are_errors_of_the_argument(verb, q, message, examples):
    with pytest.raises(ArgumentError, match=message):
        getattr(liaison, verb)(examples / "pendulum.lsd", q)


def test_a_body_is_weighed_once(examples):
    path = examples / "four_bar.lsd"
    one = liaison.inertia(path, ["crank"]).inertia.mass
    assert float(liaison.inertia(path, "crank").inertia.mass) == float(one) == 0.2
    with pytest.raises(ArgumentError, match="'crank' twice"):
        liaison.inertia(path, ["crank", "rocker", "crank"])


def test_a_time_beside_a_state_of_another_is_rejected(examples):
    """It was left out without a word."""
    mechanism, state, _ = moving("pendulum", examples)
    assert np.array_equal(
        liaison.pose(mechanism, "bar", state, t=state.t), liaison.pose(mechanism, "bar", state)
    )
    with pytest.raises(ArgumentError, match=r"t is 5 s, beside a state at 0\.1 s"):
        liaison.pose(mechanism, "bar", state, t=5.0)


def test_a_motion_whose_inertia_is_rounding_is_named():
    """A link without inertia on two parallel axes turns between them for nothing."""
    turned = '<origin rpy="-1.9 -2.8 -2.8" xyz="0 0 {}"/>'
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"><inertial>'
        '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        f'</link><joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        f'{turned.format(1)}<axis xyz="0.3 0.5 0.7"/></joint><joint name="k" type="continuous">'
        '<parent link="b"/><child link="c"/><origin xyz="0.3 0.5 0.7"/><axis xyz="0.3 0.5 0.7"/>'
        "</joint></robot>"
    )
    with pytest.raises(DerivationError, match="nothing gives"):
        liaison.forward_dynamics(liaison.read(text), {"j": 0.3})
