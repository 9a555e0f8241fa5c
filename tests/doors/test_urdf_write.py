"""A mechanism written as URDF moves as it did; what URDF cannot say is named."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import liaison
from doors.test_urdf_robots import joint, link, robot
from liaison.equations import newton_euler
from liaison.errors import TextError
from liaison.expr import collector_paused, symbol
from liaison.formats import read, reading_of_urdf
from liaison.formats.urdf.links import Limits
from liaison.formats.urdf.write import write_urdf
from liaison.model import (
    Armature,
    Body,
    Coupling,
    Free,
    Gravity,
    Joint,
    JointFriction,
    Marker,
    Mechanism,
    Parameter,
    Planar,
    Revolute,
    Spherical,
)
from liaison.program import to_numpy
from liaison.program.lower import lower
from liaison.spatial import product, rotation_about, rotation_onto_z
from liaison.tree import span
from samples import draw, relative_difference

EXAMPLES = Path(__file__).parents[2] / "examples"
SAME = 1e-12
"""Relative difference of M and h that the roll, pitch and yaw of 17 digits explain."""
SAID = ("Revolute", "Prismatic", "Fixed")


def kernel(mechanism: Mechanism, cuts: tuple[str, ...] = ()):
    bare = replace(mechanism, constraints=(), forces=(Gravity(),), starts=(), events=(), outputs=())
    with collector_paused():
        return to_numpy(lower(newton_euler(span(bare, cuts=cuts))))


def numbers(found, state: dict[str, float], entries=("mass_matrix", "bias")) -> list[np.ndarray]:
    """M and h in the order of sorted labels."""
    labels = {k: [label.name for label in found.program.labels[k]] for k in "qv"}
    at = {k: np.array([state[name] for name in labels[k]]) for k in "qv"}
    order = np.argsort(labels["v"])
    n = len(order)
    M = found("mass_matrix", **at).reshape(n, n)[np.ix_(order, order)]
    return [M, found("bias", **at)[order]]


def states(found, count: int = 5):
    """States at random by label, quaternions of unit length."""
    rng = np.random.default_rng(1)
    names = [label.name for k in "qv" for label in found.program.labels[k]]
    for _ in range(count):
        state = dict(zip(names, rng.uniform(-1, 1, len(names)).tolist(), strict=True))
        for name in [x for x in names if x.endswith(".qw")]:
            parts = [name[:-1] + x for x in "wxyz"]
            size = np.linalg.norm([state[x] for x in parts])
            state |= {x: state[x] / size for x in parts}
        yield state


def moves_alike(one: Mechanism, other: Mechanism) -> None:
    a, b = kernel(one), kernel(other)
    for state in states(a):
        for x, y in zip(numbers(a, state), numbers(b, state), strict=True):
            assert relative_difference(x, y) < SAME


@pytest.mark.parametrize("seed", range(12))
def test_a_drawn_tree_moves_alike(seed):
    kinds = {"kinds": SAID, "loops": (0, 0), "loads": False, "relations": False}
    mechanism = draw(seed, **kinds).mechanism
    moves_alike(mechanism, reading_of_urdf(write_urdf(mechanism)).mechanism)


def test_a_free_body_moves_alike():
    F, M = Marker("ground", ((0, -1, 0), (1, 0, 0), (0, 0, 1)), (1, 2, 3)), Marker("a", p=(0, 0, 1))
    free = Mechanism("m", two_links().bodies[1:2], (Joint("F", Free(), F, M),))
    moves_alike(free, reading_of_urdf(write_urdf(free)).mechanism)


def test_a_body_on_a_slanted_plane_moves_alike():
    axis, turn = rotation_onto_z((1, 2, 3)), rotation_about((1, 1, 0), Fraction(7, 10))
    F, M = Marker("ground", axis), Marker("a", product(turn, axis), (1, 0, 0))
    body = Body("a", 1, (0, 0, 1), ((1, 0, 0), (0, 2, 0), (0, 0, 2)))
    plane = Mechanism("m", (body,), (Joint("P", Planar(), F, M),))
    moves_alike(plane, reading_of_urdf(write_urdf(plane)).mechanism)


@pytest.mark.parametrize("name", ["arm7.urdf", "double_pendulum.lsd", "pendulum.lsd"])
def test_an_example_moves_alike(name):
    mechanism = read(EXAMPLES / name)
    moves_alike(mechanism, reading_of_urdf(write_urdf(mechanism)).mechanism)


@pytest.mark.parametrize("name", ["four_bar.lsd", "slider_crank.lsd"])
def test_a_loop_comes_back_through_the_extension(name):
    mechanism = read(EXAMPLES / name)
    again = reading_of_urdf(write_urdf(mechanism)).mechanism
    (loop,) = [x.name for x in again.joints if x.name in {j.name for j in mechanism.joints}][-1:]
    one, other = kernel(mechanism, (loop,)), kernel(again, (loop,))
    assert [x.name for x in one.program.labels["q"]] == [x.name for x in other.program.labels["q"]]
    for state in states(one):
        at = {k: np.array([state[x.name] for x in one.program.labels[k]]) for k in "qv"}
        assert np.allclose(one("closure", **at), other("closure", **at), atol=1e-12)


def test_links_held_by_fixed_joints_can_be_made_one():
    text = (EXAMPLES / "arm7.urdf").read_text()
    apart = reading_of_urdf(text).mechanism
    together = reading_of_urdf(text, merge_fixed=True).mechanism
    assert len(together.bodies) < len(apart.bodies)
    moves_alike(apart, together)


def two_links(**parts) -> Mechanism:
    bodies = [Body(n, 1, (0, 0, 1), ((1, 0, 0), (0, 1, 0), (0, 0, 1))) for n in ("a", "b")]
    joints = (
        Joint("A", Revolute(), Marker("ground"), Marker("a", p=(0, 1, 0))),
        Joint("B", Revolute(), Marker("b", p=(1, 0, 0)), Marker("a")),
    )
    return Mechanism("two", tuple(bodies), parts.pop("joints", joints), **parts)


def test_limits_friction_and_couplings_come_back():
    mechanism = two_links(
        constraints=(Coupling("c", "B", Fraction(1, 2), "A", 3),),
        forces=(JointFriction("f", "A", Fraction(1, 10), 2),),
    )
    limits = {"A": Limits(Fraction(-1), Fraction(2), Fraction(30), Fraction(4))}
    found = reading_of_urdf(write_urdf(mechanism, limits=limits))
    assert found.limits == limits
    (tie,) = found.mechanism.constraints
    assert (tie.coordinate, tie.ratio, tie.other, tie.offset) == ("B", Fraction(1, 2), "A", 3)
    (friction,) = [x for x in found.mechanism.forces if isinstance(x, JointFriction)]
    assert (friction.coordinate, friction.viscous, friction.dry) == ("A", Fraction(1, 10), 2)


def test_what_urdf_cannot_say_is_named():
    notes: list[str] = []
    text = write_urdf(read(EXAMPLES / "four_bar.lsd"), notes=notes)
    varied = "that 'a', 'b', 'c', 'd' may vary: the values are written"
    assert notes == ["gravity [0.0, 0.0, -9.81]", varied, "4 starts", "1 events", "1 outputs"]
    assert all(note in text for note in notes)


def test_rotors_come_back_as_transmissions():
    joints = joint("hip", "base", "upper") + joint("knee", "upper", "lower", xyz="0 0 -0.4")
    names = [("tail", "slider"), ("toe", "foot")]
    mimic = '<mimic joint="knee" multiplier="-2"/>'
    joints += joint("tail", "base", "slider", kind="prismatic", xyz="-0.3 0 0")
    joints += joint("toe", "lower", "foot", xyz="0 0 -0.4", more=mimic)
    links = "".join(link(x) for x in ("base", "upper", "lower", *(y for _, y in names)))
    plain = read(robot(joints=joints, links=links))
    rotors = (Armature("a", "knee", 0.3), Armature("b", "knee", Fraction(1, 8)),
              Armature("c", "tail", 2.5), Armature("d", "toe", 0.01))  # fmt: skip
    mechanism = replace(plain, forces=(*plain.forces, *rotors))
    notes: list[str] = []
    text = write_urdf(mechanism, notes=notes)
    assert not any("armature" in x for x in notes)
    back, at = read(text), {"hip": 0.3, "knee": -0.4, "tail": 0.1, "toe": 0.8}
    M, N = (np.asarray(liaison.mass_matrix(x, at)) for x in (mechanism, back))
    assert relative_difference([M], [N]) < SAME
    assert relative_difference([M], [np.asarray(liaison.mass_matrix(plain, at))]) > 1e-3
    # the joint without a rotor is driven as the others are, and the one that mimics is not
    driven = [x.name for x in read(text, motors="torque").inputs]
    assert driven == [x.name for x in read(robot(joints=joints, links=links),
                                           motors="torque").inputs]  # fmt: skip
    assert "<transmission" not in write_urdf(plain)


def test_frictions_on_one_joint_add_up():
    drags = tuple(JointFriction(f"f{k}", "A", k, 2 * k) for k in (1, 2))
    again = reading_of_urdf(write_urdf(two_links(forces=drags))).mechanism
    (friction,) = [x for x in again.forces if isinstance(x, JointFriction)]
    assert (friction.viscous, friction.dry) == (3, 6)


def test_whatever_changes_the_motion_and_is_not_written_is_named():
    ground, a, b = Marker("ground"), Marker("a"), Marker("b")
    joints = (Joint("A", Revolute(), ground, a), Joint("P", Planar(), a, b))
    notes: list[str] = []
    mechanism = two_links(
        joints=joints,
        parameters=(Parameter("k", 2),),
        constraints=(Coupling("tied", "P.angle", 1, "A"),),
        forces=(
            JointFriction("rough", "A", 0, 2, Fraction(1, 2)),
            JointFriction("drag", "P.x", symbol("k")),
        ),
    )
    write_urdf(mechanism, notes=notes)
    assert notes == [
        "that there is no gravity",
        "the jointfriction 'drag'",
        "the smoothing 0.5 of friction 'rough'",
        "the coupling 'tied'",
        "that 'k' may vary: the values are written",
    ]


def test_a_second_coupling_of_one_coordinate_is_named():
    notes: list[str] = []
    ties = (Coupling("c", "B", 2, "A"), Coupling("d", "B", 3, "A", 1))
    write_urdf(two_links(constraints=ties), notes=notes)
    assert [note for note in notes if "coupling" in note] == ["the coupling 'd'"]


def test_a_ball_in_the_tree_is_refused():
    ball = (Joint("S", Spherical(), Marker("ground"), Marker("a")),)
    one = Mechanism("m", (Body("a", 1),), ball)
    with pytest.raises(TextError, match=r"joint 'S' \(Spherical\) cannot be written as URDF"):
        write_urdf(one)


def test_a_link_named_ground_is_no_ground():
    text = """<robot name="r"><link name="world"/><link name="ground"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="j" type="revolute">
      <parent link="world"/><child link="ground"/></joint></robot>"""
    found = reading_of_urdf(text)
    assert [body.name for body in found.mechanism.bodies] == ["ground", "world", "ground_link"]
    assert (
        "link 'ground' is called 'ground_link', because 'ground' is the fixed body" in found.notes
    )


def test_exact_angles_are_said():
    text = """<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed">
      <parent link="a"/><child link="b"/><origin rpy="0 1.57079632679 0.7"/></joint></robot>"""
    deduced = reading_of_urdf(text).deduced
    assert "angle 1.57079632679 (line 2): exactly 90 deg" in deduced
    assert not any("0.7" in line for line in deduced)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('type="revolute"><predecessor link="x">', "no link is named 'x'"),
        ('type="revolut"><predecessor link="a">', "no type of loop is named 'revolut'"),
        ('type="revolute"><middle link="a">', "has no <predecessor>"),
    ],
)
def test_a_wrong_loop_is_refused_with_its_line(change, said):
    text = f"""<robot name="r"><link name="a"/>
      <loop name="L" {change}</{change.split("<")[1].split(" ")[0]}></loop></robot>"""
    with pytest.raises(Exception, match=said) as error:
        reading_of_urdf(text, file="r.urdf")
    assert "r.urdf, line 2" in str(error.value)
