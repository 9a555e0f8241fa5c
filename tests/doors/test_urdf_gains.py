"""Gains that motors of URDF files have by themselves: by the inertia that their joints move."""

import numpy as np
import pytest

import liaison
from doors.test_urdf_robots import BALL, joint, link, robot
from liaison.formats.urdf.read import reading_of_urdf
from liaison.model import Servo

ROTOR = """<transmission name="t{name}"><joint name="{name}"/>
<actuator name="a"><mechanicalReduction>9</mechanicalReduction>
<rotorInertia>1e-3</rotorInertia></actuator></transmission>"""


def branched(more=""):
    """A hip, a knee and a toe that mimics it, and a slide beside them."""
    joints = (
        joint("hip", "base", "upper", axis="1 2 0", rpy="0.2 0.1 0.5")
        + joint("knee", "upper", "lower", xyz="0.1 0 -0.4")
        + joint("toe", "lower", "foot", xyz="0 0 -0.4",
                more='<limit effort="1"/><mimic joint="knee" multiplier="-2" offset="0.1"/>')
        + joint("tail", "base", "slider", kind="prismatic", axis="1 0 1", xyz="-0.3 0 0")
    )  # fmt: skip
    masses = {"base": 3, "upper": 1, "lower": 0.8, "foot": 0.2, "slider": 0.5}
    links = "".join(link(x, m) for x, m in masses.items())
    return robot(more, joints, links)


@pytest.mark.parametrize("where", [{}, {"floating": True}, {"floating": True, "base": "lower"}])
@pytest.mark.parametrize("more", ["", "".join(ROTOR.format(name=x) for x in ("hip", "tail"))])
def test_the_damping_is_bounded_by_what_a_joint_moves(where, more):
    options = {"motors": "position", "stiffness": 10**6, "limits": False}
    pose = {"hip": 0.3, "knee": -0.4, "tail": 0.1}
    m = liaison.read(branched(more), pose=pose, **options, **where)
    bare = liaison.read(branched(more), pose=pose, **where)
    tree = liaison.span(bare)
    names = [x.name for x in liaison.newton_euler(tree).labels["v"]]
    M = np.asarray(liaison.mass_matrix(bare, liaison.assemble(tree)))
    free = [k for k, name in enumerate(names) if name != "toe'"]
    N = np.eye(len(names))[:, free]  # the toe moves −2 times as fast as the knee
    N[names.index("toe'"), free.index(names.index("knee'"))] = -2
    inverse = np.linalg.inv(N.T @ M @ N)
    motors = [x for x in m.forces if isinstance(x, Servo)]
    assert len(motors) == (2 if more else 3)
    for motor in motors:
        at = free.index(names.index(f"{motor.measure.label}'"))
        moved = 1 / inverse[at, at]
        assert float(motor.damping) == pytest.approx(moved / 0.002, rel=5e-3)  # three digits


def leg(mass, effort):
    """A body on a rail with a leg of two slender links, each of a thirtieth of its mass."""
    base = link("base", mass, "0 0 0", BALL.replace("-0.4", "0"))
    slender = 'ixx="0.02" iyy="0.03" izz="0.01"', 'ixx="{0}" iyy="{0}" izz="{0}"'
    legs = link("upper", mass / 30) + link("lower", mass / 30, more=BALL)
    legs = legs.replace(slender[0], slender[1].format(mass / 30 * 0.4**2 / 12))
    rail = joint("rail", "world", "base", kind="prismatic", axis="0 0 1", more="")
    text = robot(links=base + legs).replace('effort="20"', f'effort="{effort}"')
    return text.replace("</robot>", f'<link name="world"/>{rail}</robot>')


SRDF = '<robot name="r"><passive_joint name="rail"/></robot>'


@pytest.mark.parametrize(("mass", "effort"), [(0.3, 3), (3, 30), (100, 1000)])
def test_light_and_heavy_legs_stand_by_gains_of_their_own(mass, effort):
    pose = {"hip": 0.5, "knee": -1.0, "rail": 0.76}
    options = {"ground": True, "motors": "position", "srdf": SRDF, "limits": False, "pose": pose}
    content = reading_of_urdf(leg(mass, effort), **options)
    run = liaison.simulate(content.mechanism, until=1.0, method="moreau", step=1e-3)
    assert run.status == "done"
    assert np.ptp(run["rail"][run.t > 0.8]) < 1e-3  # it is at rest
    assert 0.6 < run["rail"][-1] < 0.8
    assert any("so that steps of 1 ms follow" in x for x in content.notes)


def test_a_joint_without_mass_has_damping_by_its_stiffness():
    text = robot(links=link("base") + link("upper") + '<link name="lower"/>')
    m = reading_of_urdf(text, motors="position", strict=False).mechanism
    knee = next(x for x in m.forces if isinstance(x, Servo) and "knee" in x.name)
    assert knee.damping == knee.stiffness / 20
