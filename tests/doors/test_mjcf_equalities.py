"""Equalities of MJCF that do not hold where a file begins: the start moves, and a note says so."""

import numpy as np
import pytest

import liaison
from liaison.errors import ReadingWarning
from liaison.expr import evaluate, symbol
from liaison.formats import reading_of_mjcf
from liaison.model.values import floats

BODY = '<body name="{name}" pos="{pos}"><freejoint name="{name}"/><geom size="0.1"/></body>'
WELD = '<weld body1="world" body2="b" relpose="0 0 1 1 -0.3 0 0"/>'
ARMS = """<body><joint name="A"/><geom size="0.1" pos="1 0 0"/></body>
<body><joint name="B"/><geom size="0.1" pos="1 0 0"/></body>"""


def read(tmp_path, bodies, equality, more=""):
    path = tmp_path / "m.xml"
    path.write_text(
        f"<mujoco><worldbody>{bodies}</worldbody><equality>{equality}</equality>{more}</mujoco>"
    )
    return path


def begun(path, **options):
    """The first state of a run, and what was noted of where it begins."""
    with pytest.warns(ReadingWarning) as noted:
        run = liaison.simulate(liaison.read(path, **options), until=1e-3)
    return run, [str(x.message) for x in noted if "start is" in str(x.message)]


def test_a_weld_elsewhere_moves_its_body_and_no_other(tmp_path):
    bodies = BODY.format(name="b", pos="0 0 1") + BODY.format(name="c", pos="3 0 0")
    run, notes = begun(read(tmp_path, bodies, WELD))
    size = np.hypot(1, 0.3)
    assert run["b.qw"][0] == pytest.approx(1 / size, abs=1e-12)
    assert run["b.qx"][0] == pytest.approx(-0.3 / size, abs=1e-12)
    assert [run[f"c.{k}"][0] for k in ("x", "y", "z", "qw")] == [3, 0, 0, 1]
    assert len(notes) == 1
    assert "b.qx = -0.2873, not 0" in notes[0]
    assert "c." not in notes[0]


def test_a_weld_holds_the_anchor_where_its_pose_says():
    """Source: MuJoCo 4.0, where the anchor of b comes to rest at (1, 2, 3) in the axes of a."""
    bodies = BODY.format(name="a", pos="0 0 1") + BODY.format(name="b", pos="1 1 1")
    weld = '<weld body1="a" body2="b" anchor="0.1 0.2 0.3" relpose="1 2 3 0.8 0.6 0 0"/>'
    text = f"<mujoco><worldbody>{bodies}</worldbody><equality>{weld}</equality></mujoco>"
    joint = reading_of_mjcf(text).mechanism.joints[-1]
    near, far = joint.predecessor, joint.successor
    assert (near.body, far.body) == ("a", "b")
    assert floats(near.p, {}) == pytest.approx((1, 2, 3))
    assert floats(far.p, {}) == pytest.approx((0.1, 0.2, 0.3))
    R = floats(near.R, {}) @ floats(far.R, {}).T
    assert np.allclose(R, [[1, 0, 0], [0, 0.28, -0.96], [0, 0.96, 0.28]])


def test_tendons_are_equal_from_where_they_are_described():
    """At 0, though A is out of its range there and starts within."""
    bodies = ARMS.replace('name="A"', 'name="A" range="30 60"')
    chords = "".join(f'<fixed name="{x}"><joint joint="{x}" coef="2"/></fixed>' for x in "AB")
    text = f"""<mujoco><worldbody>{bodies}</worldbody><tendon>{chords}</tendon><equality>
      <tendon tendon1="A" tendon2="B"/></equality></mujoco>"""
    (relation,) = reading_of_mjcf(text).mechanism.constraints
    assert evaluate(relation.formula, {symbol("A"): 0.3, symbol("B"): 0.1}) == pytest.approx(
        2 * (0.3 - 0.1)
    )


def test_joints_of_a_keyframe_that_miss_a_relation(tmp_path):
    polynomial = '<joint joint1="A" joint2="B" polycoef="0.5 -1 0 0 0"/>'
    path = read(tmp_path, ARMS, polynomial, '<keyframe><key qpos="0.3 0.1"/></keyframe>')
    run, notes = begun(path, keyframe="0")
    assert run["A"][0] == pytest.approx(0.5 - run["B"][0], abs=1e-12)
    assert len(notes) == 1
    assert "do not meet its relations" in notes[0]


def test_equalities_that_hold_leave_the_start_as_it_is(tmp_path):
    weld = WELD.replace("-0.3", "0")
    run = liaison.simulate(read(tmp_path, BODY.format(name="b", pos="0 0 1"), weld), until=1e-3)
    assert [run[f"b.{k}"][0] for k in ("x", "y", "z", "qw", "qx")] == [0, 0, 1, 1, 0]
