"""Where robots of URDF files start: loops that close, joints that mimic, poses; and bad names."""

import math
import warnings

import pytest

import liaison
from doors.test_urdf_robots import BALL, joint, link, robot
from doors.test_write_cli import run as run_command
from liaison.errors import LiaisonError, ReadingWarning
from liaison.formats.urdf.read import reading_of_urdf

MIMIC = '<mimic joint="hip" multiplier="-0.5" offset="0.02"/>'
FOUR = """<robot name="four">{links}
<joint name="j1" type="continuous"><parent link="base"/><child link="l1"/>
<axis xyz="0 1 0"/></joint>
<joint name="j2" type="continuous"><parent link="l1"/><child link="l2"/>
<origin xyz="0 0 .4"/><axis xyz="0 1 0"/></joint>
<joint name="j3" type="continuous"><parent link="base"/><child link="l3"/>
<origin xyz=".6 0 0" rpy="0 0.7 0"/><axis xyz="0 1 0"/></joint>
<loop name="C" type="{kind}"><predecessor link="l2"><origin xyz="0.6 0 0"/></predecessor>
<successor link="l3"><origin xyz="{x} 0 {z}"/></successor><axis xyz="0 1 0"/></loop></robot>"""
AT = (-0.4 * math.sin(0.7), 0.4 * math.cos(0.7))
"""Where the loop closes on l3: its own angle is 0.7 there, all others are 0."""


def four(kind="revolute", x=AT[0], z=AT[1]):
    links = "".join(link(name, at="0.1 0 0.2") for name in ("base", "l1", "l2", "l3"))
    return FOUR.format(links=links, kind=kind, x=x, z=z)


def mimicking(mimic=MIMIC, more=""):
    """The knee follows the hip."""
    joints = joint("hip", "base", "upper") + joint(
        "knee", "upper", "lower", xyz="0 0 -0.4", more=mimic
    )
    return robot(joints=joints, more=more)


def start_of(text, **options):
    m = liaison.read(text, **options)
    return liaison.check(m).start.state


@pytest.mark.parametrize("kind", ["revolute", "continuous", "spherical", "cylindrical"])
def test_a_loop_that_closes_as_it_is_written_starts_there(kind):
    m = liaison.read(four(kind))
    begin = liaison.simulate(m, until=1e-6).state(0)
    for name in {x.name for x in begin.labels["q"]} & {"j1", "j2", "j3"}:
        assert abs(begin[name]) < 1e-12, name
    if kind == "revolute":
        assert begin["C"] == pytest.approx(0.7, abs=1e-12)


def test_three_digits_of_a_loop_move_it_by_no_more():
    begin = start_of(four(x=round(AT[0], 3), z=round(AT[1], 3)))
    assert abs(begin["j1"]) < 2e-3
    assert abs(begin["C"] - 0.7) < 4e-3


def test_a_file_whose_loop_is_open_says_which_joints_start_elsewhere(tmp_path, capsys):
    path = tmp_path / "four.urdf"
    path.write_text(four(z=AT[1] + 0.1), encoding="utf-8")
    with pytest.warns(ReadingWarning, match=r"loops open.*j1 = .*, not 0") as noted:
        liaison.simulate(path, until=1e-6)
    assert len(noted) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        liaison.simulate(path, until=1e-6, guess={"j1": 0.05, "j2": 0, "j3": -0.1})
        path.write_text(four(), encoding="utf-8")
        liaison.simulate(path, until=1e-6)
    path.write_text(four(z=AT[1] + 0.1), encoding="utf-8")
    status, _, errors = run_command(capsys, "simulate", path, "--until", "1e-6")
    assert status == 0
    assert errors.count("loops open") == 1


def test_a_joint_that_mimics_starts_where_the_other_puts_it():
    begin = start_of(mimicking())
    assert (begin["hip"], begin["knee"]) == (0.0, 0.02)
    begin = start_of(mimicking(), pose={"hip": 0.3})
    assert (begin["hip"], begin["knee"]) == (0.3, pytest.approx(-0.13, abs=1e-15))


def test_a_pose_of_a_joint_that_mimics_moves_the_other():
    state = '<group_state name="s" group="g"><joint name="knee" value="0.3"/></group_state>'
    srdf = f'<robot name="r">{state}</robot>'
    for begin in (
        start_of(mimicking(), pose={"knee": 0.3}),
        start_of(mimicking(), pose="s", srdf=srdf),
        start_of(mimicking(), pose={"knee": 0.3, "hip": -0.56}),
    ):
        assert begin["hip"] == pytest.approx(-0.56, abs=1e-15)
        assert begin["knee"] == pytest.approx(0.3, abs=1e-15)


def test_a_pose_that_the_mimic_contradicts_is_an_error_with_both_numbers():
    with pytest.raises(liaison.ModelError, match=r"'knee' at 0\.9.*'hip'.* at 0\.8 .*-0\.38"):
        liaison.read(mimicking(), pose={"hip": 0.8, "knee": 0.9})
    still = MIMIC.replace("-0.5", "0")
    with pytest.raises(liaison.ModelError, match=r"'knee' at 0\.9"):
        liaison.read(mimicking(still), pose={"knee": 0.9})
    assert start_of(mimicking(still), pose={"knee": 0.02})["hip"] == 0.0


def test_a_pattern_poses_joints_that_move_by_themselves():
    begin = start_of(mimicking(), pose={"*": 0.1})
    assert (begin["hip"], begin["knee"]) == (0.1, pytest.approx(-0.03, abs=1e-15))
    assert start_of(mimicking(), pose={"k*": 0.1})["hip"] == pytest.approx(-0.16, abs=1e-15)


def test_two_shapes_in_one_geometry_are_an_error():
    two = BALL.replace("</geometry>", '<box size="1 1 1"/></geometry>')
    for text in (robot().replace(BALL, two),
                 robot().replace(BALL, two.replace("collision>", "visual>"))):  # fmt: skip
        with pytest.raises(liaison.TextError, match="<sphere>, <box>; it takes one"):
            liaison.read(text)


@pytest.mark.parametrize(
    "more",
    [
        '<disable_collisions link1="upper" link2="zz"/>',
        '<disable_collisions link1="zz" link2="upper"/>',
        '<passive_joint name="zz"/>',
        '<group_state name="s" group="g"><joint name="zz" value="1"/></group_state>',
        '<group_state name="s" group="g"><joint name="zz" value="1 2"/></group_state>',
        '<rotor_params><joint name="zz" mass="1" gear_ratio="2"/></rotor_params>',
    ],
)
def test_names_of_an_srdf_file_that_are_not_there_are_errors(more):
    with pytest.raises(liaison.NamingError, match="zz"):
        liaison.read(robot(), srdf=f'<robot name="r">{more}</robot>')


def test_an_srdf_file_of_another_robot_is_noted():
    notes = liaison.reading(robot(), srdf='<robot name="other"/>').notes
    assert any("'other'" in x and "'r'" in x for x in notes)


@pytest.mark.parametrize(
    ("mesh", "why"),
    [
        ('filename="flat.obj"', "3 points"),
        ('filename="cut.stl"', "damaged"),
        ('filename="nan.obj"', "nan"),
        ('filename="good.obj" scale="0 1 1"', "scale"),
        ('filename="gone.stl"', "no file"),
        ('filename="../good.obj"', "outside the folder"),
        ('filename="package://a/good.obj"', "package_root"),
    ],
)
@pytest.mark.parametrize("option", ["ground", "self_collision"])
def test_what_is_wrong_with_the_only_mesh_is_said(tmp_path, mesh, why, option):
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
    (tmp_path / "flat.obj").write_text(f"{corners}f 1 2 3\n", encoding="utf-8")
    (tmp_path / "good.obj").write_text(f"{corners}v 0 0 1\nf 1 2 3\nf 1 2 4\n", encoding="utf-8")
    (tmp_path / "nan.obj").write_text(f"{corners}v 0 0 nan\nf 1 2 4\n", encoding="utf-8")
    (tmp_path / "cut.stl").write_bytes(bytes(90))
    path = tmp_path / "r.urdf"
    shape = f"<collision><geometry><mesh {mesh}/></geometry></collision>"
    path.write_text(robot().replace(BALL, shape), encoding="utf-8")
    if option == "ground":
        with pytest.raises(liaison.ModelError, match="no link that moves") as error:
            liaison.read(path, ground=True)
        said = str(error.value)
    else:
        said = "\n".join(liaison.reading(path, self_collision=True).notes)
    assert why in said
    assert "link 'lower'" in said
    assert mesh.split('"')[1].rpartition("/")[2] in said


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('effort="20"', 'effort="-5"', "'effort' of <limit> of joint 'hip' is -5"),
        ('velocity="4"', 'velocity="-4"', "'velocity' of <limit> of joint 'hip' is -4"),
        ("<limit ", '<dynamics damping="-1"/><limit ', "'damping' of <dynamics> of joint 'hip'"),
        ("<limit ", '<dynamics friction="-1"/><limit ', "'friction' of <dynamics> of joint 'hip'"),
    ],
)
def test_a_negative_limit_or_friction_is_an_error_with_its_element(old, new, words):
    text = robot().replace(old, new)
    for options in ({}, {"motors": "position"}):
        with pytest.raises(liaison.ModelError, match=words):
            reading_of_urdf(text, **options)
    assert any(words in x for x in reading_of_urdf(text, strict=False, motors="torque").notes)


# ---- places of free bases in SRDF files


def state(*values, more=""):
    listed = "".join(f'<joint name="{name}" value="{x}"/>' for name, x in values)
    return f'<robot name="r">{more}<group_state name="s">{listed}</group_state></robot>'


LEAN = 0.3
TURNED = f"0.1 0.2 1.5 0 {math.sin(LEAN / 2)} 0 {math.cos(LEAN / 2)}"  # about y, w last
VIRTUAL = '<virtual_joint name="free" type="floating" parent_frame="world" child_link="base"/>'


@pytest.mark.parametrize(("name", "more"), [("root_joint", ""), ("free", VIRTUAL)])
def test_a_free_base_starts_where_a_group_state_puts_it(name, more):
    srdf = state((name, TURNED), ("hip", "0.2"), more=more)
    m = liaison.read(robot(), floating=True, srdf=srdf, pose="s")
    start = {x.label: float(x.value) for x in m.starts}
    place = [start[f"root.{x}"] for x in ("x", "y", "z", "qw", "qx", "qy", "qz")]
    assert place == pytest.approx([0.1, 0.2, 1.5, math.cos(LEAN / 2), 0, math.sin(LEAN / 2), 0])
    assert start["hip"] == 0.2
    X = liaison.pose(m, "base", start)
    assert X[0][2] == pytest.approx(math.sin(LEAN))  # z of the base leans towards x


def test_a_leaning_base_stands_on_its_lowest_shape():
    srdf = state(("root_joint", TURNED), ("hip", "0.2"))
    m = liaison.read(robot(), floating=True, ground=True, srdf=srdf, pose="s")
    start = {x.label: float(x.value) for x in m.starts}
    thigh, shank = LEAN + 0.2, LEAN + 0.2
    assert start["root.z"] == pytest.approx(
        0.4 * math.cos(thigh) + 0.4 * math.cos(shank) + 0.05, abs=1e-8
    )


def test_a_held_base_and_values_of_other_kinds_are_noted():
    content = reading_of_urdf(robot(), srdf=state(("root_joint", TURNED)), pose="s")
    note = "7 values of joint 'root_joint' in pose 's' not used: the base is held"
    assert note in content.notes
    assert content.mechanism == reading_of_urdf(robot()).mechanism
    content = reading_of_urdf(robot(), srdf=state(("hip", "0.1 0.2 0.3")), pose="s")
    assert "3 values of joint 'hip' in pose 's' not used" in content.notes


def test_a_cosine_and_a_sine_are_an_angle():
    srdf = state(("hip", f"{math.cos(2.5)} {math.sin(2.5)}"))
    (start,) = liaison.read(robot(), srdf=srdf, pose="s").starts
    assert float(start.value) == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("hip", "1 1", "no cosine and sine"),
        ("root_joint", "0 0 0 0 0 0 2", "quaternion of length 2"),
        ("elbow", "1", "no joint is named 'elbow'"),
        ("hip", "0 x", "no finite number"),
    ],
)
def test_a_bad_value_of_a_pose_is_rejected(name, value, message):
    with pytest.raises(LiaisonError, match=message):
        liaison.read(robot(), floating=True, srdf=state((name, value)), pose="s")


def test_joints_of_a_pose_that_are_not_there_are_noted_where_reading_is_lenient():
    srdf = state(("elbow", "1"), ("hip", "0.2"))
    content = reading_of_urdf(robot(), srdf=srdf, pose="s", strict=False)
    assert any("names joints that are not there: elbow" in x for x in content.notes)
    assert [float(x.value) for x in content.mechanism.starts] == [0.2]
