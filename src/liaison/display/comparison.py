"""Formalisms compared, shown: size, time and proof of each.

Public names: title, page.
"""

from __future__ import annotations

import math

from liaison.analyse.compare.compare import REFERENCE, Comparison, Derived

from .page import Page, Table, plural

HEAD = ("formalism", "unknowns", "equations", "operations", "derived", "evaluated", "equal")


def title(shown: Comparison) -> str:
    """Whether all that apply are equal, and whether that is proved."""
    verdict = "all that apply are proved equal"
    if not shown.all_equal:
        verdict = "NOT all are known to be equal"
    elif not shown.all_proved:
        verdict = "all that apply are equal, some of it numerically"
    return f"{shown.name}: {plural(len(shown.rows), 'formalism')}, {verdict}"


def page(shown: Comparison) -> Page:
    """Formalism by formalism."""
    table = Table(HEAD, tuple(_cells(row) for row in shown.rows))
    return Page(title(shown), (), (table,), (shown.note,) if shown.note else ())


def _cells(row: Derived) -> tuple[str, ...]:
    verdict = row.verdict
    if not row.equations:
        return (row.formalism, "", "", "", "", "", verdict.how)
    word = {True: "yes", False: "NO", None: "not known"}[verdict.equal]
    chance = f", chance of error below {_power(verdict.chance)}" if verdict.is_proved else ""
    chance = chance if row.formalism != REFERENCE else ""
    where = f" ({verdict.difference})" if verdict.difference else ""
    return (
        row.formalism,
        str(row.unknowns),
        str(row.equations),
        str(row.operations),
        f"{row.derivation * 1e3:.1f} ms",
        "" if row.evaluation is None else f"{row.evaluation * 1e6:.3f} µs",
        f"{word}: {verdict.how}{chance}{where}",
    )


def _power(chance: float | None) -> str:
    return f"1e{math.ceil(math.log10(chance or 1e-300))}"
