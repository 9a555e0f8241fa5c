"""A graph of formulas on numbers: floats, arrays, rationals, residues mod p, intervals.

A domain says what a constant, a symbol and each operation is worth; one loop runs over the graph.

Public names: Domain, evaluate, numbers_of, FLOAT, ARRAY, FRACTION.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isqrt
from typing import Any, final

import numpy as np

from liaison.errors import DerivationError, NamingError

from .node import Expr, Value
from .ops import OPS
from .walk import Formulas, listed, topological


class Domain(ABC):
    """A kind of numbers formulas can be evaluated on.

    Operations named in `individual` are asked for node by node, others once for all nodes.
    """

    individual: frozenset[str] = frozenset()

    @abstractmethod
    def constant(self, value: Value) -> Any:
        """The number of a constant."""

    @abstractmethod
    def from_value(self, value: Any) -> Any:
        """A value the caller gave for a symbol, as a number of this domain."""

    @abstractmethod
    def operation(self, node: Expr) -> Callable[..., Any]:
        """What takes the arguments' numbers to the node's."""

    def missing(self, node: Expr, symbols: list[str]) -> Any:
        """The number of a symbol without value; an error unless the domain can draw one."""
        raise NamingError.unknown("value given for a symbol", str(node.a), symbols)

    def start(self, order: list[Expr], number: Mapping[Expr, Any]) -> Domain:
        """The domain for one evaluation of a graph; `number` fills up as it goes on."""
        return self

    def result(self, value: Any) -> Any:
        """What the caller sees of a number."""
        return value


def _bound(function: Callable[..., Any], data: Any) -> Callable[..., Any]:
    return lambda *args: function(data, *args)


@final
class FloatDomain(Domain):
    """Floats, by IEEE 754: 1/0 is inf, sqrt(-1) is NaN, nothing is raised."""

    def constant(self, value: Value) -> float:
        """Rounded to nearest."""
        return float(value)

    def from_value(self, value: Any) -> float:
        """As float."""
        return float(value)

    def operation(self, node: Expr) -> Callable[..., Any]:
        """From the column `value` of the table."""
        row = OPS[node.op]
        return row.value if node.data is None else _bound(row.value, node.data)


@final
class ArrayDomain(Domain):
    """NumPy arrays of floats that broadcast against each other."""

    def constant(self, value: Value) -> Any:
        """Rounded to nearest."""
        return np.float64(float(value))

    def from_value(self, value: Any) -> Any:
        """As an array of floats."""
        return np.asarray(value, dtype=float)

    def operation(self, node: Expr) -> Callable[..., Any]:
        """From the column `array` of the table."""
        row = OPS[node.op]
        return row.array if node.data is None else _bound(row.array, node.data)


@final
class FractionDomain(Domain):
    """Exact rationals: only what stays rational is worth something."""

    def constant(self, value: Value) -> Fraction:
        """Exact; a float is the rational it stands for."""
        return Fraction(value) if isinstance(value, int | Fraction | float) else _irrational("π")

    def from_value(self, value: Any) -> Fraction:
        """As Fraction."""
        return Fraction(value)

    def operation(self, node: Expr) -> Callable[..., Any]:
        """Arithmetic and choices; roots of squares."""
        return _RATIONAL.get(node.op) or _irrational_result(node.op)


def _irrational(what: str) -> Fraction:
    raise DerivationError(
        f"{what} has no rational value",
        hint="Evaluate on floats, on residues(p) (sin and cos become points of a circle), "
        "or on INTERVAL.",
    )


def _irrational_result(op: str) -> Callable[..., Fraction]:
    return lambda *args: _irrational(f"{op}({', '.join(map(str, args))})")


def _rational_root(x: Fraction) -> Fraction:
    if x < 0:
        return _irrational(f"sqrt({x})")
    root = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    return root if root * root == x else _irrational(f"sqrt({x})")


def _rational_power(x: Fraction, n: Fraction) -> Fraction:
    return x**n.numerator if n.denominator == 1 else _irrational(f"{x}**{n}")


_RATIONAL: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x: -x,
    "pow": _rational_power,
    "sqrt": _rational_root,
    "abs": abs,
    "sign": lambda x: Fraction((x > 0) - (x < 0)),
    "min": lambda x, y: y if y < x else x,
    "max": lambda x, y: y if y > x else x,
    "select": lambda c, x, y: x if c > 0 else y,
}

FLOAT: Domain = FloatDomain()
ARRAY: Domain = ArrayDomain()
FRACTION: Domain = FractionDomain()


def evaluate(
    fs: Formulas, values: Mapping[Expr, Any] | None = None, domain: Domain | None = None
) -> Any:
    """The numbers of formulas.

    Args:
        fs: one formula, a sequence, or an array of formulas of any shape.
        values: a number for every symbol; arrays broadcast against each other.
        domain: FLOAT, ARRAY, FRACTION, residues(p) or INTERVAL; by default ARRAY where a value is
            an array, else FLOAT.

    Returns:
        One number, a list, or an array of the shape of `fs`, as `fs` was given.
    """
    values = values or {}
    if domain is None:
        domain = ARRAY if any(isinstance(v, np.ndarray) for v in values.values()) else FLOAT
    roots = listed(fs)
    with np.errstate(all="ignore"):
        number = numbers_of(topological(roots), values, domain)
    if type(fs) is Expr or isinstance(fs, int | float):
        return domain.result(number[roots[0]])
    results = [domain.result(number[root]) for root in roots]
    return _shaped(results, fs, domain) if isinstance(fs, np.ndarray) else results


def numbers_of(order: list[Expr], values: Mapping[Expr, Any], domain: Domain) -> dict[Expr, Any]:
    """The number of every node of an order that has arguments first, before `domain.result`."""
    number: dict[Expr, Any] = {node: domain.from_value(value) for node, value in values.items()}
    domain = domain.start(order, number)
    operations: dict[str, Callable[..., Any]] = {}
    for node in order:
        if node in number:
            continue
        if node.op == "const":
            number[node] = domain.constant(node.a)
        elif node.op == "symbol":
            number[node] = domain.missing(node, [str(x.a) for x in values])
        else:
            operation = operations.get(node.op)
            if operation is None or type(node.b) is tuple or node.op in domain.individual:
                operation = operations[node.op] = domain.operation(node)
            number[node] = operation(*[number[arg] for arg in node.args])
    return number


def _shaped(results: list[Any], fs: np.ndarray[Any, Any], domain: Domain) -> Any:
    if domain is FLOAT:
        return np.array(results, dtype=float).reshape(fs.shape)
    if domain is ARRAY:
        stacked = np.stack(np.broadcast_arrays(*results), axis=-1)
        return stacked.reshape(*stacked.shape[:-1], *fs.shape)
    shaped = np.empty(len(results), dtype=object)
    shaped[:] = results
    return shaped.reshape(fs.shape)
