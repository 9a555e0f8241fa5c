"""Finite varieties: all points with multiplicity, from polynomials that are made to have them."""

from fractions import Fraction as F
from math import prod
from random import Random

import pytest

from liaison.expr import sqrt
from liaison.freedoms.engines import finite
from liaison.freedoms.engines.finite import all_points
from liaison.freedoms.engines.ideal import dimension_by
from liaison.freedoms.engines.linear_part import without_linear
from liaison.freedoms.engines.quotient import Infinite, leading, points_of
from liaison.freedoms.engines.systems import PolynomialSystem, solved


def in_one(roots, place, count):
    """The polynomial in one unknown with these roots."""
    coefficients = [F(1)]
    for root in roots:
        coefficients = [a - root * b for a, b in
                        zip([F(0), *coefficients], [*coefficients, F(0)], strict=True)]  # fmt: skip
    # coefficients run from the lowest power
    return {
        tuple(e if k == place else 0 for k in range(count)): c
        for e, c in enumerate(coefficients)
        if c
    }


def rounded(point):
    return tuple(round(complex(v).real, 12) + 1j * round(complex(v).imag, 12) for v in point.x)


@pytest.mark.parametrize("seed", range(5))
def test_grids_of_rational_points_are_found_exactly(seed):
    draw = Random(seed)
    roots = [sorted({F(draw.randrange(-9, 10), 4) for _ in range(k)}) for k in (2, 3, 2)]
    polynomials = [in_one(r, k, 3) for k, r in enumerate(roots)]
    found = all_points(polynomials, 3, seed=seed)
    size = prod(map(len, roots))
    assert (found.multiplicity, len(found.points), len(found.real)) == (size, size, size)
    for k, expected in enumerate(roots):
        seen = {round(float(point.x[k].mid()), 12) for point in found.points}
        assert sorted(seen) == pytest.approx([float(x) for x in expected])


def test_multiplicities_are_counted():
    """(x − 1)²(x + 2) = 0, y² = x − 1: the point (1, 0) counts four times."""
    cubic = in_one([F(1), F(1), F(-2)], 0, 2)
    found = all_points([cubic, {(0, 2): F(1), (1, 0): F(-1), (0, 0): F(1)}], 2)
    assert found.multiplicity == 6
    assert sorted(point.multiplicity for point in found.points) == [1, 1, 4]
    real = next(point for point in found.points if point.is_real)
    assert (real.multiplicity, rounded(real)) == (4, (1, 0))


def test_complex_points_are_told_from_real_ones():
    """x² + y² = 1, x + y = 2 has no real point; x y = 1, x + y = 2 a double one."""
    circle = {(2, 0): F(1), (0, 2): F(1), (0, 0): F(-1)}
    line = {(1, 0): F(1), (0, 1): F(1), (0, 0): F(-2)}
    found = all_points([circle, line], 2)
    assert (found.multiplicity, len(found.real)) == (2, 0)
    touching = all_points([{(1, 1): F(1), (0, 0): F(-1)}, line], 2)
    assert [(p.multiplicity, rounded(p)) for p in touching.points] == [(2, (1, 1))]


def test_none_and_infinitely_many():
    one = {(1, 0): F(1), (0, 0): F(-1)}
    two = {(1, 0): F(1), (0, 0): F(-2)}
    assert all_points([one, two], 2).points == ()
    with pytest.raises(Infinite):
        all_points([one], 2)
    with pytest.raises(Infinite):
        all_points([{(1, 1): F(1)}], 2)


def test_linear_equations_are_eliminated_and_their_unknowns_come_back():
    x_y = {(1, 0, 0): F(1), (0, 1, 0): F(2), (0, 0, 0): F(-3)}
    y_z = {(0, 1, 0): F(1), (0, 0, 1): F(-1), (0, 0, 0): F(1, 2)}
    square = {(0, 0, 2): F(1), (0, 0, 0): F(-4)}
    assert len(without_linear([x_y, y_z, square], 3).remaining) == 1
    found = all_points([x_y, y_z, square], 3)
    assert {rounded(point) for point in found.points} == {(0, 1.5, 2), (8, -2.5, -2)}


def test_linear_equations_that_contradict_each_other_leave_nothing():
    same = [{(1, 0): F(1), (0, 1): F(1), (0, 0): F(k)} for k in (1, 2)]
    assert all_points([*same, {(2, 0): F(1), (0, 0): F(-1)}], 2).multiplicity == 0


def test_the_process_apart_gives_the_same(monkeypatch):
    grid = [in_one([F(1), F(2), F(3)], k, 2) for k in range(2)]
    here = {rounded(point) for point in all_points(grid, 2).points}
    monkeypatch.setattr(finite, "QUICK", 1)
    apart = all_points(grid, 2)
    assert (apart.engine, {rounded(point) for point in apart.points}) == ("FLINT", here)


def test_coefficients_that_are_not_rational_are_rounded_and_solutions_proved_for_themselves():
    system = PolynomialSystem(1, ({(2,): 1, (0,): -sqrt(2)},))
    found = solved(system)
    assert not found.is_exact
    assert [s.proof for s in found.real] == ["Krawczyk", "Krawczyk"]
    assert sorted(s.x[0] for s in found.real) == pytest.approx([-(2**0.25), 2**0.25], abs=1e-15)
    assert all(s.radius < 1e-50 for s in found.real)


def test_where_rounding_makes_a_difference_nothing_is_claimed():
    """√3 times the first line is the second: infinitely many solutions, after rounding one."""
    first = {(1, 0): 1, (0, 1): sqrt(2), (0, 0): -1}
    second = {(1, 0): sqrt(3), (0, 1): sqrt(6), (0, 0): -sqrt(3)}
    found = solved(PolynomialSystem(2, (first, second)))
    assert not found.is_exact
    assert not found.is_stable


def test_points_modulo_a_prime():
    """x² = 2, y = x + 1 modulo 7: x = 3 or 4."""
    basis = [{(1, 0): 1, (0, 1): 6, (0, 0): 1}, {(0, 2): 1, (0, 1): 5, (0, 0): 6}]
    assert dimension_by([leading(f) for f in basis], 2) == 0
    assert sorted(points_of(basis, 2, 7)) == [[3, 4], [4, 5]]
    assert dimension_by([(0, 0)], 2) == -1
    assert dimension_by([(1, 1)], 2) == 1
