"""One contact alone: its closed form is what the general solver finds."""

import numpy as np
import pytest

from liaison.program.loops.compile import compile_loops
from liaison.program.loops.records import Rows
from liaison.solvers.cones.cones import cone_area, solve_cones
from liaison.solvers.cones.lone import NOT_ALONE, STOP_WORDS, contact_and_stop, lone_contact
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
    return compile_loops([solve_cones, lone_contact, contact_and_stop])


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


def pair(mu, rows=3, load=1):
    """Tables of two loads, and of a disc of one row that one of them bounds."""
    blocks = np.array([ONE_WAY, 0, 1, -1, ONE_WAY, 1, 1, -1, DISC, 2, 1, load])[: 4 * rows]
    limits = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, mu, mu, 0.0])[: 3 * rows]
    return Rows(Cone, blocks), Rows(Limit, limits)


def beside(A, b, mu, load=1, run=contact_and_stop):
    f, m = np.zeros(len(b)), len(b)
    residual = run(m, m, A.ravel().copy(), b.copy(), *pair(mu, m, load), f, np.zeros(STOP_WORDS))
    return f, residual


@pytest.mark.parametrize(("rows", "load"), [(2, 1), (3, 0), (3, 1)])
def test_a_contact_beside_a_stop_is_what_the_general_solver_finds(compiled, rows, load):
    """Both open or closed, and the contact stuck or slipping, all coupled."""
    rng = np.random.default_rng(11)
    kinds, left = set(), 0
    for _ in range(400):
        root = rng.normal(size=(rows, rows))
        A, b = root @ root.T + 0.5 * np.eye(rows), rng.normal(size=rows)
        mu = rng.uniform(0.0, 0.7)
        f, residual = beside(A, b, mu, load, compiled[contact_and_stop])
        if residual == NOT_ALONE:
            left += 1
            continue
        general = np.zeros(rows)
        area = np.zeros(cone_area(rows, rows))
        compiled[solve_cones](rows, rows, A.ravel(), b, *pair(mu, rows, load), general, area)
        assert f == pytest.approx(general, abs=1e-9)
        assert 0.0 <= residual < EXACT
        slips = rows == 3 and abs(f[2]) > (1 - 1e-12) * mu * f[load] > 0
        kinds.add((bool(f[0] > 0), bool(f[1] > 0), bool(slips)))
    assert len(kinds) == (4 if rows == 2 else 6)
    assert left < 100


def test_what_is_no_contact_beside_a_stop_is_left_to_others():
    A, b = np.eye(3) + 0.1, np.array([-1.0, -1.0, 0.3])
    assert beside(A, b, 0.3)[1] >= 0.0
    assert beside(A, np.array([np.nan, -1.0, 0.3]), 0.3)[1] == NOT_ALONE
    assert beside(A[:2, :2].copy(), np.array([-1.0, np.nan]), 0.3)[1] == NOT_ALONE
    assert beside(A[:1, :1].copy(), b[:1], 0.3)[1] == NOT_ALONE
    depending = np.ones((3, 3))
    assert beside(depending, b, 0.3)[1] == NOT_ALONE
