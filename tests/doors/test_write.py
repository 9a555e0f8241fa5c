"""A mechanism written as LSD reads back as the same mechanism."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liaison import expr
from liaison.errors import LiaisonError, TextError
from liaison.formats import read, read_lsd
from liaison.formats.lsd.write.write import write_lsd
from liaison.model import (
    Body,
    Contact,
    Force,
    Free,
    Joint,
    Marker,
    Mechanism,
    Output,
    Parameter,
    Planar,
    Potential,
    Revolute,
)
from samples import chain, draw
from samples.descriptions import description

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.[lu]*[df]"))


HELD = expr.Table([0, 1], [0, 1], outside="hold")


def comes_back(mechanism: Mechanism) -> str:
    """The text of a mechanism, which has been found to say the same."""
    text = write_lsd(mechanism)
    again = read_lsd(text)
    assert again == mechanism
    assert write_lsd(again) == text
    return text


def one_body(**parts) -> Mechanism:
    body = Body("bar", parts.pop("mass", 1), inertia=((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    return Mechanism("m", (body,), (Joint("F", Free(), Marker("ground"), Marker("bar")),), **parts)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_comes_back(path):
    comes_back(read(path))


@pytest.mark.parametrize("seed", range(12))
def test_a_drawn_mechanism_comes_back(seed):
    comes_back(draw(seed).mechanism)


@given(st.integers(0, 10**9))
def test_any_description_comes_back(seed):
    comes_back(description(seed))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_thousands_of_descriptions_come_back(block):
    for seed in range(300 * block, 300 * (block + 1)):
        comes_back(description(seed))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_comes_back_as_that_float(x):
    p = Parameter("p", x)
    (found,) = read_lsd(comes_back(one_body(parameters=(p,)))).parameters
    assert type(found.value) is float
    assert found.value.hex() == x.hex()


@given(st.fractions())
def test_an_exact_number_comes_back_exact(x):
    (found,) = read_lsd(comes_back(one_body(parameters=(Parameter("p", x),)))).parameters
    assert not isinstance(found.value, float)
    assert found.value == x


def test_a_float_in_a_formula_stays_a_float():
    x = expr.symbol("F.x")
    comes_back(one_body(forces=(Potential("V", 0.1 * x + Fraction(1, 10) * x * x - -0.0),)))


def test_a_chain_with_names_of_several_words_comes_back():
    assert "`link 3`" in comes_back(chain(5, branching=2, skew=0.3))


def test_a_body_may_share_the_name_of_a_joint():
    ends = Marker("ground"), Marker("arm")
    mechanism = Mechanism("m", (Body("arm", 1),), (Joint("arm", Free(), *ends),))
    assert 'arm_2.name = "arm" ;' in comes_back(mechanism)


def test_an_inertia_that_rounding_left_unsymmetric_comes_back():
    for gap in (5.6e-17, 1e-9, 1e-6):
        rows = ((1.0, 0.1, 0), (0.1 + gap, 1, 0.3), (0, 0.3 + gap, 1))
        body = replace(one_body().bodies[1], inertia=rows)
        comes_back(replace(one_body(), bodies=(body,)))


def test_an_inertia_whose_halves_are_written_differently_comes_back():
    p, q = Parameter("p", 0.1), Parameter("q", 0.2)
    rows = ((1, (p + q) ** 2, 0), (p * p + 2 * p * q + q * q, 1, 0), (0, 0, 1))
    body = replace(one_body().bodies[1], inertia=rows)
    comes_back(replace(one_body(), bodies=(body,), parameters=(p, q)))
    with pytest.raises(LiaisonError, match="the inertia of body 'bar' is not symmetric"):
        replace(body, inertia=((1, p * q, 0), (p, 1, 0), (0, 0, 1)))


def test_a_deep_formula_is_written_in_parts():
    x = expr.symbol("F.x")
    for _ in range(300):
        x = expr.sin(x + 1)
    assert "let w1 = si(" in comes_back(one_body(forces=(Potential("V", x),)))


def test_long_sums_need_no_parts():
    x = expr.symbol("F.x")
    total = x
    for k in range(1, 400):
        total = total + k * x ** (k % 7)
    assert "let w" not in comes_back(one_body(forces=(Potential("V", total),)))


def test_a_formula_that_shares_its_parts_stays_short():
    x = expr.symbol("F.x")
    for _ in range(40):
        x = expr.sin(x) * expr.cos(x)
    assert len(comes_back(one_body(forces=(Potential("V", x),)))) < 200_000


def test_lines_are_short():
    text = write_lsd(draw(3).mechanism)
    assert max(map(len, text.splitlines())) <= 180


X = expr.symbol("F.x")
ODD = {
    "a quote": replace(one_body(), name='a "quote" and a \\backslash'),
    "several lines": replace(one_body(), name="two\r\nlines\u2028\0"),
    "a table held at its ends": one_body(forces=(Potential("V", HELD(X)),)),
    "the slope of a table": one_body(forces=(Potential("V", expr.gradient(HELD(X), [X])[0]),)),
    "the slope of a law": one_body(
        forces=(Potential("V", expr.Function("f", 2).partial((0, 3), X, X * X)),)
    ),
    "a smooth function": one_body(forces=(Potential("V", expr.stumpff(1, X)),)),
    "a ratio of arcs": one_body(forces=(Potential("V", expr.arc_ratio(X * X, X)),)),
    "many digits": one_body(parameters=(Parameter("p", Fraction(3**2000, 7**2000)),)),
    "many digits in a formula": one_body(
        forces=(Potential("V", Fraction(3**2000, 7**2000) * X),)
    ),
    "the least float": one_body(parameters=(Parameter("p", Fraction(5e-324)),)),
    "a body called earth": Mechanism(
        "m", (Body("earth", 1),), (Joint("F", Free(), Marker("ground"), Marker("earth")),)
    ),
    "a load called t": one_body(forces=(Potential("t", X), Potential("pi", X))),
    "comments in names": one_body(parameters=(Parameter("(* p", 1), Parameter("[", 2))),
    "commas in labels": replace(
        one_body(),
        joints=(
            Joint("F", Planar(), Marker("ground"), Marker("bar"), ("a, b", "c,d", "e")),
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", ODD)
def test_what_is_odd_comes_back(what):
    comes_back(ODD[what])


def a_point(radius):
    return Contact("C", Marker("bar"), Marker("ground"), "point", radius)


NEVER = {
    "a parameter called pi": (lambda: one_body(parameters=(Parameter("pi", 1),)), "'pi' means"),
    "an output called t": (lambda: one_body(outputs=(Output("t", 1),)), "'t' means the time"),
    "a joint like a parameter": (
        lambda: one_body(parameters=(Parameter("F", 1),)), "'F' is given to two"
    ),
    "a backquote": (lambda: Body("a`b"), "a name has no backquotes"),
    "a line's end": (lambda: Parameter("a\nb"), "a name has no backquotes, line ends"),
    "a backquote in a label": (
        lambda: Joint("J", Revolute(), Marker("ground"), Marker("bar"), ("a`",)), "no backquotes"
    ),
    "a heavy ground": (
        lambda: Mechanism("m", (Body("ground", 1), *one_body().bodies[1:]), one_body().joints),
        "the ground is given a mass",
    ),
    "a point with a radius": (lambda: a_point(1), "is of a point, which has no radius"),
    "a number past all floats": (lambda: Parameter("p", 10**400), "must stay below 1.8e308"),
    "a number of 4000 digits": (lambda: Parameter("p", Fraction(1, 3**9000)), "more digits"),
    "a formula that is infinite": (
        lambda: one_body(forces=(Potential("V", X + 1e308 * expr.as_expr(10)),)), "no finite value"
    ),
    "infinity in a formula": (
        lambda: one_body(forces=(Potential("V", X + float("inf")),)), "no finite number"
    ),
    "a root of less than nothing": (
        lambda: one_body(forces=(Potential("V", X + expr.sqrt(expr.as_expr(-2))),)), "no finite"
    ),
    "a division by zero": (
        lambda: one_body(forces=(Potential("V", X / expr.as_expr(0.0)),)), "divides by zero"
    ),
    "a large exponent": (
        lambda: one_body(forces=(Potential("V", X**2000),)), "exponent 2000 is larger than 1000"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", NEVER)
def test_what_could_not_be_written_is_no_mechanism(what):
    make, words = NEVER[what]
    with pytest.raises(LiaisonError, match=re.escape(words)):
        make()


class Wind(Force):
    """A load of nobody's table."""

    name, place = "wind", None


def test_a_load_of_a_class_of_ones_own_is_refused_in_words():
    with pytest.raises(TextError, match=r"the load 'wind' \(Wind\) cannot be written as LSD"):
        write_lsd(one_body(forces=(Wind(),)))


def test_what_is_beyond_the_limits_of_reading_is_not_written():
    with pytest.raises(TextError, match="characters in a line are more than 20000"):
        write_lsd(replace(one_body(), name="long " * 5000))
