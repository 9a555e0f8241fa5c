"""One graph on many kinds of numbers."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liaison.errors import DerivationError, NamingError
from liaison.exact.intervals import INTERVAL, Interval
from liaison.exact.residues import residues
from liaison.expr import (
    FRACTION,
    PI,
    Function,
    Table,
    absolute,
    acos,
    arc_ratio,
    asin,
    atan,
    atan2,
    cos,
    evaluate,
    exp,
    gradient,
    log,
    maximum,
    minimum,
    select,
    sign,
    sin,
    sqrt,
    stumpff,
    symbol,
    tan,
)

x, y, z = symbol("x"), symbol("y"), symbol("z")


def test_results_come_in_the_shape_of_the_formulas():
    assert evaluate(x + 1, {x: 2}) == 3.0
    assert evaluate([x, 2, 0.5], {x: 1}) == [1.0, 2.0, 0.5]
    grid = np.array([[x, 1], [0, y]], dtype=object)
    np.testing.assert_array_equal(evaluate(grid, {x: 3, y: 4}), [[3, 1], [0, 4]])
    batch = evaluate(grid, {x: np.arange(5.0), y: 1.0})
    assert batch.shape == (5, 2, 2)
    np.testing.assert_array_equal(batch[:, 0, 0], np.arange(5.0))


def test_arrays_broadcast():
    found = evaluate(x * y, {x: np.arange(3.0)[:, None], y: np.arange(2.0)})
    assert found.shape == (3, 2)
    assert found[2, 1] == 2.0


def test_a_symbol_without_value_is_named():
    with pytest.raises(NamingError, match=r"'cranc'.*did you mean 'crank'"):
        evaluate(symbol("cranc"), {symbol("crank"): 1.0})


def test_an_unknown_function_has_no_value():
    f = Function("f", 1)
    with pytest.raises(DerivationError, match=r"'f' is unknown[\s\S]*bind"):
        evaluate(f(x), {x: 1.0})


def test_fractions_are_exact_and_refuse_what_is_not():
    assert evaluate(x / 3 + 0.5, {x: 1}, FRACTION) == Fraction(5, 6)
    assert evaluate(sqrt(x), {x: Fraction(9, 4)}, FRACTION) == Fraction(3, 2)
    assert evaluate(x**-2, {x: 3}, FRACTION) == Fraction(1, 9)
    assert evaluate(select(x, minimum(x, 2), absolute(x)), {x: -5}, FRACTION) == 5
    for f in (sin(x), sqrt(x), PI * x, exp(x)):
        with pytest.raises(DerivationError, match=r"no rational value[\s\S]*residues"):
            evaluate(f, {x: 2}, FRACTION)


# Residues ---------------------------------------------------------------------------------------

IDENTITIES = [
    (x + y) ** 2 - (x * x + 2 * x * y + y * y),
    sin(x + y) - (sin(x) * cos(y) + cos(x) * sin(y)),
    cos(2 * x - y) - (cos(2 * x) * cos(y) + sin(2 * x) * sin(y)),
    sin(x) - (3 * sin(x / 3) - 4 * sin(x / 3) ** 3),
    tan(x) - sin(x) / cos(x),
    sin(z * (x - y)) + sin(z * (y - x)),
    sin(x + PI / 4) - sqrt(2) / 2 * (sin(x) + cos(x)),
    cos(PI / 5) - (1 + sqrt(5)) / 4,
    sin(x + PI) + sin(x),
    sin(x + 1) - (sin(x) * cos(1) + cos(x) * sin(1)),
    (1 + sqrt(2)) * (sqrt(2) - 1) - 1,
    absolute(x * y) - absolute(x) * absolute(y),
    sign(x) * absolute(x) - x,
    minimum(x, y) + maximum(x, y) - x - y,
    stumpff(0, x) ** 2 + x * stumpff(1, x) ** 2 - 1,
    stumpff(2, x) + x * stumpff(4, x) - 0.5,
    sin(atan2(y, x)) * x - cos(atan2(y, x)) * y,
    sin(2 * atan(x)) * (1 + x * x) - 2 * x,
]


@pytest.mark.parametrize("f", IDENTITIES, ids=str)
def test_what_is_zero_is_zero_modulo_p(f):
    values = {x: 0.37, y: 0.71, z: 1.3}
    assert evaluate(f, values) == pytest.approx(0, abs=1e-14), "no identity at all"
    tried = 0
    for seed in range(12):
        try:
            assert evaluate(f, {}, residues(seed=seed)) == 0
            tried += 1
        except DerivationError:
            pass  # a root of a non-square: half of the seeds
    assert tried >= 3


@pytest.mark.parametrize(
    "f", [sin(x) * cos(x) - sin(x), sin(x + y) - sin(x) - sin(y), exp(x) - exp(y), x - y * 1.5]
)
def test_what_is_not_zero_is_not(f):
    assert all(evaluate(f, {}, residues(seed=seed)) for seed in range(5))


def test_residues_are_the_same_every_time_and_take_values():
    f = sin(x) * exp(y) + 1 / (x + 3)
    assert evaluate(f, {}, residues(seed=4)) == evaluate(f, {}, residues(seed=4))
    assert evaluate(f, {}, residues(seed=4)) != evaluate(f, {}, residues(seed=5))
    assert evaluate(x / 2 + y, {x: 6, y: Fraction(1, 2)}, residues(1019)) == (3 + 510) % 1019
    # points of the circle may be given: 3² + 4² = 5²
    given = {sin(x): Fraction(3, 5), cos(x): Fraction(4, 5)}
    assert evaluate(sin(x) * 5 + cos(x) * 5, given, residues(1019)) == 7


def test_residues_refuse_what_they_cannot():
    with pytest.raises(ValueError, match="3 modulo 4"):
        residues(1009)
    with pytest.raises(ValueError, match="prime"):
        residues(1003)
    with pytest.raises(DerivationError, match="division by zero"):
        evaluate(1 / (x - y), {x: 5, y: 5}, residues())
    with pytest.raises(DerivationError, match="no square root"):
        evaluate(sqrt(x), {x: -1}, residues())
    with pytest.raises(DerivationError, match="no point"):
        evaluate(cos(PI / 37), {}, residues())


def test_derivatives_are_the_same_modulo_p():
    f = sin(x * x) / (1 + y) + Function("g", 2)(x, y)
    first, second = gradient(f, [x])[0], gradient(f + 0 * z, [x])[0]
    assert evaluate(first - second, {}, residues()) == 0


# Intervals --------------------------------------------------------------------------------------

TABLE = Table([0.0, 0.5, 1.0, 2.0], [1.0, -1.0, 0.3, 0.2])
ENCLOSED = [
    x * y - x / (y + 3), (x + y) ** 3, x**4, x**-3, sin(x) * cos(y), tan(x / 4), sqrt(x * x + y),
    asin(x / 4) + acos(y / 4), atan(x) * atan2(y, x), exp(x - y), log(3 + x * y), absolute(x - y),
    sign(x - 1), minimum(x, y), maximum(x, 1), select(x - y, x, y * 2), stumpff(0, x * 9),
    stumpff(3, x - y), stumpff(2, 12 * x), arc_ratio(absolute(x), y - 1),
    gradient(arc_ratio(x, y), [x])[0],
    TABLE(x), gradient(TABLE(x), [x])[0], PI * x, x / 3, (2 + x) ** 1.5,
]  # fmt: skip


@pytest.mark.parametrize("f", ENCLOSED, ids=str)
def test_intervals_hold_every_value(f):
    draw = random.Random(str(f))
    for _ in range(30):
        low_x, low_y = draw.uniform(-1, 3), draw.uniform(0.1, 2)
        wide = draw.choice((0.0, 1e-9, 0.1, 2.0))
        box = {x: (low_x, low_x + wide), y: (low_y, low_y + wide)}
        found = evaluate(f, box, INTERVAL)
        for _ in range(10):
            point = {s: draw.uniform(*box[s]) for s in box}
            value = evaluate(f, point)
            # the float itself carries rounding: a few units in the last place of order-one terms
            assert math.isnan(value) or found.low - 1e-13 <= value <= found.high + 1e-13


def test_intervals_are_rigorous_for_arithmetic():
    draw = random.Random(1)
    f = (x * y - x / (y + 3)) * (x + y) + x / 7
    for _ in range(200):
        point = {s: Fraction(draw.randint(-(10**9), 10**9), 10**8 + 7) for s in (x, y)}
        exact = evaluate(f, point, FRACTION)
        found = evaluate(f, point, INTERVAL)
        assert Fraction(found.low) <= exact <= Fraction(found.high)
        assert found.width <= 1e-12 * max(1, abs(exact))


def test_intervals_stay_narrow_where_they_can():
    assert evaluate(x + x * 2, {x: 3}, INTERVAL) == Interval(9.0, 9.0)
    assert evaluate(x * x, {x: (-1, 2)}, INTERVAL) == Interval(0.0, 4.0)
    assert evaluate(1 / x, {x: (-1, 1)}, INTERVAL) == Interval(-math.inf, math.inf)
    assert evaluate(sin(x), {x: (0, 10)}, INTERVAL) == Interval(-1.0, 1.0)
    assert evaluate(sin(x), {x: (1, 2)}, INTERVAL).high == 1.0
    assert evaluate(sqrt(x), {x: (-2, -1)}, INTERVAL).is_empty
    assert math.pi in evaluate(PI, {}, INTERVAL)
    with pytest.raises(ValueError, match="low to high"):
        evaluate(x, {x: (2, 1)}, INTERVAL)


def test_two_symbols_on_one_interval_run_apart():
    unit, positive = Interval(-1.0, 1.0), Interval(1.0, 2.0)
    assert evaluate(x * y, {x: unit, y: unit}, INTERVAL) == unit
    ratio = evaluate(x / y, {x: positive, y: positive}, INTERVAL)
    assert 0.5 in ratio
    assert 2.0 in ratio
    difference = evaluate(x - y, {x: unit, y: unit}, INTERVAL)
    assert difference == Interval(-2.0, 2.0)


def test_what_has_no_value_spreads_through_minimum_and_maximum():
    for f in (minimum(x, sqrt(y)), minimum(sqrt(y), x), maximum(x, sqrt(y)), maximum(sqrt(y), x)):
        assert evaluate(f, {x: 1, y: (-2, -1)}, INTERVAL).is_empty


@given(st.floats(-1e6, 1e6), st.floats(0, 7))
def test_waves_are_enclosed_for_any_argument(start, width):
    found = evaluate(sin(x), {x: (start, start + width)}, INTERVAL)
    for k in range(11):
        assert found.low <= math.sin(min(start + width * k / 10, start + width)) <= found.high
