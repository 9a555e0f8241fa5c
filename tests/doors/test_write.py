"""A mechanism written as LSD reads back as the same mechanism."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liaison import expr
from liaison.errors import TextError
from liaison.formats import read, read_lsd
from liaison.formats.lsd_write import write_lsd
from liaison.model import Body, Free, Joint, Marker, Mechanism, Parameter, Potential
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
    rows = ((1.0, 0.1, 0), (0.1 + 1e-17 * 2, 1, 0.3), (0, 0.3 + 5.6e-17, 1))
    body = replace(one_body().bodies[1], inertia=rows)
    comes_back(replace(one_body(), bodies=(body,)))


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


@pytest.mark.parametrize(
    "mechanism",
    [
        one_body(parameters=(Parameter("pi", 1),)),
        replace(one_body(), name='a "quote"'),
        one_body(forces=(Potential("V", HELD(expr.symbol("F.x"))),)),
    ],
    ids=["taken name", "quote", "table"],
)
def test_what_cannot_be_said_is_refused_in_words(mechanism):
    with pytest.raises(TextError, match="cannot be written as LSD"):
        write_lsd(mechanism)
