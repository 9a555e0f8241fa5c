"""A verification, shown: every theorem with its error.

Public names: title, page.
"""

from __future__ import annotations

from liaison.analyse.along.verify import Verification

from .page import Page, Table, number


def title(shown: Verification) -> str:
    """Whether every theorem holds."""
    return "every theorem holds" if shown.holds else f"{shown.worst.name} does not hold"


def page(shown: Verification) -> Page:
    """Theorem by theorem."""
    rows = tuple(
        (x.name, "holds" if x.holds else "FAILS", f"{x.error:.1e}", number(x.size, 3), number(x.at))
        for x in shown.theorems
    )
    head = ("theorem", "", "error", "relative to", "at [s]")
    notes = (*shown.notes, *(f"Not checked {x}." for x in shown.unchecked))
    return Page(title(shown), (), (Table(head, rows),), notes)
