"""Dimensions of relations and units of their multipliers: λ Φ̇ is a power, or λ Φ of rates."""

import pytest

import liaison
from liaison.expr import cos, sqrt, symbol
from liaison.tree.dimensions import dimension_of
from liaison.units import unit_of

POINT = """
parameter v = 2 m/s ; parameter r = 1 m ;
let p = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let P = join earth and p with planar(x, y, a) end ;
start P.x' = 2 m/s ; start P.x = 1 m ; start P.y = 0 m ;
"""
KNOWN = {"x": unit_of("m").dimension, "t": unit_of("s").dimension, "w": unit_of("rad/s").dimension}
x, t, w = map(symbol, "xtw")


@pytest.mark.parametrize(
    ("formula", "unit"),
    [(x * x / t, "m^2/s"), (sqrt(x * x + x * x * cos(x / t)), "m"), (x + 0.3 * w, "m"),
     (x**3, "m^3"), (w * t, "rad"), (-(w * x), "m/s")],
)  # fmt: skip
def test_dimensions_follow_from_names(formula, unit):
    assert dimension_of(formula, KNOWN)[:3] == unit_of(unit).dimension[:3]


@pytest.mark.parametrize("formula", [0.3 * x, x + t, symbol("unknown") * x, sqrt(x)])
def test_numbers_contradictions_and_unknown_names_leave_them_open(formula):
    assert dimension_of(formula, KNOWN) is None


@pytest.mark.parametrize(
    ("relation", "unit"),
    [("-sin(P.a)*P.x' + cos(P.a)*P.y' = 0 m/s", "N"),  # times m/s: W
     ("P.x' - 20 cm*P.a' = 0 m/s", "N"),
     ("P.x'^2 + P.y'^2 = v^2", "N*s/m"),  # times m²/s²: W
     ("P.x^2 + P.y^2 = r^2", "N/m"),  # times m²: J
     ("P.a = 0 rad", "N*m"),
     ("P.a' = 2 rad/s", "N*m"),
     ("20 cm*P.a = 0 m", "")],
)  # fmt: skip
def test_units_of_multipliers(relation, unit):
    equations = liaison.derive(f"{POINT} let row = require {relation} ;", "lagrange")
    assert [label.unit for label in equations.labels["lam"]] == [unit]
