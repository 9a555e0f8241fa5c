"""Quaternions as symbols, as a scalar and a vector, and as components; derivatives in time."""

import numpy as np
import pytest

from liaison.algebra import (
    IDENTITY,
    components,
    conjugate,
    cross,
    derivative,
    dot,
    is_equal,
    is_zero,
    is_zero_by_components,
    matrix,
    norm_squared,
    pure,
    quaternion,
    real,
    reduced,
    rotation_matrix,
    rotation_of,
    scalar,
    scalar_part,
    tilde,
    to_components,
    to_mixed,
    to_text,
    vector,
    vector_part,
    zero,
)
from liaison.expr import evaluate, symbol

p, q, r = quaternion("p"), quaternion("q", unit=True), quaternion("r")
a, b = vector("a"), vector("b")
s = scalar("s")


def test_symbols_are_simplified_without_being_opened():
    assert to_text(reduced(p * q * conjugate(q) * r)) == "p r"
    assert to_text(reduced(conjugate(p * q * r))) == "r* q* p*"
    assert to_text(reduced((p + r) * (p - r) - p * p + r * r)) == "-p r + r p"
    assert to_text(reduced(pure(a) * pure(a) * p)) == "-(a · a) p"
    assert to_text(reduced(conjugate(pure(a)) * p)) == "-(a) p"


def test_the_mixed_level_is_hamiltons_product():
    found = to_mixed(pure(a) * pure(b))
    assert is_equal(found.scalar, -dot(a, b))
    assert is_equal(found.vector, cross(a, b))
    assert to_text(to_mixed(real(s) * p).scalar) == "p₀ s"


def test_what_is_associative_and_what_is_not_commutative():
    assert is_zero((p * q) * r - p * (q * r))
    assert not is_zero(p * q - q * p)
    assert not is_zero_by_components(p * q - q * p)


def test_the_component_level_agrees_with_numbers():
    x, y = np.array([0.3, -0.2, 0.5, 0.7]), np.array([-0.4, 0.1, 0.9, 0.6])
    product = to_components(p * r)
    at = {}
    for name, value in (("p", x), ("r", y)):
        at[symbol(f"{name}_0")] = value[0]
        at |= {symbol(f"{name}_v.{k}"): w for k, w in zip("xyz", value[1:], strict=True)}
    expected = np.concatenate(
        [[x[0] * y[0] - x[1:] @ y[1:]], x[0] * y[1:] + y[0] * x[1:] + np.cross(x[1:], y[1:])]
    )
    assert evaluate(product, at) == pytest.approx(expected, abs=1e-14)


def test_a_unit_quaternion_stays_unit():
    rate = derivative(q) * conjugate(q)
    assert is_zero(scalar_part(rate))
    assert is_zero(norm_squared(q) - 1)
    assert is_zero(rotation_of(q) @ rotation_of(q).T - IDENTITY)
    assert not is_zero(norm_squared(p) - 1)


def test_the_angular_velocity_of_a_unit_quaternion_is_twice_its_rate():
    omega = 2 * vector_part(derivative(q) * conjugate(q))
    R = rotation_of(q)
    assert is_zero_by_components(derivative(R) - tilde(omega) @ R)
    assert is_zero(derivative(R) - tilde(omega) @ R)


def test_sums_of_powers_and_zeros():
    assert is_zero(p**3 - p * p * p)
    assert is_zero(p - p)
    assert to_mixed(zero("quaternion")).vector is zero("vector")
    assert is_zero(p**0 * r - r)


@pytest.mark.parametrize("wrong", [lambda: pure(s), lambda: conjugate(a), lambda: to_mixed(a)])
def test_other_kinds_are_refused(wrong):
    with pytest.raises(TypeError, match="takes a"):
        wrong()


# Derivatives ------------------------------------------------------------------------------------

A, S = matrix("A"), matrix("S", symmetric=True)
R = rotation_matrix("R")
k = vector("k", constant=True)


@pytest.mark.parametrize(
    ("expression", "rate"),
    [
        (s * a, derivative(s) * a + s * derivative(a)),
        (dot(a, a), 2 * dot(a, derivative(a))),
        (tilde(a) @ b, cross(derivative(a), b) + cross(a, derivative(b))),
        (A**3, derivative(A) @ A @ A + A @ derivative(A) @ A + A @ A @ derivative(A)),
        (a.T @ S @ a, 2 * a.T @ S @ derivative(a) + a.T @ derivative(S) @ a),
        (s**3, 3 * s**2 * derivative(s)),
        (cross(k, a), cross(k, derivative(a))),
        (R @ k, cross(vector("omega(R)"), R @ k)),
        (R.T @ a, R.T @ (derivative(a) - cross(vector("omega(R)"), a))),
    ],
)
def test_derivative(expression, rate):
    assert is_equal(derivative(expression), rate)


def test_a_rotation_turns_with_the_angular_velocity_it_was_given():
    turning = rotation_matrix("R", omega=a)
    assert is_equal(derivative(turning @ k), cross(a, turning @ k))


def test_formulas_move_with_their_symbols_and_the_time():
    x, t = symbol("x"), symbol("t")
    moved = components(derivative((x * t) * k))
    assert moved[0] is (x + t * symbol("x'")) * symbol("k.x")


def test_constants_and_the_identity_do_not_move():
    for still in (k, IDENTITY, scalar("m", constant=True), zero("matrix")):
        assert is_zero(derivative(still))
