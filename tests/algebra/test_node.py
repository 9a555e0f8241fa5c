"""Expressions are interned, have a kind, say what was written, and refuse what does not compose."""

import copy
import gc
import pickle
from fractions import Fraction

import pytest

from liaison.algebra import (
    IDENTITY,
    as_formal,
    axial,
    cross,
    determinant,
    dot,
    inverse,
    matrix,
    mixed,
    quaternion,
    replaced,
    rotation_matrix,
    scalar,
    tilde,
    to_latex,
    to_text,
    trace,
    vector,
    zero,
)
from liaison.algebra.node import _NODES
from liaison.expr import sin, symbol

a, b, c = map(vector, "abc")
A, B, R = matrix("A"), matrix("B"), rotation_matrix("R")
s = scalar("s")


def test_equal_expressions_are_one_object_also_when_copied_or_pickled():
    x = s * cross(a, b) + A @ c
    assert x is scalar("s") * cross(vector("a"), vector("b")) + matrix("A") @ vector("c")
    assert copy.copy(x) is x
    assert copy.deepcopy(x) is x
    assert pickle.loads(pickle.dumps(x)) is x


def test_symbols_with_other_properties_are_other_symbols():
    assert vector("a") is not vector("a", unit=True)
    assert matrix("A") is not matrix("A", symmetric=True)


def test_what_nobody_holds_is_forgotten():
    gc.collect()
    before = len(_NODES)
    x = cross(vector("here today"), vector("gone tomorrow"))
    assert len(_NODES) == before + 3
    del x
    gc.collect()
    assert len(_NODES) == before


def test_a_long_sum_is_flat_and_needs_no_recursion():
    x = zero("vector")
    for index in range(1500):
        x = x + scalar(f"s{index}") * a
    assert len(x.args) == 1500
    nested = a
    for _ in range(1500):
        nested = cross(nested, b)
    assert to_text(nested).count("×") == 1500


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (a + zero("vector"), "a"),
        (0 * a, "0"),
        (1 * a, "a"),
        (A @ IDENTITY @ a, "A a"),
        (2 * IDENTITY, "2 1"),
        (-a - b, "-a - b"),
        (a - (b + c), "a - (b + c)"),
        (s * (a + b), "s (a + b)"),
        (A.T.T, "A"),
        (cross(a, cross(b, c)), "a × (b × c)"),
        (dot(a, b) * c, "(a · b) c"),
        (a @ b.T, "a bᵀ"),
        (a.T @ A @ b, "aᵀ A b"),
        ((A @ B).T, "(A B)ᵀ"),
        (A**2, "A²"),
        (a / 2, "1/2 a"),
        (Fraction(2, 3) * a, "2/3 a"),
        (tilde(a) @ b, "ã b"),
        (tilde(R @ a), "(R a)~"),
        (mixed(a, b, c), "[a, b, c]"),
        (trace(A) * determinant(A), "tr(A) det(A)"),
        (vector("gamma(G1)"), "γ(G₁)"),
        (tilde(vector("omega12")), "ω̃₁₂"),
        (symbol("m") * sin(symbol("x")) * a, "m*sin(x) a"),
        ((symbol("m") + 1) * a, "(m + 1) a"),
        (inverse(R @ R), "Rᵀ Rᵀ"),
        (inverse(2 * R), "1/2 Rᵀ"),
        (inverse(2 * A @ B.T), "1/2 (B⁻¹)ᵀ A⁻¹"),
        (A**-2, "(A⁻¹)²"),
        (inverse(A + B), "(A + B)⁻¹"),
    ],
)
def test_text(expression, text):
    assert to_text(expression) == text
    assert repr(expression) == text


@pytest.mark.parametrize(
    ("expression", "latex"),
    [
        (vector("gamma(G1)"), r"\vec{\gamma}(G_{1})"),
        (vector("O1G1"), r"\overrightarrow{O_{1}G_{1}}"),
        (tilde(vector("omega1")) @ a, r"\tilde{\omega}_{1}\,\vec{a}"),
        (cross(a, b), r"\vec{a} \times \vec{b}"),
        (R.T @ a, r"{R}^{\mathsf{T}}\,\vec{a}"),
        (tilde(A @ a), r"\widetilde{A\,\vec{a}}"),
        (mixed(a, b, c), r"\left[\vec{a}, \vec{b}, \vec{c}\right]"),
    ],
)
def test_latex(expression, latex):
    assert to_latex(expression) == latex
    assert expression._repr_latex_() == rf"$\displaystyle {latex}$"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: a + A, "cannot add the vector a and the matrix A"),
        (lambda: a + 1, "cannot add the vector a and the scalar 1"),
        (lambda: a * b, "dot(a, b) and cross(a, b)"),
        (lambda: a @ b, "1 columns meet 3 rows"),
        (lambda: A @ a.T, "3 columns meet 1 rows"),
        (lambda: a / b, "only a scalar can"),
        (lambda: a**2, "has no powers"),
        (lambda: A ** Fraction(1, 2), "whole number"),
        (lambda: dot(a, A), "takes a vector, not the matrix A"),
        (lambda: cross(a, 2), "takes a vector, not 2"),
        (lambda: tilde(A), "takes a vector"),
        (lambda: vector(""), "named by a text"),
        (lambda: quaternion("q") * quaternion("p") @ a, "quaternion meets quaternions only"),
        (lambda: bool(a), "is_zero(x)"),
        (lambda: replaced(cross(a, b), {a: A}), "cannot become the matrix A"),
        (lambda: a + "b", "no formula is made of 'b'"),
    ],
)
def test_what_does_not_compose_is_refused(wrong, says):
    with pytest.raises(TypeError) as refusal:
        wrong()
    assert says in str(refusal.value)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: inverse(tilde(a)), "determinant 0"),
        (lambda: inverse(a @ b.T), "determinant 0"),
        (lambda: inverse(matrix("W", antisymmetric=True)), "determinant 0"),
        (lambda: quaternion("q") ** -1, "conjugate(q)"),
        (lambda: matrix("A", symmetric=True, antisymmetric=True), "zero"),
        (lambda: matrix("A", antisymmetric=True, orthogonal=True), "cannot be orthogonal"),
        (lambda: matrix("A", symmetric=True, orthogonal=True), "give one of them"),
        (lambda: axial(A), "declared antisymmetric"),
        (lambda: determinant(A @ B), "only that of a symbol"),
        (lambda: rotation_matrix("R", constant=True, omega=a), "constant=True"),
    ],
)
def test_what_has_no_answer_is_refused(wrong, says):
    with pytest.raises(ValueError, match=r"\w") as refusal:
        wrong()
    assert says in str(refusal.value)


def test_parts_are_replaced():
    assert replaced(cross(a, b) + b, {b: A @ c}) is cross(a, A @ c) + A @ c
    assert replaced(s * a, {s: as_formal(0)}) is zero("vector")
    assert replaced(a, {}) is a
