"""Equations by levels on the command line: `derive --level vector|matrix|scalar --expand TERM`.

Public names: LEVELS, FORMS, at_level.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liaison.equations.vector.scalar_equations import ScalarEquations
from liaison.equations.vector.vector_equations import VectorEquations

from .algebra import to_text
from .cli_values import check_word, named_by
from .corridor_levels import LEVELS, vector_equations
from .model import Mechanism

FORMS = ("text", "latex")
SIDES = ("name", "left", "right")


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
    found: VectorEquations | ScalarEquations
    with named_by("--level"):
        found = vector_equations(mechanism, level, **terms)  # type: ignore[call-overload]
    facts: dict[str, Any] = {"level": level, "basis": terms["basis"]}
    facts["text"] = found.latex if form == "latex" else found.text
    if isinstance(found, ScalarEquations):
        named, rows = found.written()
        facts["where"] = dict(named)
    else:
        rows = [(line.name, to_text(line.left), to_text(line.right)) for line in found.lines]
        facts |= {"names": found.meanings, "expandable": list(found.expandable)}
    return facts | {"equations": [dict(zip(SIDES, row, strict=True)) for row in rows]}
