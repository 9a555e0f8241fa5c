"""Slips of LL 4.2, 4.4.5 and 4.5.2 in attitudes, in efforts between bodies and in joints.

Each test is named in docs/errata.md: the corrected form agrees with ours, the printed one does not.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import liaison
from liaison.equations.vector.basic_joints import basic_rows, orthogonal
from liaison.model.describe import body, ground, join, mechanism, motor, spring
from liaison.numeric.attitude import attitudes
from liaison.spatial import quaternion_about, quaternion_product, rotation_quaternion, tilde
from samples.joined import Motion

ROUNDING = 1e-12  # a few dozen operations on numbers near 1


@pytest.fixture
def random():
    return np.random.default_rng(20090218)


def numbers(array):
    return np.asarray(array, dtype=float)


def test_ll_4_2_2_the_rate_of_the_rotation_in_the_axes_of_the_body(random):
    """(Ṙ)_i = Sᵀ Ṡ S: as S is of second degree in Q, a central difference gives Ṡ exactly."""
    Q, omega = random.normal(size=4), random.normal(size=3)  # ω: in the axes of the body
    Q /= np.linalg.norm(Q)
    S, h = numbers(rotation_quaternion(list(Q))), 0.5
    Q_dot = numbers(liaison.Spherical().kinematic_map(list(Q))) @ omega
    ahead, behind = (quadratic_rotation(Q + way * h * Q_dot) for way in (1, -1))
    S_dot = (ahead - behind) / (2 * h)
    in_body, in_ground = numbers(tilde(omega)), numbers(tilde(S @ omega))
    assert_allclose(S_dot, in_ground @ S, atol=ROUNDING)
    rate = S.T @ S_dot @ S
    assert_allclose(rate, in_body @ S, atol=ROUNDING)
    assert_allclose(rate, S.T @ in_ground @ S @ S, atol=ROUNDING)
    assert not np.allclose(rate, in_ground @ S @ S)
    assert not np.allclose(rate, S.T @ in_body @ S @ S)  # the step before


def quadratic_rotation(Q):
    """(s² − v·v) 1 + 2 v vᵀ + 2 s ṽ, whose derivative along the unit sphere is that of S."""
    s, v = Q[0], Q[1:]
    return (s * s - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * s * numbers(tilde(v))


def test_ll_4_2_3_a_positive_effort_pulls_and_moments_are_about_g():
    """f_i = φ u_ij, n_i = φ p_i × u_ij with p_i = G_i P_i, φ = k (l − l₀) > 0 in a drawn spring."""
    center, P_i, P_j = np.array([0.2, -0.1, 0.3]), np.array([0.3, 0.1, 0]), np.array([0, 0.2, 0.4])
    i, j = (body(x, mass=1, center=tuple(center), inertia=(1, 1, 1)) for x in "ij")
    joints = [join(ground, x, liaison.Free) for x in (i, j)]
    held = spring(i.at(P_i.tolist()), j.at(P_j.tolist()), stiffness=10, rest=1)
    drawn = liaison.compile(mechanism(*joints, held))
    far = np.array([2.0, 0, 0])
    q = [0, 0, 0, 1, 0, 0, 0, *far, 1, 0, 0, 0]
    tau = drawn.call("applied", q=np.array(q, dtype=float), v=np.zeros(12))["tau"]
    about_origin, force = tau[:3], tau[3:6]
    d = far + P_j - P_i
    length = np.linalg.norm(d)
    phi, u = 10 * (length - 1), d / length
    assert_allclose(force, phi * u, atol=10 * ROUNDING)  # towards the other body
    about_center = about_origin - np.cross(center, force)
    assert_allclose(about_center, phi * np.cross(P_i - center, u), atol=10 * ROUNDING)
    assert not np.allclose(about_origin, phi * np.cross(P_i - center, u))


def test_ll_4_2_3_the_work_of_a_moment_that_acts_on_the_second_body():
    """n of C_i on C_j, c = n · a: c works on C_j and −c on C_i, in all +c δθ."""
    c = 7.0
    i, j = (body(x, mass=1, inertia=(1, 1, 1)) for x in "ij")
    hinge = join(i, j, liaison.Revolute, name="theta")
    turned = liaison.compile(
        mechanism(join(ground, i, liaison.Free), hinge, motor(hinge, effort=c))
    )
    state = {"q": np.array([0, 0, 0, 1.0, 0, 0, 0, 0]), "v": np.zeros(7)}
    vdot = turned.call("forward", **state)["vdot"]
    assert_allclose([vdot[2], vdot[2] + vdot[6]], [-c, c], rtol=ROUNDING)  # of C_i, of C_j
    work = turned.call("applied", **state)["tau"]  # by a unit of each velocity, θ̇ last
    assert_allclose(work, [0, 0, 0, 0, 0, 0, c], atol=ROUNDING)
    assert not np.isclose(work[6], -c)


def test_ll_4_4_5_edwards_correction_is_added_to_the_turn(random):
    """Δα_i is printed where ΔA_i of (4.5) is meant: nothing else is called Δα."""
    before, turn = 0.1 * random.normal(size=(2, 3))
    start = np.array([1.0, 0, 0, 0])
    found = attitudes(np.array([before, turn]), start)
    for added, same in ((turn, True), (np.zeros(3), False)):
        step = added + np.cross(before, turn) / 12
        quaternion = quaternion_about(step / np.linalg.norm(step), np.linalg.norm(step))
        ended = numbers(quaternion_product(list(found[1]), quaternion))
        assert np.allclose(found[2], ended, atol=ROUNDING) == same


def test_ll_4_5_2_the_slider_has_the_row_of_its_equation():
    """1r(c_i, b_j), with its moment about +u_i; 1r(b_i, c_j), as the text has it, is about −u_i."""
    i, j = Motion(np.random.default_rng(3), liaison.Prismatic()).sides(0.0)
    _, _, turning, about_c, about_b = basic_rows(liaison.Prismatic(), i, j)
    (b_i, c_i, u_i), (b_j, c_j) = i.axes.T, j.axes[:, :2].T
    assert_allclose(turning.moment, u_i, atol=ROUNDING)
    assert_allclose(turning.moment, orthogonal(i, c_i, j, b_j).moment, atol=ROUNDING)
    assert_allclose(orthogonal(i, b_i, j, c_j).moment, -u_i, atol=ROUNDING)
    assert_allclose(about_c.moment, -b_i, atol=ROUNDING)  # + b_i is printed
    assert_allclose(about_b.moment, c_i, atol=ROUNDING)


def test_ll_4_5_2_a_point_on_a_line_is_no_line_on_a_plane():
    """2n holds back two forces and no moment; a straight line of contact resists by one of each."""
    kinds = {liaison.PointOnLine: 0, liaison.LineOnPlane: 1}
    for kind, moments in kinds.items():
        i, j = Motion(np.random.default_rng(3), kind()).sides(0.0)
        rows = basic_rows(kind(), i, j)
        assert len(rows) == 2
        assert sum(np.linalg.norm(numbers(x.moment)) > 0.1 for x in rows) == moments
        assert sum(np.linalg.norm(numbers(x.force)) > 0.1 for x in rows) == 2 - moments
