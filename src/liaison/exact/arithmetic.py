"""Numbers on which closed mechanisms are compared: residues modulo a prime, or floats.

Elements add and multiply by themselves; what differs is how formulas are evaluated, how linear
systems are solved, and what counts as zero.

Public names: Arithmetic, Modular, Floating, Rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, TypeAlias, final

import numpy as np

from liaison.expr import FLOAT, Domain, Expr

from .linear import kernel, rank
from .residues import Ordered, ordered

Rows: TypeAlias = list[list[Any]]
"""A matrix, row by row."""


class Arithmetic(ABC):
    """A field, or nearly one."""

    @abstractmethod
    def numbers(self, formulas: Ordered | Sequence[Expr], at: Mapping[Expr, Any]) -> list[Any]:
        """The formulas at a point."""

    @abstractmethod
    def solved(self, rows: Rows, right: Sequence[Any], width: int) -> list[Any] | None:
        """Some x with rows x = right, chosen at random; None if there is none."""

    @abstractmethod
    def rank(self, rows: Rows) -> int:
        """The rank of a matrix."""

    @abstractmethod
    def vanish(self, numbers: Sequence[Any], scale: Sequence[Any] = ()) -> bool:
        """Whether all are zero, against the size of others where there is rounding."""

    def element(self, rows: Rows, width: int) -> list[Any]:
        """Some x with rows x = 0, chosen at random."""
        solution = self.solved(rows, [0] * len(rows), width)
        return [0] * width if solution is None else solution


@final
class Modular(Arithmetic):
    """Residues modulo a prime."""

    def __init__(self, p: int, domain: Domain, seed: int = 0) -> None:
        self.p, self.domain, self._draw = p, domain, Random(seed)

    def numbers(self, formulas: Ordered | Sequence[Expr], at: Mapping[Expr, Any]) -> list[Any]:
        """Exact."""
        residues = {x: value % self.p for x, value in at.items()}
        return [int(x) for x in ordered(formulas).numbers(residues, self.domain)]

    def rank(self, rows: Rows) -> int:
        """By elimination."""
        return rank(rows, self.p)

    def solved(self, rows: Rows, right: Sequence[Any], width: int) -> list[Any] | None:
        """From the kernel of [rows | −right]."""
        if not rows:
            return [self._draw.randrange(self.p) for _ in range(width)]
        augmented = [[*row, -b] for row, b in zip(rows, right, strict=True)]
        basis = kernel(augmented, self.p, width + 1)
        weights = [self._draw.randrange(1, self.p) for _ in basis]
        x = [sum(w * e[j] for w, e in zip(weights, basis, strict=True)) % self.p
             for j in range(width + 1)]  # fmt: skip
        if not any(right):
            return self.element(rows, width)
        if x[-1] == 0:
            return None
        scale = pow(x[-1], -1, self.p)
        return [a * scale % self.p for a in x[:-1]]

    def element(self, rows: Rows, width: int) -> list[Any]:
        """A random combination of a basis of the kernel."""
        if not rows:
            return [self._draw.randrange(self.p) for _ in range(width)]
        basis = kernel(rows, self.p, width)
        weights = [self._draw.randrange(1, self.p) for _ in basis]
        return [sum(w * e[j] for w, e in zip(weights, basis, strict=True)) % self.p
                for j in range(width)]  # fmt: skip

    def vanish(self, numbers: Sequence[Any], scale: Sequence[Any] = ()) -> bool:
        """Modulo p."""
        return all(x % self.p == 0 for x in numbers)


@final
class Floating(Arithmetic):
    """Floats: numbers below a tolerance count as zero."""

    def __init__(self, seed: int = 0) -> None:
        self._draw = np.random.default_rng(seed)
        self.worst = 0.0

    def numbers(self, formulas: Ordered | Sequence[Expr], at: Mapping[Expr, Any]) -> list[Any]:
        """Rounded."""
        return [float(x) for x in ordered(formulas).numbers(at, FLOAT)]

    def rank(self, rows: Rows) -> int:
        """By singular values."""
        return int(np.linalg.matrix_rank(np.array(rows, float), tol=RANK)) if rows else 0

    def solved(self, rows: Rows, right: Sequence[Any], width: int) -> list[Any] | None:
        """The least solution, and a random element of the kernel."""
        x = self._draw.uniform(-1, 1, width)
        if rows:
            A, b = np.array(rows, float), np.array(right, float)
            x = x - np.linalg.lstsq(A, A @ x - b, rcond=RANK)[0]
            if np.max(np.abs(A @ x - b)) > NEAR * max(1.0, np.max(np.abs(b))):
                return None
        return [float(a) for a in x]

    def vanish(self, numbers: Sequence[Any], scale: Sequence[Any] = ()) -> bool:
        """Against the largest of the scale, or 1."""
        size = max([1.0, *(abs(x) for x in scale)])
        worst = max((abs(x) for x in numbers), default=0.0) / size
        self.worst = max(self.worst, worst)
        return bool(worst <= NEAR)


NEAR = 1e-7
"""Relative differences below this are rounding."""

RANK = 1e-9
"""Singular values below this are zero."""
