"""T by degrees in the velocities: against Lagrangians written by hand, and as a law."""

import json

import numpy as np
import pytest

import liaison
from liaison import symbol
from liaison.cli import main
from liaison.expr import cos, evaluate, gradient, sin
from liaison.expr.reading.simplify import vanishes_exactly

CART = """
name = "driven cart" ;
gravity = [0, 0, -9.81] m/s^2 ;
parameter m = 2 kg ;  parameter l = 0.5 m ;  parameter a = 0.1 m ;  parameter w = 3 rad/s ;
let cart = body mass = 0, inertia = 0 end ;
let bob = body mass = m, center = [0, 0, -l], inertia = 0 end ;
let X = join earth and cart with prismatic axis = [1, 0, 0] end ;
let A = join cart and bob with revolute axis = [0, -1, 0] end ;
impose X = a*sin(w*t) ;
"""
HOOP = """
name = "bead on a hoop" ;
parameter m = 2 kg ;  parameter r = 0.5 m ;  parameter w = 3 rad/s ;
let hoop = body mass = 0, inertia = 0 end ;
let bead = body mass = m, center = [0, 0, -r], inertia = 0 end ;
let Z = join earth and hoop with revolute axis = [0, 0, 1] end ;
let A = join hoop and bead with revolute axis = [0, -1, 0] end ;
impose Z = w*t ;
"""
m, l, a, w, r, t = (symbol(x) for x in "mlawrt")
A, rate = symbol("A"), symbol("A'")


def test_a_pendulum_on_a_driven_cart_has_all_three_parts():
    """x = X + l sin A (up to the sign of A), z = -l cos A; T = m (x'² + z'²)/2."""
    parts = liaison.energy_parts(CART)
    speed = a * w * cos(w * t)
    x, z = speed + l * cos(A) * rate, l * sin(A) * rate
    whole = m * (x * x + z * z) / 2
    assert vanishes_exactly(parts.T2 + parts.T1 + parts.T0 - whole)
    assert vanishes_exactly(parts.T2 - m * l**2 * rate**2 / 2)
    assert vanishes_exactly(parts.T1 - m * l * speed * cos(A) * rate)
    assert vanishes_exactly(parts.T0 - m * speed * speed / 2)
    assert parts.velocities == ("A'",)
    assert parts.imposed == ("X",)


def test_a_bead_on_a_turning_hoop_has_two_and_painleves_integral():
    parts = liaison.energy_parts(HOOP)
    assert vanishes_exactly(parts.T2 - m * r**2 * rate**2 / 2)
    assert vanishes_exactly(parts.T1)
    assert vanishes_exactly(parts.T0 - m * (r * w * sin(A)) ** 2 / 2)
    (integral,) = [x for x in liaison.first_integrals(HOOP) if x.kind == "painleve"]
    assert vanishes_exactly(integral.formula - (parts.T2 - parts.T0 + parts.U))


@pytest.mark.parametrize("name", ["double_pendulum", "spinning_top", "satellite", "chaplygin"])
def test_without_imposed_motions_all_of_it_is_of_second_degree(examples, name):
    """And v · ∂T/∂v = 2 T, by Euler's theorem on homogeneous functions."""
    parts = liaison.energy_parts(examples / f"{name}.lsd")
    assert vanishes_exactly(parts.T1)
    assert vanishes_exactly(parts.T0)
    speeds = [symbol(x) for x in parts.velocities]
    slopes = gradient(parts.T2, speeds)
    whole = sum((v * x for v, x in zip(speeds, slopes, strict=True)), 0 * parts.T2)
    assert vanishes_exactly(whole - 2 * parts.T2)


def test_degrees_are_those_of_a_scaled_velocity():
    """T(k v) = k² T₂ + k T₁ + T₀ at numbers."""
    parts = liaison.energy_parts(CART)
    values = {symbol(x): y for x, y in zip("mlawtA", (2.0, 0.5, 0.1, 3.0, 0.7, 0.4))}
    for part, degree in ((parts.T2, 2), (parts.T1, 1), (parts.T0, 0)):
        one = evaluate([part], values | {rate: 1.3})[0]
        three = evaluate([part], values | {rate: 3.9})[0]
        assert np.isclose(three, 3.0**degree * one, rtol=1e-14)


def test_the_command_prints_them(tmp_path, capsys):
    file = tmp_path / "cart.lsd"
    file.write_text(CART, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["energy_parts", str(file)])
    assert left.value.code == 0
    out = capsys.readouterr().out
    assert "T₂ = ½ m l² A'²" in out
    assert "T₁ = m l a w cos(A) cos(w t) A'" in out
    assert "functions of time: X" in out
    with pytest.raises(SystemExit):
        main(["energy_parts", str(file), "--json"])
    assert json.loads(capsys.readouterr().out)["imposed"] == ["X"]
