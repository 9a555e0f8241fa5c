"""Every example, broken one way at a time, is refused with the message written beside it."""

import os
import re

import pytest

from doors.breaking import BREAKS, broken, expected
from liaison.errors import AssemblyError, LiaisonError
from liaison.formats import read_lsd, read_urdf
from liaison.tree import assemble, span

CASES = [(example, way) for example, ways in BREAKS.items() for way in ways]


def refusal(example: str, way: str) -> str:
    text = broken(example, way)
    try:
        if example.endswith(".urdf"):
            mechanism = read_urdf(text, file=example)
        else:
            mechanism = read_lsd(text, file=example)
        assemble(span(mechanism))
    except AssemblyError as error:
        # the numbers are those of the nearest configuration found: two digits are meant
        return f"AssemblyError: {re.sub(NUMBER, two_digits, error.message)}"
    except LiaisonError as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


NUMBER = r"-?\d+\.\d+"


def two_digits(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2g}"


@pytest.mark.parametrize(("example", "way"), CASES)
def test_a_broken_example_is_refused_in_words(example, way):
    message, path = refusal(example, way), expected(example, way)
    if os.environ.get("LIAISON_WRITE_EXPECTED"):  # to write them anew, and then to read them all
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(message + "\n", encoding="utf-8")
    assert message + "\n" == path.read_text(encoding="utf-8")


def test_each_message_belongs_to_a_case():
    known = {expected(example, way) for example, way in CASES}
    written = set(next(iter(known)).parents[1].rglob("*.txt"))
    assert written == known


def test_every_example_is_broken_in_all_ten_ways():
    assert all(len(ways) == 10 for ways in BREAKS.values())
