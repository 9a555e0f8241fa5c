"""Robots that are rejected, each with a message that says why; never another error."""

import time

import pytest

import liaison
from doors.test_urdf_robots import BALL, LIMIT, LOOP, joint, link, robot
from liaison.errors import LiaisonError


def gear(text):
    return robot(f'<transmission name="t"><joint name="hip"/><actuator name="m">{text}</actuator>'
                 "</transmission>")  # fmt: skip


def limit(**values):
    words = " ".join(f'{k}="{v}"' for k, v in values.items())
    return robot().replace(LIMIT, f"<limit {words}/>", 1)


def ball(text):
    return robot().replace('<sphere radius="0.05"/>', text)


def loop(old, new):
    return robot(link("rocker") + joint("far", "base", "rocker") + LOOP.replace(old, new))


GROUND = {"ground": True, "floating": True}
MOTORS = {"motors": "position"}
STOPS = {"limits": True}
BAD = {
    # XML and its limits
    "no_xml": ("robot <", {}, "is not known|well-formed|suffix"),
    "open_tag": (robot()[:-8], {}, "not well-formed"),
    "two_roots": (robot() + robot(), {}, "junk"),
    "doctype": ("<!DOCTYPE robot>" + robot(), {}, "document types"),
    "entity_bomb": ('<!DOCTYPE r [<!ENTITY a "aaaa">]>' + robot(), {}, "document types"),
    "external_entity": (
        '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + robot(), {}, "document types"
    ),
    "deep": ('<robot name="r">' + "<a>" * 70 + "</a>" * 70 + "</robot>", {}, "64 deep"),
    "wrong_root": ("<sdf/>", {}, "begins with <robot>"),
    "no_name": (robot().replace(' name="r"', ""), {}, "no attribute 'name'"),
    "xinclude": (robot().replace("<axis", '<axis href="/etc/passwd"', 1), {}, "'href' of <axis>"),
    "encoding": ('<?xml version="1.0" encoding="utf-99"?>' + robot(), {}, "encoding"),
    # links and joints
    "no_links": ('<robot name="r"/>', {}, "no <link>"),
    "double_link": (robot(link("upper")), {}, "two links"),
    "double_joint": (robot(link("x") + joint("hip", "base", "x")), {}, "two joints"),
    "two_roots_of_tree": (robot(link("x")), {}, "carried by no joint"),
    "two_parents": (robot(joint("again", "base", "lower")), {}, "carried by joint"),
    "circle": (robot(joint("back", "lower", "base")), {}, "form a loop"),
    "itself": (robot(link("x") + joint("own", "x", "x")), {}, "with itself"),
    "no_child": (robot().replace('<child link="upper"/>', ""), {}, "no <child>"),
    "two_children": (robot().replace("<axis", '<child link="upper"/><axis', 1), {}, "takes one"),
    "unknown_parent": (robot().replace('"base"/><child', '"bass"/><child'), {}, "'bass'"),
    "unknown_type": (robot().replace('"revolute"', '"revolut"', 1), {}, "revolute"),
    "no_type": (robot().replace(' type="revolute"', "", 1), {}, "'type'"),
    "zero_axis": (robot().replace('"0 1 0"', '"0 0 0"', 1), {}, "axis of joint"),
    "short_axis": (robot().replace('"0 1 0"', '"0 1"', 1), {}, "takes 3"),
    "comma": (robot().replace('"0 0 -0.4"', '"0,0 0 1"', 1), {}, "decimal point"),
    "nan": (robot().replace('xyz="0 0 -0.4"', 'xyz="0 0 nan"', 1), {}, "no finite number"),
    "infinite": (robot().replace('mass value="1"', 'mass value="1e400"', 1), {}, "finite"),
    "overflow": (robot().replace('mass value="1"', 'mass value="1e999"', 1), {}, "finite"),
    "negative_mass": (robot().replace('mass value="1"', 'mass value="-1"', 1), {}, "negative"),
    "impossible": (robot().replace('izz="0.01"', 'izz="1"', 1), {}, "impossible"),
    "massless_tip": (robot(links=link("base") + link("upper") + '<link name="lower"/>'), {},
                     "no mass or inertia"),
    "quaternion": (robot().replace("<origin xyz", '<origin quat="1 0 0 0" xyz', 1), {}, "'quat'"),
    "mimic_nobody": (robot().replace("<axis", '<mimic joint="x"/><axis', 1), {}, "'x'"),
    "mimic_zero": (robot().replace("<axis", '<mimic joint="hip" multiplier="a"/><axis', 1), {},
                   "no finite number"),
    "expression": (robot().replace('mass value="1"', 'mass value="${m}"', 1), {}, "finite number"),
    # limits
    "turned_limits": (limit(lower=1, upper=-1), STOPS, "must be below"),
    "limit_word": (limit(lower="-pi", upper=1), STOPS, "no finite number"),
    "limit_empty": (limit(lower="", upper=1), {}, "no finite number"),
    "two_limits": (robot().replace(LIMIT, LIMIT + LIMIT, 1), {}, "takes one"),
    "negative_effort": (limit(effort=-3), MOTORS, "negative"),
    "negative_speed": (limit(effort=3, velocity=-1), MOTORS, "negative"),
    "bouncy_stop": (robot(), STOPS | {"restitution": 2}, "above 1"),
    "negative_restitution": (robot(), STOPS | {"restitution": -1}, "not negative"),
    # motors
    "unknown_motor": (robot(), {"motors": "hydraulic"}, "torque"),
    "gain_without_motor": (robot(), {"stiffness": 3}, "without motors"),
    "gain_of_torque": (robot(), {"motors": "torque", "damping": 3}, "without motors"),
    "stiff_velocity": (robot(), {"motors": "velocity", "stiffness": 3}, "no stiffness"),
    "negative_gain": (robot(), MOTORS | {"damping": -3}, "not negative"),
    "nan_gain": (robot(), MOTORS | {"stiffness": float("nan")}, "finite number"),
    "gear_zero": (gear("<mechanicalReduction>0</mechanicalReduction>"), {}, "never move"),
    "gear_word": (gear("<mechanicalReduction>big</mechanicalReduction>"), {}, "no finite number"),
    "gear_empty": (gear("<mechanicalReduction/>"), {}, "no finite number"),
    "rotor_negative": (gear("<rotorInertia>-1</rotorInertia>"), {}, "negative"),
    "motor_nobody": (robot('<transmission name="t"><joint name="hipp"/></transmission>'), MOTORS,
                     "'hip'"),
    "motor_unnamed": (robot("<transmission><joint/></transmission>"), {}, "'name'"),
    "control_nobody": (robot('<ros2_control><joint name="x"><command_interface name="a"/></joint>'
                             "</ros2_control>"), MOTORS, "'x'"),
    # ground
    "no_feet": (robot().replace(BALL, ""), GROUND, "no link that moves"),
    "mesh_feet": (ball('<mesh filename="a.stl"/>'), GROUND, "no link that moves"),
    "no_geometry": (ball(""), GROUND, "no link that moves"),
    "flat_ball": (ball('<sphere radius="-1"/>'), GROUND, "negative"),
    "ball_word": (ball('<sphere radius="big"/>'), GROUND, "no finite number"),
    "ball_without_radius": (ball("<sphere/>"), GROUND, "'radius'"),
    "short_box": (ball('<box size="1 2"/>'), GROUND, "takes 3"),
    "negative_friction": (robot('<gazebo reference="lower"><mu1>-1</mu1></gazebo>'), GROUND,
                          "negative"),
    "friction_word": (robot('<gazebo reference="lower"><mu1>much</mu1></gazebo>'), GROUND,
                      "no finite number"),
    "ground_friction": (robot(), GROUND | {"friction": -1}, "not negative"),
    "friction_of_nothing": (robot(), {"friction": 1}, "no ground"),
    # loops, base, files
    "loop_nobody": (loop('"lower"', '"lowr"'), {}, "'lower'"),
    "loop_type": (loop('"revolute"', '"rod"'), {}, "type of loop"),
    "loop_half": (loop("<successor", "<other").replace("</successor", "</other"), {},
                  "no <successor>"),
    "loop_axis": (loop('"0 1 0"', '"0 0 0"'), {}, "zero"),
    "loop_itself": (loop('link="rocker"', 'link="lower"'), {}, "with itself"),
    "base_nobody": (robot(), {"base": "pelvis"}, "'pelvis'"),
    "pose_nobody": (robot(), {"pose": {"elbow": 1}}, "'elbow'"),
    "pose_without_file": (robot(), {"pose": "home"}, "without an SRDF"),
    "pose_unknown": (robot(), {"pose": "home", "srdf": '<robot name="r"/>'}, "'home'"),
    "srdf_root": (robot(), {"srdf": "<group/>"}, "SRDF begins"),
    "srdf_missing": (robot(), {"srdf": "/nowhere/r.srdf"}, "cannot be read"),
    "srdf_nobody": (robot(), {"srdf": '<robot><passive_joint name="x"/></robot>'}, "'x'"),
    "srdf_bomb": (robot(), {"srdf": '<!DOCTYPE r [<!ENTITY a "a">]><robot/>'}, "document types"),
    "srdf_value": (
        robot(), {"srdf": '<robot><group_state name="a"><joint name="hip" value="x"/></group_state>'
                          "</robot>"}, "no finite number"
    ),
    "unknown_option": (robot(), {"grund": True}, "ground"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_robot_is_rejected_with_its_reason(name):
    text, options, message = BAD[name]
    with pytest.raises(LiaisonError, match=f"(?i){message}"):
        liaison.read(text if text.startswith("<") else f"<{text}", **options)


def test_there_are_many_and_they_differ():
    assert len(BAD) >= 80
    assert len({(text, str(options)) for text, options, _ in BAD.values()}) == len(BAD)


def test_many_elements_are_rejected_in_bounded_time():
    begun = time.process_time()
    with pytest.raises(LiaisonError, match="elements"):
        liaison.read('<robot name="r">' + "<link/>" * 600_000 + "</robot>")
    assert time.process_time() - begun < 3
