"""Texts of robots with random damage are read or refused, never anything else."""

import random
import time
from contextlib import suppress
from pathlib import Path

import pytest

from liaison.errors import LiaisonError
from liaison.formats import read, reading_of_mjcf, reading_of_urdf
from liaison.formats.urdf.write import write_urdf
from samples.mjcf_texts import ARM, LOOP

EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 2.0
WORDS = (
    "nan", "inf", "-1", "0", "1e308", "1e-308", "1e999", "", "0 0 0", "1 2", "abc", "<", '"', "/>",
    "&#0;", "&amp;", "name", "joint", "body", "ground", "world", 'class="x"', 'type="mesh"',
    'type="free"', "<include/>", "<body/>", "<joint/>", 'euler="90 0 0"', 'quat="0 0 0 0"',
    'fromto="0 0 0 0 0 0"', "9" * 500,
)  # fmt: skip


def damaged(text: str, rng: random.Random) -> str:
    """The text with one to four changes: a sign, a piece left out, a word put in, a piece twice."""
    for _ in range(rng.randint(1, 4)):
        i, kind = rng.randrange(len(text)), rng.randrange(4)
        j, n = rng.randrange(len(text)), rng.randint(1, 80)
        piece = (chr(rng.randrange(32, 127)), "", rng.choice(WORDS), text[j : j + n])[kind]
        text = text[:i] + piece + text[i + (1, rng.randint(1, 30), 0, 0)[kind] :]
    return text


@pytest.fixture(scope="module")
def seeds():
    loop = write_urdf(read(EXAMPLES / "four_bar.lsd"))
    return [
        (reading_of_mjcf, ARM),
        (reading_of_mjcf, LOOP),
        (reading_of_urdf, (EXAMPLES / "arm7.urdf").read_text()),
        (reading_of_urdf, loop),
    ]


def tried(seeds, rng: random.Random) -> None:
    reader, text = rng.choice(seeds)
    broken, strict = damaged(text, rng), rng.random() < 0.5
    begin = time.perf_counter()
    with suppress(LiaisonError):
        reader(broken, strict=strict)
    assert time.perf_counter() - begin < SECONDS


def test_damaged_texts_are_read_or_refused(seeds):
    rng = random.Random(0)
    for _ in range(400):
        tried(seeds, rng)


@pytest.mark.slow
def test_many_damaged_texts_are_read_or_refused(seeds):
    rng = random.Random(1)
    for _ in range(20_000):
        tried(seeds, rng)
