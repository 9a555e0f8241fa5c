"""Joint values as unknowns of polynomials: cosine and sine of a hinge, the way of a slider.

Public names: JointUnknowns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .terms import Terms, plain, raised, times, total, unknown


class JointUnknowns:
    """Unknowns of some joints, and vectors of polynomials moved by these."""

    def __init__(self, slides: Sequence[bool]) -> None:
        self.slides = list(slides)
        widths = [1 if slide else 2 for slide in slides]
        self.place = [sum(widths[:k]) for k in range(len(widths))]
        self.count = sum(widths)

    def values(self, x: Sequence[float]) -> list[float]:
        """Angles and ways of the joints."""
        return [
            x[k] if slide else math.atan2(x[k + 1], x[k])
            for k, slide in zip(self.place, self.slides, strict=True)
        ]

    def plain(self, v: Sequence[Any]) -> list[Terms]:
        """A vector of numbers."""
        return [plain(x, self.count) for x in v]

    def moved(
        self, v: Sequence[Terms], joint: int, sign: int = 1, *, is_point: bool
    ) -> list[Terms]:
        """A point or a direction moved by a joint, or back."""
        k = self.place[joint]
        if self.slides[joint]:
            way = raised(plain(sign, self.count), k) if is_point else {}
            return [v[0], v[1], total(v[2], way)]
        x = total(raised(v[0], k), raised(v[1], k + 1, -sign))
        return [x, total(raised(v[0], k + 1, sign), raised(v[1], k)), v[2]]

    def circles(self) -> list[Terms]:
        """cos² + sin² = 1 for each hinge."""
        equations = []
        for k, slide in zip(self.place, self.slides, strict=True):
            if not slide:
                c, s = unknown(k, self.count), unknown(k + 1, self.count)
                equations.append(total(times(c, c), times(s, s), plain(-1, self.count)))
        return equations
