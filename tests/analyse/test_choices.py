"""Proofs about formulas with a choice (max, min, abs, sign, if): on every side of every choice."""

import pytest

import liaison
from liaison.analyse.proofs.integrability import integrability
from liaison.expr import absolute, maximum, minimum, select, sign, symbol
from liaison.expr.reading.simplify import vanishes_exactly

a, b = symbol("a"), symbol("b")


@pytest.mark.parametrize(
    "f",
    [maximum(0, a), minimum(0, a), absolute(a) - a, absolute(a) + a, sign(a) - 1,
     select(a, b, 0), maximum(a, b) - a, maximum(0, a) * maximum(0, b)],
)  # fmt: skip
def test_what_vanishes_on_one_side_only_does_not_vanish(f):
    assert not vanishes_exactly(f)


@pytest.mark.parametrize(
    "f",
    [absolute(a) ** 2 - a**2, maximum(a, b) + minimum(a, b) - a - b, sign(a) * absolute(a) - a,
     maximum(0, a) - (a + absolute(a)) / 2],
)  # fmt: skip
def test_what_vanishes_on_every_side_vanishes(f):
    assert vanishes_exactly(f)


def test_too_many_choices_are_not_called_zero():
    xs = [symbol(f"x{k}") for k in range(6)]
    total = sum((maximum(0, x) - maximum(x, 0) for x in xs), start=absolute(a) - absolute(-a))
    nested = sum((maximum(0, x) + minimum(0, x) - x for x in xs), start=total)
    assert not vanishes_exactly(nested)


SLIDER = """
let cart = body mass = 2 kg end ;
let X = join earth and cart with prismatic axis = [1, 0, 0] end ;
start X' = 1 m/s ;
let push = apply motor force = {} end on X ;
"""


def integrals(force):
    return [x.name for x in liaison.first_integrals(liaison.read(SLIDER.format(force)))]


@pytest.mark.parametrize("threshold", range(1, 13))
def test_a_buffer_takes_the_momentum(threshold):
    """A spring beyond a threshold: no momentum is constant, whatever the number."""
    names = integrals(f"-max(0 N, 100 N/m*(X - {threshold} cm))")
    assert not [name for name in names if "momentum" in name]


@pytest.mark.parametrize("force", ["if(t - 5 s, 5 N, 0 N)", "-2 N*sign(X')", "-3 N*abs(X)/(1 m)"])
def test_forces_with_a_choice_take_the_momentum(force):
    assert "momentum of X" not in integrals(force)
    assert "momentum along x" not in integrals(force)


def test_no_force_leaves_the_momentum():
    assert "momentum of X" in integrals("0 N")


PLANE = """
let plate = body mass = 1 kg, inertia = [1, 1, 1] kg*m^2 end ;
let S = join earth and plate with planar(x, y, angle) end ;
"""


@pytest.mark.parametrize("threshold", range(6, 12))
def test_a_row_that_bends_beyond_a_threshold_is_not_integrable(threshold):
    row = f"require S.x' + max(0 m, S.y - {threshold} cm)*S.angle' = 0 m/s ;"
    equations = liaison.derive(liaison.read(PLANE + row), "lagrange", exact=True)
    assert not integrability(equations).is_holonomic


def test_a_row_with_a_choice_that_integrates_on_both_sides_is_integrable():
    row = "require S.x' + max(0 m, S.y)*S.y'/(1 m) = 0 m/s ;"
    equations = liaison.derive(liaison.read(PLANE + row), "lagrange", exact=True)
    assert integrability(equations).is_holonomic
