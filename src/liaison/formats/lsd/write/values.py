"""Scalars, names and formulas as LSD writes them, so that reading gives the same values back.

An exact number is a decimal or a quotient, a float its shortest decimal with the suffix f, a
formula the operations it was made of. Formulas in which symbols occur stand in si(…), where every
quantity counts as its number.

Public names: Writer, exact, label_of, name_of, quoted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from liaison.errors import TextError
from liaison.expr import PI, Expr, symbols_of, topological
from liaison.formats.lsd.formulas.formulas import MAX_ENTRIES
from liaison.formats.lsd.formulas.values import known_dimension
from liaison.formats.lsd.syntax.tokens import ACTIONS, DIRECTIONS, RESERVED
from liaison.model.checks import MEANINGS

_WORD = re.compile(r"[^\W\d]\w*")
_NO_NAMES = RESERVED | {*DIRECTIONS, *ACTIONS, "to", "above", "below"}
_LEAST = {"add": (1, 2), "sub": (1, 2), "mul": (2, 3), "div": (2, 3), "neg": (3,), "pow": (9, 3)}
_SIGN = {"add": "{} + {}", "sub": "{} - {}", "mul": "{}*{}", "div": "{}/{}", "neg": "-{}",
         "pow": "{}^{}"}  # fmt: skip
_RANK = {"add": 1, "sub": 1, "mul": 2, "div": 2, "neg": 3, "pow": 4}
_CALLS = {"sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin",
          "acos": "acos", "atan": "atan", "atan2": "atan2", "exp": "exp", "log": "log",
          "abs": "abs", "sign": "sign", "min": "min", "max": "max", "select": "if"}  # fmt: skip
LONG_NUMBER = 300
"""Digits past which a number gets a point."""
DEEP, LONG = 60, 8_000
"""Levels and characters past which a part of a formula gets a name."""
SHARED, CHAIN = 24, 40
"""Characters past which a part that is used twice gets a name; names that hang on one another."""


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


def exact(x: int | Fraction) -> tuple[str, int]:
    """A rational number and how strongly its text binds: a decimal where it ends soon."""
    if x < 0:
        return f"-{_bound(exact(-x), 3)}", 3
    text = _decimal(Fraction(x))
    return (text, 9) if text else (f"({'/'.join(_quotient(x))})", 9)


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


def _bound(written: tuple[str, int], least: int) -> str:
    text, rank = written
    return text if rank >= least else f"({text})"


class Writer:
    """Writes scalars; parts of long formulas become definitions, kept in `lets`."""

    def __init__(
        self, units: dict[str, str], taken: Iterable[str] = (), *, plain: bool = False
    ) -> None:
        self.plain = plain  # for reading: without si(…)
        self.units = units  # of parameters, by name
        self.taken = set(taken)
        self.lets: list[str] = []
        self.named: dict[Expr, _Written] = {}
        self.uses: Counter[Expr] = Counter()

    def scalar(self, x: Any, unit: str = "") -> str:
        """A number with its unit, or a formula."""
        if isinstance(x, Expr):
            return (self.angle(x) if unit == "rad" else "") or self.formula(x, unit)
        text = self.number(x)
        return f"{text} {unit}" if unit and text != "0" else text

    def number(self, x: Any) -> str:
        """A number without a unit."""
        if isinstance(x, float):
            return f"{x!r}f"
        return exact(x)[0]

    def angle(self, x: Expr) -> str:
        """A rational multiple of π in degrees, "" for anything else."""
        degrees = _degrees(x)
        return "" if degrees is None else f"{exact(degrees)[0]} deg"

    def formula(self, x: Any, unit: str = "") -> str:
        """A formula: with symbols in it, inside si(…), unless it is a parameter of that unit."""
        if not isinstance(x, Expr):
            return self.number(x)
        if not symbols_of([x]) and not _has_calls(x):
            return self.text(x)
        if x.op == "symbol" and self.fits(x.name, unit):
            return label_of(x.name)
        return self.text(x) if self.plain else f"si({self.text(x)})"

    def fits(self, name: str, unit: str) -> bool:
        """Whether a parameter has the dimension of a unit."""
        return bool(unit) and known_dimension(self.units.get(name, "")) == known_dimension(unit)

    def vector(self, entries: Iterable[Any], unit: str = "") -> str:
        """[x, y, z] with its unit behind."""
        texts = [self.formula(x, unit) for x in entries]
        zero = all(text == "0" for text in texts)
        return f"[{', '.join(texts)}]" + (f" {unit}" if unit and not zero else "")

    def share(self, formulas: Iterable[Expr]) -> None:
        """Counts how often each part of these formulas is used, so that long ones get a name."""
        roots = list(formulas)
        self.uses = Counter(roots)
        self.uses.update(arg for node in topological(roots) for arg in set(node.args))

    def text(self, root: Expr) -> str:
        """The operations of a formula; what is long and shared, or too deep, by its name."""
        written: dict[Expr, _Written] = {}
        for node in topological([root]):
            piece = self.node(node, written)
            is_shared = self.uses[node] > 1 and len(piece.text) > SHARED and piece.chain < CHAIN
            is_large = node is not root and (piece.depth > DEEP or len(piece.text) > LONG)
            if node in self.named or is_shared or is_large:
                piece = self.let(node, piece)
            written[node] = piece
        return written[root].text

    def let(self, node: Expr, piece: _Written) -> _Written:
        """A part of a formula by its name."""
        if node not in self.named:
            name = f"w{len(self.named) + 1}"
            while name in self.taken:
                name += "_"
            self.named[node] = _Written(name, 9, 1, piece.chain + 1)
            is_constant = not symbols_of([node]) and not _has_calls(node)
            text = piece.text if is_constant else f"si({piece.text})"
            self.lets.append(f"let {name} = {text} ;")
        return self.named[node]

    def node(self, node: Expr, written: dict[Expr, _Written]) -> _Written:
        """An operation on written arguments."""
        if node.op == "const":
            return _Written(*_constant(node.value))
        if node.op == "symbol":
            return _Written(label_of(node.name), 9)
        parts = [written[arg] for arg in node.args]
        depth, chain = 2 + max(p.depth for p in parts), max(p.chain for p in parts)
        texts = [part.text for part in parts]
        if node.op in _CALLS:
            return _Written(f"{_CALLS[node.op]}({', '.join(texts)})", 9, depth, chain)
        if node.op in _WITH_DATA:
            return _Written(_WITH_DATA[node.op](node.data, texts), 9, depth + 1, chain)
        if node.op not in _SIGN:
            raise unwritable(f"the operation {node.op!r}")
        return _operation(node.op, parts, chain)


class _Written(NamedTuple):
    """A text, how strongly it binds, how deep it is, and how many names hang on one another."""

    text: str
    rank: int
    depth: int = 1
    chain: int = 0


def _operation(op: str, parts: list[_Written], chain: int) -> _Written:
    """A sum, product, sign or power; a longer chain of sums or products is no deeper."""
    rank, depth = _RANK[op], 1 + max(part.depth for part in parts)
    if op in ("add", "mul") and parts[1].rank == rank != parts[0].rank:
        parts = parts[::-1]
    if rank < 3 and parts[0].rank == rank:
        depth = max(parts[0].depth, 1 + parts[1].depth)
    texts = [_bound(p[:2], least) for p, least in zip(parts, _LEAST[op], strict=True)]
    return _Written(_SIGN[op].format(*texts), rank, depth, chain)


def _constant(value: Any) -> tuple[str, int]:
    if isinstance(value, float):
        return f"{float(value)!r}f", 3 if repr(value).startswith("-") else 9
    return ("pi", 9) if repr(value) == "pi" else exact(value)


def _table(data: Any, arguments: list[str]) -> str:
    """table(x, [places], [values]), and what is not as usual."""
    table, order = data
    if len(table.x) > MAX_ENTRIES:
        raise unwritable(f"a table of more than {MAX_ENTRIES} points")
    points = [f"[{', '.join(f'{x!r}f' for x in xs.tolist())}]" for xs in (table.x, table.y)]
    more = [] if table.kind == "cubic" else [quoted(table.kind)]
    more += [] if table.outside == "line" else [f"outside = {quoted(table.outside)}"]
    more += [f"name = {quoted(table.name)}"] if table.name else []
    more += [f"derivative = {order}"] if order else []
    return f"table({', '.join([*arguments, *points, *more])})"


def _unknown(data: Any, arguments: list[str]) -> str:
    """unknown("f", x, …), and how often it is differentiated in each argument."""
    function, orders = data
    more = [f"derivative = [{', '.join(map(str, orders))}]"] if any(orders) else []
    return f"unknown({', '.join([quoted(function.name), *arguments, *more])})"


_WITH_DATA: dict[str, Any] = {
    "table": _table,
    "call": _unknown,
    "stumpff": lambda k, arguments: f"stumpff({k}, {arguments[0]})",
    "arc_ratio": lambda _, arguments: f"arc_ratio({', '.join(arguments)})",
}


def _degrees(x: Expr) -> int | Fraction | None:
    """The degrees of a rational multiple of π."""
    if x is PI:
        return 180
    if x.op == "neg" and x.args[0] is PI:
        return -180
    if x.op != "mul" or x.args[1] is not PI or x.args[0].op != "const":
        return None
    factor = x.args[0].value
    return 180 * Fraction(factor) if isinstance(factor, int | Fraction) else None


def _has_calls(x: Expr) -> bool:
    return any(node.op == "call" for node in topological([x]))
