"""Functions of the squared angle: values, smoothness at zero, what charts are made of."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from liaison.expr import (
    arc_ratio,
    constant,
    cos_sqrt,
    dexpinv_coefficient,
    evaluate,
    expanded,
    gradient,
    sinc_sqrt,
    stumpff,
    symbol,
)

s, m, w = symbol("s"), symbol("m"), symbol("w")
ANGLES_SQUARED = [0.0, 1e-300, 1e-20, 1e-8, 1e-3, 0.5, 1.0, 2.999, 3.001, 9.9, 40.0, 400.0]


def exact_stumpff(k, value):
    with mpmath.workdps(60):
        return sum((-mpmath.mpf(value)) ** i / mpmath.factorial(2 * i + k) for i in range(120))


@pytest.mark.parametrize("k", range(8))
def test_stumpff_functions_are_right_to_the_last_digits(k):
    for value in (*ANGLES_SQUARED, -1e-16, -0.5, -2.0, -20.0):
        exact = float(exact_stumpff(k, value))
        # cos and sin of √s pass through zero: absolute there, relative elsewhere
        assert stumpff(k, value) == pytest.approx(exact, rel=4e-14, abs=4e-15 / math.factorial(k))


def test_they_are_what_their_names_say():
    theta = 0.8
    assert cos_sqrt(theta**2) == pytest.approx(math.cos(theta), rel=1e-15)
    assert sinc_sqrt(theta**2) == pytest.approx(math.sin(theta) / theta, rel=1e-15)
    half = theta / 2
    expected = (1 - half / math.tan(half)) / theta**2
    assert dexpinv_coefficient(theta**2) == pytest.approx(expected, rel=1e-14)
    assert (cos_sqrt(0), sinc_sqrt(0), stumpff(2, 0)) == (1, 1, Fraction(1, 2))
    assert dexpinv_coefficient(0) == Fraction(1, 12)
    assert evaluate(dexpinv_coefficient(s), {s: 0.0}) == pytest.approx(1 / 12, rel=1e-15)


def test_derivatives_pass_through_zero():
    f = cos_sqrt(s) + sinc_sqrt(s) * dexpinv_coefficient(s)
    for _ in range(4):
        (f,) = gradient(f, [s])
        values = [evaluate(f, {s: v}) for v in (-1e-7, 0.0, 1e-7)]
        assert values[0] == pytest.approx(values[1], rel=1e-6)
        assert values[2] == pytest.approx(values[1], rel=1e-6)
    assert evaluate(gradient(sinc_sqrt(s), [s])[0], {s: 0.0}) == pytest.approx(-1 / 6, rel=1e-15)


def test_exponential_of_quaternions_has_length_one():
    for value in ANGLES_SQUARED:
        norm = evaluate(cos_sqrt(s) ** 2 + s * sinc_sqrt(s) ** 2, {s: value})
        assert norm == pytest.approx(1, rel=1e-14)


def test_plain_rows_pass_through_zero_too():
    plain = expanded([cos_sqrt(s), sinc_sqrt(s), dexpinv_coefficient(s), arc_ratio(s, w)])
    assert evaluate(plain, {s: 0.0, w: 1.0}) == pytest.approx([1, 1, 1 / 12, 1], rel=1e-15)
    negative = evaluate(plain[:3], {s: -1e-18})
    assert negative == pytest.approx([1, 1, 1 / 12], rel=1e-15)


def test_arc_ratio_is_the_angle_over_the_sine():
    for theta in (0.0, 1e-9, 1e-3, 0.3, 1.0, math.pi / 2, 2.5, 3.1):
        value = arc_ratio(math.sin(theta) ** 2, math.cos(theta))
        expected = theta / math.sin(theta) if theta else 1.0
        assert value == pytest.approx(expected, rel=1e-13)


def test_arc_ratio_differentiates_next_to_zero_and_at_half_a_turn():
    f = arc_ratio(m, w)
    for order in range(1, 4):
        (f,) = gradient(f, [m])
        with mpmath.workdps(40):
            for at_m, at_w in ((0.0, 0.9), (1e-6, 0.9), (0.05, 0.7), (0.9, 0.0), (0.5, -0.5)):
                exact = (
                    (-1) ** order
                    * mpmath.factorial(order)
                    * mpmath.quad(
                        lambda u, a=at_m, n=order: (u * u + a) ** (-n - 1), [at_w, 1, mpmath.inf]
                    )
                )
                found = evaluate(f, {m: at_m, w: at_w})
                assert found == pytest.approx(float(exact), rel=1e-9)


def test_floats_fold_and_exact_numbers_do_not():
    assert stumpff(1, constant(0.25)).op == "const"
    assert stumpff(1, constant(2)).op == "stumpff"
    with pytest.raises(ValueError, match="k >= 0"):
        stumpff(-1, s)


def test_arrays_of_squared_angles():
    values = np.array(ANGLES_SQUARED)
    found = evaluate(dexpinv_coefficient(s), {s: values[values < 39]})
    expected = [dexpinv_coefficient(float(v)) for v in values[values < 39]]
    np.testing.assert_allclose(found, expected, rtol=1e-13)
