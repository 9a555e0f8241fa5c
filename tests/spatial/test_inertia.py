"""Mass geometry against sums over points: a cloud of points is the definition of a body."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from liaison.errors import FrameError, ModelError
from liaison.expr import as_expr, evaluate, symbol
from liaison.spatial import (
    Acceleration,
    Frame,
    Inertia,
    Pose,
    Twist,
    apply_inertia,
    box_tensor,
    capsule_tensor,
    cone_tensor,
    cylinder_tensor,
    inertia_violation,
    move_inertia,
    power,
    product_tensor,
    rotation_about,
    sphere_tensor,
)

seeds = st.integers(0, 2**32 - 1)
B, A = Frame("B"), Frame("A")
ROUNDING = 1e-12


class Cloud:
    """Masses at points: what every tensor is a sum over."""

    def __init__(self, seed, n=7):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.m = rng.uniform(0.1, 1, n)
        self.x = rng.normal(size=(n, 3))

    def tensor(self, point):
        d = self.x - point
        return sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(self.m, d, strict=True))

    def inertia(self):
        com = self.m @ self.x / self.m.sum()
        return Inertia(B, self.m.sum(), com, self.tensor(com))

    def twist(self):
        return Twist(B, A, B, self.rng.normal(size=6))

    def velocities(self, V):
        return V.vector[3:] + np.cross(V.vector[:3], self.x)


@given(seeds)
def test_huygens_and_the_moments_are_sums_over_points(seed):
    cloud = Cloud(seed)
    body, point, u = cloud.inertia(), cloud.rng.normal(size=3), cloud.rng.normal(size=3)
    n = u / np.linalg.norm(u)
    d = cloud.x - point
    assert_allclose(body.about(point), cloud.tensor(point), atol=ROUNDING)
    assert_allclose(body.product_tensor(point), d.T @ np.diag(cloud.m) @ d, atol=ROUNDING)
    assert body.moment_about_point(point) == pytest.approx(cloud.m @ np.sum(d**2, axis=1))
    across = np.sum(np.cross(d, n) ** 2, axis=1)
    assert body.moment_about_axis(point, u) == pytest.approx(cloud.m @ across)
    assert body.moment_about_plane(point, u) == pytest.approx(cloud.m @ (d @ n) ** 2)


@given(seeds)
def test_the_two_tensors_give_each_other(seed):
    """P = ½ tr(I) 1 − I, so I = tr(P) 1 − P."""
    tensor = Cloud(seed).inertia().rotational
    P = product_tensor(tensor)
    assert_allclose(np.trace(P) * np.eye(3) - P, tensor, atol=ROUNDING)


@given(seeds)
def test_momentum_energy_and_koenig_are_sums_over_points(seed):
    cloud = Cloud(seed)
    body, V, point = cloud.inertia(), cloud.twist(), cloud.rng.normal(size=3)
    v = cloud.velocities(V)
    mv = cloud.m[:, None] * v
    H = body.apply(V)
    assert_allclose(H.vector[3:], mv.sum(axis=0), atol=ROUNDING)
    assert_allclose(H.vector[:3], np.cross(cloud.x, mv).sum(axis=0), atol=ROUNDING)
    T = 0.5 * np.sum(mv * v)
    assert body.kinetic_energy(V) == pytest.approx(T)
    assert power(V, H) == pytest.approx(2 * T)
    assert sum(body.koenig_energy(V)) == pytest.approx(T)
    about = np.cross(cloud.x - point, mv).sum(axis=0)
    assert_allclose(sum(body.koenig_moment(V, point)), about, atol=1e-11)
    assert_allclose(H.torsor(point).moment, about, atol=1e-11)


@given(seeds)
def test_rate_of_momentum_is_the_sum_of_mass_times_acceleration(seed):
    """The dynamic torsor: Σ m a and its moment, for the points' accelerations."""
    cloud = Cloud(seed)
    body, V = cloud.inertia(), cloud.twist()
    rate = Acceleration(B, A, B, cloud.rng.normal(size=6))
    ma = [m * rate.of_point(V, x) for m, x in zip(cloud.m, cloud.x, strict=True)]
    F = body.rate_of_momentum(V, rate)
    assert_allclose(F.vector[3:], np.sum(ma, axis=0), atol=1e-11)
    assert_allclose(F.vector[:3], np.cross(cloud.x, ma).sum(axis=0), atol=1e-11)


@given(seeds)
def test_the_theorem_of_moments_about_a_moving_point(seed):
    """δ_A = dσ_A/dt + v_A × p, with p the momentum (no second factor of mass).

    Source: LL 1.3.2, with its erratum.
    """
    cloud = Cloud(seed)
    body, V = cloud.inertia(), cloud.twist()
    rate = Acceleration(B, A, B, cloud.rng.normal(size=6))
    point, v_A = cloud.rng.normal(size=(2, 3))
    H, F = body.apply(V), body.rate_of_momentum(V, rate)
    # σ_A = σ_O + p × A, so dσ_A/dt = δ_O + f × A + p × v_A
    slope = F.torsor(point).moment + np.cross(H.vector[3:], v_A)
    assert_allclose(slope + np.cross(v_A, H.vector[3:]), F.torsor(point).moment, atol=1e-11)
    h = 1e-6
    later = H.vector + h * F.vector
    sigma = later[:3] + np.cross(later[3:], point + h * v_A)
    assert_allclose((sigma - H.torsor(point).moment) / h, slope, atol=1e-4)


@given(seeds)
def test_moved_and_added_bodies_are_those_of_the_moved_cloud(seed):
    one, two = Cloud(seed), Cloud(seed + 1)
    R = rotation_about(one.rng.normal(size=3), one.rng.uniform(-3, 3))
    X = Pose(B, A, R, one.rng.normal(size=3))
    moved = one.inertia().moved(X)
    assert moved.frame == A
    there = Cloud(seed)
    there.x = one.x @ R.T + X.p
    assert_allclose(moved.about(np.zeros(3)), there.tensor(np.zeros(3)), atol=1e-11)
    both = one.inertia() + two.inertia()
    sums = one.tensor(np.zeros(3)) + two.tensor(np.zeros(3))
    assert_allclose(both.about(np.zeros(3)), sums, atol=1e-11)
    assert_allclose(both.mass * both.com, one.m @ one.x + two.m @ two.x, atol=1e-12)


@given(seeds)
def test_raw_inertias_move_as_the_objects_do(seed):
    cloud = Cloud(seed)
    X = Pose(B, A, rotation_about(cloud.rng.normal(size=3), 1.0), cloud.rng.normal(size=3))
    body, V = cloud.inertia(), cloud.twist()
    mass, arm, tensor = move_inertia(X.R, X.p, *body.at_origin)
    there = body.moved(X)
    assert mass == there.mass
    assert_allclose(arm, there.mass * there.com, atol=ROUNDING)
    assert_allclose(tensor, there.about(np.zeros(3)), atol=1e-11)
    found = apply_inertia(*body.at_origin, V.vector)
    assert_allclose(X.act(body.apply(V)).vector, there.apply(X.act(V)).vector, atol=1e-11)
    assert_allclose(found, body.apply(V).vector, atol=0)


@given(seeds)
def test_principal_frame_diagonalizes_and_the_ellipsoid_follows(seed):
    cloud = Cloud(seed)
    body, point = cloud.inertia(), cloud.rng.normal(size=3)
    X, moments = body.principal(point)
    assert_allclose(X.R.T @ body.about(point) @ X.R, np.diag(moments), atol=1e-11)
    assert np.linalg.det(X.R) == pytest.approx(1)
    assert np.all(np.diff(moments) >= 0)
    frame, half_axes = body.ellipsoid(point)
    for k in range(3):
        x = half_axes[k] * frame.R[:, k]
        assert x @ body.about(point) @ x == pytest.approx(1)


def test_ellipsoid_of_a_rod_is_a_cylinder():
    rod = Inertia(B, 1, np.zeros(3), cylinder_tensor(1, 0, 2))
    _, half_axes = rod.ellipsoid()
    assert half_axes[0] == np.inf
    assert_allclose(half_axes[1:], math.sqrt(3))


# Full bodies, by a grid of their own ------------------------------------------------------------


def grid_tensor(inside, low, high, n=40):
    """I about the center of mass of a full body of unit mass, by a fine grid."""
    axes = [(np.arange(n) + 0.5) / n * (b - a) + a for a, b in zip(low, high, strict=True)]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    x = x[inside(x)]
    x = x - x.mean(axis=0)
    P = x.T @ x / len(x)
    return np.trace(P) * np.eye(3) - P


@pytest.mark.parametrize(
    ("tensor", "inside", "low", "high"),
    [
        (box_tensor(1, (1, 2, 3)), lambda x: x[:, 0] == x[:, 0], (0, 0, 0), (1, 2, 3)),
        (
            cylinder_tensor(1, 1, 3),
            lambda x: np.hypot(x[:, 0], x[:, 1]) < 1,
            (-1, -1, 0),
            (1, 1, 3),
        ),
        (sphere_tensor(1, 1), lambda x: np.sum(x**2, axis=1) < 1, (-1,) * 3, (1,) * 3),
        (
            capsule_tensor(1, 1, 2),
            lambda x: np.hypot(np.hypot(x[:, 0], x[:, 1]), np.maximum(abs(x[:, 2]) - 1, 0)) < 1,
            (-1, -1, -2),
            (1, 1, 2),
        ),
        (
            cone_tensor(1, 1, 2),
            lambda x: np.hypot(x[:, 0], x[:, 1]) < 1 - x[:, 2] / 2,
            (-1, -1, 0),
            (1, 1, 2),
        ),
    ],
    ids=["box", "cylinder", "sphere", "capsule", "cone"],
)
def test_tensors_of_full_bodies_are_integrals(tensor, inside, low, high):
    # a grid of 40 cells an edge tells a curved surface to one percent
    assert_allclose(np.array(tensor, dtype=float), grid_tensor(inside, low, high), atol=0.01)


def test_tensors_of_exact_sizes_are_exact():
    assert box_tensor(12, (1, 2, 3))[0, 0] == 13
    assert sphere_tensor(1, 1)[0, 0] == Fraction(2, 5)
    assert cylinder_tensor(12, 0, 1)[2, 2] == 0
    assert (capsule_tensor(1, 1, 0) == sphere_tensor(1, 1)).all()
    assert (capsule_tensor(12, 0, 1) == cylinder_tensor(12, 0, 1)).all()


# What no body can have --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mass", "tensor"),
    [
        (0, np.zeros((3, 3))),
        (1, np.zeros((3, 3))),
        (1, np.diag([1.0, 1.0, 0.0])),
        (1, np.diag([1.0, 2.0, 3.0])),
        (1, np.diag([0.083333, 0.083333, 0.166667])),
        (0, np.diag([1.0, 1.0, 1.0])),
    ],
    ids=["massless", "point", "rod", "plate", "plate to five digits", "rotor without mass"],
)
def test_rods_plates_points_and_massless_bodies_are_valid(mass, tensor):
    assert inertia_violation(mass, tensor) == ""
    Inertia(B, mass, np.zeros(3), tensor).check()


@given(seeds)
def test_clouds_are_valid_and_too_long_moments_are_not(seed):
    body = Cloud(seed).inertia()
    assert inertia_violation(body.mass, body.rotational) == ""
    X, moments = body.principal()
    moments[2] = (moments[0] + moments[1]) * 1.001
    wrong = X.R @ np.diag(moments) @ X.R.T
    assert "largest principal moment" in inertia_violation(1, wrong)


@pytest.mark.parametrize(
    ("mass", "tensor", "said"),
    [
        (-1, np.eye(3), "mass ≥ 0 fails, the mass is -1 kg."),
        (
            1,
            np.diag([1.0, 1.0, 3.0]),
            "largest principal moment ≤ sum of the other two fails, 3 > 1 + 1 = 2 kg·m².",
        ),
        (
            1,
            np.diag([-1.0, 1.0, 1.0]),
            "principal moments ≥ 0 fails, they are -1, 1, 1 kg·m².",
        ),
        (
            1,
            np.array([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]),
            "symmetry fails, Ixy = 0.5 and Iyx = 0 kg·m².",
        ),
    ],
)
def test_impossible_inertias_are_named(mass, tensor, said):
    assert inertia_violation(mass, tensor) == said
    with pytest.raises(ModelError, match="the inertia of 'B' is impossible"):
        Inertia(B, mass, np.zeros(3), tensor).check()


def test_frames_are_checked():
    body = Inertia.point_mass(B, 1, (0, 0, 0))
    with pytest.raises(FrameError, match="X_B_A cannot act on I in B: it must be expressed in 'A'"):
        body.moved(Pose.identity(A, B))
    with pytest.raises(FrameError, match="cannot apply I in B to V_A_B in A"):
        body.apply(Twist(B, A, A, np.zeros(6)))
    with pytest.raises(FrameError, match="cannot add I in A to I in B"):
        body + Inertia.massless(A)


def test_formulas_make_inertias():
    m, r = symbol("m"), symbol("r")
    body = Inertia.point_mass(B, m, (r, 0, 0))
    assert body.about((0, 0, 0))[0, 0] == 0
    values = {m: 2.0, r: 3.0}
    assert evaluate([as_expr(body.about((0, 0, 0))[2, 2])], values)[0] == 18
    assert evaluate([as_expr(body.moment_about_point((0, 0, 0)))], values)[0] == 18


def test_massless_bodies_add_up_to_a_massless_body():
    assert (Inertia.massless(B) + Inertia.massless(B)).mass == 0
