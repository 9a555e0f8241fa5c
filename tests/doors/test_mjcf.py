"""MJCF: what of it is read, what is named, what is refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import liaison
from liaison.errors import LiaisonError
from liaison.expr import PI, symbol
from liaison.formats import read, read_lsd, reading_of_mjcf
from liaison.formats.lsd.write.write import write_lsd
from liaison.model import (
    Coupling,
    Fixed,
    Gravity,
    Holonomic,
    JointFriction,
    Revolute,
    Spherical,
    Spring,
    Start,
)
from liaison.model.values import floats
from liaison.tree import span
from samples.mjcf_texts import ARM, LOOP


def one(body: str, more: str = "", compiler: str = "") -> str:
    return (
        f'<mujoco>{compiler}<worldbody>\n<body name="a" pos="0 0 1">{body}</body>\n'
        f"</worldbody>{more}</mujoco>"
    )


BALL = '<geom size="0.1"/>'


def test_bodies_joints_and_gravity_are_read():
    found = reading_of_mjcf(ARM).mechanism
    assert found.name == "arm"
    assert [b.name for b in found.bodies] == ["ground", "a after 1", "a", "b", "c", "f"]
    assert [j.name for j in found.joints] == ["j1", "j2", "j3", "ball", "free"]
    assert found.forces[0] == Gravity((0, Fraction(3, 10), Fraction(-981, 100)))
    assert [f.coordinate for f in found.forces[1:] if isinstance(f, JointFriction)] == [
        "j1",
        "j2",
        "j3",
    ]


def test_a_free_body_starts_where_it_stands():
    starts = {x.label: x.value for x in reading_of_mjcf(ARM).mechanism.starts}
    assert [starts[f"free.{k}"] for k in "xyz"] == [1, 2, 3]
    assert np.isclose(sum(float(starts[f"free.q{k}"]) ** 2 for k in "wxyz"), 1)


def test_a_free_body_may_stand_at_any_angle():
    starts = read(one('<freejoint name="F"/>' + BALL).replace("pos=", 'euler="0 0 40" pos=')).starts
    values = {x.label: float(x.value) for x in starts}
    assert np.isclose(values["F.qw"], np.cos(np.radians(20)))


def test_limits_are_facts_and_strangers_are_named():
    found = reading_of_mjcf(ARM)
    assert (found.limits["j3"].lower, found.limits["j3"].upper) == (-1, 1)
    assert found.notes == (
        "'timestep' of <option> is not used",
        "<light> in <worldbody> is not used",
        "ellipsoids are drawn, and touch in scenes, as polytopes with 146 corners, up to 3 % too "
        "small",
        "9 pairs of geoms may touch, and pass through each other; "
        "contacts=True (--contacts) reads them",
        "the geoms of the world are not drawn",
    )


@pytest.mark.parametrize(
    ("geom", "mass", "moments"),
    [
        ('<geom size="0.1" mass="2"/>', 2, (0.008, 0.008, 0.008)),
        ('<geom type="box" size="1 2 3" mass="3"/>', 3, (13, 10, 5)),
        ('<geom type="cylinder" size="1 2" mass="12"/>', 12, (19, 19, 6)),
        ('<geom type="ellipsoid" size="1 2 3" mass="5"/>', 5, (13, 10, 5)),
        ('<geom type="box" size="0.5 0.5 0.5"/>', 1000, (1000 / 6,) * 3),
    ],
)
def test_geoms_are_filled_evenly(geom, mass, moments):
    body = read(one(geom)).body("a")
    assert float(body.mass) == mass
    assert np.allclose(np.diag(floats(body.inertia, {})), moments)


def test_a_capsule_is_a_cylinder_and_two_half_balls():
    body = read(one('<geom type="capsule" size="0.1 0.2"/>')).body("a")
    r, h = 0.1, 0.4
    assert np.isclose(floats(body.mass, {}), 1000 * np.pi * (r * r * h + 4 / 3 * r**3))
    # as long as a thin rod where it is thin
    thin = floats(
        read(one('<geom type="capsule" size="1e-6 0.5" mass="12"/>')).body("a").inertia, {}
    )
    assert np.allclose(np.diag(thin), (1, 1, 0), atol=1e-5)


def test_an_ellipsoid_is_a_polytope_in_it():
    content = reading_of_mjcf(one('<geom type="ellipsoid" size="0.3 0.2 0.1" mass="5"/>'))
    (hull,) = content.mechanism.bodies[-1].shapes
    corners = np.array(hull.points, dtype=float) / (0.3, 0.2, 0.1)
    np.testing.assert_allclose(np.linalg.norm(corners, axis=1), 1, rtol=1e-14)
    solid = hull.polytope()
    off = solid.offsets / np.linalg.norm(solid.normals * (0.3, 0.2, 0.1), axis=1)
    # of each face, beside that of a tangent plane: half an angle of the grid each way
    assert np.cos(np.pi / 16) * np.cos(np.pi / 20) - 1e-12 <= off.min() <= off.max() < 1
    assert any("146 corners" in x for x in content.notes)


def test_angles_are_degrees_unless_said_otherwise():
    turned = '<joint range="-90 90"/>' + BALL
    limits = reading_of_mjcf(one(turned)).limits["a joint 1"]
    assert limits.upper is PI / 2
    radians = reading_of_mjcf(one(turned, compiler='<compiler angle="radian"/>')).limits
    assert radians["a joint 1"].upper == 90


def test_equalities_become_joints_and_relations():
    found = reading_of_mjcf(LOOP)
    mechanism = found.mechanism
    pin, glue = mechanism.joint("pin"), mechanism.joint("glue")
    assert isinstance(pin.type, Spherical)
    assert np.allclose(floats(pin.successor.p, {}), 0)  # the slider stands there
    assert isinstance(glue.type, Fixed)
    assert np.allclose(floats(glue.successor.p, {}), (0, 0, 1))
    gears, cam = mechanism.constraints
    assert gears == Coupling("gears", "D", -2, "A", Fraction(1, 10))
    x = symbol("D")
    assert isinstance(cam, Holonomic)
    assert cam == Holonomic("cam", symbol("C") - (3 * x + 1) * x)
    assert any("is not active" in note for note in found.notes)
    (spring,) = [f for f in mechanism.forces if isinstance(f, Spring)]
    assert (spring.stiffness, spring.rest) == (3, Fraction(1, 10))


def test_a_body_without_joint_is_fixed():
    inner = f'<joint/>{BALL}<body name="b" pos="1 0 0">{BALL}</body>'
    joint = read(one(inner)).joint("b fixed")
    assert isinstance(joint.type, Fixed)
    assert joint.predecessor.p == (1, 0, 0)


def test_what_is_read_can_be_written_as_lsd():
    for text in (ARM, LOOP):
        mechanism = read(text)
        assert read_lsd(write_lsd(mechanism)) == mechanism


def test_a_file_is_told_by_its_root(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(one("<joint/>" + BALL))
    assert isinstance(read(path).joint("a joint 1").type, Revolute)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<robot/>", "MJCF begins with <mujoco>"),
        (one(BALL, '<include file="b.xml"/>'), "a text has no folder"),
        (one('<joint type="hing"/>' + BALL), "no joint type is named 'hing'"),
        (one('<joint axis="0 0 0"/>' + BALL), "is zero; it has no direction"),
        (one('<joint/><geom type="mesh" mesh="m"/>'), "no mesh is named 'm'"),
        (one('<joint class="zz"/>' + BALL), "no class is named 'zz'"),
        (one('<geom type="box" size="1 2"/>'), "a box takes 3"),
        (one('<geom type="box" fromto="0 0 0 1 0 0"/>'), "a box takes 1"),
        (one('<inertial pos="0 0 0" mass="-1"/>'), "must not be negative"),
        (one('<inertial pos="0 0 0" mass="1" diaginertia="1 1 5"/>'), "is impossible"),
        (one('<geom size="nan"/>'), "no finite number"),
        (one(BALL, '<equality><weld body1="zz"/></equality>'), "no body is named 'zz'"),
        (one(BALL + f'<body name="a">{BALL}</body>'), "'a' is given to two bodies"),
        (one(f'<body name="b"><freejoint/>{BALL}</body>' + BALL), "its body is inside another"),
        (one(BALL, compiler='<compiler coordinate="global"/>'), "only local coordinates"),
        (one(BALL, compiler='<compiler eulerseq="xxq"/>'), "it is three of x, y, z"),
        (one('<geom size="1" quat="1 0 0 0" euler="0 0 0"/>'), "says its turn twice"),
        ('<!DOCTYPE m [<!ENTITY a "x">]><mujoco model="&a;"/>', "entities are not read"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_words(text, said):
    with pytest.raises(LiaisonError, match=said) as error:
        reading_of_mjcf(text, file="m.xml")
    assert "m.xml, line" in str(error.value)


ROD = '<geom type="box" size="0.1 0.1 0.1" pos="1 0 0" mass="2"/>'
MOMENT = 2 * (0.1**2 + 0.1**2) / 3 + 2.0  # about y through the origin of the body


def acceleration(text: str, rate: float = 0.0) -> float:
    """Of the first coordinate, from where it is described."""
    mechanism = reading_of_mjcf(text).mechanism
    label = f"{mechanism.joints[0].coordinates[0]}'"
    mechanism = replace(mechanism, starts=(*mechanism.starts, Start(label, rate)))
    labels = [x.name for x in span(mechanism).velocity_labels()]
    return float(liaison.forward_dynamics(mechanism)[labels.index(label)])


def hinge(attributes: str, more: str = "", geom: str = ROD) -> str:
    return one(f'<joint name="j" axis="0 1 0" {attributes}/>{geom}', compiler=more)


@pytest.mark.parametrize(
    ("text", "rate", "expected"),
    [
        (hinge('armature="3"'), 0, 2 * 9.81 / (MOMENT + 3)),
        (hinge("", '<option><flag gravity="disable"/></option>'), 0, 0),
        (hinge('damping="3"'), 2, (2 * 9.81 - 6) / MOMENT),
        (hinge('damping="3"', '<option><flag damper="disable"/></option>'), 2, 2 * 9.81 / MOMENT),
        (hinge('stiffness="3" springref="90"'), 0, (2 * 9.81 + 1.5 * np.pi) / MOMENT),
        (hinge('stiffness="3" springref="90" ref="90"'), 0, 2 * 9.81 / MOMENT),
        (hinge('stiffness="3" springref="90"', '<option><flag spring="disable"/></option>'), 0,
         2 * 9.81 / MOMENT),
        (hinge("", '<compiler inertiagrouprange="1 5"/>', ROD + ROD.replace("mass=",
         'group="2" mass="1" name=')), 0, 9.81 / (MOMENT / 2)),
        (hinge("", '<compiler inertiafromgeom="false"/>',
         ROD + '<inertial pos="1 0 0" mass="1" diaginertia="1 1 1"/>'), 0, 9.81 / 2),
        (one('<joint name="j" type="slide" axis="0 0 1" armature="3"/>' + ROD), 0, -9.81 * 2 / 5),
    ],
)  # fmt: skip
def test_what_changes_the_motion_is_read(text, rate, expected):
    assert acceleration(text, rate) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_damping_of_a_ball_acts_on_all_its_speeds():
    sphere = '<joint name="j" type="ball" damping="3"/><geom size="0.1" mass="10"/>'
    mechanism = reading_of_mjcf(one(sphere)).mechanism
    speeds = {"j.wx": 1.0, "j.wy": -2.0, "j.wz": 0.5}
    turning = replace(mechanism, starts=tuple(Start(x, y) for x, y in speeds.items()))
    expected = -3 * np.array([*speeds.values()]) / (0.4 * 10 * 0.01)
    assert liaison.forward_dynamics(turning) == pytest.approx(expected, rel=1e-12)


REFUSED = [
    (hinge("", geom=ROD.replace("mass=", 'shellinertia="true" mass=')), "shellinertia"),
    (one('<joint name="j"/>' + BALL + '<plugin plugin="p"/>'), "plugin"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "word"), REFUSED)
def test_what_would_change_the_motion_is_refused_or_noted(text, word):
    with pytest.raises(LiaisonError, match=f"{word}.* changes the motion"):
        reading_of_mjcf(text)
    notes = reading_of_mjcf(text, strict=False).notes
    assert any(word in note for note in notes)


@pytest.mark.parametrize(
    ("compiler", "said"),
    [('<compiler angle="grad"/>', "angle of <compiler>"),
     ('<compiler inertiafromgeom="maybe"/>', "inertiafromgeom of <compiler>"),
     ('<compiler inertiagrouprange="1"/>', "two whole numbers"),
     ('<option><flag gravity="off"/></option>', "state of flag 'gravity'")],
)  # fmt: skip
def test_settings_that_mean_nothing_are_refused(compiler, said):
    with pytest.raises(LiaisonError, match=said):
        reading_of_mjcf(hinge("", compiler))


def test_attributes_nobody_knows_are_noted():
    notes = reading_of_mjcf(hinge('wobble="1" solreflimit="0.1 1"')).notes
    assert "'wobble' of <joint> is not used" in notes
    assert "'solreflimit' of <joint> is not used" in notes
