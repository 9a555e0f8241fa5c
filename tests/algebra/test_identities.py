"""The expression of ULYSSE, the document's matrices, the catalog of identities, and wrong ones."""

import time

import pytest
from matplotlib.mathtext import MathTextParser

from liaison.algebra import (
    IDENTITIES,
    IDENTITY,
    cross,
    dot,
    expanded,
    is_zero,
    is_zero_by_components,
    matrix,
    mixed,
    reduced,
    rotation_matrix,
    simplified,
    steps,
    tilde,
    to_latex,
    to_text,
    ulysse,
    vector,
)
from liaison.algebra.node import is_zero_leaf
from liaison.errors import DerivationError

a, b, c, d = map(vector, "abcd")
u = vector("u", unit=True)
A, B = matrix("A"), matrix("B")
R = rotation_matrix("R")


def test_the_expression_of_ulysse_is_zero():
    assert to_text(reduced(ulysse())) == "0"
    assert is_zero_by_components(ulysse())


def test_no_single_term_of_the_expression_of_ulysse_can_be_left_out():
    whole = ulysse().args[1]  # −(first − second − third)
    first, second, third = whole.args
    assert is_zero(first)  # R₁ᵀ R̃₁ = 0
    assert not is_zero(second)
    assert not is_zero(third)


def test_the_steps_of_ulysse_end_at_zero_and_each_has_the_value_of_the_one_before():
    taken = steps(ulysse())
    assert to_text(taken[-1].result) == "0"
    assert all(is_zero_by_components(step.result) for step in taken)
    assert [step.rule.name for step in taken][:2] == ["own vector", "both ways"]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (A @ B - A @ (B - A), "A²"),
        (A @ B @ (2 * B) - A @ B, "2 A B² - A B"),
        (A @ B @ (2 * B) - B @ A**0, "2 A B² - B"),
    ],
)
def test_the_matrices_of_the_document_come_out_as_it_says(expression, text):
    assert to_text(reduced(expression)) == text
    assert to_text(expanded(expression)) == text
    assert to_text(simplified(expression)) == text


def test_there_are_forty_identities_and_more():
    assert len(IDENTITIES) >= 40
    assert len({identity.name for identity in IDENTITIES}) == len(IDENTITIES)


@pytest.mark.parametrize("identity", IDENTITIES, ids=lambda identity: identity.name)
def test_an_identity_is_zero_by_rules_and_by_components(identity):
    assert is_zero_by_components(identity.difference)
    assert is_zero(identity.difference)


@pytest.mark.parametrize("identity", IDENTITIES, ids=lambda identity: identity.name)
def test_an_identity_is_typeset(identity):
    for side in (identity.left, identity.right):
        MathTextParser("path").parse(f"${to_latex(side)}$")


SIDED = [identity for identity in IDENTITIES if not is_zero_leaf(identity.right)]


@pytest.mark.parametrize("identity", SIDED, ids=lambda identity: identity.name)
def test_an_identity_with_its_sign_or_its_factor_changed_is_not_zero(identity):
    right = identity.right
    if is_zero(right):
        return
    for wrong in (identity.left + right, identity.left - 2 * right):
        assert not is_zero(wrong)
        assert not is_zero_by_components(wrong)


WRONG = {
    "double product, terms changed": cross(a, cross(b, c)) - dot(a, b) * c + dot(a, c) * b * 2,
    "vector product associates": cross(a, cross(b, c)) - cross(cross(a, b), c),
    "Jacobi with one sign": cross(a, cross(b, c)) + cross(b, cross(c, a)) - cross(c, cross(a, b)),
    "Lagrange without its square": dot(cross(a, b), cross(a, b)) - dot(a, a) * dot(b, b),
    "tildes commute": tilde(a) @ tilde(b) - tilde(b) @ tilde(a),
    "tilde of a product, transposed": tilde(cross(a, b)) - (a @ b.T - b @ a.T),
    "product of tildes, transposed": tilde(a) @ tilde(b) - (a @ b.T - dot(a, b) * IDENTITY),
    "square of a unit tilde, as LL 1.4.4 prints it": -(tilde(u) ** 2) - IDENTITY - u @ u.T,
    "turned tilde, the wrong way": R.T @ tilde(a) @ R - tilde(R @ a),
    "any matrix turns a tilde": A @ tilde(a) @ A.T - tilde(A @ a),
    "any matrix turns a product": cross(A @ a, A @ b) - A @ cross(a, b),
    "matrices commute": A @ B - B @ A,
    "transpose keeps the order": (A @ B).T - A.T @ B.T,
    "a square is not symmetric": a.T @ A @ b - b.T @ A @ a,
    "a rotation is its inverse": R @ R - IDENTITY,
    "mixed product of products, not squared": mixed(cross(a, b), cross(b, c), cross(c, a))
    - mixed(a, b, c),
    "Cramer with one sign": mixed(a, b, c) * d
    - mixed(d, b, c) * a
    - mixed(a, d, c) * b
    + mixed(a, b, d) * c,
    "cube of a tilde": tilde(a) ** 3 - dot(a, a) * tilde(a),
    "a between two b": tilde(a) @ tilde(b) @ tilde(a) + dot(a, a) * tilde(b),
    "four vectors, one changed": cross(cross(a, b), cross(c, d))
    - mixed(a, b, d) * c
    + mixed(a, c, d) * d,
    "binomial without order": (A + B) ** 2 - A @ A - 2 * A @ B - B @ B,
    "unit vector that is none": dot(a, a) - 1,
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_does_not_reduce_to_zero(name):
    assert not is_zero(WRONG[name])
    assert not is_zero_by_components(WRONG[name])


def test_there_are_twenty_wrong_ones_and_more():
    assert len(WRONG) >= 20


def test_what_is_too_large_is_refused_and_still_decided(monkeypatch):
    x = (A + B + tilde(a) + tilde(b) + R) ** 20
    with pytest.raises(DerivationError, match="is too large"):
        expanded(x)
    assert not is_zero_by_components(x)
    monkeypatch.setattr("liaison.algebra.rules.reduce.LIMIT", 5)
    with pytest.raises(DerivationError, match="not reached in 5 steps"):
        reduced(cross(a, cross(b, cross(c, cross(d, u)))))


def test_ulysse_and_all_identities_together_take_less_than_two_seconds():
    start = time.perf_counter()
    assert is_zero(ulysse())
    assert all(is_zero(identity.difference) for identity in IDENTITIES)
    assert time.perf_counter() - start < 2.0


def test_pa_ulysse_as_typeset_does_not_compose():
    """The typeset formula multiplies only r̃ R̃ by R₁, inside the parentheses: matrix + vector."""
    one, r10 = vector("R1"), vector("r10")
    with pytest.raises(TypeError, match="cannot add the matrix"):
        tilde(one) @ tilde(r10) + (-tilde(r10) @ tilde(one)) @ one


def test_what_no_rule_knows_is_left_to_the_components():
    """R³ a − a is along R² a − R a, by Cayley and Hamilton."""
    x = cross(R @ R @ R @ a - a, R @ R @ a - R @ a)
    assert is_zero_by_components(x)
    assert not is_zero(x)
