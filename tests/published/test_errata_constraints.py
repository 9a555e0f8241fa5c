"""Constraints that LL 4.5 prints wrongly: ours agree with the corrected rows, not the printed ones.

Each test is named in docs/errata.md; that the rows are right is shown in
tests/equations/test_basic_constraints.py, by differentiation.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import liaison
from liaison.equations.vector.basic_joints import basic_rows, distance, in_plane, orthogonal
from samples.joined import Motion

ROUNDING = 1e-12  # a few dozen operations on numbers near 1


@pytest.fixture
def square():
    """Two sides at which u_i · u_j = 0 and its rate vanish, as LL supposes."""
    return Motion(np.random.default_rng(8), liaison.Perpendicular()).sides(0.0)


def test_ll_4_5_1_the_hinge_lacks_a_term(square):
    """What is printed lacks 2 (u_i × u_j) · (Ω_j × Ω_i), on the constraint and its rate too."""
    i, j = square
    u_i, u_j = i.axes[:, 0], j.axes[:, 1]
    row = orthogonal(i, u_i, j, u_j)
    printed = (j.omega - i.omega) @ (u_j * (u_i @ i.omega) - u_i * (u_j @ j.omega))
    lacking = 2 * np.cross(u_i, u_j) @ np.cross(j.omega, i.omega)
    assert abs(row.rate(i, j)) < 1e-8
    assert abs(lacking) > 1e-2
    assert_allclose(row.gamma, printed + lacking, atol=1e-9)
    in_bodies = (
        2 * (u_i @ i.omega) * (u_j @ j.omega)
        - (u_i @ j.omega) * (u_j @ j.omega)
        - (u_i @ i.omega) * (u_j @ i.omega)
    )
    assert_allclose(in_bodies, printed, atol=ROUNDING)  # so LL 4.5.3 has the same error


def test_ll_4_5_3_the_columns_of_the_hinge_have_opposite_signs(square):
    i, j = square
    row = orthogonal(i, i.axes[:, 0], j, j.axes[:, 1])
    _, _, turn_i, turn_j = row.columns(i.axes, j.axes)
    C_ji = j.axes.T @ i.axes
    assert_allclose(turn_j, -(C_ji @ turn_i), atol=ROUNDING)
    assert not np.allclose(turn_j, C_ji @ turn_i)


def test_ll_4_5_1_the_plane_has_a_wrong_sign_and_no_square():
    """p_i + d and a lone Ω_j are printed; LL 4.5.3 has p_i − d and the square."""
    move = Motion(np.random.default_rng(9), liaison.PointOnPlane())
    i, j = move.sides(0.0)
    u, p_i, p_j = i.axes[:, 2], i.arm, j.arm
    d = j.place + p_j - i.place - p_i
    ddot = j.velocity + np.cross(j.omega, p_j) - i.velocity - np.cross(i.omega, p_i)
    far = u @ np.cross(j.omega, np.cross(j.omega, p_j))

    def told(arm, last):
        return np.cross(u, i.omega) @ (np.cross(i.omega, arm) + 2 * ddot) - last

    gamma = in_plane(i, u, j).gamma
    assert_allclose(gamma, told(p_i - d, far), atol=ROUNDING)
    assert not np.isclose(gamma, told(p_i + d, far))
    assert not np.isclose(gamma, told(p_i - d, u @ np.cross(j.omega, p_j)))


def test_ll_4_5_3_the_columns_of_the_plane_are_in_the_axes_of_the_ground():
    """−u_iᵀ and u_iᵀ C_ij are printed for v told in B₀: it takes (S_i u_i)ᵀ in both."""
    i, j = Motion(np.random.default_rng(9), liaison.PointOnPlane()).sides(0.0)
    local = np.array([0.0, 0.0, 1.0])  # u_i in B_i
    at_i, at_j, _, _ = in_plane(i, i.axes[:, 2], j).columns(i.axes, j.axes)
    assert_allclose(at_i, -(i.axes @ local), atol=ROUNDING)
    assert_allclose(at_j, i.axes @ local, atol=ROUNDING)
    assert not np.allclose(at_i, -local)
    assert not np.allclose(at_j, j.axes.T @ i.axes @ local)


def test_ll_4_5_3_the_rod_needs_the_square_of_the_rate():
    """dᵀ (−d + …) is printed, and dᵀ (−ḋ + …) would be no better: it is −ḋᵀ ḋ + dᵀ (…)."""
    i, j = Motion(np.random.default_rng(4), liaison.RodByAngles(0.7)).sides(0.0)
    d = j.place + j.arm - i.place - i.arm
    ddot = j.velocity + np.cross(j.omega, j.arm) - i.velocity - np.cross(i.omega, i.arm)
    whirl = [np.cross(x.omega, np.cross(x.omega, x.arm)) for x in (i, j)]
    gamma = distance(i, j, 0.7).gamma
    assert_allclose(gamma, -ddot @ ddot + d @ (whirl[0] - whirl[1]), atol=ROUNDING)
    for wrong in (d, ddot):
        assert not np.isclose(gamma, d @ (-wrong + whirl[0] - whirl[1]))


def test_ll_4_5_2_the_moments_of_parallel_axes():
    """G_i: about −b_i and c_i (b_i, c_i printed); G_j: about b_j and −c_j (b_j, c_j printed)."""
    i, j = Motion(np.random.default_rng(3), liaison.ParallelAxes()).sides(0.0)
    about_c, about_b = basic_rows(liaison.ParallelAxes(), i, j)  # 1r(c_i, u_j), 1r(b_i, u_j)
    b_i, c_i = i.axes[:, 0], i.axes[:, 1]
    assert_allclose(about_c.moment, -b_i, atol=ROUNDING)
    assert_allclose(about_b.moment, c_i, atol=ROUNDING)
    b_j, c_j, u_i = j.axes[:, 0], j.axes[:, 1], i.axes[:, 2]
    assert_allclose(orthogonal(i, u_i, j, c_j).moment, b_j, atol=ROUNDING)
    assert_allclose(orthogonal(i, u_i, j, b_j).moment, -c_j, atol=ROUNDING)
