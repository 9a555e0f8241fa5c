"""Tables: splines through data, their derivatives, and what lies outside."""

import pickle

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator

from liaison.expr import ZERO, Table, evaluate, expanded, fingerprint, gradient, symbol

x = symbol("x")
KNOTS = np.array([-1.0, -0.2, 0.1, 0.9, 1.5, 3.0])
VALUES = np.array([0.3, 1.2, -0.5, 0.4, 2.0, 1.9])
INSIDE = np.linspace(-1, 3, 101)


def test_cubic_table_is_the_natural_spline():
    table = Table(KNOTS, VALUES, "cubic")
    reference = CubicSpline(KNOTS, VALUES, bc_type="natural")
    for order in range(3):
        np.testing.assert_allclose(table.value(INSIDE, order), reference(INSIDE, order), atol=1e-12)
    np.testing.assert_allclose(table.value(KNOTS), VALUES, atol=1e-14)


def test_linear_table_is_interpolation():
    table = Table(KNOTS, VALUES, kind="linear")
    np.testing.assert_allclose(table.value(INSIDE), np.interp(INSIDE, KNOTS, VALUES), atol=1e-14)


def test_a_table_is_the_monotone_interpolant():
    table, reference = Table(KNOTS, VALUES), PchipInterpolator(KNOTS, VALUES)
    for order in range(2):
        np.testing.assert_allclose(table.value(INSIDE, order), reference(INSIDE, order), atol=1e-12)
    np.testing.assert_allclose(table.value(KNOTS), VALUES, atol=1e-14)


def test_a_table_never_overshoots():
    """Between two points it stays between their values, however uneven the points are."""
    rng = np.random.default_rng(7)
    for _ in range(50):
        n = int(rng.integers(2, 9))
        knots = np.cumsum(10.0 ** rng.uniform(-4, 3, n))
        values = np.round(rng.normal(size=n), int(rng.integers(0, 2)))
        table = Table(knots, values)
        for k in range(n - 1):
            inside = table.value(np.linspace(knots[k], knots[k + 1], 50))
            low, high = sorted((values[k], values[k + 1]))
            assert low - 1e-9 <= inside.min()
            assert inside.max() <= high + 1e-9


def test_a_pulse_stays_a_pulse():
    table = Table([0, 4.999, 5, 5.001, 10], [0, 0, 1, 0, 0])
    at = np.linspace(0, 10, 100_001)
    assert table.value(at).max() == pytest.approx(1)
    assert table.value(at).min() == 0
    assert np.trapezoid(table.value(at), at) == pytest.approx(1e-3, rel=0.01)


@pytest.mark.parametrize("kind", ["monotone", "cubic", "linear"])
def test_outside_is_a_line_or_held(kind):
    line, held = Table(KNOTS, VALUES, kind), Table(KNOTS, VALUES, kind, outside="hold")
    for end, sign in ((KNOTS[0], -1), (KNOTS[-1], 1)):
        slope = line.value(end - sign * 1e-9, 1)
        expected = line.value(end) + slope * sign * 2.0
        # the slope next to the end differs from the end's by 1e-9 times the curvature
        assert line.value(end + sign * 2.0) == pytest.approx(expected, abs=1e-7)
        assert line.value(end + sign * 2.0, 2) == 0
        assert held.value(end + sign * 2.0) == pytest.approx(held.value(end), abs=1e-14)
        assert held.value(end + sign * 2.0, 1) == 0


def test_formulas_of_tables_differentiate():
    table = Table(KNOTS, VALUES)
    f = table(x * x) * x
    (slope,) = gradient(f, [x])
    at = 0.8
    expected = table.value(at * at) + 2 * at * at * table.value(at * at, 1)
    assert evaluate(slope, {x: at}) == pytest.approx(expected, rel=1e-14)
    g = table(x)
    for _ in range(4):
        (g,) = gradient(g, [x])
    assert g is ZERO


def test_a_table_with_many_points_expands_to_few_levels():
    points = np.linspace(0, 1, 100)
    table = Table(points, np.sin(7 * points))
    (plain,) = expanded([table(x)])
    for at in (-0.5, 0.0, 0.123, 0.5, 0.9999, 1.0, 2.0):
        assert evaluate(plain, {x: at}) == pytest.approx(table.value(at), rel=1e-12, abs=1e-13)


def test_equal_content_is_the_same_formula():
    first, second = Table(KNOTS, VALUES), Table(KNOTS.tolist(), VALUES.tolist())
    assert first == second
    assert first(x) is second(x)
    assert first(x) is not Table(KNOTS, VALUES, "linear")(x)
    assert pickle.loads(pickle.dumps(first)) == first
    assert fingerprint([first(x)]) == fingerprint([second(x)])
    with pytest.raises(ValueError, match="read-only"):
        first.y[0] = 3


def test_numbers_and_two_points():
    table = Table([0, 1], [2, 4])
    assert table(0.5) == 3.0
    assert evaluate(table(x), {x: 0.25}) == 2.5
    assert table.value(5.0) == 12.0


@pytest.mark.parametrize(
    ("xs", "ys", "kind", "word"),
    [
        ([0, 0, 1], [1, 2, 3], "cubic", "increase"),
        ([0, 1], [1, 2, 3], "cubic", "one length"),
        ([0], [1], "cubic", "one length"),
        ([0, 1], [1, np.nan], "cubic", "finite"),
        ([0, 1], [1, 2], "quintic", "'cubic', 'linear'"),
    ],
)
def test_bad_data_is_refused(xs, ys, kind, word):
    with pytest.raises(ValueError, match=word):
        Table(xs, ys, kind)
