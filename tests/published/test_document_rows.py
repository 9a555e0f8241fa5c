"""The table of the documents: every row is there, and its command prints what the page shows."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUICK = ("D1", "D2", "A3", "A4", "A7", "E5", "E6", "S7", "X1", "X2", "X3", "X4")
"""Rows of a few hundredths of a second each; the others are compared by the slow test."""

DOCUMENTED = (
    *(f"D{k}" for k in range(1, 9)), *(f"A{k}" for k in range(1, 10)),
    *(f"E{k}" for k in range(1, 10)), *(f"S{k}" for k in range(1, 13)),
)  # fmt: skip
"""What the documents describe."""


@pytest.fixture(scope="module")
def writer():
    spec = importlib.util.spec_from_file_location("seed_rows", ROOT / "docs" / "seed_rows.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["seed_rows"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page():
    return (ROOT / "docs" / "documents.md").read_text(encoding="utf-8").splitlines()


def check(writer, page, row):
    (line,) = [x for x in page if x.startswith(f"| {row.key} |")]
    assert line == writer.table_row(row, writer.printed(row))


def test_every_row_of_the_documents_has_a_command(writer):
    keys = [row.key for row in writer.ROWS]
    assert len(keys) == len(set(keys))
    assert set(DOCUMENTED) < set(keys)
    assert len(DOCUMENTED) == 38
    assert all((ROOT / "docs" / row.page).exists() for row in writer.ROWS)
    assert set(QUICK) < set(keys)


@pytest.mark.parametrize("key", QUICK)
def test_a_command_prints_what_the_page_shows(writer, page, key):
    check(writer, page, next(row for row in writer.ROWS if row.key == key))


@pytest.mark.slow
def test_all_commands_print_what_the_page_shows(writer, page):
    for row in writer.ROWS:
        check(writer, page, row)


def test_a_row_whose_command_prints_something_else_is_noticed(writer, page):
    row = next(x for x in writer.ROWS if x.key == "A4")
    with pytest.raises(RuntimeError, match="no line"):
        writer.printed(writer.Row("A4", "", row.command, ("rank 7",), "python.md"))
    with pytest.raises(RuntimeError, match=r"nothing\.lsd"):
        writer.printed(writer.Row("A4", "", "check nothing.lsd", ("x",), "python.md"))
    with pytest.raises(AssertionError):
        check(writer, page, writer.Row("A4", "", row.command, row.shows[:1], row.page))


def test_the_printed_satellite_is_the_example_without_values():
    printed = (ROOT / "docs" / "cases" / "satellite_printed.lsd").read_text(encoding="utf-8")
    example = (ROOT / "examples" / "satellite.lsd").read_text(encoding="utf-8")
    as_printed = example.split("(* ---- Here the printed text ends.")[0].rstrip()
    assert as_printed.endswith(printed.rstrip())
    assert printed.startswith("(* les corps *)")
