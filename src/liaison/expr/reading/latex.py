"""Formulas as LaTeX: \\left(m_{1} + m_{2}\\right) \\ddot{y} + m_{2}\\,a \\cos\\theta …

Public names: Latex, LATEX, reading_to_latex.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any, final

from liaison.expr.graph.node import Expr, Value
from liaison.expr.graph.ops import OPS
from liaison.expr.graph.row import ATOM, PRODUCT, SUM

from .names import latex_name, latex_symbol
from .notation import DIGITS, Notation, Written, data_text, fraction_of, printed_number
from .reading import Call, Name, Power, Reading

_BEGINS_WITH_A_NUMBER = re.compile(r"\d|\\frac\{-?\d")
_ALWAYS_FENCED = ATOM + 1
_LEAST = {
    "sub": (SUM, PRODUCT), "neg": (PRODUCT,), "mul": (PRODUCT, PRODUCT), "pow": (ATOM, 0),
}  # fmt: skip


@final
class Latex(Notation):
    """LaTeX, without dollars."""

    marks = MappingProxyType({
        "product": r"\,", "cross": r"{} \times {}", "dot": r"{} \cdot {}",
        "transpose": r"{{{}}}^{{\mathsf{{T}}}}", "inverse": r"{{{}}}^{{-1}}",
        "operator": r"{}\left({}\right)", "tilde": r"\widetilde{{{}}}",
        "mixed": r"\left[{}\right]", "identity": r"\mathbf{{1}}", "one": "1",
        "trace": r"\operatorname{{tr}}\left({}\right)", "determinant": r"\det\left({}\right)",
        "axial": r"\operatorname{{axial}}\left({}\right)", "conjugate": r"\overline{{{}}}",
        "pure": r"\left({}\right)",
    })  # fmt: skip

    def name(self, label: str) -> str:
        """A symbol."""
        return latex_name(label)

    def number(self, value: Value) -> Written:
        """A number in full."""
        if isinstance(value, Fraction) and value.denominator != 1:
            return Written(rf"\frac{{{value.numerator}}}{{{value.denominator}}}")
        if isinstance(value, float):
            mantissa, _, exponent = repr(value).partition("e")
            text = rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa
            rank = PRODUCT if exponent else SUM if value < 0 else ATOM
            return Written(text.replace("inf", r"\infty"), rank)
        text = r"\pi" if repr(value) == "pi" else str(value)
        return Written(text, SUM if text.startswith("-") else ATOM)

    def pattern(self, op: str) -> str:
        """The pattern of an operation."""
        return OPS[op].latex

    def fenced(self, text: str) -> str:
        """In parentheses."""
        return rf"\left({text}\right)"

    def rank(self, op: str) -> int:
        """A fraction holds together."""
        return ATOM if op == "div" else OPS[op].rank

    def least_ranks(self, op: str, args: Sequence[Expr]) -> Sequence[int] | None:
        """Fractions and exponents need no parentheses; \\sin x has them always."""
        if len(args) == 1 and OPS[op].latex.endswith(" {}"):
            return (_ALWAYS_FENCED,)
        return _LEAST.get(op)

    def applied(self, op: str, texts: Sequence[str], data: Any = None) -> str:
        """A product has a dot before a number."""
        if op == "mul" and _BEGINS_WITH_A_NUMBER.match(texts[1]):
            return rf"{texts[0]} \cdot {texts[1]}"
        return super().applied(op, texts, data)

    def data(self, op: str, data: Any) -> str:
        """Names; partial derivatives of unbound functions by their orders."""
        if op != "call":
            return data_text(op, data).replace("_", r"\_")
        function, orders = data
        marks = ",".join(map(str, orders))
        return latex_name(function.name) + (rf"^{{({marks})}}" if any(orders) else "")

    def symbol(self, name: str, *, order: int, is_vector: bool, tilde: bool) -> str:
        """The name of a vector or matrix."""
        return latex_symbol(name, order=order, is_vector=is_vector, tilde=tilde)

    # Readings

    def term(self, reading: Reading) -> tuple[int, str]:
        """Sign and text of a product; what divides stands below the line."""
        number, above, below = fraction_of(reading)
        head = printed_number(number, self.digits)
        text = r"\,".join(self.factor(x) for x in above)
        if below:
            top = r"\,".join(x for x in (head.text if head.text != "1" else "", text) if x) or "1"
            bottom = r"\,".join(x for x in (head.denominator, *map(self.factor, below)) if x)
            return (-1 if number < 0 else 1), rf"\frac{{{top}}}{{{bottom}}}"
        lead = "" if head.text == "1" and text else _decimal(head.text)
        if head.denominator:
            lead = rf"\tfrac{{{head.text}}}{{{head.denominator}}}"
        return (-1 if number < 0 else 1), r"\,".join(x for x in (lead, text) if x)

    def power(self, reading: Power) -> str:
        """x^{2}, \\sin^{2}\\theta."""
        if isinstance(reading.base, Call):
            return self.call(reading.base, reading.exponent)
        return f"{self.factor(reading.base)}^{{{reading.exponent}}}"

    def call(self, reading: Call, exponent: int = 1) -> str:
        """A function of its arguments; a single name stands without parentheses."""
        behind = f"^{{{exponent}}}" if exponent != 1 else ""
        arguments = [self.sum(x) for x in reading.arguments]
        head = _head(reading)
        if not head:
            return self.applied(reading.function, arguments, reading.data) + behind
        is_plain = len(arguments) == 1 and isinstance(reading.arguments[0], Name)
        inside = f" {arguments[0]}" if is_plain else self.fenced(", ".join(arguments))
        is_operator = reading.whole is None and OPS[reading.function].latex.startswith("\\")
        return f"{head}{behind}{inside}" if is_operator else f"{head}{inside}{behind}"


LATEX = Latex()


def reading_to_latex(reading: Reading, digits: int = DIGITS) -> str:
    """The reading as one formula of LaTeX."""
    return Latex(digits).sum(reading)


def _decimal(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


_DELIMITED = (r"\sqrt", r"\left|")


def _head(call: Call) -> str:
    """The name of a function: what stands before its arguments; "" where they are inside."""
    if call.whole is None:
        return _plain_head(call.function)
    name, row = data_text(call.function, call.data), OPS[call.function]
    if row.text.startswith("{data}"):
        return latex_name(name)
    return row.latex.partition(r"\left(")[0].format(data=name)


@cache
def _plain_head(function: str) -> str:
    pattern = OPS[function].latex
    if pattern.startswith(_DELIMITED):
        return ""
    head, opening, _ = pattern.removesuffix(" {}").partition("(")
    is_function = opening or pattern.endswith(" {}")
    return head.format() if is_function else rf"\operatorname{{{function}}}"
