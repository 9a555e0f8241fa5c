"""Painlevé's configurations: the rod of the textbooks, and numbers of solutions found otherwise."""

from itertools import product

import numpy as np
import pytest

from liaison.program.loops.compile import compile_loops
from liaison.solvers.impacts.painleve import MOST, count_solutions, counting_area


@pytest.fixture(scope="module", params=["plain", "compiled"])
def run(request):
    if request.param == "plain":
        return lambda loop: loop
    made = compile_loops([count_solutions])
    return lambda loop: made[loop]


def counted(run, A, b):
    A, b = np.atleast_2d(np.asarray(A, float)), np.atleast_1d(np.asarray(b, float))
    k = len(b)
    f = np.full(k, np.nan)
    return run(count_solutions)(k, A.ravel(), b, f, np.full(counting_area(k), np.nan)), f


def p_of_the_rod(theta, mu):
    """A_μ of a rod of mass 1 and half-length 1, at θ, its lower tip sliding ahead."""
    return 1 + 3 * np.cos(theta) * (np.cos(theta) - mu * np.sin(theta))


@pytest.mark.parametrize("mu", [0.3, 1.2, 4 / 3 - 1e-6, 4 / 3 + 1e-6, 1.6, 3.0])
def test_the_rod_has_no_or_two_motions_exactly_where_p_is_negative(run, mu):
    angles = np.concatenate([np.linspace(0.01, np.pi / 2 - 0.01, 60), [np.arctan(2)]])
    for theta in angles:
        p = p_of_the_rod(theta, mu)
        pressed, _ = counted(run, p, -1.0)
        lifted, _ = counted(run, p, 1.0)
        assert (pressed, lifted) == ((1, 1) if p > 0 else (0, 2))
    assert any(p_of_the_rod(theta, mu) < 0 for theta in angles) == (mu > 4 / 3)


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
