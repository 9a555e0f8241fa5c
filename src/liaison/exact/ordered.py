"""Formulas with the order of their nodes, evaluated many times without finding it again.

Public names: Ordered, ordered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from liaison.expr import Domain, Expr, topological
from liaison.expr.graph.evaluate import numbers_of


@final
class Ordered:
    """A list of formulas, and every node of theirs, arguments first."""

    def __init__(self, formulas: Sequence[Expr]) -> None:
        self.formulas = list(formulas)
        self.order = topological(self.formulas)

    def numbers(self, at: Mapping[Expr, Any], domain: Domain) -> list[Any]:
        """The formulas at a point, as `evaluate` has them."""
        with np.errstate(all="ignore"):
            number = numbers_of(self.order, at, domain)
        return [number[f] for f in self.formulas]


def ordered(formulas: Ordered | Sequence[Expr]) -> Ordered:
    """Formulas in order, where they are not yet."""
    return formulas if isinstance(formulas, Ordered) else Ordered(formulas)
