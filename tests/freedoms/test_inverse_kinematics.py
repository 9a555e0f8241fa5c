"""Inverse kinematics of arms of six hinges: all solutions, each checked by plain products."""

import math
from fractions import Fraction as F
from random import Random

import numpy as np
import pytest

import liaison
from liaison import read
from liaison.errors import DerivationError, ModelError, NamingError
from liaison.exact.balls import precision
from liaison.expr import PI, cos, sin
from liaison.freedoms import inverse_kinematics
from liaison.freedoms.engines import engines
from liaison.freedoms.global_.hinge_modes import joint_positions
from liaison.freedoms.global_.six_hinges import PRECISION, hinge_positions

from .arms import arm, hand_pose
from .test_six_hinges import drawn_loop

needs_msolve = pytest.mark.skipif(engines.MSOLVE.path() is None, reason="msolve: make algebra")


def drawn(seed):
    """A general arm, and a position of it."""
    draw = Random(seed)
    a = [F(draw.randrange(10, 100), 100) for _ in range(6)]
    alpha = [draw.randrange(20, 160) * draw.choice((1, -1)) for _ in range(6)]
    d = [F(draw.randrange(-50, 50), 100) for _ in range(6)]
    return (a, alpha, d), [draw.uniform(-2.5, 2.5) for _ in range(6)]


def checked(table, q, found):
    """Every solution gives the pose by plain products, and the arm's own position is among them."""
    R, p = hand_pose(*table, q)
    for mode in found.modes:
        again, place = hand_pose(*table, [mode.coordinates[f"q{k}"] for k in range(1, 7)])
        assert np.max(np.abs(again - R)) < 1e-12
        assert np.max(np.abs(place - p)) < 1e-12
        assert mode.proof == "Krawczyk"
    gaps = [
        max(abs(math.remainder(m.coordinates[f"q{k + 1}"] - q[k], 2 * math.pi)) for k in range(6))
        for m in found.modes
    ]
    assert min(gaps) < 1e-10


@pytest.mark.parametrize("seed", range(4))
def test_a_general_arm_has_sixteen_complex_solutions(seed):
    table, q = drawn(seed)
    R, p = hand_pose(*table, q)
    found = inverse_kinematics(arm(*table), "hand", position=p, rotation=R)
    assert (found.is_complete, found.complex) == (True, 16)
    assert len(found) % 2 == 0  # complex ones come in pairs
    checked(table, q, found)


def test_an_arm_with_sixteen_real_solutions():
    """That there are sixteen is not quoted from anywhere: it is what is proved here."""
    table = ([F(3, 10), 1, 0, F(3, 2), 0, 0], [90, 1, 90, 1, 90, 1], [0, 0, F(1, 5), 0, 0, 0])
    R = [
        [-0.760117, -0.641689, 0.102262],
        [0.133333, 0.0, 0.991071],
        [-0.635959, 0.766965, 0.085558],
    ]
    found = inverse_kinematics(arm(*table), "hand", position=(-1.140175, 0, 0), rotation=R)
    assert (found.is_complete, found.complex, len(found)) == (True, 16, 16)
    for mode in found.modes:
        again, place = hand_pose(*table, [mode.coordinates[f"q{k}"] for k in range(1, 7)])
        assert np.max(np.abs(again - R)) < 1e-6
        assert np.max(np.abs(place - [-1.140175, 0, 0])) < 1e-12


PUMA = ([0, F(4318, 10000), F(203, 10000), 0, 0, 0], [-90, 0, 90, -90, 90, 0],
        [0, F(15, 100), 0, F(4318, 10000), 0, 0])  # fmt: skip
UR5 = ([0, F(-425, 1000), F(-39225, 100000), 0, 0, 0], [90, 0, 0, 90, -90, 0],
       [F(892, 10000), 0, 0, F(109, 1000), F(947, 10000), F(823, 10000)])  # fmt: skip


@pytest.mark.parametrize(
    ("table", "kind", "seed"), [(PUMA, "meet", 1), (PUMA, "meet", 5), (UR5, "parallel", 1)]
)
def test_arms_with_a_wrist_or_three_parallel_axes(table, kind, seed):
    draw = Random(seed)
    q = [draw.uniform(-2.5, 2.5) for _ in range(6)]
    R, p = hand_pose(*table, q)
    found = inverse_kinematics(arm(*table), "hand", position=p, rotation=R)
    assert kind in found.method
    assert found.is_complete
    assert len(found) in (2, 4, 6, 8)
    checked(table, q, found)


def test_a_puma_in_the_middle_of_its_space_has_eight():
    """Shoulder left or right, elbow up or down, wrist flipped or not."""
    q = [0.3, -0.6, 0.4, 0.5, 0.7, -0.2]
    R, p = hand_pose(*PUMA, q)
    found = inverse_kinematics(arm(*PUMA), "hand", position=p, rotation=R)
    assert (len(found), found.complex) == (8, 8)


STANFORD = ([0, 0, 0, 0, 0, 0], [-90, 90, 0, -90, 90, 0], [F(2, 5), F(3, 20), 0, 0, 0, F(1, 4)])
GANTRY = ([0, F(1, 10), 0, 0, 0, 0], [90, 80, 90, -90, 90, 0], [F(1, 5), 0, 0, F(2, 5), 0, 0])


@pytest.mark.parametrize(
    ("table", "sliders", "complex_ones"),
    [(STANFORD, (2,), 8), (GANTRY, (0, 1), 4), (GANTRY, (1, 2), 4)],
)
def test_arms_with_sliders_and_a_wrist(table, sliders, complex_ones):
    """Stanford's arm has four ways to put the wrist's centre, two of them with the slider out."""
    q = [0.4, 0.3, 0.5, 0.7, 0.9, -0.4]
    R, p = hand_pose(*table, q, sliders)
    found = inverse_kinematics(arm(*table, sliders), "hand", position=p, rotation=R)
    assert "six joints, three axes that meet" in found.method
    assert (found.is_complete, found.complex) == (True, complex_ones)
    for mode in found.modes:
        values = [mode.coordinates[f"q{k}"] for k in range(1, 7)]
        again, place = hand_pose(*table, values, sliders)
        assert np.max(np.abs(again - R)) < 1e-12
        assert np.max(np.abs(place - p)) < 1e-12
        assert mode.proof == "Krawczyk"
    ways = [max(abs(math.remainder(m.coordinates[f"q{k + 1}"] - q[k], 2 * math.pi))
                for k in range(6)) for m in found.modes]  # fmt: skip
    assert min(ways) < 1e-10


@needs_msolve
@pytest.mark.parametrize("seed", [0, 1])
def test_msolve_finds_the_same_sixteen(seed):
    """Two ways that share nothing but the closure: elimination in balls, and standard bases."""
    with precision(PRECISION):
        X, _ = drawn_loop(seed)
        first, second = hinge_positions(X), joint_positions(X, ())
    assert second.is_complete
    seen = [{tuple(round(math.cos(x.real) * math.cosh(x.imag), 9) for x in at.angles)
             for at in found.positions} for found in (first, second)]  # fmt: skip
    assert len(seen[0]) >= 8
    assert seen[0] == seen[1]
    assert len(first.positions) == len(second.positions) == 16


BENT = ([F(1, 2), F(1, 3), F(2, 5), F(1, 4), F(1, 5), 0], [90, 80, -70, 60, 90, 0],
        [0, F(1, 10), F(1, 5), 0, F(1, 7), 0])  # fmt: skip


@needs_msolve
@pytest.mark.parametrize("sliders", [(2,), (1, 4)])
def test_arms_with_sliders_and_no_wrist(sliders):
    q = [0.4, 0.3, 0.5, 0.7, 0.9, -0.4]
    R, p = hand_pose(*BENT, q, sliders)
    found = inverse_kinematics(arm(*BENT, sliders), "hand", position=p, rotation=R)
    assert found.is_complete
    assert "msolve" in found.method
    for mode in found.modes:
        values = [mode.coordinates[f"q{k}"] for k in range(1, 7)]
        again, place = hand_pose(*BENT, values, sliders)
        assert max(np.max(np.abs(again - R)), np.max(np.abs(place - p))) < 1e-12
    assert any(abs(m.coordinates["q3"] - 0.5) < 1e-9 for m in found.modes)


def test_without_msolve_such_arms_are_not_computed(monkeypatch):
    monkeypatch.setattr(engines.Engine, "path", lambda self: None)
    q = [0.4, 0.3, 0.5, 0.7, 0.9, -0.4]
    R, p = hand_pose(*BENT, q, (2,))
    found = inverse_kinematics(arm(*BENT, (2,)), "hand", position=p, rotation=R)
    assert not found.is_complete
    assert "not computed: msolve is not installed" in found.why


def test_three_slides_along_one_plane_move():
    q = [0.4, 0.3, 0.5, 0.7, 0.9, -0.4]
    R, p = hand_pose(*GANTRY, q, (0, 1, 2))
    with pytest.raises(DerivationError, match="infinitely many"):
        inverse_kinematics(arm(*GANTRY, (0, 1, 2)), "hand", position=p, rotation=R)


def test_out_of_reach_there_is_none():
    found = inverse_kinematics(arm(*PUMA), "hand", position=(5, 0.3, 0.2))
    assert (len(found), found.is_complete) == (0, True)


def test_exact_poses_are_kept_and_states_are_those_of_the_arm():
    table, _ = drawn(7)
    R = [[cos(PI / 7), -sin(PI / 7), 0], [sin(PI / 7), cos(PI / 7), 0], [0, 0, 1]]
    robot = arm(*table)
    found = inverse_kinematics(robot, "hand", position=(F(1, 2), F(1, 3), F(1, 4)), rotation=R)
    assert found.is_complete
    for state in found.states:
        names = [label.name for label in state.labels["q"]]
        assert names == [f"q{k}" for k in range(1, 7)]


def test_seven_hinges_with_one_held():
    robot = read("examples/arm7.urdf")
    found = inverse_kinematics(robot, "gripper", position=(0.4, 0.1, 0.6), at={"j3": 0.2})
    assert found.is_complete
    assert found.modes
    for mode in found.modes:
        assert mode.coordinates["j3"] == pytest.approx(0.2)
        assert mode.residual < 1e-12


def test_no_engine_is_needed(monkeypatch):
    monkeypatch.setattr(engines.Engine, "path", lambda self: None)
    table, q = drawn(2)
    R, p = hand_pose(*table, q)
    assert inverse_kinematics(arm(*table), "hand", position=p, rotation=R).complex == 16


def test_refusals():
    robot = arm(*PUMA)
    with pytest.raises(NamingError, match="did you mean 'hand'"):
        inverse_kinematics(robot, "hnd", position=(0, 0, 0))
    with pytest.raises(ModelError, match="rotation given is none"):
        inverse_kinematics(robot, "hand", position=(0, 0, 0), rotation=2 * np.eye(3))
    with pytest.raises(ModelError, match="finite"):
        inverse_kinematics(robot, "hand", position=(0, math.inf, 0))


def test_with_too_much_held_nothing_is_claimed():
    found = inverse_kinematics(arm(*PUMA), "hand", position=(0.3, 0.2, 0.1), at={"q1": 0.1})
    assert (len(found), found.is_complete) == (0, False)


def test_axes_that_were_not_asked_for_are_named_where_nothing_reaches(examples):
    pendulum = examples / "double_pendulum.lsd"
    place = liaison.pose(pendulum, "lower", {"A": 0.4, "B": 0.5})[:3, 3].round(3)
    parallel = liaison.inverse_kinematics(pendulum, "lower", position=place)
    assert any("no rotation was given" in x for x in parallel.notes)
    asked = liaison.inverse_kinematics(pendulum, "lower", position=place, rotation=np.eye(3))
    assert len(parallel) == len(asked) == 0
    assert not any("no rotation" in x for x in asked.notes)
