"""Robots on more points than they need: symmetric ones move so, and the law does not depend on how
many velocities there are besides."""

import numpy as np
import pytest

import liaison

G = 9.81
RADIUS, AXLE, MU, EFFORT = 0.08, 0.2, 0.8, 2.0
STEP = {"method": "moreau", "step": 1e-3}


def link(name, mass, inertia, shape="", at="0 0 0", turn="0 0 0"):
    xx, yy, zz = inertia
    moments = f'ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"'
    inertial = f'<inertial><mass value="{mass}"/><inertia {moments}/></inertial>'
    body = f'<collision><origin xyz="{at}" rpy="{turn}"/><geometry>{shape}</geometry></collision>'
    return f'<link name="{name}">{inertial}{body if shape else ""}</link>'


def drive(spinners):
    """A base on two driven cylinders and two casters that slip; and light wheels in the air."""
    quarter = "1.5707963267948966 0 0"
    text = '<robot name="drive"><link name="base"/>' + link("deck", 12, (0.1, 0.2, 0.3))
    text += '<joint name="on" type="fixed"><parent link="base"/><child link="deck"/></joint>'
    for name, y in (("left", AXLE), ("right", -AXLE)):
        wheel = f'<cylinder radius="{RADIUS}" length="0.04"/>'
        text += link(f"{name}_wheel", 1, (1e-3, 1.6e-3, 1e-3), wheel, turn=quarter)
        text += (
            f'<joint name="{name}" type="continuous"><parent link="deck"/>'
            f'<child link="{name}_wheel"/><origin xyz="0 {y} 0"/><axis xyz="0 1 0"/></joint>'
            f'<transmission name="{name} gear"><joint name="{name}"/><actuator name="m"/>'
            "</transmission>"
        )
    for name, x in (("front", 0.2), ("back", -0.2)):
        text += link(name, 0.1, (1e-4, 1e-4, 1e-4), '<sphere radius="0.03"/>')
        text += (
            f'<joint name="{name} leg" type="fixed"><parent link="deck"/><child link="{name}"/>'
            f'<origin xyz="{x} 0 -0.05"/></joint>'
            f'<gazebo reference="{name}"><mu1>0</mu1></gazebo>'
        )
    for k in range(spinners):
        text += link(f"e{k}", 1e-6, (1e-9, 1e-9, 1e-9)) + (
            f'<joint name="x{k}" type="continuous"><parent link="deck"/><child link="e{k}"/>'
            '<axis xyz="0 0 1"/></joint>'
        )
    return liaison.read(text + "</robot>", floating=True, ground=True, motors="torque", friction=MU)


@pytest.mark.parametrize("spinners", [0, 6], ids=["8 velocities", "14 velocities"])
@pytest.mark.parametrize("way", [1, -1], ids=["ahead", "on the spot"])
@pytest.mark.parametrize("options", [STEP, {}], ids=["moreau", "events"])
def test_a_drive_has_traction_and_keeps_its_symmetry(spinners, way, options):
    efforts = {"left.effort": EFFORT * way, "right.effort": EFFORT}
    run = liaison.simulate(drive(spinners), until=0.05, inputs=efforts, **options)
    assert run.status == "done"
    left, right = run["left'"][-1], run["right'"][-1]
    assert left == pytest.approx(way * right, rel=1e-4)
    if way > 0:
        # both wheels roll: (M + 2 J/r²) v̇ = 2 τ/r
        mass = 12 + 2 + 0.2 + 2 * 1.6e-3 / RADIUS**2
        assert run["root.vx"][-1] == pytest.approx(2 * EFFORT / RADIUS / mass * 0.05, rel=2e-3)
        assert right * RADIUS == pytest.approx(run["root.vx"][-1], rel=1e-6)
        assert abs(run["root.wz"][-1]) < 1e-6
    else:
        assert abs(run["root.vx"][-1]) < 1e-4
        # of two points of a wheel one may slip a little: less than the half length of it turns by
        turn = run["root.wz"][-1] * AXLE
        assert abs(right * RADIUS - turn) < run["root.wz"][-1] * 0.02 * 1.01


def test_how_many_velocities_there_are_does_not_change_the_law():
    efforts = {"left.effort": -EFFORT, "right.effort": EFFORT}
    few, many = (
        liaison.simulate(drive(n), until=0.1, inputs=efforts, **STEP)["root.wz"] for n in (4, 5)
    )
    np.testing.assert_allclose(many[-1], few[-1], rtol=2e-3)
