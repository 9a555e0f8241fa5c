from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose

from liaison.expr import PI, ZERO, count_operations, evaluate, sin, symbol
from liaison.spatial import (
    array,
    dot,
    identity,
    is_zero,
    norm,
    number,
    product,
    tilde,
    unit,
    vector,
    zeros,
)
from liaison.spatial.arrays import cross, minus, plus, times

x, y = symbol("x"), symbol("y")


def test_floats_make_a_float_array_and_exact_numbers_stay_exact():
    assert array([1, 0.5, 0]).dtype == float
    assert array([np.float64(1), 2]).dtype == float
    assert array([1, 0, 0]).dtype == object
    assert array([Fraction(1, 2), 0.5]).dtype == object
    assert array([x, 0.5]).dtype == object
    assert type(array([1, 0])[0]) is int


def test_vectors_of_one_formula_and_of_none():
    assert vector([x]).shape == (1,)
    assert vector([]).shape == (0,)
    assert zeros(6, 0).shape == (6, 0)


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, Fraction(0), ZERO])
def test_zeros_of_every_kind_are_seen(zero):
    assert is_zero(zero)
    assert times(x, zero) == 0
    assert plus(x, zero) is x
    assert minus(x, zero) is x
    assert not is_zero(x)


def test_zeros_and_ones_cost_no_operation():
    R = array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    found = product(R, array([x, y, 0]))
    assert found[0] is x
    assert found[1] == 0
    assert found[2] is y
    assert product(identity(3), array([x, y, x])).tolist() == [x, y, x]
    assert sum(count_operations([dot([x, 0, y], [y, sin(x), 1])]).values()) == 2


def test_product_is_the_matrix_product():
    rng = np.random.default_rng(1)
    A, B, b = rng.normal(size=(3, 4)), rng.normal(size=(4, 2)), rng.normal(size=4)
    names = np.array([[symbol(f"a{i}{j}") for j in range(4)] for i in range(3)], dtype=object)
    values = {names[i, j]: A[i, j] for i in range(3) for j in range(4)}
    for right in (B, b):
        found = product(names, right)
        flat = np.array(evaluate(list(found.flat), values)).reshape(found.shape)
        assert_allclose(flat, A @ right)
        assert_allclose(product(A, right), A @ right)


def test_tilde_is_the_cross_product():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 3))
    assert_allclose(tilde(a) @ b, np.cross(a, b))
    assert_allclose(cross(a, b), np.cross(a, b))


def test_norms_are_exact_where_they_can_be():
    assert norm([3, 4, 0]) == 5
    assert norm([Fraction(1, 2), 0, 0]) == Fraction(1, 2)
    assert norm([3.0, 4.0, 0.0]) == 5.0
    assert number(norm([1, 1, 0])) == pytest.approx(2**0.5)
    assert unit([0, 0, 7]).tolist() == [0, 0, 1]
    assert unit([2, 0, 0]).dtype == object
    assert unit([1, 2, 2]).tolist() == [Fraction(1, 3), Fraction(2, 3), Fraction(2, 3)]
    assert_allclose(unit([1.0, 2, 2]), [1 / 3, 2 / 3, 2 / 3])


def test_a_number_is_told_from_a_formula():
    assert number(PI / 2) == pytest.approx(np.pi / 2)
    assert number(Fraction(1, 4)) == 0.25
    assert number(x + 1) is None
