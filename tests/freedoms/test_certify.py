"""Krawczyk's test: proves simple solutions, real and complex, and nothing else."""

import math

import pytest

from liaison.freedoms.engines.certify import Square, certified


class Circle(Square):
    """x² + y² = 1 and y = slope·x + offset."""

    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    def values(self, x):
        return [x[0] * x[0] + x[1] * x[1] - 1, x[1] - self.slope * x[0] - self.offset]

    def jacobian(self, x):
        return [[2 * x[0], 2 * x[1]], [-self.slope + 0 * x[0], 1 + 0 * x[0]]]


def test_a_simple_solution_is_proved_in_a_tiny_box():
    found = certified(Circle(0, 0.5), [0.8, 0.5])
    assert found.is_real
    assert found.radius < 1e-50
    assert float(found.box[0].mid()) == pytest.approx(math.sqrt(0.75), abs=1e-15)
    assert found.box[0] ** 2 + found.box[1] ** 2 - 1 == 0 or (
        found.box[0] ** 2 + found.box[1] ** 2 - 1
    ).contains(0)


def test_a_far_start_is_improved_first():
    assert certified(Circle(0, 0.5), [5.0, 3.0]) is not None


def test_where_there_is_no_real_solution_none_is_proved():
    assert certified(Circle(0, 2), [0.1, 2.0]) is None


def test_complex_solutions_are_proved_as_such():
    found = certified(Circle(0, 2), [0.1 + 1.7j, 2.0 + 0j])
    assert not found.is_real
    assert complex(found.box[0]) == pytest.approx(1j * math.sqrt(3), abs=1e-15)


def test_a_double_solution_is_not_proved():
    """The line touches the circle."""
    assert certified(Circle(0, 1), [0.01, 1.0]) is None


def test_a_wrong_jacobian_does_not_prove_what_is_not_there():
    class Lying(Circle):
        def jacobian(self, x):
            return [[1 + 0 * x[0], 0 * x[0]], [0 * x[0], 1 + 0 * x[0]]]

    assert certified(Lying(0, 2), [0.0, 2.0]) is None
