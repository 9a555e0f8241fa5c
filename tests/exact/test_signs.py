"""Signs of forms and series near their zero, against what calculation by hand gives."""

from fractions import Fraction as F

import numpy as np
import pytest

from liaison.exact.multivariate import RationalSeries, rational_near
from liaison.exact.signs import (
    congruence,
    definite_combination,
    germ_sign,
    inertia,
    initial_form,
    no_common_zero,
)

R2, R3 = RationalSeries(2, 12), RationalSeries(3, 6)
x, y = R2.gens
u, v, w = R3.gens

PLANE = [
    (x**2 + y**4, "definite"), (x**4 + y**4, "definite"), (x**2 - y**3, "both"),
    (x**2 + y**12, "definite"), (x * y, "both"), ((x**2 + y**2) * (x - 2 * y), "both"),
    (x**4 + y**6, "definite"), (x**4 - x**2 * y**3 + y**6, "definite"),
    (x**4 - 3 * x**2 * y**3 + y**6, "both"), ((x - y) ** 2, "squares"),
    (x**2 + 2 * x * y**2 + 2 * y**4, "definite"), (x**2 + 2 * x * y**2 + y**4 - y**7, "both"),
    ((x**2 - y**3) ** 2 + y**8, "unknown"), ((x**2 + y**2) * x**2, "unknown"),
]  # fmt: skip
SPACE = [
    (u**2 + v**2 + w**4, "definite"), (u**2 - v**2 * w, "both"), (u**2 - v**2 * w**2, "both"),
    (u**2 + v**2 * w**2, "unknown"), (u**2 + v**4 + w**6, "definite"),
    ((u**2 + v**2 + w**2) ** 2, "definite"), (u * v + v * w + w * u, "both"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "word"), PLANE)
def test_signs_of_two_unknowns(f, word):
    assert germ_sign(R2, f).word == word
    assert germ_sign(R2, -f).word == word


@pytest.mark.parametrize(("f", "word"), SPACE)
def test_signs_of_three_unknowns(f, word):
    assert germ_sign(R3, f).word == word
    assert germ_sign(R3, -f).word == word


@pytest.mark.parametrize("seed", range(5))
def test_inertia_is_that_of_the_eigenvalues(seed):
    draw = np.random.default_rng(seed)
    A = draw.integers(-4, 5, size=(5, 3))
    S = A @ np.diag(draw.integers(-2, 3, size=3)) @ A.T
    M = [[F(int(c)) for c in row] for row in S]
    values = np.linalg.eigvalsh(S.astype(float))
    assert inertia(M) == (int(np.sum(values > 1e-9)), int(np.sum(values < -1e-9)))
    T, diagonal = congruence(M)
    t = np.array([[float(c) for c in row] for row in T])
    assert t.T @ S @ t == pytest.approx(np.diag([float(c) for c in diagonal]), abs=1e-9)


def test_common_zeros_and_definite_combinations():
    cones = [initial_form(u**2 - w**2), initial_form(v**2 + 2 * w**2 - u**2)]
    assert definite_combination(cones, 3)
    lines = [initial_form(u * v), initial_form(u**2 - v**2 + w**2)]
    assert not definite_combination(lines, 3)
    assert not no_common_zero(lines, 3)
    assert no_common_zero([initial_form(u**4 + v**4 - u * v * w**2), initial_form(w**2 - u * v)], 3)


def test_series_of_several_unknowns():
    f = 1 + x + y**2
    assert R2.mul(f, R2.inverse(f)) == R2.one
    assert R2.atan(x).derivative(0) == R2.cut(R2.inverse(1 + x**2)) - x**12
    assert R2.composed(x * y, [x + y, x - y]) == x**2 - y**2


def test_rationals_are_recognized_in_balls():
    from flint import arb

    assert rational_near(arb(3) / 8) == F(3, 8)
    with_noise = arb("0.333333333333333333333 +/- 1e-30")
    assert rational_near(with_noise) is None or rational_near(with_noise) != F(1, 3)
