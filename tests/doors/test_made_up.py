"""Texts made up from the words of the languages: nothing but a LiaisonError comes out."""

import re
import time
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from liaison.errors import LiaisonError
from liaison.formats import read_lsd, read_urdf
from liaison.formats.lsd.formulas.functions import FUNCTIONS, VECTOR_FUNCTIONS
from liaison.formats.lsd.meaning.contacts import CONTACTS
from liaison.formats.lsd.meaning.forces import FORCE_KINDS
from liaison.formats.lsd.meaning.statements import COUPLES
from liaison.formats.lsd.syntax.tokens import RESERVED, SIGNS
from liaison.formats.mjcf.read import reading_of_mjcf
from liaison.model import JOINT_TYPES
from liaison.units import UNITS

EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 1.0
quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

WORDS = sorted({
    *RESERVED, *SIGNS, *JOINT_TYPES.in_lsd, *FORCE_KINDS, *COUPLES, *CONTACTS, *FUNCTIONS, *UNITS,
    *VECTOR_FUNCTIONS, "a", "b", "J", "t", "earth", "0", "1", "2.5", "1e9", "mass", "inertia",
    "axis", "\n", "(*", "*)", "[1, 0, 0]", '"x"', "to", "link", "rising", "`x y`",
})  # fmt: skip
BODIES = "let a = body mass = 1, inertia = 1 end ; let J = join earth and a with revolute end ;\n"
STATEMENTS = [BODIES, *re.findall(r"[^;]+;", (EXAMPLES / "excavator.lsd").read_text())]


def only_refused(read, text: str) -> None:
    begin = time.process_time()
    with suppress(LiaisonError):
        read(text)
    assert time.process_time() - begin < SECONDS


@quick
@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_any_words_are_read_or_refused(words):
    only_refused(read_lsd, BODIES + " ".join(words))


@quick
@given(st.lists(st.sampled_from(STATEMENTS), max_size=30), st.data())
def test_statements_in_any_order_with_a_word_changed_are_read_or_refused(statements, data):
    words = re.findall(r"\w+|\s+|.", "".join(statements)) or [" "]
    at = data.draw(st.integers(0, len(words) - 1))
    words[at] = data.draw(st.sampled_from(WORDS))
    only_refused(read_lsd, "".join(words))


@quick
@given(st.text(max_size=200))
@example("let a = 1 \u2028 ;")
@example("\ud800")
def test_any_text_is_read_or_refused(text):
    only_refused(read_lsd, text)
    only_refused(read_lsd, BODIES + f"let x = {text} ;")


@quick
@given(
    st.recursive(
        st.sampled_from(["1", "J", "J'", "2 m", "[1, 2, 3]", "t", "pi", "?k", "a", "0"]),
        lambda inner: (
            st.tuples(inner, st.sampled_from("+-*/^@."), inner).map("".join)
            | st.tuples(st.sampled_from(sorted(FUNCTIONS)), inner).map(lambda x: f"{x[0]}({x[1]})")
            | inner.map(lambda x: f"({x})")
        ),
        max_leaves=12,
    )
)
def test_any_formula_is_read_or_refused(formula):
    only_refused(read_lsd, BODIES + f"output x = {formula} ;")


TAGS = ["link", "joint", "inertial", "mass", "inertia", "origin", "axis", "parent", "child",
        "mimic", "visual", "geometry", "box", "body", "geom", "worldbody", "equality"]  # fmt: skip
KEYS = ["name", "type", "value", "xyz", "rpy", "link", "joint", "size", "pos", "mass"]
VALUES = ["a", "b", "revolute", "1", "-1", "0 0 1", "0 0 0", "nan", "1e400", "hinge", "", "é"]


def element(parts) -> str:
    tag, attributes, children = parts
    said = " ".join(f'{key}="{value}"' for key, value in attributes.items())
    return f"<{tag} {said}>{''.join(children)}</{tag}>"


ATTRIBUTES = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=3)
ELEMENT = st.recursive(
    st.just(""),
    lambda inner: st.tuples(st.sampled_from(TAGS), ATTRIBUTES, st.lists(inner, max_size=4)).map(
        element
    ),
    max_leaves=12,
)


@quick
@given(st.lists(ELEMENT, max_size=5))
def test_any_elements_are_read_or_refused(elements):
    inside = "".join(elements)
    only_refused(read_urdf, f'<robot name="r"><link name="a"/>{inside}</robot>')
    only_refused(reading_of_mjcf, f"<mujoco><worldbody>{inside}</worldbody></mujoco>")
