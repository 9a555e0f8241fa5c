"""Readings as Unicode text: (m₁ + m₂) ÿ + m₂ a cos(θ) θ̈ − m₂ a sin(θ) θ̇².

Public names: Printer, to_unicode, unicode_name, Shown, shown, is_rounded, fraction_of, DIGITS.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import final
from unicodedata import normalize

from liaison.expr.graph.ops import OPS

from .reading import Call, Name, Number, Power, Product, Reading, Sum

DIGITS = 6
"""Significant digits of a number that is printed as a decimal."""
KEPT = (2, 3, 4, 6, 8, 12)
"""Denominators of fractions that are printed as such."""


# Numbers ----------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class Shown:
    """A positive number as it is printed: a decimal, or a fraction of whole numbers."""

    text: str
    denominator: str = ""
    is_exact: bool = True


def shown(value: Fraction, digits: int = DIGITS) -> Shown:
    """A whole number, a plain fraction, or a decimal of so many digits."""
    value = abs(value)
    if value.denominator == 1 and value < 10**12:
        return Shown(str(value.numerator))
    if value.denominator in KEPT and value.numerator < 1000:
        return Shown(str(value.numerator), str(value.denominator))
    text = f"{float(value):.{digits}g}"
    return Shown(text, is_exact=Fraction(text) == value)


def is_rounded(reading: Reading, digits: int = DIGITS) -> bool:
    """Whether a number of it is not printed exactly."""
    if isinstance(reading, Number):
        return not shown(reading.value, digits).is_exact
    if isinstance(reading, Name):
        return False
    return any(is_rounded(part, digits) for part in parts_of(reading))


def parts_of(reading: Reading) -> tuple[Reading, ...]:
    """The parts of a reading."""
    if isinstance(reading, Call):
        return reading.arguments
    if isinstance(reading, Power):
        return (reading.base,)
    if isinstance(reading, Product):
        return reading.factors
    return reading.terms if isinstance(reading, Sum) else ()


def fraction_of(reading: Reading) -> tuple[Fraction, list[Reading], list[Reading]]:
    """A term as number, factors above and factors below the line."""
    factors = reading.factors if isinstance(reading, Product) else (reading,)
    number = Fraction(1)
    above: list[Reading] = []
    below: list[Reading] = []
    for factor in factors:
        if isinstance(factor, Number):
            number = number * factor.value
        elif isinstance(factor, Power) and factor.exponent < 0:
            e = -factor.exponent
            below.append(factor.base if e == 1 else Power(factor.base, e))
        else:
            above.append(factor)
    return number, above, below


# Names ------------------------------------------------------------------------------------------

_GREEK_NAMES = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa",
    "lambda", "mu", "nu", "xi", "omicron", "pi", "rho", "final_sigma", "sigma", "tau", "upsilon",
    "phi", "chi", "psi", "omega",
]  # fmt: skip
GREEK = {name: chr(0x3B1 + k) for k, name in enumerate(_GREEK_NAMES)}
GREEK |= {name.capitalize(): chr(0x391 + k) for k, name in enumerate(_GREEK_NAMES)}
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DOTS = {1: "\u0307", 2: "\u0308", 3: "\u20db"}


def unicode_name(name: str) -> str:
    """A name as it is read: theta'' is θ̈, m1 is m₁; longer words keep their apostrophes."""
    base = name.rstrip("'")
    dots = len(name) - len(base)
    parts = re.fullmatch(r"([A-Za-zΑ-ω]+?)_?(\d*)((?:\.\w+)*)", base)
    if parts is None:
        return name
    head = GREEK.get(parts[1], parts[1])
    index = parts[2].translate(_LOWERED) + parts[3]
    if dots == 0:
        return head + index
    if len(head) == 1 and dots in _DOTS and not parts[3]:
        return normalize("NFC", head + _DOTS[dots]) + index
    return head + index + "'" * dots


# Text -------------------------------------------------------------------------------------------


def to_unicode(reading: Reading, digits: int = DIGITS) -> str:
    """The reading in one line of Unicode."""
    return _Writer(digits).sum(reading)


_VULGAR = {
    ("1", "2"): "½", ("1", "3"): "⅓", ("2", "3"): "⅔", ("1", "4"): "¼", ("3", "4"): "¾",
    ("1", "6"): "⅙", ("5", "6"): "⅚", ("1", "8"): "⅛", ("3", "8"): "⅜", ("5", "8"): "⅝",
    ("7", "8"): "⅞",
}  # fmt: skip


class Printer(ABC):
    """What all ways of writing share: a sum is terms with their signs, a factor is of some kind."""

    def __init__(self, digits: int) -> None:
        self.digits = digits

    def sum(self, reading: Reading) -> str:
        """Terms with their signs."""
        terms = reading.terms if isinstance(reading, Sum) else (reading,)
        return self.joined([self.term(term) for term in terms])

    def factor(self, reading: Reading) -> str:
        """A factor; sums and negative numbers in parentheses."""
        if isinstance(reading, Name):
            return self.name(reading.text)
        if isinstance(reading, Power):
            return self.power(reading)
        if isinstance(reading, Call):
            return self.call(reading, "")
        if isinstance(reading, Number) and reading.value >= 0:
            return self.sum(reading)
        return self.fenced(self.sum(reading))

    @abstractmethod
    def joined(self, terms: list[tuple[int, str]]) -> str:
        """Signs and terms in a row."""

    @abstractmethod
    def term(self, reading: Reading) -> tuple[int, str]:
        """Sign and text of a product."""

    @abstractmethod
    def name(self, text: str) -> str:
        """A symbol."""

    @abstractmethod
    def power(self, reading: Power) -> str:
        """A base with its exponent."""

    @abstractmethod
    def call(self, reading: Call, raised: str) -> str:
        """A function of its arguments; `raised` is the exponent behind its name."""

    @abstractmethod
    def fenced(self, text: str) -> str:
        """In parentheses."""


@final
class _Writer(Printer):
    def joined(self, terms: list[tuple[int, str]]) -> str:
        """− and + with spaces, the first sign without."""
        (sign, joined_text), *rest = terms
        joined_text = ("−" if sign < 0 else "") + joined_text
        return joined_text + "".join((" − " if sign < 0 else " + ") + text for sign, text in rest)

    def name(self, text: str) -> str:
        """With Greek letters, indices and dots."""
        return unicode_name(text)

    def fenced(self, text: str) -> str:
        """In parentheses."""
        return f"({text})"

    def term(self, reading: Reading) -> tuple[int, str]:
        """Sign and text of a product."""
        number, above, below = fraction_of(reading)
        head = shown(number, self.digits)
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
        raised = str(reading.exponent).translate(_RAISED)
        if isinstance(reading.base, Call) and reading.exponent > 0:
            return self.call(reading.base, raised)
        if isinstance(reading.base, Name):
            return unicode_name(reading.base.text) + raised
        return f"({self.sum(reading.base)}){raised}"

    def call(self, reading: Call, raised: str) -> str:
        """A function of its arguments."""
        arguments = ", ".join(map(self.sum, reading.arguments))
        if reading.function == "sqrt":
            return f"√({arguments}){raised}"
        name = reading.function
        if reading.whole is not None:
            name = OPS[name].token(reading.whole.data).partition("#")[0]
        return f"{name}{raised}({arguments})"
