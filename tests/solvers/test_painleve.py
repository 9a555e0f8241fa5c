"""Painlevé's configurations: the rod of the textbooks, and numbers of solutions found otherwise."""

from itertools import product

import numpy as np
import pytest

from liaison.program.loops_compile import compile_loops
from liaison.solvers.cones import DISC, ONE_WAY
from liaison.solvers.painleve import MOST, count_solutions, counting_area, slipping_mobility
from samples.contact_scenes import Builder


@pytest.fixture(scope="module", params=["plain", "compiled"])
def run(request):
    if request.param == "plain":
        return lambda loop: loop
    made = compile_loops([count_solutions, slipping_mobility])
    return lambda loop: made[loop]


def counted(run, A, b):
    A, b = np.atleast_2d(np.asarray(A, float)), np.atleast_1d(np.asarray(b, float))
    k = len(b)
    f = np.full(k, np.nan)
    return run(count_solutions)(k, A.ravel(), b, f, np.full(counting_area(k), np.nan)), f


def rod(theta, mu):
    """A rod of mass 1 and half-length 1, its lower tip sliding to the right, at θ from the floor.

    The tip is ahead of the middle, at (cos θ, −sin θ): p(θ) = 1 + 3 cos θ (cos θ − μ sin θ).
    """
    x, y = np.cos(theta), -np.sin(theta)
    build = Builder()
    load = build.add(ONE_WAY, [0.0, 1.0, x])
    build.add(DISC, [1.0, 0.0, -y], (mu, 0, 0), load)
    return build.scene([1, 1, 3], [1, 0, 0])


def p_of_the_rod(run, theta, mu):
    scene = rod(theta, mu)
    A_mu, b = np.zeros(1), np.zeros(1)
    tables = scene.blocks.ravel(), scene.limits.ravel()
    k = run(slipping_mobility)(2, 2, scene.A.ravel(), np.zeros(2), *tables, scene.b, A_mu, b)
    assert k == 1
    return A_mu[0]


@pytest.mark.parametrize("mu", [0.3, 1.2, 4 / 3 - 1e-6, 4 / 3 + 1e-6, 1.6, 3.0])
def test_the_rod_has_no_or_two_motions_exactly_where_p_is_negative(run, mu):
    angles = np.concatenate([np.linspace(0.01, np.pi / 2 - 0.01, 60), [np.arctan(2)]])
    for theta in angles:
        p = 1 + 3 * np.cos(theta) * (np.cos(theta) - mu * np.sin(theta))
        assert p_of_the_rod(run, theta, mu) == pytest.approx(p, abs=1e-13)
        pressed, _ = counted(run, p, -1.0)
        lifted, _ = counted(run, p, 1.0)
        assert (pressed, lifted) == ((1, 1) if p > 0 else (0, 2))
    dangerous = [1 + 3 * np.cos(t) * (np.cos(t) - mu * np.sin(t)) < 0 for t in angles]
    assert any(dangerous) == (mu > 4 / 3)


def test_the_threshold_is_four_thirds_at_atan_2(run):
    assert p_of_the_rod(run, np.arctan(2), 4 / 3) == pytest.approx(0, abs=1e-14)


def test_without_friction_there_is_one_motion_however_many_loads(run):
    legs = np.array([[1, x, y] for x, y in product((-1, 1), repeat=2)], dtype=float)
    A = legs @ np.diag([1, 3, 3]) @ legs.T
    count, f = counted(run, A, -np.ones(4))
    assert count == 1
    assert f.sum() == pytest.approx(1)


def test_numbers_of_solutions_of_two_contacts(run):
    # an LCP with three solutions, one with none, one with one
    assert counted(run, [[1.0, 2.0], [2.0, 1.0]], [-1.0, -1.0])[0] == 3
    assert counted(run, [[-1.0, 0.0], [0.0, 1.0]], [-1.0, 1.0])[0] == 0
    assert counted(run, [[2.0, 1.0], [1.0, 2.0]], [-1.0, -1.0])[0] == 1


def test_a_p_matrix_has_one_motion_whatever_acts(run):
    rng = np.random.default_rng(2)
    for _ in range(20):
        x = rng.normal(size=(4, 4))
        skew = rng.normal(size=(4, 4))
        A = x @ x.T + np.eye(4) + (skew - skew.T)
        b = rng.normal(size=4)
        count, f = counted(run, A, b)
        u = A @ f + b
        assert count == 1
        assert min(f.min(), u.min()) > -1e-10
        assert abs(f @ u) < 1e-10


def test_more_contacts_than_can_be_tried_are_told(run):
    n = MOST + 1
    assert counted(run, np.eye(n), -np.ones(n))[0] == -1


def test_slip_folds_ellipses_and_constant_bounds(run):
    rng = np.random.default_rng(4)
    build = Builder()
    load = build.add(ONE_WAY, rng.normal(size=6))
    build.add(DISC, rng.normal(size=(2, 6)), (0.5, 0.2, 0), load)
    build.add(DISC, rng.normal(size=6), (0.1, 0, 0.3), load)
    scene = build.scene(np.ones(6), rng.normal(size=6))
    u, b = scene.b, rng.normal(size=4)
    A_mu, b_mu = np.zeros(1), np.zeros(1)
    tables = scene.blocks.ravel(), scene.limits.ravel()
    run(slipping_mobility)(4, 3, scene.A.ravel(), b, *tables, u, A_mu, b_mu)
    a = np.array([0.5, 0.2])
    per_load = np.array([1, *(-a * a * u[1:3] / np.linalg.norm(a * u[1:3])), -0.1 * np.sign(u[3])])
    assert A_mu[0] == pytest.approx(scene.A[0] @ per_load)
    assert b_mu[0] == pytest.approx(b[0] - 0.3 * np.sign(u[3]) * scene.A[0, 3])
