"""Signs of square roots modulo primes: which are free, which are a choice, which are not known."""

import math
from fractions import Fraction as F
from itertools import count, islice

import pytest

from liaison.errors import DerivationError
from liaison.exact.choices import (
    EXTRA,
    dependencies,
    dependent_roots,
    points_for_choices,
    radicands,
    square_numbers,
)
from liaison.exact.linear import coprime_base, primes_from
from liaison.exact.residues import keeps_laws, residues
from liaison.expr import (
    PI,
    acos,
    as_expr,
    atan,
    atan2,
    cos,
    evaluate,
    exp,
    log,
    maximum,
    sin,
    sqrt,
    symbol,
)
from liaison.expr.reading.simplify import vanishes_exactly

x, y = symbol("x"), symbol("y")
r2, r3, r5, r6 = (sqrt(as_expr(n)) for n in (2, 3, 5, 6))

ONE_SIDED = [
    sqrt(x**2 + 2 * x * y + y**2) - x - y, sqrt(1 - cos(x) ** 2) - sin(x),
    sqrt(x**2 * y) - x * sqrt(y), sin(acos(cos(x))) - sin(x),
    sqrt(x) * sqrt(x * (y + 1) ** 2) - x * (y + 1),
]  # fmt: skip


@pytest.mark.parametrize("f", ONE_SIDED)
def test_the_root_of_a_square_has_two_sides(f):
    assert dependent_roots(radicands([f])) == 1
    assert points_for_choices([f], 2) >= 32
    assert not vanishes_exactly(f)


@pytest.mark.parametrize(
    "f", [sqrt(x**2 + y**2), sqrt(x) + sqrt(y), sqrt(1 + sqrt(x)), sqrt(2 * x) * sqrt(3 * y)]
)
def test_other_roots_have_free_signs(f):
    assert dependent_roots(radicands([f])) == 0
    assert points_for_choices([f], 2) == 2


def test_laws_of_positive_roots_are_kept():
    assert vanishes_exactly(as_expr(sqrt(x) * sqrt(y) - sqrt(x * y)))
    assert vanishes_exactly(as_expr(sqrt(x**2 + y**2) ** 2 - x**2 - y**2))


def test_a_coprime_base_holds_every_number():
    numbers = [37 * 41, 41 * 43, 37 * 43, 2 * 53**2, 12]
    base = coprime_base(numbers)
    assert base == [2, 3, 37, 41, 43, 53]
    assert all(math.isqrt(b) ** 2 != b for b in base)


@pytest.mark.parametrize("seed", range(6))
def test_roots_of_numbers_multiply(seed):
    """√(37·41) √(41·43) √(37·43) = 37·41·43, whatever the prime."""
    a, b, c = (sqrt(as_expr(n)) for n in (37 * 41, 41 * 43, 37 * 43))
    f = as_expr(a * b * c - 37 * 41 * 43)
    p = next(primes_from(seed, square_numbers([f])))
    assert evaluate(f, domain=residues(p)) == 0


def test_a_nested_root_that_is_a_combination_has_no_known_sign():
    with pytest.raises(DerivationError, match="a combination of other roots"):
        square_numbers([sqrt(2 + r3) - (r6 + r2) / 2])
    assert not vanishes_exactly(as_expr(sqrt(2 + r3) + (r6 + r2) / 2))
    assert not vanishes_exactly(as_expr(x * (sqrt(2 + r3) + (r6 + r2) / 2)))


def test_a_nested_root_of_its_own_is_free():
    assert set(square_numbers([r5 * sqrt(3 + r2)])) == {5, 2}


@pytest.mark.parametrize("seed", range(4))
def test_points_of_the_circle_fit_the_roots_of_whole_numbers(seed):
    """Gauss' sums: Σ sin(2π k²/7) = √7 over all k, and so on."""
    for n in (7, 11, 13):
        f = sin if n % 4 == 3 else cos
        total = sum((f(2 * (k * k % n) * PI / n) for k in range(n)), as_expr(0))
        for p in islice(primes_from(seed), 3):
            assert int(evaluate(as_expr(total - sqrt(as_expr(n))), domain=residues(p))) == 0


KEPT = [
    sin(x + y) * cos(2 * x), sin(x * y) + cos(x), cos(2 * atan(x) + PI / 3), sqrt(x) / y, exp(x),
    exp(x) * exp(y), cos(as_expr(F(3, 10))) + sin(as_expr(F(1, 4))), sin(atan2(x, y) + x) + x,
]  # fmt: skip
LOST = [
    exp(x) * exp(y) - exp(x + y), sin(x * (y + 1)) - sin(x * y + x), atan(x), log(x), x ** F(1, 3),
    cos(acos(as_expr(F(1, 3))) / 2), maximum(x, y), sin(sqrt(as_expr(2))) + sin(as_expr(1)),
]  # fmt: skip


def test_which_functions_keep_their_laws_modulo_primes():
    assert all(keeps_laws([as_expr(f)]) for f in KEPT)
    assert not any(keeps_laws([as_expr(f)]) for f in LOST)


def test_no_more_points_are_drawn_than_decide():
    """Half of the points are of no use; the third product of radicands is a square everywhere."""
    drawn = count()
    rows = ([k % 2, k // 2 % 2, (k % 2) ^ (k // 2 % 2)] for k in count())
    source = (row if next(drawn) % 2 else None for row in rows)
    assert len(dependencies(source, 3)) >= 1
    assert next(drawn) <= 2 * (3 + EXTRA)
