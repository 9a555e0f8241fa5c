"""verify: every theorem holds for what was simulated, and fails for what was not."""

from dataclasses import replace

import numpy as np
import pytest

import liaison
from liaison.errors import NamingError, SimulationError
from liaison.expr import symbol

MODELS = {
    "double_pendulum": 1.0,
    "four_bar": 0.5,
    "bicycle": 1.0,
    "rolling_ball": 0.5,  # on a table that is driven
    "satellite": 0.5,  # no joint to the ground
    "slider_crank": 0.1,
    "differential": 0.5,
    "reference/andrews": 0.01,
    "reference/car_axis": 0.5,
}


@pytest.mark.parametrize("model", MODELS)
def test_theorems_hold_for_a_simulated_motion(examples, model):
    path = examples / f"{model}.lsd"
    body = liaison.read(path).bodies[-1].name
    found = liaison.verify(path, until=MODELS[model], about=body)
    assert found.holds, found.worst
    assert len(found.theorems) == 13
    assert max(x.error for x in found.theorems[:8]) < 1e-9


def test_a_motion_that_was_bent_is_found_out(examples):
    path = examples / "double_pendulum.lsd"
    run = liaison.simulate(path, until=1.0, every=0.002, rtol=1e-10, atol=1e-12, only_series=())
    assert liaison.verify(path, run).holds
    slower = replace(run, v=run.v * 0.999)
    found = liaison.verify(path, slower)
    failed = [x.name for x in found.theorems if not x.holds]
    assert failed
    assert all("over time" in name or "instant to instant" in name for name in failed)
    mechanism = liaison.read(path)
    heavier = replace(mechanism, bodies=(*mechanism.bodies[:2], heavy(mechanism.bodies[2])))
    assert not liaison.verify(heavier, run).holds


def heavy(body):
    return replace(body, mass=body.mass * 2)


def test_powers_add_up_to_the_energy(examples):
    path = examples / "excavator.lsd"
    run = liaison.simulate(path, until=0.5, every=0.0005, rtol=1e-11, atol=1e-13)
    found = liaison.verify(path, run)
    work = sum(found.to_dict()["work_J"].values())
    kinetic = run["energy.T"]
    assert np.ptp(kinetic) > 1
    assert work == pytest.approx(kinetic[-1] - kinetic[0], abs=1e-4 * np.ptp(kinetic))
    assert {"gravity"} <= {*found.powers.axes["load"]}


def test_the_run_must_be_of_the_mechanism(examples):
    run = liaison.simulate(examples / "pendulum.lsd", until=0.1)
    with pytest.raises(SimulationError, match="another mechanism"):
        liaison.verify(examples / "four_bar.lsd", run)
    with pytest.raises(NamingError, match="barr"):
        liaison.verify(examples / "pendulum.lsd", run, about="barr")


PENDULUM = """
gravity = [0, 0, -9.81] m/s^2 ;
let bob = body mass = 1 kg, center = [0, 0, -1] m, inertia = 0 end ;
let A = join earth and bob with revolute axis = [0, 1, 0] end ;
let u = apply motor end on A ;
start A = 0.5 ;
"""


@pytest.mark.parametrize("every", [0.002, 0.1, 1.0, 5.0])
def test_a_run_of_another_gravity_is_found_out_however_seldom_it_is_recorded(every):
    right = liaison.simulate(PENDULUM, until=10.0, every=every)
    found = liaison.verify(PENDULUM, right)
    assert found.holds, found.worst
    wrong = liaison.simulate(PENDULUM.replace("9.81", "5"), until=10.0, every=every)
    assert not liaison.verify(PENDULUM, wrong).holds


def test_the_work_of_loads_does_not_depend_on_the_recorded_instants():
    run = liaison.simulate(PENDULUM, until=10.0, every=2.5, inputs={"u": -0.3 * symbol("A'")})
    work = liaison.verify(PENDULUM, run).to_dict()["work_J"]
    height = np.cos(run["A"][0]) - np.cos(run["A"][-1])
    assert work["gravity"] == pytest.approx(-9.81 * height, abs=1e-6)
    assert sum(work.values()) == pytest.approx(run["A'"][-1] ** 2 / 2, abs=1e-6)


def test_an_invented_motion_is_found_out():
    """Positions and velocities that fit each other, of no pendulum, once a second."""
    run = liaison.simulate(PENDULUM, until=10.0, every=1.0)
    A, rate = 0.5 * np.cos(run.t), -0.5 * np.sin(run.t)
    found = liaison.verify(PENDULUM, replace(run, q=A[:, None], v=rate[:, None]))
    assert "motion from instant to instant" in [x.name for x in found.theorems if not x.holds]


def test_inputs_of_the_run_act_between_its_instants():
    run = liaison.simulate(PENDULUM, until=5.0, every=1.0, inputs={"u": -2 * symbol("A'")})
    assert liaison.verify(PENDULUM, run).holds
    free = liaison.simulate(PENDULUM, until=5.0, every=1.0)
    assert not liaison.verify(PENDULUM, replace(free, meta=run.meta, series=run.series)).holds


def test_what_cannot_be_integrated_again_needs_near_instants():
    """A Python controller: near instants are checked over time, far ones are refused."""
    inputs = {"u": (0.5, lambda t, s: 0.1)}
    near = liaison.simulate(PENDULUM, until=2.0, every=0.002, inputs=inputs)
    found = liaison.verify(PENDULUM, near)
    assert found.holds
    assert "Python controller" in found.unchecked[0]
    far = liaison.simulate(PENDULUM, until=10.0, every=1.0, inputs=inputs)
    with pytest.raises(SimulationError, match="recorded too seldom"):
        liaison.verify(PENDULUM, far)


def test_powers_of_the_same_name_stand_beside_each_other():
    """A motor has the name of a friction, a damper that of all closures."""
    block = liaison.body("block", 2, inertia=(0.1, 0.1, 0.1))
    S = liaison.join(liaison.ground, block, "prismatic", name="S", axis="x")
    bob = liaison.body("bob", 1, inertia=(0.1, 0.1, 0.1), center=(0, 0, -0.2))
    A = liaison.join(block, bob, "revolute", name="A", axis="y")
    mechanism = liaison.mechanism(
        S, A, liaison.gravity(),
        liaison.friction(S, dry=2, static=3, name="same"), liaison.motor(S, effort=1, name="same"),
        liaison.friction(A, viscous=0.5, name="closures"),
        liaison.imposed("A", 3 * liaison.time, name="drive"), liaison.start("S", 0.0, 2.0),
    )  # fmt: skip
    run = liaison.simulate(mechanism, until=0.3, rtol=1e-10)
    verification = liaison.verify(mechanism, run)
    assert verification.holds
    work, way = verification.work, run["S"][-1]
    assert work["same"] == pytest.approx(way, rel=1e-6)
    assert work["same (2)"] == pytest.approx(-2 * way, rel=1e-6)
    assert work["closures"] == pytest.approx(-0.5 * 9 * 0.3, rel=1e-6)
    energy = run["energy"].sum(axis=1)
    others = work["same"] + work["same (2)"] + work["closures"]
    assert energy[-1] - energy[0] == pytest.approx(others + work["closures (2)"], abs=1e-6)


def test_moments_that_balance_are_measured_by_the_forces_that_make_them(examples):
    # two equal halves: the moments of what each does cancel but for rounding, and had no size
    assert liaison.verify(examples / "robots" / "gripper.urdf", until=0.01).holds


def test_a_run_of_verify_may_have_a_fixed_step(examples):
    # its own tolerances beside a fixed step were an error
    assert liaison.verify(examples / "pendulum.lsd", until=0.05, step="1 ms", method="rk4").holds


@pytest.mark.parametrize("every", [1e-3, 2e-3])
def test_instants_between_are_no_two_that_rounding_parts(examples, every):
    # a spline through two instants a rounding apart was off by as much as the momentum, and so was
    # what it was allowed to be off: every theorem over time held
    run = liaison.simulate(examples / "double_pendulum.lsd", until=0.3, every=every, rtol=1e-10)
    found = liaison.verify(examples / "double_pendulum.lsd", run)
    over = [x for x in found.theorems if x.name.endswith("over time")]
    assert found.holds
    assert len(over) == 4
    assert max(x.error for x in over) < 1e-8
    assert max(x.allowed for x in over) < 1e-5


def test_a_step_of_moreau_with_an_impact_is_left_out(examples):
    # within it velocities are on a line, from before the impact to after it
    path = examples / "contact" / "hopping_leg.lsd"
    found = liaison.verify(path, until=0.3, every=0.3e-3, step=1e-3, method="moreau")
    assert max(x.error for x in found.theorems) < 5e-4  # 5.5e-2 across it


def test_what_steps_of_a_fixed_size_miss_is_called_so(examples):
    path = examples / "contact" / "hopping_leg.lsd"
    errors = []
    for step in (2e-3, 1e-3):
        run = liaison.simulate(path, until=0.3, step=step, method="moreau")
        found = liaison.verify(path, run)
        assert not found.holds
        assert f"{step:g} s" in found.notes[0]
        assert found.notes[0] in str(found)
        errors.append(found.worst.error)
    assert 3 < errors[0] / errors[1] < 5
    assert liaison.verify(examples / "pendulum.lsd", until=0.1).notes == ()
