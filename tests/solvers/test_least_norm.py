"""Least squares of least norm against NumPy, as plain Python and compiled."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from liaison.program.loops.compile import compile_loops
from liaison.solvers.linear.dense import RANK_TOLERANCE as RANK
from liaison.solvers.linear.dense import least_norm, least_norm_area


@pytest.fixture(scope="module", params=["plain", "compiled"])
def solve(request):
    """A, b -> x and the number of singular values used."""
    run = least_norm if request.param == "plain" else compile_loops([least_norm])[least_norm]

    def solved(A, b):
        m, n = A.shape
        x, area = np.full(n, np.nan), np.zeros(least_norm_area(m, n) + 1)
        used = run(m, n, A.ravel().copy(), np.array(b), x, RANK, area)
        return x, used

    return solved


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (5, 2), (6, 6), (12, 9), (3, 0), (0, 3)])
def test_agrees_with_numpy_at_full_rank(solve, shape):
    rng = np.random.default_rng(sum(shape))
    A, b = rng.normal(size=shape), rng.normal(size=shape[0])
    x, used = solve(A, b)
    assert used == min(shape)
    assert_allclose(x, np.linalg.lstsq(A, b, rcond=RANK)[0], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("small", [0.0, 1e-10, 1e-7])
@pytest.mark.parametrize("shape", [(7, 5), (5, 7)])
def test_agrees_where_rank_is_lost_or_nearly(solve, shape, small):
    """A singular value below RANK of the largest is left out, one above it is used."""
    rng = np.random.default_rng(3)
    U, _ = np.linalg.qr(rng.normal(size=(shape[0], 5)))
    V, _ = np.linalg.qr(rng.normal(size=(shape[1], 5)))
    A = U @ np.diag([3.0, 1.0, 0.5, 3 * small, 0.0]) @ V.T
    b = A @ rng.normal(size=shape[1])
    x, used = solve(A, b)
    assert used == (4 if small > RANK else 3)
    assert_allclose(x, np.linalg.lstsq(A, b, rcond=RANK)[0], atol=1e-14 / max(small, 1e-2))


def test_rows_that_contradict_each_other_are_met_on_the_average(solve):
    x, used = solve(np.array([[1.0, 0.0], [1.0, 0.0]]), [1.0, 3.0])
    assert used == 1
    assert_allclose(x, [2.0, 0.0], atol=1e-15)


def test_a_matrix_of_zeros_asks_nothing(solve):
    x, used = solve(np.zeros((3, 4)), [1.0, 2.0, 3.0])
    assert used == 0
    assert_allclose(x, 0.0)
