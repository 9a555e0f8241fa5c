"""What is shown of a result: a title, facts, tables, formulas, notes; the same for text and HTML.

Public names: Page, Table, number, plural, listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final


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
