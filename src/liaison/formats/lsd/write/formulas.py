"""Formulas in the notation of LSD: reading them gives the same formulas back.

Numbers are exact decimals or quotients, floats their shortest decimal with the suffix f; what is
grouped in the formula is grouped in the text.

Public names: Lsd, exact, label_of, name_of, quoted, unwritable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, final

from liaison.errors import TextError
from liaison.expr import OPS, Expr
from liaison.expr.graph.node import Pi, Value
from liaison.expr.graph.row import ATOM, PRODUCT, SIGN, SUM
from liaison.expr.reading.notation import Notation, Part, Written
from liaison.formats.lsd.formulas.formulas import MAX_ENTRIES
from liaison.formats.lsd.formulas.functions import FUNCTIONS
from liaison.formats.lsd.syntax.tokens import ACTIONS, DIRECTIONS, RESERVED
from liaison.model.checks import MEANINGS

_WORD = re.compile(r"[^\W\d]\w*")
_NO_NAMES = RESERVED | {*DIRECTIONS, *ACTIONS, "to", "above", "below"}
_PATTERNS = {"pow": "{}^{}", "select": "if({}, {}, {})"}
_LEAST = {
    "add": (SUM, PRODUCT), "sub": (SUM, PRODUCT), "mul": (PRODUCT, SIGN), "div": (PRODUCT, SIGN),
    "neg": (SIGN,), "pow": (ATOM, SIGN),
}  # fmt: skip
LONG_NUMBER = 300
"""Digits past which a number gets a point."""


def unwritable(what: str) -> TextError:
    """Something that the language has no words for."""
    return TextError(f"{what} cannot be written as LSD.")


def quoted(text: str) -> str:
    """A text in quotes, what would end it behind a backslash."""
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise unwritable(f"the text {text!r}, which is no Unicode text,")
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def name_of(name: str) -> str:
    """A name, between backquotes if it is no plain word."""
    return name if _WORD.fullmatch(name) and name not in _NO_NAMES else f"`{name}`"


def label_of(label: str) -> str:
    """A coordinate, speed, parameter or input in a formula; its prime behind the name."""
    base = label.rstrip("'")
    words = base.split(".")
    plain = all(_WORD.fullmatch(w) and w not in _NO_NAMES for w in words)
    if plain and (len(words) == 1 or words[0] not in MEANINGS):
        return label
    return name_of(base) + label[len(base) :]


def exact(x: int | Fraction) -> Written:
    """A rational number and how strongly its text binds: a decimal where it ends soon."""
    if x < 0:
        return Written(f"-{exact(-x).text}", SIGN)
    text = _decimal(Fraction(x))
    return Written(text or f"({'/'.join(_quotient(x))})")


def _quotient(x: int | Fraction) -> list[str]:
    """Numerator and denominator, with a point in long ones so that each is a finite number."""
    parts = [str(x.numerator), str(x.denominator)]
    longest = max(map(len, parts))
    if longest <= LONG_NUMBER:
        return parts
    padded = [part.rjust(longest, "0") for part in parts]
    return [f"{part[0]}.{part[1:]}" for part in padded]


def _decimal(x: Fraction) -> str:
    """The finite decimal of a positive number; "" if it has none, or a long one."""
    rest, places = x.denominator, 0
    while rest % 10 == 0:
        rest, places = rest // 10, places + 1
    for prime in (2, 5):
        while rest % prime == 0:
            rest, places = rest // prime, places + 1
    if rest != 1 or places > 40 or x.numerator >= 10**30:
        return ""
    scaled = x * 10**places
    text = str(Decimal(scaled.numerator).scaleb(-places).normalize())
    if "E" in text and -7 < Decimal(text).adjusted() < 16:
        text = format(Decimal(text), "f")
    return text.replace("E+", "e").replace("E", "e") if Fraction(text) == x else ""


@final
class Lsd(Notation):
    """The formulas of LSD."""

    has_squares = False

    def name(self, label: str) -> str:
        """A coordinate, speed, parameter or input."""
        return label_of(label)

    def number(self, value: Value) -> Written:
        """A decimal or a quotient; a float has the suffix f."""
        if isinstance(value, float):
            text = f"{float(value)!r}f"
            return Written(text, SIGN if text.startswith("-") else ATOM)
        return Written("pi") if isinstance(value, Pi) else exact(value)

    def pattern(self, op: str) -> str:
        """The pattern of an operation that the language has."""
        return _pattern(op)

    def least_ranks(self, op: str, args: Sequence[Expr]) -> Sequence[int] | None:
        """Sums and products group from the left, as they are read."""
        return _LEAST.get(op)

    def in_order(self, node: Expr, parts: Sequence[Part]) -> tuple[Sequence[Expr], Sequence[Part]]:
        """The longer chain of sums or products first, where it needs no parentheses."""
        args = node.args
        return (args[::-1], parts[::-1]) if self.is_turned(node.op, parts) else (args, parts)

    def is_turned(self, op: str, parts: Sequence[Part]) -> bool:
        """Whether the second argument of a sum or product is written first."""
        return op in ("add", "mul") and parts[1].rank == self.rank(op) != parts[0].rank

    def applied(self, op: str, texts: Sequence[str], data: Any = None) -> str:
        """An operation; tables and unbound functions with all they are made of."""
        if op in _WITH_DATA:
            return _WITH_DATA[op](data, list(texts))
        return super().applied(op, texts, data)


LSD = Lsd()


@cache
def _pattern(op: str) -> str:
    pattern = _PATTERNS.get(op, OPS[op].text)
    word, parenthesis, _ = pattern.partition("(")
    if parenthesis and word not in FUNCTIONS:
        raise unwritable(f"the operation {op!r}")
    return pattern


def _table(data: Any, arguments: list[str]) -> str:
    """table(x, [places], [values]), and what is not as usual."""
    table, order = data
    if len(table.x) > MAX_ENTRIES:
        raise unwritable(f"a table of more than {MAX_ENTRIES} points")
    points = [f"[{', '.join(f'{x!r}f' for x in xs.tolist())}]" for xs in (table.x, table.y)]
    more = [] if table.kind == "monotone" else [quoted(table.kind)]
    more += [] if table.outside == "line" else [f"outside = {quoted(table.outside)}"]
    more += [f"name = {quoted(table.name)}"] if table.name else []
    more += [f"derivative = {order}"] if order else []
    return f"table({', '.join([*arguments, *points, *more])})"


def _unknown(data: Any, arguments: list[str]) -> str:
    """unknown("f", x, …), and how often it is differentiated in each argument."""
    function, orders = data
    more = [f"derivative = [{', '.join(map(str, orders))}]"] if any(orders) else []
    return f"unknown({', '.join([quoted(function.name), *arguments, *more])})"


_WITH_DATA: dict[str, Callable[[Any, list[str]], str]] = {
    "table": _table,
    "call": _unknown,
    "stumpff": lambda k, arguments: f"stumpff({k}, {arguments[0]})",
    "arc_ratio": lambda _, arguments: f"arc_ratio({', '.join(arguments)})",
}
