"""Formulas as MathML, which browsers show without any script.

Public names: MathML, to_mathml, mathml_name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from html import escape
from types import MappingProxyType
from typing import final

from liaison.expr.graph.node import Pi, Value
from liaison.expr.graph.ops import OPS
from liaison.expr.graph.row import ATOM, SUM

from .names import GREEK
from .notation import DIGITS, Notation, Written, fraction_of, function_of, printed_number
from .reading import Call, Name, Power, Reading

_SPACE = '<mspace width="0.17em"/>'
_DOTS = {1: ".", 2: "..", 3: "..."}  # full stops: accents lie on the letter without a math font
_FENCE = "<mrow><mo>(</mo>{}<mo>)</mo></mrow>"
_OPERATORS = {
    "add": "<mrow>{}<mo>+</mo>{}</mrow>",
    "sub": "<mrow>{}<mo>−</mo>{}</mrow>",
    "mul": f"<mrow>{{}}{_SPACE}{{}}</mrow>",
    "div": "<mfrac>{}{}</mfrac>",
    "neg": "<mrow><mo>−</mo>{}</mrow>",
    "pow": "<msup>{}{}</msup>",
    "sqrt": "<msqrt>{}</msqrt>",
}


def to_mathml(reading: Reading, digits: int = DIGITS) -> str:
    """The reading as the inside of a <math> element."""
    return MathML(digits).sum(reading)


def mathml_name(name: str) -> str:
    """A symbol: dots above for rates, indices below; words upright."""
    base = name.rstrip("'")
    return _indexed(base, len(name) - len(base), "")


def _indexed(base: str, dots: int, accent: str) -> str:
    words = [word for word in re.split(r"[\[\].,_ ]+", base) if word] or [base]
    numbered = re.fullmatch(r"([^\W\d_]+?)(\d+)", words[0])
    if numbered:
        words[:1] = [numbered[1], numbered[2]]
    head, *rest = words
    head = GREEK.get(head, head)
    markup = f"<mi>{escape(head)}</mi>"
    if accent:
        markup = _over(markup, accent)
    if dots in _DOTS:
        markup = f'<mover>{markup}<mo lspace="0" rspace="0">{_DOTS[dots]}</mo></mover>'
    elif dots:
        markup = f"<msup>{markup}<mn>({dots})</mn></msup>"
    if rest:
        index = "<mo>,</mo>".join(map(_index, rest))
        markup = f"<msub>{markup}<mrow>{index}</mrow></msub>"
    return markup


def _index(word: str) -> str:
    """A word below the line; a Greek letter with its own number."""
    numbered = re.fullmatch(r"([^\W\d_]+?)(\d+)", word)
    if numbered and numbered[1] in GREEK:
        return f"<msub><mi>{GREEK[numbered[1]]}</mi><mn>{numbered[2]}</mn></msub>"
    if word.isdigit():
        return f"<mn>{word}</mn>"
    return f"<mi>{escape(GREEK.get(word, word))}</mi>"


def _over(markup: str, accent: str) -> str:
    return f'<mover accent="true">{markup}<mo>{accent}</mo></mover>'


def _decimal(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return f"<mn>{text}</mn>"
    power = f"<msup><mn>10</mn><mn>{int(exponent)}</mn></msup>"
    return f"<mn>{mantissa}</mn><mo>·</mo>{power}"


@final
class MathML(Notation):
    """The inside of a <math> element."""

    plus, minus, sign, comma = "<mo>+</mo>", "<mo>−</mo>", "<mo>−</mo>", "<mo>,</mo>"
    marks = MappingProxyType({
        "product": _SPACE, "cross": "{}<mo>×</mo>{}", "dot": "{}<mo>·</mo>{}",
        "transpose": "<msup>{}<mi>T</mi></msup>",
        "inverse": "<msup>{}<mrow><mo>−</mo><mn>1</mn></mrow></msup>", "operator": "{}" + _FENCE,
        "tilde": '<mover accent="true"><mrow>{}</mrow><mo>~</mo></mover>',
        "mixed": "<mrow><mo>[</mo>{}<mo>]</mo></mrow>", "identity": "<mn>1</mn>",
        "one": "<mn>1</mn>", "trace": f"<mi>tr</mi>{_FENCE}",
        "determinant": f"<mi>det</mi>{_FENCE}", "axial": f"<mi>axial</mi>{_FENCE}",
        "conjugate": "<mover><mrow>{}</mrow><mo>¯</mo></mover>",
        "pure": _FENCE,
    })  # fmt: skip

    def name(self, label: str) -> str:
        """A symbol."""
        return mathml_name(label)

    def number(self, value: Value) -> Written:
        """A number in full."""
        if isinstance(value, Pi):
            return Written("<mi>π</mi>")
        if value < 0:
            return Written(self.sign + self.number(-value).text, SUM)
        if isinstance(value, Fraction) and value.denominator != 1:
            above, below = value.numerator, value.denominator
            return Written(f"<mfrac><mn>{above}</mn><mn>{below}</mn></mfrac>")
        return Written(_decimal(repr(value) if isinstance(value, float) else str(value)))

    def pattern(self, op: str) -> str:
        """The pattern of an operation."""
        if op in _OPERATORS:
            return _OPERATORS[op]
        head, _, inside = OPS[op].text.removesuffix(")").partition("(")
        arguments = inside.replace(", ", "<mo>,</mo>")
        return f"<mrow><mi>{head}</mi><mo>⁡</mo>{_FENCE.format(arguments)}</mrow>"

    def fenced(self, text: str) -> str:
        """In parentheses."""
        return _FENCE.format(text)

    def rank(self, op: str) -> int:
        """A fraction holds together."""
        return ATOM if op == "div" else OPS[op].rank

    def symbol(self, name: str, *, order: int, is_vector: bool, tilde: bool) -> str:
        """The name with an arrow or a tilde, and its dots."""
        return _indexed(name, order, "~" if tilde else "→" if is_vector else "")

    def raised(self, base: str, exponent: int) -> str:
        """A whole power."""
        return f"<msup>{base}<mn>{exponent}</mn></msup>"

    def joined(self, terms: Sequence[tuple[int, str]]) -> str:
        """Terms in a row."""
        return f"<mrow>{super().joined(terms)}</mrow>"

    def term(self, reading: Reading) -> tuple[int, str]:
        """Sign and text of a product; what divides stands below the line."""
        number, above, below = fraction_of(reading)
        head = printed_number(number, self.digits)
        factors = [self.factor(x) for x in above]
        sign = -1 if number < 0 else 1
        if below:
            top = ([] if head.text == "1" and factors else [_decimal(head.text)]) + factors
            bottom = [f"<mn>{head.denominator}</mn>"] if head.denominator else []
            bottom += [self.factor(x) for x in below]
            return sign, f"<mfrac>{self.product(top)}{self.product(bottom)}</mfrac>"
        if head.denominator:
            lead = f"<mfrac><mn>{head.text}</mn><mn>{head.denominator}</mn></mfrac>"
            return sign, self.product([lead, *factors])
        has_number = head.text != "1" or not factors
        return sign, self.product([_decimal(head.text), *factors] if has_number else factors)

    def product(self, factors: Sequence[str]) -> str:
        """Factors with a thin space between them."""
        return f"<mrow>{_SPACE.join(factors)}</mrow>"

    def power(self, reading: Power) -> str:
        """A base with its exponent; sin²θ has it behind the name."""
        if isinstance(reading.base, Call) and reading.base.function != "sqrt":
            return self.call(reading.base, reading.exponent)
        return self.raised(self.factor(reading.base), reading.exponent)

    def call(self, reading: Call, exponent: int = 1) -> str:
        """A function of its arguments; a single name stands without parentheses."""
        name, data = function_of(reading)
        numbers = [f"<mn>{escape(x)}</mn>" for x in data]
        arguments = self.comma.join([*numbers, *map(self.sum, reading.arguments)])
        if name == "sqrt":
            return f"<msqrt>{arguments}</msqrt>"
        head = f"<mi>{escape(name)}</mi>"
        if exponent != 1:
            head = self.raised(head, exponent)
        is_plain = not data and len(reading.arguments) == 1
        is_plain = is_plain and isinstance(reading.arguments[0], Name)
        inner = f"{_SPACE}{arguments}" if is_plain else self.fenced(arguments)
        return f"<mrow>{head}<mo>⁡</mo>{inner}</mrow>"
