"""Readings as LaTeX: \\left(m_{1} + m_{2}\\right) \\ddot{y} + m_{2}\\,a \\cos\\theta …

Public names: reading_to_latex.
"""

from __future__ import annotations

from typing import final

from liaison.expr.graph.ops import OPS

from .reading import Call, Name, Power, Reading
from .shared import latex_name
from .text import DIGITS, Printer, fraction_of, shown


def reading_to_latex(reading: Reading, digits: int = DIGITS) -> str:
    """The reading as one formula of LaTeX."""
    return _Writer(digits).sum(reading)


_FUNCTIONS = {
    "sin": r"\sin", "cos": r"\cos", "tan": r"\tan", "exp": r"\exp", "log": r"\ln",
    "asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan", "min": r"\min", "max": r"\max",
    "sign": r"\operatorname{sgn}",
}  # fmt: skip


def _number(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


@final
class _Writer(Printer):
    def joined(self, terms: list[tuple[int, str]]) -> str:
        """- and + with spaces, the first sign without."""
        (sign, joined_text), *rest = terms
        joined_text = ("-" if sign < 0 else "") + joined_text
        return joined_text + "".join(f" {'-' if sign < 0 else '+'} {text}" for sign, text in rest)

    def name(self, text: str) -> str:
        """With Greek letters, indices and dots."""
        return r"\pi" if text == "π" else latex_name(text)

    def fenced(self, text: str) -> str:
        """In parentheses that grow."""
        return rf"\left({text}\right)"

    def term(self, reading: Reading) -> tuple[int, str]:
        """Sign and text of a product; what divides stands below the line."""
        number, above, below = fraction_of(reading)
        head = shown(number, self.digits)
        text = r"\,".join(self.factor(x) for x in above)
        if below:
            top = r"\,".join(x for x in (head.text if head.text != "1" else "", text) if x) or "1"
            bottom = r"\,".join(x for x in (head.denominator, *map(self.factor, below)) if x)
            return (-1 if number < 0 else 1), rf"\frac{{{top}}}{{{bottom}}}"
        lead = "" if head.text == "1" and text else _number(head.text)
        if head.denominator:
            lead = rf"\tfrac{{{head.text}}}{{{head.denominator}}}"
        return (-1 if number < 0 else 1), r"\,".join(x for x in (lead, text) if x)

    def power(self, reading: Power) -> str:
        """x^{2}, \\sin^{2}\\theta."""
        raised = f"^{{{reading.exponent}}}"
        if isinstance(reading.base, Call) and reading.base.function in _FUNCTIONS:
            return self.call(reading.base, raised)
        return self.factor(reading.base) + raised

    def call(self, reading: Call, raised: str) -> str:
        """A function of its arguments; a single name stands without parentheses."""
        arguments = ", ".join(map(self.sum, reading.arguments))
        if reading.function == "sqrt":
            return rf"\sqrt{{{arguments}}}{raised}"
        if reading.function == "abs":
            return rf"\left|{arguments}\right|{raised}"
        name = _FUNCTIONS.get(reading.function, rf"\operatorname{{{reading.function}}}")
        if reading.whole is not None:
            token = OPS[reading.function].token(reading.whole.data).partition("#")[0]
            name = latex_name(token)
        is_plain = len(reading.arguments) == 1 and isinstance(reading.arguments[0], Name)
        inner = f" {arguments}" if is_plain else rf"\left({arguments}\right)"
        return f"{name}{raised}{inner}"
