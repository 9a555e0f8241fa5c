import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from liaison.expr import PI, Expr, evaluate, symbol
from liaison.spatial import (
    axis_angle_of,
    bryant_xyz_of,
    euler_zxz_of,
    number,
    quaternion_about,
    quaternion_of,
    quaternion_product,
    rotation_about,
    rotation_bryant_xyz,
    rotation_defect,
    rotation_euler_zxz,
    rotation_onto_z,
    rotation_quaternion,
    rotation_x,
    rotation_y,
    rotation_z,
)

angles = st.floats(-7, 7)
directions = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda a: math.hypot(*a) > 0.1)
quaternions = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda a: math.hypot(*a) > 0.1)

# rounding of a few products of sines and cosines
ROUNDING = 1e-14


def floats(a):
    return np.vectorize(number, otypes=[float])(a)


def unit(a):
    return np.array(a) / np.linalg.norm(a)


@given(directions, angles)
def test_rotation_about_an_axis_keeps_it_and_turns_by_the_angle(axis, angle):
    R = rotation_about(axis, angle)
    assert rotation_defect(R) < ROUNDING
    assert_allclose(R @ unit(axis), unit(axis), atol=ROUNDING)
    assert np.trace(R) == pytest.approx(1 + 2 * math.cos(angle), abs=ROUNDING)
    # right-handed: sine of the angle from the skew part
    skew = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    assert_allclose(skew, math.sin(angle) * unit(axis), atol=ROUNDING)


@pytest.mark.parametrize(
    ("turn", "axis"), [(rotation_x, (1, 0, 0)), (rotation_y, (0, 1, 0)), (rotation_z, (0, 0, 1))]
)
@given(angle=angles)
def test_turns_about_the_axes_are_rotations_about_them(turn, axis, angle):
    general = rotation_about([x + 1e-300 for x in map(float, axis)], angle)  # misses the short way
    assert_allclose(turn(angle), general, atol=ROUNDING)
    assert_allclose(rotation_about([-x for x in axis], angle), turn(-angle), atol=ROUNDING)


@given(angles, st.floats(0.01, math.pi - 0.01), angles)
def test_euler_angles_come_back(a, b, c):
    R = rotation_euler_zxz(a, b, c)
    assert_allclose(R, rotation_z(a) @ rotation_x(b) @ rotation_z(c), atol=ROUNDING)
    found = euler_zxz_of(R)
    assert not found.is_singular
    assert_allclose(rotation_euler_zxz(*found[:3]), R, atol=1e-12)
    assert found.second == pytest.approx(b, abs=1e-12)


@given(angles, st.floats(-1.55, 1.55), angles)
def test_bryant_angles_come_back(a, b, c):
    R = rotation_bryant_xyz(a, b, c)
    assert_allclose(R, rotation_x(a) @ rotation_y(b) @ rotation_z(c), atol=ROUNDING)
    found = bryant_xyz_of(R)
    assert not found.is_singular
    assert_allclose(rotation_bryant_xyz(*found[:3]), R, atol=1e-12)
    assert found.second == pytest.approx(b, abs=1e-12)


@pytest.mark.parametrize("middle", [0.0, math.pi])
@given(a=angles, c=angles)
def test_singular_euler_angles_are_told_and_still_give_the_rotation(middle, a, c):
    R = rotation_euler_zxz(a, middle, c)
    found = euler_zxz_of(R)
    assert found.is_singular
    assert found.third == 0
    assert_allclose(rotation_euler_zxz(*found[:3]), R, atol=1e-12)


@pytest.mark.parametrize("middle", [-math.pi / 2, math.pi / 2])
@given(a=angles, c=angles)
def test_singular_bryant_angles_are_told_and_still_give_the_rotation(middle, a, c):
    R = rotation_bryant_xyz(a, middle, c)
    found = bryant_xyz_of(R)
    assert found.is_singular
    assert found.third == 0
    assert_allclose(rotation_bryant_xyz(*found[:3]), R, atol=1e-12)


@given(quaternions)
def test_quaternions_come_back_up_to_sign(e):
    e = unit(e)
    R = rotation_quaternion(e)
    assert rotation_defect(R) < ROUNDING
    assert_allclose(quaternion_of(R, near=e), e, atol=1e-12)
    assert quaternion_of(R)[0] >= 0


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0, -0.8)])
def test_half_turns_have_quaternions_too(axis):
    e = quaternion_of(rotation_about(axis, math.pi), near=(0, *axis))
    assert_allclose(e, [0, *axis], atol=1e-12)


@given(quaternions, quaternions)
def test_product_of_quaternions_is_product_of_rotations(a, b):
    a, b = unit(a), unit(b)
    both = rotation_quaternion(quaternion_product(a, b))
    assert_allclose(both, rotation_quaternion(a) @ rotation_quaternion(b), atol=1e-14)


@given(directions, st.floats(0, math.pi))
def test_axis_and_angle_come_back(axis, angle):
    R = rotation_about(axis, angle)
    assert_allclose(rotation_quaternion(quaternion_about(axis, angle)), R, atol=1e-14)
    u, found = axis_angle_of(R)
    assert found == pytest.approx(angle, abs=1e-7)  # near π the angle is told to half the digits
    assert_allclose(rotation_about(u, found), R, atol=1e-12)


def test_no_turn_has_an_axis_by_choice():
    u, angle = axis_angle_of(np.eye(3))
    assert angle == 0
    assert_allclose(u, [0, 0, 1])


@given(directions)
def test_rotation_onto_z_has_the_axis_as_its_third_column(axis):
    R = floats(rotation_onto_z(axis))
    assert rotation_defect(R) < 1e-13
    assert_allclose(R[:, 2], unit(axis), atol=ROUNDING)


@pytest.mark.parametrize(
    "axis", [(0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, -2), (-3, 0, 0), (0, -1, 0), (0, 0, 0.5)]
)
def test_rotation_onto_z_of_a_named_axis_is_exact(axis):
    R = rotation_onto_z(axis)
    assert all(x in (-1, 0, 1) for x in R.flat)
    assert rotation_defect(R) == 0


def test_rotation_onto_z_of_exact_axes_is_exact():
    R = rotation_onto_z((3, 0, 4))
    assert list(R[:, 2]) == [Fraction(3, 5), 0, Fraction(4, 5)]
    skew = rotation_onto_z((1, 1, 1))
    assert all(isinstance(x, Expr) or type(x) in (int, Fraction) for x in skew.flat)
    assert rotation_defect(floats(skew)) < 1e-15


def test_rotations_of_formulas_keep_zeros_and_ones():
    a = symbol("a")
    R = rotation_z(a)
    assert [R[0, 2], R[1, 2], R[2, 0], R[2, 1], R[2, 2]] == [0, 0, 0, 0, 1]
    assert evaluate([R[1, 0]], {a: 0.3})[0] == math.sin(0.3)


def test_exact_angles_stay_exact():
    assert number(rotation_z(PI / 2)[0, 0]) == pytest.approx(0, abs=1e-16)
    assert rotation_z(0)[0, 0] == 1
    assert isinstance(rotation_about((1, 1, 0), PI / 3)[0, 0], Expr)


@pytest.mark.parametrize(
    ("matrix", "least"),
    [(np.diag([1.0, 1.0, -1.0]), 2), (np.eye(3) * 1.1, 0.2), (np.zeros((3, 3)), 1)],
)
def test_what_is_no_rotation_has_a_defect(matrix, least):
    assert rotation_defect(matrix) >= least
