"""URDF: what a robot's links and joints become, and what is refused."""

import math
from fractions import Fraction
from pathlib import Path

import pytest

import liaison
from liaison.errors import LiaisonError, ReadingWarning, TextError
from liaison.expr import PI
from liaison.formats import read, read_urdf, reading_of_urdf
from liaison.formats.urdf.links import exact_angle
from liaison.model import Coupling, Fixed, Free, Gravity, JointFriction, Planar, Prismatic, Revolute
from liaison.spatial import number
from liaison.tree import span

ONE = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def robot(
    link: str = ONE,
    joint: str = '<parent link="base"/><child link="l1"/><axis xyz="0 0 1"/>',
    *,
    kind: str = "revolute",
    more: str = "",
) -> str:
    return (
        f'<robot name="r">\n<link name="base"/>\n<link name="l1">{link}</link>\n'
        f'<joint name="j" type="{kind}">{joint}</joint>\n{more}</robot>'
    )


def with_mass(value: str) -> str:
    return robot(ONE.replace('<mass value="1"/>', f'<mass value="{value}"/>'))


def with_inertia(xx: str, yy: str, zz: str) -> str:
    moments = f'ixx="{xx}" iyy="{yy}" izz="{zz}"'
    return robot(ONE.replace('ixx="1" iyy="1" izz="1"', moments))


def chain(n: int) -> str:
    links = "".join(f'<link name="k{i}">{ONE}</link>\n' for i in range(n))
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="k{i}"/><child link="k{i + 1}"/>'
        f'<origin xyz="0 0 1"/><axis xyz="1 0 0"/></joint>\n'
        for i in range(n - 1)
    )
    return f'<robot name="r">\n{links}{joints}</robot>'


# ---- the kinds that real readers were tried with: most of them accept several of these

REFUSED = {
    "binary": ("\0\1\2", "NUL character"),
    "comma_decimal": (with_mass("1,5"), "decimal point, not a comma"),
    "deep": ("<robot name='r'>" + "<a>" * 200_000, "nested more than 64 deep"),
    "dup_link": (robot(more='<link name="l1"/>'), "'l1' is given to two links"),
    "empty": ("", "the text is empty"),
    "inf_inertia": (with_inertia("inf", "1", "1"), "'inf', which is no finite number"),
    "loop": (
        robot(more='<joint name="k" type="fixed"><parent link="l1"/><child link="base"/></joint>'),
        "form a loop and hang on nothing",
    ),
    "missing_child": (
        robot(joint='<parent link="base"/><child link="zz"/>'),
        "no link is named 'zz'",
    ),
    "nan_mass": (with_mass("nan"), "'nan', which is no finite number"),
    "neg_inertia": (with_inertia("-1", "1", "1"), "principal moments ≥ 0 fails"),
    "neg_mass": (with_mass("-1"), "the mass of link 'l1' is -1 kg"),
    "no_inertial_leaf": (robot(link=""), "which has no mass or inertia"),
    "self_parent": (
        robot(joint='<parent link="l1"/><child link="l1"/><axis xyz="0 0 1"/>'),
        "connects link 'l1' with itself",
    ),
    "text_mass": (with_mass("abc"), "'abc', which is no finite number"),
    "triangle": (with_inertia("1", "1", "5"), "5 > 1 + 1 = 2 kg·m²"),
    "trunc": (robot()[:150], "not well-formed XML"),
    "zero_axis": (robot(joint='<parent link="base"/><child link="l1"/><axis xyz="0 0 0"/>'),
                  "the axis of joint 'j' is zero"),
    "zero_mass_leaf": (with_inertia("0", "0", "0").replace('mass value="1"', 'mass value="0"'),
                       "which has no mass or inertia"),
    "bomb": ('<!DOCTYPE r [<!ENTITY a "x">]><robot name="&a;"/>', "entities are not read"),
    "xxe": ('<!DOCTYPE r [<!ENTITY x SYSTEM "/etc/passwd">]><robot name="&x;"/>',
            "entities are not read"),
    "no robot name": ("<robot><link name='a'/></robot>", "has no attribute 'name'"),
    "no robot": ("<model/>", "begins with <robot>"),
    "no link": ("<robot name='r'/>", "has no <link>"),
    "two roots": (robot(more='<link name="l2"/>'), "are carried by no joint"),
    "two parents": (
        robot(more='<joint name="k" type="fixed"><parent link="base"/><child link="l1"/></joint>'),
        "carried by joint 'j' and again by joint 'k'",
    ),
    "unknown type": (robot(kind="revolut"), "did you mean 'revolute'?"),
    "no child": (robot(joint='<parent link="base"/>'), "has no <child>"),
    "two origins": (robot(joint='<parent link="base"/><child link="l1"/><origin/><origin/>'),
                    "has 2 elements <origin>"),
    "mimics nobody": (
        robot(joint='<parent link="base"/><child link="l1"/><mimic joint="zz"/>'),
        "no joint is named 'zz'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_a_bad_robot_is_refused_with_file_and_line(kind):
    text, words = REFUSED[kind]
    with pytest.raises(LiaisonError) as refused:
        read_urdf(text, file="r.urdf")
    assert words in str(refused.value)
    assert str(refused.value).startswith("r.urdf, line ")


def test_the_control_is_accepted():
    mechanism = read_urdf(robot())
    assert span(mechanism).nv == 1


def test_a_mesh_that_leaves_the_folder_is_named_and_not_opened():
    mesh = '<visual><geometry><mesh filename="../../etc/passwd"/></geometry></visual>'
    reading = reading_of_urdf(robot(ONE + mesh))
    assert reading.mechanism.body("l1").shapes[0].file == "../../etc/passwd"
    assert any("leaves the model's folder" in note for note in reading.notes)


def test_a_chain_of_3000_links_is_read():
    mechanism = read_urdf(chain(3000))
    assert len(mechanism.bodies) == 3001


# ---- meaning


@pytest.mark.parametrize(
    ("kind", "type_"),
    [("fixed", Fixed), ("revolute", Revolute), ("continuous", Revolute),
     ("prismatic", Prismatic), ("floating", Free), ("planar", Planar)],
)  # fmt: skip
def test_every_joint_type_is_known(kind, type_):
    assert isinstance(read_urdf(robot(kind=kind)).joint("j").type, type_)


def test_the_joint_turns_about_its_axis_at_its_origin():
    joint = read_urdf(
        robot(
            joint='<parent link="base"/><child link="l1"/><axis xyz="0 2 0"/>'
            '<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'
        )
    ).joint("j")
    assert joint.predecessor.p == (1, 2, 3)
    assert [number(row[2]) for row in joint.predecessor.R] == pytest.approx([-1, 0, 0], abs=1e-15)
    assert [row[2] for row in joint.successor.R] == [0, 1, 0]


def test_roll_pitch_yaw_turn_about_fixed_axes_in_this_order():
    joint = read_urdf(
        robot(
            kind="fixed",
            joint='<parent link="base"/><child link="l1"/><origin rpy="0.1 0.2 0.3"/>',
        )
    ).joint("j")
    c, s = [math.cos(x) for x in (0.1, 0.2, 0.3)], [math.sin(x) for x in (0.1, 0.2, 0.3)]
    # first column and last row of R_z(0.3) R_y(0.2) R_x(0.1)
    assert [number(row[0]) for row in joint.predecessor.R] == pytest.approx(
        [c[2] * c[1], s[2] * c[1], -s[1]]
    )
    assert [number(x) for x in joint.predecessor.R[2]] == pytest.approx(
        [-s[1], c[1] * s[0], c[1] * c[0]]
    )


@pytest.mark.parametrize(
    ("text", "exact"),
    [("1.5707963267948966", PI / 2), ("-0.785398163397448", -PI / 4),
     ("1.5708", Fraction("1.5708")), ("0", Fraction(0)), ("12345", Fraction(12345))],
)  # fmt: skip
def test_angles_near_twelfths_of_pi_are_taken_exact(text, exact):
    assert exact_angle(Fraction(text)) == exact or exact_angle(Fraction(text)) is exact


def test_inertia_is_turned_into_the_axes_of_the_link():
    inertial = (
        '<inertial><origin xyz="0 0 1" rpy="1.5707963267948966 0 0"/><mass value="2"/>'
        '<inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    body = read_urdf(robot(inertial)).body("l1")
    assert body.com == (0, 0, 1)
    assert [number(body.inertia[i][i]) for i in range(3)] == pytest.approx([1, 2.5, 2])


def test_damping_friction_and_mimic_become_forces_and_couplings():
    mechanism = read_urdf(
        robot(
            joint='<parent link="base"/><child link="l1"/><dynamics damping="0.5" friction="0.1"/>',
            more=f'<link name="l2">{ONE}</link><joint name="k" type="prismatic"><parent link="l1"/>'
            '<child link="l2"/><mimic joint="j" multiplier="-2" offset="0.3"/></joint>',
        )
    )
    gravity, friction = mechanism.forces
    assert gravity == Gravity((0, 0, Fraction(-981, 100)))
    assert friction == JointFriction("friction of j", "j", Fraction(1, 2), Fraction(1, 10))
    assert mechanism.constraints == (Coupling("k mimics j", "k", -2, "j", Fraction(3, 10)),)


def test_shapes_and_colours_are_kept():
    visual = (
        '<visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry>'
        '<material name="blue"/></visual><visual><geometry><sphere radius="0.5"/></geometry>'
        '<material name="own"><color rgba="1 0 0 1"/></material></visual>'
    )
    blue = '<material name="blue"><color rgba="0 0 1 1"/></material>'
    box, ball = read_urdf(robot(ONE + visual, more=blue)).body("l1").shapes
    assert (box.x, box.z, box.p, box.color) == (1, 3, (0, 0, 1), "#0000ff")
    assert (ball.radius, ball.color) == (Fraction(1, 2), "#ff0000")


def test_what_is_not_used_is_noted():
    text = robot(more='<gazebo reference="l1"/><transmission/><transmission/>').replace(
        "<axis", '<limit effort="1"/><axis'
    )
    notes = reading_of_urdf(text).notes
    assert any("limits of 1 joint are kept, but not enforced" in note for note in notes)
    assert any("<transmission> in <robot> is not used (2 times)" in note for note in notes)


def test_rounded_inertias_are_moved_and_noted():
    reading = reading_of_urdf(with_inertia("1", "1", "2.0005"))
    moments = [number(reading.mechanism.body("l1").inertia[i][i]) for i in range(3)]
    assert moments[2] <= moments[0] + moments[1] + 1e-12
    assert moments == pytest.approx([1, 1, 2], abs=1e-3)
    assert any("nearest possible" in note for note in reading.notes)


def test_impossible_inertias_are_repaired_only_when_told_so():
    text = with_inertia("1", "1", "5")
    reading = reading_of_urdf(text, strict=False)
    moments = [number(reading.mechanism.body("l1").inertia[i][i]) for i in range(3)]
    assert moments[2] == pytest.approx(moments[0] + moments[1])
    assert any("'l1' is impossible" in note for note in reading.notes)
    assert reading_of_urdf(robot(link=""), strict=False).notes


def test_a_text_is_told_from_a_path_by_its_first_character(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(robot(), encoding="utf-8")
    assert read(path) == read(str(path)) == read(robot())
    assert read(path).joint("j").place.file == str(path)


@pytest.mark.peers
def test_every_readable_robot_of_example_robot_data_is_accepted():
    data = pytest.importorskip("example_robot_data")
    folder = Path(data.__file__).parent
    files = sorted(folder.parents[4].rglob("*.urdf")) or sorted(folder.rglob("*.urdf"))
    refused = []
    for path in files:
        try:
            read(path, strict=False)
        except LiaisonError:
            refused.append(path.name)
    # a link that is missing, and a robot without a name: no reader accepts them
    assert len(files) > 60
    assert set(refused) <= {"falcon.urdf", "ur3.urdf"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (robot(kind="floating").replace("<axis", '<dynamics damping="1"/><axis'), "dynamics"),
        (robot(kind="planar").replace("<axis", '<dynamics friction="1"/><axis'), "dynamics"),
        (robot().replace("<axis", '<origin quat_xyzw="0 0 0 1"/><axis'), "quat_xyzw"),
    ],
)
def test_what_would_change_the_motion_is_refused_or_noted(text, word):
    with pytest.raises(TextError, match=f"{word}.* changes the motion"):
        reading_of_urdf(text)
    assert any(word in note for note in reading_of_urdf(text, strict=False).notes)


def test_attributes_of_dynamics_that_robots_carry_are_noted():
    text = robot().replace("<axis", '<dynamics damping="0.003" K="7000" mu_viscous="16"/><axis')
    notes = reading_of_urdf(text).notes
    assert "'mu_viscous' of <dynamics> is not used" in notes
    assert "'K' of <dynamics> is not used" in notes


def test_attributes_nobody_knows_are_noted():
    text = robot().replace('<link name="base"/>', '<link name="base" wobble="1"/>')
    assert "'wobble' of <link> is not used" in reading_of_urdf(text).notes


def test_every_verb_gives_the_notes(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(robot(more="<gazebo/>"), encoding="utf-8")
    for verb in (liaison.mobility, liaison.derive, liaison.check):
        with pytest.warns(ReadingWarning, match="<gazebo> in <robot> is not used"):
            verb(path)


def test_a_link_whose_visual_cannot_be_drawn_shows_its_collision_shapes():
    link = (
        '<robot name="r"><link name="a"><visual><geometry><mesh filename="a.dae"/></geometry>'
        "</visual><collision><geometry>{}</geometry></collision></link></robot>"
    )
    content = reading_of_urdf(link.format('<box size="1 2 3"/>'))
    (shape,) = content.mechanism.body("a").shapes
    assert isinstance(shape, liaison.Box)
    assert any("drawn by their collision shapes" in x for x in content.notes)
    kept = reading_of_urdf(link.format('<mesh filename="b.dae"/>'))
    assert kept.mechanism.body("a").shapes[0].file == "a.dae"
