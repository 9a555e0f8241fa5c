"""One contact alone: its closed form is what the general solver finds."""

import numpy as np
import pytest

from liaison.program.loops.compile import compile_loops
from liaison.program.loops.records import Rows
from liaison.solvers.cones.cones import cone_area, solve_cones
from liaison.solvers.cones.lone import NOT_ALONE, lone_contact
from liaison.solvers.cones.table import DISC, ONE_WAY, Cone, Limit

EXACT = 1e-12


def contact(mu, rows=2):
    """Tables of a load and of a disc of one row that it bounds."""
    blocks = np.array([ONE_WAY, 0, 1, -1, DISC, 1, 1, 0])[: 4 * rows]
    limits = np.array([0.0, 0.0, 0.0, mu, mu, 0.0])[: 3 * rows]
    return Rows(Cone, blocks), Rows(Limit, limits)


def alone(A, b, mu, run=lone_contact):
    f, m = np.zeros(len(b)), len(b)
    residual = run(m, m, A.ravel().copy(), b.copy(), *contact(mu, m), f)
    return f, residual


@pytest.fixture(scope="module")
def compiled():
    return compile_loops([solve_cones, lone_contact])


def test_the_closed_form_is_what_the_general_solver_finds(compiled):
    """Open, stuck and slipping both ways, with normal and tangent coupled."""
    rng = np.random.default_rng(7)
    kinds = set()
    for _ in range(300):
        root = rng.normal(size=(2, 2))
        A, b = root @ root.T + 0.3 * np.eye(2), rng.normal(size=2)
        mu = rng.uniform(0.0, 0.9)
        f, residual = alone(A, b, mu, compiled[lone_contact])
        if residual == NOT_ALONE:
            assert A[0, 0] <= mu * abs(A[0, 1]) * (1 + 1e-5) + 1e-6 * A[0, 0]
            continue
        general = np.zeros(2)
        area = np.zeros(cone_area(2, 2))
        compiled[solve_cones](2, 2, A.ravel(), b, *contact(mu), general, area)
        assert f == pytest.approx(general, abs=1e-10)
        assert residual < EXACT
        slips = abs(f[1]) > (1 - 1e-12) * mu * f[0]
        kinds.add("open" if f[0] == 0 else "slips" if slips else "sticks")
    assert kinds == {"open", "slips", "sticks"}


def test_plain_python_is_the_machine_code(compiled):
    A, b = np.array([[2.0, 0.4], [0.4, 1.0]]), np.array([-1.0, 0.8])
    for mu in (0.0, 0.3, 2.0):
        plain, machine = alone(A, b, mu), alone(A, b, mu, compiled[lone_contact])
        assert plain[0] == pytest.approx(machine[0], abs=1e-15)


def test_a_load_without_friction():
    f, residual = alone(np.array([[4.0]]), np.array([-2.0]), 0.0)
    assert (f[0], residual) == (0.5, 0.0)
    assert alone(np.array([[4.0]]), np.array([2.0]), 0.0)[0][0] == 0.0


def test_what_may_have_more_than_one_solution_is_left_to_others():
    """Painlevé: friction that lifts as much as the load presses."""
    A = np.array([[1.0, 0.9], [0.9, 1.0]])
    assert alone(A, np.array([-1.0, 1.0]), 1.2)[1] == NOT_ALONE
    assert alone(A, np.array([np.nan, 1.0]), 0.3)[1] == NOT_ALONE
    assert alone(A[:1, :1], np.array([np.nan]), 0.3)[1] == NOT_ALONE
    assert alone(np.zeros((2, 2)), np.array([-1.0, 1.0]), 0.3)[1] == NOT_ALONE
