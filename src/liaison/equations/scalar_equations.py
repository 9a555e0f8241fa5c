"""Scalar equations for reading: each side made short, as Unicode text and as LaTeX.

Public names: ScalarEquations, listed, is_empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

from liaison.expr import Expr, to_latex, to_text
from liaison.expr.reading import Reading
from liaison.expr.reading_latex import reading_to_latex
from liaison.expr.reading_text import to_unicode
from liaison.expr.simplify import simplified
from liaison.expr.simplify_arrange import Order
from liaison.expr.simplify_ring import TooLarge

from .statement import Line


@final
@dataclass(frozen=True, slots=True)
class ScalarEquations:
    """Developed scalars: left = right, equation by equation, names in an order for reading."""

    name: str
    lines: tuple[Line, ...]
    order: Order = field(default_factory=Order)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def text(self) -> str:
        """Unicode text, each side as short as it gets."""
        rows = [(line.name, self._text(line.left), self._text(line.right)) for line in self.lines]
        return "\n".join([self.name, "", *listed(rows)])

    @property
    def latex(self) -> str:
        """LaTeX, aligned at the signs of equality."""
        rows = [rf"{self._latex(line.left)} &= {self._latex(line.right)}" for line in self.lines]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"

    def __str__(self) -> str:
        return self.text

    def _short(self, f: Expr) -> Reading | None:
        try:
            return simplified(f, self.order)
        except TooLarge:
            return None

    def _text(self, f: Expr) -> str:
        found = self._short(f)
        return to_text(f) if found is None else to_unicode(found)

    def _latex(self, f: Expr) -> str:
        found = self._short(f)
        return to_latex(f) if found is None else reading_to_latex(found)


def is_empty(line: Line) -> bool:
    """0 = 0 as it is written."""
    return all(side.op == "const" and side.value == 0 for side in (line.left, line.right))


def listed(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """Each equation below its name."""
    return [text for name, left, right in rows for text in (name, f"    {left} = {right}")]
