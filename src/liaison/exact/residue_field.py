"""Formulas and linear systems modulo a prime, at one point.

Public names: ResidueField.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, final

from liaison.expr import Domain, Expr, evaluate

from .linear import kernel, rank


@final
class ResidueField:
    """Residues modulo p; free choices are drawn from the seed."""

    def __init__(self, p: int, domain: Domain, seed: int = 0) -> None:
        self.p, self.domain, self._draw = p, domain, Random(seed)

    def numbers(self, formulas: Sequence[Expr], at: Mapping[Expr, Any]) -> list[int]:
        """The formulas at a point."""
        residues = {x: value % self.p for x, value in at.items()}
        return [int(x) for x in evaluate(list(formulas), residues, self.domain)]

    def rank(self, rows: Sequence[Sequence[int]]) -> int:
        """The rank of a matrix."""
        return rank(rows, self.p)

    def solved(
        self, rows: Sequence[Sequence[int]], right: Sequence[int], width: int
    ) -> list[int] | None:
        """Some x with rows x = right, drawn from all of them; None if there is none."""
        augmented = [[*row, -b % self.p] for row, b in zip(rows, right, strict=True)]
        basis = kernel(augmented, self.p, width + 1)
        particular = next((x for x in basis if x[-1] % self.p), None)
        if particular is None:
            return None
        scale = pow(particular[-1], -1, self.p)
        solution = [a * scale % self.p for a in particular[:-1]]
        for x in kernel(rows, self.p, width) if rows else []:
            weight = self._draw.randrange(self.p)
            solution = [(a + weight * b) % self.p for a, b in zip(solution, x, strict=True)]
        return solution
