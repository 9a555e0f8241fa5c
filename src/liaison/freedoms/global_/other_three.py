"""What three joints must do so that three special hinges can close the loop: three equations.

Public names: OtherThree, left_in_place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from liaison.exact.rigid import Motion3, applied, crossed, dotted, reversed_motion
from liaison.freedoms.engines.joint_unknowns import JointUnknowns
from liaison.freedoms.engines.terms import Terms, combined, plain, raised, times, total


@final
class OtherThree(JointUnknowns):
    """Equations of the three joints that are not special, in their cosines, sines and slides."""

    def _through(self, X: Sequence[Motion3], v: Sequence[Any], *, is_point: bool) -> list[Terms]:
        """X1 J2 X2 J3 X3 of a point, or of a direction."""
        steps = self.plain(v)
        for joint, (R, p) in ((None, X[2]), (2, X[1]), (1, X[0])):
            if joint is not None:
                steps = self.moved(steps, joint, is_point=is_point)
            place = self.plain(p if is_point else [0, 0, 0])
            steps = [total(combined(row, steps), x) for row, x in zip(R, place, strict=True)]
        return steps

    def meeting(self, X: Sequence[Motion3], asked: Sequence[Any]) -> list[Terms]:
        """The point where the special axes meet stays: X1 J2 X2 J3 X3 w = J1⁻¹ X6⁻¹ w′."""
        right = self.moved(self.plain(asked[3:]), 0, -1, is_point=True)
        left = self._through(X, asked[:3], is_point=True)
        gaps = [combined((1, -1), pair) for pair in zip(left, right, strict=True)]
        return self.circles() + gaps

    def parallel(self, X: Sequence[Motion3], asked: Sequence[Any]) -> list[Terms]:
        """The plane across the special axes stays: its normal up to sign, and its place."""
        n, height = asked[:3], asked[3]
        first = crossed(n, [1, 0, 0] if abs(float(n[0])) < 0.7 else [0, 1, 0])
        left = self._through(X, [0, 0, 1], is_point=False)
        found = [
            _dot(left, self.moved(self.plain(e), 0, -1, is_point=False))
            for e in (first, crossed(n, first))
        ]
        place = self._through(X, [0, 0, 0], is_point=True)
        along = raised(plain(n[2], self.count), self.place[0]) if self.slides[0] else {}
        normal = self.moved(self.plain(n), 0, -1, is_point=False)
        last = total(_dot(place, normal), along, plain(height, self.count))
        return [*self.circles(), *found, last]


def left_in_place(X: Sequence[Motion3], meets: bool) -> list[Any]:
    """Numbers of what the special three leave where it is: two points, or two planes."""
    if meets:
        start, end = _ends(X)
        return [*start, *_point(reversed_motion(X[5]), end)]
    from flint import arb

    back = reversed_motion(X[5])
    sign = _sign(X[3]) * _sign(X[4])
    n = [sign * x for x in applied(back[0], [arb(0), arb(0), arb(1)])]
    height = X[3][1][2] + _sign(X[3]) * X[4][1][2]
    return [*n, height - dotted(back[1], n)]


def _ends(X: Sequence[Motion3]) -> tuple[list[Any], list[Any]]:
    """Where the special axes meet: before the first of them turns, and behind the last."""
    from flint import arb

    middle = [arb(0), arb(0), _axis_point(X[4])]  # on the middle axis, in its frame
    return _point(X[3], middle), _point(reversed_motion(X[4]), middle)


def _axis_point(X: Motion3) -> Any:
    """The height at which the next axis, z behind X, meets this one."""
    d, p = [row[2] for row in X[0]], X[1]
    k = 0 if abs(float(d[0])) > abs(float(d[1])) else 1
    return p[2] - p[k] * d[2] / d[k]


def _point(X: Motion3, v: Sequence[Any]) -> list[Any]:
    return [a + b for a, b in zip(applied(X[0], v), X[1], strict=True)]


def _sign(X: Motion3) -> int:
    return 1 if float(X[0][2][2]) > 0 else -1


def _dot(a: Sequence[Terms], b: Sequence[Terms]) -> Terms:
    return total(*(times(f, g) for f, g in zip(a, b, strict=True)))
