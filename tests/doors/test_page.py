"""Every block of the language reference and of its tour is read, and leaves what it says."""

import re
from pathlib import Path

import pytest

from liaison import corridor
from liaison.formats import read_lsd
from liaison.formats.lsd.formulas.functions import FUNCTIONS, VECTOR_FUNCTIONS
from liaison.formats.lsd.meaning.forces import FORCE_KINDS
from liaison.formats.lsd.meaning.joints import JOINT_TYPES, SYNONYMS
from liaison.formats.lsd.meaning.shapes import SHAPES
from liaison.units import UNITS

PAGE = (Path(__file__).parents[2] / "docs" / "lsd.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```lsd ?(\w*)\n(.*?)```", PAGE, re.S)
TOUR = (Path(__file__).parents[2] / "docs" / "tour.md").read_text(encoding="utf-8")
STEPS = re.findall(r"```lsd\n(.*?)```", TOUR, re.S)
(BASE,) = [text for kind, text in BLOCKS if kind == "base"]


@pytest.mark.parametrize(("kind", "text"), BLOCKS, ids=lambda part: part.strip()[:30])
def test_a_block_of_the_page_is_read(kind, text):
    mechanism = read_lsd(BASE + text if kind == "more" else text)
    assert mechanism.joints


@pytest.mark.parametrize(
    "text", STEPS, ids=["arm", "bricard", "differential", "wheel", "upu", "crate"]
)
def test_a_mechanism_of_the_tour_has_the_freedoms_it_says_and_moves(text):
    mechanism = read_lsd(text)
    said = int(re.search(r"freedoms: (\d+)", text)[1])
    assert corridor.check(mechanism).freedoms == said
    assert corridor.simulate(mechanism, until=0.05).success


@pytest.mark.parametrize(
    "words", [FUNCTIONS, VECTOR_FUNCTIONS, FORCE_KINDS, JOINT_TYPES, SYNONYMS, SHAPES, UNITS],
    ids=["functions", "of vectors", "forces", "joints", "other words", "shapes", "units"],
)  # fmt: skip
def test_every_word_of_the_language_is_on_the_page(words):
    on_page = set(re.findall(r"\w+", PAGE))
    assert set(words) <= on_page
