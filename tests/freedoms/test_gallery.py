"""The gallery shows every shipped mechanism with loops, and says of it what is so."""

import re

import pytest

import liaison

LARGEST = 600_000
"""All pictures together [bytes]."""


@pytest.fixture(scope="module")
def docs(examples):
    return examples.parent / "docs"


def rows(docs):
    """Example -> the nine cells after its name."""
    page = (docs / "gallery.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| \[(\w+)\]\(#\1\) \|(.*)\|$", page, re.MULTILINE)
    return {name: [cell.strip().strip("*") for cell in cells.split("|")] for name, cells in found}


def test_every_closed_example_is_there_with_its_picture(docs, examples):
    closed = {
        path.stem for path in examples.glob("*.lsd") if liaison.span(liaison.read(path)).loops
    }
    page = (docs / "gallery.md").read_text(encoding="utf-8")
    assert set(rows(docs)) == closed, "run `make gallery`"
    pictures = {path.stem: path for path in (docs / "gallery").glob("*.png")}
    assert set(pictures) == closed
    assert all(f"(gallery/{name}.png)" in page for name in closed)
    assert sum(path.stat().st_size for path in pictures.values()) < LARGEST


NAMES = ["bennett", "door", "shaky_6r", "slider_crank_equal", "triangle_flat", "antenna_shared",
         "excavator", "stewart_welded"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_table_is_what_mobility_says(name, docs, examples):
    found = liaison.mobility(examples / f"{name}.lsd", primes=1)
    told = [found.unknowns, found.equations, found.gruebler, found.naive_rank, found.rank,
            found.first_order, found.finite[0]]  # fmt: skip
    cells = rows(docs)[name]
    assert [int(x) for x in cells[:7]] == told
    assert cells[7:] == [found.status, "proved" if found.is_proved else "likely"]
