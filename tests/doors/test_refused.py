"""The folder of wrong texts: each is refused with the message beside it, word for word."""

import os
from pathlib import Path

import pytest

from liaison.errors import LiaisonError
from liaison.formats import read

FOLDER = Path(__file__).parent / "refused"
TEXTS = sorted(FOLDER.glob("*.lsd"))


def refusal(path: Path) -> str:
    try:
        read(path)
    except LiaisonError as error:
        return f"{type(error).__name__}: {error}\n".replace(str(path), path.name)
    return "accepted\n"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_wrong_text_is_refused_with_the_message_beside_it(path):
    expected = path.with_suffix(".txt")
    if os.environ.get("LIAISON_WRITE_EXPECTED"):  # to write them anew, and then to read them all
        expected.write_text(refusal(path), encoding="utf-8")
    assert refusal(path) == expected.read_text(encoding="utf-8")


def test_every_message_says_where_and_belongs_to_a_text():
    told = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.txt")}
    assert set(told) == {path.stem for path in TEXTS}
    assert len(told) >= 80
    assert all(f"{name}.lsd, line " in text for name, text in told.items())
