"""Rewrite formal expressions by rules of your own.

Public names: rewrite, Rewritings, Rewriting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from liaison.algebra import (
    Formal,
    RewriteRule,
    RewriteStep,
    expression,
    read_sheet,
    rewriting,
    simplified,
    to_latex,
    to_text,
)
from liaison.algebra.own.rewriting import LIMIT
from liaison.arguments import checked
from liaison.errors import ArgumentError, DerivationError, TextError
from liaison.formats.read import data_of, text_of
from liaison.lazy import Shown
from liaison.numeric.progress import lasting

STATUS = {True: "holds for all values", False: "an assumption", None: "defines operators"}


@final
@dataclass(frozen=True, slots=True, repr=False)
class Rewriting(Shown):
    """One expression on its way: what it was, each rewrite, and its shortest form."""

    expression: Formal
    steps: tuple[RewriteStep, ...]
    result: Formal


@final
@dataclass(frozen=True, slots=True, repr=False)
class Rewritings(Shown):
    """The expressions of a sheet, rewritten, and its rules."""

    rows: tuple[Rewriting, ...]
    rules: tuple[RewriteRule, ...]

    def text(self, *, steps: bool = False, form: str = "text") -> str:
        """A line for each expression; with `steps`, one for each rewrite before it."""
        write = to_latex if form == "latex" else to_text
        lines = []
        for row in self.rows:
            lines.append(f"{write(row.expression)} = {write(row.result)}")
            if steps:
                lines += [f"    {x.rule or 'collected'}: {write(x.result)}" for x in row.steps]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "rules": [
                {"name": x.name, "left": to_text(x.left), "right": to_text(x.right),
                 "status": STATUS[x.is_theorem]}
                for x in self.rules
            ],
            "expressions": [
                {
                    "expression": to_text(x.expression),
                    "steps": [{"rule": s.rule, "result": to_text(s.result)} for s in x.steps],
                    "result": to_text(x.result),
                    "is_zero": to_text(x.result) == "0",
                }
                for x in self.rows
            ],
        }  # fmt: skip


@lasting("analyse")
@checked
def rewrite(
    source: str | Path, expressions: Sequence[str] = (), *, limit: int = LIMIT
) -> Rewritings:
    """Rewrites the expressions of a sheet of algebra by its rules, and reduces them.

    Args:
        source: a sheet of algebra: its text, or the path of a file that ends in .alg.
        expressions: further expressions in the names of the sheet.
        limit: largest number of rewrites of one expression.

    Raises:
        TextError: a text that is no sheet.
        DerivationError: rules that do not come to an end.

    Example:
        >>> import liaison
        >>> sheet = "operator par(vector) : vector, linear, idempotent ; vector a, b ;"
        >>> result = liaison.rewrite(sheet, ["par(a + 3 par(b)) - par(a)"])
        >>> result.to_dict()["expressions"][0]["result"]
        '3 par(b)'
    """
    text, file = _text(source)
    if limit < 1:
        raise ArgumentError(f"rewrite: limit is {limit}; it must be 1 or more.")
    sheet = read_sheet(text, file)
    goals = [*sheet.goals, *(expression(x, sheet, f"expression {x!r}") for x in expressions)]
    rows = []
    for goal in goals:
        try:
            steps = rewriting(goal, sheet.rules, limit=limit)
        except DerivationError as error:
            message = f"{to_text(goal)} is not reduced: {error.message}"
            raise DerivationError(message, hint=error.hint) from error
        rows.append(Rewriting(goal, tuple(steps), simplified(steps[-1].result if steps else goal)))
    return Rewritings(tuple(rows), sheet.rules)


def _text(source: str | Path) -> tuple[str, str]:
    """The text of a sheet, and the name of its file."""
    is_path = isinstance(source, Path) or not any(mark in source for mark in ";\n\0")
    if not is_path:
        return str(source), "text"
    path = Path(source)
    if path.suffix.lower() != ".alg":
        raise TextError(f"{path}: a sheet of algebra is a file that ends in .alg.")
    return text_of(data_of(path), path), str(path)
