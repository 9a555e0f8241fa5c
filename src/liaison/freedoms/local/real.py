"""The real side: second-order forms of the closure in floats, and whether one is definite.

Left-kernel combinations of the equations begin at second order on the kernel of the Jacobian. If a
combination of these quadratic forms is definite, the position is isolated over the real numbers,
whatever the dimension over the complex ones.

Public names: second_order_forms, definite_combination, is_isolated_over_reals.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MARGIN = 1e-7
"""Least eigenvalue, relative to the largest, at which a form counts as definite."""


def second_order_forms(J: Floats, second: Sequence[Floats], rank: int) -> list[Floats]:
    """Quadratic forms on the kernel of J that must vanish along any motion.

    Args:
        J: the Jacobian at the point, shape (equations, unknowns).
        second: the second derivatives of each equation there.
        rank: of J, known.
    """
    left, _, right = np.linalg.svd(J)
    N = right[rank:].T
    found = []
    for combination in left[:, rank:].T:
        H = sum((c * Q for c, Q in zip(combination, second, strict=True)), np.zeros_like(second[0]))
        form = N.T @ H @ N
        if np.max(np.abs(form), initial=0.0) > 1e-9:
            found.append(form)
    return found


def definite_combination(forms: Sequence[Floats], steps: int = 300) -> Floats | None:
    """Weights of a positive definite combination, by ascent of the least eigenvalue; None if none.

    What it finds is definite; that it finds none is no proof that there is none.
    """
    if not forms:
        return None
    stack = np.array(forms)
    for start in (*np.eye(len(forms)), *(-np.eye(len(forms))), np.ones(len(forms))):
        weights = start / np.linalg.norm(start)
        for k in range(steps):
            values, vectors = np.linalg.eigh(np.tensordot(weights, stack, 1))
            if values[0] > MARGIN * max(abs(values[-1]), 1e-300):
                return np.asarray(weights, dtype=float)
            slope = np.einsum("kij,i,j->k", stack, vectors[:, 0], vectors[:, 0])
            weights = weights + slope / (k + 1)
            size = float(np.linalg.norm(weights))
            if size < MARGIN:
                break  # the opposite of where it began: nothing to climb
            weights /= size
    return None


def is_isolated_over_reals(J: Floats, second: Sequence[Floats], rank: int) -> bool:
    """A definite second-order form leaves no real motion through the point."""
    if J.shape[1] == rank or not len(second):
        return False
    return definite_combination(second_order_forms(J, second, rank)) is not None
