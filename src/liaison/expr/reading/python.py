"""Readings as a Python script for SymPy: every symbol declared, exact numbers as Rational.

Public names: to_python, identifiers.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from liaison.errors import DerivationError

from .reading import Call, Name, Number, Power, Product, Reading, Sum

_FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "atan2": "atan2", "exp": "exp", "log": "log", "sqrt": "sqrt", "abs": "Abs", "sign": "sign",
    "min": "Min", "max": "Max",
}  # fmt: skip
_TAKEN = frozenset(_FUNCTIONS.values()) | {
    "pi", "Rational", "Symbol", "Eq", "Piecewise", "zeros", "equations", "first_integrals",
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
        while word in by_name.values() or word in _TAKEN or keyword.iskeyword(word):
            word += "_"
        by_name[name] = word
    return by_name


def to_python(reading: Reading, names: Mapping[str, str]) -> str:
    """The reading as an expression of SymPy's names and of these identifiers."""
    if isinstance(reading, Number):
        return _number(reading.value)
    if isinstance(reading, Name):
        return "pi" if reading.text == "π" else names[reading.text]
    if isinstance(reading, Power):
        return f"({to_python(reading.base, names)})**({reading.exponent})"
    if isinstance(reading, Call):
        return _call(reading, names)
    if isinstance(reading, Sum):
        return " + ".join(to_python(x, names) for x in reading.terms)
    return "*".join(_factor(x, names) for x in reading.factors)


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator) if value >= 0 else f"({value.numerator})"
    return f"Rational({value.numerator}, {value.denominator})"


def _factor(reading: Reading, names: Mapping[str, str]) -> str:
    text = to_python(reading, names)
    return f"({text})" if isinstance(reading, Sum | Product) else text


def _call(reading: Call, names: Mapping[str, str]) -> str:
    arguments = [to_python(x, names) for x in reading.arguments]
    if reading.function == "select":
        condition, yes, no = arguments
        return f"Piecewise(({yes}, ({condition}) > 0), ({no}, True))"
    if reading.function not in _FUNCTIONS or reading.whole is not None:
        raise DerivationError(
            f"{reading.function!r} has no name in SymPy.",
            hint="liaison.expr.reading.sympy gives it as what it is made of.",
        )
    return f"{_FUNCTIONS[reading.function]}({', '.join(arguments)})"
