"""Where a one-sided relation of rates loses its row: laws of the velocity after."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from liaison.numeric.degenerate import degenerate_rule, quadratic_form


@pytest.fixture
def numbers():
    draw = np.random.default_rng(7)
    root = draw.standard_normal((5, 5))
    return draw, root @ root.T + np.eye(5)


def test_polarization_gives_the_form(numbers):
    draw, _ = numbers
    S = draw.standard_normal((5, 5))
    Q = quadratic_form(lambda v: float(v @ S @ v), 5)
    assert_allclose(Q, (S + S.T) / 2, atol=1e-13)


def test_a_point_that_reaches_the_middle_stops_across_it_only():
    Q = quadratic_form(lambda v: v[0] ** 2, 2)
    rule = degenerate_rule(np.diag([2.0, 3.0]), Q, np.array([-1.0, 5.0]))
    assert rule.kind == "jump"
    assert_allclose(rule.after, [0.0, 5.0], atol=1e-15)
    assert_allclose(rule.impulse, [2.0, 0.0], atol=1e-15)
    assert_allclose(np.abs(rule.held), [[1.0, 0.0]])
    again = degenerate_rule(np.diag([2.0, 3.0]), Q, rule.after)
    assert again.kind == "rest"
    assert_allclose(again.jump, 0.0)


def test_the_jump_is_the_nearest_one_and_keeps_the_bilateral_rows(numbers):
    draw, M = numbers
    B = draw.standard_normal((2, 5))
    G = draw.standard_normal((1, 5))
    v = draw.standard_normal(5)
    rule = degenerate_rule(M, B.T @ B, v, G)
    Z = np.linalg.svd(G)[2][1:].T
    assert rule.kind == "jump"
    assert len(rule.held) == 2
    assert_allclose(G @ rule.after, G @ v, atol=1e-12)
    assert_allclose(B @ Z @ Z.T @ rule.after, 0.0, atol=1e-12)
    # Gauss: what is lost is the energy of the jump, and it is across every velocity still allowed
    allowed = np.linalg.svd(np.vstack([G, rule.held]))[2][3:].T
    assert_allclose(allowed.T @ rule.impulse, 0.0, atol=1e-11)


def test_forms_that_ask_for_nothing_and_forms_that_do_not_decide():
    unit, v = np.eye(2), np.array([1.0, 2.0])
    free = degenerate_rule(unit, np.diag([-1.0, 0.0]), v)
    assert free.kind == "free"
    assert_allclose(free.after, v)
    mixed = degenerate_rule(unit, np.array([[0.0, 0.5], [0.5, 0.0]]), v)
    assert mixed.kind == "undecided"
    # beside a bilateral row that takes the negative part away the same form decides
    held = degenerate_rule(unit, np.diag([1.0, -1.0]), np.array([1.0, 0.0]), np.array([[0.0, 1.0]]))
    assert held.kind == "jump"
    assert_allclose(held.after, [0.0, 0.0], atol=1e-15)
