"""Formulas that the literature prints wrongly: ours agree with the corrected ones.

Each test is named in docs/errata.md.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import liaison
from liaison.spatial import tilde

ROUNDING = 1e-12  # a few dozen operations on numbers near 1


@pytest.fixture
def random():
    return np.random.default_rng(20090218)


def test_ll_1_4_4_the_square_of_the_tilde_of_a_unit_vector(random):
    u = random.normal(size=3)
    u /= np.linalg.norm(u)
    squared = -np.asarray(tilde(u) @ tilde(u), dtype=float)
    assert_allclose(squared, np.eye(3) - np.outer(u, u), atol=ROUNDING)
    assert not np.allclose(squared, np.eye(3) + np.outer(u, u))


def test_ll_4_4_5_the_rate_of_a_quaternion(random):
    Q, omega = random.normal(size=4), random.normal(size=3)
    Q /= np.linalg.norm(Q)
    s, v = Q[0], Q[1:]
    N = np.asarray(liaison.Spherical().kinematic_map(list(Q)), dtype=float)
    assert_allclose(N @ omega, [-v @ omega / 2, *(s * omega + np.cross(v, omega)) / 2], atol=1e-14)
    assert not np.allclose((N @ omega)[1:], (s * v + np.cross(v, omega)) / 2)


@pytest.fixture
def elliptic(examples):
    """Euler's elliptic pendulum, and its kernel."""
    mechanism = liaison.read(examples / "elliptic_pendulum.lsd")
    kernel = liaison.to_numpy(liaison.lower(liaison.lagrange(liaison.span(mechanism))))
    names = [label.name for label in kernel.program.labels["q"]]
    assert sorted(names) == ["theta", "y"]
    values = {x.name: float(x.value) for x in mechanism.parameters}
    return kernel, names.index("y"), names.index("theta"), values


def test_ll_2_2_10_the_cross_term_of_the_elliptic_pendulum(elliptic, random):
    kernel, y, theta, p = elliptic
    q, v = random.normal(size=2), random.normal(size=2)
    T = kernel.call("energy", q=q, v=v)["T"][0]
    a, m1, m2 = p["a"], p["m1"], p["m2"]
    square = v[y] ** 2 + a**2 * v[theta] ** 2
    cross = 2 * a * v[y] * v[theta] * np.cos(q[theta])
    assert_allclose(T, m1 * v[y] ** 2 / 2 + m2 * (square + cross) / 2, rtol=ROUNDING)
    printed = 2 * a * v[theta] * np.cos(q[theta])
    assert not np.isclose(T, m1 * v[y] ** 2 / 2 + m2 * (square + printed) / 2)


def test_ll_2_2_10_the_angle_of_the_elliptic_pendulum(elliptic, random):
    kernel, y, theta, p = elliptic
    q, v = random.normal(size=2), random.normal(size=2)
    vdot = kernel.call("forward", q=q, v=v)["vdot"]
    rest = p["a"] * vdot[theta] + 9.81 * np.sin(q[theta])
    assert_allclose(rest + vdot[y] * np.cos(q[theta]), 0, atol=ROUNDING * 10)
    assert not np.isclose(rest + v[y] * np.cos(q[theta]), 0)


def test_ll_4_5_1_the_acceleration_row_of_perpendicular_directions(random):
    first, second = (liaison.body(name, mass=1, inertia=(1, 2, 2)) for name in ("i", "j"))
    joints = [liaison.join(liaison.ground, body, liaison.Free()) for body in (first, second)]
    square = liaison.join(first, second, liaison.Perpendicular(), name="square")
    tree = liaison.span(liaison.mechanism(*joints, square), cuts=["square"])
    kernel = liaison.to_numpy(liaison.lower(liaison.newton_euler(tree)))
    attitude = random.normal(size=4)
    pose = [0.0, 0.0, 0.0, *(attitude / np.linalg.norm(attitude))]
    q, v = np.array([*pose, *pose]), random.normal(size=12)
    R = kernel.call("poses", q=q)["i"][:9].reshape(3, 3)
    # this joint keeps x of one body and y of the other apart: Φ = −x_i · y_j
    u_i, u_j, omega_i, omega_j = R[:, 0], -R[:, 1], R @ v[0:3], R @ v[6:9]
    corrected = (
        2 * (u_i @ omega_j) * (u_j @ omega_i)
        - (u_j @ omega_j) * (u_i @ omega_j)
        - (u_i @ omega_i) * (u_j @ omega_i)
    )
    printed = (omega_j - omega_i) @ (u_j * (u_i @ omega_i) - u_i * (u_j @ omega_j))
    gamma = kernel.call("terms", q=q, v=v)["gamma"][0]
    assert_allclose(gamma, corrected, atol=ROUNDING)
    assert not np.isclose(gamma, printed)


SLOPE, GRIP, FALL = np.deg2rad(20), 0.1, 9.81


@pytest.mark.parametrize("way", [1, -1])
def test_ll_2_2_10_the_cylinder_that_slides(examples, way):
    kernel = liaison.compile(examples / "cases" / "cylinder_sliding.lsd")
    x, theta = kernel.call("forward", q=[0, 0], v=[2.0 * way, 0])["vdot"]
    ratio, r, pull = GRIP / np.tan(SLOPE), 0.2, FALL * np.sin(SLOPE)
    assert_allclose(x / pull, -1 - ratio * way, atol=ROUNDING)
    assert_allclose(r * theta / pull, -2 * ratio * way, atol=ROUNDING)
    assert not np.isclose(r * theta / np.sin(SLOPE), 2 * ratio * FALL * way)
    assert_allclose((x + r * theta) / pull, -1 - 3 * ratio * way, atol=ROUNDING)
    assert not np.isclose((x + r * theta) / pull, -1 - 3 * way)


def test_ll_2_2_10_where_the_point_of_contact_goes(examples):
    """A force along x at the contact does the work of Rx (δx + r δθ): nothing is along y."""
    kernel = liaison.compile(examples / "cases" / "cylinder_reaction.lsd")
    still, pushed = (kernel.call("applied", q=[0, 0], v=[0, 0], u=[u])["tau"] for u in (0.0, 1.0))
    assert_allclose(pushed - still, [1.0, 0.2], atol=ROUNDING)
