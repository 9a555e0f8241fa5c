"""Numbers among the options of robots' readers: of any kind, texts with units, or errors."""

from decimal import Decimal

import numpy as np
import pytest

import liaison
from doors.test_urdf_robots import BALL, LIMIT, joint, link, robot
from doors.test_write_cli import run as run_command
from liaison.errors import ArgumentError, ModelError
from liaison.formats.urdf.read import reading_of_urdf
from liaison.model import Servo

SLIDE = robot(joints=joint("hip", "base", "upper") + joint("rail", "upper", "lower", "prismatic"))
PLANAR = robot(joints=joint("hip", "base", "upper") + joint("raft", "upper", "lower", "planar"))
READERS = (liaison.reading, reading_of_urdf)
NUMBERS = [float("nan"), float("inf"), None, True, [0.1], {}, np.array([0.1]), object()]
"""What is no number, or none that is finite."""


def starts(text=SLIDE, **options):
    return {x.label: float(x.value) for x in liaison.read(text, **options).starts}


@pytest.mark.parametrize("x", ["20 deg", np.float32(0.25), np.array(0.25), Decimal("0.25"), 1])
def test_poses_take_texts_with_units_and_numbers_of_any_kind(x):
    angle = np.radians(20) if isinstance(x, str) else float(x)
    assert starts(pose={"hip": x})["hip"] == pytest.approx(angle, rel=1e-15)


def test_units_of_poses_are_those_of_their_joints():
    assert starts(pose={"rail": "20 mm"})["rail"] == 0.02
    with pytest.raises(ArgumentError, match=r"pose of joint 'hip' is '20 mm'; it must be in rad"):
        liaison.read(SLIDE, pose={"hip": "20 mm"})
    with pytest.raises(ArgumentError, match="joint 'rail'"):
        liaison.read(SLIDE, pose={"*": "20 deg"})


@pytest.mark.parametrize("x", [*NUMBERS, "fast", "20"], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("read", READERS)
def test_what_is_no_position_is_an_error_that_names_the_joint(read, x):
    with pytest.raises(ArgumentError, match="pose of joint 'hip'"):
        read(SLIDE, pose={"hip": x})


def test_units_of_poses_on_the_command_line_are_those_of_their_joints(tmp_path, capsys):
    (tmp_path / "r.urdf").write_text(SLIDE)
    code, out, _ = run_command(capsys, "check", tmp_path / "r.urdf", "--pose", "rail=20 mm")
    assert (code, "rail = 0.02 m" in out) == (0, True)
    code, _, message = run_command(capsys, "check", tmp_path / "r.urdf", "--pose", "hip=20 mm")
    assert (code, "it must be in rad" in message) == (1, True)


def test_poses_say_what_they_take_where_a_joint_has_several_coordinates():
    with pytest.raises(ModelError, match=r"planar and has the coordinates raft\.x") as error:
        liaison.read(PLANAR, pose={"raft": 1})
    assert "start={'raft.x'" in error.value.hint
    fixed = SLIDE.replace('"prismatic"', '"fixed"')
    with pytest.raises(ModelError, match="fixed and does not move"):
        liaison.read(fixed, pose={"rail": 1})
    assert starts(PLANAR, pose={"*": 0.1}) == {"hip": 0.1}


def gains(text, **options):
    motors = [x for x in liaison.read(text, **options).forces if isinstance(x, Servo)]
    return [float(x.stiffness) for x in motors], [float(x.damping) for x in motors]


def test_gains_take_texts_with_units_and_numbers_of_any_kind():
    stiff, damped = gains(robot(), motors="position", stiffness="20 N*m/rad", damping=np.array(0.5))
    assert stiff == [20, 20]
    assert damped == [0.5, 0.5]
    assert gains(robot(), motors="velocity", damping="500 mN*m*s/rad")[1] == [0.5, 0.5]


def test_the_unit_of_a_gain_is_that_of_every_joint_with_a_motor():
    with pytest.raises(ArgumentError, match="stiffness of the motor of 'rail'"):
        liaison.read(SLIDE, motors="position", stiffness="20 N*m/rad")


OPTIONS = [
    ("stiffness", {"motors": "position"}), ("damping", {"motors": "velocity"}),
    ("friction", {"ground": True}), ("restitution", {"limits": True}), ("ground", {}),
]  # fmt: skip


@pytest.mark.parametrize(("word", "more"), OPTIONS)
@pytest.mark.parametrize("read", READERS)
def test_what_is_no_number_is_an_error_that_names_the_option(read, word, more):
    bad = [*(x for x in NUMBERS if x is not None), "fast", "20", "20 kg"]
    for x in bad if word != "ground" else [x for x in bad if x is not True]:
        with pytest.raises(ArgumentError, match=word):
            read(robot(), **more, **{word: x})


def test_a_ground_takes_a_height_with_its_unit():
    # its lowest point, 0.85 m below the base, touches at 5 cm
    assert starts(robot(), ground="5 cm", floating=True)["root.z"] == pytest.approx(0.9, abs=1e-8)


def links(*names):
    return link("base", 3, "0 0 0") + "".join(link(x, more=BALL) for x in names)


def test_joints_that_mimic_each_other_in_a_circle_are_an_error_that_names_them():
    mimic = '<mimic joint="{}" multiplier="2"/>'
    ends = [("hip", "base", "a"), ("knee", "a", "b"), ("toe", "b", "c")]

    def text(**follow):
        more = {x: mimic.format(y) for x, y in follow.items()}
        joints = "".join(joint(*end, more=more.get(end[0], LIMIT)) for end in ends)
        return robot(links=links("a", "b", "c"), joints=joints)

    for strict in (True, False):
        with pytest.raises(ModelError, match="'knee' mimics 'toe', 'toe' mimics 'knee'"):
            liaison.read(text(hip="knee", knee="toe", toe="knee"), strict=strict)
    assert len(liaison.read(text(hip="knee", knee="toe")).constraints) == 2


def test_check_says_that_a_pose_is_beyond_a_stop():
    text = str(liaison.check(liaison.read(robot(), limits=True, pose={"hip": "3 rad"})))
    assert "hip upper stop: relation hip − 1 ≤ 0, 2 rad INSIDE at the start" in text
