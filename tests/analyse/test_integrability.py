"""Frobenius' condition: integrable velocity constraints and nonholonomic ones."""

import math

import pytest

import liaison
from liaison.analyse.proofs.integrability import integrability
from liaison.expr import evaluate, gradient, symbol
from liaison.expr.reading.simplify import simplified
from liaison.expr.reading.text import to_unicode

PLANE = """
let plate = body mass = 1 kg, inertia = [1, 1, 1] kg*m^2 end ;
let S = join earth and plate with planar(x, y, angle) end ;
"""


def of(text):
    return integrability(liaison.derive(liaison.read(text), "lagrange", exact=True))


def test_a_cylinder_that_rolls_is_holonomic_in_disguise():
    """LL 2.2.10: ẋ + r θ̇ = 0 is x + r θ = const."""
    found = of(PLANE + "let row = require S.x' + 0.3 m*S.angle' = 0 m/s ;")
    assert found.is_holonomic
    assert found.integrable_combinations == 1
    (row,) = found.rows
    assert to_unicode(simplified(row.integral)) == "0.3 S.angle + S.x"


def test_the_blade_of_a_sleigh_is_not(examples):
    found = integrability(liaison.derive(examples / "chaplygin.lsd", "lagrange", exact=True))
    assert not found.is_holonomic
    assert [row.is_integrable for row in found.rows] == [False]
    assert found.rows[0].integral is None


def test_an_integrating_factor_is_found():
    """x ẏ − y ẋ = 0: the direction of (x, y) stays, log x − log y = const."""
    found = of(PLANE + "require S.x*S.y' - S.y*S.x' = 0 m^2/s ;")
    (row,) = found.rows
    assert row.is_integrable
    assert row.integral is not None
    assert str(row.factor) != "1"


def test_a_blade_whose_angle_is_held_is_integrable_together():
    text = PLANE + "require -sin(S.angle)*S.x' + cos(S.angle)*S.y' = 0 m/s ;"
    assert not of(text).is_holonomic
    assert of(text + "require S.angle' = 0 rad/s ;").is_holonomic
    assert of(text + "require S.angle = 0.3 rad ;").is_holonomic


def test_a_blade_that_turns_with_time_is_integrable():
    """One freedom is left of (x, y) and time, and the row gives a function of time for it."""
    text = PLANE + "impose S.angle = 2 rad/s*t ; require S.y' = sin(2 rad/s*t)*1 m/s ;"
    found = of(text)
    assert found.is_holonomic
    names = {str(x) for x in (symbol("S.y"), symbol("t"))}
    (row,) = found.rows
    assert names <= {str(x) for x in _symbols(row.integral)}


def _symbols(f):
    from liaison.expr import symbols_of

    return symbols_of([f])


@pytest.mark.parametrize("name", ["rolling_disc", "rolling_ball"])
def test_rolling_in_space_is_not_holonomic(examples, name):
    found = integrability(liaison.derive(examples / f"{name}.lsd", "lagrange", exact=True))
    assert found.rows
    assert not found.is_holonomic


def test_a_free_body_held_in_height_by_its_velocity():
    """LL 1.5.2: ż = 0 of the ball is z = const, though z is no velocity of these coordinates."""
    body = "let b = body mass = 1 kg, inertia = [1, 2, 3] kg*m^2 end ;"
    text = body + "let F = join earth and b with free end ; require velocity(b).z = 0 m/s ;"
    found = of(text)
    assert found.is_holonomic
    spin = body + "let F = join earth and b with free end ; require F.wz = 0 rad/s ;"
    assert not of(spin).is_holonomic


def test_a_path_will_do_as_well_as_equations(examples):
    equations = liaison.derive(examples / "chaplygin.lsd", "lagrange", exact=True)
    assert liaison.integrability(examples / "chaplygin.lsd") == liaison.integrability(equations)


def test_an_integral_does_not_depend_on_what_the_row_leaves_free():
    """e^z (x' + cos y y') = 0: x + sin y is constant; e^z (x + sin y) is not, for z is free."""
    text = """
let a = body mass = 1 kg end ;
let b = body mass = 1 kg end ;
let c = body mass = 1 kg end ;
let X = join earth and a with prismatic axis = [1, 0, 0] end ;
let Y = join a and b with revolute end ;
let Z = join b and c with revolute end ;
require exp(Z)*(X'/(1 m/s) + cos(Y)*Y'/(1 rad/s)) = 0 ;
"""
    (row,) = liaison.integrability(liaison.read(text)).rows
    assert row.is_integrable
    x, y, z = (symbol(name) for name in "XYZ")
    at = {x: 0.3, y: 0.4, z: 0.5}
    slopes = [float(evaluate(s, at)) for s in gradient(row.integral, [x, y, z])]
    assert slopes[2] == 0
    assert slopes[1] / slopes[0] == pytest.approx(math.cos(0.4))


ZEROS = [
    "exp((S.x + S.y)/(1 m)) - exp(S.x/(1 m))*exp(S.y/(1 m))",
    "sin(S.x*(S.y + 1 m)/(1 m^2)) - sin(S.x*S.y/(1 m^2) + S.x/(1 m))",
    "(S.x/(1 m))^(1/3)*(S.x*S.x/(1 m^2))^(1/3) - S.x/(1 m)",
    "1 - sign(1 m^2 + S.x^2)",
    "(1 - sign(S.x + 1 m))*(1 + sign(S.x))",
]


@pytest.mark.parametrize("zero", ZEROS)
def test_that_a_row_does_not_integrate_is_not_proved_by_functions_that_lose_their_laws(zero):
    """x′ + 0 θ′ = 0 integrates; residues of a zero in disguise are no zeros."""
    result = of(PLANE + f"require S.x' + ({zero})*(1 m)*S.angle' = 0 m/s ;")
    (row,) = result.rows
    assert row.is_integrable or not row.is_proved
    assert row.is_proved == result.evidence[0].is_proved


TWO = "let cart = body mass = 1 kg end ; let Z = join earth and cart with prismatic end ;"


@pytest.mark.parametrize("factor", ["S.x", "(S.y - 1 m)"])
def test_positions_of_two_parts_are_not_judged_by_one(factor):
    """x (y − 1) = 0 is x = 0 or y = 1: z′ + x θ′ = 0 integrates on the one, not on the other."""
    tied = "require S.x*(S.y - 1 m) = 0 m^2 ;"
    result = of(PLANE + TWO + tied + f"let row = require Z' + {factor}*S.angle' = 0 m/s ;")
    (row,) = result.rows
    assert (row.is_integrable, row.is_proved) == (False, False)
