"""Dense algebra of the fallback against NumPy, as plain Python and compiled."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from liaison.program.loops.compile import compile_loops
from liaison.solvers.linear.dense import (
    RANK_TOLERANCE,
    backward_solve,
    cholesky,
    forward_solve,
    largest,
    pivoted_qr,
    saddle,
    saddle_area,
    shortest,
    solve_rows,
)

LOOPS = [cholesky, forward_solve, backward_solve, largest, pivoted_qr, saddle, shortest, solve_rows]


@pytest.fixture(scope="module", params=["plain", "compiled"])
def run(request):
    """Loop -> callable, as plain Python or as machine code."""
    if request.param == "plain":
        return lambda loop: loop
    made = compile_loops(LOOPS)
    return lambda loop: made[loop]


def positive(rng, n):
    x = rng.normal(size=(n, n))
    return x @ x.T + n * np.eye(n)


def test_cholesky_and_its_solves(run):
    M = positive(np.random.default_rng(1), 6)
    L = M.copy().ravel()
    assert run(cholesky)(6, L) == 0
    assert_allclose(np.tril(L.reshape(6, 6)), np.linalg.cholesky(M), rtol=1e-13)
    b = np.arange(6.0)
    x = b.copy()
    run(forward_solve)(6, L, x)
    run(backward_solve)(6, L, x)
    assert_allclose(x, np.linalg.solve(M, b), rtol=1e-12)


def test_cholesky_names_the_row_where_it_fails(run):
    M = np.diag([1.0, 2.0, 0.0, 3.0])
    assert run(cholesky)(4, M.ravel().copy()) == 3
    assert run(cholesky)(4, np.diag([1.0, -1.0, 1.0, 1.0]).ravel()) == 2


@pytest.mark.filterwarnings("ignore:invalid value")  # NumPy tells what plain Python meets
def test_largest_sees_what_is_not_finite(run):
    assert run(largest)(3, np.array([1.0, -3.0, 2.0])) == 3.0
    assert run(largest)(0, np.array([1.0])) == 0.0
    for bad in (np.nan, np.inf, -np.inf):
        for place in range(3):
            x = np.array([1.0, 2.0, 3.0])
            x[place] = bad
            assert np.isnan(run(largest)(3, x))


@pytest.mark.parametrize(("m", "n", "rank"), [(3, 5, 3), (5, 5, 2), (7, 3, 3), (4, 6, 1)])
def test_pivoted_qr_finds_rank_and_factors(run, m, n, rank):
    rng = np.random.default_rng(m + 10 * n)
    A = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
    rows, R, order = A.copy().ravel(), np.zeros(m * m), np.zeros(m)
    assert run(pivoted_qr)(m, n, rows, R, order, RANK_TOLERANCE) == rank
    Q, R = rows.reshape(m, n)[:rank], np.triu(R.reshape(m, m))[:rank]
    assert_allclose(Q @ Q.T, np.eye(rank), atol=1e-14)
    assert_allclose(R.T @ Q, A[order.astype(int)], atol=1e-12)


def solved(run, M, G, f, gamma):
    nv, nc = M.shape[0], len(gamma)
    vdot, lam, row = np.zeros(nv), np.zeros(nc), np.zeros(1, dtype=np.int64)
    area = np.zeros(saddle_area(nv, nc))
    miss = run(saddle)(nv, nc, M.ravel(), G.ravel(), f, gamma, vdot, lam, row, area)
    return miss, vdot, lam, int(row[0])


@pytest.mark.parametrize(
    ("nv", "nc", "rank"), [(5, 3, 3), (5, 4, 2), (4, 7, 3), (6, 0, 0), (3, 3, 3)]
)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_saddle_whatever_the_rank_and_the_masses(run, nv, nc, rank, scale):
    rng = np.random.default_rng(nv + 10 * nc)
    M = positive(rng, nv) * scale
    G = rng.normal(size=(nc, rank)) @ rng.normal(size=(rank, nv))
    f, gamma = rng.normal(size=nv), G @ rng.normal(size=nv)
    miss, vdot, lam, _ = solved(run, M, G, f, gamma)
    # oracle: v̇ = particular + null-space part, by the SVD of G
    Vt = np.linalg.svd(G)[2] if nc else np.eye(nv)
    Z = Vt[rank:].T
    v0 = np.linalg.pinv(G, rcond=1e-12) @ gamma if nc else np.zeros(nv)
    expected = v0 + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (f - M @ v0)) if Z.size else v0
    assert_allclose(vdot, expected, rtol=1e-9, atol=1e-9 * np.max(np.abs(expected)))
    assert_allclose(M @ vdot, f + G.T @ lam, rtol=1e-9, atol=1e-9 * np.max(np.abs(M @ vdot)))
    assert miss <= 1e-10 * max(1.0, np.max(np.abs(vdot)) * np.sqrt(scale))


def test_multipliers_of_repeated_rows_are_shared(run):
    """One row given three times: each carries a third, the shortest solution."""
    M, g = np.eye(2), np.array([[1.0, 0.0]])
    _, _, once, _ = solved(run, M, g, np.array([-3.0, 1.0]), np.zeros(1))
    _, vdot, lam, _ = solved(run, M, np.repeat(g, 3, axis=0), np.array([-3.0, 1.0]), np.zeros(3))
    assert_allclose(once, [3.0])
    assert_allclose(lam, [1.0, 1.0, 1.0])
    assert_allclose(vdot, [0.0, 1.0], atol=1e-15)


def test_a_row_of_which_rounding_is_left_asks_nothing(run):
    """Moments across parallel hinges come out as 1e-17: no direction to hold."""
    G = np.array([[1.0, 1.0, 0.0], [3e-17, -1e-17, 2e-17]])
    miss, vdot, lam, _ = solved(run, np.eye(3), G, np.array([1.0, 2.0, 3.0]), np.array([0, 1e-16]))
    assert_allclose(vdot, [-0.5, 0.5, 3.0], atol=1e-14)
    assert_allclose(lam, [-1.5, 0.0], atol=1e-14)
    assert miss < 1e-15


def test_contradicting_rows_are_told(run):
    G = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    miss, _, _, row = solved(run, np.eye(2), G, np.zeros(2), np.array([1.0, 0.0, 2.0]))
    assert miss == pytest.approx(1.0)
    assert row in (0, 2)


def test_a_velocity_without_inertia_that_the_rows_hold(run):
    """m₂ = 0, tied to body 1 by v₂ = 2 v₁: v̇₁ = f₁ + 2 f₂."""
    G = np.array([[2.0, -1.0]])
    miss, vdot, lam, _ = solved(run, np.diag([1.0, 0.0]), G, np.array([3.0, 4.0]), np.zeros(1))
    assert_allclose(vdot, [11.0, 22.0], rtol=1e-12)
    assert_allclose(lam, [4.0], rtol=1e-12)
    assert miss <= 1e-12


def test_a_velocity_that_nothing_holds_is_told(run):
    miss, *_ = solved(run, np.diag([1.0, 0.0]), np.array([[1.0, 0.0]]), np.ones(2), np.zeros(1))
    assert miss == -1.0
