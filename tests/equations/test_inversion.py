"""Matrices of formulas and their inverses, also where a pivot would vanish."""

import numpy as np
import pytest

from liaison.equations.transform.inversion import Dependence, inverted, is_null
from liaison.exact.residues import residues
from liaison.expr import as_expr, cos, evaluate, sin, symbol
from liaison.model import EulerZXZ, Spherical
from liaison.spatial.arrays import array, product

A, B, C, D = (symbol(name) for name in "abcd")


def is_identity(X):
    flat = [as_expr(X[i, j]) - int(i == j) for i in range(len(X)) for j in range(len(X))]
    return not any(evaluate(flat, domain=residues(seed=5)))


@pytest.mark.parametrize(
    "rows",
    [
        [[A]],
        [[A, B], [C, D]],
        [[A, B, 0], [0, C, D], [1, 0, A]],
        [[1, 0, A, 0], [0, 2, 0, 0], [B, 0, 1, C], [0, 0, D, 1]],
        [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
        [[A, B, C, D], [B, C, D, A], [C, D, A, 1], [D, 1, B, A]],
    ],
)
def test_a_matrix_times_its_inverse_is_the_identity(rows):
    matrix = array(rows)
    assert is_identity(product(matrix, inverted(matrix)))
    assert is_identity(product(inverted(matrix), matrix))


@pytest.mark.parametrize(
    ("rows", "row"),
    [
        ([[A, B], [2 * A, 2 * B]], 1),
        ([[1, 0], [1, 0]], 1),
        ([[1, 0, 0], [0, A, B], [0, A * A, A * B]], 2),
    ],
)
def test_rows_that_depend_on_each_other_are_refused(rows, row):
    with pytest.raises(Dependence) as refused:
        inverted(array(rows))
    assert refused.value.row == row


def test_the_inverse_of_eulers_angles_is_finite_wherever_they_are_regular():
    precession, nutation, spin = (symbol(x) for x in ("psi", "theta", "phi"))
    S = Spherical(EulerZXZ()).subspace([precession, nutation, spin])[:3]
    W = inverted(S)
    for angle in (0.0, np.pi / 2, 1.0):
        at = {precession: 0.0, nutation: 1.0, spin: angle}
        found = np.array(evaluate([as_expr(x) for x in W.flat], at)).reshape(3, 3)
        assert np.all(np.isfinite(found))


def test_what_vanishes_is_known():
    assert is_null(sin(A) ** 2 + cos(A) ** 2 - 1)
    assert is_null((A + B) ** 2 - A * A - 2 * A * B - B * B)
    assert not is_null(A - B)
