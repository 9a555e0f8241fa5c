"""What is shown of a result: a title, facts, tables, formulas, notes; the same for text and HTML.

A result without a page of its own is shown by its fields.

Public names: Page, Table, number, plural, brief, fields_title, fields_page, to_text,
table_text, is_numeric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, final

from liaison.lazy import Shown

LONGEST = 60
"""Rows of a table; of a longer one the middle is left out."""

WIDEST = 100
"""Characters of a title that is made of fields."""


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


def brief(value: Any, most: int = 3, width: int = 32) -> str:
    """Any value in a few words: numbers in few digits, of many things how many there are."""
    if value is None or isinstance(value, bool):
        return {None: "–", True: "yes", False: "no"}[value]
    if isinstance(value, str | int | float):
        return cut(number(value, 4), width)
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and (len(shape) != 1 or shape[0] > most):
        return " × ".join(map(str, shape)) + " numbers" if shape else number(value, 4)
    if isinstance(value, Mapping):
        return brief(list(value), most, width)
    if isinstance(value, Sequence) or shape:
        if len(value) > most:
            kinds = {type(x).__name__ for x in value}
            return f"{len(value)} × {kinds.pop() if len(kinds) == 1 else 'object'}"
        return cut(", ".join(brief(x, most, width) for x in value), width) or "none"
    kind: Any = type(value)
    is_plain = kind.__str__ in (object.__str__, Shown.__str__)
    if is_plain and (is_dataclass(value) or kind.__repr__ is object.__repr__):
        return type(value).__name__
    return cut(str(value), width)


def cut(text: str, width: int) -> str:
    """The first line of a text, not longer than a width."""
    line, _, rest = text.partition("\n")
    return line if len(line) <= width and not rest else f"{line[: width - 1].rstrip()}…"


def fields_title(shown: Any) -> str:
    """A record by its fields, in one line: its name first."""
    values = {x.name: getattr(shown, x.name) for x in fields(shown) if not x.name.startswith("_")}
    name = values.pop("name", "")
    texts = {x.replace("_", " "): brief(y) for x, y in values.items()}
    parts = [f"{x} {y}" for x, y in texts.items() if y not in ("", "–", "none")]
    return cut(f"{name}: " * bool(name) + ", ".join(parts), WIDEST)


def fields_page(shown: Any) -> Page:
    """A record by its fields, one below the other."""
    rows = [(x.name, brief(getattr(shown, x.name), 12, 400)) for x in fields(shown)]
    kind = type(shown).__name__
    return Page(kind, tuple((x.replace("_", " "), y) for x, y in rows if x[0] != "_"))
