"""Unit words at the doors: exact factors, compound units, and turns that are not radians."""

import math
from fractions import Fraction

import pytest

import liaison
from liaison.errors import LiaisonError, NamingError, TextError
from liaison.formats import read
from liaison.units import ANGLE, FREQUENCY, PURE, TURNING, same, si_unit, unit_of

WHEEL = """
let wheel = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let A = join earth and wheel with revolute end ;
{}
"""


@pytest.mark.parametrize(
    ("text", "factor", "pi"),
    [("mm", Fraction(1, 1000), 0), ("kN/mm", 10**6, 0), ("deg/s", Fraction(1, 180), 1),
     ("kg*cm^2", Fraction(1, 10000), 0), ("1/s", 1, 0), ("N*m/deg", 180, -1), ("", 1, 0),
     ("1", 1, 0)],
)  # fmt: skip
def test_a_compound_unit_has_its_exact_factor(text, factor, pi):
    unit = unit_of(text)
    assert (unit.factor, unit.pi) == (factor, pi)


@pytest.mark.parametrize("text", ["m m", "*m", "m*", "m^", "3", "m^99", "(m)", "m/s/", "N_m"])
def test_what_is_no_unit_is_refused(text):
    with pytest.raises(TextError):
        unit_of(text)


def test_an_unknown_word_is_refused_with_the_nearest():
    with pytest.raises(NamingError, match="mm"):
        unit_of("Mm")


@pytest.mark.parametrize(("word", "meant"), [("µm", "um"), ("°", "deg"), ("turns", "rev")])
def test_a_word_that_others_write_brings_the_one_there_is(word, meant):
    with pytest.raises(NamingError) as refused:
        unit_of(word)
    assert f"did you mean {meant!r}?" in str(refused.value)


def test_turns_a_second_are_not_radians_a_second():
    assert not same(FREQUENCY, TURNING)
    assert same(FREQUENCY, (0, 0, -1, 0, 0))
    assert same(TURNING, (0, 0, -1, 0, 0))
    assert same(ANGLE, PURE)
    assert si_unit(unit_of("Hz").dimension) == "Hz"


@pytest.mark.parametrize(
    "line",
    ["output z = 100 rpm in Hz ;", "output z = A' in Hz ;", "start A' = 1 Hz ;",
     "parameter f = 2 Hz ; start A' = f ;", "parameter w = 60 rpm between 1 Hz and 2 Hz ;",
     "output z = A' + 3 Hz ;", "impose A = 5 Hz*t ;", "output z = sin(5 Hz*t) ;",
     "output z = A' + 5 Hz*A ;", "parameter f = 5 Hz ; impose A = f*t ;",
     "apply spring stiffness = 1 kg*m^2*(5 Hz)^2 end on A ;"],
)  # fmt: skip
def test_lsd_refuses_hz_where_radians_a_second_are_meant(line):
    with pytest.raises(LiaisonError, match=r"rev|cycles"):
        read(WHEEL.format(line))


@pytest.mark.parametrize(
    ("line", "value"),
    [("output z = 120 rpm / (1 rev) in Hz ;", 2), ("output z = 1 rev * 2 Hz in rpm ;", 120),
     ("output z = 2*pi*(50 Hz) in rad/s ;", 100 * math.pi),
     ("parameter f = 3 Hz ; output z = sin(2*pi*f*(1 s)/12) ;", 1),
     ("parameter f = 3 Hz ; output z = sin(2*pi*(1 s)/12*f) ;", 1),
     ("parameter f = 3 Hz ; output z = A*0 + 4*pi^2*f^2*(1 s)^2 ;", 36 * math.pi**2),
     ("output z = exp(-5 Hz*(0 s)) ;", 1), ("output z = 1/(5 Hz) in ms ;", 200),
     ("output z = table(5 Hz*(1 s), [0, 5, 10], [0, 1, 2]) ;", 1)],
)  # fmt: skip
def test_turns_and_radians_are_converted_where_a_turn_is_said(line, value):
    from liaison.model.values import floats

    output = read(WHEEL.format(line)).outputs[0]
    assert float(floats(output.formula, {"f": 3.0})) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    ("tight", "wide"),
    [("2 rad/s*t", "2 rad/s * t"), ("15 deg*sin(2 rad/s*t)", "15 deg * sin(2 rad/s * t)"),
     ("3 rad*A/(2 rad)", "3 rad * A / (2 rad)")],
)  # fmt: skip
def test_a_product_needs_no_blanks_behind_a_unit(tight, wide):
    read_tight = read(WHEEL.format(f"output x = {tight} ;"))
    assert read_tight.outputs == read(WHEEL.format(f"output x = {wide} ;")).outputs


@pytest.mark.parametrize(
    "line",
    ["let l = 30 cm ; output z = (l + 5) mm ;", "output z = (A + 5) deg ;",
     "parameter p = 5 ; output z = (2*p) mm ;", "parameter p = 5 ; output z = ([p, 0, 0] cm).x ;"],
)  # fmt: skip
def test_a_unit_that_would_vanish_is_refused(line):
    with pytest.raises(TextError, match=r"the unit '(mm|deg|cm)' follows"):
        read(WHEEL.format(line))


@pytest.mark.parametrize(
    ("line", "value"),
    [("let l = 30 cm ; output z = (l + 5) m ;", 5.3), ("let n = 5/2 ; output z = (n) mm ;", 0.0025),
     ("output z = (sin(A) + 1/2) deg ;", math.pi / 360),
     ("let l = 30 cm ; output z = ([l, 5, 0] mm).y + ([l, 5, 0] mm).x ;", 0.305)],
)  # fmt: skip
def test_a_unit_behind_a_bracket_counts(line, value):
    from liaison.model.values import floats

    output = read(WHEEL.format(line)).outputs[0]
    assert float(floats(output.formula, {"A": 0.0})) == pytest.approx(value, rel=1e-14)


def test_a_wrong_word_of_the_language_lists_all_there_are():
    """Twelve of eighteen joint types left out revolute."""
    for call in (
        lambda: liaison.join(liaison.ground, liaison.body("b", 1), "hing"),
        lambda: liaison.simulate("examples/pendulum.lsd", until=1, method="RK45"),
    ):
        with pytest.raises(NamingError) as error:
            call()
        assert "…" not in str(error.value).partition("Declared")[2]
