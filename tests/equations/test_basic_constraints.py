"""The four basic constraints: J and Γ are Φ differentiated; some printed ones are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import liaison
from liaison.equations.vector.basic_joints import (
    Side,
    basic_rows,
    coincident,
    distance,
    hinge_motion,
    in_plane,
    orthogonal,
)
from liaison.errors import DerivationError
from liaison.exact.residues import residues
from liaison.expr import as_expr, evaluate, symbol, time_derivative
from liaison.spatial import quaternion_of
from liaison.spatial.arrays import array, cross, dot
from samples.joined import Motion, first, second

HALF_ULPS = 1e-12  # a few dozen operations on numbers near 1


def letters(name):
    return array([symbol(f"{name}{k}") for k in "xyz"])


class Symbols:
    """Two bodies whose vectors are free symbols, and how these change in time."""

    def __init__(self):
        self.flow, self.sides, self.accelerations = {}, [], []
        for name in "ij":
            r, v, w, p = (letters(f"{x}_{name}") for x in ("r", "v", "w", "p"))
            axes = array([[symbol(f"{a}_{name}{k}") for a in "buc"] for k in "xyz"])
            a, alpha = letters(f"a_{name}"), letters(f"alpha_{name}")
            turned = [(p, cross(w, p))] + [(axes[:, k], cross(w, axes[:, k])) for k in range(3)]
            for vector, rate in [(r, v), (v, a), (w, alpha), *turned]:
                self.flow |= {x: as_expr(y) for x, y in zip(vector, rate, strict=True)}
            self.sides.append(Side(r, v, w, p, axes))
            self.accelerations.append((a, alpha))

    def rows(self):
        i, j = self.sides
        return [
            *coincident(i, j),
            distance(i, j, symbol("l")),
            orthogonal(i, i.axes[:, 0], j, j.axes[:, 1]),
            in_plane(i, i.axes[:, 2], j),
        ]

    def accelerated(self, row):
        """J a − Γ."""
        (a_i, alpha_i), (a_j, alpha_j) = self.accelerations
        columns = zip(row.J, (a_i, a_j, alpha_i, alpha_j), strict=True)
        return sum((dot(J, a) for J, a in columns), as_expr(0)) - row.gamma


@pytest.mark.parametrize("seed", range(3))
def test_every_row_is_phi_differentiated_exactly(seed):
    """Polynomials of degree at most 6 in free symbols, modulo a prime of 61 bits."""
    made = Symbols()
    rows = made.rows()
    rates = time_derivative([as_expr(row.value) for row in rows], made.flow)
    seconds = time_derivative(rates, made.flow)
    field = residues(seed=seed)
    told = [as_expr(row.rate(*made.sides)) for row in rows]
    told += [as_expr(made.accelerated(row)) for row in rows]
    count = len(told)
    found = evaluate([*told, *rates, *seconds], {}, field)
    assert found[:count] == found[count:]


@pytest.mark.parametrize("seed", range(3))
def test_a_screw_and_an_angle_are_differentiated_too(seed):
    """Where the axes stay parallel: θ̇ and θ̈ are told for u_i = u_j."""
    random = np.random.default_rng(seed)
    move = Motion(random, liaison.Helical(0.3))
    (row,) = move.rows(0.0)[:1]
    i, j = move.sides(0.0)
    h = 1e-3
    angles = [hinge_motion(*move.sides(x * h))[0] for x in (-2, -1, 0, 1, 2)]
    values = [move.rows(x * h)[0].value for x in (-2, -1, 0, 1, 2)]
    rate, bend = hinge_motion(i, j)[1:]
    turning = i.axes[:, 2] @ (move.alpha(1) - move.alpha(0))
    assert_allclose(first(angles, h), rate, atol=1e-8)
    assert_allclose(second(angles, h), turning + bend, atol=1e-5)
    assert_allclose(first(values, h), row.rate(i, j), atol=1e-8)
    assert_allclose(second(values, h), move.accelerated(row), atol=1e-5)


KINDS = [
    liaison.Fixed(), liaison.Revolute(), liaison.Prismatic(), liaison.Helical(0.3),
    liaison.Cylindrical(), liaison.Universal(), liaison.SphericalPin(), liaison.Spherical(),
    liaison.Planar(), liaison.PointOnLine(), liaison.LineOnPlane(), liaison.PointOnPlane(),
    liaison.Perpendicular(), liaison.ParallelAxes(), liaison.RodByAngles(0.7),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_rows_hold_along_motions_that_the_joint_allows(kind):
    """Φ, Φ̇ and Φ̈ vanish: differences of fourth order leave 1e-9 and 1e-6."""
    move = Motion(np.random.default_rng(5), kind)
    rows = move.rows(0.0)
    assert len(rows) == 6 - kind.freedom
    for row in rows:
        assert abs(row.value) < HALF_ULPS
        assert abs(row.rate(*move.sides(0.0))) < 1e-8
        assert abs(move.accelerated(row)) < 1e-5


def house_rows(kind, move):
    """G and γ of the joint as the tree writes them, for (ω, v) of both bodies in their own axes."""
    first_body, second_body = (liaison.body(x, mass=1, inertia=(1, 2, 2)) for x in "ij")
    free = [liaison.join(liaison.ground, x, liaison.Free()) for x in (first_body, second_body)]
    upright = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    ends = [liaison.Marker(x, upright, tuple(arm)) for x, arm in zip("ij", move.arm, strict=True)]
    mechanism = liaison.mechanism(*free)
    closed = replace(mechanism, joints=(*mechanism.joints, liaison.Joint("K", kind, *ends)))
    tree = liaison.span(closed, cuts=["K"])
    kernel = liaison.to_numpy(liaison.lower(liaison.newton_euler(tree)))
    q, v = [], []
    for (R, G), side in zip(move.poses(0.0), move.sides(0.0), strict=True):
        q += [*G, *quaternion_of(R)]
        v += [*(R.T @ side.omega), *(R.T @ side.velocity)]
    terms = kernel.call("terms", q=q, v=v)
    return terms["G"].reshape(-1, 12), terms["gamma"]


def in_house_axes(rows, sides):
    """J and Γ for (ω, v) of each body in its own axes."""
    J, gamma = [], []
    for row in rows:
        line, rest = [], row.gamma
        for k, side in enumerate(sides):
            R = side.axes
            line += [*(R.T @ row.J[2 + k]), *(R.T @ row.J[k])]
            rest = rest - row.J[k] @ np.cross(side.omega, side.velocity)
        J.append(line)
        gamma.append(rest)
    return np.array(J, dtype=float), np.array(gamma, dtype=float)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("seed", [1, 2])
def test_composed_joints_span_the_rows_of_the_house(kind, seed):
    move = Motion(np.random.default_rng(seed), kind)
    theirs = np.column_stack(house_rows(kind, move))
    ours = np.column_stack(in_house_axes(move.rows(0.0), move.sides(0.0)))
    sizes = np.linalg.svd(np.vstack([ours, theirs]), compute_uv=False)
    rank = 6 - kind.nv
    assert np.linalg.matrix_rank(ours, tol=1e-6) == rank
    # Γ goes with J: the rows (J, Γ) of both together have no further direction
    assert sizes[rank - 1] > 1e-3
    assert np.all(sizes[rank:] < 1e-7)


def test_a_composition_is_no_joint_of_the_basic_constraints():
    i, j = Motion(np.random.default_rng(0), liaison.Revolute()).sides(0.0)
    kind = liaison.Composition((liaison.Rotation("x"), liaison.Translation("y")))
    with pytest.raises(DerivationError, match="not composed of the basic constraints"):
        basic_rows(kind, i, j)
