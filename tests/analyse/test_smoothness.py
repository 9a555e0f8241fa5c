"""Derivatives at places where formulas end, bend or jump: their limit, or an error in words."""

from __future__ import annotations

import math

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError

TEXT = """gravity = [0, 0, 0] m/s^2 ;
parameter n = 2.5 ; parameter k = 2 ;
let b = body mass = 1 kg, inertia = [1, 1, 1] kg*m^2 end ;
let c = body mass = 1 kg, inertia = [1, 1, 1] kg*m^2 end ;
let X = join earth and b with prismatic axis = [1, 0, 0] end ;
let Y = join earth and c with prismatic axis = [0, 1, 0] end ;
apply force value = [-1 N*k*({law}), 0, 0] end on b ;
start X = {x} m ; start X' = 0.3 m/s ;
"""
X, Y, W = "(X/(1 m))", "(Y/(1 m))", "(X'/(1 m/s))"


def model(law: str, x: float = 0.0) -> liaison.Mechanism:
    """A slider under a force by a law of its position; Y stands at zero."""
    return liaison.read(TEXT.format(law=law, x=x))


@pytest.mark.parametrize(
    "law",
    [
        f"sqrt(abs{X})", f"sqrt({X}^2 + {Y}^2)", f"atan2({Y}, {X})", f"asin(1 - abs{X})",
        f"acos(abs{X} - 1)", f"abs{X}^(1/3)",
    ],
)  # fmt: skip
def test_no_derivative_is_an_error_of_linearize(law):
    with pytest.raises(SimulationError, match="has no derivative by 'X'") as raised:
        liaison.linearize(model(law))
    assert raised.value.status == "not finite"


@pytest.mark.parametrize("law", [f"log(abs{X})", f"{X}*log(abs{X})", f"sin({X}*1 rad)/{X}"])
def test_no_value_is_an_error_of_analyses_at_a_state(law):
    with pytest.raises(SimulationError, match=r'force on "X." is (inf|nan) at this state'):
        liaison.linearize(model(law))
    with pytest.raises(SimulationError, match=r'acceleration of "X." is (inf|nan) at this state'):
        liaison.forward_dynamics(model(law))


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (f"abs{X}", "corner .* by 'X' is -2 on one side and 2 on the other"),
        (f"min({X}, {Y})", "corner .* by 'X'"),
        (f"max(0, {X})", "corner .* by 'X' is 0 on one side and 2 on the other"),
        (f"if({X}, 1, 0)", "jumps at this state, from .* along 'X'"),
        (f"sign{X}", "jumps at this state, from 2 to -2 along 'X'"),
        (f"abs({W} - 0.3)", 'corner .* by "X\'"'),
    ],
)
def test_corners_and_jumps_are_errors_of_linearize(law, words):
    with pytest.raises(SimulationError, match=words):
        liaison.linearize(model(law))


@pytest.mark.parametrize(
    ("law", "x", "slope"),
    [
        (f"abs{X}*{X}", 0.0, 0.0),  # both sides have the same slope
        (f"abs{X}^n", 0.0, 0.0),
        (f"max(0, {X})", 1e-3, -2.0),
        (f"min({X}, {Y} + 1)", 0.0, -2.0),
        (f"if({X}, 3*{X}, 3*{X})", 0.0, -6.0),
    ],
)
def test_slopes_that_exist_are_linearized(law, x, slope):
    A = liaison.linearize(model(law, x)).A
    assert A[2, 0] == pytest.approx(slope, abs=1e-12)


def test_sensitivity_to_an_exponent_from_a_start_at_zero():
    """X'' = −k |X|ⁿ from X = 0: dX/dn is that of runs with n ± δ, not NaN."""
    law = f"abs{X}^n"
    run = liaison.simulate(model(law), until=1.0, every=0.5, rtol=1e-11, atol=1e-13)
    slope = liaison.sensitivities(model(law), run, ["n"])["X", "n"][-1]
    ends = [
        liaison.simulate(model(law), until=1.0, parameters={"n": n}, rtol=1e-11, atol=1e-13).q[
            -1, 0
        ]
        for n in (2.5 - 1e-4, 2.5 + 1e-4)
    ]
    assert math.isfinite(slope)
    assert slope == pytest.approx(np.diff(ends)[0] / 2e-4, rel=1e-6)
