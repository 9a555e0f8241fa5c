"""Equations by levels on the command line: `derive --level vector|matrix|scalar --expand TERM`.

Public names: LEVELS, FORMS, at_level.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liaison.algebra import Formal, to_text
from liaison.cli_values import check_word
from liaison.corridor_levels import LEVELS, vector_equations
from liaison.equations.scalar_equations import ScalarEquations
from liaison.equations.vector_equations import VectorEquations
from liaison.expr import Expr
from liaison.expr import to_text as expr_text
from liaison.model import Mechanism

FORMS = ("text", "latex")


def at_level(
    mechanism: Mechanism, level: str, form: str, terms: Mapping[str, Any]
) -> dict[str, Any]:
    """The facts of a level: its text, its equations, and which terms can be expanded.

    Args:
        mechanism: whose equations are told.
        level: one of LEVELS.
        form: one of FORMS.
        terms: what `vector_equations` takes: expand, bodies, basis, point.
    """
    check_word("--level", level, LEVELS)
    check_word("--format", form, FORMS)
    is_scalar = level == "scalar"
    found = vector_equations(mechanism, "vector" if is_scalar else level, **terms)
    basis: str = terms["basis"]
    told: VectorEquations | ScalarEquations = found.components(basis) if is_scalar else found
    sides = [
        {"name": line.name, "left": _said(line.left), "right": _said(line.right)}
        for line in told.lines
    ]
    return {
        "level": level,
        "basis": basis,
        "equations": sides,
        "expandable": [] if is_scalar else list(found.expandable),
        "text": told.latex if form == "latex" else told.text,
    }


def _said(side: Formal | Expr) -> str:
    return expr_text(side) if isinstance(side, Expr) else to_text(side)
