"""What is shown of a result: a title, facts, tables, formulas, notes; the same for text and HTML.

Public names: Page, Table, number, plural, listed, to_text, table_text, is_numeric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

LONGEST = 60
"""Rows of a table; of a longer one the middle is left out."""


def to_text(page: Page) -> str:
    """The page in lines."""
    lines = [page.title]
    width = max((len(name) for name, _ in page.facts), default=0)
    lines += [f"  {name:<{width}}  {value}" for name, value in page.facts]
    lines += [page.text] if page.text else []
    for table in page.tables:
        if table.rows:
            lines += ["", *table_text(table)]
    if page.notes:
        lines += ["", *page.notes]
    return "\n".join(lines)


def table_text(table: Table, longest: int = LONGEST) -> list[str]:
    """A table in lines: its title, its head, its rows; of many rows those at the ends."""
    rows = [tuple(row) for row in table.rows]
    left_out = len(rows) - longest
    if left_out > 0:
        half = longest // 2
        gap = (f"… {left_out} more", *[""] * (len(table.head) - 1))
        rows = [*rows[:half], gap, *rows[-half:]]
    head = [table.head] if any(table.head) else []
    widths = [max(map(len, column)) for column in zip(*head, *rows, strict=True)]
    right = [is_numeric([row[k] for row in rows]) for k in range(len(widths))]
    lines = [_row(row, widths, right) for row in (*head, *rows)]
    return [table.title, *lines] if table.title else lines


def _row(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = [
        f"{text:>{width}}" if to_right else f"{text:<{width}}"
        for text, width, to_right in zip(row, widths, right, strict=True)
    ]
    return "  " + "  ".join(cells).rstrip()


def is_numeric(texts: Sequence[str]) -> bool:
    """Whether every text begins as a number does."""
    signs = (x[:2].strip("-+−")[:1] for x in texts if x not in ("", "–"))
    return all(x.isdigit() for x in signs)


@final
@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under a head.

    Attributes:
        head: of each column.
        rows: of as many texts.
        title: above it; may be empty.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""


@final
@dataclass(frozen=True, slots=True)
class Page:
    """A result, to be read.

    Attributes:
        title: one line that says what it is and what it amounts to.
        facts: names and values.
        tables: one below the other; those without rows are left out.
        notes: sentences.
        text, html: what each of the two shows in its own way, between facts and tables.
    """

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    text: str = ""
    html: str = ""


def number(x: Any, digits: int = 6) -> str:
    """A number in few digits: 0.25, 1.2e-09, 3; other things as their text."""
    if isinstance(x, bool | str):
        return str(x)
    try:
        return f"{float(x):.{digits}g}"
    except (TypeError, ValueError):
        return str(x)


def plural(count: int, word: str, words: str = "") -> str:
    """1 body, 2 bodies."""
    return f"{count} {word if count == 1 else words or word + 's'}"


def listed(items: Sequence[str], most: int = 12) -> str:
    """Texts with commas; of many, the first ones and how many more."""
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[:most])}, and {len(items) - most} more"
