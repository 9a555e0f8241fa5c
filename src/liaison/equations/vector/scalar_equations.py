"""Scalar equations for reading: both sides simplified, as Unicode text and as LaTeX.

A side too long to be made short is written as it is, its shared parts named w1, w2, … above all.

Public names: ScalarEquations, Written, listed, is_empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, final

from liaison.equations.statement import Line
from liaison.expr import Expr, substitute, symbol, to_latex, to_text, topological
from liaison.expr.reading.arrange import Order
from liaison.expr.reading.latex import reading_to_latex
from liaison.expr.reading.names import unicode_name
from liaison.expr.reading.reading import Reading
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.simplify import Reader
from liaison.expr.reading.text import to_unicode
from liaison.lazy import Shown

LONGEST = 160
"""Operations in a side that is made short; making it takes a fraction of a second."""

TERMS = 60
"""Terms on the way of making it short."""

Written: TypeAlias = tuple[list[tuple[str, str]], list[tuple[str, str, str]]]
"""Named parts with what they are; equations with their names, left and right."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class ScalarEquations(Shown):
    """Developed scalars: left = right, equation by equation, names in an order for reading."""

    name: str
    lines: tuple[Line, ...]
    order: Order = field(default_factory=Order)
    note: str = ""  # what they leave out
    multipliers: tuple[Expr, ...] = ()  # of closures, which the text calls λ₁, λ₂, …

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def text(self) -> str:
        """Unicode text, each side as short as it gets."""
        parts, rows = self.written()
        named = [f"{name} = {text}" for name, text in parts]
        legend = self._legend([text for row in (*parts, *rows) for text in row])
        notes = [x for x in (legend, self.note) if x]
        note = ["", *notes] if notes else []
        return "\n".join([self.name, "", *named, *([""] if named else []), *listed(rows), *note])

    def _legend(self, texts: Sequence[str]) -> str:
        """What the multipliers in some texts are."""
        names = [unicode_name(f"lambda{k + 1}") for k in range(len(self.multipliers))]
        rows = [x.name.removeprefix("lambda ") for x in self.multipliers]
        used = [f"{name} {row}" for name, row in zip(names, rows, strict=True)
                if any(name in text for text in texts)]  # fmt: skip
        return f"Multipliers: {'; '.join(used)}." if used else ""

    @property
    def latex(self) -> str:
        """LaTeX, aligned at the signs of equality."""
        parts, rows = self._sides(reading_to_latex, _latex_rows)
        lines = [f"{name} &= {text}" for name, text in parts]
        lines += [f"{left} &= {right}" for _, left, right in rows]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"

    def __str__(self) -> str:
        return self.text

    def written(self) -> Written:
        """Named parts of long formulas, then every equation, as Unicode text."""
        names = {x: symbol(f"lambda{k + 1}") for k, x in enumerate(self.multipliers)}
        if not names:
            return self._sides(to_unicode, _text_rows)
        left = substitute([line.left for line in self.lines], names)
        right = substitute([line.right for line in self.lines], names)
        lines = tuple(replace(x, left=a, right=b) for x, a, b in zip(self.lines, left, right))
        return replace(self, lines=lines)._sides(to_unicode, _text_rows)

    def _sides(
        self, short: Callable[[Reading], str], long: Callable[[list[Expr]], Rows]
    ) -> Written:
        sides = [side for line in self.lines for side in (line.left, line.right)]
        read = {side: self._short(side) for side in dict.fromkeys(sides)}
        rest = [side for side, reading in read.items() if reading is None]
        named, texts = long(rest) if rest else ([], [])
        readings = {side: short(reading) for side, reading in read.items() if reading is not None}
        readings |= dict(zip(rest, texts, strict=True))
        return named, [
            (line.name, readings[line.left], readings[line.right]) for line in self.lines
        ]

    def _short(self, f: Expr) -> Reading | None:
        if len(topological(f)) > LONGEST:
            return None
        try:
            return Reader([f], self.order, limit=TERMS).read(f)
        except TooLarge:
            return None


Rows: TypeAlias = tuple[list[tuple[str, str]], list[str]]


def _text_rows(fs: list[Expr]) -> Rows:
    return _split(to_text(fs, names=_marks(fs)).splitlines(), len(fs), " = ")


def _latex_rows(fs: list[Expr]) -> Rows:
    rows = to_latex(fs, names=_marks(fs)).splitlines()[1:-1]
    return _split([row.removesuffix(" \\\\") for row in rows], len(fs), " &= ")


def _marks(fs: list[Expr]) -> list[str]:
    return [f"side{k}" for k in range(len(fs))]


def _split(rows: list[str], count: int, sign: str) -> Rows:
    """The rows of named parts, and the formulas, which are the last ones."""
    pairs = [row.partition(sign)[::2] for row in rows]
    return pairs[:-count], [text for _, text in pairs[-count:]]


def is_empty(line: Line) -> bool:
    """0 = 0 as it is written."""
    return all(side.op == "const" and side.value == 0 for side in (line.left, line.right))


def listed(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """Each equation below its name."""
    return [text for name, left, right in rows for text in (name, f"    {left} = {right}")]
