"""Sheets of algebra: declarations, operators, rules and expressions as text.

    operator star(matrix) : matrix, linear, involutive ;      (* an operator by its properties *)
    any matrix A, B ;                                         (* stand for anything in rules *)
    rule "star of a product" : star(A B) -> star(B) star(A) ;
    matrix P, Q ;  rotation R ;  vector a ;  scalar m : constant ;
    let x = star(P R) a ;
    reduce x - m*tilde(a)*a ;

Factors stand side by side, or with `*` or `.` between them; `x/m` divides by a scalar, `A^T` is the
transpose, `A^-1` the inverse, `a'` a time derivative, `Id` the unit matrix. A sheet is read, never
executed: it can name nothing but what it declares and the functions below.

Public names: Sheet, read_sheet, expression, FUNCTIONS.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn, TypeVar, cast, final

from liaison.algebra.build import (
    axial,
    cross,
    determinant,
    dot,
    dyad,
    matrix,
    mixed,
    rotation_matrix,
    scalar,
    tilde,
    trace,
    vector,
)
from liaison.algebra.derivative import derivative
from liaison.algebra.node import (
    IDENTITY,
    Formal,
    Kind,
    inverse,
    number,
    power,
    product,
    total,
    transpose,
)
from liaison.algebra.quaternions import conjugate, pure, quaternion
from liaison.errors import LiaisonError, NamingError, Place, TextError

from .operators import KINDS, Operator, operator
from .rewriting import RewriteRule, anything, zero_of

FUNCTIONS: dict[str, Callable[..., Formal]] = {
    "axial": axial, "conjugate": conjugate, "cross": cross, "det": determinant, "dot": dot,
    "dyad": dyad, "inverse": inverse, "mixed": mixed, "pure": pure, "smul": product,
    "tild": tilde, "tilde": tilde, "tr": trace, "trace": trace, "trans": transpose,
    "transpose": transpose,
}  # fmt: skip
"""Functions of expressions by name; smul, tild and trans are ULYSSE's words."""

_MAKERS: dict[str, Callable[..., Formal]] = {
    "scalar": scalar, "vector": vector, "matrix": matrix, "rotation": rotation_matrix,
    "quaternion": quaternion,
}  # fmt: skip
_WORDS = ("any", "let", "operator", "reduce", "rule", *_MAKERS)
_DEPTH = 60
"""Brackets inside brackets."""
_HIGHEST = 64
"""The highest power."""

T = TypeVar("T")

_PIECE = re.compile(
    r"(?P<space>\s+)|(?P<comment>\(\*.*?\*\))|(?P<number>\d+(?:\.\d+)?)|(?P<name>[^\W\d]\w*)"
    r'|(?P<text>"[^"\n]*")|(?P<sign>->|[;:,()=+\-*/.^\'])',
    re.S,
)


@final
@dataclass(frozen=True, slots=True)
class Sheet:
    """What a sheet says: symbols, operators, rules, and expressions to reduce."""

    names: dict[str, Formal]
    operators: dict[str, Operator]
    rules: tuple[RewriteRule, ...]
    goals: tuple[Formal, ...]


def read_sheet(text: str, file: str = "text") -> Sheet:
    """The sheet of a text.

    Args:
        text: statements, each with a semicolon at its end.
        file: its name, for messages.

    Raises:
        TextError: what is no statement.
        NamingError: a name that is not declared, or declared twice.
    """
    return _Reader(text, file).sheet()


def expression(text: str, sheet: Sheet, file: str = "text") -> Formal:
    """One expression in the names of a sheet."""
    reader = _Reader(text, file)
    reader.names, reader.operators = dict(sheet.names), dict(sheet.operators)
    value = reader.sum()
    if reader.kind != "end":
        reader.fail("expected the end of the expression")
    return value


class _Reader:
    """The words of a text, read from left to right."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self.words = self._split()
        self.at, self.depth = 0, 0
        self.names: dict[str, Formal] = {}
        self.operators: dict[str, Operator] = {}
        self.rules: list[RewriteRule] = []
        self.goals: list[Formal] = []

    def _split(self) -> list[tuple[str, str, int]]:
        words, position = [], 0
        while position < len(self.text):
            piece = _PIECE.match(self.text, position)
            is_open = self.text.startswith("(*", position)
            if piece is None or (is_open and piece.lastgroup != "comment"):
                sign = self.text[position]
                message = f"{sign!r} is no sign of a sheet."
                if is_open:
                    message = "this comment has no end; it ends with *)."
                raise TextError(message, place=self.place(position, 1))
            kind = cast(str, piece.lastgroup)
            if kind not in ("space", "comment"):
                words.append((kind, piece[0], position))
            position = piece.end()
        return [*words, ("end", "", len(self.text))]

    # Places and words

    def place(self, position: int, size: int) -> Place:
        """Line and column of a position."""
        before = self.text[:position]
        line, start = before.count("\n") + 1, before.rfind("\n") + 1
        whole = self.text[start:].partition("\n")[0]
        return Place(self.file, line, position - start + 1, whole, max(1, size))

    @property
    def kind(self) -> str:
        """Of the next word."""
        return self.words[self.at][0]

    @property
    def word(self) -> str:
        """The next word."""
        return self.words[self.at][1]

    def here(self) -> Place:
        """Where the next word is."""
        _, word, position = self.words[self.at]
        return self.place(position, len(word))

    def fail(self, expected: str) -> NoReturn:
        """Raises the error for the next word."""
        what = repr(self.word) if self.word else "the end of the text"
        raise TextError(f"{expected}, not {what}.", place=self.here())

    def take(self, kind: str, expected: str) -> str:
        """The next word, of that kind or that sign itself."""
        if self.kind != kind and not (self.kind == "sign" and self.word == kind):
            self.fail(f"expected {expected}")
        word = self.word
        self.at += 1
        return word

    def skip(self, sign: str) -> bool:
        """Whether the next word was that sign; it is passed then."""
        is_next = self.kind == "sign" and self.word == sign
        self.at += is_next
        return is_next

    def listed(self, expected: str) -> list[str]:
        """Names with commas between them."""
        names = [self.take("name", expected)]
        while self.skip(","):
            names.append(self.take("name", expected))
        return names

    # Statements

    def sheet(self) -> Sheet:
        """All statements."""
        statements: dict[str, Callable[[], None]] = {
            "any": self._any, "let": self._let, "operator": self._operator, "rule": self._rule,
            "reduce": lambda: self.goals.append(self.sum()),
        }  # fmt: skip
        while self.kind != "end":
            place = self.here()
            word = self.take("name", "a statement")
            if word not in _WORDS:
                raise NamingError.unknown("statement", word, _WORDS, place=place)
            try:
                if word in statements:
                    statements[word]()
                else:
                    self._symbols(word)
            except LiaisonError as error:
                raise error if error.place else error.at(place) from None
            except (TypeError, ValueError, ZeroDivisionError) as error:
                raise TextError(f"{error}.", place=place) from None
            self.take(";", "';' at the end of a statement")
        return Sheet(self.names, self.operators, tuple(self.rules), tuple(self.goals))

    def _declare(self, name: str, value: Formal) -> None:
        taken = name in {*self.names, *self.operators, *FUNCTIONS, *_WORDS, "Id"}
        if taken:
            raise NamingError.double("things of a sheet", name)
        self.names[name] = value

    def _symbols(self, word: str) -> None:
        names = self.listed("a name")
        traits = self.listed("a property") if self.skip(":") else []
        for name in names:
            try:
                symbol = _MAKERS[word](name, **dict.fromkeys(traits, True))
            except TypeError:
                raise TextError(f"a {word} is not {' and '.join(traits)}.") from None
            self._declare(name, symbol)

    def _any(self) -> None:
        kind = self.take("name", "a kind")
        if kind not in KINDS:
            raise NamingError.unknown("kind", kind, KINDS)
        for name in self.listed("a name"):
            self._declare(name, anything(cast(Kind, kind), name))

    def _let(self) -> None:
        name = self.take("name", "a name")
        self.take("=", "'='")
        self._declare(name, self.sum())

    def _operator(self) -> None:
        name = self.take("name", "the name of an operator")
        self.take("(", "'(' and the kinds of its arguments")
        takes = self.listed("a kind")
        self.take(")", "')'")
        self.take(":", "':' and the kind of its result")
        gives, *properties = self.listed("a kind or a property")
        own = operator(name, tuple(takes), gives, *properties)
        self._declare(name, IDENTITY)
        del self.names[name]
        self.operators[name] = own

    def _rule(self) -> None:
        is_quoted = self.kind == "text"
        name = self.take("text" if is_quoted else "name", "the name of a rule").strip('"')
        self.take(":", "':' behind the name of a rule")
        left = self.sum()
        self.take("->", "'->' and what it becomes")
        self.rules.append(RewriteRule(name, left, zero_of(self.sum(), left.kind)))

    # Expressions

    def sum(self) -> Formal:
        """Terms with their signs."""
        terms = [self._signed()]
        while self.kind == "sign" and self.word in "+-":
            is_minus = self.word == "-"
            self.at += 1
            term = self._signed()
            terms.append(-term if is_minus else term)
        return total(*terms)

    def _signed(self) -> Formal:
        is_minus = False
        while self.skip("-"):
            is_minus = not is_minus
        term = self._product()
        return -term if is_minus else term

    def _product(self) -> Formal:
        result = self._power()
        while True:
            if self.skip("/"):
                result = result / self._power()
            elif self.skip("*") or self.skip(".") or self._begins_factor():
                result = product(result, self._power())
            else:
                return result

    def _begins_factor(self) -> bool:
        return self.kind in ("name", "number") or (self.kind == "sign" and self.word == "(")

    def _power(self) -> Formal:
        base = self._atom()
        while True:
            if self.skip("'"):
                base = derivative(base)
            elif self.skip("^"):
                base = self._raised(base)
            else:
                return base

    def _raised(self, base: Formal) -> Formal:
        if self.kind == "name" and self.word == "T":
            self.at += 1
            return transpose(base)
        sign = -1 if self.skip("-") else 1
        exponent = self.take("number", "a whole number or T")
        if not exponent.isdigit() or int(exponent) > _HIGHEST:
            raise TextError(f"{exponent} is no power: whole numbers up to {_HIGHEST} are.")
        return power(base, sign * int(exponent))

    def _atom(self) -> Formal:
        if self.kind == "number":
            return number(Fraction(self.take("number", "a number")))
        if self.kind == "name":
            return self._named()
        self.take("(", "a number, a name or '('")
        return self._inside(self.sum, ")")

    def _inside(self, read: Callable[[], T], end: str) -> T:
        """What stands between brackets."""
        self.depth += 1
        if self.depth > _DEPTH:
            raise TextError(f"more than {_DEPTH} brackets inside brackets.", place=self.here())
        value = read()
        self.take(end, f"{end!r}")
        self.depth -= 1
        return value

    def _named(self) -> Formal:
        place, name = self.here(), self.take("name", "a name")
        if name in self.operators or name in FUNCTIONS:
            self.take("(", f"'(' behind {name}")
            args = self._inside(self._arguments, ")")
            return self.operators[name](*args) if name in self.operators else FUNCTIONS[name](*args)
        if name == "Id":
            return IDENTITY
        if name not in self.names:
            known = [*self.names, *self.operators, *FUNCTIONS, "Id"]
            raise NamingError.unknown("symbol or operator", name, known, place=place)
        return self.names[name]

    def _arguments(self) -> list[Formal]:
        args = [self.sum()]
        while self.skip(","):
            args.append(self.sum())
        return args
