"""Torsors: a resultant and a moment field, by the moment at a point.

Twists, wrenches, momenta and rates of momenta are torsors; this is the form in which the general
theorems are written: change of point, comoment, central axis.

Public names: Torsor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liaison.errors import FrameError

from .arrays import Array, array, cross, dot
from .pose import Frame


@final
@dataclass(frozen=True, slots=True, eq=False)
class Torsor:
    """Resultant s and moment m(x) at one point x, all in the axes of `expressed_in`.

    At another point y:  m(y) = m(x) + s × (y − x).

    Source: LL 1.2.
    """

    expressed_in: Frame
    point: Array  # x [m], shape (3,)
    resultant: Array  # ω, force or linear momentum, shape (3,)
    moment: Array  # velocity, moment or angular momentum at x, shape (3,)

    def at(self, point: Any) -> Torsor:
        """The same torsor at another point: m + s × (y − x)."""
        target = array(list(point))
        moment = array(list(self.moment + cross(self.resultant, target - self.point)))
        return Torsor(self.expressed_in, target, self.resultant, moment)

    def __add__(self, other: Torsor) -> Torsor:
        """Sum, at the point of the first."""
        there = self._comparable(other, "add")
        return Torsor(
            self.expressed_in,
            self.point,
            self.resultant + there.resultant,
            self.moment + there.moment,
        )

    def comoment(self, other: Torsor) -> Any:
        """s₁ · m₂ + s₂ · m₁, the same at every point: power if a twist meets a wrench."""
        there = self._comparable(other, "pair")
        return dot(self.resultant, there.moment) + dot(there.resultant, self.moment)

    @property
    def automoment(self) -> Any:
        """s · m, the same at every point; zero for a glider or a couple."""
        return dot(self.resultant, self.moment)

    def central_axis(self) -> tuple[Array, Array]:
        """Point and direction of the axis on which s and m are parallel (numbers only).

        Raises:
            FrameError: the resultant is zero (a couple has no axis).
        """
        s = np.asarray(self.resultant, dtype=float)
        square = float(s @ s)
        if square == 0.0:
            raise FrameError(
                "a torsor with resultant (0, 0, 0) is a couple and has no central axis."
            )
        offset = np.cross(s, np.asarray(self.moment, dtype=float)) / square
        return np.asarray(self.point, dtype=float) + offset, s / np.sqrt(square)

    def _comparable(self, other: Torsor, verb: str) -> Torsor:
        if other.expressed_in != self.expressed_in:
            raise FrameError(
                f"cannot {verb} torsors in '{self.expressed_in}' and '{other.expressed_in}': "
                f"the second must be expressed in '{self.expressed_in}'."
            )
        return other.at(self.point)
