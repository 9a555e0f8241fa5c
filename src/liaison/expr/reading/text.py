"""Formulas as text: as they are typed, x**2*cos(theta'), and in Unicode, x² cos(θ').

Public names: Text, Unicode, TEXT, to_unicode.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import final

from liaison.expr.graph.node import Value
from liaison.expr.graph.ops import OPS
from liaison.expr.graph.row import ATOM, PRODUCT, SUM

from .names import raised, unicode_name, unicode_symbol
from .notation import DIGITS, Notation, Written, fraction_of, function_of, printed_number
from .reading import Call, Name, Power, Reading

_MARKS = MappingProxyType({
    "product": " ", "cross": "{} × {}", "dot": "{} · {}", "transpose": "{}ᵀ",
    "inverse": "{}⁻¹", "operator": "{}({})", "tilde": "({})~",
    "mixed": "[{}]", "identity": "1", "one": "1", "trace": "tr({})", "determinant": "det({})",
    "axial": "axial({})", "conjugate": "{}*", "pure": "({})",
})  # fmt: skip


def _number(value: Value) -> Written:
    text = repr(value) if isinstance(value, float) else str(value)
    return Written(text, SUM if text.startswith("-") else PRODUCT if "/" in text else ATOM)


@final
class Text(Notation):
    """As formulas are typed: names stay as they are; vectors in Unicode."""

    marks = _MARKS

    def name(self, label: str) -> str:
        """A symbol."""
        return label

    def number(self, value: Value) -> Written:
        """A number in full."""
        return _number(value)

    def pattern(self, op: str) -> str:
        """The pattern of an operation."""
        return OPS[op].text

    def symbol(self, name: str, *, order: int, is_vector: bool, tilde: bool) -> str:
        """The name of a vector or matrix."""
        return unicode_symbol(name, order=order, tilde=tilde)

    def raised(self, base: str, exponent: int) -> str:
        """A whole power."""
        return base + raised(exponent)


TEXT = Text()

# Unicode ----------------------------------------------------------------------------------------

_OPERATORS = {
    "add": "{} + {}", "sub": "{} − {}", "mul": "{} {}", "div": "{}/{}", "neg": "−{}",
    "pow": "{}^{}", "sqrt": "√({})",
}  # fmt: skip
_VULGAR = {
    ("1", "2"): "½", ("1", "3"): "⅓", ("2", "3"): "⅔", ("1", "4"): "¼", ("3", "4"): "¾",
    ("1", "6"): "⅙", ("5", "6"): "⅚", ("1", "8"): "⅛", ("3", "8"): "⅜", ("5", "8"): "⅝",
    ("7", "8"): "⅞",
}  # fmt: skip


@final
class Unicode(Notation):
    """In Unicode: (m₁ + m₂) y'' + m₂ a cos(θ) θ'' − m₂ a sin(θ) θ'²."""

    minus, sign = " − ", "−"
    marks = _MARKS

    def name(self, label: str) -> str:
        """A symbol; blanks within it are underscores, because blanks are signs of products."""
        return unicode_name(label.replace(" ", "_"))

    def number(self, value: Value) -> Written:
        """A number in full."""
        text, rank = _number(value)
        return Written("π" if text == "pi" else text.replace("-", "−"), rank)

    def pattern(self, op: str) -> str:
        """The pattern of an operation."""
        return _OPERATORS.get(op, OPS[op].text)

    def symbol(self, name: str, *, order: int, is_vector: bool, tilde: bool) -> str:
        """The name of a vector or matrix."""
        return unicode_symbol(name, order=order, tilde=tilde)

    def raised(self, base: str, exponent: int) -> str:
        """A whole power."""
        return base + raised(exponent)

    def term(self, reading: Reading) -> tuple[int, str]:
        """½ a b/c: numbers first, what divides behind a slash."""
        number, above, below = fraction_of(reading)
        head = printed_number(number, self.digits)
        factors = [self.factor(x) for x in above]
        if head.denominator:
            vulgar = _VULGAR.get((head.text, head.denominator))
            factors.insert(0, vulgar or f"{head.text}/{head.denominator}")
        elif head.text != "1" or not factors:
            factors.insert(0, head.text)
        text = " ".join(factors)
        if below:
            divisor = " ".join(self.factor(x) for x in below)
            text += f"/{divisor if len(below) == 1 else f'({divisor})'}"
        return (-1 if number < 0 else 1), text

    def power(self, reading: Power) -> str:
        """x², sin²(θ), (a + b)²."""
        if isinstance(reading.base, Call) and reading.exponent > 0:
            return self.call(reading.base, reading.exponent)
        if isinstance(reading.base, Name):
            return self.raised(self.factor(reading.base), reading.exponent)
        return self.raised(f"({self.sum(reading.base)})", reading.exponent)

    def call(self, reading: Call, exponent: int = 1) -> str:
        """sin²(θ), √(x), |x|."""
        behind = raised(exponent) if exponent != 1 else ""
        name, data = function_of(reading)
        arguments = ", ".join([*data, *map(self.sum, reading.arguments)])
        if name == "abs":
            return f"|{arguments}|{behind}"
        return f"√({arguments}){behind}" if name == "sqrt" else f"{name}{behind}({arguments})"


def to_unicode(reading: Reading, digits: int = DIGITS) -> str:
    """The reading in one line of Unicode."""
    return Unicode(digits).sum(reading)
