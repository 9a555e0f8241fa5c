"""The robots of `examples/robots`: they stand, close, hop and move as mechanics says."""

import numpy as np
import pytest

import liaison
from doors.test_examples import EXAMPLES

ROBOTS = EXAMPLES / "robots"
G = 9.81


def quadruped(**options):
    return liaison.read(
        ROBOTS / "quadruped.urdf", floating=True, ground=True, motors="position",
        srdf=ROBOTS / "quadruped.srdf", pose="stand", **options,
    )  # fmt: skip


def leg(**options):
    return liaison.read(
        ROBOTS / "parallel_leg.urdf", ground=True, motors="position",
        srdf=ROBOTS / "parallel_leg.srdf", pose="crouch", **options,
    )  # fmt: skip


def test_a_delta_moves_its_plate_without_turning_it():
    targets = {"target1": 0.2, "target2": 0.6, "target3": 0.8}
    run = liaison.simulate(ROBOTS / "delta.lsd", until=0.5, inputs=targets)
    for part in ("F.qx", "F.qy", "F.qz"):
        assert np.abs(run[part]).max() < 1e-8
    plate = np.array([run[f"F.{x}"][-1] for x in "xyz"])
    assert np.linalg.norm(plate[:2]) > 0.02
    for i in range(3):
        c, s = np.cos(i * 2 * np.pi / 3), np.sin(i * 2 * np.pi / 3)
        a = run[f"A{i + 1}"][-1]
        elbow = np.array([0.12 + 0.25 * np.cos(a), 0.0, -0.25 * np.sin(a)])
        turned = np.array([c * elbow[0], s * elbow[0], elbow[2]])
        held = plate + np.array([0.05 * c, 0.05 * s, 0.0])
        assert np.linalg.norm(turned - held) == pytest.approx(0.5, abs=1e-8)


def test_a_gripper_keeps_its_fingers_parallel_and_stops_at_its_range():
    m = liaison.read(ROBOTS / "gripper.urdf", motors="torque")
    assert [x.name for x in m.inputs] == ["left_drive.effort"]
    assert liaison.mobility(liaison.read(ROBOTS / "gripper.urdf")).first_order == 1
    run = liaison.simulate(m, until=0.4, inputs={"left_drive.effort": 1.0})
    assert run["left_swing"] == pytest.approx(run["left_drive"], abs=1e-8)
    assert run["right_drive"] == pytest.approx(-run["left_drive"], abs=1e-8)
    assert run["left_drive"][-1] == pytest.approx(0.9, abs=1e-9)
    assert any(x.what == "impact" for x in run.events)


def test_a_quadruped_stands():
    run = liaison.simulate(quadruped(), until=3.0, method="moreau", step=1e-3)
    still = run.t > 2.5
    for name in ("root.x", "root.y", "root.z", "front_left_knee", "rear_right_pitch"):
        assert np.ptp(run[name][still]) < 1e-6
    assert 0.28 < run["root.z"][-1] < 0.2987
    left, right = (run[f"front_{x}_knee"][-1] for x in ("left", "right"))
    assert left == pytest.approx(right, abs=1e-6)


@pytest.mark.slow
def test_a_quadruped_stands_for_a_minute():
    run = liaison.simulate(quadruped(), until=60.0, method="moreau", step=1e-3)
    still = run.t > 5
    for name in ("root.x", "root.y", "root.z", *(x for x in run.labels["q"][7:])):
        assert np.ptp(run[getattr(name, "name", name)][still]) < 1e-6


def energy_of_leg(q, foot=0.02):
    """U of the leg where both thighs lean by q, its foot on the ground."""
    reach = 0.03 + 0.12 * np.sin(q)
    h = foot + 0.12 * np.cos(q) + np.sqrt(0.2**2 - reach**2)
    knee = h - 0.12 * np.cos(q)
    masses = 2 * h + 2 * 0.3 * (h - 0.06 * np.cos(q)) + 2 * 0.15 * (knee + foot) / 2
    return G * masses


def test_a_leg_of_five_bars_stands_where_virtual_work_says():
    run = liaison.simulate(leg(stiffness=60, damping=3, friction=0), until=4.0)
    q = run["rear_hip"][-1]
    assert run["front_hip"][-1] == pytest.approx(-q, abs=1e-6)
    slope = (energy_of_leg(q + 1e-6) - energy_of_leg(q - 1e-6)) / 2e-6
    assert 2 * 60 * (0.8 - q) == pytest.approx(slope, rel=1e-7)


def hopping(until):
    u = 0.9 - 0.6 * liaison.maximum(liaison.sin(20 * liaison.t), 0)
    run = liaison.simulate(
        leg(stiffness=150, damping=1),
        until=until,
        inputs={"front_hip.target": -u, "rear_hip.target": u},
    )
    assert run.status == "done"
    balance = run.meta["energy_balance"]
    assert balance["missed"] <= 1e-8 * balance["turned_over"]
    return run, [x.what for x in run.events].count("impact")


def test_a_leg_hops_and_gains_no_energy_from_nothing():
    run, hops = hopping(1.0)
    assert hops >= 3
    assert run["height"].max() > 0.4
    assert run["position_residual"].max() < 1e-8


@pytest.mark.slow
def test_a_leg_hops_a_thousand_times():
    assert hopping(262.0)[1] >= 1000


def test_every_robot_has_its_picture_on_the_page():
    docs = EXAMPLES.parent / "docs"
    page = (docs / "robots.md").read_text(encoding="utf-8")
    for path in [*ROBOTS.glob("*.urdf"), *ROBOTS.glob("*.lsd")]:
        assert f"(../examples/robots/{path.name})" in page
        assert f"(robots/{path.stem}.png)" in page
        assert (docs / "robots" / f"{path.stem}.png").stat().st_size > 1000
