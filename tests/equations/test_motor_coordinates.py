"""Equations in joint or motor coordinates, statics, and springs that balance an arm exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from liaison.equations import newton_euler
from liaison.equations.motors.motor_coordinates import motor_form
from liaison.equations.motors.motorized import motorized
from liaison.errors import DerivationError
from liaison.exact.residues import residues
from liaison.expr import as_expr, directional, evaluate, symbol
from liaison.expr.reading.simplify import vanishes_exactly
from liaison.formats import read
from liaison.tree import span
from samples import relative_difference
from samples.shelf import EXAMPLES

ARM = EXAMPLES / "geared_arm.lsd"
WRIST = [[50, 0, 0], [0, 60, 0], [0, 40, 40]]  # the third motor turns both joints before it
ROUNDING = 1e-12

# Springs of no length at rest: the first, from z = b, carries the forearm and a part of the upper
# arm, the second undoes what the first does about the elbow, the third carries the rest.
BALANCED = """
gravity = [0, 0, -10] ;
let upper = body mass = 4, center = [1/5, 0, 0], inertia = [1/100, 1/10, 1/10] end ;
let fore = body mass = 2, center = [1/6, 0, 0], inertia = [1/100, 1/20, 1/20] end ;
let B = join earth and upper with revolute axis = [0, -1, 0] end ;
let C = join [1/2, 0, 0] @ upper and fore with revolute axis = [0, -1, 0] end ;
apply motor torque = 0, ratio = 60, rotor = 1/10000 end on B ;
apply motor torque = 0, ratio = 40, rotor = 1/10000 end on C ;
apply spring stiffness = K1 end on [0, 0, 1/2] @ earth and [1/4, 0, 0] @ fore ;
apply spring stiffness = 80/3 end on [1, 0, 0] @ upper and [1/4, 0, 0] @ fore ;
apply spring stiffness = K3 end on [0, 0, 1/2] @ earth and [1/5, 0, 0] @ upper ;
"""
# k₁ b c = m₂ g c₂, k₂ e = k₁ l, k₃ b a = m₁ g c₁ + m₂ g l − k₁ b l
# with b = e = l = 1/2, c = 1/4, a = 1/5
FIRST, THIRD = "80/3", "340/3"


@cache
def arm():
    return motorized(span(read(ARM), exact=True))


def balanced(first=FIRST, third=THIRD):
    return motorized(span(read(BALANCED.replace("K1", first).replace("K3", third)), exact=True))


def drawn(symbols, seed=0):
    rng = np.random.default_rng(seed)
    return {x: float(rng.uniform(-1, 1)) for x in symbols}


def numbers(formulas, values):
    return np.array([float(x) for x in evaluate(list(formulas), values)])


INPUTS = [symbol(x) for x in ("turn", "lift", "bend")]


@pytest.mark.parametrize("N", [None, WRIST], ids=["ratios", "coupled"])
def test_both_coordinates_tell_the_same_motion(N):
    """m̈ = N q̈ at the same state under the same motors."""
    made = arm()
    joints = motor_form(made, np.eye(3, dtype=int).tolist(), ["A", "B", "C"])
    motors = motor_form(made, N)
    matrix = np.diag([100.0, -80.0, 50.0]) if N is None else np.array(N, dtype=float)
    values = drawn((*joints.m, *joints.mdot, *INPUTS))
    q, v = (np.array([values[x] for x in part]) for part in (joints.m, joints.mdot))
    values |= dict(zip((*motors.m, *motors.mdot), [*(matrix @ q), *(matrix @ v)], strict=True))
    rates = [accelerations(form, values) for form in (joints, motors)]
    assert relative_difference(rates[1], matrix @ rates[0]) < 1e-10
    energies = [kinetic(form, values) for form in (joints, motors)]
    assert energies[0] == pytest.approx(energies[1], rel=1e-12)


def accelerations(form, values):
    A = numbers([x for row in form.A for x in row], values).reshape(3, 3)
    force = numbers(form.Q, values) - numbers(form.B, values) - numbers(form.g, values)
    return np.linalg.solve(A, force)


def kinetic(form, values):
    A = numbers([x for row in form.A for x in row], values).reshape(3, 3)
    rate = numbers(form.mdot, values)
    return rate @ A @ rate / 2


def test_joint_coordinates_are_those_of_the_recursion():
    made = arm()
    joints = motor_form(made, np.eye(3, dtype=int).tolist(), ["A", "B", "C"])
    assert joints.m == made.q
    values = drawn((*made.q, *made.v, *INPUTS))
    left = [b + g - q for b, g, q in zip(joints.B, joints.g, joints.Q, strict=True)]
    wanted = [s - t for s, t in zip(made.bias, made.applied, strict=True)]
    assert relative_difference(numbers(left, values), numbers(wanted, values)) < ROUNDING


def test_christoffels_symbols_in_motor_coordinates():
    """B = C ṁ and ṁᵀ B = ½ ṁᵀ Ȧ ṁ, modulo a prime."""
    form = motor_form(arm(), WRIST)
    flow = dict(zip(form.m, form.mdot, strict=True))
    zero = [
        sum(c * rate for c, rate in zip(row, form.mdot, strict=True)) - b
        for row, b in zip(form.C, form.B, strict=True)
    ]
    power = 0
    for i, row in enumerate(form.A):
        for j, change in enumerate(directional(list(row), flow)):
            power = power + form.mdot[i] * change * form.mdot[j] / 2
        power = power - form.mdot[i] * form.B[i]
    assert not any(evaluate([*zero, power], domain=residues(seed=3)))


def test_what_acts_on_a_motor_is_its_torque_less_friction():
    form = motor_form(arm())
    values = drawn((*form.m, *form.mdot, *INPUTS))
    _, rate, _ = form.mdot
    speed = values[rate] / -80
    side = speed / np.hypot(speed, 1e-3)
    friction = (0.3 + 80**2 * 1e-4) * speed + (0.5 + 80 * 2e-3) * side  # |α| Q_e + Q_s, not α² Q_e
    wanted = values[symbol("lift")] - friction / -80
    assert numbers([form.Q[1]], values)[0] == pytest.approx(wanted, rel=1e-12)


def test_at_rest_the_motors_hold_the_slope_of_the_potential():
    form, made = motor_form(arm()), arm()
    values = drawn(form.m) | dict.fromkeys((*form.mdot, *INPUTS), 0.0)
    q = numbers(form.q, values)
    still = dict(zip(made.q, q, strict=True)) | dict.fromkeys((*made.v, *made.vdot, *INPUTS), 0.0)
    names = ("base_motor", "shoulder_motor", "elbow_motor")
    wanted = numbers([made.motor_torques[name] for name in names], still)
    assert relative_difference(numbers(form.g, values), wanted) < ROUNDING


def test_springs_balance_an_arm_exactly():
    """g = 0 as formulas, where without springs it is not."""
    form = motor_form(balanced())
    assert all(map(vanishes_exactly, form.g))
    text = "\n".join(line for line in BALANCED.splitlines() if "spring" not in line)
    bare = motor_form(motorized(span(read(text), exact=True)))
    values = drawn(form.m)
    assert np.max(np.abs(numbers(bare.g, values))) > 0.1
    assert np.max(np.abs(numbers(form.g, values))) < 1e-15


def test_a_spring_of_another_stiffness_does_not_balance():
    for first, third in (("27", THIRD), (FIRST, "113")):
        form = motor_form(balanced(first, third))
        assert np.max(np.abs(numbers(form.g, drawn(form.m)))) > 1e-4


def test_a_balanced_arm_stays_where_it_is_put():
    made = newton_euler(span(read(BALANCED.replace("K1", FIRST).replace("K3", THIRD))))
    values = dict.fromkeys(made.symbols.q, 0.7) | dict.fromkeys(made.symbols.v, 0.0)
    assert np.max(np.abs(numbers(made.dynamics.f, values))) < 1e-13 * 20


@pytest.mark.parametrize(
    ("N", "names", "words"),
    [
        ([[1, 0], [0, 1]], (), "N must be 3 by 3"),
        ([[1, 0, 0], [0, 1, 0], [0, 2, 0]], (), "combination of the others"),
        (None, ("a",), "as many names"),
    ],
)
def test_matrices_that_will_not_do_are_refused(N, names, words):
    with pytest.raises(DerivationError, match=words):
        motor_form(arm(), N, names)


def test_joints_follow_from_their_motors_exactly():
    form = motor_form(arm())
    assert form.q[1] is as_expr(form.m[1] * Fraction(-1, 80))


def test_the_offset_of_a_gear_is_that_of_the_motors_coordinate():
    text = """
    let a = body mass = 1, center = [1, 0, 0], inertia = [1, 1, 1] end ;
    let r = body mass = 1, inertia = [1, 1, 1] end ;
    let A = join earth and a with revolute axis = [0, 1, 0] end ;
    let R = join earth and r with revolute end ;
    couple A and R with proportion ratio = 4, offset = 1/3 end ;
    """
    form = motor_form(motorized(span(read(text), exact=True)))
    assert form.m == (symbol("R"),)
    assert form.q[0] is as_expr((form.m[0] - Fraction(1, 3)) / 4)
