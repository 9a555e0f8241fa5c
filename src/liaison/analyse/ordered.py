"""Formulas with the order of their nodes, evaluated many times without finding it again.

Public names: Ordered, ordered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from liaison.expr import Domain, Expr, topological


@final
class Ordered:
    """A list of formulas, and every node of theirs, arguments first."""

    def __init__(self, formulas: Sequence[Expr]) -> None:
        self.formulas = list(formulas)
        self.order = topological(self.formulas)

    def numbers(self, at: Mapping[Expr, Any], domain: Domain) -> list[Any]:
        """The formulas at a point, as `evaluate` has them."""
        number: dict[Expr, Any] = {x: domain.given(value) for x, value in at.items()}
        domain = domain.start(self.order, number)
        operations: dict[str, Callable[..., Any]] = {}
        with np.errstate(all="ignore"):
            for node in self.order:
                if node in number:
                    continue
                if node.op == "const":
                    number[node] = domain.constant(node.a)
                elif node.op == "symbol":
                    number[node] = domain.missing(node, [str(x.a) for x in at])
                else:
                    operation = operations.get(node.op)
                    if operation is None or type(node.b) is tuple or node.op in domain.individual:
                        operation = operations[node.op] = domain.operation(node)
                    number[node] = operation(*[number[arg] for arg in node.args])
        return [number[f] for f in self.formulas]


def ordered(formulas: Ordered | Sequence[Expr]) -> Ordered:
    """Formulas in order, where they are not yet."""
    return formulas if isinstance(formulas, Ordered) else Ordered(formulas)
