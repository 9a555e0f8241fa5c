"""Sums of eight numbers side by side: the bits of sums one by one, plain and compiled."""

import numpy as np
import pytest

from liaison.program.loops.compile import compile_loops
from liaison.solvers.linear.dense import cholesky
from liaison.solvers.linear.eights import (
    cholesky_of_columns,
    minus_eights,
    pack,
    panel_numbers,
    panels,
    products,
    solve_panels,
    take_out,
    unpack,
)

LOOPS = [
    cholesky, cholesky_of_columns, minus_eights, pack, products, solve_panels, take_out, unpack,
]  # fmt: skip


@pytest.fixture(scope="module", params=["plain", "compiled", "vectors"])
def run(request):
    """Loop -> callable, as plain Python or as machine code."""
    if request.param == "plain":
        return lambda loop: loop
    made = compile_loops(LOOPS, tight=request.param == "vectors")
    return lambda loop: made[loop]


def positive(n, seed=1):
    x = np.random.default_rng(seed).normal(size=(n, n))
    return x @ x.T + n * np.eye(n)


def one_by_one(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += a * b
    return total


def lower(M):
    """L of Cholesky, each sum by itself."""
    L = np.tril(M)
    for i in range(len(L)):
        for j in range(i):
            L[i, j] = (L[i, j] - one_by_one(L[i, :j], L[j, :j])) / L[j, j]
        L[i, i] = np.sqrt(L[i, i] - one_by_one(L[i, :i], L[i, :i]))
    return L


@pytest.mark.parametrize("n", [1, 3, 8, 13, 22])
def test_cholesky_has_the_bits_of_sums_one_by_one(run, n):
    M = positive(n)
    for loop in (cholesky, cholesky_of_columns):
        L = M.copy().ravel()
        assert run(loop)(n, L) == 0
        assert np.array_equal(np.tril(L.reshape(n, n)), lower(M))


def test_cholesky_says_which_row_failed(run):
    M = positive(11)
    M[6, 6] = -1.0
    assert run(cholesky)(11, M.copy().ravel()) == 7
    assert run(cholesky_of_columns)(11, M.ravel()) == 7


@pytest.mark.parametrize(("m", "n"), [(1, 4), (7, 5), (8, 8), (19, 11)])
def test_vectors_side_by_side_are_solved_and_multiplied_as_one_by_one(run, m, n):
    rng = np.random.default_rng(2)
    rows, q = rng.normal(size=(m, n)), rng.normal(size=n)
    q /= np.linalg.norm(q)
    L = lower(positive(n))
    inverse = 1 / L.diagonal()
    B = np.full(int(panel_numbers(m, n)) + 8, np.nan)
    for c in range(m):
        run(pack)(c, n, rows[c].copy(), B)
    run(solve_panels)(n, int(panels(m)), L.ravel().copy(), inverse, B, B[-8:])
    run(take_out)(n, int(panels(m)), q, B, B[-8:])
    X = np.empty((m, n))
    for c in range(m):
        x = np.empty(n)
        run(unpack)(c, n, B, x)
        X[c] = x
    expected = rows.copy()
    for x in expected:
        for i in range(n):
            x[i] = (x[i] - one_by_one(L[i, :i], x[:i])) * inverse[i]
        along = one_by_one(q, x)
        for i in range(n):
            x[i] -= along * q[i]
    assert np.array_equal(X, expected)
    A = np.empty(m * m)
    run(products)(m, n, B, A, B[-8:])
    assert np.array_equal(A.reshape(m, m), [[one_by_one(x, y) for y in X] for x in X])


@pytest.mark.parametrize("n", [0, 5, 8, 21])
def test_a_multiple_is_taken_off(run, n):
    x, y = np.random.default_rng(3).normal(size=(2, n + 1))
    expected = y - 0.3 * x
    expected[n] = y[n]
    run(minus_eights)(n, 0.3, x, y)
    assert np.array_equal(y, expected)
