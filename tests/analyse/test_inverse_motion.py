"""kinematic_run and inverse_dynamics: drives, what they need, and whether they can."""

import numpy as np
import pytest

import liaison
from liaison.errors import ArgumentError, ModelError, NamingError, SimulationError

LAW = liaison.PI / 2 + 30 * liaison.time + liaison.sin(20 * liaison.time) / 5


@pytest.fixture(scope="module")
def crank(examples):
    return examples / "slider_crank.lsd"


@pytest.fixture(scope="module")
def run(crank):
    return liaison.kinematic_run(crank, {"A": LAW}, until=0.3, every=0.002)


def test_a_driven_crank_follows_its_law_on_its_closures(run):
    assert run["A"] == pytest.approx(np.pi / 2 + 30 * run.t + np.sin(20 * run.t) / 5, abs=1e-12)
    assert run["A''"] == pytest.approx(-80 * np.sin(20 * run.t), abs=1e-8)
    assert np.max(run["position_residual"]) < 1e-12
    x = 0.05 * np.cos(run["A"]) + np.sqrt(0.13**2 - (0.05 * np.sin(run["A"])) ** 2)
    assert run["x"] == pytest.approx(x, abs=1e-12)


def test_the_drive_takes_the_torque_that_inverse_dynamics_gives(crank, run):
    found = liaison.inverse_dynamics(crank, run, ["drive"])
    assert found.is_solvable
    assert found["drive"] == pytest.approx(run["lam.drive A"], rel=1e-9, abs=1e-9)


def test_that_torque_brings_about_the_motion(crank, run):
    found = liaison.inverse_dynamics(crank, run, ["drive"])
    start = {"A": run["A"][0], "A'": run["A'"][0]}
    table = (run.t, found["drive"])
    again = liaison.simulate(crank, until=0.3, start=start, inputs={"drive": table}, every=0.1)
    assert again["A"][-1] == pytest.approx(run["A"][-1], abs=1e-4)


def test_two_drives_work_against_each_other(crank, run):
    both = liaison.inverse_dynamics(crank, run, ["drive", "B"])
    assert both.is_solvable
    assert set(both.internal) == {1}
    assert both.values.undetermined.any()
    one = liaison.inverse_dynamics(crank, run, ["drive"])
    assert np.all(np.linalg.norm(both.values.values, axis=1) <= np.abs(one["drive"]) + 1e-9)


def test_a_drive_that_is_missing_is_told(examples):
    path = examples / "double_pendulum.lsd"
    names = [x.name for x in liaison.read(path).joints]
    laws = {name: liaison.sin(liaison.time * (k + 2)) for k, name in enumerate(names)}
    run = liaison.kinematic_run(path, laws, until=0.5, every=0.05)
    assert liaison.inverse_dynamics(path, run, names).is_solvable
    alone = liaison.inverse_dynamics(path, run, names[:1])
    assert not alone.is_solvable
    with pytest.raises(NamingError, match="elbow"):
        liaison.inverse_dynamics(path, run, ["elbow"])


def test_a_table_is_a_law(crank):
    t = np.linspace(0, 0.3, 31)
    law = liaison.Table(t, np.pi / 2 + 3 * t)
    run = liaison.kinematic_run(crank, {"A": law}, until=0.3, every=0.01)
    assert run["A"][-1] == pytest.approx(np.pi / 2 + 0.9, abs=1e-12)
    with pytest.raises(ModelError, match="Python function"):
        liaison.kinematic_run(crank, {"A": np.sin}, until=0.1)


def test_freedoms_and_reach_are_told(examples, crank):
    with pytest.raises(ModelError, match="left free"):
        liaison.kinematic_run(crank, until=0.1)
    with pytest.raises(SimulationError, match="cannot lead"):
        liaison.kinematic_run(crank, {"x": 0.12 + liaison.time}, until=0.2)


SKATE = """
let skate = body mass = 1 kg, inertia = 0.1 kg*m^2 end ;
let S = join earth and skate with planar end ;
require S.y' * cos(S.angle) = S.x' * sin(S.angle) ;
require S.x' * cos(S.angle) + S.y' * sin(S.angle) = 1 m/s ;
impose S.angle = 1 rad/s * t ;
event far when S.x - 80 cm crossing ;
"""


@pytest.mark.parametrize("every", [0.5, 0.3, 0.01])
def test_relations_of_rates_are_integrated_at_a_tolerance(every):
    """A skate driven at 1 m/s that turns at 1 rad/s goes round a circle of 1 m."""
    run = liaison.kinematic_run(SKATE, until=1.0, every=every)
    np.testing.assert_allclose(run["S.x"], np.sin(run.t), atol=1e-8)
    np.testing.assert_allclose(run["S.y"], 1 - np.cos(run.t), atol=1e-8)
    np.testing.assert_allclose(run["S.x'"], np.cos(run.t), atol=1e-8)
    np.testing.assert_allclose(np.diff(run.t)[:-1], every, rtol=1e-9)
    assert run.t[-1] == 1.0
    assert run.t_events["far"] == pytest.approx([np.arcsin(0.8)], rel=1e-8)


def test_events_and_stop_end_a_kinematic_run():
    run = liaison.kinematic_run(SKATE, until=2.0, every=0.3, stop="far")
    assert run.status == "stopped"
    assert run.t[-1] == pytest.approx(np.arcsin(0.8), rel=1e-8)
    assert run["S.x"][-1] == pytest.approx(0.8, rel=1e-8)


def test_events_and_stop_of_a_linkage(crank):
    """Positions come from Newton's method; where they stop it, from steps of a run."""
    law = np.pi / 2 + 3 * liaison.time
    whole = liaison.kinematic_run(crank, {"A": law}, until=0.3, every=0.1)
    run = liaison.kinematic_run(
        crank, {"A": law}, until=0.3, every=0.1, stop={"A": np.pi / 2 + 0.7}
    )
    assert run.t[-1] == pytest.approx(0.7 / 3, rel=1e-9)
    np.testing.assert_allclose(run.q[:3], whole.q[:3], atol=1e-10)
    assert run.status == "stopped"


@pytest.mark.parametrize("drives", [None, "drive", {"drive": 1.0}, [3]])
def test_drives_along_a_run_are_a_list_of_names(crank, run, drives):
    with pytest.raises(ArgumentError, match=r"drives is .* a list of coordinates"):
        liaison.inverse_dynamics(crank, run, drives)


@pytest.mark.parametrize(("limit", "is_enough"), [(10, True), (3, False)])
def test_bounds_of_a_motor_count(limit, is_enough):
    """A rod of 1 kg, 50 cm, at 90°: 4.905 N·m; a motor of 3 N·m does not hold it."""
    rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
    A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
    u = liaison.signal("u", "N*m")
    motor = liaison.servo(A, effort=u, limit=limit)
    m = liaison.mechanism(A, u, motor, liaison.gravity())
    held = liaison.kinematic_run(m, {"A": liaison.PI / 2 + 0 * liaison.t}, until=1, every=0.5)
    efforts = liaison.inverse_dynamics(m, held, ["u"])
    assert efforts["u"] == pytest.approx([4.905] * 3, rel=1e-12)
    assert efforts.is_solvable == is_enough
    assert efforts.missing.max() == pytest.approx(0 if is_enough else 1.905 / 4.905, abs=1e-12)
    assert efforts.values.unit == ("N*m",)


def test_one_state_needs_accelerations(crank):
    with pytest.raises(ArgumentError, match="no accelerations are given"):
        liaison.inverse_dynamics(crank, {"A": 0.5})


def test_targets_of_a_servo_are_found_through_its_bounds():
    """At a target of 0 the servo is at its bound; the target that holds 90° is beyond them."""
    rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
    A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
    u = liaison.signal("u", "rad")
    motor = liaison.servo(A, target=u, stiffness=100, damping=5, limit=10)
    m = liaison.mechanism(A, u, motor, liaison.gravity())
    held = liaison.kinematic_run(m, {"A": liaison.PI / 2 + 0 * liaison.t}, until=1, every=0.5)
    efforts = liaison.inverse_dynamics(m, held, ["u"])
    assert efforts["u"] == pytest.approx([np.pi / 2 + 4.905 / 100] * 3, rel=1e-12)
    assert efforts.is_solvable
