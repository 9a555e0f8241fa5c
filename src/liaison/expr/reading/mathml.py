"""Readings as MathML, which browsers show without any script.

Public names: to_mathml, mathml_name.
"""

from __future__ import annotations

import re
from html import escape
from typing import final

from liaison.expr.graph.ops import OPS

from .reading import Call, Name, Power, Reading
from .text import DIGITS, GREEK, Printer, fraction_of, shown

_SPACE = '<mspace width="0.17em"/>'
_DOTS = {1: ".", 2: "..", 3: "..."}  # full stops: accents lie on the letter without a math font


def to_mathml(reading: Reading, digits: int = DIGITS) -> str:
    """The reading as the inside of a <math> element."""
    return _Writer(digits).sum(reading)


def mathml_name(name: str) -> str:
    """A symbol: dots above for rates, indices below; words upright."""
    base = name.rstrip("'")
    dots = len(name) - len(base)
    words = [word for word in re.split(r"[\[\].,_ ]+", base) if word] or [base]
    numbered = re.fullmatch(r"([^\W\d_]+?)(\d+)", words[0])
    if numbered:
        words[:1] = [numbered[1], numbered[2]]
    head, *rest = [GREEK.get(word, word) for word in words]
    markup = f"<mi>{escape(head)}</mi>"
    if dots in _DOTS:
        markup = f'<mover>{markup}<mo lspace="0" rspace="0">{_DOTS[dots]}</mo></mover>'
    elif dots:
        markup = f"<msup>{markup}<mn>({dots})</mn></msup>"
    if rest:
        index = "<mo>,</mo>".join(f"<mi>{escape(word)}</mi>" for word in rest)
        markup = f"<msub>{markup}<mrow>{index}</mrow></msub>"
    return markup


def _number(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return f"<mn>{text}</mn>"
    power = f"<msup><mn>10</mn><mn>{int(exponent)}</mn></msup>"
    return f"<mn>{mantissa}</mn><mo>·</mo>{power}"


@final
class _Writer(Printer):
    def joined(self, terms: list[tuple[int, str]]) -> str:
        """In a row, the first sign only where it is negative."""
        markup = ""
        for sign, text in terms:
            markup += "<mo>−</mo>" if sign < 0 else "<mo>+</mo>" if markup else ""
            markup += text
        return f"<mrow>{markup}</mrow>"

    def name(self, text: str) -> str:
        """With Greek letters, indices and dots."""
        return mathml_name(text)

    def term(self, reading: Reading) -> tuple[int, str]:
        """Sign and text of a product; what divides stands below the line."""
        number, above, below = fraction_of(reading)
        head = shown(number, self.digits)
        factors = [self.factor(x) for x in above]
        sign = -1 if number < 0 else 1
        if below:
            top = ([] if head.text == "1" and factors else [_number(head.text)]) + factors
            bottom = [f"<mn>{head.denominator}</mn>"] if head.denominator else []
            bottom += [self.factor(x) for x in below]
            return sign, f"<mfrac>{self.row(top)}{self.row(bottom)}</mfrac>"
        if head.denominator:
            lead = f"<mfrac><mn>{head.text}</mn><mn>{head.denominator}</mn></mfrac>"
            return sign, self.row([lead, *factors])
        return sign, self.row(factors if head.text == "1" and factors else
                              [_number(head.text), *factors])  # fmt: skip

    def row(self, parts: list[str]) -> str:
        """Factors with a thin space between them."""
        return f"<mrow>{_SPACE.join(parts)}</mrow>"

    def fenced(self, text: str) -> str:
        """In parentheses."""
        return f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"

    def power(self, reading: Power) -> str:
        """A base with its exponent; sin²θ has it behind the name."""
        if isinstance(reading.base, Call) and reading.base.function != "sqrt":
            return self.call(reading.base, str(reading.exponent))
        base = self.factor(reading.base)
        return f"<msup>{base}<mn>{reading.exponent}</mn></msup>"

    def call(self, reading: Call, raised: str) -> str:
        """A function of its arguments."""
        arguments = "<mo>,</mo>".join(map(self.sum, reading.arguments))
        if reading.function == "sqrt":
            return f"<msqrt>{arguments}</msqrt>"
        name = reading.function
        if reading.whole is not None:
            name = OPS[name].token(reading.whole.data).partition("#")[0]
        head = f"<mi>{escape(name)}</mi>"
        if raised:
            head = f"<msup>{head}<mn>{raised}</mn></msup>"
        is_plain = len(reading.arguments) == 1 and isinstance(reading.arguments[0], Name)
        inner = f"{_SPACE}{arguments}" if is_plain else self.fenced(arguments)
        return f"<mrow>{head}<mo>⁡</mo>{inner}</mrow>"
