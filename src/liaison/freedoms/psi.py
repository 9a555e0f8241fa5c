"""Ψ with Δ Ψ = 0 at a position: the velocities of all joints from those of independent ones.

At a regular position Ψ spans the kernel of the closure's Jacobian. On a non-reduced component that
kernel is too large: velocities that lead nowhere are taken out by the second-order forms, whose
kernel is tangent to the reduced variety. Where branches meet there is no Ψ: choose one first.

Public names: Parametrization, parametrization_of.

Source: PA "obtention d'un paramétrage"; docs/theory/mobility.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from liaison.freedoms.local.float_loops import loop_matrix, second_derivatives, twists_of
from liaison.lazy import Shown

from .home import Home

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Parametrization(Shown):
    """q̇ = Ψ u, u the rates of independent coordinates."""

    independent: tuple[str, ...]  # names of the coordinates whose rates are u
    coordinates: tuple[str, ...]  # a name for each row of Ψ
    matrix: Floats  # Ψ, shape (joint coordinates, mobility)

    def rates(self, *speeds: float) -> dict[str, float]:
        """The rates of all joint coordinates from those of the independent ones [rad/s, m/s]."""
        rates = self.matrix @ np.array(speeds, dtype=float)
        return dict(zip(self.coordinates, rates.tolist(), strict=True))


def parametrization_of(
    home: Home, rank: int, mobility: int, preferred: Sequence[str] = ()
) -> Parametrization | None:
    """Ψ at a position, with as many columns as the finite mobility.

    Args:
        home: the position.
        rank: of the closure's Jacobian there, known.
        mobility: the finite mobility, known.
        preferred: coordinates to be independent where they can be.

    Returns:
        Ψ in floats; None where first and second order leave another number of columns, as where
        branches meet or at a shaky position of higher order.
    """
    twists = twists_of(home)
    J = loop_matrix(home, twists)
    tangent: Floats | None = _kernel(J, rank)
    if tangent is not None and tangent.shape[1] > mobility:
        tangent = _deflated(home, J, rank, tangent, mobility)
    if tangent is None or tangent.shape[1] != mobility:
        return None
    names = _names(home)
    rows = _independent(tangent, names, preferred)
    scaled = tangent @ np.linalg.inv(tangent[rows]) if rows else tangent
    return Parametrization(tuple(names[i] for i in rows), tuple(names), scaled)


def _kernel(J: Floats, rank: int) -> Floats:
    if not J.shape[0]:
        return np.eye(J.shape[1])
    return np.linalg.svd(J)[2][rank:].T


def _deflated(home: Home, J: Floats, rank: int, tangent: Floats, mobility: int) -> Floats | None:
    """Tangents on which the second-order forms vanish with all of space."""
    left = np.linalg.svd(J)[0][:, rank:].T
    second = np.array(second_derivatives(home, twists_of(home)))
    forms = [tangent.T @ np.tensordot(row, second, 1) @ tangent for row in left]
    stacked = np.vstack(forms) if forms else np.zeros((0, tangent.shape[1]))
    _, sizes, right = np.linalg.svd(stacked)
    count = int(np.sum(sizes > 1e-9 * max(1.0, float(np.max(sizes, initial=0.0)))))
    return tangent @ right[count:].T if tangent.shape[1] - count == mobility else None


def _names(home: Home) -> list[str]:
    """A coordinate's label for each motion, or the joint's name and what it does."""
    return [m.coordinate or f"{m.joint}: {m.word}" for m in home.columns]


def _independent(tangent: Floats, names: Sequence[str], preferred: Sequence[str]) -> list[int]:
    """Rows of a well-conditioned minor: preferred ones first, then the largest that is left."""
    left, rows = tangent.copy(), []
    for _ in range(tangent.shape[1]):
        sizes = np.linalg.norm(left, axis=1)
        columns = [names.index(name) for name in preferred if name in names]
        able = [i for i in columns if sizes[i] > 1e-6 and i not in rows]
        i = able[0] if able else int(np.argmax(sizes))
        rows.append(i)
        direction = left[i] / sizes[i]
        left = left - np.outer(left @ direction, direction)
    return rows
