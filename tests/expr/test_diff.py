"""Gradients, Jacobians and directional derivatives are one derivative."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liaison.expr import (
    ONE,
    ZERO,
    atan2,
    cos,
    directional,
    evaluate,
    exp,
    gradient,
    jacobian,
    maximum,
    select,
    sin,
    sqrt,
    substitute,
    symbol,
    time_derivative,
)

x, y, z, t = symbol("x"), symbol("y"), symbol("z"), symbol("t")
SAMPLE = [sin(x * y) / (1 + z * z), atan2(y, x) * exp(z), sqrt(x * x + y * y), x**3 * y, cos(x)]


def test_gradient_of_small_formulas():
    assert gradient(x * y, [x, y]) == [y, x]
    assert gradient(sin(x), [x, y]) == [cos(x), ZERO]
    assert gradient(x, [x]) == [ONE]
    assert gradient(2.5, [x]) == [ZERO]
    assert gradient(x**3, [x])[0] is 3 * (x * x)


def test_jacobian_keeps_nonzeros_only():
    entries = jacobian([x + y, ONE, y * z], [x, y, z])
    assert set(entries) == {(0, 0), (0, 1), (2, 1), (2, 2)}
    assert jacobian([x - x + y], [x, y]) == {(0, 1): ONE}
    assert jacobian(np.array([x, 0, 2.0], dtype=object), [x]) == {(0, 0): ONE}


@given(st.integers(0, 10**6))
def test_three_ways_to_differentiate_agree(seed):
    draw = random.Random(seed)
    values = {s: draw.uniform(0.2, 1.5) for s in (x, y, z)}
    direction = {s: draw.uniform(-1, 1) for s in (x, y, z)}
    slopes = evaluate(directional(SAMPLE, direction), values)
    xs = [x, y, z]
    dense = np.zeros((len(SAMPLE), 3))
    for (i, j), entry in jacobian(SAMPLE, xs).items():
        dense[i, j] = evaluate(entry, values)
    rows = np.array([evaluate(gradient(f, xs), values) for f in SAMPLE])
    by_rows = np.zeros((1, 3))
    for (i, j), entry in jacobian(SAMPLE[:1], xs).items():
        by_rows[i, j] = evaluate(entry, values)
    # the same sums in different orders
    np.testing.assert_allclose(dense, rows, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(by_rows[0], rows[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(slopes, dense @ list(direction.values()), rtol=1e-12, atol=1e-13)


def test_second_derivatives_are_symmetric():
    values = {x: 0.4, y: 1.1, z: 0.6}
    for f in SAMPLE:
        first = gradient(f, [x, y, z])
        second = jacobian(first, [x, y, z])
        for (i, j), entry in second.items():
            assert evaluate(entry, values) == pytest.approx(
                evaluate(second.get((j, i), ZERO), values), rel=1e-12, abs=1e-13
            )


def test_time_derivative_along_rates():
    rates = {x: symbol("x'"), y: symbol("y'"), t: ONE}
    (slope,) = directional([x * y + t * t], rates)
    assert time_derivative([x * y + t * t], {x: rates[x], y: rates[y]}) == [slope]
    values = {x: 2.0, y: 3.0, t: 5.0, rates[x]: 7.0, rates[y]: 11.0}
    assert evaluate(slope, values) == 7 * 3 + 2 * 11 + 2 * 5
    assert directional([x], {y: 1}) == [ZERO]
    assert directional([x], {x: 0}) == [ZERO]


def test_the_side_not_chosen_gives_no_nan():
    f = select(x, sqrt(x), ZERO)
    (slope,) = gradient(f, [x])
    assert evaluate(slope, {x: -1.0}) == 0.0
    assert evaluate(slope, {x: 4.0}) == 0.25
    assert evaluate(gradient(maximum(x, 2 * x), [x]), {x: 3.0}) == [2.0]


def test_derivative_of_a_substitution_is_the_chain_rule():
    (g,) = substitute([SAMPLE[0]], {x: t * t, y: sin(t)})
    (direct,) = gradient(g, [t])
    chained = sum((d * e for d, e in zip(gradient(SAMPLE[0], [x, y]), (2 * t, cos(t)))), start=ZERO)
    (chained,) = substitute([chained], {x: t * t, y: sin(t)})
    values = {t: 0.7, z: 0.3}
    assert evaluate(direct, values) == pytest.approx(evaluate(chained, values), rel=1e-14)


@pytest.mark.parametrize("n", [0.25, 1.0, 2.0, 2.5])
def test_power_by_its_exponent_at_zero(n):
    """d xⁿ/dn = xⁿ log x goes to 0 with x where n > 0; elsewhere it is that product."""
    x, exponent = symbol("x"), symbol("n")
    for base in (x, abs(x)):
        slope = gradient(base**exponent, [exponent])
        assert evaluate(slope, {x: 0.0, exponent: n}) == [0.0]
        near = evaluate(slope, {x: 0.3, exponent: n})[0]
        assert near == pytest.approx(0.3**n * math.log(0.3), rel=1e-15)


@pytest.mark.parametrize("n", [0.0, -1.0])
def test_power_by_its_exponent_at_zero_has_no_limit_without_one(n):
    x, exponent = symbol("x"), symbol("n")
    assert not math.isfinite(evaluate(gradient(x**exponent, [exponent]), {x: 0.0, exponent: n})[0])
