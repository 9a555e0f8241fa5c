"""The elimination for six hinges: what it rests on, piece by piece."""

import math
from random import Random

import numpy as np
import pytest

from liaison.exact.balls import kernel_line, precision
from liaison.exact.rigid import (
    applied,
    moved,
    rational_motion,
    reversed_motion,
    rotation_of,
    turn_z,
)
from liaison.freedoms.global_.six_hinges import (
    PRECISION,
    LoopClosure,
    _carried,
    _expanded,
    elimination,
    hinge_positions,
)


def drawn_motion(draw):
    from fractions import Fraction

    from flint import arb

    q = [Fraction(draw.randrange(-9, 10), 10) + 1 for _ in range(4)]
    R = [[arb(x.numerator) / x.denominator for x in row] for row in rotation_of(q)]
    return R, [arb(draw.uniform(-1, 1)) for _ in range(3)]


def drawn_loop(seed):
    """Six motions and the angles with which they close a loop."""
    from flint import arb

    draw = Random(seed)
    X = [drawn_motion(draw) for _ in range(5)]
    angles = [arb(draw.uniform(-3, 3)) for _ in range(6)]
    T = turn_z(angles[0])
    for x, angle in zip(X, angles[1:], strict=True):
        T = moved(moved(T, x), turn_z(angle))
    return [*X, reversed_motion(T)], angles


def fifteen(p, l):
    """The numbers of an axis, as they are defined."""
    p, l = np.array(p), np.array(l)
    return [1, *p, *l, p @ p, p @ l, *np.cross(p, l), *((p @ p) * l - 2 * (p @ l) * p)]


def test_the_fifteen_numbers_move_linearly():
    draw = Random(1)
    X = drawn_motion(draw)
    p, l = np.array([0.3, -0.2, 0.7]), np.array([0.6, 0.0, 0.8])
    R = np.array([[float(x) for x in row] for row in X[0]])
    there = fifteen(R @ p + [float(x) for x in X[1]], R @ l)
    carried = [float(x) for x in _carried(X, fifteen(p, l))]
    assert carried == pytest.approx(there, abs=1e-14)


def test_an_expanded_axis_is_the_axis_moved():
    draw = Random(2)
    A, B = drawn_motion(draw), drawn_motion(draw)
    found = _expanded([A, 1, B])
    t = 0.7
    parts = (1.0, math.cos(t), math.sin(t))
    value = sum(parts[key[0]] * np.array([float(x) for x in w]) for key, w in found.items())
    from flint import arb

    R, p = moved(moved(A, turn_z(arb(t))), B)
    l = [float(x) for x in applied(R, [0, 0, 1])]
    assert value == pytest.approx(fifteen([float(x) for x in p], l), abs=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_the_known_position_is_a_root(seed):
    with precision(PRECISION):
        X, angles = drawn_loop(seed)
        found = elimination(X)
        x3 = (angles[2] / 2).tan()
        assert found.polynomial.degree() == 16
        size = abs(float(found.polynomial[16].mid()))
        assert abs(float(found.polynomial(x3).mid())) < 1e-60 * size
        closure = LoopClosure(X).values(angles)
        assert max(abs(float(x.mid())) for x in closure) < 1e-100


@pytest.mark.parametrize("seed", range(3))
def test_all_sixteen_are_proved_and_the_known_one_is_among_them(seed):
    with precision(PRECISION):
        X, angles = drawn_loop(seed)
    found = hinge_positions(X)
    assert (found.is_complete, found.roots, len(found.positions)) == (True, 16, 16)
    known = [float(a) for a in angles]
    gaps = [
        max(abs(math.remainder(a.real - b, 2 * math.pi)) for a, b in zip(x, known, strict=True))
        for x in (position.angles for position in found.real)
    ]
    assert min(gaps) < 1e-12


def test_the_jacobian_of_the_closure_is_its_slope():
    from flint import arb

    X, angles = drawn_loop(4)
    closure = LoopClosure(X)
    step = 1e-6
    J = closure.jacobian(angles)
    for k in range(6):
        ahead = [a + (step if i == k else 0) for i, a in enumerate(angles)]
        behind = [a - (step if i == k else 0) for i, a in enumerate(angles)]
        slope = [float((x - y) / arb(2 * step)) for x, y in
                 zip(closure.values(ahead), closure.values(behind), strict=True)]  # fmt: skip
        assert slope == pytest.approx([float(row[k]) for row in J], abs=1e-8)


def test_a_loop_that_moves_degenerates():
    """All axes parallel: no elimination, and no answer rather than a wrong one."""
    from flint import arb

    one = [[arb(int(i == j)) for j in range(3)] for i in range(3)]
    X = [(one, [arb(k + 1), arb(0), arb(0)]) for k in range(6)]
    assert hinge_positions(X) is None


def test_a_kernel_is_a_line_or_not_told():
    from flint import arb

    singular = [[arb(1), arb(2)], [arb(2), arb(4)]]
    vector = kernel_line(singular)
    assert float(vector[0] / vector[1]) == pytest.approx(-2)
    assert kernel_line([[arb(0), arb(0)], [arb(0), arb(0)]]) is None


def test_rational_motions_are_exactly_rigid():
    draw = Random(5)
    for _ in range(4):
        X = drawn_motion(draw)
        R, p = rational_motion(X, 60)
        for i in range(3):
            for j in range(3):
                assert sum(R[k][i] * R[k][j] for k in range(3)) == int(i == j)
                assert float(R[i][j]) == pytest.approx(float(X[0][i][j]), abs=1e-15)
        assert [float(x) for x in p] == pytest.approx([float(x) for x in X[1]], abs=1e-15)
