"""First integrals and integrability, shown.

Public names: title, page.
"""

from __future__ import annotations

from html import escape

from liaison.analyse.proofs.first_integrals import FirstIntegral
from liaison.analyse.proofs.integrability import Integrability, RowVerdict
from liaison.expr import to_latex, to_text

from .page import Page, Table


def title(shown: FirstIntegral | Integrability) -> str:
    """What stays constant; whether the constraints are holonomic."""
    if isinstance(shown, FirstIntegral):
        return f"{shown.name} [{shown.unit or '1'}] is constant: {shown.reason}"
    if not shown.rows:
        return "no constraint is of velocities only"
    likely = "" if all(x.is_proved for x in shown.rows) else "likely "
    return "holonomic" if shown.is_holonomic else f"{likely}nonholonomic"


def page(shown: FirstIntegral | Integrability) -> Page:
    """The formula; each row of velocities."""
    if isinstance(shown, FirstIntegral):
        math = f"<p>$${escape(to_latex(shown.formula))}$$</p>"
        lines = f"{to_text(shown.formula)} = const".splitlines()
        return Page(title(shown), text="\n".join(f"  {x.strip()}" for x in lines), html=math)
    rows = tuple(
        (x.name, _verdict(x), "" if x.integral is None else to_text(x.integral)) for x in shown.rows
    )
    return Page(title(shown), (), (Table(("constraint", "", "integral"), rows),))


def _verdict(row: RowVerdict) -> str:
    word = "integrable" if row.is_integrable else "not integrable"
    return word if row.is_proved else f"likely {word}"
