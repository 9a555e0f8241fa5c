"""kinematic_run and inverse_dynamics: drives, what they need, and whether they can."""

import numpy as np
import pytest

import liaison
from liaison.errors import ModelError, NamingError, SimulationError

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
