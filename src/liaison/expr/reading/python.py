"""Formulas as a Python script for SymPy: every symbol declared, exact numbers as Rational.

Public names: Python, to_python, identifiers.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, final

from liaison.errors import DerivationError
from liaison.expr.graph.node import Value
from liaison.expr.graph.ops import OPS
from liaison.expr.graph.row import SUM

from .notation import Notation, Written
from .reading import Number, Power, Product, Reading, Sum

_RESERVED = frozenset(row.sympy for row in OPS.values()) | {
    "pi", "Function", "Rational", "Symbol", "Eq", "zeros", "equations", "first_integrals",
    "M_matrix", "C_matrix", "B_vector", "g_vector",
}  # fmt: skip


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """A Python name for every symbol: theta'' is theta_dd."""
    by_name: dict[str, str] = {}
    for name in names:
        if name == "π":
            continue
        base = name.rstrip("'")
        word = re.sub(r"\W+", "_", base).strip("_") or "x"
        word = f"x{word}" if word[0].isdigit() else word
        dots = len(name) - len(base)
        word += f"_{'d' * dots}" if dots else ""
        while word in by_name.values() or word in _RESERVED or keyword.iskeyword(word):
            word += "_"
        by_name[name] = word
    return by_name


def to_python(reading: Reading, names: Mapping[str, str]) -> str:
    """The reading as an expression of SymPy's names and of these identifiers."""
    return Python(names).sum(reading)


@final
class Python(Notation):
    """Python with SymPy's names.

    Args:
        names: the identifiers of symbols; a symbol that is not among them keeps its name.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self.names = names

    def name(self, label: str) -> str:
        """A symbol."""
        return self.names.get(label, label)

    def number(self, value: Value) -> Written:
        """A number in full."""
        if isinstance(value, Fraction) and value.denominator != 1:
            return Written(f"Rational({value.numerator}, {value.denominator})")
        text = repr(value) if isinstance(value, float) else str(value)
        return Written(text, SUM) if text.startswith("-") else Written(text)

    def pattern(self, op: str) -> str:
        """The pattern of an operation."""
        row = OPS[op]
        if op == "select":
            return "Piecewise(({1}, ({0}) > 0), ({2}, True))"
        if row.sympy:
            return f"{row.sympy}({', '.join(['{}'] * row.arity)})"
        if op == "call":
            return "Function({data}, real=True)({})"
        if row.build is not None:
            raise DerivationError(
                f"{op!r} has no name in SymPy.",
                hint="liaison.expr.reading.sympy gives it as what it is made of.",
            )
        return row.text

    def data(self, op: str, data: Any) -> str:
        """The name of an unknown function, as a text of Python."""
        function, orders = data
        if any(orders):
            raise DerivationError(
                f"a derivative of the unknown function {function.name!r} has no name in a script.",
                hint="Give the function a formula, or take liaison.expr.reading.sympy.to_sympy.",
            )
        return repr(function.name)

    # Readings: every number and base in parentheses that could need them

    def term(self, reading: Reading) -> tuple[int, str]:
        """A product."""
        if isinstance(reading, Product):
            return 1, "*".join(map(self.factor, reading.factors))
        return 1, self.factor(reading)

    def factor(self, reading: Reading) -> str:
        """A factor."""
        if isinstance(reading, Number):
            return self.wrapped(self.number(reading.value), SUM + 1)
        if isinstance(reading, Sum | Product):
            return self.fenced(self.sum(reading))
        return super().factor(reading)

    def power(self, reading: Power) -> str:
        """A base with its exponent."""
        return f"({self.sum(reading.base)})**({reading.exponent})"
