"""Inverses of matrices: against NumPy, against SymPy, and by the laws they obey."""

import numpy as np
import pytest

from liaison.algebra import (
    IDENTITY,
    cross,
    derivative,
    determinant,
    dot,
    inverse,
    is_zero,
    is_zero_by_components,
    matrix,
    mixed,
    quaternion,
    reduced,
    replaced,
    rotation_matrix,
    scalar,
    tilde,
    to_latex,
    to_mathml,
    to_sympy,
    trace,
    vector,
)
from liaison.algebra.components import components
from liaison.errors import DerivationError
from liaison.expr import evaluate

A, B, S = matrix("A"), matrix("B"), matrix("S", symmetric=True)
R = rotation_matrix("R")
a, b, s = vector("a"), vector("b"), scalar("s")

ROUNDING = 1e-12
"""Of sums of a few products of numbers near 1."""


def numbers(x, values):
    """An expression at matrices and vectors of floats."""
    entries = components(x, values)
    return np.array([float(f) for f in evaluate(list(np.ravel(entries)), {})]).reshape(
        entries.shape
    )


@pytest.fixture
def values():
    rng = np.random.default_rng(5)
    return {A: rng.normal(size=(3, 3)), B: rng.normal(size=(3, 3)), a: rng.normal(size=3)}


@pytest.mark.parametrize(
    "x", [inverse(A), inverse(A @ B), inverse(A + B), inverse(A.T @ inverse(B)), A**-3]
)
def test_an_inverse_is_that_of_numpy(x, values):
    M, N = values[A], values[B]
    wanted = {
        inverse(A): np.linalg.inv(M),
        inverse(A @ B): np.linalg.inv(M @ N),
        inverse(A + B): np.linalg.inv(M + N),
        inverse(A.T @ inverse(B)): np.linalg.inv(M.T @ np.linalg.inv(N)),
        A**-3: np.linalg.matrix_power(np.linalg.inv(M), 3),
    }[x]
    assert np.allclose(numbers(x, values), wanted, rtol=1e-9, atol=ROUNDING)
    assert np.allclose(numbers(reduced(x), values), wanted, rtol=1e-9, atol=ROUNDING)


def test_the_derivative_is_that_of_a_difference(values):
    """M(t) = M + t N: dM⁻¹/dt at 0 by central differences."""
    M, N = values[A], values[B]
    h = 1e-5
    wanted = (np.linalg.inv(M + h * N) - np.linalg.inv(M - h * N)) / (2 * h)
    found = numbers(derivative(inverse(A)), {A: M, derivative(A): N})
    assert np.allclose(found, wanted, rtol=1e-6)


def test_laws_of_inverses():
    assert inverse(inverse(A)) is A
    assert inverse(A @ B) is inverse(B) @ inverse(A)
    assert inverse(A.T) is inverse(A).T
    assert inverse(R) is R.T
    assert inverse(s * A) is s**-1 * inverse(A)
    assert reduced(inverse(S).T) is inverse(S)
    assert reduced(A @ B @ inverse(A @ B)) is IDENTITY
    assert reduced(derivative(A @ inverse(A))) is reduced(A - A)
    assert reduced(inverse(A + A)) is reduced(inverse(A) * as_half())
    assert replaced(inverse(A), {A: R}) is R.T
    assert reduced(determinant(inverse(A)) * determinant(A)) is reduced(dot(a, a) ** 0)


def as_half():
    """The number one half."""
    from fractions import Fraction

    from liaison.algebra import as_formal

    return as_formal(Fraction(1, 2))


@pytest.mark.parametrize(
    "wrong",
    [
        inverse(A @ B) - inverse(A) @ inverse(B),
        inverse(A + B) - inverse(A) - inverse(B),
        inverse(A) - A.T,
        derivative(inverse(A)) - inverse(derivative(A)),
        inverse(A) @ B @ A - B,
        determinant(inverse(A)) - determinant(A),
    ],
)
def test_what_is_no_law_does_not_reduce_to_zero(wrong):
    assert not is_zero(wrong)
    assert not is_zero_by_components(wrong)


def test_what_turns_out_singular_has_no_inverse():
    with pytest.raises(ValueError, match="determinant 0"):
        reduced(inverse(A - A + tilde(a)))
    with pytest.raises(ValueError, match="determinant 0"):
        reduced(inverse(A - A))


@pytest.mark.parametrize(
    "x",
    [
        inverse(A @ B) @ a,
        tilde(a) @ inverse(A + B) @ a,
        dot(a, a) * cross(a, B.T @ a),
        (trace(A) + determinant(B) + mixed(a, A @ a, B @ a)) * inverse(A).T,
        2 * a @ a.T @ A**-2,
    ],
)
def test_sympy_has_the_same_entries(x, values):
    import sympy

    numbers_of = {
        sympy.MatrixSymbol(k.data.name, *np.shape(np.atleast_2d(v.T).T)): sympy.Matrix(v)
        for k, v in values.items()
    }
    ours, theirs = numbers(x, values), to_sympy(x).subs(numbers_of).doit()
    entries = np.array(theirs.as_explicit().tolist(), dtype=float).reshape(ours.shape)
    assert np.allclose(entries, ours, rtol=1e-9, atol=ROUNDING)


def test_sympy_names_what_it_has_not():
    with pytest.raises(DerivationError, match="a quaternion"):
        to_sympy(quaternion("q"))


def test_an_inverse_is_typeset():
    assert to_latex(inverse(A)) == "{A}^{-1}"
    assert "<mn>1</mn></mrow></msup>" in to_mathml(inverse(A))
