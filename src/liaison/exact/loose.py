"""Residues with unknown functions: roots that do not exist, choices without sides.

What is equal with an unknown function in the place of √, |x| or `if` is equal with the function
itself. What differs may still be equal: the laws of the function are lost, but for those that are
kept on purpose (|−x| = |x|, sign(−x) = −sign x, `if` linear in what it chooses from).

Public names: LooseRoots, UnknownChoices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

from liaison.expr.graph.evaluate import Domain
from liaison.expr.graph.node import Expr

from .residues import Residues


class _Wrapped(Domain):
    """Residues, some operations of which are others."""

    individual = Residues.individual

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    @property
    def residues(self) -> Residues:
        """Modulo which prime, and what is drawn."""
        inner: Any = self.inner
        own: Residues = inner if isinstance(inner, Residues) else inner.residues
        return own

    def start(self, order: list[Expr], number: Mapping[Expr, Any]) -> Domain:
        """For one evaluation."""
        return type(self)(self.inner.start(order, number))

    def constant(self, value: Any) -> Any:
        """As residues have it."""
        return self.inner.constant(value)

    def from_value(self, value: Any) -> Any:
        """As residues have it."""
        return self.inner.from_value(value)

    def missing(self, node: Expr, symbols: list[str]) -> Any:
        """Drawn from the name."""
        return self.inner.missing(node, symbols)


@final
class LooseRoots(_Wrapped):
    """Residues where a square root that does not exist is a residue drawn from its argument."""

    def operation(self, node: Expr) -> Callable[..., Any]:
        """Roots drawn where there are none."""
        plain: Callable[..., Any] = self.inner.operation(node)
        if node.op != "sqrt":
            return plain
        residues = self.residues

        def root(x: int) -> int:
            square = pow(x, (residues.p + 1) // 4, residues.p)
            exists = square * square % residues.p == x % residues.p
            return square if exists else residues.drawn("sqrt", x)

        return root


@final
class UnknownChoices(_Wrapped):
    """Residues where |x|, sign x and conditions are residues drawn from their arguments."""

    def operation(self, node: Expr) -> Callable[..., Any]:
        """Choices drawn, all else as it is."""
        if node.op in _UNKNOWN:
            function, residues = _UNKNOWN[node.op], self.residues
            return lambda *args: function(residues, *args)
        plain: Callable[..., Any] = self.inner.operation(node)
        return plain


def _even(d: Residues, x: int) -> int:
    return d.drawn("abs", min(x, -x % d.p))


def _odd(d: Residues, x: int) -> int:
    half = min(x, -x % d.p)
    value = d.drawn("sign", half) if x else 0
    return value if half == x else -value % d.p


def _chosen(d: Residues, condition: int, x: int, y: int) -> int:
    return (y + d.drawn("select", condition) * (x - y)) % d.p


def _extreme(turn: int) -> Callable[[Residues, int, int], int]:
    def value(d: Residues, x: int, y: int) -> int:
        return (x + y + turn * _even(d, (x - y) % d.p)) * d.inverse(2) % d.p

    return value


_UNKNOWN: dict[str, Callable[..., int]] = {
    "abs": _even,
    "sign": _odd,
    "select": _chosen,
    "min": _extreme(-1),
    "max": _extreme(1),
}
