"""Links that fixed joints hold together, made one body: the robot moves as before."""

from fractions import Fraction

import numpy as np
import pytest

from doors.test_urdf import ONE, robot
from doors.test_write_cli import run
from liaison.equations import newton_euler
from liaison.formats import read, read_lsd, reading
from liaison.formats.lsd.write.write import write_lsd
from liaison.program import to_numpy
from liaison.program.lower import lower
from liaison.tree import span

HAND = """
<link name="hand"><inertial><origin xyz="0.1 0 0.2" rpy="0.3 0 0.1"/><mass value="0.5"/>
  <inertia ixx="0.01" iyy="0.02" izz="0.015" ixy="0.001" ixz="0" iyz="0.002"/></inertial>
  <visual><origin xyz="0 0 0.1"/><geometry><box size="1 1 1"/></geometry></visual></link>
<joint name="wrist" type="fixed"><origin xyz="0 0.3 0" rpy="0 0.7 0"/>
  <parent link="l1"/><child link="hand"/></joint>
<link name="finger"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="palm" type="fixed"><origin xyz="0.2 0 0"/>
  <parent link="hand"/><child link="finger"/></joint>
<link name="tip"><inertial><mass value="2"/>
  <inertia ixx="1" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="k" type="revolute"><origin xyz="0 0 1" rpy="1 0 0"/><axis xyz="0 1 1"/>
  <parent link="finger"/><child link="tip"/></joint>
<link name="sensor"/>
<joint name="glue" type="fixed"><parent link="tip"/><child link="sensor"/></joint>
"""
ROBOT = robot(more=HAND)
SAME = 1e-13  # of the largest entry; sums of a few products of numbers near one


def equations(mechanism):
    kernel = to_numpy(lower(newton_euler(span(mechanism))))
    rng = np.random.default_rng(1)
    at = {k: rng.uniform(-1, 1, kernel.program.sizes[f"n{k}"]) for k in "qv"}
    return [kernel(entry, **at) for entry in ("mass_matrix", "bias")]


@pytest.mark.parametrize("floating", [False, True])
def test_a_merged_robot_has_the_same_mass_matrix_and_bias(floating):
    whole, one = (read(ROBOT, floating=floating, merge_fixed=merge) for merge in (False, True))
    assert [body.name for body in one.bodies] == ["ground", "base", "l1", "tip"]
    assert {joint.name for joint in one.joints} == {"root", "j", "k"}
    for a, b in zip(equations(whole), equations(one), strict=True):
        assert np.max(np.abs(a - b)) <= SAME * np.max(np.abs(a))


def test_a_merged_inertia_is_exact():
    plain = ROBOT.replace(' rpy="0.3 0 0.1"', "").replace(' rpy="0 0.7 0"', "")
    body = read(plain, merge_fixed=True).body("l1")
    assert body.mass == Fraction(5, 2)
    assert body.com[1] == Fraction(3, 10) * Fraction(3, 5)
    assert all(isinstance(x, int | Fraction) for row in body.inertia for x in row)


def test_a_merged_body_keeps_what_is_seen_of_its_parts():
    (shape,) = read(ROBOT, merge_fixed=True).body("l1").shapes
    assert float(shape.p[1]) == pytest.approx(0.3)


def test_a_merged_robot_comes_back_through_lsd():
    mechanism = read(ROBOT, merge_fixed=True)
    assert read_lsd(write_lsd(mechanism)) == mechanism


def test_an_inertia_without_mass_is_merged_too():
    text = ROBOT.replace('<mass value="0.5"/>', '<mass value="0"/>')
    whole, one = (reading(text, merge_fixed=merge).mechanism for merge in (False, True))
    for a, b in zip(equations(whole), equations(one), strict=True):
        assert np.max(np.abs(a - b)) <= SAME * np.max(np.abs(a))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "robot.urdf"
    # a base that floats needs an inertia of its own
    path.write_text(ROBOT.replace('<link name="base"/>', f'<link name="base">{ONE}</link>'))
    return path


@pytest.mark.parametrize("verb", [["check"], ["simulate", "--until", "0.01"]])
def test_the_command_line_merges_and_frees(verb, file, capsys):
    first, *rest = verb
    options = ("--merge-fixed", "--floating", "--lenient", "--json")
    status, said, _ = run(capsys, first, file, *rest, *options)
    assert status == 0, said


def test_a_merged_robot_is_printed(file, capsys):
    assert "finger" not in run(capsys, "format", file, "--merge-fixed")[1]
    assert "finger" in run(capsys, "format", file)[1]


def test_options_of_robots_are_refused_for_lsd(tmp_path, capsys):
    path = tmp_path / "a.lsd"
    path.write_text("let a = body mass = 1, inertia = 1 end ; join earth and a with free end ;")
    for option in ("--merge-fixed", "--floating", "--lenient"):
        status, _, said = run(capsys, "simulate", path, "--until", 1, option)
        assert status == 2
        assert option in said
