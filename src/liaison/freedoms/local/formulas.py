"""Polynomial equations as formulas, on residues and on series.

Sines and cosines are unknowns of their own, with s² + c² = 1 among the equations.

Public names: FormulaSystem, taylor, degree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import DerivationError
from liaison.exact.linear import Ring
from liaison.exact.residues import residues
from liaison.exact.series import RingDomain
from liaison.expr import Expr, as_expr, evaluate, jacobian, topological
from liaison.freedoms.screws import System


@final
class FormulaSystem(System):
    """Formulas that vanish, near a point where they do.

    Attributes:
        formulas: polynomials in the unknowns.
        point: an exact value for each unknown, where all formulas vanish.
    """

    def __init__(self, p: int, formulas: Sequence[Expr], point: Mapping[Expr, Any]) -> None:
        self.p, self.formulas = p, [as_expr(f) for f in formulas]
        self.unknowns = list(point)
        self.n, self.size = len(self.unknowns), len(self.formulas)
        places = [as_expr(value) for value in point.values()]
        self._point = [int(x) for x in evaluate(places, domain=residues(p))] if places else []
        self._entries = jacobian(self.formulas, self.unknowns)

    def values(self, ring: Ring, x: Sequence[Any]) -> list[Any]:
        """The formulas at point + x."""
        return list(evaluate(self.formulas, self._shifted(x), RingDomain(ring)))

    def jacobian(self, ring: Ring, x: Sequence[Any]) -> list[list[Any]]:
        """Their derivatives there."""
        rows = [[ring.zero] * self.n for _ in range(self.size)]
        values = evaluate(list(self._entries.values()), self._shifted(x), RingDomain(ring))
        for (i, j), value in zip(self._entries, values, strict=True):
            rows[i][j] = value
        return rows

    def _shifted(self, x: Sequence[Any]) -> dict[Expr, Any]:
        return {u: a + b for u, a, b in zip(self.unknowns, self._point, x, strict=True)}

    def bound(self, rows: Sequence[int], others: int = 0) -> int | None:
        """Bézout's: degrees of the equations that cut out the curve, and the highest other one."""
        degrees = [degree(f) for f in self.formulas]
        highest = max((d for i, d in enumerate(degrees) if i not in set(rows)), default=1)
        return prod(degrees[i] for i in rows) * int(highest ** (others + 1))


def taylor(
    formulas: Sequence[Expr], point: Mapping[Expr, Any]
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """First and second derivatives of formulas at a point, in floats."""
    unknowns, n = list(point), len(point)
    values = {x: float(evaluate(as_expr(value))) for x, value in point.items()}
    J = np.zeros((len(formulas), n))
    second = [np.zeros((n, n)) for _ in formulas]
    for (i, j), slope in jacobian(list(formulas), unknowns).items():
        J[i, j] = float(evaluate(slope, values))
        for (_, k), curve in jacobian([slope], unknowns).items():
            second[i][j, k] = float(evaluate(curve, values))
    return J, second


def degree(formula: Expr) -> int:
    """The total degree of a polynomial.

    Raises:
        DerivationError: the formula is no polynomial.
    """
    degrees: dict[Expr, int] = {}
    for node in topological([formula]):
        degrees[node] = _degree(node, [degrees[a] for a in node.args])
    return degrees[formula]


def _degree(node: Expr, parts: list[int]) -> int:
    if node.op in ("add", "sub", "neg"):
        return max(parts)
    if node.op == "mul":
        return sum(parts)
    if node.op == "pow" and node.args[1].op == "const" and isinstance(node.args[1].a, int):
        return parts[0] * max(node.args[1].a, 0)
    if node.op == "div" and parts[1] == 0:
        return parts[0]
    if node.op in ("const", "symbol"):
        return int(node.op == "symbol")
    if not any(parts):
        return 0
    raise DerivationError(
        f"{node.op} of an unknown is no polynomial.",
        hint="Write sines and cosines as unknowns with s² + c² = 1.",
    )
