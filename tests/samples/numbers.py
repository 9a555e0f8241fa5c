"""Plain arithmetic on floats, apart from the package: what the package is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from liaison.expr import Expr, evaluate

KKT_LIMIT = 1e6
"""Condition number of [M Gᵀ; G 0] over which a state is drawn again."""


def floats(entries: Any) -> np.ndarray:
    """An array of numbers, whatever scalars they were."""
    listed = np.array(entries, dtype=object)
    flat = [float(evaluate([x], {})[0]) if isinstance(x, Expr) else float(x) for x in listed.flat]
    return np.array(flat).reshape(listed.shape)


def tilde(a: np.ndarray) -> np.ndarray:
    """ã with ã b = a × b."""
    x, y, z = a
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def axial(A: np.ndarray) -> np.ndarray:
    """The vector of the skew part of a matrix."""
    return np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]]) / 2


def quaternion(R: np.ndarray) -> np.ndarray:
    """Unit quaternion w x y z of a rotation, by the eigenvector of Bar-Itzhack's matrix."""
    K = np.zeros((4, 4))
    K[0, 0] = np.trace(R)
    K[0, 1:] = K[1:, 0] = 2 * axial(R)
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    return np.linalg.eigh(K)[1][:, -1]


def relative_difference(a: Any, b: Any) -> float:
    """Largest |a − b| against the largest |a|, |b| or 1: one number for two lists of numbers."""
    a, b = np.ravel(a).astype(float), np.ravel(b).astype(float)
    if not a.size:
        return 0.0
    scale = max(1.0, float(np.max(np.abs(a))), float(np.max(np.abs(b))))
    worst = float(np.max(np.abs(a - b)))
    return worst / scale if np.isfinite(worst) else np.inf


def kkt(M: np.ndarray, G: np.ndarray) -> np.ndarray:
    """[M Gᵀ; G 0]."""
    return np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]])


def dense_solution(
    M: np.ndarray, G: np.ndarray, f: np.ndarray, gamma: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """v̇ and λ by singular values; those under 1e-11 of the largest are zero.

    Velocities are scaled by their inertia, rows all alike: what is rounding stays small.
    """
    heavy = np.diag(M) > 0
    D = np.ones(len(M))
    D[heavy] = np.diag(M)[heavy] ** -0.5
    D[~heavy] = np.median(D[heavy]) if heavy.any() else 1.0
    c = 1.0 / max(1e-300, np.max(np.linalg.norm(G * D, axis=1), initial=0.0))
    K = kkt(D[:, None] * M * D, c * G * D)
    x = np.linalg.lstsq(K, np.concatenate([D * f, c * gamma]), rcond=1e-11)[0]
    return D * x[: len(M)], -c * x[len(M) :]


def some(cases: Any, always: int) -> list[Any]:
    """Cases of one law for `parametrize`: the first few in every run, all in `make test-all`."""
    rest = pytest.mark.slow
    return [
        case if k < always else pytest.param(*pair(case), marks=rest)
        for k, case in enumerate(cases)
    ]


def pair(case: Any) -> tuple[Any, ...]:
    """The arguments of a case, of which one alone stands without brackets."""
    return case if isinstance(case, tuple) else (case,)
