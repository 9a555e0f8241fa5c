"""A page as text: aligned columns, nothing but characters.

Public names: to_text, table_text, is_numeric.
"""

from __future__ import annotations

from collections.abc import Sequence

from .page import Page, Table

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
