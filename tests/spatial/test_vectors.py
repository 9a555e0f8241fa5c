"""Poses, twists, wrenches: they compose as the frames say, or are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from liaison.errors import FrameError
from liaison.expr import evaluate, symbol
from liaison.spatial import (
    WORLD,
    Acceleration,
    Frame,
    Momentum,
    Pose,
    Torsor,
    Twist,
    Wrench,
    act_force,
    act_force_inverse,
    act_motion,
    act_motion_inverse,
    cross,
    cross_force,
    cross_motion,
    number,
    power,
    rotation_about,
    rotation_z,
    tilde,
)

seeds = st.integers(0, 2**32 - 1)
crank, coupler, rocker, ground = (Frame(x) for x in ("crank", "coupler", "rocker", "ground"))
ROUNDING = 1e-12


def floats(a):
    return np.vectorize(number, otypes=[float])(a)


def some_pose(rng, of=crank, relative_to=ground):
    R = rotation_about(rng.normal(size=3), rng.uniform(-3, 3))
    return Pose(of, relative_to, R, rng.normal(size=3))


def motion_matrix(R, p):
    """The 6×6 matrix of X_AB on motions."""
    return np.block([[R, np.zeros((3, 3))], [floats(tilde(p)) @ R, R]])


@given(seeds)
def test_poses_compose_and_invert(seed):
    rng = np.random.default_rng(seed)
    X_AB, X_BC = some_pose(rng), some_pose(rng, coupler, crank)
    x = rng.normal(size=3)
    X_AC = X_AB @ X_BC
    assert (X_AC.of, X_AC.relative_to) == (coupler, ground)
    assert_allclose(X_AC.point(x), X_AB.point(X_BC.point(x)), atol=ROUNDING)
    there_and_back = X_AB @ X_AB.inverse
    assert there_and_back.of == there_and_back.relative_to == ground
    assert_allclose(there_and_back.R, np.eye(3), atol=ROUNDING)
    assert_allclose(there_and_back.p, 0, atol=ROUNDING)


@given(seeds)
def test_acting_is_the_six_by_six_matrix(seed):
    rng = np.random.default_rng(seed)
    X, V, F = some_pose(rng), rng.normal(size=6), rng.normal(size=6)
    matrix = motion_matrix(X.R, X.p)
    assert_allclose(act_motion(X.R, X.p, V), matrix @ V, atol=ROUNDING)
    assert_allclose(act_motion_inverse(X.R, X.p, matrix @ V), V, atol=ROUNDING)
    assert_allclose(act_force(X.R, X.p, F), np.linalg.inv(matrix).T @ F, atol=ROUNDING)
    assert_allclose(act_force_inverse(X.R, X.p, F), matrix.T @ F, atol=ROUNDING)


@given(seeds)
def test_crossing_is_the_rate_of_acting(seed):
    """d/dt of X(t) m for a pose that moves with twist V: V × m, and V ×* f for forces."""
    rng = np.random.default_rng(seed)
    t, V = symbol("t"), rng.normal(size=6)
    m, f = rng.normal(size=6), rng.normal(size=6)
    # to first order the pose after a time t
    R, p = np.eye(3) + t * tilde(V[:3]), t * V[3:]
    moved, pushed = act_motion(R, p, m), act_force(R, p, f)
    h = 1e-3  # the formulas are quadratic in t: the central difference is exact
    for found, path in ((cross_motion(V, m), moved), (cross_force(V, f), pushed)):
        plus, minus = (np.array(evaluate(list(path), {t: s})) for s in (h, -h))
        assert_allclose(found, (plus - minus) / (2 * h), atol=1e-9)


@given(seeds)
def test_power_does_not_depend_on_the_frame_it_is_told_in(seed):
    rng = np.random.default_rng(seed)
    X = some_pose(rng, crank, ground)
    V = Twist(crank, ground, crank, rng.normal(size=6))
    F = Wrench(crank, crank, rng.normal(size=6))
    assert power(X.act(V), X.act(F)) == pytest.approx(power(V, F), abs=ROUNDING)
    assert X.act(V).expressed_in == X.act(F).expressed_in == ground


@given(seeds)
def test_torsors_change_point_and_keep_their_comoment(seed):
    rng = np.random.default_rng(seed)
    V = Twist(crank, ground, ground, rng.normal(size=6))
    F = Wrench(crank, ground, rng.normal(size=6))
    a, b = rng.normal(size=(2, 3))
    at_a, at_b = V.torsor(a), V.torsor(b)
    # velocities of two points of a rigid body: v_b = v_a + ω × (b − a)
    assert_allclose(at_b.moment, at_a.moment + np.cross(at_a.resultant, b - a), atol=ROUNDING)
    assert_allclose(at_a.at(b).moment, at_b.moment, atol=ROUNDING)
    assert at_a.comoment(F.torsor(b)) == pytest.approx(power(V, F), abs=ROUNDING)
    assert at_a.automoment == pytest.approx(at_b.automoment, abs=ROUNDING)


@given(seeds)
def test_moment_of_a_force_is_arm_cross_force(seed):
    rng = np.random.default_rng(seed)
    at, force, about = rng.normal(size=(3, 3))
    glider = Torsor(ground, at, force, np.zeros(3))
    assert_allclose(glider.at(about).moment, np.cross(at - about, force), atol=ROUNDING)
    assert glider.at(about).automoment == pytest.approx(0, abs=ROUNDING)


@given(seeds)
def test_on_the_central_axis_moment_and_resultant_are_parallel(seed):
    rng = np.random.default_rng(seed)
    torsor = Torsor(ground, *rng.normal(size=(3, 3)))
    point, direction = torsor.central_axis()
    assert_allclose(np.cross(torsor.at(point).moment, direction), 0, atol=1e-9)
    total = torsor + torsor.at(rng.normal(size=3))
    assert_allclose(total.moment, 2 * torsor.moment, atol=ROUNDING)


@given(seeds)
def test_spatial_acceleration_gives_the_acceleration_of_points(seed):
    """A body turning steadily about a fixed axis: its points are drawn to the axis by ω² r."""
    rng = np.random.default_rng(seed)
    omega, radius = rng.uniform(0.5, 3), rng.uniform(0.5, 2)
    V = Twist(crank, ground, ground, np.array([0, 0, omega, 0, 0, 0]))
    A = Acceleration(crank, ground, ground, np.zeros(6))
    assert_allclose(A.of_point(V, (radius, 0, 0)), [-(omega**2) * radius, 0, 0], atol=ROUNDING)


def test_sums_follow_the_frames():
    V_gc = Twist(crank, ground, ground, np.arange(6.0))
    V_cr = Twist(rocker, crank, ground, np.ones(6))
    total = V_gc + V_cr
    assert (total.of, total.relative_to) == (rocker, ground)
    assert_allclose(total.vector, np.arange(6.0) + 1)
    back = total + (-total)
    assert back.of == back.relative_to == ground
    F = Wrench(crank, ground, np.ones(6))
    assert_allclose((F + F).vector, 2 * np.ones(6))
    assert_allclose((-F).vector, -np.ones(6))
    H = Momentum(crank, ground, np.ones(6))
    assert_allclose((H + Momentum(rocker, ground, np.ones(6))).vector, 2 * np.ones(6))


def test_formulas_pass_through_poses():
    a = symbol("a")
    X = Pose(crank, ground, rotation_z(a), np.array([1, 0, 0], dtype=object))
    V = X.act(Twist(crank, ground, crank, np.array([0, 0, 1, 0, 0, 0], dtype=object)))
    assert V.vector.tolist() == [0, 0, 1, 0, -1, 0]  # nothing of the angle is left


V_gc = Twist(crank, ground, ground, np.zeros(6))
V_wrong = Twist(rocker, coupler, ground, np.zeros(6))
V_elsewhere = Twist(rocker, crank, crank, np.zeros(6))
F_rocker = Wrench(rocker, ground, np.zeros(6))
A_gc = Acceleration(crank, ground, ground, np.zeros(6))
X_gc = Pose.identity(crank, ground)


@pytest.mark.parametrize(
    ("compose", "message"),
    [
        (
            lambda: V_gc + V_wrong,
            "cannot add V_coupler_rocker in ground to V_ground_crank in ground: "
            "the second must be measured in 'crank'.",
        ),
        (
            lambda: V_gc + V_elsewhere,
            "cannot add V_crank_rocker in crank to V_ground_crank in ground: "
            "the second must be expressed in 'ground'.",
        ),
        (
            lambda: power(V_gc, F_rocker),
            "cannot pair V_ground_crank in ground with F_rocker in ground: "
            "the wrench must act on 'crank'.",
        ),
        (
            lambda: F_rocker + Wrench(crank, ground, np.zeros(6)),
            "cannot add F_crank in ground to F_rocker in ground: the second must act on 'rocker'.",
        ),
        (
            lambda: cross(V_elsewhere, A_gc),
            "cannot cross V_crank_rocker in crank with A_ground_crank in ground: "
            "the second must be expressed in 'crank'.",
        ),
        (
            lambda: cross_force(V_elsewhere, F_rocker),
            "cannot cross V_crank_rocker in crank with F_rocker in ground: "
            "the second must be expressed in 'crank'.",
        ),
        (
            lambda: X_gc.act(V_gc),
            "X_ground_crank cannot act on V_ground_crank in ground: "
            "it must be expressed in 'crank'.",
        ),
        (
            lambda: X_gc @ Pose.identity(rocker, coupler),
            "cannot compose X_ground_crank with X_coupler_rocker: "
            "the second must be relative to 'crank'.",
        ),
        (
            lambda: V_gc.torsor((0, 0, 0)) + V_elsewhere.torsor((0, 0, 0)),
            "cannot add torsors in 'ground' and 'crank': the second must be expressed in 'ground'.",
        ),
        (
            lambda: Torsor(ground, np.zeros(3), np.zeros(3), np.ones(3)).central_axis(),
            "a torsor with resultant (0, 0, 0) is a couple and has no central axis.",
        ),
    ],
)
def test_what_does_not_compose_is_refused(compose, message):
    with pytest.raises(FrameError) as refusal:
        compose()
    assert str(refusal.value) == message


def test_frames_are_known_by_name():
    assert Frame("world") == WORLD
    assert len({Frame("a"), Frame("a"), Frame("b")}) == 2
