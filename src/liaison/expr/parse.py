"""Formulas read from text: + − * / **, brackets, functions; nothing is executed.

Whoever reads says what a name and a function stand for, by a class of `FormulaReader`.

    formulas("[[x, 1], [sin(a)/2, f(t)]]")        names are symbols, f an unknown function

Public names: FormulaReader, formulas.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn, TypeVar, final

from liaison.errors import NamingError, Place, TextError
from liaison.expr.graph.node import PI, Expr, as_expr, symbol
from liaison.expr.graph.ops import OPS, apply

from .unknown import Function

T = TypeVar("T")

SIGNS = frozenset({"add", "sub", "mul", "div", "neg", "pow"})
"""Operations that are written with signs; all others are functions."""

_DEPTH = 100
"""Brackets inside brackets."""

_HIGHEST = 1000
"""The highest whole exponent."""

_PIECE = re.compile(
    r"(?P<space>\s+)|(?P<comment>\(\*.*?\*\))"
    r"|(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?f?)|(?P<name>[^\W\d]\w*)"
    r'|(?P<text>"(?:[^"\\\n]|\\["\\])*")|(?P<sign>:=|\*\*|[;,()\[\]=+\-*/^])',
    re.S,
)


class FormulaReader(ABC):
    """The words of a text, read from left to right."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self.words: list[tuple[str, str, int]] = []
        position = 0
        while position < len(text):
            piece = _PIECE.match(text, position)
            if piece is None:
                self.reject(f"{text[position]!r} is no sign of formulas", position)
            if piece.lastgroup not in ("space", "comment"):
                self.words.append((str(piece.lastgroup), piece[0], position))
            position = piece.end()
        self.words.append(("end", "", len(text)))
        self.at, self.depth = 0, 0

    @abstractmethod
    def named(self, word: str, position: int) -> Expr:
        """What a name stands for."""

    @abstractmethod
    def applied(self, word: str, args: tuple[Expr, ...], position: int) -> Expr:
        """What a function is on its arguments."""

    # Words

    def place(self, position: int) -> Place:
        """Line and column of a position."""
        before = self.text[:position]
        start = before.rfind("\n") + 1
        line = self.text[start:].partition("\n")[0]
        return Place(self.file, before.count("\n") + 1, position - start + 1, line[:200])

    def reject(self, message: str, position: int | None = None) -> NoReturn:
        """Raises an error at a position, or at the next word."""
        where = self.words[self.at][2] if position is None else position
        raise TextError(f"{message}.", place=self.place(where))

    def passed(self, *signs: str) -> str:
        """The next word if it is one of these signs, and passes it; "" otherwise."""
        kind, word, _ = self.words[self.at]
        if kind != "sign" or word not in signs:
            return ""
        self.at += 1
        return word

    def taken(self, kind: str, expected: str) -> str:
        """The next word, of that kind or that sign itself, which is passed."""
        own, word, _ = self.words[self.at]
        if own != kind and word != kind:
            what = repr(word) if word else "the end of the text"
            self.reject(f"expected {expected}, not {what}")
        self.at += 1
        return word

    # Formulas

    def sum(self) -> Expr:
        """Terms with their signs."""
        value = self._product()
        while sign := self.passed("+", "-"):
            other = self._product()
            value = value + other if sign == "+" else value - other
        return value

    def _product(self) -> Expr:
        value = self._signed()
        while sign := self.passed("*", "/"):
            other = self._signed()
            value = value * other if sign == "*" else value / other
        return value

    def _signed(self) -> Expr:
        is_minus = False
        while self.passed("-"):
            is_minus = not is_minus
        value = self._atom()
        if self.passed("**", "^"):
            value = self._raised(value)
        return -value if is_minus else value

    def _raised(self, base: Expr) -> Expr:
        sign = -1 if self.passed("-") else 1
        exponent = sign * self._atom()
        if exponent.op == "const" and abs(float(exponent.a)) > _HIGHEST:
            self.reject(f"the exponent {exponent} is larger than {_HIGHEST}")
        return base**exponent

    def _atom(self) -> Expr:
        kind, word, _ = self.words[self.at]
        if kind == "number":
            self.at += 1
            return as_expr(float(word[:-1]) if word.endswith("f") else Fraction(word))
        if kind == "name":
            return self._word(word)
        self.taken("(", "a number, a name or '('")
        return self.inside(self.sum)

    def inside(self, read: Callable[[], T], end: str = ")") -> T:
        """What stands between brackets."""
        self.depth += 1
        if self.depth > _DEPTH:
            self.reject(f"more than {_DEPTH} brackets inside brackets")
        value = read()
        self.taken(end, f"{end!r}")
        self.depth -= 1
        return value

    def _word(self, word: str) -> Expr:
        position = self.words[self.at][2]
        self.at += 1
        if not self.passed("("):
            return self.named(word, position)
        return self.applied(word, tuple(self.inside(self.arguments)), position)

    def plain(self, word: str, args: tuple[Expr, ...], position: int) -> Expr:
        """A function of the table of operations.

        Raises:
            NamingError: no such function.
            TextError: too many or too few arguments.
        """
        known = {op: row.arity for op, row in OPS.items() if op not in SIGNS and row.arity > 0}
        if word not in known:
            raise NamingError.unknown("function", word, known, place=self.place(position))
        if len(args) != known[word]:
            self.reject(f"{word} takes {known[word]} arguments, not {len(args)}", position)
        return apply(word, args)

    def arguments(self) -> list[Expr]:
        """Formulas with commas between them."""
        args = [self.sum()]
        while self.passed(","):
            args.append(self.sum())
        return args


@final
class _Free(FormulaReader):
    """Every name is a symbol; functions that are not in the table are unknown ones."""

    def named(self, word: str, position: int) -> Expr:
        return PI if word == "pi" else symbol(word)

    def applied(self, word: str, args: tuple[Expr, ...], position: int) -> Expr:
        if word in OPS:
            return self.plain(word, args, position)
        return Function(word, len(args))(*args)

    def entries(self) -> Any:
        """A formula, or formulas in square brackets, to any depth of two."""
        if not self.passed("["):
            return self.sum()
        rows = [self.inside(self._row, "]") if self.passed("[") else self.sum()]
        while self.passed(","):
            rows.append(self.inside(self._row, "]") if self.passed("[") else self.sum())
        self.taken("]", "']'")
        return rows

    def _row(self) -> list[Expr]:
        return self.arguments()


def formulas(text: str, what: str = "formula") -> Any:
    """A formula, a list of formulas or a list of rows of formulas.

    Args:
        text: as "x + 1", "[x, y]" or "[[x, 1], [0, f(t)]]".
        what: it is, for messages.

    Raises:
        TextError: what is no formula.
    """
    reader = _Free(text, what)
    result = reader.entries()
    if reader.words[reader.at][0] != "end":
        reader.reject(f"expected the end, not {reader.words[reader.at][1]!r}")
    return result
