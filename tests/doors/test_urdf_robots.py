"""Robots from URDF with what they have besides links and joints: stops, motors, rotors, feet."""

from fractions import Fraction

import numpy as np
import pytest

import liaison
from doors.test_examples import EXAMPLES
from doors.test_write_cli import run as run_command
from liaison.formats.urdf.read import reading_of_urdf
from liaison.model import Actuator, Contact, DryFriction, JointFriction, Servo, Unilateral

LINK = """<link name="{name}"><inertial><origin xyz="{at}"/><mass value="{mass}"/>
<inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>{more}</link>"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{more}</joint>"""
LIMIT = '<limit lower="-0.5" upper="1" effort="20" velocity="4"/>'
BALL = """<collision><origin xyz="0 0 -0.4"/>
<geometry><sphere radius="0.05"/></geometry></collision>"""


def link(name, mass=1, at="0 0 -0.2", more=""):
    return LINK.format(name=name, mass=mass, at=at, more=more)


def joint(name, parent, child, kind="revolute", xyz="0 0 0", rpy="0 0 0", axis="0 1 0", more=LIMIT):
    return JOINT.format(
        name=name, parent=parent, child=child, kind=kind, xyz=xyz, rpy=rpy, axis=axis, more=more
    )


def robot(more="", joints=None, links=None):
    """A base, an upper and a lower arm with a ball at its end."""
    links = links or link("base", 3, "0 0 0") + link("upper") + link("lower", more=BALL)
    joints = joints or joint("hip", "base", "upper") + joint(
        "knee", "upper", "lower", xyz="0 0 -0.4"
    )
    return f'<robot name="r">{links}{joints}{more}</robot>'


def of(mechanism, kind):
    return [x for x in (*mechanism.forces, *mechanism.contacts) if isinstance(x, kind)]


def test_limits_are_stops_where_they_are_asked_for():
    plain = reading_of_urdf(robot())
    assert not of(plain.mechanism, Unilateral)
    assert any("kept, but not enforced" in x for x in plain.notes)
    m = liaison.read(robot(), limits=True, restitution=0.5)
    names = [x.name for x in of(m, Unilateral)]
    assert names == [f"{x} {side} stop" for x in ("hip", "knee") for side in ("lower", "upper")]
    run = liaison.simulate(liaison.with_starts(m, {"hip": 0.9, "hip'": 8.0}), until=1.0)
    assert run["hip"].max() < 1 + 1e-9
    assert run["knee"].min() > -0.5 - 1e-9
    assert any(x.what == "impact" for x in run.events)
    assert not of(liaison.read(robot(), motors="torque", limits=False), Unilateral)


def test_a_range_of_no_length_has_no_stops_and_an_empty_one_is_rejected():
    none = robot(joints=joint("hip", "base", "upper", more='<limit lower="0" upper="0"/>')
                 + joint("knee", "upper", "lower", more='<limit effort="1"/>'))  # fmt: skip
    content = reading_of_urdf(none, limits=True)
    assert not of(content.mechanism, Unilateral)
    assert any("'hip' has the range 0 … 0" in x for x in content.notes)
    with pytest.raises(liaison.ModelError, match="lower stop must be below"):
        liaison.read(none.replace('upper="0"', 'upper="-1"'), limits=True)


def test_a_joint_starts_inside_its_range():
    text = robot().replace('lower="-0.5"', 'lower="0.5"', 1)
    content = reading_of_urdf(text, limits=True)
    assert {x.label: x.value for x in content.mechanism.starts} == {"hip": Fraction(505, 1000)}
    assert any("'hip' starts at 0.505" in x for x in content.deduced)
    assert not reading_of_urdf(text).mechanism.starts


@pytest.mark.parametrize(
    ("kind", "options", "law"),
    [
        ("torque", {}, lambda u, q, v: u),
        ("velocity", {}, lambda u, q, v: 50 * (u - v)),
        ("velocity", {"damping": 2}, lambda u, q, v: 2 * (u - v)),
        ("position", {}, lambda u, q, v: 100 * (u - q) - 5 * v),
        ("position", {"stiffness": 30}, lambda u, q, v: 30 * (u - q) - 1.5 * v),
        ("position", {"stiffness": 30, "damping": 1}, lambda u, q, v: 30 * (u - q) - v),
    ],
)
def test_motors_follow_what_they_are_asked_to_within_their_limits(kind, options, law):
    content = reading_of_urdf(robot(), motors=kind, limits=False, **options)
    m, bare = content.mechanism, liaison.read(robot())
    word = {"torque": "effort", "velocity": "speed", "position": "target"}[kind]
    assert [x.name for x in m.inputs] == [f"hip.{word}", f"knee.{word}"]
    rng = np.random.default_rng(3)
    for q, v, u in rng.uniform(-1, 1, (12, 3)):
        state = {"hip": q, "hip'": 3 * v, "knee": 0.2, "knee'": 0.0}
        near = {"torque": 30 * u, "velocity": 3 * v + 0.6 * u, "position": q + 0.5 * u}[kind]
        inputs = {f"hip.{word}": near, f"knee.{word}": {"target": 0.2}.get(word, 0)}
        wish = law(near, q, 3 * v)
        top, bottom = min(20, 20 * (1 - 3 * v / 4)), max(-20, -20 * (1 + 3 * v / 4))
        torque = min(max(wish, bottom), top)
        M = np.asarray(liaison.mass_matrix(bare, state))
        free = np.asarray(liaison.forward_dynamics(bare, state))
        expected = free + np.linalg.solve(M, [torque, 0])
        assert liaison.forward_dynamics(m, state, inputs=inputs) == pytest.approx(expected)
    assert any("motor of 'hip'" in x for x in content.deduced)
    assert any("is not given" in x for x in content.notes) == (
        kind != "torque" and len(options) < (2 if kind == "position" else 1)
    )


def test_motors_hold_the_pose_in_which_a_robot_starts():
    m = liaison.read(robot(), motors="position", pose={"h*": 0.3, "knee": 0.4})
    assert {x.name: x.default for x in m.inputs} == {
        "hip.target": Fraction(3, 10),
        "knee.target": Fraction(2, 5),
    }
    assert liaison.check(m).start.state["knee"] == pytest.approx(0.4)


GEARED = """
<transmission name="t"><type>transmission_interface/SimpleTransmission</type>
<joint name="hip"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
<actuator name="m"><mechanicalReduction>-40</mechanicalReduction>
<rotorInertia>0.0001</rotorInertia></actuator></transmission>
"""
DRAKE = """
<transmission name="t"><type>SimpleTransmission</type><joint name="hip"/><actuator name="m">
<drake:gear_ratio value="40"/><drake:rotor_inertia value="0.0001"/></actuator></transmission>
"""
ROS2 = """
<ros2_control name="c" type="system"><hardware><plugin>p</plugin></hardware>
<joint name="hip"><command_interface name="effort"/></joint>
<joint name="knee"><state_interface name="position"/></joint>
<transmission name="t"><plugin>q</plugin>
<actuator name="m" role="a"><rotor_inertia>0.0001</rotor_inertia></actuator>
<joint name="hip" role="b"><mechanical_reduction>40</mechanical_reduction></joint>
</transmission></ros2_control>
"""
SRDF = """<robot name="r"><passive_joint name="knee"/><rotor_params>
<joint name="hip" mass="0.0001" gear_ratio="40"/></rotor_params>
<group_state name="bent" group="g"><joint name="hip" value="0.2"/><joint name="knee" value="0.7"/>
</group_state><disable_collisions link1="base" link2="lower"/></robot>"""


@pytest.mark.parametrize(
    ("more", "srdf"), [(GEARED, ""), (DRAKE, ""), (ROS2, ""), ("", SRDF)], ids=str
)
def test_gears_and_rotors_of_every_convention(more, srdf):
    m = liaison.read(robot(more), motors="torque", srdf=srdf)
    assert [x.name for x in of(m, Servo)] == ["motor of hip"]
    state = {"hip": 0.3, "knee": 0.5}
    grown = np.asarray(liaison.mass_matrix(m, state))
    plain = np.asarray(liaison.mass_matrix(liaison.read(robot()), state))
    assert grown - plain == pytest.approx(np.diag([0.16, 0]), abs=1e-12)


def test_a_pose_of_the_srdf_file_and_what_is_not_used_of_it(tmp_path):
    path = tmp_path / "r.srdf"
    path.write_text(SRDF, encoding="utf-8")
    content = reading_of_urdf(robot(), srdf=path, pose="bent")
    assert {x.label: float(x.value) for x in content.mechanism.starts} == {"hip": 0.2, "knee": 0.7}
    assert any("<disable_collisions>" in x for x in content.notes)


def test_a_transmission_of_two_joints_is_noted():
    text = robot('<transmission name="d"><joint name="hip"/><joint name="knee"/></transmission>')
    content = reading_of_urdf(text, motors="torque")
    assert any("couples 'hip', 'knee'" in x for x in content.notes)
    assert len(of(content.mechanism, Servo)) == 2


LOOP = """<loop name="C" type="revolute"><predecessor link="lower"><origin xyz="0 0 -0.4"/>
</predecessor><successor link="rocker"><origin xyz="0 0 -0.5" rpy="0.3 0 0"/></successor>
<axis xyz="0 1 0"/></loop>"""
CONSTRAINT = """<constraint name="C" type="revolute"><parent link="lower"/>
<parent_origin xyz="0 0 -0.4"/><parent_axis xyz="0 1 0"/><child link="rocker"/>
<child_origin xyz="0 0 -0.5" rpy="0.3 0 0"/><child_axis xyz="0 1 0"/></constraint>"""


def test_loops_in_three_places_are_one():
    extra = link("rocker") + joint("far", "base", "rocker", xyz="0.5 0 0")
    one = reading_of_urdf(robot(extra + LOOP)).mechanism
    assert one == reading_of_urdf(robot(extra + CONSTRAINT)).mechanism
    assert (
        one == reading_of_urdf(robot(extra), srdf=f'<robot name="r">{CONSTRAINT}</robot>').mechanism
    )
    assert len(one.joints) == 5


def test_a_robot_stands_on_its_ball_and_the_ground_carries_its_weight():
    content = reading_of_urdf(
        robot(), floating=True, ground=True, motors="position", stiffness=400, damping=20,
        friction=0.6,
    )  # fmt: skip
    m = content.mechanism
    (foot,) = of(m, Contact)
    assert foot.kind == "ball"
    assert foot.friction.sliding == Fraction(3, 5) or float(foot.friction.sliding) == 0.6
    start = liaison.check(m).start.state
    assert start["root.z"] == pytest.approx(0.4 + 0.4 + 0.05, abs=1e-8)
    run = liaison.simulate(m, until=0.05, method="moreau", step=1e-3)
    assert run["root.z"][-1] == pytest.approx(0.85, abs=1e-3)
    fallen = liaison.simulate(
        liaison.read(robot(), floating=True), until=0.05, start={"root.z": 0.85}
    )
    assert fallen["root.z"][-1] == pytest.approx(0.85 - 9.81 * 0.05**2 / 2, abs=1e-6)


@pytest.mark.parametrize(
    ("geometry", "rpy", "below"),
    [
        ('<sphere radius="0.1"/>', "0.3 0.2 0", 0.1),
        ('<box size="0.2 0.4 0.6"/>', "0 0 0", 0.3),
        ('<box size="0.2 0.4 0.6"/>', "1.5707963267948966 0 0", 0.2),
        ('<cylinder radius="0.1" length="0.6"/>', "0 0 0", 0.3),
        (
            '<cylinder radius="0.1" length="0.6"/>',
            "0 0.5235987755982988 0",
            0.05 + 0.3 * 3**0.5 / 2,
        ),
        ('<capsule radius="0.1" length="0.6"/>', "0 1.5707963267948966 0", 0.1),
    ],
)
def test_a_free_base_starts_so_high_that_its_lowest_shape_touches(geometry, rpy, below):
    shape = (
        f'<collision><origin xyz="0 0 0.1" rpy="{rpy}"/><geometry>{geometry}</geometry></collision>'
    )
    links = link("base", at="0 0 0", more=shape)
    text = f'<robot name="r">{links}</robot>'
    m = liaison.read(text, floating=True, ground=0.25)
    start = liaison.check(m).start.state
    assert start["root.z"] == pytest.approx(0.25 + below - 0.1, abs=2e-9)
    run = liaison.simulate(m, until=0.01, method="moreau", step=1e-3)
    assert run["root.z"][-1] == pytest.approx(start["root.z"], abs=1e-4)  # falling: 5e-4


@pytest.mark.parametrize(
    ("more", "mark", "mu"),
    [
        ("", "", 0.8),
        ('<gazebo reference="lower"><mu1>0.3</mu1><mu2>0.3</mu2></gazebo>', "", 0.3),
        ('<gazebo reference="lower"><mu1>1.5</mu1></gazebo>', "", 0.8),
        ("", '<contact_coefficients mu="0.2" kp="1" kd="1"/>', 0.2),
    ],
)
def test_friction_is_the_smaller_one_of_the_link_and_the_ground(more, mark, mu):
    text = robot(more).replace("</collision>", f"{mark}</collision>")
    (foot,) = of(liaison.read(text, ground=True), Contact)
    assert float(foot.friction.sliding) == mu


def test_a_mesh_that_cannot_touch_is_named_and_a_ground_that_nothing_touches_rejected():
    mesh = '<collision><geometry><mesh filename="a.stl"/></geometry></collision>'
    both = robot().replace("</link><link", f"{mesh}</link><link", 2)
    content = reading_of_urdf(both, ground=True, floating=True)
    assert any(
        "<mesh> does not touch the ground: links 'base', 'upper'" in x for x in content.notes
    )
    with pytest.raises(liaison.ModelError, match="no link that moves has a collision shape"):
        liaison.read(robot().replace(BALL, ""), ground=True)


def test_another_base_is_held_and_the_robot_moves_alike():
    held = liaison.read(robot(), base="lower")
    (root,) = [x for x in held.joints if x.name == "root"]
    assert root.successor.body == "lower"
    options = {"floating": True, "gravity": (0, 0, 0), "motors": "torque", "limits": False}
    state = {"hip": 0.3, "knee": 0.4}
    torques = {"hip.effort": 2.0, "knee.effort": -1.0}
    first, second = (
        dict(
            zip(
                [x.name for x in liaison.span(m).velocity_labels()],
                liaison.forward_dynamics(m, state, inputs=torques),
                strict=True,
            )
        )
        for m in (liaison.read(robot(), base=x, **options) for x in ("", "lower"))
    )
    labels = ("hip'", "knee'")
    assert [first[x] for x in labels] == pytest.approx([second[x] for x in labels])


def test_dry_friction_holds_where_it_sticks():
    text = robot().replace(LIMIT, LIMIT + '<dynamics damping="0.1" friction="30"/>')
    assert len(of(liaison.read(text), JointFriction)) == 2
    m = liaison.with_starts(liaison.read(text, sticking=True), {"hip": 0.5})
    assert len(of(m, DryFriction)) == 2
    run = liaison.simulate(m, until=0.5)
    assert run["hip"][-1] == pytest.approx(0.5, abs=1e-12)
    assert not of(m, Actuator)


def test_packages_are_below_their_root(tmp_path):
    mesh = '<visual><geometry><mesh filename="{}" scale="1 -1 1"/></geometry></visual>'
    text = robot(links=link("base") + link("upper") + link("lower", more=mesh)).replace
    (tmp_path / "pack").mkdir()
    inner = liaison.read(text("{}", "package://pack/a.stl"), package_root=tmp_path)
    shape = inner.body("lower").shapes[0]
    assert shape.file == str((tmp_path / "pack" / "a.stl").resolve())
    assert shape.scale == (1, -1, 1)
    rooted = liaison.read(text("{}", "package:///pack/a.stl"), package_root=tmp_path)
    assert rooted.body("lower").shapes[0].file == shape.file
    for path in ("../a.stl", "pack/../../a.stl", "/../a.stl", "//../etc/a.stl"):
        with pytest.raises(liaison.TextError, match="leaves the root"):
            liaison.read(text("{}", f"package://{path}"), package_root=tmp_path)
    (tmp_path / "pack" / "out").symlink_to(tmp_path.parent)
    with pytest.raises(liaison.TextError, match="leaves the root"):
        liaison.read(text("{}", "package://pack/out/a.stl"), package_root=tmp_path)
    plain = liaison.read(text("{}", "package://pack/a.stl"))
    assert plain.body("lower").shapes[0].file == "package://pack/a.stl"


def test_merged_links_keep_their_feet_and_motors():
    text = robot(link("sole", more=BALL) + joint("weld", "lower", "sole", "fixed", more=""))
    options = {"floating": True, "ground": True, "motors": "torque"}
    whole, merged = (liaison.read(text, merge_fixed=x, **options) for x in (False, True))
    assert len(merged.bodies) == len(whole.bodies) - 1
    assert {x.first.body for x in of(merged, Contact)} == {"lower"}
    assert whole.inputs == merged.inputs


CUBE = (
    "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 3))
    + """
f 1 2 4 3
f 5 7 8 6
f 1 5 6 2
f 3 4 8 7
f 1 3 7 5
f 2 6 8 4
"""
)


def test_a_mesh_touches_by_its_hull_mirrored_and_scaled(tmp_path):
    (tmp_path / "brick.obj").write_text(CUBE, encoding="utf-8")
    shape = """<collision><origin xyz="0 0 0.1"/><geometry>
    <mesh filename="brick.obj" scale="0.1 0.1 -0.1"/></geometry></collision>"""
    path = tmp_path / "r.urdf"
    path.write_text(f'<robot name="r">{link("base", at="0 0 0", more=shape)}</robot>')
    m = liaison.read(path, floating=True, ground=True)
    (foot,) = of(m, Contact)
    assert foot.kind == "hull"
    start = liaison.check(m).start.state["root.z"]
    assert start == pytest.approx(0.3 - 0.1, abs=2e-9)
    run = liaison.simulate(m, until=0.01, method="moreau", step=1e-3)
    assert run["root.z"][-1] == pytest.approx(start, abs=1e-4)
    path.write_text(path.read_text().replace("brick.obj", "../brick.obj"))
    with pytest.raises(liaison.ModelError, match="no link that moves"):
        liaison.read(path, floating=True, ground=True)


def test_a_bad_mesh_is_named_and_does_not_touch(tmp_path):
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    mesh = '<collision><geometry><mesh filename="flat.obj"/></geometry></collision>'
    path = tmp_path / "r.urdf"
    path.write_text(robot().replace("</link><link", f"{mesh}</link><link", 1), encoding="utf-8")
    notes = liaison.reading(path, floating=True, ground=True).notes
    assert any("flat.obj" in x for x in notes)
    assert any("<mesh> does not touch the ground: links 'base'" in x for x in notes)


def test_the_command_line_has_the_options_of_robots(tmp_path, capsys):
    path = tmp_path / "r.urdf"
    path.write_text(robot(), encoding="utf-8")
    words = ["--floating", "--ground", "--motors", "position", "--stiffness", "50", "--damping"]
    status, text, _ = run_command(
        capsys, "check", path, *words, "2", "--pose", "h*=10 deg", "--ground-friction", "0.5",
        "--explain",
    )  # fmt: skip
    assert status == 0
    assert "motor of 'hip': input 'hip.target' [rad], stiffness 50, damping 2" in text
    assert "hip = 0.174533 rad" in text
    status, text, _ = run_command(
        capsys, "simulate", path, "--motors", "torque", "--set", "hip.effort=2 N*m", "--no-limits",
        "--until", "0.1", "--json",
    )  # fmt: skip
    assert status == 0
    assert '"status": "done"' in text
    for wrong in (["--motors", "steam"], ["--pose", "hip"], ["--stiffness", "3"], ["--base", "x"]):
        assert run_command(capsys, "check", path, *wrong)[0] == 1
    lsd = EXAMPLES / "pendulum.lsd"
    assert run_command(capsys, "check", lsd, "--floating")[0] == 2
