"""The mobility over the real numbers: a table of mechanisms, and relations of speeds."""

from fractions import Fraction as F
from importlib import import_module

import pytest

from liaison.expr import absolute, as_expr, cos, maximum, sin, sqrt
from liaison.freedoms import mobility
from liaison.freedoms.local.verdict import Verdict
from liaison.freedoms.screws import LoopSystem
from liaison.model import Prismatic, Revolute
from liaison.model.describe import (
    body,
    coordinate,
    ground,
    holonomic,
    join,
    mechanism,
    nonholonomic,
    rate,
    start,
)

from .real_cases import ALIKE, BOUNDS, DIFFERENT, LINKAGES, relation

mobility_module = import_module("liaison.freedoms.mobility")

TABLE = DIFFERENT | ALIKE | LINKAGES
LONG = {"folded five-bar"}  # beside the stretched one


def test_the_table_is_large_enough():
    assert len(TABLE) + len(BOUNDS) >= 60
    assert sum(real != complex_ for _, real, complex_, _ in TABLE.values()) >= 12


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=pytest.mark.slow) if x in LONG else x for x in TABLE]
)
def test_the_real_number_is_known(name):
    build, real, complex_, is_proved = TABLE[name]
    found = mobility(build(), primes=2)
    assert (found.finite, found.finite_complex) == ((real, real), (complex_, complex_))
    assert (found.is_proved, found.evidence[0].is_proved) == (is_proved, is_proved)
    assert bool(found.real) == (real != complex_)


@pytest.mark.parametrize("name", BOUNDS)
def test_what_is_not_decided_is_a_pair_of_bounds(name):
    build, real, complex_, _ = BOUNDS[name]
    found = mobility(build(), primes=2)
    assert found.finite[0] <= real <= found.finite[1] <= complex_
    assert (found.status, found.is_proved) == ("undecided", False)
    assert "finite mobility between 0 and" in str(found)


@pytest.mark.parametrize("name", ["stretched four-bar on a crank", "(x^2 + y^2)(x^2 + 37 y^2)"])
def test_the_statement_does_not_depend_on_the_seed(name):
    seen = [mobility(DIFFERENT[name][0](), primes=2, seed=k) for k in (0, 1, 2)]
    assert len({(x.finite, x.is_proved, x.status, x.real) for x in seen}) == 1


def test_a_cusp_of_high_order_is_not_called_a_double_curve():
    """x² = y¹³ looks like x² = 0 to order 12; two half-branches meet, and no coordinate drives."""
    result = mobility(ALIKE["cusp x^2 - y^13"][0](), primes=2)
    assert (result.status, result.psi) == ("bifurcation", None)


def test_headline_and_json_speak_of_the_real_set():
    found = mobility(DIFFERENT["stretched four-bar on a crank"][0](), primes=2)
    facts = found.to_dict()
    assert (facts["finite"], facts["finite_complex"], facts["is_proved"]) == ([1, 1], [2, 2], True)
    text = str(found)
    assert "finite mobility 1, proved" in text
    assert "of dimension 2 over the complex numbers" in text


def test_a_branch_modulo_a_prime_is_no_branch_of_motion():
    """One real line and two that are not, a cusp, a triple line: nothing meets there."""
    single = [lambda x, y: (x**2 + y**2) * (x - 2 * y), lambda x, y: x**2 - y**3,
              lambda x, y: x**3 + 0 * y]  # fmt: skip
    for formula in single:
        found = mobility(relation(formula), primes=2)
        assert (found.finite, found.is_proved) == ((1, 1), True)
        assert found.real_branches < 2
        assert "branches of motion meet" not in str(found)
    for formula in (lambda x, y: x * y, lambda x, y: x * (x**2 - 2 * y**2) + y**4):
        crossing = mobility(relation(formula), primes=2)
        assert crossing.to_dict()["real_branches"] == crossing.real_branches >= 2
        assert f"at least {crossing.real_branches} branches of motion meet" in str(crossing)


def test_numbers_that_are_equal_are_not_taken_for_different():
    """√(2 + √3) is (√6 + √2)/2: both signs of it exist modulo a prime."""
    r2, r3, r6 = (sqrt(as_expr(n)) for n in (2, 3, 6))
    zero = sqrt(2 + r3) - (r6 + r2) / 2
    for seed in range(3):
        found = mobility(relation(lambda x, y: zero * x + 0 * y), primes=2, seed=seed)
        assert found.finite == (2, 2)
        assert not found.is_proved


def test_a_proof_of_other_bounds_proves_nothing(monkeypatch):
    """Two primes that disagree: what the first one proves is not what is stated."""
    first = Verdict(7, 2, 2, 2, 2, 2, "regular", "proved", is_proved=True)
    other = Verdict(11, 2, 2, 2, 1, 1, "regular", "to an order", is_proved=False)
    verdicts = iter((first, other))
    monkeypatch.setattr(mobility_module, "verdict", lambda *_: next(verdicts))
    source = iter([LoopSystem(p, 4, []) for p in (7, 11)])
    found = mobility_module.mobility_of_systems("", source, primes=2)
    assert (found.finite, found.is_proved, found.is_proved_complex) == ((1, 1), False, False)


# Relations with a choice --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "x", "finite", "is_proved"),
    [
        (lambda x, y: maximum(0, x), 0, (0, 2), False),  # holds for every x <= 0
        (lambda x, y: y - maximum(0, x), 0, (0, 2), False),  # a bent line
        (lambda x, y: y - maximum(0, x), -1, (1, 1), True),
        (lambda x, y: absolute(x) - 1 - y, -1, (1, 1), True),
    ],
)
def test_a_kink_at_home_is_not_differentiated(formula, x, finite, is_proved):
    names = ("x", "y")
    joints = [join(ground, body(name, mass=1), Prismatic, name=name) for name in names]
    row = holonomic("bent", formula(coordinate("x"), coordinate("y")))
    found = mobility(mechanism(*joints, row, start({"x": x, "y": 0})))
    assert (found.finite, found.is_proved) == (finite, is_proved)


# Relations of speeds ------------------------------------------------------------------------------


def hinge_and_slider(formula, **starts):
    """A turns, B slides; a relation between their rates."""
    a, b = body("a", mass=1), body("b", mass=1)
    joints = [join(ground, a, Revolute, name="A"), join(ground, b, Prismatic, name="B")]
    names = (coordinate("A"), coordinate("B"), rate("A"), rate("B"))
    return mobility(mechanism(*joints, nonholonomic("tied", formula(*names)), start(starts)))


INTEGRABLE = {
    "B' = A'/50": lambda A, B, dA, dB: dB - F(1, 50) * dA,
    "B' = cos A A'": lambda A, B, dA, dB: dB - cos(A) * dA,
    "B' = B A'": lambda A, B, dA, dB: dB - B * dA,
}


@pytest.mark.parametrize("name", INTEGRABLE)
def test_relations_of_speeds_that_integrate_are_counted(name):
    found = hinge_and_slider(INTEGRABLE[name], A=0, B=1)
    assert (found.finite, found.is_proved) == ((1, 1), True)


UNDECIDED = {
    "B B' = A A', singular at home": lambda A, B, dA, dB: B * dB - A * dA,
    "A A' + B B' = 0: the origin is all": lambda A, B, dA, dB: B * dB + A * dA,
    "a drift": lambda A, B, dA, dB: dB - A,
    "a kink": lambda A, B, dA, dB: dB - maximum(0, A) * dA,
}


@pytest.mark.parametrize("name", UNDECIDED)
def test_relations_of_speeds_that_are_not_decided_leave_bounds(name):
    found = hinge_and_slider(UNDECIDED[name])
    assert (found.finite, found.is_proved) == ((0, 2), False)
    assert any("tied" in note for note in found.notes)


def sleigh(*formulas):
    """Two sliders across each other and a hinge: a body in the plane; and a wheel's angle W."""
    x, y, s = (body(name, mass=1) for name in "xys")
    joints = [
        join(ground, x, Prismatic, name="X", axis=(1, 0, 0)),
        join(x, y, Prismatic, name="Y", axis=(0, 1, 0)),
        join(y, s, Revolute, name="A"),
        join(ground, body("w", mass=1), Revolute, name="W"),
    ]
    return mechanism(*joints, *(nonholonomic(f"r{k}", f) for k, f in enumerate(formulas)))


def test_a_blade_takes_no_position_away():
    A = coordinate("A")
    found = mobility(sleigh(sin(A) * rate("X") - cos(A) * rate("Y")))
    assert (found.finite, found.is_proved) == ((4, 4), True)
    assert "takes no position away" in found.notes[0]


def test_a_rolling_coin_needs_brackets_of_brackets():
    A = coordinate("A")
    found = mobility(sleigh(rate("X") - cos(A) * rate("W"), rate("Y") - sin(A) * rate("W")))
    assert (found.finite, found.is_proved) == ((4, 4), True)
