"""Laws that every joint type obeys, whatever its coordinates (law 7 of the house first)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import liaison
from liaison.errors import AssemblyError, ModelError
from liaison.expr import as_expr, directional, evaluate, jacobian, symbol
from liaison.model import (
    JOINT_TYPES,
    BryantXYZ,
    Composition,
    Cylindrical,
    EulerZXZ,
    Fixed,
    Free,
    Helical,
    LineOnPlane,
    ParallelAxes,
    Perpendicular,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Rod,
    RodByAngles,
    Rotation,
    RotationMatrix,
    Screw,
    Spherical,
    SphericalPin,
    Translation,
    Universal,
)
from liaison.spatial import number, tilde
from liaison.tree.kinematics import joint_bias

SAMPLES = {
    "fixed": Fixed(),
    "revolute": Revolute(),
    "prismatic": Prismatic(),
    "helical": Helical(0.1),
    "helical left": Helical(-0.02),
    "cylindrical": Cylindrical(),
    "universal": Universal(),
    "spherical pin": SphericalPin(),
    "spherical": Spherical(),
    "spherical euler": Spherical(EulerZXZ()),
    "spherical bryant": Spherical(BryantXYZ()),
    "spherical matrix": Spherical(RotationMatrix()),
    "planar": Planar(),
    "point on line": PointOnLine(),
    "point on line bryant": PointOnLine(BryantXYZ()),
    "line on plane": LineOnPlane(),
    "point on plane": PointOnPlane(),
    "perpendicular": Perpendicular(),
    "parallel axes": ParallelAxes(),
    "rod": Rod(0.7),
    "rod euler": Rod(2, EulerZXZ()),
    "rod by angles": RodByAngles(0.7),
    "rod by angles euler": RodByAngles(2, EulerZXZ()),
    "free": Free(),
    "free euler": Free(EulerZXZ()),
    "free bryant": Free(BryantXYZ()),
    "free matrix": Free(RotationMatrix()),
    "screw": Composition((Screw((1, 2, 2), 0.3),)),
    "gantry": Composition((Translation("x"), Translation((1, 1, 0)), Rotation("-y"))),
    "wrist": Composition((Rotation("x"), Rotation((1, -2, 0.5)), Screw("z", -0.1), Rotation("y"))),
}
each_joint = pytest.mark.parametrize("joint", SAMPLES.values(), ids=SAMPLES)
seeds = st.integers(0, 2**32 - 1)

# rounding of some hundred operations on numbers of size one
ROUNDING = 1e-12


def some_q(joint, rng):
    """A position within 1.2 rad and 1.2 m of the zero position, away from Euler's singularity."""
    q = joint.retract(as_floats(joint.neutral()), rng.uniform(-1.2, 1.2, joint.nv))
    for k, name in enumerate(joint.coordinate_names):
        if name == "nutation":
            q[k] = rng.uniform(0.3, 2.8)
    if isinstance(joint, Rod):
        q[:3] *= joint.length / np.linalg.norm(as_floats(q[:3]))
    return as_floats(q)


def as_floats(a):
    return np.vectorize(number, otypes=[float])(a) if np.size(a) else np.array(a, dtype=float)


def symbols(prefix, n):
    return np.array([symbol(f"{prefix}{k}") for k in range(n)], dtype=object)


def at(formulas, *pairs):
    """Formulas evaluated where the symbols have these values."""
    values = {x: float(y) for xs, ys in pairs for x, y in zip(xs, ys, strict=True)}
    flat = [as_expr(f) for f in np.ravel(np.array(formulas, dtype=object))]
    return np.array(evaluate(flat, values), dtype=float).reshape(np.shape(formulas))


def rate_along(formulas, along):
    """Directional derivative of an array of formulas."""
    flat = [as_expr(f) for f in np.ravel(formulas)]
    derived = directional(flat, {x: as_expr(dx) for x, dx in along.items()})
    return np.array(derived, dtype=object).reshape(np.shape(formulas))


def test_every_joint_type_is_tried():
    assert {type(joint) for joint in SAMPLES.values()} == set(JOINT_TYPES)


@each_joint
def test_sizes_and_units_agree(joint):
    assert len(joint.coordinate_names) == len(joint.coordinate_units) == joint.nq
    assert len(joint.speed_names) == len(joint.speed_units) == joint.nv
    assert len(set(joint.coordinate_names)) == joint.nq
    q = joint.neutral()
    assert q.shape == (joint.nq,)
    assert joint.subspace(q).shape == (6, joint.nv)
    assert joint.kinematic_map(q).shape == (joint.nq, joint.nv)


@each_joint
@given(seed=seeds)
def test_pose_is_a_rotation_and_an_offset(joint, seed):
    R, _ = joint.pose(some_q(joint, np.random.default_rng(seed)))
    R = as_floats(R)
    assert_allclose(R.T @ R, np.eye(3), atol=ROUNDING)
    assert np.linalg.det(R) == pytest.approx(1, abs=ROUNDING)


@each_joint
def test_subspace_and_kinematic_map_are_those_of_the_differentiated_pose(joint):
    rng = np.random.default_rng(7)
    q = symbols("q", joint.nq)
    R, p = joint.pose(q)
    N = joint.kinematic_map(q)
    place = some_q(joint, rng)
    S = as_floats(joint.subspace(place))
    R0 = as_floats(joint.pose(place)[0])
    for k in range(joint.nv):
        along = dict(zip(q, N[:, k], strict=True))
        omega = R0.T @ at(rate_along(R, along), (q, place))
        assert_allclose(omega, as_floats(tilde(S[:3, k])), atol=ROUNDING)
        assert_allclose(R0.T @ at(rate_along(p, along), (q, place)), S[3:, k], atol=ROUNDING)


@each_joint
def test_the_bias_of_the_sweep_is_the_rate_of_the_subspace(joint):
    """Ṡ v by differentiation against differences of S, whose error is of size h² = 1e-10."""
    rng = np.random.default_rng(8)
    q, v = symbols("q", joint.nq), symbols("v", joint.nv)
    place, speeds, h = some_q(joint, rng), rng.normal(size=joint.nv), 1e-5
    ahead, behind = (
        as_floats(joint.subspace(joint.retract(place, step * speeds))) for step in (h, -h)
    )
    found = at(joint_bias(joint, joint.subspace(q), q, v), (q, place), (v, speeds))
    assert_allclose(found, (ahead - behind) @ speeds / (2 * h), atol=1e-8)


# Rows that close a loop -------------------------------------------------------------------------


def residual_rows(joint, q):
    """J with d(residual) = J V for a small motion V of M in its own axes."""
    R, p = (as_floats(x) for x in joint.pose(q))
    V = symbols("V", 6)
    turned = R @ (np.eye(3, dtype=object) + tilde(V[:3]))
    moved = p + R @ V[3:]
    rows = [as_expr(x) for x in joint.residual(turned, moved)]
    found = jacobian(rows, list(V))
    J = np.zeros((len(rows), 6))
    for (i, j), entry in found.items():
        J[i, j] = at([entry], (V, np.zeros(6)))[0]
    return J


@each_joint
@given(seed=seeds)
def test_residual_vanishes_on_the_joint_and_nowhere_else_near_it(joint, seed):
    q = some_q(joint, np.random.default_rng(seed))
    R, p = joint.pose(q)
    if joint.residual(R, p) is None:
        assert isinstance(joint, Composition)
        return
    assert_allclose(as_floats(joint.residual(R, p)), 0, atol=ROUNDING)
    J = residual_rows(joint, q)
    assert J.shape == (6 - joint.freedom, 6)
    allowed = J @ as_floats(joint.subspace(q))
    assert np.linalg.matrix_rank(allowed, tol=1e-9) == joint.OWN_ROWS
    assert joint.OWN_ROWS or np.max(np.abs(allowed), initial=0) < ROUNDING
    # the rows are independent, and none is scaled away from one
    assert np.all(np.linalg.svd(J, compute_uv=False) > 0.5)


@each_joint
@given(seed=seeds)
def test_quantities_said_positive_are(joint, seed):
    q = some_q(joint, np.random.default_rng(seed))
    assert all(float(x) > 0 for x in joint.positive(*joint.pose(q)))


@each_joint
def test_multipliers_are_the_forces_and_moments_they_are_named(joint):
    """At the zero position row k is the motion that the named unit force does work on."""
    if joint.residual(*joint.pose(joint.neutral())) is None:
        return
    unit_motions = {
        f"{kind} {axis}": np.eye(6)[3 * (kind == "force along") + "xyz".index(axis)]
        for kind in ("force along", "moment about")
        for axis in "xyz"
    }
    J = residual_rows(joint, as_floats(joint.neutral()))
    assert len(joint.residual_names) == len(J)
    for row, name in zip(J, joint.residual_names, strict=True):
        free = as_floats(joint.subspace(as_floats(joint.neutral())))
        expected = unit_motions.get(name)
        if expected is None:
            assert np.linalg.norm(row) == pytest.approx(1)
        elif isinstance(joint, Helical) and name == "force along z":
            assert row[5] == pytest.approx(1)
            assert_allclose(row @ free, 0, atol=ROUNDING)
        else:
            assert_allclose(row, expected, atol=ROUNDING)


@given(seed=seeds)
def test_a_force_row_keeps_the_axes_of_the_predecessor(seed):
    q = some_q(Spherical(), np.random.default_rng(seed))
    R = as_floats(Spherical().pose(q)[0])
    assert_allclose(residual_rows(Spherical(), q)[:, 3:], R, atol=ROUNDING)


def test_a_flipped_hinge_is_told_by_what_should_be_positive():
    upside_down = np.diag([1.0, -1.0, -1.0])
    assert_allclose(as_floats(Revolute().residual(upside_down, np.zeros(3))), 0)
    assert min(Revolute().positive(upside_down, np.zeros(3))) < 0


# Coordinates back from a pose -------------------------------------------------------------------


def near_of(joint, q, rng):
    """Positions near q; of a rotation by less than half a radian where they are redundant."""
    return as_floats(joint.retract(q, rng.uniform(-0.3, 0.3, joint.nv)))


def turned_often(joint, q, rng):
    """The same pose after some more turns, where a coordinate is an angle that can turn."""
    q = np.array(q)
    for k, unit in enumerate(joint.coordinate_units):
        if unit == "rad" and not isinstance(joint, Helical):
            q[k] += 2 * math.pi * rng.integers(-5, 6)
    return q


@each_joint
@given(seed=seeds)
def test_coordinates_come_back_with_their_turns(joint, seed):
    rng = np.random.default_rng(seed)
    q = turned_often(joint, some_q(joint, rng), rng)
    R, p = (as_floats(x) for x in joint.pose(q))
    near = near_of(joint, q, rng)
    found = joint.coordinates_of(R, p, near)
    if found is None:
        assert isinstance(joint, Composition)
        return
    assert_allclose(as_floats(found), q, atol=1e-9)


def test_a_screw_counts_its_turns_by_its_slide():
    screw = Helical(0.01)
    R, p = screw.pose([40.0])
    assert_allclose(as_floats(screw.coordinates_of(R, p, [0.0])), [40.0])


@each_joint
def test_coordinates_come_back_as_formulas_too(joint):
    rng = np.random.default_rng(3)
    q, near = symbols("q", joint.nq), symbols("n", joint.nq)
    found = joint.coordinates_of(*joint.pose(q), near)
    if found is not None:
        place = some_q(joint, rng)
        assert_allclose(at(found, (q, place), (near, near_of(joint, place, rng))), place, atol=1e-9)


# Local coordinates ------------------------------------------------------------------------------


@each_joint
@given(seed=seeds)
def test_difference_undoes_retract(joint, seed):
    rng = np.random.default_rng(seed)
    q, xi = some_q(joint, rng), rng.uniform(-1, 1, joint.nv)
    moved = joint.retract(q, xi)
    assert_allclose(as_floats(joint.difference(q, moved)), xi, atol=1e-9)
    assert_allclose(as_floats(joint.retract(q, joint.difference(q, moved))), as_floats(moved))


@each_joint
@given(seed=seeds)
def test_retract_moves_as_the_kinematic_map_says(joint, seed):
    """d/dt (q ⊞ ξ(t)) = N(q ⊞ ξ) v when ξ moves at the local rate of v."""
    rng = np.random.default_rng(seed)
    xi, v = symbols("x", joint.nv), rng.normal(size=joint.nv)
    q, there = some_q(joint, rng), rng.uniform(-0.8, 0.8, joint.nv)
    rates = joint.local_rate(q, there, v)
    moved = rate_along(joint.retract(q, xi), dict(zip(xi, as_floats(rates).tolist(), strict=True)))
    N = as_floats(joint.kinematic_map(as_floats(joint.retract(q, there))))
    assert_allclose(at(moved, (xi, there)), N @ v, atol=10 * ROUNDING)


@each_joint
@given(seed=seeds)
def test_retract_starts_where_it_is_along_the_kinematic_map(joint, seed):
    rng = np.random.default_rng(seed)
    q, v = some_q(joint, rng), rng.normal(size=joint.nv)
    nothing = np.zeros(joint.nv)
    assert_allclose(as_floats(joint.retract(q, nothing)), q, atol=ROUNDING)
    assert_allclose(as_floats(joint.local_rate(q, nothing, v)), v, atol=ROUNDING)
    assert_allclose(as_floats(joint.difference(q, q)), nothing, atol=ROUNDING)


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-160, 1e-20, 1e-9, 1e-4])
def test_small_turns_lose_no_digits(size):
    joint, axis = Spherical(), np.array([0.6, 0.0, -0.8])
    q = joint.retract(np.array([1.0, 0, 0, 0]), size * axis)
    assert_allclose(as_floats(q)[1:], size / 2 * axis, rtol=1e-8, atol=0)
    assert_allclose(as_floats(joint.difference([1.0, 0, 0, 0], q)), size * axis, rtol=1e-8, atol=0)


@given(seed=seeds)
def test_a_steady_spin_is_a_straight_line_in_local_coordinates(seed):
    rng = np.random.default_rng(seed)
    omega = rng.normal(size=3)
    for t in (0.0, 0.5, 1.5):
        rate = Spherical().local_rate([1.0, 0, 0, 0], t * omega, omega)
        assert_allclose(as_floats(rate), omega, atol=ROUNDING)


@each_joint
def test_exact_positions_give_exact_zero_poses(joint):
    R, p = joint.pose(joint.neutral())
    if not isinstance(joint, Rod | RodByAngles | Composition | Helical):
        assert np.all(np.eye(3) == R)
        assert np.all(p == 0)
        assert R.dtype == object  # exact integers, so that formulas fold


@each_joint
@given(seed=seeds)
def test_normalized_leaves_positions_alone_and_repairs_others(joint, seed):
    rng = np.random.default_rng(seed)
    q = some_q(joint, rng)
    assert_allclose(as_floats(joint.normalized(q)), q, atol=ROUNDING)
    repaired = joint.normalized(q + rng.uniform(-0.01, 0.01, joint.nq))
    R = as_floats(joint.pose(as_floats(repaired))[0])
    assert_allclose(R.T @ R, np.eye(3), atol=ROUNDING)


@each_joint
@given(seed=seeds)
def test_exact_scalars_can_be_made_floats(joint, seed):
    q = some_q(joint, np.random.default_rng(seed))
    rounded = joint.mapped(number)
    assert all(isinstance(x, float) for x in rounded.parameters())
    for exact, found in zip(joint.pose(q), rounded.pose(q), strict=True):
        assert_allclose(as_floats(found), as_floats(exact), atol=ROUNDING)
    assert rounded.coordinate_names == joint.coordinate_names


# Refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Helical(0), "pitch of a helical joint is 0 m/rad"),
        (lambda: Rod(0), "length of a rod is 0 m"),
        (lambda: Rod(-1.5), "length of a rod is -1.5 m"),
        (lambda: Rotation((0, 0, 0)), r"axis \(0, 0, 0\) has no direction"),
        (lambda: Translation((0, 0.0, 0)), r"axis \(0, 0, 0\) has no direction"),
        (lambda: Rotation("w"), "axis 'w' is not known"),
        (lambda: Rotation((1, 2)), "2 components"),
        (lambda: Composition(()), "has 0 motions"),
        (lambda: Composition((Rotation(),) * 7), "has 7 motions"),
        (lambda: Composition((Rotation(), Rotation()), ("a", "a")), "one name of its own"),
    ],
)
def test_impossible_joints_are_refused(make, said):
    with pytest.raises(ModelError, match=said):
        make()


def test_angles_of_a_rod_along_their_pole_are_refused_and_turned_frames_let_it_hang():
    """Energy of a weight on a rod is kept through the vertical once z lies across it."""
    text = """gravity = [0, 0, -9.81] m/s^2 ;
    let b = body mass = 1 kg, inertia = [1, 2, 2] g*m^2 end ;
    let R = join {0} earth and {0} b with rod length = 1 m end ; """
    hanging = text.format("") + "start R.elevation = -90 deg ;"
    with pytest.raises(AssemblyError, match=r"'R' starts along z(?s:.*)without these angles"):
        liaison.simulate(hanging, until=0.1)
    across = text.format("90 deg || [0, 1, 0] @") + "start R.elevation' = 1 rad/s ;"
    run = liaison.simulate(across, until=1)
    energy = run["energy"].sum(axis=1)
    assert np.max(np.abs(energy - energy[0])) < 1e-8
    assert run["poses"][0, 0, :, 3] == pytest.approx([0, 0, -1], abs=1e-12)
